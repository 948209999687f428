/* Memory of a partition: closed forms for latency and bandwidth, ideal and with the times of HBM2.
 */
#include "hbm.gen.h"
#include "sector_dram.gen.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <string.h>

#include "base/number.h"
#include "components/memory/dram/dram_timing.h"
#include "runtime/engine/component_failure.h"
#include "runtime/engine/run_control.h"

#include "sector_messages.h"

extern const struct unit_type sector_dram__generic;

#define PS_A_CYCLE 1000u /* by the platform's clock */

static const struct build_port ports[] = {{"top", BUILD_IN, true}};
static const char *const ideal_parts[] = {NULL}, *const timed_parts[] = {"hbm"};
static const uint32_t places[] = {sizeof(struct sector_dram_params) / sizeof(int64_t)};

static uint32_t dram, slice[4];

/* As in hbm2_partition, with a clock of 1 ns, so that times are whole cycles. */
static struct hbm_params hbm2(void)
{
    enum { CK = 1000 };
    return (struct hbm_params){.channels = 1,
                               .groups = 4,
                               .banks = 4,
                               .row = 2048,
                               .run = 256,
                               .interleave = 256,
                               .interleaved = 1,
                               .map = HBM_MAP_ROW_BANK_COLUMN_GROUP,
                               .hash = 1,
                               .tck = CK,
                               .tburst = CK,
                               .burst = 32,
                               .trcd_read = 12 * CK,
                               .trcd_write = 9 * CK,
                               .tcl = 12 * CK,
                               .tcwl = 2 * CK,
                               .trp = 12 * CK,
                               .tras = 28 * CK,
                               .trc = 40 * CK,
                               .trtp = 3 * CK,
                               .twr = 10 * CK,
                               .tccd_s = CK,
                               .tccd_l = 2 * CK,
                               .twtr_s = 3 * CK,
                               .twtr_l = 3 * CK,
                               .trtw = 2 * CK,
                               .trrd_s = 3 * CK,
                               .trrd_l = 3 * CK,
                               .tfaw = 16 * CK,
                               .trfc = 350 * CK,
                               .trefi = 1000000 * (int64_t)CK,
                               .controller = 100 * CK,
                               .read_queue = 64,
                               .write_queue = 64,
                               .drain = 56,
                               .resume = 32,
                               .hit_cap = 65535};
}

static void set_up(bool timed, uint32_t slices, struct sector_dram_params k)
{
    struct {
        struct sector_dram_params dram;
        struct hbm_params hbm;
    } params = {k, hbm2()};
    int64_t values[sizeof params / sizeof(int64_t)];
    static struct build_type type;
    type = (struct build_type){.unit = &sector_dram__generic,
                               .ports = ports,
                               .port_count = 1,
                               .parts = timed ? timed_parts : ideal_parts,
                               .part_count = 1,
                               .part_params = timed ? places : NULL};
    memcpy(values, &params, sizeof values);
    harness_start();
    dram = build_instance(&type, 0, "dram", values, NULL, ARRAY_COUNT(values));
    for (uint32_t i = 0; i < slices; i++)
        slice[i] = harness_requester();
    for (uint32_t i = 0; i < slices; i++)
        harness_wire(HARNESS_SECTOR, (struct build_end){slice[i], 0, 0},
                     (struct build_end){dram, 0, i}, 32, 1, 1);
    harness_build();
}

static struct sector_dram_params plain(void)
{
    return (struct sector_dram_params){.latency = 100, .width = 4, .slices = 2, .interleave = 256};
}

static const struct sector_dram_stats *stats(void)
{
    return &((const struct sector_dram_io *)harness_instance(dram))->stats;
}

static const struct hbm_stats *hbm(void)
{
    const struct sector_dram *c = harness_instance(dram);
    return &((const struct hbm_io *)(const void *)sector_dram_timing(c))->stats;
}

static void send(uint32_t from, struct harness_message m)
{
    harness_send(slice[from], &m);
}

static void run(void)
{
    cr_assert_eq(harness_run(), ENGINE_IDLE);
}

static uint64_t seen(uint32_t from, uint16_t tag)
{
    const struct harness_message *m = harness_reply(slice[from], tag);
    cr_assert_not_null(m, "no answer to %u", tag);
    return m->cycle;
}

Test(sector_dram, an_ideal_one_answers_after_its_latency_and_takes_its_width)
{
    set_up(false, 2, plain());
    send(0, sector_load(10, 1, 0x1000, 15, false));
    send(1, sector_load(500, 2, 0x1100, 15, false));
    send(0, sector_store(500, 3, 0x1000, 3, 2));
    for (uint16_t i = 0; i < 100; i++)
        send(0, sector_load(1000, (uint16_t)(10 + i), i * 128u, 3, false)); /* half a cycle each */
    run();
    cr_expect_eq(seen(0, 1), 10 + 101);
    uint64_t first = min(seen(0, 3), seen(1, 2));
    cr_expect_eq(first, 500 + 101);
    cr_expect_eq(seen(0, 3) + seen(1, 2), 2 * first + 1); /* six sectors need two cycles */
    cr_expect_eq(seen(0, 109), 1000 + 101 + 99);          /* one message a cycle at a port */
    cr_expect_eq(stats()->reads, 4 + 4 + 200);
    cr_expect_eq(stats()->writes, 2);
    cr_expect_eq(stats()->partial_writes, 1);
    cr_expect_eq(stats()->bytes_read, stats()->reads * 32);
    cr_expect_eq(stats()->requests, 103);
}

