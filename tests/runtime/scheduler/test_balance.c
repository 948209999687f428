/* Who runs which shard, and when several threads are wanted, against the best of all assignments
 * and the sums of what was counted. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <string.h>

#include "runtime/engine/engine.h"
#include "runtime/engine/shard.h"
#include "runtime/scheduler/balance.h"
#include "tests/runtime/probe.h"

#define SHARDS_MOST 8

/* Of all assignments of shards to threads, the one whose largest sum is least. */
static uint64_t best(const uint64_t *ticks, uint32_t shard, uint32_t count, uint32_t threads,
                     uint64_t *sums)
{
    uint64_t least = UINT64_MAX;
    if (shard == count) {
        least = 0;
        for (uint32_t t = 0; t < threads; t++)
            least = sums[t] > least ? sums[t] : least;
        return least;
    }
    for (uint32_t t = 0; t < threads; t++) {
        sums[t] += ticks[shard];
        uint64_t found = best(ticks, shard + 1, count, threads, sums);
        least = found < least ? found : least;
        sums[t] -= ticks[shard];
    }
    return least;
}

Test(balance, turns_name_each_shard_once_and_are_near_the_best)
{
    static uint32_t turns[ENGINE_MAX_DOMAINS][ENGINE_MAX_DOMAINS];
    uint64_t state = 1;
    for (uint32_t round = 0; round < 400; round++) {
        uint32_t count = 1 + round % SHARDS_MOST;
        uint32_t threads = 1 + round / 8 % 3;
        uint64_t ticks[SHARDS_MOST], sums[SHARDS_MOST] = {0};
        for (uint32_t i = 0; i < count; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            ticks[i] = state >> 33 & (round % 2 ? 7 : 1023);
        }
        balance_turns(ticks, count, threads, turns);
        for (uint32_t t = 0; t < threads; t++) {
            uint32_t seen = 0;
            for (uint32_t i = 0; i < count; i++)
                seen |= 1u << turns[t][i];
            cr_assert_eq(seen, (1u << count) - 1);
        }
        uint64_t longest = balance_longest(ticks, count, threads, turns);
        uint64_t least = best(ticks, 0, count, threads, sums);
        cr_assert(longest >= least);
        cr_assert(3 * longest <= 4 * least, "%lu for %lu", (unsigned long)longest,
                  (unsigned long)least); /* Graham 1969: 4/3 - 1/(3 threads) for longest first */
    }
}

/* Two busy partitions and the main one. */
static void build(void)
{
    build_start("load");
    uint32_t core = build_domain("core", 1000000000);
    uint32_t protocol = probe_protocol(16, false);
    uint32_t a = probe_instance(core, "a", PROBE_SOURCE, 0, 0, false);
    for (uint32_t i = 1; i <= 2; i++) {
        uint32_t b = probe_instance(core, i == 1 ? "b" : "c", PROBE_SINK, 0, 1, false);
        build_partition(b, i);
        build_connect((struct build_end){a, PROBE_OUT, i - 1}, (struct build_end){b, PROBE_IN, 0},
                      probe_wire(protocol, 4, 1, 5));
    }
    cr_assert(platform_build_threads(build_finish(), 2));
    cr_assert_eq(engine.shard_count, 3);
    balance_open(2);
}

/* A window in which shards do that; returns the threads wanted for it. */
static uint32_t window(uint64_t main_ticks, uint64_t b, uint64_t c, uint64_t instructions)
{
    uint64_t due = (main_ticks != 0) | (uint64_t)(b != 0) << 1 | (uint64_t)(c != 0) << 2;
    shards[0].ticks = main_ticks;
    shards[1].ticks = b;
    shards[2].ticks = c;
    for (uint32_t k = 0; k < 3; k++)
        shards[k].instructions = due >> k & 1 ? instructions : 0;
    uint32_t threads = balance_begin(due);
    cr_assert(window_plan.counts);
    balance_count(due);
    return threads;
}

/* Windows of one kind until the decision has been made; returns the threads wanted then. */
static uint32_t windows(uint64_t main_ticks, uint64_t b, uint64_t c, uint64_t instructions)
{
    uint32_t threads = 0;
    for (uint32_t i = 0; i < 400; i++)
        threads = window(main_ticks, b, c, instructions);
    return threads;
}

struct decision {
    uint64_t main_ticks, b, c, instructions;
    uint32_t threads;
};

ParameterizedTestParameters(balance, several_threads_where_they_pay)
{
    static struct decision decisions[] = {
        {10, 400, 400, 0, 2},                     /* halves */
        {10, 0, 0, 0, 1},                         /* one shard only */
        {5, 5, 5, 0, 1},                          /* handing over costs more */
        {1, 1000, 20, 0, 1},                      /* one shard has nearly all of it */
        {1, 1000, 0, 0, 1},                       /* wins a tick */
        {300, 400, 400, 0, 2}, {1, 20, 20, 0, 1}, /* 41 ticks */
        {1, 20, 20, 40, 2},                       /* but with many instructions */
    };
    return cr_make_param_array(struct decision, decisions, sizeof decisions / sizeof decisions[0]);
}

