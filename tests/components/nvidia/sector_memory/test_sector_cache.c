/* The sector cache through its ports: closed forms for its timing, an independent reference for
 * what it keeps. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <string.h>

#include "base/number.h"
#include "runtime/engine/component_failure.h"
#include "runtime/engine/run_control.h"

#include "sector_cache__generic.c" /* the unit itself: touches are functions inside of it */
#include "sector_messages.h"
#include "sector_reference.h"

enum { TOP, BOTTOM, CONTROL };
enum { BYPASS_NONE = false, BYPASS = true };

static const struct build_port ports[] = {
    {"top", BUILD_IN, false}, {"bottom", BUILD_OUT, false}, {"control", BUILD_IN, false}};
static const char *const parts[] = {"lru"};
static const struct build_type type = {.unit = &sector_cache__generic,
                                       .ports = ports,
                                       .port_count = 3,
                                       .parts = parts,
                                       .part_count = 1};

static uint32_t cache, cpu, memory, control;

/* 4 sets of 2 ways, one sector a bank and cycle. */
static struct sector_cache_params plain(void)
{
    return (struct sector_cache_params){.size = 1024,
                                        .ways = 2,
                                        .latency = 4,
                                        .ports = 1,
                                        .banks = 4,
                                        .mshrs = 8,
                                        .targets = 8,
                                        .allocate = SECTOR_CACHE_ALLOCATE_MISS,
                                        .write = SECTOR_CACHE_WRITE_THROUGH,
                                        .write_miss = SECTOR_CACHE_WRITE_MISS_LAZY,
                                        .atomics = SECTOR_CACHE_ATOMICS_BELOW,
                                        .atomic_rate = 1,
                                        .index = SECTOR_CACHE_INDEX_PLAIN,
                                        .slices = 1,
                                        .interleave = 256,
                                        .sets = 4};
}

static struct sector_cache_params back(void)
{
    struct sector_cache_params k = plain();
    k.write = SECTOR_CACHE_WRITE_BACK;
    k.atomics = SECTOR_CACHE_ATOMICS_HERE;
    return k;
}

static void set_up(struct sector_cache_params k, uint64_t memory_latency)
{
    int64_t values[sizeof k / sizeof(int64_t)];
    k.sets = k.size / (k.ways * 128);
    memcpy(values, &k, sizeof values);
    harness_start();
    cache = build_instance(&type, 0, "cache", values, NULL, ARRAY_COUNT(values));
    cpu = harness_requester();
    control = harness_requester();
    memory = harness_server(memory_latency, sector_answer);
    harness_wire(HARNESS_SECTOR, (struct build_end){cpu, 0, 0}, (struct build_end){cache, TOP, 0},
                 32, (uint32_t)k.ports, 1);
    harness_wire(HARNESS_SECTOR, (struct build_end){cache, BOTTOM, 0},
                 (struct build_end){memory, 0, 0}, 16, 1, 1);
    harness_wire(HARNESS_SECTOR_CONTROL, (struct build_end){control, 0, 0},
                 (struct build_end){cache, CONTROL, 0}, 4, 1, 1);
    harness_build();
}

static const struct sector_cache_stats *stats(void)
{
    return &((const struct sector_cache_io *)harness_instance(cache))->stats;
}

static void send(struct harness_message m)
{
    harness_send(cpu, &m);
}

static void run(void)
{
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    const struct sector_cache_stats *s = stats();
    cr_assert_eq(s->accesses, s->hits + s->pending_hits + s->sector_misses + s->misses);
}

static void command(struct harness_message m)
{
    uint32_t before = harness_count(control);
    harness_send(control, &m);
    run();
    cr_assert_eq(harness_count(control), before + 1);
}

static uint64_t seen(uint16_t tag)
{
    const struct harness_message *m = harness_reply(cpu, tag);
    cr_assert_not_null(m, "no answer to %u", tag);
    return m->cycle;
}

/* Sectors of all messages of a kind that went below. */
static uint32_t below(unsigned kind)
{
    uint32_t sectors = 0;
    for (uint32_t i = 0; i < harness_count(memory); i++)
        if (harness_log(memory, i)->kind == kind)
            sectors += (uint32_t)__builtin_popcount(sector_request_sectors(harness_log(memory, i)));
    return sectors;
}

struct latency_case {
    int64_t latency;
    uint64_t memory;
};

ParameterizedTestParameters(sector_cache, latency_is_latency_plus_one)
{
    static struct latency_case cases[] = {{1, 1}, {1, 100}, {20, 100}, {39, 7}, {187, 300}};
    return cr_make_param_array(struct latency_case, cases, ARRAY_COUNT(cases));
}

/* Wires of one cycle: a hit is seen latency + 1 after it was sent, a miss as much later as memory
 * takes: its latency + 1. */
ParameterizedTest(struct latency_case *p, sector_cache, latency_is_latency_plus_one)
{
    struct sector_cache_params k = plain();
    k.latency = p->latency;
    set_up(k, p->memory);
    send(sector_load(10, 1, 0x80, 1, BYPASS_NONE));
    send(sector_load(1000, 2, 0x80, 1, BYPASS_NONE));
    send(sector_load(2000, 3, 0x80, 3, BYPASS_NONE));
    run();
    uint64_t hit = (uint64_t)p->latency + 1;
    cr_expect_eq(seen(1), 10 + hit + p->memory + 1);
    cr_expect_eq(seen(2), 1000 + hit);
    cr_expect_eq(seen(3), 2000 + hit + p->memory + 1);
    cr_expect_eq(stats()->misses, 1);
    cr_expect_eq(stats()->sector_misses, 1);
    cr_expect_eq(stats()->hits, 2);
}

