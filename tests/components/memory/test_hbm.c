/* Memory with banks: closed forms for latency and bandwidth, order, starvation, refresh, contents;
 * and every command of random traffic against the timing rules (dram_rules.c). */
#include "dram.gen.h"
#include "hbm.gen.h"
#include "scope.gen.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "components/amd/isa/isa.h"
#include "components/memory/dram/dram_timing.h"
#include "runtime/engine/component_failure.h"
#include "runtime/engine/run_control.h"
#include "runtime/scheduler/run.h"
#include "runtime/state/memory.h"
#include "tests/components/harness.h"

#include "dram_rules.h"
#include "hbm_times.h"

#define MEMORY   (1 << 20)
#define CHANNELS 4u
#define LOG      65536u

extern const struct unit_type dram__generic;

static const struct build_port ports[] = {
    {"top", BUILD_IN, false}, {"dma", BUILD_IN, false}, {"probe", BUILD_OUT, true}};
static const char *const parts[] = {"hbm", NULL};
static const uint32_t places[] = {sizeof(struct dram_params) / sizeof(int64_t), 0};
static const struct build_type type = {.unit = &dram__generic,
                                       .ports = ports,
                                       .port_count = 3,
                                       .parts = parts,
                                       .part_count = 2,
                                       .part_params = places};

static uint32_t dram, top, dma;
static struct rules_command logged[CHANNELS][LOG];
static uint32_t logged_count[CHANNELS];

/* Called by the part, which is compiled with HBM_LOG here. */
void hbm_log_command(uint32_t channel, const char *command, uint32_t bank, uint64_t row,
                     uint64_t edge);
void hbm_log_command(uint32_t channel, const char *command, uint32_t bank, uint64_t row,
                     uint64_t edge)
{
    static const char *const names[] = {"ACT", "PRE", "PREA", "RD", "WR", "REF", "PREB", "REFB"};
    unsigned kind = 0;
    while (strcmp(names[kind], command) != 0)
        kind++;
    cr_assert_lt(logged_count[channel], LOG);
    logged[channel][logged_count[channel]++] =
        (struct rules_command){(enum rules_kind)kind, bank, row, edge};
}

/* One channel of four groups of four banks, rows of 16 lines, with the times of HBM1. */
static struct hbm_params plain(void)
{
    struct hbm_params k = hbm_times();
    k.banks = 4;
    k.run = 0;
    return k;
}

/* Without refresh in the way of what a test counts. */
static struct hbm_params unrefreshed(void)
{
    struct hbm_params k = plain();
    k.trefi = 1000000000 * (int64_t)NS;
    return k;
}

static void set_up(struct hbm_params k)
{
    struct {
        struct dram_params dram;
        struct hbm_params hbm;
    } params = {{.size = MEMORY, .line = 64, .copy = 64, .latency = 100, .width = 1}, k};
    int64_t values[sizeof params / sizeof(int64_t)];
    memcpy(values, &params, sizeof params);
    memset(logged_count, 0, sizeof logged_count);
    harness_start();
    build_space("memory", 0, MEMORY, 64, 1);
    dram = build_instance(&type, 0, "dram", values, NULL, ARRAY_COUNT(values));
    top = harness_requester();
    dma = harness_requester();
    harness_wire(HARNESS_MEM, (struct build_end){top, 0, 0}, (struct build_end){dram, 0, 0}, 32, 1,
                 1);
    harness_wire(HARNESS_MEM, (struct build_end){dma, 0, 0}, (struct build_end){dram, 1, 0}, 32, 1,
                 1);
    harness_build();
}

static void send(uint32_t end, struct harness_message m)
{
    harness_send(end, &m);
}

static uint64_t seen(uint16_t tag)
{
    const struct harness_message *m = harness_reply(top, tag);
    cr_assert_not_null(m);
    return m->cycle;
}

static const struct hbm_stats *stats(void)
{
    const struct dram *c = harness_instance(dram);
    return &((const struct hbm_io *)(const void *)dram_timing(c))->stats;
}

/* The address of a line by its place, with the default map. */
static uint64_t address(const struct hbm_params *k, uint64_t row, uint64_t bank, uint64_t column,
                        uint64_t group)
{
    uint64_t columns = k->row / 64;
    return (((row * k->banks + bank) * columns + column) * k->groups + group) * k->channels * 64;
}

