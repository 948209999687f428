/* Shared wires: turns, times, directions, conservation, shards. The oracle is the sentence
 * "whenever the wire is free, it takes the next channel in turn that has something". */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/run_control.h"
#include "runtime/link/lookahead.h"
#include "runtime/link/ring_run.h"
#include "runtime/link/shared_wire.h"
#include "runtime/scheduler/run.h"
#include "runtime/scheduler/thread_pool.h"
#include "tests/runtime/probe.h"
#include "tests/sanitized.h"

#define PS_PER_S ((uint64_t)1000000000000)
#define GHZ      1000000000u
#define MOST     600
#define CHANNELS 3

/* ---- the plain model ---- */

struct track {
    uint64_t sent_ps[MOST], seen_cycle[MOST];
    uint64_t bytes;
    uint32_t sent, seen;
    uint32_t domain; /* of who receives */
};

/* Edge of `domain` at or after a time, found by halving: edges are in order. */
static uint64_t edge(uint32_t domain, uint64_t time_ps)
{
    uint64_t first = 0, beyond = time_ps + 1; /* a cycle takes a picosecond at least */
    while (first < beyond) {
        uint64_t middle = first + (beyond - first) / 2;
        if (engine_time_of(domain, middle) < time_ps)
            first = middle + 1;
        else
            beyond = middle;
    }
    return first;
}

/* When the first of the messages that are left was sent. */
static uint64_t next_sent(const struct track *tracks, const uint32_t *done, uint32_t count)
{
    uint64_t first = UINT64_MAX;
    for (uint32_t i = 0; i < count; i++)
        if (done[i] < tracks[i].sent && tracks[i].sent_ps[done[i]] < first)
            first = tracks[i].sent_ps[done[i]];
    return first;
}

/* `ps_a_byte` is whole. Checks what was seen against what was sent. */
static void check_turns(struct track *tracks, uint32_t count, uint64_t ps_a_byte,
                        uint64_t latency_ps)
{
    uint32_t done[CHANNELS] = {0}, left = 0, turn = 0;
    uint64_t busy_until = 0;
    for (uint32_t i = 0; i < count; i++) {
        cr_assert_eq(tracks[i].sent, tracks[i].seen);
        left += tracks[i].sent;
    }
    cr_assert_gt(left, 0);
    while (left) {
        uint64_t now_ps = max(busy_until, next_sent(tracks, done, count));
        for (uint32_t i = 0; i < count; i++) {
            uint32_t c = (turn + i) % count;
            struct track *t = &tracks[c];
            if (done[c] == t->sent || t->sent_ps[done[c]] > now_ps)
                continue;
            busy_until = now_ps + t->bytes * ps_a_byte;
            uint64_t expected = edge(t->domain, busy_until + latency_ps);
            cr_assert_eq(t->seen_cycle[done[c]], expected, "channel %u, message %u: %lu, not %lu",
                         c, done[c], (unsigned long)t->seen_cycle[done[c]],
                         (unsigned long)expected);
            done[c]++;
            left--;
            turn = (c + 1) % count;
            break;
        }
    }
}

static void track(struct track *t, const struct probe_entry *from, uint32_t leaf,
                  enum probe_event event, int32_t port, uint32_t domain)
{
    bool matches = from->leaf == leaf && from->event == event
                   && (port < 0 || (int32_t)(from->value & 255) == port);
    if (!matches)
        return;
    cr_assert_lt(t->sent, MOST);
    t->sent_ps[t->sent++] = engine_time_of(domain, from->cycle);
}

static void track_seen(struct track *t, const struct probe_entry *from, uint32_t leaf,
                       enum probe_event event, int32_t port)
{
    if (from->leaf == leaf && from->event == event
        && (port < 0 || (int32_t)(from->value & 255) == port))
        t->seen_cycle[t->seen++] = from->cycle;
}

/* ---- a wire with three connections, one of them the other way ---- */

struct turns_case {
    uint64_t ps_a_byte, latency_ps, hz;
};

enum { A0, A1, D, B, C, LEAVES };

