/* RDMA engine: two of them with a link between, a requester at one and memory behind the other.
 * What a request takes and how many go through in a second follow from the link, the number of
 * entries and the depth of the ports alone. */
#include "atomic_op.gen.h"
#include "mem.gen.h"
#include "rdma_engine.gen.h"
#include "scope.gen.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/number.h"
#include "runtime/engine/run_control.h"
#include "tests/components/harness.h"

extern const struct unit_type rdma_engine__generic;

/* The request and the reply of a read on the link (harness.c). */
#define READ_BYTES 25u /* 8 that frame it, and its fields */
#define DATA_BYTES 72u
#define PS_PER_S   UINT64_C(1000000000000)

static const struct build_port ports[] = {
    {"local", BUILD_IN, false},   {"remote", BUILD_OUT, false},  {"peer", BUILD_IN, false},
    {"inside", BUILD_OUT, false}, {"copy_out", BUILD_IN, false}, {"copy_in", BUILD_OUT, false}};
static const struct build_type rdma_type = {
    .unit = &rdma_engine__generic, .ports = ports, .port_count = ARRAY_COUNT(ports)};
enum { LOCAL, REMOTE, PEER, INSIDE, COPY_OUT, COPY_IN };

struct way {
    int64_t entries;
    uint32_t depth;
    uint64_t bandwidth; /* bytes a second, 0: unlimited */
    uint64_t latency_ps;
    uint64_t memory; /* cycles */
};

static uint32_t near_engine, far_engine, requester, memory, copier, copy_memory;
static bool with_copies; /* set_up(): DMA engines at both ends, too */

static struct build_end end(uint32_t leaf, uint32_t port)
{
    return (struct build_end){leaf, port, 0};
}

static void set_up(const struct way *w)
{
    const int64_t params[] = {w->entries, w->depth, 64 /* line */};
    harness_start();
    near_engine = build_instance(&rdma_type, 0, "near", params, NULL, 3);
    far_engine = build_instance(&rdma_type, 0, "far", params, NULL, 3);
    requester = harness_requester();
    memory = harness_server(w->memory, harness_answer_memory);
    harness_wire(HARNESS_MEM, end(requester, 0), end(near_engine, LOCAL), w->depth, 1, 1);
    harness_wire_link(HARNESS_MEM, end(near_engine, REMOTE), end(far_engine, PEER), w->depth,
                      build_link("xgmi", w->bandwidth, w->latency_ps, false));
    harness_wire(HARNESS_MEM, end(far_engine, INSIDE), end(memory, 0), 64, 1, 1);
    if (with_copies) {
        copier = harness_requester();
        copy_memory = harness_server(w->memory, harness_answer_memory);
        harness_wire(HARNESS_MEM, end(copier, 0), end(near_engine, COPY_OUT), w->depth, 1, 1);
        harness_wire(HARNESS_MEM, end(far_engine, COPY_IN), end(copy_memory, 0), 64, 1, 1);
    }
    harness_build();
}

static void send(struct harness_message m)
{
    harness_send(requester, &m);
}

/* Cycles of 1 ns that a message of `bytes` takes over an idle link. */
static uint64_t crossing(const struct way *w, uint64_t bytes)
{
    uint64_t wire = w->bandwidth ? divide_up(bytes * PS_PER_S, w->bandwidth) : 0;
    return divide_up(wire + w->latency_ps, 1000);
}

/* One cycle each to the engine, to memory, and to the requester; the link twice. */
static uint64_t round_trip(const struct way *w)
{
    return 3 + w->memory + crossing(w, READ_BYTES) + crossing(w, DATA_BYTES);
}