struct rate_case {
    int64_t ports, banks;
    unsigned sectors;  /* sectors of a load */
    unsigned distance; /* sectors from one load to the next */
    uint64_t cycles;   /* from the first answer of 128 to the last */
};

ParameterizedTestParameters(sector_cache, hits_stream_at_the_rate_of_ports_and_banks)
{
    static struct rate_case cases[] = {
        {1, 4, 15, 4, 127}, /* a line a cycle */
        {1, 1, 15, 4, 508}, /* one bank: a sector a cycle */
        {1, 2, 15, 4, 254}, /* two */
        {1, 1, 1, 4, 127},  /* loads of one sector */
        {4, 4, 1, 1, 31},   /* four ports, four banks in turn */
        {4, 4, 1, 4, 127},  /* four ports, always the same bank */
        {2, 4, 1, 1, 63},   /* two ports */
        {8, 8, 15, 4, 63},  /* eight banks hold two lines */
        {8, 32, 15, 4, 15}, /* 32 hold eight */
    };
    return cr_make_param_array(struct rate_case, cases, ARRAY_COUNT(cases));
}

ParameterizedTest(struct rate_case *p, sector_cache, hits_stream_at_the_rate_of_ports_and_banks)
{
    struct sector_cache_params k = plain();
    k.ports = p->ports;
    k.banks = p->banks;
    set_up(k, 10);
    for (uint16_t i = 0; i < 8; i++)
        send(sector_load(1, i, i * 128u, 15, BYPASS_NONE));
    for (uint16_t i = 0; i < 128; i++) {
        unsigned sector = i * p->distance % 32;
        send(sector_load(500, (uint16_t)(100 + i), sector / 4 * 128u, p->sectors << sector % 4,
                         BYPASS_NONE));
    }
    run();
    cr_expect_eq(seen(100), 500 + 4 + 1);
    cr_expect_eq(seen(227), 500 + 4 + 1 + p->cycles, "%d", (int)(seen(227) - 505));
    cr_expect_eq(stats()->hits, 128 * (unsigned)__builtin_popcount(p->sectors));
}

/* Two ports: a load of the second sector, and one of the first two, which waits for one of its
 * banks. */
Test(sector_cache, a_request_waits_for_all_of_its_banks)
{
    struct sector_cache_params k = plain();
    k.ports = 2;
    set_up(k, 10);
    send(sector_load(1, 0, 0x80, 15, BYPASS_NONE));
    for (uint16_t i = 0; i < 40; i++)
        send(sector_load(500, (uint16_t)(100 + i), 0x80, i % 2 ? 3 : 2, BYPASS_NONE));
    run();
    cr_expect_eq(seen(139), seen(100) + 39);
    cr_expect_eq(stats()->bank_conflicts, 39);
}

Test(sector_cache, loads_of_one_line_share_an_mshr_and_ask_once_for_each_sector)
{
    set_up(plain(), 100);
    send(sector_load(1, 1, 0x100, 1, BYPASS_NONE));
    send(sector_load(2, 2, 0x100, 3, BYPASS_NONE));
    send(sector_load(3, 3, 0x100, 1, BYPASS_NONE));
    send(sector_load(4, 4, 0x100, 12, BYPASS_NONE));
    send(sector_load(5, 5, 0x100, 15, BYPASS_NONE));
    run();
    cr_expect_eq(harness_count(memory), 3);
    cr_expect_eq(below(SECTOR_MEM_LOAD), 4);
    cr_expect_eq(stats()->misses, 1);
    cr_expect_eq(stats()->sector_misses, 3);
    cr_expect_eq(stats()->pending_hits, 6);
    cr_expect_eq(stats()->mshr_occupancy.count, 1);
    /* Each is answered when the last of its own sectors has come. */
    uint64_t first = 1 + 4 + 1 + 101;
    cr_expect_eq(seen(1), first);
    cr_expect_eq(seen(3), first + 1); /* one answer a cycle */
    cr_expect_eq(seen(2), first + 2);
    cr_expect_eq(seen(4), first + 3);
    cr_expect_eq(seen(5), first + 4);
    static const unsigned asked[] = {0, 1, 3, 1, 12, 15};
    for (uint16_t t = 1; t <= 5; t++)
        cr_expect_eq(sector_reply_sectors(harness_reply(cpu, t)), asked[t]);
}

Test(sector_cache, misses_overlap_up_to_the_number_of_mshrs_and_targets)
{
    struct sector_cache_params k = plain();
    k.size = 65536;
    set_up(k, 100);
    for (uint16_t i = 0; i < 64; i++)
        send(sector_load(1, i, i * 128u, 1, BYPASS_NONE));
    for (uint16_t i = 0; i < 20; i++)
        send(sector_load(2000, (uint16_t)(100 + i), 0x100000, 1, BYPASS_NONE));
    run();
    cr_expect_geq(seen(63), 8 * 101);
    cr_expect_leq(seen(63), 8 * 101 + 20);
    cr_expect_eq(stats()->mshr_occupancy.max, 7);
    cr_expect_eq(stats()->pending_hits, 7); /* 8 of 20 waited; the others found it there */
    cr_expect_eq(stats()->hits, 12);
    /* 7 rounds in which one had to wait for an MSHR, and one for a target; the rest waited behind.
     */
    cr_expect_geq(stats()->reservation_fails, 8);
    cr_expect_gt(stats()->blocked, 7 * 90);
}

