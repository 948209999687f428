/* The cache through its ports: closed-form timing, a naive reference for hits and misses, flat
 * memory for the bytes. */
#include "scope.gen.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <string.h>

#include "base/number.h"
#include "components/amd/isa/isa.h"
#include "runtime/engine/component_failure.h"
#include "runtime/engine/run_control.h"

#include "cache_types.h"

struct bench {
    uint32_t cache, cpu, memory, control;
};

static uint32_t cycles_below = 1; /* from the cache to memory */

static struct cache_params plain(int64_t size, int64_t ways, int64_t write)
{
    return (struct cache_params){.size = size,
                                 .ways = ways,
                                 .line = 64,
                                 .above = 64,
                                 .below = 64,
                                 .latency = 4,
                                 .ports = 1,
                                 .mshrs = 8,
                                 .targets = 8,
                                 .write = write,
                                 .index = CACHE_INDEX_PLAIN,
                                 .banks_below = 1,
                                 .interleave = 128,
                                 .sets = size / (ways * 64)};
}

static struct bench set_up_type(const struct build_type *type, const int64_t *values,
                                uint32_t count, uint32_t width, uint64_t memory_latency)
{
    struct bench b;
    harness_start();
    b.cache = build_instance(type, 0, "cache", values, NULL, count);
    b.cpu = harness_requester();
    b.control = harness_requester();
    b.memory = harness_server(memory_latency, harness_answer_memory);
    harness_wire(HARNESS_MEM, (struct build_end){b.cpu, 0, 0}, (struct build_end){b.cache, TOP, 0},
                 32, width, 1);
    harness_wire(HARNESS_CONTROL, (struct build_end){b.control, 0, 0},
                 (struct build_end){b.cache, CONTROL, 0}, 4, 1, 1);
    harness_wire(HARNESS_MEM, (struct build_end){b.cache, BOTTOM, 0},
                 (struct build_end){b.memory, 0, 0}, 16, 1, cycles_below);
    harness_build();
    return b;
}

static struct bench set_up(struct cache_params params, uint64_t memory_latency)
{
    int64_t values[sizeof params / sizeof(int64_t)];
    memcpy(values, &params, sizeof params);
    return set_up_type(&cache_type, values, ARRAY_COUNT(values), (uint32_t)params.ports,
                       memory_latency);
}

static const struct cache_stats *stats(struct bench b)
{
    return &((const struct cache_io *)harness_instance(b.cache))->stats;
}

static void send(uint32_t end, struct harness_message m)
{
    harness_send(end, &m);
}

static void flush(struct bench b, bool invalidate)
{
    struct harness_message m = {.kind = CACHE_CONTROL_FLUSH, .fields = {invalidate}};
    harness_send(b.control, &m);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
}

static uint64_t seen(struct bench b, uint16_t tag)
{
    const struct harness_message *m = harness_reply(b.cpu, tag);
    cr_assert_not_null(m, "no answer to %u", tag);
    return m->cycle;
}

struct latency_case {
    int64_t latency;
    uint64_t memory;
};

ParameterizedTestParameters(cache, latency_is_latency_plus_one)
{
    static struct latency_case cases[] = {{1, 1}, {1, 100}, {4, 100}, {20, 7}, {60, 300}};
    return cr_make_param_array(struct latency_case, cases, ARRAY_COUNT(cases));
}

/* Wires of one cycle: a hit is seen latency + 1 after it was sent, a miss as much later as memory
 * takes: its latency + 1. */
ParameterizedTest(struct latency_case *p, cache, latency_is_latency_plus_one)
{
    struct cache_params params = plain(1024, 2, CACHE_WRITE_AROUND);
    params.latency = p->latency;
    struct bench b = set_up(params, p->memory);
    send(b.cpu, harness_read(10, 1, 0x40, 4));
    send(b.cpu, harness_read(1000, 2, 0x50, 4));
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_eq(seen(b, 1), 10 + (uint64_t)p->latency + 1 + p->memory + 1);
    cr_expect_eq(seen(b, 2), 1000 + (uint64_t)p->latency + 1);
    cr_expect_eq(stats(b)->hits, 1);
    cr_expect_eq(stats(b)->misses, 1);
}

Test(cache, hits_stream_at_the_rate_of_the_ports)
{
    for (int64_t width = 1; width <= 4; width *= 2) {
        struct cache_params params = plain(1024, 2, CACHE_WRITE_AROUND);
        params.ports = width;
        struct bench b = set_up(params, 10);
        send(b.cpu, harness_read(1, 0, 0x40, 4));
        for (uint16_t i = 1; i <= 400; i++)
            send(b.cpu, harness_read(100, i, 0x40, 4));
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        cr_expect_eq(seen(b, 400), 100 + 4 + 1 + 400 / (uint64_t)width - 1, "width %d: %d",
                     (int)width, (int)seen(b, 400));
    }
}

/* Four requests a cycle, but one tag RAM: requests to a line that follow each other share a lookup.
 */
