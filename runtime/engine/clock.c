/* Clock edges: edge n of f Hz is at floor(n * 10^12 / f) ps.
 *
 * A domain keeps quotient and remainder of that division for its current edge, so that going one
 * edge on is an addition and still exact. Questions about other edges divide 128-bit numbers. */
#include "clock.h"

#include "base/wide.h"

#include "engine.h"

uint64_t engine_time_of(uint32_t domain, uint64_t cycle)
{
    return divide_wide(cycle, PS_PER_S, engine.domains[domain].hz);
}

/* floor(n * 10^12 / hz) >= time, smallest n: time is an integer, so n = ceil(time * hz / 10^12). */
uint64_t engine_cycle_at(uint32_t domain, uint64_t time_ps)
{
    return divide_wide_up(time_ps, engine.domains[domain].hz, PS_PER_S);
}

void clock_set(struct engine_domain *d, uint64_t hz)
{
    d->hz = hz;
    d->cycle = 0;
    d->time_ps = 0;
    d->fraction = 0;
    d->period_ps = PS_PER_S / hz;
    d->remainder = PS_PER_S % hz;
}

void clock_move_unevenly(struct engine_domain *d, uint64_t cycle)
{
    uint64_t edges = cycle - d->cycle;
    d->cycle = cycle;
    d->time_ps += edges * d->period_ps;
    if (edges == 1) {
        d->fraction += d->remainder;
        if (d->fraction >= d->hz) {
            d->fraction -= d->hz;
            d->time_ps++;
        }
        return;
    }
    wide fraction = (wide)edges * d->remainder + d->fraction;
    d->time_ps += (uint64_t)(fraction / d->hz);
    d->fraction = (uint64_t)(fraction % d->hz);
}
