/* Clock edges of a domain, exactly; see clock.c. For the scheduler: a domain belongs to one shard,
 * and only the thread that runs it may move its clock. */
#ifndef HEDDLE_RUNTIME_ENGINE_CLOCK_H
#define HEDDLE_RUNTIME_ENGINE_CLOCK_H

#include "base/likely.h"

#include "engine.h"

void clock_set(struct engine_domain *d, uint64_t hz);
/* For a clock whose period is no whole number of picoseconds. */
void clock_move_unevenly(struct engine_domain *d, uint64_t cycle);

/* Moves to edge `cycle`, not before the current one. */
static inline void clock_move(struct engine_domain *d, uint64_t cycle)
{
    if (unlikely(d->remainder)) {
        clock_move_unevenly(d, cycle);
        return;
    }
    d->time_ps += (cycle - d->cycle) * d->period_ps;
    d->cycle = cycle;
}

/* Time of the edge after the current one. */
static inline uint64_t clock_next_ps(const struct engine_domain *d)
{
    return d->time_ps + d->period_ps + (d->fraction + d->remainder >= d->hz);
}

#endif