Test(cache, lines_are_looked_up_at_the_rate_of_the_tags)
{
    for (unsigned same = 1; same <= 4; same *= 2) {
        struct cache_params params = plain(1024, 2, CACHE_WRITE_AROUND);
        params.ports = 4;
        params.tags = 1;
        struct bench b = set_up(params, 10);
        send(b.cpu, harness_read(1, 0, 0x40, 4));
        send(b.cpu, harness_read(50, 401, 0x80, 4));
        for (uint16_t i = 0; i < 400; i++)
            send(b.cpu, harness_read(100, i + 1, i / same % 2 ? 0x40 : 0x80, 4));
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        cr_expect_eq(seen(b, 400), 100 + 4 + 1 + 400 / same - 1, "%u: %d", same, (int)seen(b, 400));
    }
}

/* Four tag RAMs, and four requests a cycle to as many lines: all at once, or in turns where some
 * lie in one RAM. */
Test(cache, each_tag_ram_looks_up_a_line_a_cycle)
{
    static const struct {
        uint64_t step;
        unsigned lines_a_cycle;
    } all[] = {{64, 4}, {192, 4}, {128, 2}, {256, 1}};
    for (size_t k = 0; k < ARRAY_COUNT(all); k++) {
        struct cache_params params = plain(65536, 4, CACHE_WRITE_AROUND);
        params.ports = params.tags = 4;
        struct bench b = set_up(params, 10);
        for (uint16_t i = 0; i < 8; i++)
            send(b.cpu, harness_read(1, i, i * all[k].step, 4));
        for (uint16_t i = 0; i < 400; i++)
            send(b.cpu, harness_read(200, i + 8, i % 8 * all[k].step, 4));
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        uint64_t want = 200 + 4 + 1 + 400 / all[k].lines_a_cycle - 1;
        cr_expect_eq(seen(b, 407), want, "%d: %d", (int)all[k].step, (int)seen(b, 407));
    }
}

Test(cache, misses_overlap_up_to_the_number_of_mshrs)
{
    struct cache_params params = plain(65536, 4, CACHE_WRITE_AROUND);
    struct bench b = set_up(params, 100);
    for (uint16_t i = 0; i < 64; i++)
        send(b.cpu, harness_read(1, i, (uint64_t)i * 64, 4));
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    /* 8 rounds of 8 lines; a round takes memory's 101 cycles seen from the cache, its sends
     * overlap. */
    cr_expect_geq(seen(b, 63), 8 * 101);
    cr_expect_leq(seen(b, 63), 8 * 101 + 8 + 12);
    cr_expect_eq(stats(b)->mshr_occupancy.max, 8);
    cr_expect_gt(stats(b)->blocked, 0);
}

Test(cache, misses_to_one_line_ask_once)
{
    struct bench b = set_up(plain(1024, 2, CACHE_WRITE_AROUND), 100);
    for (uint16_t i = 0; i < 6; i++)
        send(b.cpu, harness_read(1, i, 0x80 + i * 4u, 4));
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_eq(harness_count(b.memory), 1);
    cr_expect_eq(stats(b)->misses, 6);
    cr_expect_eq(stats(b)->mshr_hits, 5);
}

/* Lines of 32 bytes above one of 64. */
static struct bench set_up_pairs(int64_t ports)
{
    struct cache_params params = plain(1024, 2, CACHE_WRITE_AROUND);
    params.line = params.above = 32;
    params.sets *= 2;
    params.ports = ports;
    params.pairs = true;
    cycles_below = 2;
    return set_up(params, 10);
}

static uint32_t read_size(const struct harness_message *m)
{
    struct message header;
    memcpy(header.fields, m->fields, sizeof header.fields);
    return m->kind == MEM_READ ? ((const struct mem_request *)(const void *)&header)->read.size : 0;
}

Test(cache, halves_of_a_line_below_are_asked_for_together)
{
    static const struct {
        uint64_t first, second, cycle;
        bool stores, together;
    } all[] = {{0x40, 0x60, 2, false, true},  {0x60, 0x40, 2, false, true},
               {0x40, 0x60, 3, false, false}, {0x60, 0x80, 2, false, false},
               {0x40, 0x60, 2, true, false},  {0x40, 0x40, 2, false, false}};
    for (size_t k = 0; k < ARRAY_COUNT(all); k++) {
        struct bench b = set_up_pairs(2);
        uint8_t bytes[64] = {9};
        for (unsigned i = 0; i < 256; i++)
            harness_memory[i] = (uint8_t)i;
        send(b.cpu, harness_read(1, 1, all[k].first, 4));
        if (all[k].stores) /* behind the first load and before the second, to its bytes */
            send(b.cpu, harness_write(1, 3, all[k].second, 1, bytes));
        send(b.cpu, harness_read(all[k].cycle, 2, all[k].second, 4));
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        cr_expect_eq(read_size(harness_log(b.memory, 0)), all[k].together ? 64 : 32, "%zu", k);
        cr_expect_eq(stats(b)->paired, all[k].together, "%zu", k);
        cr_expect_eq(harness_reply(b.cpu, 1)->payload[0], all[k].first);
        cr_expect_eq(harness_reply(b.cpu, 2)->payload[0], all[k].stores ? 9 : all[k].second);
    }
}