static struct rules_times times(const struct hbm_params *k)
{
#define EDGES(field) .field = (uint64_t)((k->t##field + k->tck - 1) / k->tck)
    return (struct rules_times){EDGES(burst),
                                EDGES(rcd_read),
                                EDGES(rcd_write),
                                EDGES(rp),
                                EDGES(ras),
                                EDGES(rc),
                                EDGES(rtp),
                                EDGES(wr),
                                EDGES(ccd_s),
                                EDGES(ccd_l),
                                EDGES(wtr_s),
                                EDGES(wtr_l),
                                EDGES(rtw),
                                EDGES(rrd_s),
                                EDGES(rrd_l),
                                EDGES(faw),
                                EDGES(rfc),
                                EDGES(refi),
                                EDGES(cl),
                                EDGES(cwl),
                                .banks = (uint32_t)(k->groups * k->banks),
                                .banks_of_group = k->banks};
#undef EDGES
}

static int by_edge(const void *a, const void *b)
{
    const struct rules_command *x = a, *y = b;
    if (x->edge != y->edge)
        return x->edge < y->edge ? -1 : 1;
    return x < y ? -1 : 1;
}

/* A refresh is logged with the edges at which it will be, all others as they go. */
static void expect_rules(const struct hbm_params *k)
{
    struct rules_times t = times(k);
    for (uint32_t ch = 0; ch < k->channels; ch++) {
        uint32_t which = 0;
        qsort(logged[ch], logged_count[ch], sizeof logged[ch][0], by_edge);
        const char *broken = rules_check(&t, logged[ch], logged_count[ch], &which);
        cr_assert_null(broken, "%s, command %u at edge %llu of channel %u", broken ? broken : "",
                       which, (unsigned long long)logged[ch][which].edge, ch);
    }
}

/* ---- latency ---- */

Test(hbm, latency_of_miss_hit_and_conflict)
{
    static const struct {
        int64_t rcd, cl, burst, rp, controller;
    } cases[] = {{14, 14, 4, 14, 20}, {20, 10, 8, 16, 0}, {6, 30, 4, 40, 100}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct hbm_params k = unrefreshed();
        k.trcd_read = cases[i].rcd * NS;
        k.tcl = cases[i].cl * NS;
        k.tburst = cases[i].burst * NS;
        k.tccd_s = cases[i].burst * NS;
        k.trp = cases[i].rp * NS;
        k.controller = cases[i].controller * NS;
        set_up(k);
        /* Sent in an odd cycle, they arrive on an edge of the memory; both wires take a cycle. */
        send(top, harness_read(101, 1, address(&k, 5, 1, 0, 2), 64));
        send(top, harness_read(401, 2, address(&k, 5, 1, 7, 2), 64));
        send(top, harness_read(701, 3, address(&k, 6, 1, 7, 2), 64));
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        uint64_t hit = (uint64_t)(cases[i].cl + cases[i].burst + cases[i].controller) + 2;
        cr_expect_eq(seen(1), 101 + hit + (uint64_t)cases[i].rcd, "miss: %llu",
                     (unsigned long long)seen(1));
        cr_expect_eq(seen(2), 401 + hit, "hit: %llu", (unsigned long long)seen(2));
        cr_expect_eq(seen(3), 701 + hit + (uint64_t)(cases[i].rcd + cases[i].rp));
        cr_expect_eq(stats()->row_misses, 1);
        cr_expect_eq(stats()->row_hits, 1);
        cr_expect_eq(stats()->row_conflicts, 1);
        expect_rules(&k);
    }
}

Test(hbm, a_write_is_answered_by_the_controller)
{
    uint8_t bytes[64] = {9};
    struct hbm_params k = unrefreshed();
    set_up(k);
    send(top, harness_write(101, 1, 0x40, UINT64_MAX, bytes));
    send(top, harness_read(102, 2, 0x40, 64)); /* still in the queue of writes */
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_eq(seen(1), 101 + 20 + 2);
    cr_expect_eq(seen(2), 102 + 20 + 2);
    cr_expect_eq(harness_reply(top, 2)->payload[0], 9);
    cr_expect_eq(stats()->forwarded, 1);
}

/* ---- bandwidth ---- */

