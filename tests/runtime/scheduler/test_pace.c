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
    pace_open(THREADS, 0);
    cr_assert_eq(pace_choose(), 1);
    run(m, 1e8); /* 0.1 s */
    double share = run(m, 1e9);
    if (m->gain > 1)
        cr_assert(share > 0.9, "%f", share);
    else
        cr_assert(share < 0.2, "%f", share);
}

/* What is not worth a processor stays without. */
ParameterizedTestParameters(pace, one_thread_stays_unless_all_are_clearly_faster)
{
    static struct machine machines[] = {{0.9, 800, false}, {1, 800, false}, {1.03, 800, false}};
    return cr_make_param_array(struct machine, machines, sizeof machines / sizeof machines[0]);
}

ParameterizedTest(struct machine *m, pace, one_thread_stays_unless_all_are_clearly_faster)
{
    pace_open(THREADS, 0);
    cr_assert(run(m, 1e9) < 0.1);
}

/* Several threads are known to pay soon, and never to pay without much time for that. */
Test(pace, the_first_trial_comes_soon_and_ends_soon)
{
    static const struct machine good = {2, 800, false}, hopeless = {0.1, 800, false};
    pace_open(THREADS, 0);
    cr_assert(run(&good, 8e6) > 0.5);
    pace_open(THREADS, 0);
    cr_assert(run(&hopeless, 2e7) < 0.2);
    cr_assert(run(&hopeless, 1e9) < 0.03);
}

/* Another program takes the processor of a thread: that is noticed long before the next trial. */
Test(pace, one_thread_is_tried_when_all_become_slower)
{
    static const struct machine good = {2, 800, false}, bad = {0.5, 800, false};
    pace_open(THREADS, 0);
    run(&good, 1e9);
    run(&bad, 2e7);
    cr_assert(run(&bad, 1e7) < 0.1);
}

Test(pace, changes_that_take_long_are_rare)
{
    static const struct machine m = {0.8, 800, false};
    pace_open(THREADS, 0);
    run(&m, 1e8);
    pace_note_switch(2000000);
    uint32_t changes = 0;
    for (uint32_t i = 0; i < 100; i++) {
        bool alone = pace_choose() == 1;
        run(&m, 5e6);
        changes += alone != (pace_choose() == 1);
    }
    cr_assert(changes <= 6, "%u", changes);
}

Test(pace, chance_chooses_in_tests)
{
    uint32_t alone = 0;
    pace_open(THREADS, 7);
    for (uint32_t i = 0; i < 1000; i++) {
        alone += pace_choose() == 1;
        cr_assert(pace_windows() >= 1 && pace_windows() <= 8);
        pace_note(1000, 8, 1000);
    }
    cr_assert(alone > 400 && alone < 600);
    pace_open_fixed(1);
    pace_note(1000, 8, 10000000);
    cr_assert_eq(pace_choose(), 1);
    pace_open_fixed(THREADS);
    pace_note(1000, 8, 10000000);
    cr_assert_eq(pace_choose(), THREADS);
}

Test(pace, a_choice_follows_the_program)
{
    static const struct machine good = {2, 800, false}, bad = {0.5, 800, false};
    pace_open(THREADS, 0);
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
    pace_open(THREADS, 0);
    run(&light, 1e8);
    cr_assert_eq(pace_windows(), 128);
    run(&heavy, 1e8);
    cr_assert_eq(pace_windows(), 8);
}

Test(pace, the_gain_is_by_the_time_of_one_thread)
{
    static const struct machine m = {2, 800, false};
    pace_open(THREADS, 0);
    cr_assert_eq(pace_gain(1000, 1000), 1); /* nothing is known */
    run(&m, 1e9);
    cr_assert_float_eq(pace_gain(1000, 8000), 2, 0.01);
}