static struct build_end end(const uint32_t *leaves, uint32_t leaf, uint32_t port, uint32_t element)
{
    return (struct build_end){leaves[leaf], port, element};
}

/* a0, a1 -> b; c -> d, where a0, a1, d stand at one end and b, c at the other. */
static uint32_t describe(const struct turns_case *k, uint32_t *leaves, uint32_t partition)
{
    build_start("wire");
    uint32_t core = build_domain("core", GHZ), other = build_domain("other", k->hz);
    uint32_t small = probe_protocol(16, true);
    leaves[A0] = probe_instance(core, "a0", PROBE_MIXER, 300, 0, true);
    leaves[D] = probe_instance(core, "d", PROBE_SINK, 0, 1, true);
    uint32_t large = probe_protocol(80, true);
    leaves[A1] = probe_instance(core, "a1", PROBE_MIXER, 300, 0, true);
    probe_protocol(24, true); /* what b answers, and c asks, whatever it is asked */
    leaves[B] = probe_instance(other, "b", PROBE_SINK, 0, 1, true);
    leaves[C] = probe_instance(other, "c", PROBE_MIXER, 300, 0, true);
    build_partition(leaves[A1], partition);
    build_partition(leaves[B], partition);
    uint32_t link = build_link("wire", PS_PER_S / k->ps_a_byte, k->latency_ps, LINK_WIRE);
    struct build_wire wire = probe_wire(small, 512, 8, 0);
    wire.link = link + 1;
    build_connect(end(leaves, A0, PROBE_OUT, 0), end(leaves, B, PROBE_IN, 0), wire);
    wire.protocol = large;
    build_connect(end(leaves, A1, PROBE_OUT, 0), end(leaves, B, PROBE_IN, 1), wire);
    wire.protocol = small;
    wire.reversed = true;
    build_connect(end(leaves, C, PROBE_OUT, 0), end(leaves, D, PROBE_IN, 0), wire);
    return link;
}

ParameterizedTestParameters(wire, channels_take_turns_in_both_directions)
{
    static struct turns_case cases[] = {
        {100, 1000, GHZ},  {100, 33000, 1132000000}, {50, 7001, 700000001},
        {10, 140000, GHZ}, {200, 33000, 500000000},  {1, 1, GHZ},
    };
    return cr_make_param_array(struct turns_case, cases, tests_amount(ARRAY_COUNT(cases), 3, 2));
}

ParameterizedTest(struct turns_case *k, wire, channels_take_turns_in_both_directions)
{
    static struct track there[CHANNELS], back[CHANNELS];
    uint32_t leaves[LEAVES];
    memset(there, 0, sizeof there);
    memset(back, 0, sizeof back);
    uint32_t link = describe(k, leaves, 0);
    probe_build();
    cr_assert_eq(engine_run(), ENGINE_IDLE);
    for (uint32_t i = 0; i < probe_logged; i++) {
        const struct probe_entry *e = &probe_log[i];
        track(&there[0], e, leaves[A0], PROBE_SENT, -1, 0);
        track_seen(&there[0], e, leaves[B], PROBE_RECEIVED, 0);
        track(&there[1], e, leaves[A1], PROBE_SENT, -1, 0);
        track_seen(&there[1], e, leaves[B], PROBE_RECEIVED, 1);
        track(&there[2], e, leaves[D], PROBE_RECEIVED, -1, 0); /* when it answers */
        track_seen(&there[2], e, leaves[C], PROBE_REPLIED, -1);
        track(&back[0], e, leaves[B], PROBE_RECEIVED, 0, 1);
        track_seen(&back[0], e, leaves[A0], PROBE_REPLIED, -1);
        track(&back[1], e, leaves[B], PROBE_RECEIVED, 1, 1);
        track_seen(&back[1], e, leaves[A1], PROBE_REPLIED, -1);
        track(&back[2], e, leaves[C], PROBE_SENT, -1, 1);
        track_seen(&back[2], e, leaves[D], PROBE_RECEIVED, -1);
    }
    there[0].bytes = 16;
    there[1].bytes = 80;
    there[2].bytes = 16;
    there[0].domain = there[1].domain = there[2].domain = 1;
    back[0].bytes = back[1].bytes = back[2].bytes = 24;
    check_turns(there, CHANNELS, k->ps_a_byte, k->latency_ps);
    check_turns(back, CHANNELS, k->ps_a_byte, k->latency_ps);
    for (unsigned half = 0; half < 2; half++) {
        uint64_t bytes = 0, messages = 0;
        const struct ring_link_use *use = ring_link_use(link, half, ENGINE_NEVER);
        cr_assert_eq(shared_wire_channel_count(link, half), CHANNELS);
        for (uint32_t i = 0; i < CHANNELS; i++) {
            const struct shared_wire_channel_use *channel = shared_wire_channel(link, half, i);
            cr_expect_eq(channel->messages, 300);
            cr_expect_eq(channel->bytes, 300 * (half ? back : there)[i].bytes);
            bytes += channel->bytes;
            messages += channel->messages;
        }
        cr_expect_eq(use->bytes, bytes);
        cr_expect_eq(use->messages, messages);
        cr_expect_eq(use->busy_ps, bytes * k->ps_a_byte);
    }
}

