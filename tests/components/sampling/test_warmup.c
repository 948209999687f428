/* Touching caches and TLBs (components/sampling/warmup.h) against two oracles: the same accesses
 * sent as messages, one after the other, and a naive model of a cache with a list in order of use.
 * What is compared is everything that a state can show: which of a long row of reads behind it hit.
 */
#include "tlb.gen.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <string.h>

#include "base/number.h"
#include "components/protocols/translate/translated_page.h"
#include "components/sampling/warmup.h"
#include "runtime/engine/run_control.h"
#include "tests/components/memory/cache_types.h"
#include "tests/components/translations.h"

extern const struct unit_type tlb__generic;

enum { LINES = 96, ACCESSES = 400, PROBES = 200, WAYS_MAX = 20, SETS = 4, GAP = 400 };

struct warm_case {
    int64_t write, ways;
    bool shared;
};

static uint32_t cache, cpu, memory;
static uint64_t sent_until; /* cycle of the last message */

static void set_up_cache(const struct warm_case *p)
{
    struct cache_params params = {.size = SETS * p->ways * 64,
                                  .ways = p->ways,
                                  .line = 64,
                                  .above = 64,
                                  .below = 64,
                                  .latency = 4,
                                  .ports = 1,
                                  .mshrs = 8,
                                  .targets = 8,
                                  .write = p->write,
                                  .index = CACHE_INDEX_FOLDED,
                                  .shared = p->shared,
                                  .sets = SETS};
    int64_t values[sizeof params / sizeof(int64_t)];
    memcpy(values, &params, sizeof params);
    harness_start();
    cache = build_instance(&cache_type, 0, "cache", values, NULL, ARRAY_COUNT(values));
    cpu = harness_requester();
    memory = harness_server(20, harness_answer_memory);
    harness_wire(HARNESS_MEM, (struct build_end){cpu, 0, 0}, (struct build_end){cache, TOP, 0}, 32,
                 1, 1);
    harness_wire(HARNESS_MEM, (struct build_end){cache, BOTTOM, 0},
                 (struct build_end){memory, 0, 0}, 16, 1, 1);
    harness_build();
    sent_until = 0;
}

/* ---- accesses ---- */

struct access {
    enum warm_kind kind;
    uint64_t address, mask;
};

static struct access random_access(uint64_t *seed)
{
    static const enum warm_kind kinds[] = {WARM_READ,  WARM_READ,  WARM_READ,  WARM_COHERENT,
                                           WARM_WRITE, WARM_WRITE, WARM_ATOMIC};
    uint64_t r = harness_random(seed);
    struct access a = {.kind = kinds[r % 7], .address = (r >> 8) % LINES * 64, .mask = UINT64_MAX};
    if (a.kind == WARM_ATOMIC)
        a.mask = 0xf;
    else if (a.kind == WARM_WRITE && (r >> 32) % 2)
        a.mask = r >> 40 & 1 ? 0xffffffff : 0xffffffff00000000;
    return a;
}

static void send_access(const struct access *a, uint16_t tag)
{
    static const uint8_t bytes[64] = {1};
    struct harness_message m = harness_read(0, tag, a->address, 64);
    if (a->kind == WARM_WRITE)
        m = harness_write(0, tag, a->address, a->mask, bytes);
    else if (a->kind == WARM_ATOMIC)
        m = harness_atomic(0, tag, a->address, a->mask, ATOMIC_OP_ADD, 4, bytes, bytes);
    else if (a->kind == WARM_COHERENT)
        m = harness_coherent_read(0, tag, a->address, 64);
    m.cycle = sent_until += GAP;
    harness_send(cpu, &m);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
}

static void touch(const struct access *a)
{
    struct warm_access access = {.address = a->address,
                                 .physical = a->address,
                                 .mask = a->mask,
                                 .pid = 1,
                                 .kind = (uint8_t)a->kind,
                                 .page_bits = 12,
                                 .fragment_bits = 12,
                                 .writable = true};
    warm_pass(0, &access); /* the first ring: from the requester */
}

/* ---- the model: ways in order of use ---- */

struct model_line {
    uint64_t number, bytes;
    bool used, whole;
};

struct model {
    const struct warm_case *p;
    struct model_line set[SETS][WAYS_MAX]; /* the most recent one first */
};

static unsigned model_set(uint64_t number)
{
    for (unsigned shift = 2; shift < 64; shift *= 2)
        number ^= number >> shift;
    return number % SETS;
}

/* Moves the line to the front; a new one takes the place of the last. NULL: not there. */
static struct model_line *model_use(struct model *m, uint64_t number, bool make)
{
    struct model_line *set = m->set[model_set(number)], found = {.number = number, .used = true};
    int64_t i = 0;
    while (i < m->p->ways && !(set[i].used && set[i].number == number))
        i++;
    if (i == m->p->ways) {
        if (!make)
            return NULL;
        i--;
    } else {
        found = set[i];
    }
    memmove(set + 1, set, (size_t)i * sizeof *set);
    set[0] = found;
    return set;
}

