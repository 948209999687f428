/* Messages and credits: when a send is allowed, when a message is seen, on wires, across clocks and
 * over links. Each case is compared with the closed form, computed here the plain way. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "base/number.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/instances.h"
#include "runtime/engine/platform_table.h"
#include "runtime/engine/run_control.h"
#include "runtime/link/ring_run.h"
#include "runtime/link/ring_state.h"
#include "runtime/state/platform.h"
#include "tests/runtime/probe.h"

__extension__ typedef unsigned __int128 wide;

#define MESSAGES 400
#define FAST     1000000000u

struct wire_case {
    uint32_t depth, width, latency;
};

/* Cycles of the events of one kind at one component, in order. */
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

ParameterizedTestParameters(ring, a_wire_follows_depth_width_and_latency)
{
    static struct wire_case cases[] = {
        {1, 1, 1},  {2, 1, 1},    {3, 1, 1},     {16, 1, 1},      {1, 1, 5},
        {4, 1, 5},  {9, 1, 5},    {10, 1, 5},    {11, 1, 5},      {16, 2, 1},
        {16, 4, 3}, {7, 3, 2},    {64, 8, 10},   {4, 8, 1},       {1, 1, 70},
        {5, 2, 70}, {200, 1, 70}, {33, 1, 5000}, {400, 16, 5000},
    };
    return cr_make_param_array(struct wire_case, cases, ARRAY_COUNT(cases));
}

ParameterizedTest(struct wire_case *k, ring, a_wire_follows_depth_width_and_latency)
{
    static uint64_t sent[MESSAGES], seen[MESSAGES], expected[MESSAGES];
    build_start("wire");
    uint32_t core = build_domain("core", FAST);
    uint32_t protocol = probe_protocol(16, false);
    uint32_t a = probe_instance(core, "a", PROBE_SOURCE, MESSAGES, 0, false);
    uint32_t b = probe_instance(core, "b", PROBE_SINK, 0, 1, false);
    build_connect((struct build_end){a, PROBE_OUT, 0}, (struct build_end){b, PROBE_IN, 0},
                  probe_wire(protocol, k->depth, k->width, k->latency));
    probe_build();
    cr_assert_eq(engine_run(), ENGINE_IDLE);
    cr_assert_eq(events(a, PROBE_SENT, sent), MESSAGES);
    cr_assert_eq(events(b, PROBE_RECEIVED, seen), MESSAGES);
    for (uint32_t i = 0; i < MESSAGES; i++) {
        expected[i] = i ? expected[i - 1] : 1;
        if (i >= k->width)
            expected[i] = later(expected[i], expected[i - k->width] + 1);
        if (i >= k->depth)
            expected[i] = later(expected[i], expected[i - k->depth] + 2 * k->latency);
        cr_assert_eq(sent[i], expected[i], "message %u sent at %lu, not %lu", i,
                     (unsigned long)sent[i], (unsigned long)expected[i]);
        cr_assert_eq(seen[i], sent[i] + k->latency);
    }
}

/* {depth, latency, delay}; ENGINE_NEAR cycles are as far as arrivals are marked. */
struct delay_case {
    uint32_t depth, latency, delay;
};

ParameterizedTestParameters(ring, a_delay_postpones_messages_and_not_credits)
{
    static struct delay_case cases[] = {
        {1, 1, 0},
        {1, 1, 9},
        {16, 1, 9},
        {4, 5, 3},
        {16, 1, ENGINE_NEAR - 2},
        {16, 1, ENGINE_NEAR - 1},
        {16, 1, ENGINE_NEAR},
        {8, 30, 2 * ENGINE_NEAR},
    };
    return cr_make_param_array(struct delay_case, cases, ARRAY_COUNT(cases));
}

ParameterizedTest(struct delay_case *k, ring, a_delay_postpones_messages_and_not_credits)
{
    static uint64_t sent[MESSAGES], seen[MESSAGES];
    build_start("delay");
    uint32_t core = build_domain("core", FAST);
    uint32_t protocol = probe_protocol(16, false);
    uint32_t a = probe_instance(core, "a", PROBE_SOURCE, MESSAGES, 0, false);
    uint32_t b = probe_instance(core, "b", PROBE_SINK, 0, 1, false);
    build_connect((struct build_end){a, PROBE_OUT, 0}, (struct build_end){b, PROBE_IN, 0},
                  probe_wire(protocol, k->depth, 1, k->latency));
    probe_build();
    cr_assert_eq(ring_route(ring_at(0))->receiver, platform_component(b)->id);
    ring_add_delay(0, k->delay);
    cr_assert_eq(engine_run(), ENGINE_IDLE);
    cr_assert_eq(events(a, PROBE_SENT, sent), MESSAGES);
    cr_assert_eq(events(b, PROBE_RECEIVED, seen), MESSAGES);
    for (uint32_t i = 0; i < MESSAGES; i++) {
        uint64_t expected = i ? sent[i - 1] + 1 : 1;
        if (i >= k->depth)
            expected = later(expected, sent[i - k->depth] + 2 * k->latency + k->delay);
        cr_assert_eq(sent[i], expected);
        cr_assert_eq(seen[i], sent[i] + k->latency + k->delay);
    }
}