/* ---- shares ---- */

/* Sources that always have something, each with a sink of its own, over one wire of 10 ns a
 * message. Depths may differ: they are at least what a turn of all channels needs. */
static void saturate(const uint32_t *depths, const bool *reversed, uint32_t count,
                     enum probe_behaviour last, uint32_t *sinks)
{
    build_start("wire");
    uint32_t core = build_domain("core", GHZ);
    uint32_t protocol = probe_protocol(100, false);
    uint32_t link = build_link("wire", 10000000000, 1000, LINK_WIRE);
    for (uint32_t i = 0; i < count; i++) {
        bool is_last = i + 1 == count;
        uint32_t a = probe_instance(core, "a", PROBE_SOURCE, 200, 0, false);
        sinks[i] = probe_instance(core, "b", is_last ? last : PROBE_SINK, 0, 1, false);
        struct build_wire wire = probe_wire(protocol, depths[i], 4, 0);
        wire.link = link + 1;
        wire.reversed = reversed[i];
        build_connect((struct build_end){a, PROBE_OUT, 0},
                      (struct build_end){sinks[i], PROBE_IN, 0}, wire);
    }
    probe_build();
}

Test(wire, saturated_channels_have_equal_shares)
{
    static const uint32_t depths[] = {8, 64, 200};
    static const bool forward[3];
    for (uint32_t count = 2; count <= 3; count++) {
        uint32_t sinks[3], received = 0;
        saturate(depths, forward, count, PROBE_SINK, sinks);
        cr_assert_eq(engine_run(), ENGINE_IDLE);
        for (uint32_t i = 0; i < probe_logged; i++) {
            if (probe_log[i].event != PROBE_RECEIVED)
                continue;
            cr_assert_eq(probe_log[i].leaf, sinks[received % count]);
            cr_assert_eq(probe_log[i].cycle, 1 + 10 * (received + 1) + 1);
            received++;
        }
        cr_assert_eq(received, 200 * count);
    }
}

Test(wire, opposite_directions_do_not_meet)
{
    static const uint32_t depths[] = {64, 64};
    static const bool opposite[] = {false, true};
    uint32_t sinks[2], received[2] = {0};
    saturate(depths, opposite, 2, PROBE_SINK, sinks);
    cr_assert_eq(engine_run(), ENGINE_IDLE);
    for (uint32_t i = 0; i < probe_logged; i++) {
        if (probe_log[i].event != PROBE_RECEIVED)
            continue;
        uint32_t which = probe_log[i].leaf == sinks[1];
        cr_assert_eq(probe_log[i].cycle, 1 + 10 * ++received[which] + 1);
    }
    cr_assert_eq(received[0], 200);
    cr_assert_eq(received[1], 200);
    cr_assert_eq(ring_link_use(0, 0, ENGINE_NEVER)->busy_ps, 2000000);
    cr_assert_eq(ring_link_use(0, 1, ENGINE_NEVER)->busy_ps, 2000000);
}