static void model_remove(struct model *m, uint64_t number)
{
    struct model_line *set = m->set[model_set(number)], *line = model_use(m, number, false);
    if (line) { /* what is free goes first */
        memmove(set, set + 1, (size_t)(m->p->ways - 1) * sizeof *set);
        set[m->p->ways - 1] = (struct model_line){.used = false};
    }
}

/* Was it a hit? */
static bool model_read(struct model *m, uint64_t number)
{
    struct model_line *line = model_use(m, number, false);
    bool hit = line && line->whole;
    line = line ? line : model_use(m, number, true);
    line->whole = true;
    return hit;
}

static void model_write(struct model *m, uint64_t number, uint64_t mask)
{
    bool allocates = m->p->write == CACHE_WRITE_BACK || m->p->write == CACHE_WRITE_THROUGH;
    if (m->p->write == CACHE_WRITE_EVICT) {
        model_remove(m, number);
        return;
    }
    struct model_line *line = model_use(m, number, allocates);
    if (line && allocates) {
        line->bytes |= mask;
        line->whole |= line->bytes == UINT64_MAX;
    }
}

static void model_access(struct model *m, const struct access *a)
{
    uint64_t number = a->address / 64;
    bool back = m->p->write == CACHE_WRITE_BACK;
    if (a->kind == WARM_WRITE)
        model_write(m, number, a->mask);
    else if (a->kind == WARM_READ || back || (a->kind == WARM_COHERENT && m->p->shared))
        model_read(m, number);
    else
        model_remove(m, number);
}

/* ---- tests ---- */

ParameterizedTestParameters(warmup, touches_leave_what_messages_leave)
{
    static struct warm_case cases[] = {
        {CACHE_WRITE_BACK, 1, false},   {CACHE_WRITE_BACK, 4, false},
        {CACHE_WRITE_BACK, 16, false},  {CACHE_WRITE_BACK, 20, false},
        {CACHE_WRITE_THROUGH, 4, true}, {CACHE_WRITE_THROUGH, 4, false},
        {CACHE_WRITE_AROUND, 2, false}, {CACHE_WRITE_AROUND, 16, false},
        {CACHE_WRITE_EVICT, 4, false}};
    return cr_make_param_array(struct warm_case, cases, ARRAY_COUNT(cases));
}

static const struct cache_stats *stats(void)
{
    return &((const struct cache_io *)harness_instance(cache))->stats;
}

/* Reads, one after the other: bit i of the row says whether read i hit. */
static void probe(uint8_t row[PROBES])
{
    uint64_t seed = 77;
    for (uint16_t i = 0; i < PROBES; i++) {
        struct access a = {WARM_READ, harness_random(&seed) % LINES * 64, UINT64_MAX};
        uint64_t before = stats()->hits;
        send_access(&a, i);
        row[i] = (uint8_t)(stats()->hits - before);
    }
}

ParameterizedTest(struct warm_case *p, warmup, touches_leave_what_messages_leave)
{
    static uint8_t by_messages[PROBES], by_touches[PROBES];
    struct model model = {.p = p};
    uint64_t seed = 5, hits = 0;
    set_up_cache(p);
    for (uint16_t i = 0; i < ACCESSES; i++) {
        struct access a = random_access(&seed);
        send_access(&a, i);
        model_access(&model, &a);
    }
    probe(by_messages);
    set_up_cache(p);
    seed = 5;
    for (uint32_t i = 0; i < ACCESSES; i++) {
        struct access a = random_access(&seed);
        touch(&a);
    }
    cr_expect_eq(stats()->hits + stats()->misses + stats()->writes, 0, "a touch is counted");
    cr_expect_eq(harness_count(memory), 0, "a touch sent a message");
    probe(by_touches);
    seed = 77;
    for (uint32_t i = 0; i < PROBES; i++) {
        bool expected = model_read(&model, harness_random(&seed) % LINES);
        cr_expect_eq(by_touches[i], expected, "read %u hits: %d, model %d", i, by_touches[i],
                     expected);
        cr_expect_eq(by_messages[i], expected, "read %u hits: %d behind messages, model %d", i,
                     by_messages[i], expected);
        hits += expected;
    }
    cr_expect(hits > PROBES / 20 && hits < PROBES, "%d of the reads hit: nothing to compare",
              (int)hits);
}

Test(warmup, what_reaches_memory_is_counted_by_kind)
{
    const struct warm_case p = {CACHE_WRITE_AROUND, 4, false};
    const struct access first = {WARM_READ, 0, UINT64_MAX}, write = {WARM_WRITE, 64, 0xff};
    set_up_cache(&p);
    warm_clear_counts();
    touch(&first);
    touch(&first);
    touch(&write);
    cr_expect_eq(warm_counts()[WARM_READ], 1);
    cr_expect_eq(warm_counts()[WARM_WRITE], 1);
}

