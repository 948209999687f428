/* All shards as one: what is kept for components by the number of their domain is where it belongs,
 * there and back, and whole runs are to the cycle those of one shard. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/engine/engine.h"
#include "runtime/engine/platform_table.h"
#include "runtime/engine/shard.h"
#include "runtime/engine/wheel.h"
#include "runtime/link/exchange.h"
#include "runtime/link/ring_run.h"
#include "runtime/link/split.h"
#include "runtime/observe/hang.h"
#include "runtime/scheduler/balance.h"
#include "runtime/scheduler/crew.h"
#include "runtime/scheduler/unite.h"
#include "runtime/scheduler/window.h"
#include "runtime/state/platform.h"
#include "tests/runtime/network.h"
#include "tests/sanitized.h"

#define LATENCY 5
#define DEPTH   2
#define PS      1000u

static struct component *from, *to;

/* `to` in another partition; both have had their tick after start-up. */
static void build(void)
{
    build_start("unite");
    uint32_t core = build_domain("core", 1000000000);
    uint32_t protocol = probe_protocol(16, false);
    uint32_t a = probe_instance(core, "a", PROBE_SOURCE, 0, 0, false);
    uint32_t b = probe_instance(core, "b", PROBE_STUBBORN, 0, 1, false);
    build_partition(b, 1);
    build_connect((struct build_end){a, PROBE_OUT, 0}, (struct build_end){b, PROBE_IN, 0},
                  probe_wire(protocol, DEPTH, 1, LATENCY));
    cr_assert(platform_build_threads(build_finish(), 2));
    from = platform_component(a);
    to = platform_component(b);
    for (uint32_t shard = 0; shard < 2; shard++) {
        shards[shard].until_ps = LATENCY * PS;
        shard_find_awake(shard);
        shard_plan(shard);
        shard_run(shard);
    }
    cr_assert(unite_is_possible());
}

static void plan(uint32_t shard)
{
    shard_find_awake(shard);
    shard_plan(shard);
}

Test(unite, a_component_takes_its_wake_up_along)
{
    static const uint64_t ahead[] = {LATENCY + 2, 300, 2000, 100000};
    for (uint32_t i = 0; i < sizeof ahead / sizeof ahead[0]; i++) {
        build();
        if (ahead[i] < ENGINE_NEAR)
            engine_mark_arrival(engine_mark_of(to->id), to->domain, ahead[i]);
        else
            engine_wake_later(to->id, ahead[i]);
        unite_shards(LATENCY * PS);
        cr_assert(unite_holds());
        cr_assert_eq(to->domain, 0);
        cr_assert_eq(shards[0].next_ps, ahead[i] * PS);
        cr_assert_eq(shards[1].next_ps, ENGINE_NEVER);
        unite_undo(LATENCY * PS);
        cr_assert_not(unite_holds());
        cr_assert_eq(to->domain, 1);
        cr_assert_eq(shards[0].next_ps, ENGINE_NEVER);
        cr_assert_eq(shards[1].next_ps, ahead[i] * PS);
    }
}

Test(unite, what_is_under_way_arrives)
{
    build();
    ring_send(ring_place_of(0), ring_limit(3), 0, 0, 0);
    unite_shards(LATENCY * PS);
    cr_assert(!exchange_is_pending());
    cr_assert_eq(component_pending(to, 0), 1);
    cr_assert_eq(shards[0].next_ps, (3 + LATENCY) * PS);
}

Test(unite, a_message_is_told_at_once)
{
    build();
    unite_shards(LATENCY * PS);
    ring_send(ring_place_of(0), ring_limit(7), 0, 0, 0);
    cr_assert(!exchange_is_pending());
    plan(0);
    cr_assert_eq(shards[0].next_ps, (7 + LATENCY) * PS);
    unite_undo(2 * LATENCY * PS);
    cr_assert_eq(shards[0].next_ps, ENGINE_NEVER);
    cr_assert_eq(shards[1].next_ps, (7 + LATENCY) * PS);
    cr_assert_neq(ring_peek(ring_place_of(split_far(0)), ring_limit(7 + LATENCY)), NULL);
}

static void fill(void)
{
    for (uint64_t i = 0; i < DEPTH; i++)
        ring_send(ring_place_of(0), ring_limit(i), 0, 0, 0);
}

/* Whoever was refused before is woken in the union, and the other way round. */
Test(unite, a_refused_sender_is_woken_when_it_may_send)
{
    for (uint32_t before = 0; before < 2; before++) {
        build();
        fill();
        if (before)
            cr_assert(!ring_can_send(ring_place_of(0), ring_limit(DEPTH)));
        unite_shards(LATENCY * PS);
        cr_assert(!ring_can_send(ring_place_of(0), ring_limit(LATENCY)));
        cr_assert_eq(shards[0].waits, 0);
        ring_pop(ring_place_of(split_far(0)), ring_limit(LATENCY + 1));
        cr_assert_eq(ring_at(0)->sender_waits, 0);
        plan(0);
        cr_assert(wheel_next(shard_wheel(0)) == 2 * LATENCY + 1);
        cr_assert(ring_can_send(ring_place_of(0), ring_limit(2 * LATENCY + 1)));
    }
}

Test(unite, a_sender_that_waits_is_known_afterwards)
{
    build();
    unite_shards(LATENCY * PS);
    fill();
    cr_assert(!ring_can_send(ring_place_of(0), ring_limit(LATENCY)));
    unite_undo(2 * LATENCY * PS);
    cr_assert_eq(shards[0].waits, 1);
    cr_assert_eq(ring_at(split_far(0))->sender_waits, 0);
    ring_pop(ring_place_of(split_far(0)), ring_limit(2 * LATENCY));
    exchange_look_again();
    cr_assert_eq(shards[0].waits, 0);
    cr_assert_eq(wheel_next(shard_wheel(0)), 3 * LATENCY);
}