/* Eight loads of a sector under way are answered with it, one behind the other; without a
 * limit as many as the wire takes. Of several sectors each goes to all eight before the next. */
Test(sector_cache, misses_are_answered_so_many_sectors_a_cycle)
{
    static const struct {
        unsigned sectors;
        int64_t answers;
    } cases[] = {{1, 0}, {1, 1}, {15, 1}, {15, 2}, {7, 2}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct sector_cache_params k = plain();
        k.ports = 4;
        k.answers = cases[i].answers;
        set_up(k, 100);
        for (uint16_t t = 0; t < 8; t++)
            send(sector_load(1, t, 0, (uint8_t)cases[i].sectors, BYPASS_NONE));
        for (uint16_t t = 8; t < 12; t++)
            send(sector_load(2000, t, 0, 1, BYPASS_NONE));
        run();
        for (uint16_t t = 1; t < 8; t++)
            cr_expect_eq(seen(t) - seen(0), t / (uint64_t)(k.answers ? k.answers : 4),
                         "case %zu: %d", i, (int)(seen(t) - seen(0)));
        cr_expect_eq(stats()->pending_hits, 7 * (uint64_t)__builtin_popcount(cases[i].sectors));
        cr_expect_leq(seen(11) - seen(8), 3, "a bank a cycle");
    }
}

/* Answers from below come in cycles in a row. While the requests that wait for the first one are
 * served, the second one's line is there already. */
Test(sector_cache, an_answer_is_taken_beside_those_that_are_served)
{
    struct sector_cache_params k = plain();
    k.answers = 1;
    k.ports = 4;
    set_up(k, 100);
    send(sector_load(1, 0, 0, 1, BYPASS_NONE));
    send(sector_load(1, 8, 0x80, 2, BYPASS_NONE));
    for (uint16_t t = 1; t < 8; t++)
        send(sector_load(2, t, 0, 1, BYPASS_NONE));
    send(sector_load(107, 9, 0x80, 2, BYPASS_NONE));
    run();
    cr_expect_eq(stats()->hits, 1);
    cr_expect_eq(seen(9), 107 + (uint64_t)k.latency + 1);
    cr_expect_eq(seen(8), seen(7) + 1);
    cr_expect_lt(seen(9), seen(8) + 8);
}

/* With a queue of misses each sector is a message, one a cycle; the request is answered once. */
Test(sector_cache, sectors_go_below_each_on_its_own)
{
    static const uint8_t kinds[] = {SECTOR_MEM_LOAD,  SECTOR_MEM_LOAD,   SECTOR_MEM_LOAD,
                                    SECTOR_MEM_LOAD,  SECTOR_MEM_STORE,  SECTOR_MEM_STORE,
                                    SECTOR_MEM_STORE, SECTOR_MEM_ATOMIC, SECTOR_MEM_ATOMIC};
    static const uint8_t sectors[] = {1, 2, 4, 8, 1, 2, 4, 1, 2};
    uint32_t elements = 0;
    struct sector_cache_params k = plain();
    k.miss_queue = 16;
    set_up(k, 100);
    send(sector_load(1, 1, 0x100, 15, BYPASS_NONE));
    send(sector_store(300, 2, 0x300, 7, 2));
    send(sector_atomic(600, 3, 0x500, 3, 9));
    run();
    cr_assert_eq(harness_count(memory), 9);
    for (uint32_t i = 0; i < 9; i++) {
        const struct harness_message *m = harness_log(memory, i);
        cr_expect_eq(m->kind, kinds[i], "message %u", i);
        cr_expect_eq(sector_request_sectors(m), sectors[i], "message %u", i);
        if (m->kind == SECTOR_MEM_STORE)
            cr_expect_eq(sector_request(m).store.partial, sectors[i] & 2);
        if (m->kind == SECTOR_MEM_ATOMIC)
            elements += sector_request(m).atomic.count;
    }
    cr_expect_eq(elements, 9);
    cr_expect_eq(harness_log(memory, 3)->cycle, harness_log(memory, 0)->cycle + 3);
    cr_assert_eq(harness_count(cpu), 3);
    cr_expect_eq(sector_reply_sectors(harness_reply(cpu, 1)), 15);
    cr_expect_eq(sector_reply_sectors(harness_reply(cpu, 3)), 3);
    cr_expect_eq(harness_reply(cpu, 2)->kind, SECTOR_MEM_DONE);
}

/* Lines of four sectors, one a cycle, come faster than they can go below: the lowest bank takes
 * each place in the queue as it becomes free. */
Test(sector_cache, lower_banks_join_the_queue_of_misses_first)
{
    uint32_t last_of_first_bank = 0, second_of_second_bank = 0, seconds = 0;
    struct sector_cache_params k = plain();
    k.size = 65536;
    k.mshrs = 64;
    k.latency = 8;
    k.miss_queue = 4;
    set_up(k, 400);
    for (uint16_t t = 0; t < 8; t++)
        send(sector_load(1, t, t * 128u, 15, BYPASS_NONE));
    run();
    cr_assert_eq(harness_count(memory), 32);
    for (uint32_t i = 0; i < 32; i++) {
        unsigned sector = sector_request_sectors(harness_log(memory, i));
        last_of_first_bank = sector == 1 ? i : last_of_first_bank;
        if (sector == 2 && ++seconds == 2)
            second_of_second_bank = i;
    }
    cr_expect_lt(last_of_first_bank, second_of_second_bank);
}

