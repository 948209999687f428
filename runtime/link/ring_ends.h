/* Tells the rank at the other end of a ring what the components at this end add to the ring
 * (ring_add_delay(), ring_add_pipeline()), since these are not initialised there.
 *
 * Life cycle: ring_ends_open() before components are initialised, ring_ends_agree() after that,
 * by all ranks. Alone neither is needed. */
#ifndef HEDDLE_RUNTIME_LINK_RING_ENDS_H
#define HEDDLE_RUNTIME_LINK_RING_ENDS_H

#include <stdint.h>

struct platform_table;

void ring_ends_open(const struct platform_table *table);
/* By ring.c: to ring `near`, of the tables, cycles and slots were added here. */
void ring_ends_add(uint32_t near, uint32_t cycles, uint32_t slots);
/* Calls `add` for what was added at other ranks to rings that end here. */
void ring_ends_agree(void (*add)(uint32_t near, uint32_t cycles, uint32_t slots));

#endif