ParameterizedTest(struct decision *k, balance, several_threads_where_they_pay)
{
    build();
    cr_assert_eq(balance_begin(7), 1); /* one thread to begin with */
    cr_assert_eq(windows(k->main_ticks, k->b, k->c, k->instructions), k->threads);
}

Test(balance, a_decision_follows_the_program)
{
    build();
    for (uint32_t i = 0; i < 3; i++) {
        cr_assert_eq(windows(10, 400, 400, 0), 2);
        cr_assert_eq(windows(5, 5, 5, 0), 1);
    }
    /* What barely pays is kept, and not begun. */
    cr_assert_eq(windows(1, 600, 90, 0), 1);
    cr_assert_eq(windows(10, 400, 400, 0), 2);
    cr_assert_eq(windows(1, 600, 90, 0), 2);
}

Test(balance, a_window_is_shared_when_the_last_one_would_have_paid)
{
    build();
    window(10, 400, 400, 0);
    for (uint32_t i = 0; i < 100; i++) {
        cr_assert_eq(window(5, 5, 5, 0), 2);
        cr_assert_eq(window(5, 5, 5, 0), 1);
        cr_assert_eq(window(1000, 0, 0, 0), 1); /* nobody to share it with */
        cr_assert_eq(window(10, 400, 400, 0), 1);
        cr_assert_eq(window(1000, 0, 0, 0), 1); /* and nothing follows from it */
        cr_assert_eq(window(10, 400, 400, 0), 2);
    }
}

/* Of windows that are handed on: the closed form where all shards do the same in each. */
Test(balance, what_is_handed_on_does_not_wait_for_the_slowest)
{
    static const struct {
        uint64_t main_ticks, b, c;
        double gain;
    } cases[] = {
        {0, 400, 400, 800.0 / 410}, /* halves; 10 ticks to claim a shard and to tell of its end */
        {100, 300, 400, 800.0 / 420},
        {0, 600, 200, 800.0 / 610}, /* the larger share */
        {500, 10, 10, 1},           /* the main shard waits for nobody and has it all */
        {0, 5, 5, 1},               /* one thread is faster */
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        build();
        balance_hand_on(true);
        windows(cases[i].main_ticks, cases[i].b, cases[i].c, 0);
        const struct stats_threads *r = balance_reported();
        double gain = (double)r->alone_ticks / (double)r->ticks;
        cr_assert_float_eq(gain, cases[i].gain, 0.03, "%u: %f", i, gain);
    }
}

/* Who runs the main shard, which has most, runs nothing else then. */
Test(balance, shards_are_dealt_out_by_what_they_do)
{
    static const struct {
        uint64_t ticks[5], dealt[3];
    } cases[] = {
        {{0, 0, 0, 0, 0}, {1 | 1 << 1 | 1 << 4, 1 << 2, 1 << 3}},
        {{500, 100, 100, 100, 100}, {1, 1 << 1 | 1 << 3, 1 << 2 | 1 << 4}},
        {{100, 400, 300, 200, 100}, {1 | 1 << 3, 1 << 1, 1 << 2 | 1 << 4}},
        {{0, 100, 100, 400, 100}, {1 | 1 << 3, 1 << 1 | 1 << 4, 1 << 2}},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t dealt[3];
        balance_deal(cases[i].ticks, 5, 3, dealt);
        for (uint32_t t = 0; t < 3; t++)
            cr_assert_eq(dealt[t], cases[i].dealt[t], "%u: thread %u has %lx", i, t,
                         (unsigned long)dealt[t]);
    }
    build();
    balance_hand_on(true);
    cr_assert_eq(balance_dealt()[0], 1 | 1 << 1);
    for (uint32_t i = 0; i < 5; i++)
        windows(500, 250, 250, 0);
    cr_assert_eq(balance_dealt()[0], 1);
    cr_assert_eq(balance_dealt()[1], 1 << 1 | 1 << 2);
    const struct stats_threads *r = balance_reported();
    double gain = (double)r->alone_ticks / (double)r->ticks;
    cr_assert(gain > 1.75, "%f", gain);
}

/* Windows that are long in one shard and in the next one in the other: between windows that wait
 * for each other one thread would always wait. */
Test(balance, windows_that_are_handed_on_make_up_for_each_other)
{
    build();
    balance_hand_on(true);
    for (uint32_t i = 0; i < 400; i++)
        window(0, i % 2 ? 500 : 300, i % 2 ? 300 : 500, 0);
    const struct stats_threads *r = balance_reported();
    double gain = (double)r->alone_ticks / (double)r->ticks;
    cr_assert(gain > 1.8, "%f", gain);
}

Test(balance, the_gain_that_is_told_is_the_sum_by_the_longest)
{
    build();
    windows(10, 400, 400, 0);
    const struct stats_threads *r = balance_reported();
    cr_assert_eq(r->windows, 400);
    cr_assert_eq(r->together, 399); /* all but the first */
    double gain = (double)r->alone_ticks / (double)r->ticks;
    cr_assert(gain > 1.5 && gain < 810.0 / 435.0);
    /* Windows that another shard does not share are nobody's gain. */
    build();
    windows(100, 0, 0, 0);
    cr_assert_eq(balance_reported()->together, 0);
    cr_assert_eq(balance_reported()->alone_ticks, balance_reported()->ticks);
}