Test(wire, a_channel_that_nobody_empties_holds_nobody_up)
{
    static const uint32_t depths[] = {8, 16};
    static const bool forward[2];
    uint32_t sinks[2];
    saturate(depths, forward, 2, PROBE_STUBBORN, sinks);
    cr_assert_eq(engine_run(), ENGINE_DEADLOCK); /* what is left cannot go on; the rest has */
    cr_assert_eq(probe_received(sinks[0]), 200);
    cr_assert_eq(shared_wire_channel(0, 0, 1)->messages, 16);
}

/* ---- a lone message ---- */

struct lone_case {
    uint64_t bandwidth, latency_ps;
    uint32_t bytes;
};

ParameterizedTestParameters(wire, a_lone_message_takes_latency_and_its_bytes)
{
    static struct lone_case cases[] = {
        {32000000000, 140000, 72},
        {32000000000, 140000, 280},
        {1000000000, 1, 1},
        {50000000000, 120000, 64},
        {3, 5000, 1},
        {0, 20000, 4000},
    };
    return cr_make_param_array(struct lone_case, cases, ARRAY_COUNT(cases));
}

ParameterizedTest(struct lone_case *k, wire, a_lone_message_takes_latency_and_its_bytes)
{
    build_start("wire");
    uint32_t core = build_domain("core", GHZ);
    uint32_t protocol = probe_protocol(k->bytes, false);
    uint32_t a = probe_instance(core, "a", PROBE_SOURCE, 1, 0, false);
    uint32_t b = probe_instance(core, "b", PROBE_SINK, 0, 1, false);
    uint32_t link = build_link("wire", k->bandwidth, k->latency_ps, LINK_WIRE);
    struct build_wire wire = probe_wire(protocol, 4, 1, 0);
    wire.link = link + 1;
    build_connect((struct build_end){a, PROBE_OUT, 0}, (struct build_end){b, PROBE_IN, 0}, wire);
    probe_build();
    cr_assert_eq(engine_run(), ENGINE_IDLE);
    uint64_t wire_ps = k->bandwidth ? divide_up(k->bytes * PS_PER_S, k->bandwidth) : 0;
    uint64_t expected = 1 + divide_up(wire_ps + k->latency_ps, 1000);
    cr_assert_eq(probe_logged, 2);
    cr_assert_eq(probe_log[1].event, PROBE_RECEIVED);
    cr_assert_eq(probe_log[1].cycle, expected, "%lu, not %lu", (unsigned long)probe_log[1].cycle,
                 (unsigned long)expected);
}

/* ---- shards and orders ---- */

static uint64_t hash_of(const struct turns_case *k, uint32_t threads, int order, bool all)
{
    uint32_t leaves[LEAVES];
    describe(k, leaves, 1);
    probe_logged = 0;
    probe_quiet = threads > 1;
    cr_assert(platform_build_threads(build_finish(), threads));
    thread_pool_open(threads);
    cr_assert_eq(engine.shard_count, threads);
    engine_set_limits(&(struct engine_limits){.tick_order = order, .seed = 7, .ticks_all = all});
    cr_assert_eq(engine_run(), ENGINE_IDLE);
    return probe_hash();
}

ParameterizedTestParameters(wire, neither_shards_nor_orders_change_a_turn)
{
    /* the second and the last: a message takes many windows, in which everybody sleeps */
    static struct turns_case cases[] = {
        {100, 33000, GHZ},      {10000, 7000, GHZ},        {10, 140000, 1132000000},
        {200, 5000, 700000001}, {40000, 12000, 500000000},
    };
    return cr_make_param_array(struct turns_case, cases, tests_amount(ARRAY_COUNT(cases), 3, 1));
}