static uint64_t stream(struct hbm_params k, uint32_t lines, uint64_t stride)
{
    set_up(k);
    for (uint32_t i = 0; i < lines; i++)
        send(top, harness_read(1, (uint16_t)i, i * stride % MEMORY, 64));
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_assert_eq(harness_count(top), lines);
    expect_rules(&k);
    return harness_log(top, lines - 1)->cycle;
}

/* Cycles of 1 ns from the first request to the last answer: the bound, and at most what opening the
 * first row and waiting adds. */
static void expect_bound(uint64_t cycles, double bound, double slack, const char *what)
{
    cr_expect(cycles >= bound && cycles <= bound * (1 + slack) + 80, "%s: %llu cycles, bound %.0f",
              what, (unsigned long long)cycles, bound);
}

Test(hbm, a_stream_takes_a_burst_each_tccd)
{
    struct hbm_params k = unrefreshed();
    expect_bound(stream(k, 8000, 64), 8000 * 4, 0.002, "over all groups");
    k.groups = 1;
    expect_bound(stream(k, 8000, 64), 8000 * 6, 0.01, "in one group");
    k = plain();
    /* A refresh takes the bus for precharge, refresh, activation, behind the last burst. */
    double lost = (double)(k.trfc + k.trp + k.trcd_read + k.trtp) / (double)k.trefi;
    expect_bound(stream(k, 8000, 64), 8000 * 4 * (1 + 110.0 / 3900), lost, "with refresh");
}

Test(hbm, rows_of_one_bank_take_trc_each)
{
    struct hbm_params k = unrefreshed();
    k.groups = 1, k.banks = 1;
    expect_bound(stream(k, 1000, 1024), 1000 * 48, 0.002, "one bank");
}

Test(hbm, rows_of_many_banks_take_a_quarter_of_tfaw_each)
{
    struct hbm_params k = unrefreshed();
    k.map = HBM_MAP_ROW_COLUMN_BANK;
    k.row = 256; /* 4 lines: a stride of 5 lines changes rows and banks */
    k.tfaw = 64 * NS;
    set_up(k);
    for (uint32_t i = 0; i < 2000; i++) { /* a row of the next bank each, in different groups */
        uint64_t row = i / 16, line = row * 4 * 16 + i % 16;
        send(top, harness_read(1, (uint16_t)i, line * 64 % MEMORY, 64));
    }
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    expect_rules(&k);
    expect_bound(harness_log(top, 1999)->cycle, 2000 * 64 / 4, 0.01, "tFAW");
    k.tfaw = 8 * NS;
    k.trrd_s = 12 * NS;
    expect_bound(stream(k, 2000, 64 * 4 * 4), 2000 * 12, 2.0, "tRRD");
}

/* Random reads with rows of their own and such that find them open: edges with two commands. */
static uint32_t doubled(int64_t commands)
{
    struct hbm_params k = unrefreshed();
    uint64_t seed = 1;
    uint32_t found = 0;
    k.channels = 1;
    k.commands = commands;
    set_up(k);
    for (uint16_t i = 0; i < 4000; i++)
        send(top, harness_read(1, i, harness_random(&seed) % (MEMORY / 64) * 64, 64));
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_assert_eq(harness_count(top), 4000);
    expect_rules(&k); /* in the order of edges then */
    for (uint32_t i = 1; i < logged_count[0]; i++)
        found += logged[0][i].edge == logged[0][i - 1].edge;
    return found;
}

Test(hbm, commands_that_share_a_bus_go_one_an_edge)
{
    cr_expect_gt(doubled(HBM_COMMANDS_APART), 100);
    cr_expect_eq(doubled(HBM_COMMANDS_TOGETHER), 0);
}

/* ---- order ---- */

Test(hbm, open_rows_come_first)
{
    struct hbm_params k = unrefreshed();
    set_up(k);
    send(top, harness_read(1, 1, address(&k, 1, 0, 0, 0), 64));
    send(top, harness_read(2, 2, address(&k, 2, 0, 0, 0), 64));
    send(top, harness_read(3, 3, address(&k, 1, 0, 1, 0), 64));
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_lt(seen(1), seen(3));
    cr_expect_lt(seen(3), seen(2));
    cr_expect_eq(stats()->row_hits, 1);
    cr_expect_eq(stats()->row_misses, 1);
    cr_expect_eq(stats()->row_conflicts, 1);
}

