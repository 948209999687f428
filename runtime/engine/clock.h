/* Clock edges of a domain, exactly; see clock.c. For the scheduler: a domain belongs to one shard,
 * and only the thread that runs it may move its clock. */
#ifndef HEDDLE_RUNTIME_CLOCK_H
#define HEDDLE_RUNTIME_CLOCK_H

#include "engine.h"

void clock_set(struct engine_domain *d, uint64_t hz);
/* Moves to edge `cycle`, not before the current one. */
void clock_move(struct engine_domain *d, uint64_t cycle);
/* Time of the edge after the current one. */
uint64_t clock_next_ps(const struct engine_domain *d);

#endif
