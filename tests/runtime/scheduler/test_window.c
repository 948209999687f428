/* Windows: a platform in several shards, run by one thread or by several that come and go, does to
 * the cycle what it does in one shard, and messages between shards follow the closed form of a
 * wire.
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/number.h"
#include "runtime/engine/component_failure.h"
#include "runtime/engine/deferral.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/platform_table.h"
#include "runtime/engine/run_control.h"
#include "runtime/link/ring_run.h"
#include "runtime/observe/hang.h"
#include "runtime/scheduler/run.h"
#include "runtime/scheduler/thread_pool.h"
#include "tests/runtime/network.h"
#include "tests/sanitized.h"

#define MESSAGES 300

/* Shards for `shard_threads`, run by `threads`. */
static void build(const struct platform_table *table, uint32_t shard_threads, uint32_t threads)
{
    probe_logged = 0;
    probe_quiet = threads > 1;
    cr_assert(platform_build_threads(table, shard_threads));
    thread_pool_open(threads);
}

struct cut {
    uint32_t partitions, least, shard_threads, threads;
};

ParameterizedTestParameters(window, shards_change_nothing)
{
    static struct cut cuts[] = {
        {1, 3, 2, 1},   {7, 5, 4, 3},   {20, 11, 8, 8}, {2, 3, 2, 1}, {3, 40, 4, 1},
        {20, 11, 8, 1}, {5, 300, 3, 2}, {7, 5, 4, 1},   {2, 3, 2, 2}, {3, 40, 4, 4},
    };
    const size_t count = ARRAY_COUNT(cuts);
    return cr_make_param_array(struct cut, cuts, tests_amount(count, 7, 3));
}

ParameterizedTest(struct cut *k, window, shards_change_nothing)
{
    for (uint64_t seed = 1; seed <= tests_amount(2, 1, 1); seed++) {
        const struct platform_table *table = network_describe_cut(seed, k->partitions, k->least);
        unsetenv("HEDDLE_THREAD_DELAYS");
        build(table, 1, 1);
        cr_assert_eq(engine.shard_count, 1);
        enum engine_result result = engine_run();
        uint64_t hash = probe_hash();
        uint64_t messages = engine_messages();
        cr_assert(messages > 10000);
        if (k->threads > 1)
            setenv("HEDDLE_THREAD_DELAYS", "5", 1);
        build(table, k->shard_threads, k->threads);
        cr_assert(engine.shard_count > 1);
        cr_assert_eq(engine_run(), result);
        cr_assert_eq(engine_messages(), messages);
        cr_assert_eq(probe_hash(), hash, "seed %u", (unsigned)seed);
    }
}

struct wire_case {
    uint32_t depth, width, latency, delay;
};

ParameterizedTestParameters(window, a_wire_between_shards_is_a_wire)
{
    static struct wire_case cases[] = {
        {1, 1, 2, 0},
        {4, 1, 5, 0},
        {9, 1, 5, 0},
        {10, 1, 5, 0},
        {11, 2, 5, 0},
        {16, 4, 3, 0},
        {7, 3, 2, 0},
        {64, 8, 10, 0},
        {1, 1, 70, 0},
        {200, 1, 70, 0},
        {4, 1, 5, 3},
        {1, 1, ENGINE_NEAR - 2, 0},
        {2, 1, ENGINE_NEAR - 2, 0},
        {8, 1, ENGINE_NEAR - 1, 0},
        {8, 1, ENGINE_NEAR, 0},
        {16, 1, ENGINE_NEAR - 2, 0},
        {16, 1, ENGINE_NEAR - 2, 1},
        {16, 1, ENGINE_NEAR - 2, 2},
        {16, 1, ENGINE_NEAR - 2, 20},
        {400, 16, 10 * ENGINE_NEAR, 0},
    };
    return cr_make_param_array(struct wire_case, cases, ARRAY_COUNT(cases));
}