/* Activations that another one keeps waiting go by age, whichever banks they are for. */
Test(hbm, older_requests_activate_first)
{
    struct hbm_params k = unrefreshed();
    for (uint64_t other = 0; other < 2; other++) {
        set_up(k);
        send(top, harness_read(1, 1, address(&k, 1, 0, 0, 1), 64));
        send(top, harness_read(2, 2, address(&k, 1, 0, 0, other ? 0 : 3), 64));
        send(top, harness_read(3, 3, address(&k, 1, 0, 0, other ? 3 : 0), 64));
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        cr_expect_lt(seen(2), seen(3));
    }
}

Test(hbm, ports_take_turns)
{
    set_up(unrefreshed());
    for (uint16_t i = 0; i < 500; i++) {
        send(top, harness_read(1, i, i * 64u, 64));
        send(dma, harness_read(1, i, i * 64u + 0x40000, 64));
    }
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    uint64_t a = harness_log(top, 499)->cycle, b = harness_log(dma, 499)->cycle;
    cr_expect(a > b ? a - b < 200 : b - a < 200, "%llu and %llu", (unsigned long long)a,
              (unsigned long long)b);
}

/* One of two reads comes between two edges of the memory and the other at the second one, at which
 * both have their commands. */
Test(hbm, reads_through_at_the_same_time_go_by_channel)
{
    struct hbm_params k = unrefreshed();
    k.channels = 2;
    for (uint64_t first = 0; first < 2; first++) {
        set_up(k);
        for (uint16_t i = 0; i < 4; i++) { /* the rows are opened, and found open */
            uint64_t ch = i % 2 ^ first;
            send(top, harness_read(i < 2 ? 1 : 398u + i, (uint16_t)(i / 2 * 2 + ch),
                                   address(&k, 1, 0, i / 2, 0) + ch * 64, 64));
        }
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        cr_expect_eq(harness_log(top, 2)->tag, 2);
        cr_expect_eq(harness_log(top, 3)->cycle, harness_log(top, 2)->cycle + 1);
        cr_expect_eq(stats()->row_hits, 2);
    }
}

/* A request that finds its row open waits for nothing but an edge of the memory. Another one that
 * comes at that edge finds it waiting, and goes behind it. */
Test(hbm, a_request_waits_for_its_edge_where_the_next_one_finds_it)
{
    struct hbm_params k = unrefreshed();
    const uint64_t hit = 14 + 4 + 20 + 2;
    for (uint64_t same = 0; same < 2; same++) {
        set_up(k);
        send(top, harness_read(1, 1, address(&k, 1, 0, 0, 0), 64));
        send(top, harness_read(101, 2, address(&k, 1, 0, 0, 1), 64));
        send(top, harness_read(400, 3, address(&k, 1, 0, 1, 0), 64));
        send(top, harness_read(401, 4, address(&k, 1, 0, 2, same ? 0 : 1), 64));
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        cr_expect_eq(seen(3), 401 + hit, "%llu", (unsigned long long)seen(3));
        cr_expect_eq(seen(4), 401 + hit + (same ? 6 : 4), "%llu", (unsigned long long)seen(4));
        cr_expect_eq(stats()->queue_occupancy.count, 4);
        cr_expect_eq(stats()->queue_occupancy.sum, 1);
    }
}

Test(hbm, a_write_that_waits_for_its_edge_is_found)
{
    struct hbm_params k = unrefreshed();
    uint8_t bytes[64] = {7};
    set_up(k);
    send(top, harness_read(1, 1, 0x40, 64));
    send(top, harness_write(400, 2, 0x40, UINT64_MAX, bytes));
    send(top, harness_read(401, 3, 0x40, 64));
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_eq(seen(3), 401 + 20 + 2);
    cr_expect_eq(stats()->forwarded, 1);
}

/* Reads use a row as often as it may be used; then writes that wait for it are behind an older one
 * that wants another row. */
