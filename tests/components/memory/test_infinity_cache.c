/* Infinity Cache in front of HBM: what hits and misses cost, how often requests are taken, which
 * lines go, and the bytes. */
#include "dram.gen.h"
#include "hbm.gen.h"
#include "infinity_cache.gen.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/number.h"
#include "components/amd/isa/isa.h"
#include "runtime/engine/run_control.h"
#include "runtime/state/memory.h"
#include "tests/components/harness.h"

#include "hbm_times.h"

extern const struct unit_type dram__generic;

#define MEMORY     ((int64_t)1 << 20)
#define LATENCY    30 /* cycles, of a hit */
#define SETS       4
#define WAYS       4
#define CONTROLLER 80 /* cycles */

struct values {
    struct dram_params dram;
    struct hbm_params hbm;
    struct infinity_cache_params cache;
};

static const struct build_port ports[] = {
    {"top", BUILD_IN, false}, {"dma", BUILD_IN, false}, {"probe", BUILD_OUT, true}};
static const char *const parts[] = {"hbm", "infinity_cache"};
static const uint32_t part_params[] = {offsetof(struct values, hbm) / sizeof(int64_t),
                                       offsetof(struct values, cache) / sizeof(int64_t)};
static const struct build_type type = {.unit = &dram__generic,
                                       .ports = ports,
                                       .port_count = 3,
                                       .parts = parts,
                                       .part_count = 2,
                                       .part_params = part_params};

static uint32_t dram, top;

static void set_up_with(int64_t bytes)
{
    struct values v = {.dram = {.size = bytes, .line = 64, .copy = 64, .latency = 100, .width = 1},
                       .hbm = hbm_times(),
                       .cache = {.size = SETS * WAYS * 64,
                                 .ways = WAYS,
                                 .interleave = 256,
                                 .interleaved = 1,
                                 .latency = LATENCY,
                                 .interval = 2,
                                 .atomic = 8,
                                 .atomic_same = 20}};
    v.hbm.trefi = (int64_t)1000000000 * NS;
    v.hbm.controller = CONTROLLER * NS;
    int64_t values[sizeof v / sizeof(int64_t)];
    memcpy(values, &v, sizeof v);
    harness_start();
    build_space("memory", 0, (uint64_t)bytes, 64, 1);
    dram = build_instance(&type, 0, "dram", values, NULL, ARRAY_COUNT(values));
    top = harness_requester();
    uint32_t dma = harness_requester();
    harness_wire(HARNESS_MEM, (struct build_end){top, 0, 0}, (struct build_end){dram, 0, 0}, 32, 1,
                 1);
    harness_wire(HARNESS_MEM, (struct build_end){dma, 0, 0}, (struct build_end){dram, 1, 0}, 32, 1,
                 1);
    harness_build();
}

static void set_up(void)
{
    set_up_with(MEMORY);
}

static void send(struct harness_message m)
{
    harness_send(top, &m);
}

static uint64_t seen(uint16_t tag)
{
    const struct harness_message *m = harness_reply(top, tag);
    cr_assert_not_null(m, "no answer to %u", tag);
    return m->cycle;
}

static const struct dram_stats *stats(void)
{
    return &((const struct dram_io *)harness_instance(dram))->stats;
}

Test(infinity_cache, a_hit_takes_its_latency_and_a_miss_what_memory_takes)
{
    set_up();
    send(harness_read(2, 1, 0x1000, 64));
    send(harness_read(500, 2, 0x1000, 64));
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_eq(seen(2) - 500, LATENCY + 1);
    uint64_t closed_row = 14 + 14 + 4; /* activation, read, data */
    cr_expect_geq(seen(1) - 2, CONTROLLER + closed_row);
    cr_expect_leq(seen(1) - 2, CONTROLLER + closed_row + 4, "to edges of the memory's clock");
}

Test(infinity_cache, takes_a_request_every_other_cycle)
{
    set_up();
    for (uint16_t i = 0; i < 8; i++)
        send(harness_read(1 + 500u * i, i, i * 64u, 64));
    for (uint16_t i = 0; i < 8; i++)
        send(harness_read(5000, 100 + i, i * 64u, 64));
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    for (uint16_t i = 0; i < 8; i++)
        cr_expect_eq(seen(100 + i) - 5000, LATENCY + 1 + 2u * i);
}