/* Each line that is asked for is in one read below, alone or with its other half, and loads see
 * what the stores before them left. */
Test(cache, lines_asked_for_together_are_right_in_any_order_of_ticks)
{
    enum { COUNT = 10000, LINES = 96 };
    static uint8_t model[LINES], expected[COUNT];
    for (int order = ENGINE_ASCENDING; order <= ENGINE_RANDOM; order++) {
        struct bench b = set_up_pairs(2);
        uint64_t random = 7, cycle = 1, line = 0, asked = 0, together = 0;
        harness_tick_order(order, order == ENGINE_RANDOM);
        memset(model, 0, sizeof model);
        memset(harness_memory, 0, LINES * 32);
        for (uint32_t i = 0; i < COUNT; i++) {
            uint64_t r = harness_random(&random);
            uint8_t bytes[64] = {(uint8_t)r};
            line = i % 2 && r % 8 ? line ^ 1 : (r >> 8) % LINES; /* often the other half */
            expected[i] = model[line];
            if (r >> 60 < 4)
                send(b.cpu, harness_write(cycle, (uint16_t)i, line * 32, 1, bytes));
            else
                send(b.cpu, harness_read(cycle, (uint16_t)i, line * 32, 4));
            model[line] = r >> 60 < 4 ? (uint8_t)r : model[line];
            cycle += r >> 50 & 1;
        }
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        for (uint32_t i = 0; i < COUNT; i++) {
            const struct harness_message *m = harness_log(b.cpu, i);
            if (m->kind == MEM_DATA)
                cr_assert_eq(m->payload[0], expected[m->tag], "request %u", m->tag);
        }
        for (uint32_t i = 0; i < harness_count(b.memory); i++) {
            asked += read_size(harness_log(b.memory, i)) / 32;
            together += read_size(harness_log(b.memory, i)) == 64;
        }
        cr_expect_eq(asked, stats(b)->mshr_occupancy.count);
        cr_expect_eq(together, stats(b)->paired);
        cr_expect_gt(together, 100);
    }
}

/* ---- hits and misses against a naive cache ---- */

struct naive {
    uint64_t line[64 * 64];
    uint64_t used[64 * 64];
    uint64_t clock;
};

static bool naive_access(struct naive *n, uint64_t sets, uint64_t ways, uint64_t line)
{
    uint64_t base = line % sets * ways, victim = base;
    for (uint64_t i = base; i < base + ways; i++) {
        if (n->used[i] && n->line[i] == line) {
            n->used[i] = ++n->clock;
            return true;
        }
        if (n->used[i] < n->used[victim])
            victim = i;
    }
    n->line[victim] = line;
    n->used[victim] = ++n->clock;
    return false;
}

struct shape {
    int64_t size, ways;
    uint64_t footprint; /* lines */
};

ParameterizedTestParameters(cache, lru_hits_as_a_naive_cache)
{
    static struct shape shapes[] = {{1024, 1, 40},    {1024, 2, 20},   {4096, 4, 90},
                                    {3072, 3, 70},    {8192, 16, 150}, {1024, 16, 18},
                                    {16384, 32, 300}, {4096, 64, 70}};
    return cr_make_param_array(struct shape, shapes, ARRAY_COUNT(shapes));
}

ParameterizedTest(struct shape *s, cache, lru_hits_as_a_naive_cache)
{
    static struct naive n;
    struct bench b = set_up(plain(s->size, s->ways, CACHE_WRITE_BACK), 3);
    uint64_t random = 7, hits = 0, count = 20000;
    memset(&n, 0, sizeof n);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t r = harness_random(&random),
                 line = r % 3 ? r / 3 % s->footprint : r / 3 % (s->footprint * 4);
        hits += naive_access(&n, (uint64_t)(s->size / s->ways / 64), (uint64_t)s->ways, line);
        uint8_t bytes[64] = {1};
        uint64_t when = 1 + i * 12; /* one at a time */
        send(b.cpu, r >> 60 ? harness_read(when, (uint16_t)i, line * 64, 64)
                            : harness_write(when, (uint16_t)i, line * 64, UINT64_MAX, bytes));
    }
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_eq(stats(b)->hits, hits, "%d hits, %d expected", (int)stats(b)->hits, (int)hits);
    cr_expect_eq(stats(b)->hits + stats(b)->misses, count);
    cr_expect_eq(stats(b)->reads + stats(b)->writes, count);
}

/* RRIP as its authors put it: age everybody by one until somebody is distant. */
static bool rrip_access(uint64_t *lines, int *predictions, uint64_t sets, uint64_t ways,
                        int distant, uint64_t line)
{
    uint64_t base = line % sets * ways, way;
    for (way = base; way < base + ways; way++)
        if (predictions[way] >= 0 && lines[way] == line) {
            predictions[way] = 0;
            return true;
        }
    for (way = base; way < base + ways && predictions[way] >= 0; way++)
        continue;
    for (; way == base + ways;) {
        for (way = base; way < base + ways && predictions[way] < distant; way++)
            continue;
        for (uint64_t w = base; way == base + ways && w < base + ways; w++)
            predictions[w]++;
    }
    lines[way] = line;
    predictions[way] = distant - 1;
    return false;
}

