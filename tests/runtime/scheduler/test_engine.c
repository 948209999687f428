/* The engine: ends, limits, failures, sleeping components that cost nothing, and results that no
 * order of ticks changes. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "base/number.h"
#include "runtime/engine/component_failure.h"
#include "runtime/engine/deferral.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/platform_table.h"
#include "runtime/engine/run_control.h"
#include "runtime/link/ring_run.h"
#include "runtime/scheduler/run.h"
#include "runtime/state/platform.h"
#include "tests/runtime/network.h"
#include "tests/sanitized.h"

static uint64_t hash_of(uint64_t seed, struct engine_limits limits)
{
    const struct platform_table *table = network_describe(seed);
    probe_logged = 0;
    cr_assert(platform_build(table));
    engine_set_limits(&limits);
    cr_assert_eq(engine_run(), ENGINE_IDLE);
    uint64_t received = 0;
    for (uint32_t leaf = 0; leaf < table->instance_count; leaf++)
        received += probe_received(leaf);
    cr_assert_gt(received, 10000);
    cr_assert_eq(received * 2, engine_messages(), "each request is received and answered");
    return probe_hash();
}

ParameterizedTestParameters(engine, no_order_of_ticks_changes_a_result)
{
    static uint64_t seeds[] = {1, 2, 3, 4, 5, 6};
    return cr_make_param_array(uint64_t, seeds, tests_amount(ARRAY_COUNT(seeds), 1, 1));
}

ParameterizedTest(uint64_t *seed, engine, no_order_of_ticks_changes_a_result)
{
    uint64_t shuffled = hash_of(
        *seed, (struct engine_limits){.ticks_all = !SANITIZED, .tick_order = ENGINE_RANDOM});
    if (SANITIZED)
        cr_skip_test("under a sanitizer, other tests use the same memory");
    uint64_t expected = hash_of(*seed, (struct engine_limits){0});
    cr_assert_eq(shuffled, expected);
    cr_assert_eq(hash_of(*seed, (struct engine_limits){0}), expected);
    cr_assert_eq(hash_of(*seed, (struct engine_limits){.tick_order = ENGINE_DESCENDING}), expected);
    for (uint64_t shuffle = 0; shuffle < tests_amount(3, 1, 1); shuffle++)
        cr_assert_eq(
            hash_of(*seed, (struct engine_limits){.tick_order = ENGINE_RANDOM, .seed = shuffle}),
            expected);
    cr_assert_eq(hash_of(*seed, (struct engine_limits){.ticks_all = true}), expected);
    cr_assert_neq(hash_of(*seed + 100, (struct engine_limits){0}), expected);
}

Test(engine, a_sleeping_component_is_not_ticked)
{
    build_start("sleep");
    uint32_t core = build_domain("core", 1000000000);
    uint32_t ticker = probe_instance(core, "ticker", PROBE_TICKER, 1000, 0, false);
    uint32_t sleeper = probe_instance(core, "sleeper", PROBE_STUBBORN, 0, 0, false);
    probe_build();
    cr_assert_eq(engine_run(), ENGINE_IDLE);
    cr_assert_eq(probe_ticks(ticker), 1001);
    cr_assert_eq(probe_ticks(sleeper), 1);
    cr_assert_eq(engine.time_ps, 1001000);
}

Test(engine, idle_time_is_jumped_over)
{
    build_start("jump");
    uint32_t core = build_domain("core", 1000000000);
    uint32_t slow = probe_instance(core, "slow", PROBE_RESTLESS, 0, 1000000, false);
    probe_build();
    engine_set_limits(&(struct engine_limits){.max_cycles = 100000000, .stall_limit = 1000000000});
    cr_assert_eq(engine_run(), ENGINE_LIMIT);
    cr_assert_eq(probe_ticks(slow), 100);
    cr_assert_eq(engine.time_ps, 100000000000);
}

Test(engine, the_first_failure_in_order_of_time_and_component_wins)
{
    for (int order = ENGINE_ASCENDING; order <= ENGINE_DESCENDING; order++) {
        build_start("failure");
        uint32_t core = build_domain("core", 1000000000);
        probe_instance(core, "late", PROBE_FAILER, 0, 30, false);
        probe_instance(core, "first", PROBE_FAILER, 0, 20, false);
        probe_instance(core, "second", PROBE_FAILER, 0, 20, false);
        probe_build();
        engine_set_limits(&(struct engine_limits){.tick_order = order});
        cr_assert_eq(engine_run(), ENGINE_FAILED);
        cr_assert_str_eq(engine_failure(), "first: probe 1 failed");
        cr_assert_eq(engine.time_ps, 20000);
        engine_clear_failure();
        cr_assert_null(engine_failure());
    }
}

Test(engine, the_first_fault_of_each_program_is_kept_however_many_have_one)
{
    enum { PROGRAMS = 100 };
    struct engine_fault fault;
    build_start("faults");
    uint32_t leaf = probe_instance(build_domain("core", 1000000000), "a", PROBE_CLOCK, 1, 1, false);
    probe_build();
    const struct component *c = platform_component(leaf);
    for (uint32_t i = 0; i < 2 * PROGRAMS; i++)
        engine_record_fault(c, i % PROGRAMS, i, NULL, "wrong");
    for (uint32_t owner = 0; owner < PROGRAMS; owner++) {
        cr_assert(engine_pop_fault(owner, &fault));
        cr_assert_eq(fault.tag, owner);
        cr_assert_not(engine_pop_fault(owner, &fault), "each is given once");
        engine_record_fault(c, owner, 0, NULL, "wrong again");
        cr_assert_not(engine_pop_fault(owner, &fault));
        engine_clear_fault(owner);
    }
    engine_record_fault(c, 7, 1, NULL, "of another program");
    cr_assert(engine_pop_fault(7, &fault));
}

Test(engine, a_host_call_wakes_a_component_at_its_next_edge)
{
    build_start("host");
    uint32_t core = build_domain("core", 1000000000);
    uint32_t sleeper = probe_instance(core, "sleeper", PROBE_STUBBORN, 0, 0, false);
    probe_build();
    cr_assert_eq(engine_run(), ENGINE_IDLE);
    engine_wake_from_host(platform_component(sleeper)->id);
    cr_assert_eq(engine_run(), ENGINE_IDLE);
    cr_assert_eq(probe_ticks(sleeper), 2);
    cr_assert_eq(engine.time_ps, 2000);
}

enum { LEFT = 200 };
static uint32_t left_done, left_order[LEFT];

static void note_left(struct component *c)
{
    if (left_done < LEFT)
        left_order[left_done] = c->leaf;
    left_done++;
}

Test(engine, any_number_of_components_can_leave_work_for_the_end_of_a_window)
{
    build_start("left");
    uint32_t core = build_domain("core", 1000000000);
    for (uint32_t i = 0; i < LEFT; i++)
        probe_instance(core, "probe", PROBE_STUBBORN, 0, 0, false);
    probe_build();
    for (uint32_t i = 2 * LEFT; i-- > 0;)
        engine_at_window_end(platform_component(i % LEFT), note_left);
    cr_assert_eq(engine_run(), ENGINE_IDLE);
    cr_assert_eq(left_done, LEFT, "once each");
    for (uint32_t i = 0; i < LEFT; i++)
        cr_assert_eq(left_order[i], i);
}

Test(engine, one_domain_sleeps_while_another_runs)
{
    build_start("domains");
    uint32_t fast = build_domain("fast", 1000000000);
    uint32_t slow = build_domain("slow", 300000000);
    uint32_t ticker = probe_instance(fast, "ticker", PROBE_TICKER, 3000, 0, false);
    uint32_t other = probe_instance(slow, "other", PROBE_TICKER, 10, 0, false);
    probe_build();
    cr_assert_eq(engine_run(), ENGINE_IDLE);
    cr_assert_eq(probe_ticks(ticker), 3001);
    cr_assert_eq(probe_ticks(other), 11);
    cr_assert_eq(engine.time_ps, 3001000);
}