Test(ring, a_slow_receiver_holds_the_sender_back_by_credits)
{
    static uint64_t sent[MESSAGES], seen[MESSAGES];
    build_start("slow");
    uint32_t core = build_domain("core", FAST);
    uint32_t protocol = probe_protocol(16, false);
    uint32_t a = probe_instance(core, "a", PROBE_SOURCE, 100, 0, false);
    uint32_t b = probe_instance(core, "b", PROBE_SINK, 0, 50, false);
    build_connect((struct build_end){a, PROBE_OUT, 0}, (struct build_end){b, PROBE_IN, 0},
                  probe_wire(protocol, 4, 1, 3));
    probe_build();
    cr_assert_eq(engine_run(), ENGINE_IDLE);
    cr_assert_eq(events(a, PROBE_SENT, sent), 100);
    cr_assert_eq(events(b, PROBE_RECEIVED, seen), 100);
    for (uint32_t i = 4; i < 100; i++) {
        cr_assert_eq(seen[i] - seen[i - 1], 50);
        cr_assert_eq(sent[i], seen[i - 4] + 3);
    }
    cr_assert_lt(probe_ticks(a), 4 * 100, "the refused sender must sleep");
}

/* A ring begins with 16 of its slots, on a large platform with 4. Here it gets the others while
 * messages stand on both sides of its end, at different places of it. */
struct slow_case {
    uint32_t depth, latency, cycles;
    bool large;
};

ParameterizedTestParameters(ring, a_ring_that_widens_refuses_as_a_whole_one_would)
{
    static struct slow_case cases[] = {
        {17, 3, 2, false},  {40, 1, 2, false},   {40, 3, 3, false},   {64, 9, 2, false},
        {100, 5, 4, false}, {100, 30, 2, false}, {300, 7, 40, false}, {300, 90, 2, false},
        {5, 3, 2, true},    {13, 1, 2, true},    {17, 3, 2, true},    {31, 9, 3, true},
        {32, 5, 2, true},   {40, 3, 3, true},    {100, 30, 2, true},  {300, 90, 2, true}};
    return cr_make_param_array(struct slow_case, cases, ARRAY_COUNT(cases));
}

ParameterizedTest(struct slow_case *k, ring, a_ring_that_widens_refuses_as_a_whole_one_would)
{
    static uint64_t sent[MESSAGES], seen[MESSAGES];
    build_start("widens");
    uint32_t core = build_domain("core", FAST);
    uint32_t protocol = probe_protocol(16, false);
    uint32_t a = probe_instance(core, "a", PROBE_SOURCE, MESSAGES, 0, false);
    uint32_t b = probe_instance(core, "b", PROBE_SINK, 0, k->cycles, false);
    for (uint32_t i = 0; k->large && i < PLATFORM_LARGE; i++)
        probe_instance(core, "idle", PROBE_SINK, 0, 1, false);
    build_connect((struct build_end){a, PROBE_OUT, 0}, (struct build_end){b, PROBE_IN, 0},
                  probe_wire(protocol, k->depth, 1, k->latency));
    probe_build();
    cr_assert_eq(engine_run(), ENGINE_IDLE);
    cr_assert_eq(events(a, PROBE_SENT, sent), MESSAGES);
    cr_assert_eq(events(b, PROBE_RECEIVED, seen), MESSAGES);
    for (uint32_t i = 1; i < MESSAGES; i++) {
        uint64_t credit = i < k->depth ? 0 : seen[i - k->depth] + k->latency;
        cr_assert_eq(sent[i], later(sent[i - 1] + 1, credit), "message %u", i);
        cr_assert_eq(seen[i], later(seen[i - 1] + k->cycles, sent[i] + k->latency));
    }
}

struct clocks_case {
    uint64_t sender_hz, receiver_hz;
    uint32_t latency;
};