Test(cache, rrip_hits_as_its_definition)
{
    static const char *const rrip_parts[] = {"rrip", NULL};
    static const uint32_t places[] = {sizeof(struct cache_params) / sizeof(int64_t), 0};
    static const struct build_type rrip_type = {.unit = &cache__generic,
                                                .ports = cache_ports,
                                                .port_count = PORTS,
                                                .parts = rrip_parts,
                                                .part_count = 2,
                                                .part_params = places};
    for (int64_t bits = 1; bits <= 3; bits++) {
        struct {
            struct cache_params cache;
            int64_t bits;
        } params = {plain(4096, 8, CACHE_WRITE_AROUND), bits};
        int64_t values[sizeof params / sizeof(int64_t)];
        uint64_t lines[64], random = 23, hits = 0;
        int predictions[64];
        memcpy(values, &params, sizeof params);
        struct bench b = set_up_type(&rrip_type, values, ARRAY_COUNT(values), 1, 3);
        for (unsigned i = 0; i < 64; i++)
            predictions[i] = -1;
        for (uint32_t i = 0; i < 10000; i++) {
            uint64_t r = harness_random(&random), line = r % 4 ? r / 4 % 40 : r / 4 % 400;
            hits += rrip_access(lines, predictions, 8, 8, (1 << bits) - 1, line);
            send(b.cpu, harness_read(1 + i * 12, (uint16_t)i, line * 64, 4));
        }
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        cr_expect_eq(stats(b)->hits, hits, "%d bits: %d hits, %d expected", (int)bits,
                     (int)stats(b)->hits, (int)hits);
    }
}

/* ---- the bytes ---- */

struct data_case {
    int64_t write, index, latency, ports;
    int order;
    bool tick_all;
    uint64_t stall; /* the requester takes no answers before this cycle */
};

struct expected_reply {
    enum mem_reply_kind kind;
    uint64_t mask; /* the bytes of the line that count */
    uint8_t line[64];
};

/* Queues `count` random requests and fills what each must return; memory as it is at the end goes
 * to `flat`. */
static void queue_random(struct bench b, uint32_t count, uint8_t *flat,
                         struct expected_reply *expected)
{
    static const uint8_t ops[] = {ISA_ATOMIC_ADD, ISA_ATOMIC_SWAP, ISA_ATOMIC_UMAX, ISA_ATOMIC_XOR,
                                  ISA_ATOMIC_CMPSWAP};
    uint64_t random = 99, cycle = 1;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t r = harness_random(&random), line = r % 48 * 64;
        uint8_t bytes[64], other[64];
        for (unsigned k = 0; k < 64; k += 8) {
            uint64_t v = harness_random(&random);
            memcpy(bytes + k, &v, 8);
        }
        memcpy(other, bytes + 32, 32);
        memcpy(other + 32, bytes, 32);
        cycle += r >> 20 & 3;
        uint64_t dice = r >> 32 & 15, mask = 0;
        expected[i].kind = dice < 8 || dice >= 14 ? MEM_DATA : MEM_DONE;
        memcpy(expected[i].line, flat + line, 64);
        if (dice < 8) {
            uint32_t first = r >> 40 & 63, size = 1 + (uint32_t)(r >> 50) % (64 - first);
            expected[i].mask = (size == 64 ? UINT64_MAX : ((uint64_t)1 << size) - 1) << first;
            send(b.cpu, harness_read(cycle, (uint16_t)i, line + first, size));
        } else if (dice < 14) {
            mask = dice == 13 ? UINT64_MAX : harness_random(&random) & harness_random(&random);
            for (unsigned k = 0; k < 64; k++)
                if (mask >> k & 1)
                    flat[line + k] = bytes[k];
            send(b.cpu, harness_write(cycle, (uint16_t)i, line, mask, bytes));
        } else {
            unsigned size = r >> 41 & 1 ? 8 : 4, op = ops[(r >> 44) % sizeof ops];
            for (unsigned k = 0; k < 64; k += size)
                mask |= (harness_random(&random) & 1 ? ((uint64_t)1 << size) - 1 : 0) << k;
            expected[i].mask = mask;
            for (unsigned k = 0; k < 64; k += size)
                if (mask >> k & 1)
                    isa_atomic_apply((enum isa_atomic)op, size, flat + line + k, bytes + k,
                                     other + k, NULL);
            send(b.cpu, harness_atomic(cycle, (uint16_t)i, line, mask, op, size, bytes, other));
        }
    }
}

