/* The order of the program's commands, as its calls make it: commands of one queue follow each
 * other, a command follows what the program has waited for before the call, and barriers wait for
 * tickets. The driver reports commands; the check of races asks for their order. */
#ifndef HEDDLE_COMPONENTS_CHECKS_RACES_COMMAND_ORDER_H
#define HEDDLE_COMPONENTS_CHECKS_RACES_COMMAND_ORDER_H

#include <stdint.h>

/* The program has given command `ticket` to the queue; `awaited`: the ticket that it waits for, or
 * 0. Tickets rise. */
void check_command_given(uint32_t queue, uint64_t ticket, uint64_t awaited);
/* The program has seen that the command is over. */
void check_command_seen(uint64_t ticket);
/* The program has asked for the end of the queue, and all its commands are over. */
void check_queue_seen(uint32_t queue);
/* A launch goes to a GPU: the next one there. */
void check_command_starts(uint32_t gpu, uint64_t ticket);

/* Number of the command (race_order.h) that has the ticket, which check_command_given() knows. */
uint32_t check_command_number(uint64_t ticket);
/* Number of the command whose launch was the `dispatch`-th of a GPU, from 0; with RACE_UNKNOWN
 * where the driver has reported none. */
uint32_t check_command_of(uint32_t gpu, uint32_t dispatch);

#endif