/* Two may wait for a sector. The third of one waits, two of another sector of the line do not;
 * MSHRs are counted in sectors, too. */
Test(sector_cache, merges_are_limited_by_sector)
{
    static const struct {
        uint8_t third;
        int64_t mshrs;
        bool waits;
    } cases[] = {{1, 8, true}, {2, 8, false}, {4, 8, false}, {2, 1, true}, {3, 8, true}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct sector_cache_params k = plain();
        k.targets = 2;
        k.mshrs = cases[i].mshrs;
        set_up(k, 100);
        for (uint16_t t = 0; t < 2; t++)
            send(sector_load(1, t, 0, 1, BYPASS_NONE));
        send(sector_load(1, 2, 0, cases[i].third, BYPASS_NONE));
        run();
        cr_expect_eq(stats()->reservation_fails, cases[i].waits, "case %zu", i);
    }
}

/* All ways of a set under way: `miss` waits for one, `fill` does not. */
Test(sector_cache, lines_under_way_hold_their_ways_only_if_allocated_on_miss)
{
    for (int64_t allocate = SECTOR_CACHE_ALLOCATE_MISS; allocate <= SECTOR_CACHE_ALLOCATE_STREAMING;
         allocate++) {
        struct sector_cache_params k = plain();
        k.allocate = allocate;
        k.mshrs = 4;
        set_up(k, 100);
        for (uint16_t i = 0; i < 6; i++)
            send(sector_load(1, i, i * 512u, 1, BYPASS_NONE));
        run();
        uint64_t rounds = allocate == SECTOR_CACHE_ALLOCATE_MISS   ? 3
                          : allocate == SECTOR_CACHE_ALLOCATE_FILL ? 2
                                                                   : 1;
        cr_expect_geq(seen(5), rounds * 101, "policy %d: %d", (int)allocate, (int)seen(5));
        cr_expect_lt(seen(5), rounds * 101 + 25, "policy %d: %d", (int)allocate, (int)seen(5));
        cr_expect_eq(stats()->evictions, 4);
        cr_expect_eq(stats()->misses, 6);
        send(sector_load(2000, 9, 5 * 512u, 1, BYPASS_NONE));
        run();
        cr_expect_eq(stats()->hits, 1);
    }
}

/* ---- what it keeps, against the reference ---- */

/* One after the other, so that nothing is under way. */
struct shape_case {
    int64_t size, ways, write, write_miss, allocate, index, slices, interleave;
    unsigned footprint; /* lines */
};

enum { THROUGH = SECTOR_CACHE_WRITE_THROUGH, BACK = SECTOR_CACHE_WRITE_BACK };
enum { AROUND, LAZY, FETCH };
enum { MISS, FILL, STREAMING };
enum { PLAIN, FOLDED, POLYNOMIAL };

static struct shape_case shapes[] = {
    {1024, 2, THROUGH, AROUND, MISS, PLAIN, 1, 256, 20},
    {1024, 2, THROUGH, LAZY, MISS, PLAIN, 1, 256, 20},
    {1024, 1, THROUGH, LAZY, FILL, FOLDED, 1, 256, 20},
    {4096, 4, THROUGH, LAZY, STREAMING, FOLDED, 1, 256, 60},
    {3072, 3, THROUGH, AROUND, FILL, PLAIN, 1, 256, 40},
    {2048, 16, BACK, LAZY, MISS, PLAIN, 1, 256, 30},
    {4096, 2, BACK, LAZY, MISS, POLYNOMIAL, 1, 256, 60},
    {8192, 4, BACK, LAZY, FILL, POLYNOMIAL, 4, 256, 400},
    {8192, 4, BACK, FETCH, MISS, POLYNOMIAL, 8, 512, 500},
    {6144, 24, BACK, FETCH, MISS, PLAIN, 1, 256, 90},
    {12288, 6, BACK, LAZY, MISS, FOLDED, 2, 128, 300},
    {1024, 8, BACK, LAZY, STREAMING, PLAIN, 1, 256, 20},
    {5 * 256, 2, BACK, LAZY, MISS, PLAIN, 1, 256, 20}, /* five sets */
};

ParameterizedTestParameters(sector_cache, keeps_what_the_reference_keeps)
{
    return cr_make_param_array(struct shape_case, shapes, ARRAY_COUNT(shapes));
}

static struct sector_cache_params shaped(const struct shape_case *p)
{
    struct sector_cache_params k = p->write == SECTOR_CACHE_WRITE_BACK ? back() : plain();
    k.size = p->size;
    k.ways = p->ways;
    k.write_miss = p->write_miss;
    k.allocate = p->allocate;
    k.index = p->index;
    k.slices = p->slices;
    k.interleave = p->interleave;
    return k;
}

/* Request number i of a random stream. */
struct random_request {
    unsigned kind; /* enum sector_mem_request_kind */
    uint64_t number;
    unsigned sectors, partial;
};

