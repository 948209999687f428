/* Copies that take no simulated time (the part magic_copy). See driver_direct.c. */
#ifndef HEDDLE_DRIVER_DIRECT_H
#define HEDDLE_DRIVER_DIRECT_H

#include "components/host/driver/driver_state.h"

static void direct_init(struct driver *d);

/* Are the bytes of the command moved directly? Then they are noted, and moved by direct_move().
 * There must be room. */
static bool direct_note(struct driver *d, const struct driver_command *k, uint32_t gpu);
/* No room for another before direct_move()? */
static bool direct_full(const struct driver *d);
/* Could a message of the command be there before what was noted is? */
static bool direct_holds(const struct driver *d, const struct driver_command *k);
/* Moves what was noted, in order. Called between windows only. */
static void direct_move(struct driver *d);
/* May a command that has just been enqueued be done at once, before the engine runs? */
static bool direct_at_once(const struct driver *d, const struct driver_queue *q);

#endif