Test(hbm, what_reads_use_up_of_a_row_counts_for_writes)
{
    uint8_t bytes[64] = {0};
    struct hbm_params k = unrefreshed();
    k.hit_cap = 2;
    set_up(k);
    send(top, harness_read(1, 1, address(&k, 1, 0, 0, 0), 64));
    send(top, harness_write(2, 2, address(&k, 2, 0, 0, 0), UINT64_MAX, bytes));
    send(top, harness_write(3, 3, address(&k, 1, 0, 1, 0), UINT64_MAX, bytes));
    send(top, harness_read(4, 4, address(&k, 1, 0, 2, 0), 64));
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    uint64_t rows[2] = {0, 0};
    uint32_t writes = 0;
    for (uint32_t i = 0; i < logged_count[0]; i++)
        if (logged[0][i].kind == RULES_WR && writes < 2)
            rows[writes++] = logged[0][i].row;
    cr_assert_eq(writes, 2);
    cr_expect_eq(rows[0], 2);
    cr_expect_eq(rows[1], 1);
}

/* When the last read has gone, a waiting write gets its row in the next clock. */
Test(hbm, writes_begin_when_reads_end)
{
    uint8_t bytes[64] = {0};
    struct hbm_params k = unrefreshed();
    set_up(k);
    send(top, harness_read(1, 1, address(&k, 1, 0, 0, 0), 64));
    send(top, harness_write(2, 2, address(&k, 1, 0, 0, 1), UINT64_MAX, bytes));
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_assert_eq(logged_count[0], 4);
    cr_expect_eq(logged[0][1].kind, RULES_RD);
    cr_expect_eq(logged[0][2].kind, RULES_ACT);
    cr_expect_eq(logged[0][2].edge, logged[0][1].edge + 1);
}

/* One request for another row against an endless stream of hits: at most `hit_cap` go first. */
Test(hbm, nothing_starves)
{
    static const int64_t caps[] = {1, 4, 16};
    for (size_t i = 0; i < ARRAY_COUNT(caps); i++) {
        struct hbm_params k = unrefreshed();
        k.hit_cap = caps[i];
        k.row = 16384;
        set_up(k);
        send(top, harness_read(1, 0, address(&k, 1, 0, 0, 0), 64));
        send(top, harness_read(2, 9999, address(&k, 2, 0, 0, 0), 64));
        for (uint16_t n = 1; n < 200; n++)
            send(top, harness_read(3, n, address(&k, 1, 0, n, 0), 64));
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        uint32_t before = 0;
        while (harness_log(top, before)->tag != 9999)
            before++;
        cr_expect_eq(before, (uint32_t)caps[i], "cap %lld: %u before it", (long long)caps[i],
                     before);
        expect_rules(&k);
    }
}

/* Reads go first until the mark is reached; then writes, down to the other. */
Test(hbm, writes_drain_between_their_marks)
{
    uint8_t bytes[64] = {0};
    struct hbm_params k = unrefreshed();
    k.drain = 10;
    k.resume = 4;
    set_up(k);
    uint16_t tag = 0;
    for (uint32_t i = 0; i < 400; i++) {
        send(top, harness_read(1, tag++, address(&k, i / 64, 0, i % 16, i / 16 % 4), 64));
        if (i % 4 == 0)
            send(top, harness_write(1, tag++, address(&k, 8 + i / 64, 1, i % 16, i / 16 % 4),
                                    UINT64_MAX, bytes));
    }
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    expect_rules(&k);
    uint32_t run = 0, drains = 0;
    for (uint32_t i = 0; i < logged_count[0]; i++) {
        if (logged[0][i].kind == RULES_WR) {
            run++;
        } else if (logged[0][i].kind == RULES_RD && run) {
            cr_expect(run >= 6 && run <= 8, "%u writes at a time", run);
            run = 0;
            drains++;
        }
    }
    cr_expect(drains >= 10 && drains <= 17, "%u drains", drains);
    cr_expect_eq(stats()->turnarounds, 2 * drains + 1, "the last drain has no reads behind it");
}

/* ---- refresh ---- */

Test(hbm, refreshes_are_on_time_busy_or_idle)
{
    struct hbm_params k = plain();
    k.channels = 2;
    uint64_t last = stream(k, 16000, 64);
    uint64_t due = 2 * last / 3900;
    cr_expect(stats()->refreshes >= due - 2 && stats()->refreshes <= due + 2, "%llu of %llu",
              (unsigned long long)stats()->refreshes, (unsigned long long)due);
    k.channels = 1;
    set_up(k);
    send(top, harness_read(1, 1, 0, 64));
    send(top, harness_read(3900 * 1000 - 1 + 4, 2, 0, 64)); /* the 1000th has just begun */
    send(top, harness_read(3900 * 1001 + 1000, 3, 0, 64));
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_eq(stats()->refreshes, 1001);
    cr_expect_eq(seen(2), 3900 * 1000 + 110 + 14 + 14 + 4 + 20 + 1);
    cr_expect_eq(seen(3), 3900 * 1001 + 1000 + 1 + 1 + 14 + 14 + 4 + 20 + 1,
                 "the refresh has closed the row");
}