static struct random_request random_request(uint64_t *seed, const struct shape_case *p)
{
    uint64_t z = harness_random(seed);
    unsigned what = z >> 32 & 15;
    bool copies = p->write == SECTOR_CACHE_WRITE_BACK;
    return (struct random_request){what < 8               ? SECTOR_MEM_LOAD
                                   : what < 14            ? SECTOR_MEM_STORE
                                   : what < 15 || !copies ? SECTOR_MEM_ATOMIC
                                                          : SECTOR_MEM_FILL,
                                   z % p->footprint, (z >> 20 & 15) ? z >> 20 & 15 : 1,
                                   z >> 24 & 15};
}

static struct harness_message message_of(const struct random_request *r, uint64_t cycle,
                                         uint16_t tag)
{
    switch (r->kind) {
    case SECTOR_MEM_LOAD:
        return sector_load(cycle, tag, r->number * 128, r->sectors, BYPASS_NONE);
    case SECTOR_MEM_STORE:
        return sector_store(cycle, tag, r->number * 128, r->sectors, r->partial);
    case SECTOR_MEM_ATOMIC:
        return sector_atomic(cycle, tag, r->number * 128, r->sectors, 5);
    default:
        return sector_fill(cycle, tag, r->number * 128, r->sectors);
    }
}

static void reference_request(struct reference *r, const struct random_request *m)
{
    if (m->kind == SECTOR_MEM_LOAD)
        reference_load(r, m->number, m->sectors);
    else if (m->kind == SECTOR_MEM_STORE)
        reference_store(r, m->number, m->sectors, m->partial & m->sectors);
    else if (m->kind == SECTOR_MEM_ATOMIC)
        reference_atomic(r, m->number, m->sectors);
    else
        reference_fill(r, m->number, m->sectors);
}

static void expect_counts(const struct reference_counts *want, bool writes_back)
{
    const struct sector_cache_stats *s = stats();
    uint32_t partial = 0;
    cr_expect_eq(s->hits, want->hits, "hits %d, not %d", (int)s->hits, (int)want->hits);
    cr_expect_eq(s->sector_misses, want->sector_misses);
    cr_expect_eq(s->misses, want->misses);
    cr_expect_eq(s->evictions, want->evictions, "evictions %d, not %d", (int)s->evictions,
                 (int)want->evictions);
    cr_expect_eq(s->writebacks, want->writebacks);
    cr_expect_eq(s->fetches, want->fetches);
    cr_expect_eq(s->passed, want->passed);
    cr_expect_eq(s->pending_hits, 0);
    cr_expect_eq(below(SECTOR_MEM_LOAD), want->fetches);
    for (uint32_t i = 0; i < harness_count(memory) && writes_back; i++) {
        struct sector_mem_request m = sector_request(harness_log(memory, i));
        if (harness_log(memory, i)->kind == SECTOR_MEM_STORE)
            partial += (uint32_t)__builtin_popcount(m.store.partial);
    }
    cr_expect_eq(partial, writes_back ? want->dirty_partial : 0);
}

static void start_reference(struct reference *r, const struct shape_case *p)
{
    bool writes_back = p->write == SECTOR_CACHE_WRITE_BACK;
    reference_start(
        r, (struct reference_shape){(unsigned)(p->size / p->ways / 128), (unsigned)p->ways,
                                    (enum reference_index)p->index, (unsigned)p->slices,
                                    (unsigned)p->interleave, writes_back,
                                    p->write_miss != SECTOR_CACHE_WRITE_MISS_AROUND,
                                    p->write_miss == SECTOR_CACHE_WRITE_MISS_FETCH, writes_back});
}

ParameterizedTest(struct shape_case *p, sector_cache, keeps_what_the_reference_keeps)
{
    static struct reference r;
    bool writes_back = p->write == SECTOR_CACHE_WRITE_BACK;
    uint64_t seed = (uint64_t)p->size + (uint64_t)p->footprint;
    set_up(shaped(p), 3);
    start_reference(&r, p);
    for (uint32_t i = 0; i < 6000; i++) {
        struct random_request m = random_request(&seed, p);
        send(message_of(&m, 1 + i * 40, (uint16_t)i));
        reference_request(&r, &m);
    }
    run();
    cr_expect_eq(harness_count(cpu), 6000);
    if (writes_back) {
        cr_expect_gt(stats()->writebacks, 0);
        command(sector_flush(0, true));
        reference_flush(&r);
    }
    expect_counts(&r.counts, writes_back);
}

ParameterizedTestParameters(sector_cache, touches_leave_what_requests_leave)
{
    return cr_make_param_array(struct shape_case, shapes, ARRAY_COUNT(shapes));
}

/* A stream is touched, another one goes through time: its counts are those of the reference, which
 * saw both. And what touching says would go below is what the reference sends. */
ParameterizedTest(struct shape_case *p, sector_cache, touches_leave_what_requests_leave)
{
    static struct reference r;
    bool writes_back = p->write == SECTOR_CACHE_WRITE_BACK;
    uint64_t seed = (uint64_t)p->size + (uint64_t)p->footprint;
    struct reference_counts went = {0};
    set_up(shaped(p), 3);
    start_reference(&r, p);
    for (uint32_t i = 0; i < 3000; i++) {
        struct random_request m = random_request(&seed, p);
        struct sector_touched t =
            sector_cache_touch(harness_instance(cache), (enum sector_mem_request_kind)m.kind,
                               m.number * 128, m.sectors, m.partial);
        reference_request(&r, &m);
        went.fetches += (unsigned)__builtin_popcount(t.load);
        went.writebacks += (unsigned)__builtin_popcount(t.evicted_sectors);
        went.dirty_partial += (unsigned)__builtin_popcount(t.evicted_partial);
        went.passed += (unsigned)__builtin_popcount(t.atomic);
        cr_assert_eq(t.store, !writes_back && m.kind == SECTOR_MEM_STORE ? m.sectors : 0);
    }
    cr_expect_eq(went.fetches, r.counts.fetches);
    cr_expect_eq(went.writebacks, r.counts.writebacks);
    cr_expect_eq(went.dirty_partial, r.counts.dirty_partial);
    cr_expect_eq(went.passed, r.counts.passed);
    r.counts = (struct reference_counts){0};
    for (uint32_t i = 0; i < 1000; i++) {
        struct random_request m = random_request(&seed, p);
        send(message_of(&m, 1 + i * 40, (uint16_t)i));
        reference_request(&r, &m);
    }
    run();
    if (writes_back) {
        command(sector_flush(0, true));
        reference_flush(&r);
    }
    expect_counts(&r.counts, writes_back);
}

