/* The time that a command takes before it begins, and the program after a wait. */
#ifndef HEDDLE_DRIVER_SETUP_H
#define HEDDLE_DRIVER_SETUP_H

#include <stdbool.h>
#include <stdint.h>

struct driver;
struct driver_command;

/* True: the command may begin. Otherwise its set-up has just begun, and `not_before` says when it
 * is over; asked again, it is true. */
static bool command_set_up(struct driver *d, struct driver_command *k);

/* The cycles that the call which enqueues `k` takes on the host. */
static uint64_t host_call_cycles(const struct driver *d, const struct driver_command *k);

/* The program has waited for `ticket`, which is done. */
static void host_note_wait(struct driver *d, uint64_t ticket);

#endif