Test(rdma_engine, a_read_takes_the_link_twice_and_a_cycle_at_each_end)
{
    static const struct way ways[] = {{128, 256, 50000000000, 120000, 1},
                                      {128, 256, 32000000000, 140000, 100},
                                      {1, 1, 0, 1000, 1},
                                      {4, 2, 1000000000, 500, 7}};
    for (size_t i = 0; i < ARRAY_COUNT(ways); i++) {
        set_up(&ways[i]);
        send(harness_read(10, 5, 128, 4));
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        cr_expect_eq(harness_log(memory, 0)->cycle, 10 + 2 + crossing(&ways[i], READ_BYTES));
        cr_expect_eq(harness_log(requester, 0)->cycle, 10 + round_trip(&ways[i]), "way %zu", i);
        const struct rdma_engine_io *io = harness_instance(near_engine);
        cr_expect_eq(io->stats.remote_latency.sum, round_trip(&ways[i]) - 2);
    }
}

/* Cycles between the first and the last of `count` answers to reads sent as fast as they go. */
static uint64_t stream(const struct way *w, uint32_t count)
{
    set_up(w);
    for (uint32_t i = 0; i < count; i++)
        send(harness_read(1, (uint16_t)i, i % 16384 * 64, 64));
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_assert_eq(harness_count(requester), count);
    return harness_log(requester, count - 1)->cycle - harness_log(requester, 0)->cycle;
}

Test(rdma_engine, enough_requests_in_flight_fill_the_link)
{
    static const struct way ways[] = {{1024, 256, 50000000000, 120000, 100},
                                      {1024, 256, 32000000000, 140000, 100},
                                      {16384, 4096, 50000000000, 2000000, 100}};
    for (size_t i = 0; i < ARRAY_COUNT(ways); i++) {
        uint64_t cycles = stream(&ways[i], 8001);
        uint64_t least = 8000 * DATA_BYTES * UINT64_C(1000000000) / ways[i].bandwidth;
        cr_expect_leq(least, cycles + 1, "way %zu", i);
        cr_expect_geq(least + 2, cycles, "way %zu: %llu cycles for %llu", i,
                      (unsigned long long)cycles, (unsigned long long)least);
    }
}

Test(rdma_engine, few_entries_limit_the_stream_to_as_many_a_round_trip)
{
    for (int64_t entries = 1; entries <= 64; entries *= 4) {
        const struct way w = {entries, 256, 0, 120000, 50};
        uint64_t trips = 4096 / (uint64_t)entries;
        uint64_t cycles = stream(&w, 4096);
        /* An entry is taken again in the cycle in which its answer is passed on. */
        uint64_t expected = (trips - 1) * (round_trip(&w) - 2) + (uint64_t)entries - 1;
        cr_expect_eq(cycles, expected, "%d entries: %llu, not %llu cycles", (int)entries,
                     (unsigned long long)cycles, (unsigned long long)expected);
    }
}

Test(rdma_engine, a_port_of_depth_d_passes_d_messages_in_two_latencies)
{
    const struct way w = {1024, 8, 0, 120000, 1};
    uint64_t cycles = stream(&w, 8 * 500), bursts = 500 - 1;
    /* Room is used in the cycle in which it is known: 8 messages every 240 cycles. */
    cr_expect_eq(cycles, bursts * 240 + 7, "%llu cycles", (unsigned long long)cycles);
}

Test(rdma_engine, atomics_happen_at_the_owner)
{
    const struct way w = {16, 16, 50000000000, 120000, 3};
    uint32_t one[16], none[16] = {0}, before;
    for (unsigned i = 0; i < 16; i++)
        one[i] = 1;
    set_up(&w);
    for (uint16_t i = 0; i < 50; i++)
        send(harness_atomic(1, i, 64, 0xf0, ATOMIC_OP_ADD, 4, one, none));
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_eq(harness_count(memory), 50);
    for (uint32_t i = 0; i < 50; i++) {
        cr_assert_eq(harness_log(memory, i)->kind, MEM_ATOMIC);
        memcpy(&before, harness_reply(requester, (uint16_t)i)->payload + 4, sizeof before);
        cr_expect_eq(before, i, "each finds what the one before has left");
    }
    memcpy(&before, harness_memory + 68, sizeof before);
    cr_expect_eq(before, 50);
}

