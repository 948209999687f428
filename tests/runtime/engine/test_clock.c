/* Clock edges stand at floor(n * 10^12 / f), exactly, whichever way they are reached. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "base/number.h"
#include "runtime/engine/clock.h"
#include "runtime/engine/engine.h"

__extension__ typedef unsigned __int128 wide;

static uint64_t naive(uint64_t cycle, uint64_t hz)
{
    return (uint64_t)((wide)cycle * 1000000000000u / hz);
}

ParameterizedTestParameters(clock, edges_are_exact)
{
    static uint64_t clocks[] = {1,          3,         1000000000, 1132000000,
                                1000000007, 999999937, 1500000000, 1755000000,
                                300000000,  32768,     7000000000, 1000000000000};
    return cr_make_param_array(uint64_t, clocks, ARRAY_COUNT(clocks));
}

ParameterizedTest(uint64_t *hz, clock, edges_are_exact)
{
    struct engine_domain *d = &engine.domains[0];
    uint64_t random = 88172645463325252u;
    clock_set(d, *hz);
    for (int i = 0; i < 20000; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        uint64_t steps = i % 4 ? 1 : random % 100000 + 1;
        uint64_t cycle = d->cycle + steps;
        if (naive(cycle, *hz) > (uint64_t)1 << 60)
            break;
        if (steps == 1)
            cr_assert_eq(clock_next_ps(d), naive(cycle, *hz));
        clock_move(d, cycle);
        cr_assert_eq(d->time_ps, naive(cycle, *hz), "edge %lu of %lu Hz", (unsigned long)cycle,
                     (unsigned long)*hz);
        cr_assert_eq(engine_time_of(0, cycle), d->time_ps);
    }
}

ParameterizedTestParameters(clock, first_edge_at_or_after)
{
    static uint64_t clocks[] = {1000000000, 1132000000, 999999937, 1500000000, 32768};
    return cr_make_param_array(uint64_t, clocks, ARRAY_COUNT(clocks));
}

ParameterizedTest(uint64_t *hz, clock, first_edge_at_or_after)
{
    clock_set(&engine.domains[0], *hz);
    for (uint64_t time = 0; time < 4000000; time += 37) {
        uint64_t cycle = engine_cycle_at(0, time);
        cr_assert_geq(naive(cycle, *hz), time);
        cr_assert(cycle == 0 || naive(cycle - 1, *hz) < time);
    }
}

Test(clock, a_clock_of_1132_mhz_does_not_drift)
{
    clock_set(&engine.domains[0], 1132000000);
    cr_assert_eq(engine_time_of(0, 1), 883);
    cr_assert_eq(engine_time_of(0, 2), 1766);
    cr_assert_eq(engine_time_of(0, 283), 250000);
    cr_assert_eq(engine_time_of(0, 1132000000), 1000000000000);
}
