/* Launches with gaps, on a made-up machine that issues instructions at a pace of its own. */
#include <criterion/criterion.h>
#include <math.h>

#include "components/sampling/launch_gaps.h"

enum { STEP = 500 /* cycles */, WAVES = 1000 };

struct machine {
    double total;   /* instructions of the launch */
    double drift;   /* of its pace, from the begin to the end: a share */
    double scatter; /* of the pace of 4,000 cycles, a share */
    double hurry;   /* by which it is faster behind a gap, for 6,000 cycles */
    double tail;    /* instructions at the end that take four times as long, with few wavefronts */
    uint32_t seed;
};

static struct launch_gaps gaps;

static double noise(uint32_t *seed)
{
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        *seed = *seed * 1664525u + 1013904223u;
        sum += (*seed >> 8) / 16777216.0;
    }
    return sum;
}

static bool is_late(const struct machine *m, double done)
{
    return m->tail > 0 && done >= m->total - m->tail;
}

/* Instructions a cycle when `done` of them are over. */
static double pace(const struct machine *m, double done, double scatter)
{
    double here = 10 * (1 + m->drift * done / m->total) * (1 + m->scatter * scatter);
    return is_late(m, done) ? here / 4 : here;
}

/* Cycles of the launch; with `gaps`, with pauses, and *issued are those in detail. */
static double run(const struct machine *m, bool has_gaps, double *issued)
{
    uint32_t seed = m->seed;
    double now = 0, done = 0, resumed = -1e9, scatter = 0;
    double next = has_gaps ? gaps_begin(&gaps, 0.02, 0, 0) : INFINITY;
    for (uint32_t i = 0; done < m->total; i++) {
        scatter = i % 8 ? scatter : noise(&seed);
        double more = STEP * pace(m, done, scatter) * (now < resumed + 6000 ? 1 + m->hurry : 1);
        uint64_t running = is_late(m, done) ? WAVES / 4 : WAVES;
        now += STEP;
        done += more;
        *issued += more;
        if (now < next || !gaps_look(&gaps, now, *issued, running, &next))
            continue;
        double touching, wanted = gaps_wanted(&gaps, &touching);
        double left = m->total - m->tail - done, executed = wanted < left ? wanted : fmax(left, 0);
        now = resumed = now + 3000;
        done += executed;
        running = is_late(m, done) ? WAVES / 4 : WAVES;
        next = gaps_executed(&gaps, wanted, &(struct gap_result){executed, now, running});
    }
    if (has_gaps)
        gaps_end(&gaps);
    return now;
}

static bool is_inside(const struct machine *m, double *share)
{
    double all = 0, issued = 0, other = 0;
    struct machine again = *m;
    again.seed += 1000;
    double truth = run(&again, false, &other);
    double cycles = run(m, true, &issued);
    struct cut_estimate e = gaps_estimate(&gaps, cycles);
    all = m->total;
    *share = issued / all;
    return fabs(e.value - truth) <= e.half + e.allowance;
}

Test(launch_gaps, steady_launch_is_told_exactly)
{
    double share, issued = 0;
    const struct machine m = {.total = 2e7, .hurry = 0.5};
    cr_assert(is_inside(&m, &share));
    cr_assert_lt(share, 0.4);
    double cycles = run(&m, true, &issued);
    cr_assert_float_eq(gaps_estimate(&gaps, cycles).value, 2e6, 2e6 * 0.002);
}

Test(launch_gaps, truth_is_inside_whatever_the_launch_does)
{
    const struct machine kinds[] = {{.total = 1e7, .scatter = 0.1},
                                    {.total = 3e7, .drift = 0.5, .scatter = 0.02},
                                    {.total = 3e6, .tail = 2e5, .hurry = 0.5},
                                    {.total = 3e7, .tail = 1e6, .scatter = 0.05, .hurry = 0.2}};
    for (uint32_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        uint32_t inside = 0;
        for (uint32_t seed = 0; seed < 200; seed++) {
            struct machine m = kinds[kind];
            double share;
            m.seed = seed;
            inside += is_inside(&m, &share);
        }
        cr_expect_geq(inside, 190, "kind %u: %u of 200", kind, inside);
    }
}

Test(launch_gaps, what_is_left_out_moves_as_many_bytes_for_an_instruction)
{
    double issued = 0;
    const struct machine m = {.total = 2e7, .hurry = 0.5};
    run(&m, true, &issued);
    struct cut_estimate e = gaps_bytes(&gaps, m.total, 3 * (m.total - gaps.executed));
    cr_assert_float_eq(e.value, 3 * m.total, 1);
    cr_assert_float_eq(e.allowance, 0.25 * 3 * gaps.executed, 1);
}

Test(launch_gaps, small_launch_has_no_gaps)
{
    double issued = 0;
    const struct machine m = {.total = 25000};
    double cycles = run(&m, true, &issued);
    cr_assert_eq(gaps.count, 0u);
    cr_assert_eq(gaps_estimate(&gaps, cycles).value, cycles);
}