Test(rdma_engine, writes_reads_and_fences_arrive_as_they_were_sent)
{
    const uint64_t mask = UINT64_C(0x00ff00000000ff0f);
    const struct way w = {16, 16, 50000000000, 120000, 3};
    uint8_t bytes[64];
    for (unsigned i = 0; i < 64; i++)
        bytes[i] = (uint8_t)(i * 7 + 1);
    set_up(&w);
    struct harness_message fence = harness_fence(2, 2, SCOPE_AGENT, true, true);
    send(harness_write(1, 1, 256, mask, bytes));
    send(fence);
    send(harness_read(400, 3, 260, 4));
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_assert_eq(harness_count(memory), 3);
    cr_expect_eq(harness_log(memory, 1)->kind, MEM_FENCE);
    cr_expect_eq(memcmp(harness_log(memory, 1)->fields, fence.fields, 3), 0);
    for (unsigned i = 0; i < 64; i++)
        cr_assert_eq(harness_memory[256 + i], mask >> i & 1 ? bytes[i] : 0, "byte %u", i);
    cr_expect_eq(memcmp(harness_reply(requester, 3)->payload, harness_memory + 256, 64), 0);
    cr_expect_eq(harness_reply(requester, 1)->kind, MEM_DONE);
    cr_expect_eq(harness_reply(requester, 2)->kind, MEM_DONE);
}

Test(rdma_engine, copies_go_past_the_caches_and_take_turns_with_the_rest)
{
    enum { EACH = 400 };
    static const struct way ways[] = {{1024, 256, 0, 120000, 40}, {6, 4, 20000000000, 15000, 3}};
    with_copies = true;
    for (size_t k = 0; k < ARRAY_COUNT(ways); k++) {
        set_up(&ways[k]);
        for (uint16_t i = 0; i < EACH; i++) {
            const uint32_t bytes[16] = {i, 77};
            struct harness_message copy =
                i % 2 ? harness_read(1, i, i * 64u, 64) : harness_write(1, i, i * 64u, 0xff, bytes);
            send(harness_read(1, i, 0x40000 + i * 64u, 64));
            harness_send(copier, &copy);
        }
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        cr_assert_eq(harness_count(memory), EACH);
        cr_assert_eq(harness_count(copy_memory), EACH);
        for (uint16_t i = 0; i < EACH; i++) {
            cr_assert_not_null(harness_reply(requester, i));
            cr_assert_eq(harness_reply(copier, i)->kind, i % 2 ? MEM_DATA : MEM_DONE);
            /* They leave by turns, so neither gets ahead by more than is on its way. */
            uint64_t a = harness_log(memory, i)->cycle, b = harness_log(copy_memory, i)->cycle;
            cr_expect_leq(a > b ? a - b : b - a, 8 + 40, "case %zu, request %u", k, i);
            if (i % 2 == 0)
                cr_expect_eq(harness_memory[i * 64u + 4], 77);
        }
        const struct rdma_engine_io *far = harness_instance(far_engine);
        cr_expect_eq(far->stats.served, EACH);
        cr_expect_eq(far->stats.copied_in, EACH);
    }
}

static uint64_t mixed_traffic(int order, bool tick_all)
{
    const struct way w = {7, 3, 20000000000, 15000, 9};
    uint64_t random = 5, digest = 0;
    set_up(&w);
    harness_tick_order(order, tick_all);
    for (uint16_t i = 0; i < 3000; i++) {
        uint8_t bytes[64] = {(uint8_t)i};
        uint64_t r = harness_random(&random), line = r % 1024 * 64;
        send(r >> 60 < 5 ? harness_write(i, i, line, r, bytes) : harness_read(i, i, line, 64));
    }
    harness_take_nothing_before(memory, 700);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_assert_eq(harness_count(requester), 3000);
    for (uint32_t i = 0; i < 3000; i++)
        digest =
            digest * 31 + harness_log(requester, i)->cycle * 7 + harness_log(requester, i)->tag;
    return digest;
}

Test(rdma_engine, the_order_of_ticks_changes_nothing)
{
    uint64_t digest = mixed_traffic(ENGINE_ASCENDING, false);
    cr_expect_eq(digest, mixed_traffic(ENGINE_DESCENDING, false));
    cr_expect_eq(digest, mixed_traffic(ENGINE_RANDOM, true));
}