ParameterizedTest(struct turns_case *k, wire, neither_shards_nor_orders_change_a_turn)
{
    uint64_t expected = hash_of(k, 1, ENGINE_ASCENDING, false);
    cr_expect_eq(hash_of(k, 1, ENGINE_DESCENDING, false), expected);
    cr_expect_eq(hash_of(k, 1, ENGINE_RANDOM, true), expected);
    cr_expect_eq(hash_of(k, 2, ENGINE_ASCENDING, false), expected);
    cr_expect_eq(hash_of(k, 2, ENGINE_RANDOM, false), expected);
}

/* Bursts over a wire much longer than the window: everybody sleeps while it goes on taking turns.
 */
static uint64_t hash_of_bursts(uint64_t latency_ps, int64_t period, uint32_t threads)
{
    build_start("bursts");
    uint32_t core = build_domain("core", GHZ);
    uint32_t protocol = probe_protocol(16, false);
    uint32_t link = build_link("wire", 10000000000, latency_ps, LINK_WIRE);
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t a = probe_instance(core, "a", PROBE_SOURCE, i < 2 ? 200 : 0, 0, false);
        uint32_t b = probe_instance(core, "b", PROBE_SINK, 0, period, false);
        struct build_wire wire = probe_wire(protocol, 200, 64, i < 2 ? 0 : 9);
        wire.link = i < 2 ? link + 1 : 0;
        build_partition(a, i == 1);
        build_partition(b, 1);
        build_connect((struct build_end){a, PROBE_OUT, 0}, (struct build_end){b, PROBE_IN, 0},
                      wire);
    }
    probe_logged = 0;
    probe_quiet = threads > 1;
    cr_assert(platform_build_threads(build_finish(), threads));
    thread_pool_open(threads);
    cr_assert_eq(engine.shard_count, threads);
    cr_assert_eq(engine_run(), ENGINE_IDLE);
    cr_assert_eq(shared_wire_channel(link, 0, 0)->messages, 200);
    cr_assert_eq(shared_wire_channel(link, 0, 1)->messages, 200);
    return probe_hash();
}

Test(wire, decides_in_time_while_all_shards_sleep)
{
    /* wherever in a window of 9 cycles the first of them arrives, whenever somebody looks again */
    const uint64_t step = tests_amount(500, 1500, 9000);
    for (uint64_t latency_ps = 136000; latency_ps < 145000; latency_ps += step) {
        for (int64_t period = 1; period < 9; period += 7) {
            uint64_t expected = hash_of_bursts(latency_ps, period, 1);
            cr_expect_eq(hash_of_bursts(latency_ps, period, 2), expected);
        }
    }
}

/* Nothing crosses from one partition to the other over the wire, but they take turns on it. */
static uint64_t hash_of_neighbours(uint32_t threads)
{
    build_start("neighbours");
    uint32_t core = build_domain("core", GHZ);
    uint32_t protocol = probe_protocol(16, false);
    uint32_t link = build_link("wire", 1000000000, 20000, LINK_WIRE);
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t a = probe_instance(core, "a", PROBE_MIXER, 100, 0, false);
        uint32_t b = probe_instance(core, "b", PROBE_SINK, 0, 1, false);
        struct build_wire wire = probe_wire(protocol, 16, 1, i < 2 ? 0 : 300);
        wire.link = i < 2 ? link + 1 : 0;
        build_partition(a, i == 1);
        build_partition(b, i != 0);
        build_connect((struct build_end){a, PROBE_OUT, 0}, (struct build_end){b, PROBE_IN, 0},
                      wire);
    }
    probe_logged = 0;
    probe_quiet = threads > 1;
    cr_assert(platform_build_threads(build_finish(), threads));
    thread_pool_open(threads);
    cr_assert_eq(engine.shard_count, threads);
    cr_assert_eq(lookahead_ps(engine_base.platform), 20000);
    cr_assert_eq(engine_run(), ENGINE_IDLE);
    return probe_hash();
}

Test(wire, turns_of_two_partitions_bound_the_window)
{
    uint64_t expected = hash_of_neighbours(1);
    cr_expect_eq(hash_of_neighbours(2), expected);
}