ParameterizedTestParameters(cache, bytes_are_right_whatever_the_policy)
{
    static struct data_case cases[] = {
        {CACHE_WRITE_BACK, CACHE_INDEX_PLAIN, 4, 1, ENGINE_ASCENDING, false, 0},
        {CACHE_WRITE_BACK, CACHE_INDEX_FOLDED, 1, 4, ENGINE_DESCENDING, false, 0},
        {CACHE_WRITE_THROUGH, CACHE_INDEX_PLAIN, 4, 1, ENGINE_ASCENDING, false, 0},
        {CACHE_WRITE_THROUGH, CACHE_INDEX_FOLDED, 1, 4, ENGINE_RANDOM, true, 0},
        {CACHE_WRITE_AROUND, CACHE_INDEX_PLAIN, 4, 1, ENGINE_ASCENDING, false, 0},
        {CACHE_WRITE_AROUND, CACHE_INDEX_FOLDED, 20, 4, ENGINE_RANDOM, true, 0},
        {CACHE_WRITE_EVICT, CACHE_INDEX_PLAIN, 4, 1, ENGINE_ASCENDING, false, 0},
        {CACHE_WRITE_EVICT, CACHE_INDEX_FOLDED, 1, 2, ENGINE_RANDOM, true, 0},
        {CACHE_WRITE_BACK, CACHE_INDEX_PLAIN, 2, 2, ENGINE_RANDOM, true, 900},
        {CACHE_WRITE_AROUND, CACHE_INDEX_PLAIN, 1, 1, ENGINE_ASCENDING, false, 900},
    };
    return cr_make_param_array(struct data_case, cases, ARRAY_COUNT(cases));
}

ParameterizedTest(struct data_case *p, cache, bytes_are_right_whatever_the_policy)
{
    enum { COUNT = 20000 };
    static uint8_t flat[64 * 64];
    static struct expected_reply expected[COUNT];
    struct cache_params params = plain(1024, 4, p->write);
    params.index = p->index;
    params.latency = p->latency;
    params.ports = p->ports;
    struct bench b = set_up(params, 30);
    harness_tick_order(p->order, p->tick_all);
    harness_take_nothing_before(b.cpu, p->stall);
    memset(flat, 0, sizeof flat);
    queue_random(b, COUNT, flat, expected);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_assert_eq(harness_count(b.cpu), COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        const struct harness_message *m = harness_log(b.cpu, i);
        const struct expected_reply *e = &expected[m->tag];
        cr_assert_eq(m->kind, e->kind, "request %u", m->tag);
        for (unsigned k = 0; k < 64; k++)
            if (e->mask >> k & 1)
                cr_assert_eq(m->payload[k], e->line[k], "request %u, byte %u", m->tag, k);
    }
    flush(b, true);
    cr_expect_arr_eq(harness_memory, flat, sizeof flat);
    cr_expect_eq(stats(b)->hits + stats(b)->misses,
                 stats(b)->reads + stats(b)->writes + stats(b)->atomics);
}

/* ---- policies and control ---- */

Test(cache, write_back_keeps_writes_until_flushed)
{
    struct bench b = set_up(plain(1024, 2, CACHE_WRITE_BACK), 10);
    uint8_t bytes[64];
    memset(bytes, 0x5a, sizeof bytes);
    send(b.cpu, harness_write(1, 1, 0x40, 0xff, bytes));
    send(b.cpu, harness_read(2, 2, 0x40, 8));
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_eq(harness_count(b.memory), 0, "a write and a read of its bytes need no memory");
    cr_expect_eq(harness_reply(b.cpu, 2)->payload[7], 0x5a);
    flush(b, false);
    cr_expect_eq(harness_count(b.memory), 1);
    cr_expect_eq(harness_memory[0x47], 0x5a);
    cr_expect_eq(harness_memory[0x48], 0, "bytes beside the mask are not written");
    flush(b, false);
    cr_expect_eq(harness_count(b.memory), 1, "a clean line is not written back");
}

/* OR with zeros is how compute units read past their L1. */
Test(cache, an_atomic_that_only_reads_leaves_the_line_clean)
{
    struct bench b = set_up(plain(1024, 2, CACHE_WRITE_BACK), 10);
    uint8_t zeros[64] = {0}, ones[64] = {0, 1};
    harness_memory[0x41] = 8;
    send(b.cpu, harness_atomic(1, 1, 0x40, 0xf, ISA_ATOMIC_OR, 4, zeros, zeros));   /* miss */
    send(b.cpu, harness_atomic(100, 2, 0x40, 0xf, ISA_ATOMIC_OR, 4, zeros, zeros)); /* hit */
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_eq(harness_reply(b.cpu, 1)->payload[1], 8);
    cr_expect_eq(harness_reply(b.cpu, 2)->payload[1], 8);
    harness_memory[0x41] = 16; /* as a DMA engine writes */
    flush(b, true);
    cr_expect_eq(harness_memory[0x41], 16, "nothing was written back");
    send(b.cpu, harness_atomic(300, 3, 0x40, 0xf, ISA_ATOMIC_OR, 4, ones, zeros));
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    flush(b, true);
    cr_expect_eq(harness_memory[0x41], 17);
}