/* A row that is open saves the activation; sectors of a line lie in one row of one group, and
 * follow each other every second cycle. */
Test(sector_dram, a_timed_one_needs_what_its_commands_need)
{
    set_up(true, 2, plain());
    uint64_t way = 1 + 1, controller = 100, activate = 12, read = 12 + 1;
    send(0, sector_load(100, 1, 0x2000, 1, false));
    send(0, sector_load(1000, 2, 0x2080, 1, false)); /* the same 256 bytes */
    send(0, sector_load(2000, 3, 0x2080, 15, false));
    send(1, sector_load(3000, 4, 0x2080, 1, false)); /* the other slice: another group */
    run();
    cr_expect_eq(seen(0, 1), 100 + way + activate + read + controller, "%d", (int)seen(0, 1));
    cr_expect_eq(seen(0, 2), 1000 + way + read + controller);
    cr_expect_eq(seen(0, 3), 2000 + way + read + 3 * 2 + controller);
    cr_expect_eq(seen(1, 4), 3000 + way + activate + read + controller);
    cr_expect_eq(hbm()->row_hits, 5);
    cr_expect_eq(hbm()->row_misses, 2);
    cr_expect_eq(stats()->reads, 7);
}

/* A stream of lines from both slices: a sector a clock of the memory but for the rows that open,
 * and more than 19 of 20 find theirs open. */
Test(sector_dram, a_stream_comes_at_the_rate_of_the_bus)
{
    enum { LINES = 2000 };
    set_up(true, 2, plain());
    for (uint32_t i = 0; i < LINES; i++) {
        uint64_t chunk = i / 2; /* 256 bytes of each slice in turn */
        for (uint32_t s = 0; s < 2; s++)
            send(s, sector_load(1, (uint16_t)i, (chunk * 2 + s) * 256 + i % 2 * 128, 15, false));
    }
    run();
    uint64_t last = max(seen(0, LINES - 1), seen(1, LINES - 1));
    uint64_t sectors = 2 * LINES * 4;
    cr_expect_geq(last, sectors);
    cr_expect_lt(last, sectors + sectors / 20, "%d cycles for %d sectors", (int)last, (int)sectors);
    cr_expect_gt(hbm()->row_hits, sectors * 19 / 20);
    cr_expect_eq(stats()->reads, sectors);
}

/* Lines of two slices that differ have places that differ: what is written on one side is never
 * found among the writes of the other. */
Test(sector_dram, slices_have_places_of_their_own)
{
    set_up(true, 2, plain());
    for (uint32_t i = 0; i < 40; i++)
        for (uint32_t s = 0; s < 2; s++) {
            send(s, sector_store(1 + i * 200, (uint16_t)(i * 2), (i * 2 + s) * 256, 1, 0));
            send(s, sector_load(2 + i * 200, (uint16_t)(i * 2 + 1), (i * 2 + s) * 256 + 128, 1,
                                false));
        }
    run();
    cr_expect_eq(hbm()->forwarded, 0);
    cr_expect_eq(hbm()->joined, 0);
    cr_expect_eq(stats()->reads, 80);
    cr_expect_eq(stats()->writes, 80);
    cr_expect_eq(hbm()->row_hits + hbm()->row_misses + hbm()->row_conflicts, 160);
}

/* Random traffic of four slices: each request is answered once, each sector is one burst or joins
 * one, and the same under any order of ticks. */
Test(sector_dram, random_traffic_is_answered_once_in_any_tick_order)
{
    static const int orders[] = {ENGINE_ASCENDING, ENGINE_DESCENDING, ENGINE_RANDOM};
    uint64_t hash = 0;
    for (int turn = 0; turn < 4; turn++) {
        enum { COUNT = 1500 };
        static uint8_t answered[4][COUNT];
        uint64_t seed = 5, found = 0;
        struct sector_dram_params k = plain();
        k.slices = 8;
        set_up(true, 4, k);
        harness_tick_order(orders[turn % 3], turn == 3);
        for (uint16_t i = 0; i < COUNT; i++)
            for (uint32_t s = 0; s < 4; s++) {
                uint64_t z = harness_random(&seed), address = z % 4096 * 128;
                unsigned sectors = z >> 60 ? z >> 60 & 15 : 1;
                send(s, z >> 40 & 3 ? sector_load(1, i, address, sectors, false)
                                    : sector_store(1, i, address, sectors, 0));
            }
        run();
        memset(answered, 0, sizeof answered);
        for (uint32_t s = 0; s < 4; s++)
            for (uint32_t i = 0; i < harness_count(slice[s]); i++) {
                const struct harness_message *m = harness_log(slice[s], i);
                answered[s][m->tag]++;
                found = (found ^ (m->cycle * 65536 + m->tag)) * 0x9e3779b97f4a7c15u;
            }
        for (uint32_t s = 0; s < 4; s++)
            for (uint32_t i = 0; i < COUNT; i++)
                cr_assert_eq(answered[s][i], 1);
        cr_expect_eq(stats()->reads + stats()->writes, hbm()->row_hits + hbm()->row_misses
                                                           + hbm()->row_conflicts + hbm()->forwarded
                                                           + hbm()->joined);
        hash = turn ? hash : found;
        cr_expect_eq(found, hash, "turn %d", turn);
    }
}

Test(sector_dram, atomics_do_not_belong_here)
{
    set_up(true, 1, plain());
    send(0, sector_atomic(1, 1, 0x80, 1, 1));
    cr_expect_eq(harness_run(), ENGINE_FAILED);
    cr_expect_not_null(strstr(engine_failure(), "atomics = here"));
    engine_clear_failure();
}
