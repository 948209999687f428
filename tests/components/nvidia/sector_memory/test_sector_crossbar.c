/* The crossbar as machines that replay traces use it: messages as long as their sectors, busy
 * sources, outputs by a hash. */
#include "crossbar.gen.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <string.h>

#include "base/number.h"
#include "components/protocols/sector_mem/sector_map.h"
#include "runtime/engine/run_control.h"

#include "sector_messages.h"

extern const struct unit_type crossbar__generic;

#define SOURCES_MAX 8u
#define TARGETS_MAX 8u

static const struct build_port ports[] = {{"from", BUILD_IN, true}, {"to", BUILD_OUT, true}};
static const struct build_type type = {.unit = &crossbar__generic, .ports = ports, .port_count = 2};

static uint32_t crossbar, sources[SOURCES_MAX], targets[TARGETS_MAX];
static uint32_t source_count, target_count;
static int64_t flit = 40, halves = CROSSBAR_HALVES_NONE;

static void set_up(uint32_t from, uint32_t to, int64_t latency, int64_t hash, uint64_t memory)
{
    struct crossbar_params k = {.width = flit,
                                .request_width = flit,
                                .header = 8,
                                .latency = latency,
                                .carries = CROSSBAR_CARRIES_SECTORS,
                                .busy_sources = true,
                                .hash = hash,
                                .halves = halves,
                                .interleave = 256};
    int64_t values[sizeof k / sizeof(int64_t)];
    memcpy(values, &k, sizeof values);
    harness_start();
    crossbar = build_instance(&type, 0, "crossbar", values, NULL, ARRAY_COUNT(values));
    build_route(crossbar, -1, -1);
    source_count = from;
    target_count = to;
    for (uint32_t i = 0; i < from; i++)
        sources[i] = harness_requester();
    for (uint32_t i = 0; i < to; i++)
        targets[i] = harness_server(memory, sector_answer);
    for (uint32_t i = 0; i < from; i++)
        harness_wire(HARNESS_SECTOR, (struct build_end){sources[i], 0, 0},
                     (struct build_end){crossbar, 0, i}, 64, 1, 1);
    for (uint32_t i = 0; i < to; i++)
        harness_wire(HARNESS_SECTOR, (struct build_end){crossbar, 1, i},
                     (struct build_end){targets[i], 0, 0}, 64, 1, 1);
    harness_build();
}

static const struct crossbar_stats *stats(void)
{
    return &((const struct crossbar_io *)harness_instance(crossbar))->stats;
}

static void run(void)
{
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_assert_eq(stats()->requests, stats()->replies);
}

static void send(uint32_t source, struct harness_message m)
{
    harness_send(sources[source], &m);
}

ParameterizedTestParameters(crossbar_of_sectors, a_round_trip_is_twice_the_latency_and_the_memory)
{
    static int64_t latencies[] = {2, 3, 10, 50};
    return cr_make_param_array(int64_t, latencies, ARRAY_COUNT(latencies));
}

ParameterizedTest(int64_t *latency, crossbar_of_sectors,
                  a_round_trip_is_twice_the_latency_and_the_memory)
{
    set_up(3, 4, *latency, CROSSBAR_HASH_PLAIN, 20);
    send(1, sector_load(10, 7, 0x300, 1, false)); /* the fourth slice */
    run();
    cr_expect_eq(harness_count(targets[3]), 1);
    cr_expect_eq(harness_log(targets[3], 0)->cycle, 10 + (uint64_t)*latency);
    cr_assert_eq(harness_count(sources[1]), 1);
    cr_expect_eq(harness_log(sources[1], 0)->tag, 7);
    cr_expect_eq(harness_log(sources[1], 0)->cycle, 10 + 2 * (uint64_t)*latency + 20 - 1);
}

struct flit_case {
    bool store;
    unsigned sectors;
    uint64_t request, reply; /* flits; 8 bytes of a message are header */
    int64_t flit;
};

ParameterizedTestParameters(crossbar_of_sectors, messages_take_their_bytes)
{
    static struct flit_case cases[] = {
        {false, 1, 1, 1, 40}, {false, 7, 1, 3, 40}, {false, 15, 1, 4, 40}, {true, 1, 1, 1, 40},
        {true, 3, 2, 1, 40},  {true, 15, 4, 1, 40}, {false, 1, 1, 2, 32},  {true, 15, 5, 1, 32},
    };
    return cr_make_param_array(struct flit_case, cases, ARRAY_COUNT(cases));
}

/* One source and one slice: the wider direction sets the rate. */
ParameterizedTest(struct flit_case *p, crossbar_of_sectors, messages_take_their_bytes)
{
    enum { COUNT = 200 };
    flit = p->flit;
    set_up(1, 1, 2, CROSSBAR_HASH_POLYNOMIAL, 1);
    for (uint16_t i = 0; i < COUNT; i++)
        send(0, p->store ? sector_store(1, i, i * 128u, p->sectors, 0)
                         : sector_load(1, i, i * 128u, p->sectors, false));
    run();
    uint64_t each = max(p->request, p->reply);
    cr_expect_eq(harness_reply(sources[0], COUNT - 1)->cycle,
                 harness_reply(sources[0], 0)->cycle + (COUNT - 1) * each);
}