static uint32_t events(uint32_t leaf, enum probe_event event, uint64_t *cycles)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < probe_logged; i++)
        if (probe_log[i].leaf == leaf && probe_log[i].event == event)
            cycles[count++] = probe_log[i].cycle;
    return count;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return max(a, b);
}

ParameterizedTest(struct wire_case *k, window, a_wire_between_shards_is_a_wire)
{
    static uint64_t sent[MESSAGES], seen[MESSAGES];
    build_start("wire");
    uint32_t core = build_domain("core", 1000000000);
    uint32_t protocol = probe_protocol(16, false);
    uint32_t a = probe_instance(core, "a", PROBE_SOURCE, MESSAGES, 0, false);
    uint32_t b = probe_instance(core, "b", PROBE_SINK, 0, 1, false);
    build_partition(b, 1);
    build_connect((struct build_end){a, PROBE_OUT, 0}, (struct build_end){b, PROBE_IN, 0},
                  probe_wire(protocol, k->depth, k->width, k->latency));
    build(build_finish(), 2, 1);
    cr_assert_eq(engine.shard_count, 2);
    ring_add_delay(0, k->delay);
    cr_assert_eq(engine_run(), ENGINE_IDLE);
    cr_assert_eq(events(a, PROBE_SENT, sent), MESSAGES);
    cr_assert_eq(events(b, PROBE_RECEIVED, seen), MESSAGES);
    for (uint32_t i = 0; i < MESSAGES; i++) {
        uint64_t expected = i ? sent[i - 1] : 1;
        if (i >= k->width)
            expected = later(expected, sent[i - k->width] + 1);
        if (i >= k->depth)
            expected = later(expected, sent[i - k->depth] + 2 * k->latency + k->delay);
        cr_assert_eq(sent[i], expected, "message %u sent at %lu, not %lu", i,
                     (unsigned long)sent[i], (unsigned long)expected);
        cr_assert_eq(seen[i], sent[i] + k->latency + k->delay);
    }
}

/* The end of a run, whoever finds it, is that of one shard: result, time, words. */
struct ending {
    enum probe_behaviour behaviour;
    int64_t period;
    enum engine_result result;
    uint64_t max_cycles;
};

ParameterizedTestParameters(window, a_run_ends_alike_in_any_shard)
{
    static struct ending endings[] = {
        {PROBE_FAILER, 137, ENGINE_FAILED, 0},   {PROBE_SILENT, 0, ENGINE_DEADLOCK, 0},
        {PROBE_STUBBORN, 0, ENGINE_DEADLOCK, 0}, {PROBE_RESTLESS, 7, ENGINE_STALL, 0},
        {PROBE_SINK, 3, ENGINE_LIMIT, 123},      {PROBE_SINK, 3, ENGINE_IDLE, 0},
    };
    return cr_make_param_array(struct ending, endings, ARRAY_COUNT(endings));
}

ParameterizedTest(struct ending *k, window, a_run_ends_alike_in_any_shard)
{
    static char words[2][8192];
    uint64_t time_ps[2];
    for (uint32_t several = 0; several < 2; several++) {
        build_start("ends");
        uint32_t core = build_domain("core", 1000000000);
        uint32_t protocol = probe_protocol(16, true);
        uint32_t a = probe_instance(core, "a", PROBE_SOURCE, 200, 0, true);
        uint32_t b = probe_instance(core, "b", k->behaviour, 5, k->period, true);
        uint32_t c = probe_instance(core, "c", PROBE_CLOCK, 20, 13, false);
        build_partition(b, 1);
        build_partition(c, 2);
        build_connect((struct build_end){a, PROBE_OUT, 0}, (struct build_end){b, PROBE_IN, 0},
                      probe_wire(protocol, 8, 1, 6));
        build(build_finish(), several ? 3 : 1, 1);
        cr_assert_eq(engine.shard_count, several ? 3 : 1);
        engine_set_limits(
            &(struct engine_limits){.max_cycles = k->max_cycles, .stall_limit = 50000});
        cr_assert_eq(engine_run(), k->result);
        time_ps[several] = engine.time_ps;
        const char *said = k->result == ENGINE_FAILED ? engine_failure()
                           : k->result == ENGINE_IDLE ? ""
                                                      : hang_last_report();
        snprintf(words[several], sizeof words[0], "%s", said);
    }
    cr_assert_eq(time_ps[0], time_ps[1]);
    cr_assert_str_eq(words[0], words[1]);
}