Test(infinity_cache, atomics_follow_each_other_slower_on_one_line)
{
    set_up();
    uint8_t one[64] = {1};
    send(harness_read(1, 1, 0, 64));
    send(harness_read(500, 2, 64, 64));
    for (uint16_t i = 0; i < 4; i++)
        send(harness_atomic(1000, 10 + i, 0, 0xf, ISA_ATOMIC_ADD, 4, one, one));
    for (uint16_t i = 0; i < 4; i++)
        send(harness_atomic(2000, 20 + i, 64u * (i % 2), 0xf, ISA_ATOMIC_ADD, 4, one, one));
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    for (uint16_t i = 1; i < 4; i++) {
        cr_expect_eq(seen(10 + i) - seen(9 + i), i == 1 ? 8 : 20);
        cr_expect_eq(harness_reply(top, 10 + i)->payload[0], i, "the old value");
    }
    cr_expect_eq(seen(23) - seen(22), 8);
    cr_expect_eq(*(uint8_t *)memory_at(0), 6);
}

/* Random reads and writes against sets of lines in order of use: reads bring lines, and memory is
 * told of all writes. */
Test(infinity_cache, keeps_the_lines_that_were_used_last)
{
    enum { REQUESTS = 3000, LINES = 64 };
    static uint8_t expected[LINES * 64];
    uint64_t sets[SETS][WAYS] = {{0}}, random = 7, hits = 0, reads = 0, writes = 0;
    set_up();
    for (uint16_t i = 0; i < REQUESTS; i++) {
        uint64_t r = harness_random(&random), line = r % LINES, number = line;
        uint8_t bytes[64];
        memset(bytes, (int)(r >> 20), sizeof bytes);
        for (unsigned shift = 2; shift < 64; shift *= 2)
            number ^= number >> shift;
        uint64_t *set = sets[number % SETS];
        unsigned place = 0;
        while (place < WAYS && set[place] != line + 1)
            place++;
        bool write = r >> 40 & 1;
        hits += place < WAYS;
        if (place < WAYS || !write) {
            memmove(set + 1, set, (place < WAYS ? place : WAYS - 1) * sizeof *set);
            set[0] = line + 1;
        }
        if (write) {
            writes++;
            send(harness_write(1 + 400u * i, i, line * 64, UINT64_MAX, bytes));
            memcpy(expected + line * 64, bytes, 64);
        } else {
            send(harness_read(1 + 400u * i, i, line * 64, 64));
            reads += place == WAYS;
        }
    }
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    const struct dram *c = harness_instance(dram);
    const struct infinity_cache_stats *s =
        &((const struct infinity_cache_io *)(const void *)dram_front(c))->stats;
    const struct hbm_stats *h = &((const struct hbm_io *)(const void *)dram_timing(c))->stats;
    cr_expect_eq(s->hits, hits);
    cr_expect_eq(s->hits + s->misses, REQUESTS);
    cr_expect_eq(h->row_hits + h->row_misses + h->row_conflicts + h->forwarded + h->joined,
                 reads + writes, "memory is asked for misses of reads, and told of writes");
    cr_expect_eq(stats()->reads + stats()->writes, REQUESTS);
    cr_expect_eq(memcmp(memory_at(0), expected, sizeof expected), 0);
}

/* Of an atomic that misses, memory reads and writes the line; of one that hits, it writes it. */
Test(infinity_cache, tells_memory_of_atomics)
{
    uint8_t one[64] = {1};
    set_up();
    send(harness_atomic(1, 1, 0, 0xf, ISA_ATOMIC_ADD, 4, one, one));
    send(harness_atomic(1000, 2, 0, 0xf, ISA_ATOMIC_ADD, 4, one, one));
    send(harness_read(2000, 3, 0, 64));
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    const struct hbm_stats *h =
        &((const struct hbm_io *)(const void *)dram_timing(harness_instance(dram)))->stats;
    cr_expect_eq(h->row_hits + h->row_misses + h->row_conflicts, 3);
    cr_expect_eq(harness_reply(top, 3)->payload[0], 2);
    cr_expect_eq(seen(3) - 2000, LATENCY + 1);
}

/* Half of the lines of one set are far up in memory, and differ from the others in nothing else. */
Test(infinity_cache, tells_lines_far_up_from_those_below)
{
    enum { REQUESTS = 1000, LINES = 4 };
    const uint64_t far = UINT64_C(5) << 36;
    uint64_t set[WAYS] = {0}, random = 3, hits = 0;
    set_up_with((int64_t)1 << 40);
    for (uint16_t i = 0; i < REQUESTS; i++) {
        uint64_t r = harness_random(&random), place = 0;
        uint64_t address = r % LINES * 5 * 64 + (r >> 8 & 1 ? far : 0);
        while (place < WAYS && set[place] != address + 1)
            place++;
        hits += place < WAYS;
        memmove(set + 1, set, (place < WAYS ? place : WAYS - 1) * sizeof *set);
        set[0] = address + 1;
        send(harness_read(1 + 400u * i, i, address, 64));
    }
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    const struct infinity_cache_stats *s =
        &((const struct infinity_cache_io *)(const void *)dram_front(harness_instance(dram)))
             ->stats;
    cr_expect_eq(s->hits, hits);
    cr_expect_eq(s->misses, REQUESTS - hits);
}