/* A bank in its turn: a read of that one waits, one of another does not, and a long rest changes
 * neither the turns nor their number. */
Test(hbm, banks_are_refreshed_in_turn)
{
    struct hbm_params k = plain();
    k.refresh = HBM_REFRESH_BANK;
    k.trefi = 16 * 400 * NS; /* each 400 ns one of 16 banks */
    k.hash = 0;
    for (uint64_t round = 0; round < 3; round++) {
        uint64_t turn = 6400 * (round * 100) + 400; /* of bank 0 */
        set_up(k);
        send(top, harness_read(turn - 200, 1, address(&k, 0, 1, 0, 0), 64));
        send(top, harness_read(turn + 9, 2, address(&k, 0, 0, 0, 0), 64));
        send(top, harness_read(turn + 9, 3, address(&k, 0, 1, 1, 0), 64));
        send(top, harness_read(turn + 800, 4, address(&k, 0, 1, 1, 0), 64));
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        cr_expect_eq(seen(2), turn + 110 + 14 + 14 + 4 + 20 + 1);
        cr_expect_lt(seen(3), turn + 60);
        cr_expect_eq(seen(4), turn + 800 + 1 + 1 + 14 + 14 + 4 + 20 + 1, "closed by its turn");
        cr_expect_eq(stats()->refreshes, round * 1600 + 3);
    }
}

/* ---- contents, and all rules at once ---- */

static struct hbm_params odd(unsigned variant)
{
    struct hbm_params k = plain();
    if (variant == 1) { /* a clock that is no multiple of the core's, two channels, other map */
        k.tck = 1300;
        k.channels = 2;
        k.hash = 1;
        k.map = HBM_MAP_ROW_COLUMN_BANK;
        k.trefi = 700 * NS;
    } else if (variant == 2) { /* faster than the core, small queues */
        k.tck = 600;
        k.tburst = 1200;
        k.tccd_s = 1200;
        k.tccd_l = 2400;
        k.read_queue = 4;
        k.write_queue = 4;
        k.drain = 3;
        k.resume = 1;
        k.channels = 4;
        k.trc = 60 * NS;       /* more than its parts */
    } else if (variant == 3) { /* hardly anything but the bursts takes time */
        k.trcd_read = k.trcd_write = k.trtp = k.twr = k.twtr_s = k.twtr_l = k.trtw = k.controller =
            0;
        k.trp = k.trrd_s = k.trrd_l = k.tfaw = 2 * NS;
        k.tras = k.trc = 10 * NS;
        k.hit_cap = 2;
    } else if (variant == 4) { /* banks are refreshed in turn, some of them at a time */
        k.refresh = HBM_REFRESH_BANK;
        k.trefi = 1000 * NS;
        k.channels = 2;
    }
    return k;
}

/* Three kinds of requests at random lines in bursts, in the order of one port: what each load sees
 * is known. */
static void random_traffic(uint32_t count, uint64_t seed, uint8_t *model)
{
    static uint8_t expected[HARNESS_LOG][64];
    uint64_t random = seed, when = 1;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t r = harness_random(&random),
                 line = (r % 4 ? r >> 8 & 63 : r >> 8) % (MEMORY / 64) * 64,
                 mask = r % 3 ? UINT64_MAX : harness_random(&random);
        uint8_t bytes[64];
        uint32_t add[16] = {0}, none[16] = {0};
        for (unsigned b = 0; b < 64; b++)
            bytes[b] = (uint8_t)(r >> b % 8 * 8);
        memcpy(expected[i], model + line, 64);
        if (r >> 60 < 8) {
            send(top, harness_read(when, (uint16_t)i, line, 64));
        } else if (r >> 60 < 14) {
            send(top, harness_write(when, (uint16_t)i, line, mask, bytes));
            for (unsigned b = 0; b < 64; b++)
                model[line + b] = mask >> b & 1 ? bytes[b] : model[line + b];
        } else {
            uint32_t word;
            add[3] = (uint32_t)r;
            send(top,
                 harness_atomic(when, (uint16_t)i, line, 0xf000, ISA_ATOMIC_ADD, 4, add, none));
            memcpy(&word, model + line + 12, 4);
            word += add[3];
            memcpy(model + line + 12, &word, 4);
        }
        when += r >> 32 & 1 ? 1 : r % 97 ? 3 : 5000;
    }
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_assert_eq(harness_count(top), count);
    for (uint32_t i = 0; i < count; i++) {
        const struct harness_message *m = harness_log(top, i);
        if (m->kind == MEM_DATA)
            cr_assert_arr_eq(m->payload, expected[m->tag], 64, "request %u", m->tag);
    }
    cr_expect_arr_eq(memory_at(0), model, MEMORY);
}