/* ---- deferred work ---- */

static struct {
    uint64_t cycle; /* the last one that was asked for */
    uint32_t calls, leaf;
} settled;

static void settle(struct component *c, uint64_t cycle)
{
    cr_assert_eq(c->leaf, settled.leaf);
    settled.cycle = max(cycle, settled.cycle);
    settled.calls++;
}

ParameterizedTestParameters(window, what_is_put_off_is_done_by_the_end)
{
    static struct ending endings[] = {
        {PROBE_FAILER, 137, ENGINE_FAILED, 0},     {PROBE_SILENT, 0, ENGINE_DEADLOCK, 0},
        {PROBE_RESTLESS, 7, ENGINE_STALL, 0},      {PROBE_SINK, 3, ENGINE_LIMIT, 123},
        {PROBE_RESTLESS, 100, ENGINE_LIMIT, 1234}, {PROBE_SINK, 3, ENGINE_IDLE, 0},
    };
    return cr_make_param_array(struct ending, endings, ARRAY_COUNT(endings));
}

ParameterizedTest(struct ending *k, window, what_is_put_off_is_done_by_the_end)
{
    for (uint32_t partitions = 0; partitions < 3; partitions++) {
        build_start("late");
        uint32_t core = build_domain("core", 1000000000), slow = build_domain("slow", 700000001);
        uint32_t protocol = probe_protocol(16, true);
        uint32_t a = probe_instance(core, "a", PROBE_SOURCE, 200, 0, true);
        uint32_t b = probe_instance(core, "b", k->behaviour, 5, k->period, true);
        uint32_t c = probe_instance(slow, "c", PROBE_CLOCK, 20, 13, false);
        build_partition(b, partitions > 0);
        build_partition(c, partitions);
        build_connect((struct build_end){a, PROBE_OUT, 0}, (struct build_end){b, PROBE_IN, 0},
                      probe_wire(protocol, 8, 1, 6));
        build(build_finish(), 3, 1);
        settled.cycle = settled.calls = 0;
        settled.leaf = c;
        cr_assert(engine_try_defer(platform_component(c), settle));
        engine_set_limits(
            &(struct engine_limits){.max_cycles = k->max_cycles, .stall_limit = 50000});
        cr_assert_eq(engine_run(), k->result);
        cr_assert(settled.calls);
        /* Where there are windows, clocks have moved to the end of the last one. */
        uint32_t domain = platform_component(c)->domain;
        bool moved = partitions && k->result != ENGINE_LIMIT;
        uint64_t next =
            moved ? engine.domains[domain].cycle + 1 : engine_cycle_at(domain, engine.time_ps + 1);
        bool as_far = k->result == ENGINE_STALL ? settled.cycle >= next : settled.cycle == next;
        cr_assert(as_far, "%llu for %llu, partitions %u", (unsigned long long)settled.cycle,
                  (unsigned long long)next, partitions);
    }
}

Test(window, who_keeps_up_puts_nothing_off)
{
    build_start("late");
    uint32_t a = probe_instance(build_domain("core", 1000000000), "a", PROBE_TICKER, 9, 0, false);
    engine_defer_nothing(true);
    build(build_finish(), 1, 1);
    cr_assert_not(engine_try_defer(platform_component(a), settle));
    cr_assert_eq(engine_run(), ENGINE_IDLE);
    cr_assert_eq(settled.calls, 0);
}