Test(warmup, dropped_lines_are_gone)
{
    const struct warm_case p = {CACHE_WRITE_BACK, 4, false};
    const struct access read = {WARM_READ, 0, UINT64_MAX}, write = {WARM_WRITE, 64, UINT64_MAX};
    set_up_cache(&p);
    touch(&read);
    touch(&write);
    warm_drop_all();
    warm_clear_counts();
    touch(&read);
    cr_expect_eq(warm_counts()[WARM_READ], 1, "the line is still there");
    cr_expect_eq(warm_counts()[WARM_WRITE], 0, "a dropped line was written back");
    cr_expect(warm_is_quiet(cpu), "something is under way");
}

Test(warmup, what_is_set_apart_keeps_its_lines)
{
    const struct warm_case p = {CACHE_WRITE_BACK, 4, false};
    const struct access read = {WARM_READ, 0, UINT64_MAX};
    set_up_cache(&p);
    touch(&read);
    cr_expect(warm_set_apart(cpu, cache, memory), "only the requester is apart");
    warm_clear_counts();
    touch(&read);
    cr_expect_eq(warm_counts()[WARM_READ], 0);
    cr_expect_not(warm_set_apart(cpu, memory, cache), "the cache is connected with it");
    warm_drop_all();
    touch(&read);
    cr_expect_eq(warm_counts()[WARM_READ], 0, "the line is gone");
}

/* ---- the shared TLB ---- */

static const struct build_port tlb_ports[] = {
    {"top", BUILD_IN, true}, {"bottom", BUILD_OUT, false}, {"control", BUILD_IN, false}};
static const struct build_type tlb_type = {
    .unit = &tlb__generic, .ports = tlb_ports, .port_count = 3};
static uint32_t tlb;

static void walk(const struct harness_message *request, struct harness_message *reply)
{
    struct message header = {0};
    struct translate_reply *m = (struct translate_reply *)(void *)&header;
    memcpy(&m->found.physical, request->fields, 8);
    m->found.physical &= ~(uint64_t)0xfff;
    m->found.page_bits = m->found.fragment_bits = 12;
    m->found.traits = page_traits(true, MEM_COARSE);
    memcpy(reply->fields, header.fields, sizeof reply->fields);
}

static void set_up_tlb(void)
{
    struct tlb_params params = {.sets = 2, .ways = 4, .latency = 4, .mshrs = 4, .width = 1};
    int64_t values[sizeof params / sizeof(int64_t)];
    memcpy(values, &params, sizeof params);
    harness_start();
    tlb = build_instance(&tlb_type, 0, "tlb", values, NULL, ARRAY_COUNT(values));
    cpu = harness_requester();
    memory = harness_server(20, walk);
    harness_wire(HARNESS_TRANSLATE, (struct build_end){cpu, 0, 0}, (struct build_end){tlb, 0, 0},
                 32, 1, 1);
    harness_wire(HARNESS_TRANSLATE, (struct build_end){tlb, 1, 0}, (struct build_end){memory, 0, 0},
                 16, 1, 1);
    harness_build();
    sent_until = 0;
}

static void ask(uint64_t page, uint16_t tag)
{
    look_up(cpu, sent_until += GAP, tag, page << 12, 1 + page % 2);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
}

static void probe_tlb(uint8_t row[PROBES])
{
    uint64_t seed = 9;
    for (uint16_t i = 0; i < PROBES; i++) {
        uint32_t before = harness_count(memory);
        ask(harness_random(&seed) % 12, i);
        row[i] = harness_count(memory) == before;
    }
}

Test(warmup, a_touched_tlb_knows_what_a_used_one_knows)
{
    static uint8_t by_messages[PROBES], by_touches[PROBES];
    uint64_t seed = 3;
    set_up_tlb();
    ask(0, 0); /* the page size is known from the first answer on */
    for (uint16_t i = 1; i < 100; i++)
        ask(harness_random(&seed) % 12, i);
    probe_tlb(by_messages);
    set_up_tlb();
    seed = 3;
    for (uint32_t i = 0; i < 100; i++) {
        uint64_t page = i ? harness_random(&seed) % 12 : 0;
        struct warm_access a = {.address = page << 12,
                                .physical = page << 12,
                                .pid = (uint32_t)(1 + page % 2),
                                .kind = WARM_PAGE,
                                .page_bits = 12,
                                .fragment_bits = 12,
                                .writable = true};
        warm_pass(0, &a);
    }
    probe_tlb(by_touches);
    unsigned hits = 0;
    for (uint32_t i = 0; i < PROBES; i++) {
        cr_expect_eq(by_touches[i], by_messages[i], "lookup %u", i);
        hits += by_touches[i];
    }
    cr_expect(hits > 20 && hits < PROBES, "%u of the lookups hit: nothing to compare", hits);
}
