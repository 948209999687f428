/* Which number of threads is chosen, on machines of which we know how long they take. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "runtime/scheduler/pace.h"

#define TICK_NS 16.0
#define THREADS 4

static uint64_t state;

/* One time in four something else runs. */
static double disturbed(double ns)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 62 ? ns : ns * (double)(1 + (state >> 40) % 20);
}

struct machine {
    double gain; /* of all threads */
    uint32_t ticks_a_window;
    bool is_busy;
};

/* Relays until `ns` have passed; returns in how many of them all threads ran. */
static double run(const struct machine *m, double ns_to_run)
{
    double passed = 0, together = 0, all = 0;
    while (passed < ns_to_run) {
        bool alone = pace_choose() == 1;
        uint32_t windows = pace_windows();
        cr_assert(alone || pace_choose() == THREADS);
        cr_assert(windows >= 8 && windows <= 128);
        uint64_t work = (uint64_t)windows * m->ticks_a_window;
        double ns = (double)work * TICK_NS / (alone ? 1 : m->gain);
        ns = m->is_busy ? disturbed(ns) : ns;
        pace_note(work, windows, (uint64_t)ns);
        passed += ns;
        all += ns;
        together += alone ? 0 : ns;
    }
    return together / all;
}

ParameterizedTestParameters(pace, what_is_faster_is_chosen)
{
    static struct machine machines[] = {
        {3.0, 800, false}, {0.5, 800, false}, {1.2, 100, false},   {0.8, 100, false},
        {3.0, 800, true},  {0.5, 800, true},  {2.0, 20000, false}, {0.6, 20000, false},
    };
    return cr_make_param_array(struct machine, machines, sizeof machines / sizeof machines[0]);
}

ParameterizedTest(struct machine *m, pace, what_is_faster_is_chosen)
{
    pace_open(THREADS);
    cr_assert_eq(pace_choose(), THREADS);
    run(m, 1e8); /* 0.1 s */
    double share = run(m, 1e9);
    if (m->gain > 1)
        cr_assert(share > 0.9, "%f", share);
    else
        cr_assert(share < 0.2, "%f", share);
}

/* What is not worth a change is none. */
Test(pace, all_stay_unless_one_is_clearly_faster)
{
    static const struct machine m = {0.95, 800, false};
    pace_open(THREADS);
    cr_assert(run(&m, 1e9) > 0.9);
}

Test(pace, a_choice_follows_the_program)
{
    static const struct machine good = {2, 800, false}, bad = {0.5, 800, false};
    pace_open(THREADS);
    for (uint32_t i = 0; i < 3; i++) {
        run(&good, 4e8);
        cr_assert(run(&good, 4e8) > 0.9);
        run(&bad, 4e8);
        cr_assert(run(&bad, 4e8) < 0.1);
    }
}

Test(pace, relays_of_heavy_windows_are_short)
{
    static const struct machine light = {2, 50, false}, heavy = {2, 20000, false};
    pace_open(THREADS);
    run(&light, 1e8);
    cr_assert_eq(pace_windows(), 128);
    run(&heavy, 1e8);
    cr_assert_eq(pace_windows(), 8);
}

Test(pace, the_gain_is_by_the_time_of_one_thread)
{
    static const struct machine m = {2, 800, false};
    pace_open(THREADS);
    cr_assert_eq(pace_gain(1000, 1000), 1); /* nothing is known */
    run(&m, 1e9);
    cr_assert_float_eq(pace_gain(1000, 8000), 2, 0.01);
}