Test(unite, only_work_of_other_shards_is_worth_threads)
{
    build();
    unite_shards(LATENCY * PS);
    engine_wake_next(from->id);
    plan(0);
    shards[0].until_ps = 2 * LATENCY * PS;
    shard_run(0);
    cr_assert_not(unite_is_worth_threads());
    engine_wake_next(to->id);
    plan(0);
    shards[0].until_ps = 3 * LATENCY * PS;
    shard_run(0);
    cr_assert(unite_is_worth_threads());
    cr_assert_not(unite_is_worth_threads());
}

/* ---- whole runs ---- */

struct star {
    uint32_t partitions, least, threads;
    bool chance; /* changes between one thread and all */
};

ParameterizedTestParameters(unite, runs_are_those_of_one_shard)
{
    static struct star stars[] = {
        {2, 3, 2, false}, {7, 5, 4, false}, {20, 11, 8, false}, {4, 600, 4, false},
        {2, 3, 2, true},  {7, 5, 3, true},  {20, 11, 4, true},  {5, 300, 3, true},
    };
    return cr_make_param_array(struct star, stars, sizeof stars / sizeof stars[0]);
}

static void build_star(const struct platform_table *table, uint32_t threads)
{
    probe_logged = 0;
    probe_quiet = threads > 1;
    cr_assert(platform_build_threads(table, threads));
    crew_open(threads);
}

ParameterizedTest(struct star *k, unite, runs_are_those_of_one_shard)
{
    static const char *const delays[] = {"1", "2", "3", "4"};
    for (uint32_t seed = 0; seed < (SANITIZED ? 1 : 4); seed++) {
        const struct platform_table *table =
            network_describe_star(seed + 1, k->partitions, k->least);
        unsetenv("HEDDLE_THREAD_DELAYS");
        build_star(table, 1);
        cr_assert_eq(engine_run(), ENGINE_IDLE);
        uint64_t hash = probe_hash(), messages = engine_messages(), time_ps = engine.time_ps;
        if (k->chance)
            setenv("HEDDLE_THREAD_DELAYS", delays[seed], 1);
        else
            setenv("HEDDLE_THREADS_RUN", "one", 1);
        build_star(table, k->threads);
        cr_assert(engine.shard_count > 1);
        cr_assert_eq(engine_run(), ENGINE_IDLE);
        cr_assert_eq(engine_messages(), messages);
        cr_assert_eq(engine.time_ps, time_ps);
        cr_assert_eq(probe_hash(), hash, "seed %u", (unsigned)seed);
        uint64_t handed_on = balance_reported()->handed_on;
        cr_assert(k->chance ? handed_on > 0 : unite_holds() && !handed_on);
    }
}

/* ---- ends ---- */

struct ending {
    enum probe_behaviour behaviour;
    int64_t period;
    enum engine_result result;
    uint64_t max_cycles;
};

ParameterizedTestParameters(unite, a_run_ends_as_in_one_shard)
{
    static struct ending endings[] = {
        {PROBE_FAILER, 137, ENGINE_FAILED, 0},   {PROBE_SILENT, 0, ENGINE_DEADLOCK, 0},
        {PROBE_STUBBORN, 0, ENGINE_DEADLOCK, 0}, {PROBE_RESTLESS, 7, ENGINE_STALL, 0},
        {PROBE_SINK, 3, ENGINE_LIMIT, 123},      {PROBE_SINK, 3, ENGINE_IDLE, 0},
    };
    return cr_make_param_array(struct ending, endings, sizeof endings / sizeof endings[0]);
}

ParameterizedTest(struct ending *k, unite, a_run_ends_as_in_one_shard)
{
    static char words[3][8192];
    uint64_t time_ps[3];
    for (uint32_t several = 0; several < 3; several++) {
        setenv("HEDDLE_THREADS_RUN", several == 1 ? "one" : "all", 1);
        build_start("ends");
        uint32_t core = build_domain("core", 1000000000);
        uint32_t protocol = probe_protocol(16, true);
        uint32_t a = probe_instance(core, "a", PROBE_SOURCE, 200, 0, true);
        uint32_t b = probe_instance(core, "b", k->behaviour, 5, k->period, true);
        uint32_t c = probe_instance(core, "c", PROBE_CLOCK, 0, 13, false);
        build_partition(b, 1);
        build_partition(c, 2);
        build_connect((struct build_end){a, PROBE_OUT, 0}, (struct build_end){b, PROBE_IN, 0},
                      probe_wire(protocol, 8, 1, 6));
        build_star(build_finish(), several ? 2 : 1);
        cr_assert_eq(engine.shard_count, several ? 3 : 1);
        engine_set_limits(
            &(struct engine_limits){.max_cycles = k->max_cycles, .stall_limit = 50000});
        cr_assert_eq(engine_run(), k->result, "%u", several);
        cr_assert_eq(unite_holds(), several == 1);
        time_ps[several] = engine.time_ps;
        const char *said = k->result == ENGINE_FAILED ? engine_failure()
                           : k->result == ENGINE_IDLE ? ""
                                                      : hang_last_report();
        snprintf(words[several], sizeof words[0], "%s", said);
    }
    for (uint32_t several = 1; several < 3; several++) {
        cr_assert_eq(time_ps[0], time_ps[several], "%u", several);
        cr_assert_str_eq(words[0], words[several]);
    }
}