Test(hbm, random_traffic_keeps_all_rules_and_all_bytes)
{
    static uint8_t model[MEMORY];
    for (unsigned variant = 0; variant < 5; variant++) {
        struct hbm_params k = odd(variant);
        memset(model, 0, sizeof model);
        set_up(k);
        random_traffic(12000, variant + 1, model);
        expect_rules(&k);
        const struct dram_io *io = harness_instance(dram);
        cr_expect_eq(io->stats.reads + io->stats.writes + io->stats.atomics, 12000);
        cr_expect_eq(stats()->row_hits + stats()->row_misses + stats()->row_conflicts
                         + stats()->forwarded + stats()->joined,
                     io->stats.reads + io->stats.writes + 2 * io->stats.atomics);
        cr_expect_leq(stats()->queue_occupancy.max, k.read_queue + k.write_queue - 1);
    }
}

/* Neither the order of ticks nor needless ones change a command or an answer. */
Test(hbm, ticks_do_not_matter)
{
    static uint8_t model[MEMORY];
    static struct rules_command first[LOG];
    static uint64_t cycles[3000];
    uint32_t count = 0;
    for (unsigned variant = 0; variant < 3; variant++) {
        struct hbm_params k = odd(1);
        k.channels = 4;
        k.refresh = HBM_REFRESH_BANK;
        k.controller = 0;
        set_up(k);
        harness_tick_order(variant == 1 ? ENGINE_DESCENDING : ENGINE_ASCENDING, variant == 2);
        memset(model, 0, sizeof model);
        random_traffic(3000, 77, model);
        if (!variant)
            memcpy(first, logged[0], (count = logged_count[0]) * sizeof first[0]);
        cr_assert_eq(logged_count[0], count);
        cr_assert_arr_eq(first, logged[0], count * sizeof first[0]);
        for (uint32_t i = 0; i < 3000; i++) {
            if (!variant)
                cycles[i] = harness_log(top, i)->cycle;
            cr_assert_eq(harness_log(top, i)->cycle, cycles[i]);
        }
    }
}

/* ---- work that is put off ---- */

#define LOOKS 400u

/* What can be seen of a run that stops every 37 cycles. */
struct looks {
    uint32_t count;
    uint64_t time_ps[LOOKS];
    struct hbm_stats stats[LOOKS];
    uint32_t answers;
    uint64_t cycles[2000];
};

/* Requests of a kind: reads, writes, or both. */
enum { ONLY_READS = 1, ONLY_WRITES };

static void look_often(const struct hbm_params *k, int kinds, bool keep_up, struct looks *seen)
{
    uint64_t random = 5, when = 1;
    uint8_t bytes[64] = {0};
    enum engine_result result;
    engine_defer_nothing(keep_up);
    set_up(*k);
    for (uint16_t i = 0; i < 1000; i++) {
        uint64_t r = harness_random(&random), line = (r >> 8) % 4096 * 64;
        if (kinds == ONLY_READS || (kinds != ONLY_WRITES && r & 1))
            send(r & 2 ? top : dma, harness_read(when, i, line, 64));
        else
            send(r & 2 ? top : dma, harness_write(when, i, line, UINT64_MAX, bytes));
        when += i % 50 ? r >> 32 & 7 : 400;
    }
    memset(seen, 0, sizeof *seen);
    do {
        cr_assert_lt(seen->count, LOOKS);
        engine_set_limits(&(struct engine_limits){.max_cycles = 37 * (seen->count + 1)});
        result = harness_run();
        seen->time_ps[seen->count] = engine.time_ps;
        seen->stats[seen->count++] = *stats();
    } while (result == ENGINE_LIMIT);
    cr_assert_eq(result, ENGINE_IDLE);
    for (unsigned end = 0; end < 2; end++)
        for (uint32_t i = 0; i < harness_count(end ? dma : top); i++)
            seen->cycles[seen->answers++] = harness_log(end ? dma : top, i)->cycle;
    engine_defer_nothing(false);
}