Test(cache, a_flush_writes_a_line_a_cycle)
{
    struct cache_params params = plain(16384, 4, CACHE_WRITE_BACK);
    params.mshrs = 64;
    struct bench b = set_up(params, 20);
    uint8_t bytes[64] = {1};
    for (uint16_t i = 0; i < 200; i++)
        send(b.cpu, harness_write(1, i, (uint64_t)i * 64, 1, bytes));
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    struct harness_message m = {.cycle = 1000, .kind = CACHE_CONTROL_FLUSH};
    harness_send(b.control, &m);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_eq(harness_count(b.memory), 200);
    /* Request 1, lines 200, the last one's answer 20 + 1, and 1 back. */
    cr_expect_eq(harness_log(b.control, 0)->cycle, 1000 + 1 + 199 + 21 + 1, "%d",
                 (int)harness_log(b.control, 0)->cycle);
}

Test(cache, a_flush_finds_dirty_lines_before_and_behind_those_of_the_last)
{
    struct bench b = set_up(plain(16384, 4, CACHE_WRITE_BACK), 20);
    uint8_t bytes[64] = {1};
    unsigned flushed = 0;
    for (unsigned i = 0; i < 4; i++) { /* 64 sets: first, last, and in between */
        static const uint64_t sets[4][2] = {{0, 63}, {63, 0}, {32, 31}, {0, 0}};
        for (unsigned w = 0; w < 2; w++)
            send(b.cpu, harness_write(1, (uint16_t)w, sets[i][w] * 64, 1, bytes));
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        flush(b, false);
        flushed += sets[i][0] == sets[i][1] ? 1 : 2;
        cr_expect_eq(harness_count(b.memory), flushed, "%u: %u", i, harness_count(b.memory));
    }
}

/* Lines that are asked for, that go for others, and that a flush sends take turns on one way. */
Test(cache, lines_go_below_and_come_at_the_interval)
{
    for (unsigned interval = 1; interval <= 6; interval += 5) {
        struct cache_params params = plain(4096, 4, CACHE_WRITE_BACK);
        params.mshrs = 64;
        params.below_interval = interval;
        struct bench b = set_up(params, 20);
        uint8_t bytes[64] = {1};
        for (uint16_t i = 0; i < 64; i++) /* the cache is full of dirty lines */
            send(b.cpu, harness_write(1, i, (uint64_t)i * 64, 1, bytes));
        for (uint16_t i = 64; i < 128; i++) /* each sends one of them below and asks for one */
            send(b.cpu, harness_read(1000, i, (uint64_t)i * 64, 4));
        for (uint16_t i = 128; i < 192; i++)
            send(b.cpu, harness_write(2000, i, (uint64_t)(i - 64) * 64, 1, bytes));
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        cr_expect_eq(harness_count(b.memory), 128);
        cr_expect_eq(seen(b, 127) - seen(b, 64), 63 * 2 * interval, "%u: %d", interval,
                     (int)(seen(b, 127) - seen(b, 64)));
        flush(b, false);
        cr_expect_eq(harness_count(b.memory), 192);
        const struct harness_message *first = harness_log(b.memory, 128);
        cr_expect_eq(harness_log(b.memory, 191)->cycle - first->cycle, 63 * interval);
    }
}

struct coherent_case {
    int64_t write;
    bool below; /* goes there although the line is here */
};

/* A coherent read is answered where all sharers meet: below, except in a write-back cache. What is
 * here may be old, so the next plain read asks, too. */
Test(cache, coherent_reads_pass_what_others_do_not_see)
{
    static const struct coherent_case cases[] = {{CACHE_WRITE_THROUGH, true},
                                                 {CACHE_WRITE_AROUND, true},
                                                 {CACHE_WRITE_EVICT, true},
                                                 {CACHE_WRITE_BACK, false}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct bench b = set_up(plain(1024, 2, cases[i].write), 10);
        struct harness_message m = harness_read(100, 2, 0x40, 4);
        m.fields[offsetof(struct mem_request, read.coherent) - offsetof(struct message, fields)] =
            true;
        harness_memory[0x40] = 1;
        send(b.cpu, harness_read(1, 1, 0x40, 4));
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        harness_memory[0x40] = 9;
        send(b.cpu, m);
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        cr_expect_eq(harness_reply(b.cpu, 2)->payload[0], cases[i].below ? 9 : 1);
        cr_expect_eq(harness_count(b.memory), cases[i].below ? 2 : 1);
        send(b.cpu, harness_read(200, 3, 0x40, 4));
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        cr_expect_eq(harness_count(b.memory), cases[i].below ? 3 : 1);
        cr_expect_eq(stats(b)->reads, 3);
        cr_expect_eq(stats(b)->atomics, 0);
    }
}

Test(cache, invalidate_of_dirty_lines_is_an_error)
{
    struct bench b = set_up(plain(1024, 2, CACHE_WRITE_BACK), 10);
    uint8_t bytes[64] = {1};
    struct harness_message m = {.cycle = 50, .kind = CACHE_CONTROL_INVALIDATE};
    send(b.cpu, harness_write(1, 1, 0x40, 0xff, bytes));
    harness_send(b.control, &m);
    cr_expect_eq(harness_run(), ENGINE_FAILED);
    cr_expect_not_null(strstr(engine_failure(), "flush first"));
    engine_clear_failure();
}