/* The same by pieces of 64 bytes as components/sampling/warmup.h has them: tags, sectors and what
 * went below are those of touching the two halves of each request. */
Test(sector_cache, pieces_of_64_bytes_are_touches_of_two_sectors)
{
    enum { REQUESTS = 2000 };
    static struct sector_line lines[2][64];
    static uint64_t tags[2][64];
    static const uint8_t kinds[] = {[SECTOR_MEM_LOAD] = WARM_READ,
                                    [SECTOR_MEM_STORE] = WARM_WRITE,
                                    [SECTOR_MEM_ATOMIC] = WARM_ATOMIC,
                                    [SECTOR_MEM_FILL] = WARM_FILL};
    const struct shape_case *p = &shapes[6];
    uint64_t below[WARM_KINDS] = {0};
    for (unsigned turn = 0; turn < 2; turn++) {
        uint64_t seed = 11;
        set_up(shaped(p), 3);
        struct sector_cache *c = harness_instance(cache);
        warm_clear_counts();
        for (uint32_t i = 0; i < REQUESTS; i++) {
            struct random_request m = random_request(&seed, p);
            for (unsigned half = 0; half < 2; half++) {
                unsigned two = m.sectors >> (2 * half) & 3, part = m.partial >> (2 * half) & two;
                struct warm_access a = {.address = m.number * 128 + half * 64,
                                        .physical = m.number * 128 + half * 64,
                                        .kind = kinds[m.kind]};
                for (unsigned s = 0; s < 2; s++)
                    if (two >> s & 1)
                        a.mask |= (part >> s & 1 ? (uint64_t)0xff0 : UINT32_MAX) << (32 * s);
                if (turn && a.mask)
                    sector_cache_warm_ops.touch(&c->io.base, &a);
                if (turn || !two)
                    continue;
                struct sector_touched t =
                    sector_cache_touch(c, (enum sector_mem_request_kind)m.kind, m.number * 128,
                                       two << (2 * half), part << (2 * half));
                below[WARM_READ] += t.load != 0;
                below[WARM_WRITE] += (t.evicted_sectors & 3) != 0;
                below[WARM_WRITE] += (t.evicted_sectors & 12) != 0;
            }
        }
        memcpy(lines[turn], sector_line_at(c, 0), sizeof lines[turn][0] * 32);
        memcpy(tags[turn], sector_tag_at(c, 0), sizeof tags[turn][0] * 32);
    }
    cr_expect_arr_eq(lines[1], lines[0], sizeof lines[0][0] * 32);
    cr_expect_arr_eq(tags[1], tags[0], sizeof tags[0][0] * 32);
    cr_expect_gt(below[WARM_WRITE], 0);
    cr_expect_eq(warm_counts()[WARM_READ], below[WARM_READ]);
    cr_expect_eq(warm_counts()[WARM_WRITE], below[WARM_WRITE]);
}

/* Half of the cache becomes shared memory: of two lines of a set that were here one is not kept. */
Test(sector_cache, carving_without_time_takes_ways)
{
    const uint64_t lines[] = {0, 4, 0, 4}; /* all in one of the 4 sets */
    for (uint32_t carved = 0; carved < 2; carved++) {
        set_up(back(), 3);
        struct sector_cache *c = harness_instance(cache);
        sector_cache_touch(c, SECTOR_MEM_LOAD, 0, SECTOR_ALL, 0);
        sector_cache_warm_ops.carve(&c->io.base, carved * 512);
        unsigned fetched = 0;
        for (unsigned i = 0; i < ARRAY_COUNT(lines); i++)
            fetched += sector_cache_touch(c, SECTOR_MEM_LOAD, lines[i] * 128, 1, 0).load;
        cr_expect_eq(fetched, carved ? 4 : 2);
    }
}

/* ---- everything at once ---- */

static uint64_t hash_of_log(void)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < harness_count(cpu); i++) {
        const struct harness_message *m = harness_log(cpu, i);
        hash = (hash ^ (m->cycle * 65536 + m->tag)) * 0x9e3779b97f4a7c15u;
    }
    return hash;
}

static void send_dense(uint32_t count)
{
    uint64_t seed = 7;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t z = harness_random(&seed), address = z % 40 * 128;
        unsigned sectors = (z >> 20 & 15) ? z >> 20 & 15 : 2, what = z >> 32 & 15;
        if (what < 9)
            send(sector_load(1, (uint16_t)i, address, sectors, what == 8));
        else if (what < 14)
            send(sector_store(1, (uint16_t)i, address, sectors, z >> 24 & 15));
        else if (what < 15)
            send(sector_atomic(1, (uint16_t)i, address, sectors, 1 + (z >> 40 & 31)));
        else
            send(sector_fill(1, (uint16_t)i, address, sectors));
    }
}