ParameterizedTestParameters(ring, a_wire_between_clocks_counts_cycles_of_the_server)
{
    static struct clocks_case cases[] = {
        {1000000000, 1000000000, 1}, {1000000000, 500000000, 1}, {500000000, 1000000000, 3},
        {1132000000, 700000000, 2},  {700000000, 1132000000, 7}, {3, 1000000000, 1},
    };
    return cr_make_param_array(struct clocks_case, cases, ARRAY_COUNT(cases));
}

ParameterizedTest(struct clocks_case *k, ring, a_wire_between_clocks_counts_cycles_of_the_server)
{
    static uint64_t sent[MESSAGES], seen[MESSAGES];
    build_start("clocks");
    uint32_t one = build_domain("one", k->sender_hz);
    uint32_t two = build_domain("two", k->receiver_hz);
    uint32_t protocol = probe_protocol(16, true);
    uint32_t a = probe_instance(one, "a", PROBE_SOURCE, 100, 0, true);
    uint32_t b = probe_instance(two, "b", PROBE_SINK, 0, 1, true);
    build_connect((struct build_end){a, PROBE_OUT, 0}, (struct build_end){b, PROBE_IN, 0},
                  probe_wire(protocol, 128, 1, k->latency));
    probe_build();
    cr_assert_eq(engine_run(), ENGINE_IDLE);
    cr_assert_eq(events(a, PROBE_SENT, sent), 100);
    cr_assert_eq(events(b, PROBE_RECEIVED, seen), 100);
    for (uint32_t i = 0; i < 100; i++) {
        uint64_t expected = engine_cycle_at(1, engine_time_of(0, sent[i])) + k->latency;
        cr_assert_geq(seen[i], expected);
        cr_assert_gt(engine_time_of(1, seen[i]), engine_time_of(0, sent[i]));
        if (i == 0)
            cr_assert_eq(seen[i], expected);
    }
    cr_assert_eq(events(a, PROBE_REPLIED, seen), 100);
}

struct link_case {
    uint64_t bandwidth, latency_ps;
    uint32_t bytes;
    uint64_t hz;
};

ParameterizedTestParameters(ring, a_link_takes_its_bandwidth_and_latency_exactly)
{
    static struct link_case cases[] = {
        {32000000000, 140000, 80, 1000000000},
        {50000000000, 120000, 144, 1000000000},
        {1000000000, 0, 1, 1000000000},
        {7, 0, 3, 1000000000},
        {0, 5000, 64, 1000000000},
        {0, 0, 64, 1000000000},
        {1132000000, 77, 64, 1132000000},
        {299792458, 1, 65, 1755000000},
    };
    return cr_make_param_array(struct link_case, cases, ARRAY_COUNT(cases));
}

/* Free time as a fraction: `num` / bandwidth picoseconds. */
ParameterizedTest(struct link_case *k, ring, a_link_takes_its_bandwidth_and_latency_exactly)
{
    static uint64_t sent[MESSAGES], seen[MESSAGES];
    build_start("link");
    uint32_t core = build_domain("core", k->hz);
    uint32_t protocol = probe_protocol(k->bytes, false);
    uint32_t link = build_link("wire", k->bandwidth, k->latency_ps, false);
    uint32_t a = probe_instance(core, "a", PROBE_SOURCE, 200, 0, false);
    uint32_t b = probe_instance(core, "b", PROBE_SINK, 0, 1, false);
    struct build_wire wire = probe_wire(protocol, 256, 1, 0);
    wire.link = link + 1;
    build_connect((struct build_end){a, PROBE_OUT, 0}, (struct build_end){b, PROBE_IN, 0}, wire);
    probe_build();
    cr_assert_eq(engine_run(), ENGINE_IDLE);
    cr_assert_eq(events(a, PROBE_SENT, sent), 200);
    cr_assert_eq(events(b, PROBE_RECEIVED, seen), 200);
    wide scale = k->bandwidth ? k->bandwidth : 1;
    wide free_at = 0;
    for (uint32_t i = 0; i < 200; i++) {
        uint64_t now = engine_time_of(0, sent[i]);
        if ((wide)now * scale > free_at)
            free_at = (wide)now * scale;
        if (k->bandwidth)
            free_at += (wide)k->bytes * 1000000000000u;
        uint64_t arrival = (uint64_t)divide_up(free_at, scale) + k->latency_ps;
        uint64_t expected = later(engine_cycle_at(0, arrival), sent[i] + 1);
        cr_assert_eq(seen[i], expected, "message %u seen at %lu, not %lu", i,
                     (unsigned long)seen[i], (unsigned long)expected);
    }
    cr_assert_eq(ring_link_use(link, 0, ENGINE_NEVER)->bytes, 200 * k->bytes);
    cr_assert_eq(ring_link_use(link, 0, ENGINE_NEVER)->messages, 200);
}