/* Stores of four flits to slices in turn: a source sends one flit a cycle, however many slices
 * there are; four sources keep four slices busy. */
Test(crossbar_of_sectors, a_source_sends_one_flit_a_cycle)
{
    for (uint32_t from = 1; from <= 4; from += 3) {
        set_up(from, 4, 2, CROSSBAR_HASH_PLAIN, 1);
        for (uint16_t i = 0; i < 100; i++)
            for (uint32_t s = 0; s < from; s++)
                send(s, sector_store(1, i, (i + s) % 4 * 256u, 15, 0));
        run();
        for (uint32_t s = 0; s < from; s++)
            cr_expect_eq(harness_reply(sources[s], 99)->cycle,
                         harness_reply(sources[s], 0)->cycle + 99 * 4);
    }
}

/* Two channels of two outputs, which an address bit tells apart: 128 bytes, or 512. */
Test(crossbar_of_sectors, halves_of_channels_follow_an_address_bit)
{
    static const struct {
        int64_t halves;
        uint64_t address[4]; /* by output */
    } cases[] = {{CROSSBAR_HALVES_NONE, {0x000, 0x100, 0x200, 0x300}},
                 {CROSSBAR_HALVES_BELOW, {0x000, 0x080, 0x100, 0x180}},
                 {CROSSBAR_HALVES_ABOVE, {0x000, 0x200, 0x100, 0x300}}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        halves = cases[i].halves;
        set_up(1, 4, 2, CROSSBAR_HASH_PLAIN, 1);
        for (uint16_t t = 0; t < 4; t++)
            send(0, sector_load(1, t, 0x4000 + cases[i].address[t], 1, false));
        run();
        for (uint32_t t = 0; t < 4; t++) {
            cr_assert_eq(harness_count(targets[t]), 1, "case %zu, output %u", i, t);
            cr_expect_eq(sector_request(harness_log(targets[t], 0)).load.address,
                         0x4000 + cases[i].address[t]);
        }
    }
    halves = CROSSBAR_HALVES_NONE;
}

Test(crossbar_of_sectors, sources_take_turns_at_a_slice)
{
    set_up(4, 2, 4, CROSSBAR_HASH_PLAIN, 1);
    for (uint16_t i = 0; i < 50; i++)
        for (uint32_t s = 0; s < 4; s++)
            send(s, sector_load(1, (uint16_t)(s * 100 + i), 0, 1, false));
    run();
    cr_expect_eq(harness_count(targets[0]), 200);
    for (uint32_t i = 1; i < 200; i++)
        cr_expect_eq(harness_log(targets[0], i)->cycle, harness_log(targets[0], 0)->cycle + i);
    for (uint32_t s = 0; s < 4; s++)
        for (uint32_t i = 1; i < 50; i++)
            cr_expect_eq(harness_log(sources[s], i)->cycle,
                         harness_log(sources[s], i - 1)->cycle + 4);
    cr_expect_gt(stats()->conflicts, 190); /* in 200 cycles, since one source is left in the end */
}

/* Random traffic: each request arrives where the hash says, each answer where it came from, and the
 * same under any order of ticks. */
Test(crossbar_of_sectors, answers_find_back_in_any_tick_order)
{
    static const int orders[] = {ENGINE_ASCENDING, ENGINE_DESCENDING, ENGINE_RANDOM};
    uint64_t hash = 0;
    for (int turn = 0; turn < 4; turn++) {
        uint64_t seed = 3, found = 0, asked[SOURCES_MAX][500];
        struct sector_hash h;
        sector_hash_init(&h, SECTOR_HASH_POLYNOMIAL, 8);
        set_up(8, 8, 5, CROSSBAR_HASH_POLYNOMIAL, 9);
        harness_tick_order(orders[turn % 3], turn == 3);
        for (uint16_t i = 0; i < 500; i++)
            for (uint32_t s = 0; s < 8; s++) {
                uint64_t z = harness_random(&seed);
                asked[s][i] = z % 100000 * 128 << 4 | (z >> 60 ? z >> 60 : 1);
                send(s, z >> 59 & 1 ? sector_load(1, i, asked[s][i] >> 4, asked[s][i] & 15, false)
                                    : sector_store(1, i, asked[s][i] >> 4, asked[s][i] & 15, 0));
            }
        run();
        for (uint32_t s = 0; s < 8; s++) {
            cr_assert_eq(harness_count(sources[s]), 500);
            for (uint32_t i = 0; i < 500; i++) {
                const struct harness_message *m = harness_log(sources[s], i);
                if (m->kind == SECTOR_MEM_DATA)
                    cr_assert_eq(sector_reply_sectors(m), asked[s][m->tag] & 15);
                found = (found ^ (m->cycle * 65536 + m->tag)) * 0x9e3779b97f4a7c15u;
            }
        }
        for (uint32_t t = 0; t < 8; t++)
            for (uint32_t i = 0; i < harness_count(targets[t]); i++)
                cr_assert_eq(
                    sector_hash(&h, sector_request(harness_log(targets[t], i)).load.address / 256),
                    t);
        hash = turn ? hash : found;
        cr_expect_eq(found, hash, "turn %d", turn);
    }
}