/* Whoever looks, and whenever, finds what a memory that issues each command in its own tick has
 * done by then; and a run ends with the last command. */
Test(hbm, what_is_put_off_is_done_before_anybody_looks)
{
    static struct looks first, second;
    for (int kinds = 0; kinds <= ONLY_WRITES; kinds++) {
        for (unsigned variant = 0; variant < 5; variant++) {
            struct hbm_params k = odd(variant);
            look_often(&k, kinds, true, &first);
            look_often(&k, kinds, false, &second);
            cr_assert_eq(first.count, second.count, "kinds %d, variant %u", kinds, variant);
            for (uint32_t i = 0; i < first.count; i++) {
                cr_assert_eq(first.time_ps[i], second.time_ps[i]);
                cr_assert_arr_eq(&first.stats[i], &second.stats[i], sizeof first.stats[i],
                                 "kinds %d, variant %u, look %u", kinds, variant, i);
            }
            cr_expect_eq(first.answers, 1000);
            cr_expect_arr_eq(first.cycles, second.cycles, sizeof first.cycles);
        }
    }
}

/* Between two edges of the core the memory goes on without knowing what the second one brings. */
Test(hbm, a_request_changes_nothing_before_it_comes)
{
    struct hbm_params k = unrefreshed();
    k.tck = 100;
    k.tras = 34500;
    set_up(k);
    send(top, harness_read(10, 1, address(&k, 1, 0, 0, 0), 64));
    send(top, harness_read(20, 2, address(&k, 2, 0, 0, 0), 64)); /* precharges at 45.5 ns */
    send(top, harness_read(45, 3, address(&k, 1, 0, 1, 0), 64)); /* comes at 46 ns */
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_lt(seen(2), seen(3));
    cr_expect_eq(stats()->row_conflicts, 2);
}

Test(hbm, nothing_is_lost_when_answers_are_not_taken)
{
    set_up(plain());
    harness_take_nothing_before(top, 20000);
    for (uint16_t i = 0; i < 500; i++) {
        send(top, harness_read(1, i, i * 64u, 64));
        send(dma, harness_read(1, i, i * 64u, 64));
    }
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_eq(harness_count(top), 500);
    cr_expect_eq(harness_count(dma), 500);
    cr_expect_lt(harness_log(dma, 499)->cycle, 20000, "one port does not wait for the other");
}

Test(hbm, a_fence_waits_for_what_came_before_it)
{
    set_up(unrefreshed());
    for (uint16_t i = 0; i < 20; i++)
        send(top, harness_read(1, i, i * 4096u, 64));
    send(top, harness_fence(1, 100, SCOPE_AGENT, true, true));
    send(top, harness_read(1, 101, 0, 64));
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_eq(harness_log(top, 20)->tag, 100);
    cr_expect_eq(harness_log(top, 21)->tag, 101);
}

Test(hbm, an_address_outside_of_memory_is_reported)
{
    set_up(plain());
    send(top, harness_read(1, 1, 0x123456789000, 4));
    cr_expect_eq(harness_run(), ENGINE_FAILED);
    cr_expect_not_null(strstr(engine_failure(), "0x123456789000"));
    engine_clear_failure();
}

/* Interleaved slices: addresses that reach one of four lie next to each other in it. */
Test(hbm, interleaved_slices_use_all_their_rows)
{
    struct hbm_params k = unrefreshed();
    k.interleaved = 4;
    set_up(k);
    for (uint32_t i = 0; i < 2048; i++) /* two lines of each 512 bytes */
        send(top, harness_read(1, (uint16_t)i, (i / 2 * 512 + i % 2 * 64) % MEMORY, 64));
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    expect_bound(harness_log(top, 2047)->cycle, 2048 * 4, 0.02, "one of four slices");
    cr_expect_eq(stats()->row_misses + stats()->row_conflicts, 2048 / 16,
                 "every row is opened once");
}