Test(cache, an_invalidated_line_is_asked_for_again)
{
    struct bench b = set_up(plain(1024, 2, CACHE_WRITE_AROUND), 10);
    struct harness_message m = {.cycle = 50, .kind = CACHE_CONTROL_INVALIDATE};
    send(b.cpu, harness_read(1, 1, 0x40, 4));
    harness_send(b.control, &m);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    harness_memory[0x40] = 9;
    send(b.cpu, harness_read(100, 2, 0x40, 4));
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_eq(harness_reply(b.cpu, 2)->payload[0], 9);
}

Test(cache, an_acquire_waits_for_what_came_before_and_drops_lines)
{
    struct bench b = set_up(plain(1024, 2, CACHE_WRITE_AROUND), 100);
    uint8_t bytes[64] = {1};
    send(b.cpu, harness_read(1, 1, 0x40, 4));
    send(b.cpu, harness_write(200, 2, 0x80, 1, bytes));
    send(b.cpu, harness_fence(201, 3, SCOPE_AGENT, true, true));
    send(b.cpu, harness_read(202, 4, 0x40, 4));
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_gt(seen(b, 3), seen(b, 2));
    cr_expect_gt(seen(b, 4), seen(b, 3) + 100, "the line was dropped");
    cr_expect_eq(stats(b)->misses, 3);
}

Test(cache, a_fence_inside_a_work_group_costs_nothing)
{
    struct bench b = set_up(plain(1024, 2, CACHE_WRITE_AROUND), 100);
    send(b.cpu, harness_read(1, 1, 0x40, 4));
    send(b.cpu, harness_fence(300, 3, SCOPE_WORK_GROUP, true, true));
    send(b.cpu, harness_read(301, 4, 0x40, 4));
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_eq(seen(b, 4), 301 + 5);
}

/* Write at 1, an agent's fence at 100, a release of system scope at 200, a write to another byte at
 * 300, a read at 400, an acquire of system scope at 500, a read at 600. `mask`: of the first write.
 */
static struct bench set_up_for_one_gpu(uint64_t mask)
{
    struct cache_params params = plain(1024, 2, CACHE_WRITE_BACK);
    params.scope = CACHE_SCOPE_SYSTEM;
    struct bench b = set_up(params, 10);
    uint8_t bytes[64] = {1, 1};
    harness_memory[0x40] = harness_memory[0x41] = harness_memory[0x42] = 0;
    send(b.cpu, harness_write(1, 1, 0x40, mask, bytes));
    send(b.cpu, harness_fence(100, 2, SCOPE_AGENT, true, true));
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_eq(harness_count(b.memory), 0, "an agent's fence leaves dirty lines");
    send(b.cpu, harness_fence(200, 3, SCOPE_SYSTEM, false, true));
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_eq(harness_memory[0x40], 1, "a release of system scope writes back");
    harness_memory[0x40] = 7; /* somebody else */
    send(b.cpu, harness_write(300, 4, 0x40, 2, bytes));
    return b;
}

Test(cache, a_release_of_system_scope_leaves_bytes_that_are_not_dirty)
{
    for (unsigned full = 0; full < 2; full++) {
        struct bench b = set_up_for_one_gpu(full ? UINT64_MAX : 1);
        send(b.cpu, harness_read(400, 5, 0x40, 4));
        send(b.cpu, harness_fence(500, 6, SCOPE_SYSTEM, true, false));
        send(b.cpu, harness_read(600, 7, 0x40, 4));
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        cr_expect_eq(harness_reply(b.cpu, 5)->payload[0], full ? 1 : 7,
                     "a whole line stays, without an acquire");
        cr_expect_eq(harness_reply(b.cpu, 7)->payload[0], 7, "an acquire drops it");
        cr_expect_eq(harness_memory[0x40], 7, "what was clean is not written back");
        cr_expect_eq(harness_memory[0x41], 1);
    }
}

Test(cache, atomics_and_coherent_reads_pass_an_l2_of_system_scope_behind_its_dirty_bytes)
{
    struct bench b = set_up_for_one_gpu(UINT64_MAX);
    struct harness_message m = harness_read(400, 5, 0x40, 4);
    m.fields[offsetof(struct mem_request, read.coherent) - offsetof(struct message, fields)] = true;
    send(b.cpu, m);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_eq(harness_reply(b.cpu, 5)->payload[0], 7);
    cr_expect_eq(harness_reply(b.cpu, 5)->payload[1], 1, "its own write is before it");
}

struct scope_case {
    int64_t scope, atomics_at, write;
    unsigned widest; /* that the users of the cache share */
};

/* A write of scope `scope` to a line of which bytes are dirty, and then one of another writer that
 * does not go through this cache, to the same bytes. */