struct dense_case {
    int64_t write, allocate, write_miss, mshrs, targets, ports;
};

ParameterizedTestParameters(sector_cache, dense_traffic_is_answered_once_in_any_tick_order)
{
    static struct dense_case cases[] = {
        {SECTOR_CACHE_WRITE_THROUGH, SECTOR_CACHE_ALLOCATE_MISS, SECTOR_CACHE_WRITE_MISS_LAZY, 8, 8,
         1},
        {SECTOR_CACHE_WRITE_THROUGH, SECTOR_CACHE_ALLOCATE_FILL, SECTOR_CACHE_WRITE_MISS_LAZY, 3, 2,
         4},
        {SECTOR_CACHE_WRITE_THROUGH, SECTOR_CACHE_ALLOCATE_STREAMING,
         SECTOR_CACHE_WRITE_MISS_AROUND, 1, 1, 2},
        {SECTOR_CACHE_WRITE_BACK, SECTOR_CACHE_ALLOCATE_MISS, SECTOR_CACHE_WRITE_MISS_LAZY, 8, 4,
         1},
        {SECTOR_CACHE_WRITE_BACK, SECTOR_CACHE_ALLOCATE_FILL, SECTOR_CACHE_WRITE_MISS_FETCH, 2, 1,
         2},
        {SECTOR_CACHE_WRITE_BACK, SECTOR_CACHE_ALLOCATE_MISS, SECTOR_CACHE_WRITE_MISS_FETCH, 1, 1,
         1},
    };
    return cr_make_param_array(struct dense_case, cases, ARRAY_COUNT(cases));
}

ParameterizedTest(struct dense_case *p, sector_cache,
                  dense_traffic_is_answered_once_in_any_tick_order)
{
    static const int orders[] = {ENGINE_ASCENDING, ENGINE_DESCENDING, ENGINE_RANDOM};
    enum { COUNT = 4000 };
    uint64_t hash = 0;
    struct sector_cache_stats first = {0};
    for (int turn = 0; turn < 4; turn++) {
        static uint8_t answered[COUNT];
        bool writes_back = p->write == SECTOR_CACHE_WRITE_BACK;
        struct sector_cache_params k = writes_back ? back() : plain();
        k.allocate = p->allocate;
        k.write_miss = p->write_miss;
        k.mshrs = p->mshrs;
        k.targets = p->targets;
        k.ports = p->ports;
        k.latency = 1 + 5 * p->ports;
        set_up(k, 37);
        harness_tick_order(orders[turn % 3], turn == 3);
        send_dense(COUNT);
        run();
        if (writes_back)
            command(sector_flush(0, true));
        memset(answered, 0, sizeof answered);
        for (uint32_t i = 0; i < harness_count(cpu); i++)
            answered[harness_log(cpu, i)->tag]++;
        for (uint32_t i = 0; i < COUNT; i++)
            cr_assert_eq(answered[i], 1, "request %u has %u answers", i, answered[i]);
        cr_expect_eq(below(SECTOR_MEM_LOAD) + below(SECTOR_MEM_ATOMIC),
                     stats()->fetches + stats()->passed);
        cr_expect_eq(below(SECTOR_MEM_STORE),
                     writes_back ? stats()->writebacks : stats()->store_accesses);
        cr_expect_gt(stats()->pending_hits, 0);
        if (!turn) {
            hash = hash_of_log();
            first = *stats();
        }
        cr_expect_eq(hash_of_log(), hash, "turn %d", turn);
        cr_expect_arr_eq(stats(), &first, sizeof first, "turn %d", turn);
    }
}

/* ---- control, atomics, copies ---- */

Test(sector_cache, a_flush_writes_what_is_dirty_and_an_invalidation_forgets)
{
    set_up(back(), 20);
    send(sector_store(1, 1, 0x000, 5, 4));
    send(sector_store(2, 2, 0x480, 8, 0));
    send(sector_load(3, 3, 0x900, 1, BYPASS_NONE));
    run();
    command(sector_flush(0, false));
    cr_expect_eq(stats()->writebacks, 3);
    cr_expect_eq(below(SECTOR_MEM_STORE), 3);
    send(sector_load(1000, 4, 0x000, 1, BYPASS_NONE));
    send(sector_load(1001, 5, 0x000, 4, BYPASS_NONE)); /* written in part: fetched */
    run();
    cr_expect_eq(stats()->hits, 1);
    cr_expect_eq(stats()->sector_misses, 2); /* the store had one */
    command(sector_flush(0, false));
    cr_expect_eq(stats()->writebacks, 3); /* nothing is dirty any more */
    command(sector_invalidate(0));
    send(sector_load(3000, 6, 0x000, 1, BYPASS_NONE));
    run();
    cr_expect_eq(stats()->misses, 4);
}

Test(sector_cache, an_invalidation_that_would_lose_stores_is_an_error)
{
    set_up(back(), 20);
    send(sector_store(1, 1, 0x000, 1, 0));
    run();
    struct harness_message m = sector_invalidate(0);
    harness_send(control, &m);
    cr_expect_eq(harness_run(), ENGINE_FAILED);
    cr_expect_not_null(strstr(engine_failure(), "flush first"));
    engine_clear_failure();
}