static void check_write_of_scope(const struct scope_case *c, unsigned scope)
{
    struct cache_params params = plain(1024, 2, c->write);
    params.scope = c->scope;
    params.atomics_at = c->atomics_at;
    struct bench b = set_up(params, 10);
    uint8_t before[64] = {[4] = 5, [5] = 6}, bytes[64] = {7};
    struct harness_message m = harness_write(100, 2, 0x40, 1, bytes), coherent;
    m.fields[offsetof(struct mem_request, write.scope) - offsetof(struct message, fields)] =
        (uint8_t)scope;
    send(b.cpu, harness_read(1, 0, 0x40, 64));
    send(b.cpu, harness_write(50, 1, 0x40, 0x30, before));
    send(b.cpu, m);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    bool goes_on = c->write != CACHE_WRITE_BACK || scope > c->widest;
    cr_expect_eq(harness_memory[0x40], goes_on ? 7 : 0, "widest %u, scope %u", c->widest, scope);
    if (!goes_on)
        return;
    cr_expect_gt(harness_reply(b.cpu, 2)->cycle, 110, "it is answered by memory");
    cr_expect_eq(harness_memory[0x45], 6, "what was dirty of the line is there before it");
    harness_memory[0x40] = 99;
    coherent = harness_coherent_read(300, 3, 0x40, 4);
    send(b.cpu, coherent);
    send(b.cpu, harness_fence(400, 4, SCOPE_SYSTEM, true, true));
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_eq(harness_memory[0x40], 99, "the byte was not dirty any more");
    cr_expect_eq(harness_reply(b.cpu, 3)->payload[0], 99);
    cr_expect_eq(harness_reply(b.cpu, 3)->payload[4], 5);
}

Test(cache, a_write_goes_on_until_its_whole_scope_sees_it)
{
    static const struct scope_case cases[] = {
        {CACHE_SCOPE_AGENT, CACHE_ATOMICS_AT_HERE, CACHE_WRITE_BACK, SCOPE_SYSTEM},
        {CACHE_SCOPE_AGENT, CACHE_ATOMICS_AT_BELOW, CACHE_WRITE_BACK, SCOPE_WORK_GROUP},
        {CACHE_SCOPE_SYSTEM, CACHE_ATOMICS_AT_HERE, CACHE_WRITE_BACK, SCOPE_AGENT},
        {CACHE_SCOPE_AGENT, CACHE_ATOMICS_AT_HERE, CACHE_WRITE_THROUGH, 0},
        {CACHE_SCOPE_AGENT, CACHE_ATOMICS_AT_HERE, CACHE_WRITE_AROUND, 0},
        {CACHE_SCOPE_AGENT, CACHE_ATOMICS_AT_HERE, CACHE_WRITE_EVICT, 0}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        for (unsigned scope = SCOPE_WAVEFRONT; scope <= SCOPE_SYSTEM; scope++)
            check_write_of_scope(&cases[i], scope);
}

static uint32_t memory_requests_after_write_and_read(int64_t policy, bool read_first, uint64_t mask)
{
    struct bench b = set_up(plain(1024, 2, policy), 10);
    uint8_t bytes[64] = {1};
    if (read_first)
        send(b.cpu, harness_read(1, 1, 0x40, 4));
    send(b.cpu, harness_write(100, 2, 0x40, mask, bytes));
    send(b.cpu, harness_read(200, 3, 0x40, 4));
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    return harness_count(b.memory);
}

Test(cache, policies_differ_in_what_a_write_leaves)
{
    /* Requests below: the write itself unless `back`, and reads for lines that are not here. */
    cr_expect_eq(memory_requests_after_write_and_read(CACHE_WRITE_THROUGH, false, 0xf), 1,
                 "through allocates");
    cr_expect_eq(memory_requests_after_write_and_read(CACHE_WRITE_AROUND, false, 0xf), 2,
                 "around does not");
    cr_expect_eq(memory_requests_after_write_and_read(CACHE_WRITE_AROUND, true, 0xf), 2,
                 "around keeps what is here");
    cr_expect_eq(memory_requests_after_write_and_read(CACHE_WRITE_EVICT, true, 0xf), 3,
                 "evict drops it");
    cr_expect_eq(memory_requests_after_write_and_read(CACHE_WRITE_BACK, false, 0xf), 0,
                 "back keeps it");
    cr_expect_eq(memory_requests_after_write_and_read(CACHE_WRITE_BACK, false, 0x3), 1,
                 "back fetches missing bytes");
}

Test(cache, a_folded_index_spreads_the_lines_of_a_bank)
{
    for (int64_t index = CACHE_INDEX_FOLDED; index <= CACHE_INDEX_PLAIN; index++) {
        struct cache_params params = plain(131072, 16, CACHE_WRITE_BACK);
        params.index = index;
        struct bench b = set_up(params, 3);
        /* Bank 3 of 16 with interleave 128: as many lines as the cache has, twice. */
        for (uint32_t i = 0; i < 4096; i++) {
            uint64_t k = i % 2048, address = (k / 2 * 16 + 3) * 128 + k % 2 * 64;
            send(b.cpu, harness_read(1 + i * 10, (uint16_t)i, address, 4));
        }
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        cr_expect_eq(stats(b)->hits, index == CACHE_INDEX_FOLDED ? 2048 : 0);
    }
}