Test(sector_cache, a_request_of_no_sectors_is_an_error)
{
    set_up(back(), 20);
    send(sector_load(1, 1, 0x080, 0, BYPASS_NONE));
    cr_expect_eq(harness_run(), ENGINE_FAILED);
    cr_expect_not_null(strstr(engine_failure(), "no sectors"));
    engine_clear_failure();
}

/* 2 KiB of 4 KiB become shared memory: half of the ways are left. */
Test(sector_cache, shared_memory_takes_whole_ways)
{
    struct sector_cache_params k = plain();
    k.size = 4096;
    k.ways = 4;
    set_up(k, 10);
    for (uint16_t round = 0; round < 2; round++)
        for (uint16_t i = 0; i < 4; i++)
            send(sector_load(1 + round * 200u, (uint16_t)(round * 4 + i), i * 1024u, 1,
                             BYPASS_NONE));
    run();
    cr_expect_eq(stats()->hits, 4);
    command(sector_carve_message(0, 1025)); /* a way has 1 KiB */
    for (uint16_t round = 0; round < 2; round++)
        for (uint16_t i = 0; i < 3; i++)
            send(sector_load(2000 + round * 200u + i * 20u, (uint16_t)(20 + round * 4 + i),
                             i * 1024u, 1, BYPASS_NONE));
    run();
    cr_expect_eq(stats()->hits, 4); /* three lines in two ways, oldest first: none is found again */
    command(sector_carve_message(0, 0));
    for (uint16_t round = 0; round < 2; round++)
        for (uint16_t i = 0; i < 4; i++)
            send(sector_load(4000 + round * 200u, (uint16_t)(40 + round * 4 + i), i * 1024u, 1,
                             BYPASS_NONE));
    run();
    cr_expect_eq(stats()->hits, 8);
    command(sector_carve_message(0, 4096));
    send(sector_load(6000, 60, 0, 1, BYPASS_NONE));
    cr_expect_eq(harness_run(), ENGINE_FAILED);
    cr_expect_not_null(strstr(engine_failure(), "shared memory has taken all ways"));
    engine_clear_failure();
}

struct atomic_case {
    unsigned sectors, count;
    int64_t rate;
    uint64_t cycles; /* cycles of the bank, each */
};

ParameterizedTestParameters(sector_cache, atomics_keep_their_banks_busy)
{
    static struct atomic_case cases[] = {{1, 1, 1, 1},   {1, 32, 1, 32}, {1, 32, 4, 8},
                                         {15, 32, 1, 8}, {3, 5, 2, 2},   {1, 1, 32, 1}};
    return cr_make_param_array(struct atomic_case, cases, ARRAY_COUNT(cases));
}

ParameterizedTest(struct atomic_case *p, sector_cache, atomics_keep_their_banks_busy)
{
    struct sector_cache_params k = back();
    k.atomic_rate = p->rate;
    set_up(k, 10);
    send(sector_load(1, 1, 0x80, 15, BYPASS_NONE));
    for (uint16_t i = 0; i < 10; i++)
        send(sector_atomic(100, (uint16_t)(10 + i), 0x80, p->sectors, p->count));
    run();
    cr_expect_eq(seen(19), 100 + 5 + 9 * p->cycles);
    cr_expect_eq(stats()->atomics_done, 10 * p->count);
    cr_expect_eq(stats()->atomic_requests, 10);
    command(sector_flush(0, false));
    cr_expect_eq(stats()->writebacks, (unsigned)__builtin_popcount(p->sectors));
}

Test(sector_cache, loads_past_it_and_atomics_below_leave_no_copy)
{
    set_up(plain(), 10);
    send(sector_load(1, 1, 0x80, 3, BYPASS_NONE));
    send(sector_load(100, 2, 0x80, 3, BYPASS));
    send(sector_load(200, 3, 0x1080, 3, BYPASS));
    send(sector_load(300, 4, 0x1080, 3, BYPASS_NONE)); /* not here */
    send(sector_atomic(400, 5, 0x80, 1, 3));
    send(sector_load(500, 6, 0x80, 3, BYPASS_NONE)); /* half of it is stale */
    run();
    cr_expect_eq(stats()->passed, 5);
    cr_expect_eq(stats()->misses, 2);
    cr_expect_eq(stats()->hits, 1);
    cr_expect_eq(stats()->sector_misses, 3);
    cr_expect_eq(seen(3), 200 + 4 + 1 + 11);
    cr_expect_eq(sector_reply_sectors(harness_reply(cpu, 5)), 1);
    cr_expect_eq(below(SECTOR_MEM_ATOMIC), 1);
}

Test(sector_cache, copies_of_the_host_fill_the_first_shared_cache_clean)
{
    set_up(back(), 10);
    send(sector_store(1, 1, 0x80, 1, 0));
    send(sector_fill(100, 2, 0x80, 15));
    send(sector_load(200, 3, 0x80, 15, BYPASS_NONE));
    run();
    command(sector_flush(0, false));
    cr_expect_eq(stats()->hits, 4);
    cr_expect_eq(stats()->filled, 4);
    cr_expect_eq(stats()->writebacks, 0);
    cr_expect_eq(harness_count(memory), 0);
    set_up(plain(), 10); /* not a shared one */
    send(sector_fill(100, 2, 0x80, 15));
    run();
    cr_expect_eq(stats()->filled, 0);
    cr_expect_eq(below(SECTOR_MEM_FILL), 4);
}
