/* The cache with a TLB of its own, through its ports: what is asked, when, and what is forgotten.
 */
#include "cache_control.gen.h"
#include "scope.gen.h"
#include "tlb_l1.gen.h"
#include "translate.gen.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/number.h"
#include "components/protocols/translate/translated_page.h"
#include "runtime/engine/run_control.h"

#include "cache_types.h"

static uint32_t cpu, control, memory, walker, tlb_cache;
static uint64_t moved; /* the page table of now: virtual page v lies at physical page v ^ moved */
/* Who may write; AWAY: a page comes with the first fault, AWAY_COPIED: for reading only. */
static enum { OPEN, COPIED, COPIED_AND_MOVING, READ_ONLY, FRAGMENTS, AWAY, AWAY_COPIED } pages;
static uint32_t faults;
static unsigned page_bits, largest; /* of fragments */

/* Fragments of 2^largest bytes fill the first half of each 128 KiB, the second one has pages that
 * lie alone; no two lie side by side in memory, whose 1 MiB several share. */
static unsigned size_at(uint64_t address)
{
    return address >> 16 & 1 ? page_bits : largest;
}

static uint64_t place_of(uint64_t address)
{
    unsigned bits = size_at(address);
    return ((address >> bits ^ 1) << bits) + (address & (((uint64_t)1 << bits) - 1));
}

static void walk(const struct harness_message *request, struct harness_message *reply)
{
    struct message header = {0};
    struct translate_reply *m = (struct translate_reply *)(void *)&header;
    uint64_t address;
    bool fault = request->kind == TRANSLATE_FAULT;
    memcpy(&address, request->fields, 8);
    moved += fault && (pages == COPIED_AND_MOVING || pages == AWAY);
    faults += fault;
    m->found.physical = (address >> 12 ^ moved) << 12;
    m->found.page_bits = m->found.fragment_bits = 12;
    if (page_bits) {
        m->found.physical = place_of(address) >> page_bits << page_bits;
        m->found.page_bits = (uint8_t)page_bits;
        m->found.fragment_bits = (uint8_t)size_at(address);
    } else if (pages == FRAGMENTS) { /* 64 KiB each, all of them the first ones of memory */
        m->found.physical = address & 0xf000;
        m->found.fragment_bits = 16;
    }
    m->found.traits = page_traits(
        pages == OPEN || pages == FRAGMENTS || (fault && pages != READ_ONLY), MEM_COARSE);
    if (pages == AWAY_COPIED && faults < 2)
        m->found.traits = 0;
    if ((pages == AWAY || pages == AWAY_COPIED) && !faults)
        m->found.fragment_bits = 0;
    memcpy(reply->fields, header.fields, sizeof reply->fields);
}

static void set_up_tlb(int64_t sets, int64_t ways, bool fragments)
{
    struct {
        struct cache_params cache;
        struct tlb_l1_params tlb;
    } params = {{.size = 1024,
                 .ways = 2,
                 .line = 64,
                 .above = 64,
                 .below = 64,
                 .latency = 4,
                 .ports = 1,
                 .mshrs = 8,
                 .targets = 8,
                 .write = CACHE_WRITE_AROUND,
                 .sets = 8},
                {.sets = sets, .ways = ways, .latency = 1, .mshrs = 4, .fragments = fragments}};
    int64_t values[sizeof params / sizeof(int64_t)];
    memcpy(values, &params, sizeof params);
    moved = page_bits = faults = 0;
    pages = fragments ? FRAGMENTS : OPEN;
    harness_start();
    uint32_t cache =
        build_instance(&translated_cache_type, 0, "cache", values, NULL, ARRAY_COUNT(values));
    tlb_cache = cache;
    cpu = harness_requester();
    control = harness_requester();
    memory = harness_server(20, harness_answer_memory);
    walker = harness_server(30, walk);
    harness_wire(HARNESS_MEM, (struct build_end){cpu, 0, 0}, (struct build_end){cache, TOP, 0}, 32,
                 1, 1);
    harness_wire(HARNESS_CONTROL, (struct build_end){control, 0, 0},
                 (struct build_end){cache, CONTROL, 0}, 4, 1, 1);
    harness_wire(HARNESS_MEM, (struct build_end){cache, BOTTOM, 0},
                 (struct build_end){memory, 0, 0}, 16, 1, 1);
    harness_wire(HARNESS_TRANSLATE, (struct build_end){cache, TRANSLATE, 0},
                 (struct build_end){walker, 0, 0}, 16, 1, 1);
    harness_build();
    for (uint32_t page = 0; page < 16; page++)
        harness_memory[page << 12] = (uint8_t)(page + 1);
}

static void set_up(void)
{
    set_up_tlb(1, 4, false);
}

static void set_up_fragments(void)
{
    set_up_tlb(1, 4, true);
}

TestSuite(cache_translation, .init = set_up);

static uint8_t read_byte(uint64_t cycle, uint16_t tag, uint64_t address)
{
    struct harness_message m = harness_read(cycle, tag, address, 1);
    harness_send(cpu, &m);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    return harness_reply(cpu, tag)->payload[0];
}

Test(cache_translation, a_page_is_asked_for_once)
{
    moved = 5;
    cr_expect_eq(read_byte(1, 1, 0x2000), (2 ^ 5) + 1);
    cr_expect_eq(read_byte(200, 2, 0x2040), 0);
    cr_expect_eq(harness_count(walker), 1);
}

Test(cache_translation, a_fragment_is_asked_for_once_and_found_by_all_its_pages,
     .init = set_up_fragments)
{
    cr_expect_eq(read_byte(1, 1, 0x13000), 4);
    for (uint16_t page = 0; page < 16; page++)
        cr_expect_eq(read_byte(200u + page * 100u, 2 + page, 0x10000u + page * 0x1000u), page + 1);
    cr_expect_eq(harness_count(walker), 1);
    cr_expect_eq(read_byte(3000, 20, 0x25000), 6, "of another fragment");
    cr_expect_eq(read_byte(3200, 21, 0x17000), 8);
    cr_expect_eq(harness_count(walker), 2);
}

/* Loads of all pages of a fragment at once: each misses, and asks for its page, but there is one
 * entry. */
Test(cache_translation, misses_on_the_way_of_a_fragment_make_one_entry, .init = set_up_fragments)
{
    for (uint16_t page = 0; page < 4; page++) {
        struct harness_message m = harness_read(1, page, 0x10000u + page * 0x1000u, 1);
        harness_send(cpu, &m);
    }
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_eq(read_byte(500, 9, 0x17000), 8);
    const struct cache *c = harness_instance(tlb_cache);
    const struct tlb_l1_stats *stats =
        &((const struct tlb_l1_io *)(const void *)cache_translation(c))->stats;
    cr_expect_eq(harness_count(walker), 4);
    cr_expect_eq(stats->misses, 4);
    cr_expect_eq(stats->entered, 1);
    cr_expect_eq(stats->hits, 1);
}

enum { READS = 400, SPAN = 512 << 10 };

/* Reads come in bursts, so that many wait for one page. */
static void check_sizes(unsigned page, unsigned most, bool fragments)
{
    static uint64_t asked[READS];
    uint64_t random = page * 31 + most;
    set_up_tlb(2, 4, fragments);
    page_bits = page;
    largest = most;
    for (uint64_t at = 0; at < sizeof harness_memory; at += 64)
        memcpy(harness_memory + at, &at, sizeof at);
    for (uint16_t i = 0; i < READS; i++) {
        uint64_t r = harness_random(&random), near = i ? asked[i - 1] : 0;
        asked[i] = (r >> 63 ? near ^ (r & 0x7fc0) : r) % SPAN / 64 * 64;
        struct harness_message m = harness_read(1 + i / 12 * 60u, i, asked[i], 8);
        harness_send(cpu, &m);
    }
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    for (uint16_t i = 0; i < READS; i++) {
        uint64_t found, place = place_of(asked[i]) % sizeof harness_memory;
        memcpy(&found, harness_reply(cpu, i)->payload, sizeof found);
        cr_assert_eq(found, place, "pages of 2^%u, fragments of 2^%u: 0x%llx is at 0x%llx", page,
                     most, (unsigned long long)asked[i], (unsigned long long)found);
    }
}

Test(cache_translation, every_address_is_found_whatever_the_sizes_of_pages_and_fragments)
{
    for (unsigned page = 12; page <= 16; page++)
        for (unsigned most = page; most <= 16; most++)
            for (unsigned kind = 0; kind < 2; kind++)
                check_sizes(page, most, kind == 1);
}

/* A load of a page that is asked for behind another one of its fragment, and a store to the same
 * place when that has come: the load still gets the old bytes. */
Test(cache_translation, what_covers_a_page_on_its_way_lets_nothing_pass_those_that_wait_for_it,
     .init = set_up_fragments)
{
    uint8_t bytes[64] = {[0] = 77};
    for (uint64_t at = 30; at < 60; at++) {
        set_up_fragments();
        struct harness_message first = harness_read(1, 1, 0x10000, 1),
                               load = harness_read(20, 2, 0x11000, 1),
                               store = harness_write(at, 3, 0x11000, 1, bytes),
                               last = harness_read(at + 1, 4, 0x11000, 1);
        harness_send(cpu, &first);
        harness_send(cpu, &load);
        harness_send(cpu, &store);
        harness_send(cpu, &last);
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        cr_expect_eq(harness_reply(cpu, 2)->payload[0], 2, "a store at %d was seen before",
                     (int)at);
        cr_expect_eq(harness_reply(cpu, 4)->payload[0], 77);
    }
}

Test(cache_translation, pages_of_several_sizes_are_refused)
{
    page_bits = largest = 14;
    read_byte(1, 1, 0x10000);
    page_bits = largest = 12;
    struct harness_message m = harness_read(200, 2, 0x30000, 1);
    harness_send(cpu, &m);
    cr_expect_eq(harness_run(), ENGINE_FAILED);
}

struct shape {
    uint32_t sets, ways, pages;
};

/* Of reads one at a time, those whose page is asked for, against lists that are searched. The last
 * shapes have more ways than pages that the TLB knows to be recent, the first ones fewer. */
Test(cache_translation, replaces_the_least_recently_used)
{
    static const struct shape shapes[] = {{1, 1, 3},  {1, 4, 7},   {4, 4, 24},
                                          {2, 3, 12}, {1, 16, 22}, {2, 12, 40}};
    enum { MANY = 3000 };
    for (size_t s = 0; s < ARRAY_COUNT(shapes); s++) {
        const struct shape *shape = &shapes[s];
        uint64_t pages_of[64] = {0}, used[64] = {0}, clock = 0, random = 11;
        uint32_t misses = 0;
        set_up_tlb(shape->sets, shape->ways, false);
        for (uint32_t i = 0; i < MANY; i++) {
            uint64_t r = harness_random(&random),
                     page = r % (r >> 62 ? shape->pages : shape->pages / 2 + 1);
            uint64_t base = page % shape->sets * shape->ways, at = base;
            bool hit = false;
            for (uint64_t w = base; w < base + shape->ways && !hit; w++) {
                hit = used[w] && pages_of[w] == page;
                if (hit || used[w] < used[at])
                    at = w;
            }
            pages_of[at] = page;
            used[at] = ++clock;
            misses += !hit;
            struct harness_message m =
                harness_read(1 + i * 150, (uint16_t)i, page << 12 | (r >> 40 & 63) << 6, 1);
            harness_send(cpu, &m);
        }
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        cr_expect_eq(harness_count(walker), misses, "shape %zu: %u, not %u", s,
                     harness_count(walker), misses);
    }
}

struct control_case {
    uint8_t kind;
    uint8_t field;
};

/* What an invalidate leaves, the next kernel would use although its page may lie elsewhere. */
Test(cache_translation, control_forgets_translations)
{
    static const struct control_case cases[] = {{CACHE_CONTROL_INVALIDATE, 0},
                                                {CACHE_CONTROL_FLUSH, 1}};
    for (uint16_t i = 0; i < 2; i++) {
        struct harness_message m = {
            .cycle = 200 + 1000u * i, .kind = cases[i].kind, .fields = {cases[i].field}};
        moved = 0;
        cr_expect_eq(read_byte(1 + 1000u * i, (uint16_t)(1 + 10 * i), 0x3000), 4);
        harness_send(control, &m);
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        moved = 1;
        cr_expect_eq(read_byte(400 + 1000u * i, (uint16_t)(2 + 10 * i), 0x3000), 3);
        m.cycle = 600 + 1000u * i;
        harness_send(control, &m);
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        cr_expect_eq(harness_count(walker), 2u * (i + 1u));
    }
}

Test(cache_translation, a_fence_keeps_translations)
{
    struct harness_message fence = harness_fence(200, 9, SCOPE_AGENT, true, true);
    cr_expect_eq(read_byte(1, 1, 0x3000), 4);
    harness_send(cpu, &fence);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_eq(read_byte(400, 2, 0x3000), 4);
    cr_expect_eq(harness_count(walker), 1);
    cr_expect_eq(harness_count(memory), 2, "the line was dropped");
}

/* For a page that moves: what is under way ends first, then everything is forgotten, and what comes
 * later waits for the end of the pause. */
Test(cache_translation, a_paused_cache_takes_nothing)
{
    struct harness_message pause = {.cycle = 200, .tag = 7, .kind = CACHE_CONTROL_PAUSE},
                           resume = {.cycle = 600, .tag = 8, .kind = CACHE_CONTROL_RESUME},
                           under_way = harness_read(199, 2, 0x3040, 1),
                           later = harness_read(250, 3, 0x3000, 1);
    cr_expect_eq(read_byte(1, 1, 0x3000), 4);
    moved = 1;
    harness_send(cpu, &under_way);
    harness_send(control, &pause);
    harness_send(cpu, &later);
    harness_send(control, &resume);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_gt(harness_reply(control, 7)->cycle, 220, "memory takes 20 cycles");
    cr_expect_lt(harness_reply(control, 7)->cycle, 250);
    cr_expect_gt(harness_reply(control, 8)->cycle, 600);
    cr_expect_gt(harness_reply(cpu, 3)->cycle, 600);
    cr_expect_eq(harness_reply(cpu, 3)->payload[0], 3);
    cr_expect_eq(harness_count(walker), 2);
    cr_expect_eq(harness_count(memory), 3, "the line was dropped");
}

/* A page that is read-only because of copies: the writer asks once more, as a fault. Requests of a
 * page keep their order, whether its translation is there or not. */
Test(cache_translation, a_write_to_a_page_with_copies_asks_for_it_once_more)
{
    for (uint16_t known = 0; known < 2; known++) {
        uint64_t at = 1000u * known;
        uint8_t bytes[64] = {[0] = (uint8_t)(70 + known)};
        struct harness_message before = harness_read(at + 200, 2, 0x5000, 1),
                               write = harness_write(at + 201, 3, 0x5000, 1, bytes),
                               after = harness_read(at + 202, 4, 0x5000, 1);
        uint32_t asked = harness_count(walker);
        pages = COPIED;
        if (known)
            read_byte(at + 1, 1, 0x5000);
        uint8_t old = harness_memory[0x5000];
        harness_send(cpu, &before);
        harness_send(cpu, &write);
        harness_send(cpu, &after);
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        cr_expect_eq(harness_reply(cpu, 2)->payload[0], old);
        cr_expect_eq(harness_reply(cpu, 4)->payload[0], 70 + known);
        cr_expect_eq(harness_memory[0x5000], 70 + known);
        cr_expect_eq(harness_count(walker), asked + 2, "once to read, once to write");
        cr_expect_eq(harness_log(walker, asked + 1)->kind, TRANSLATE_FAULT);
        struct harness_message forget = {.cycle = at + 500, .kind = CACHE_CONTROL_INVALIDATE};
        harness_send(control, &forget);
        cr_assert_eq(harness_run(), ENGINE_IDLE);
    }
}

/* Whoever waits to write waits for a pause: that does not wait for him, nor for a fence that does.
 * What he is told afterwards may be old, so he asks again. */
Test(cache_translation, a_pause_does_not_wait_for_who_wants_to_write)
{
    static const uint8_t kinds[] = {CACHE_CONTROL_PAUSE, CACHE_CONTROL_INVALIDATE};
    for (uint16_t i = 0; i < 2; i++) {
        uint64_t at = 1000u * i;
        uint8_t bytes[64] = {[0] = 90};
        struct harness_message write = harness_write(at + 100, 2, 0x6000, 1, bytes),
                               fence = harness_fence(at + 101, 3, SCOPE_AGENT, true, true),
                               control_message = {.cycle = at + 145, .tag = 4, .kind = kinds[i]},
                               resume = {.cycle = at + 250, .tag = 5, .kind = CACHE_CONTROL_RESUME};
        uint32_t asked = harness_count(walker);
        pages = COPIED_AND_MOVING;
        moved = 0;
        harness_send(cpu, &write);
        harness_send(cpu, &fence);
        harness_send(control, &control_message);
        harness_send(control, &resume);
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        cr_expect_eq(harness_count(walker), asked + 3);
        uint64_t first_answer = harness_log(walker, asked + 1)->cycle + 30;
        cr_expect_lt(harness_reply(control, 4)->cycle, first_answer);
        cr_expect_gt(harness_reply(cpu, 2)->cycle, kinds[i] == CACHE_CONTROL_PAUSE ? at + 250 : at);
        cr_expect_gt(harness_reply(cpu, 3)->cycle, harness_reply(cpu, 2)->cycle);
        cr_expect_eq(harness_memory[(6 ^ 2) << 12], 90, "where the page is at last");
        harness_memory[(6 ^ 2) << 12] = 0;
        struct harness_message forget = {.cycle = at + 500, .kind = CACHE_CONTROL_INVALIDATE};
        harness_send(control, &forget);
        cr_assert_eq(harness_run(), ENGINE_IDLE);
    }
}

/* Reads and writes of a page that lies elsewhere ask for it by one fault. What comes may be a copy
 * for reading, which a writer asks to be writable by another one. */
Test(cache_translation, a_page_that_has_to_come_first_is_asked_for_by_a_fault)
{
    for (uint32_t copied = 0; copied < 2; copied++) {
        uint64_t at = 1000u * copied;
        uint8_t bytes[64] = {[0] = 50};
        struct harness_message before = harness_read(at + 100, 2, 0x7000, 1),
                               write = harness_write(at + 101, 3, 0x7000, 1, bytes),
                               after = harness_read(at + 150, 4, 0x7000, 1);
        uint32_t asked = harness_count(walker);
        pages = copied ? AWAY_COPIED : AWAY;
        moved = copied ? 1 : 0;
        faults = 0;
        harness_memory[(7 ^ 1) << 12] = 40;
        harness_send(cpu, &before);
        harness_send(cpu, &write);
        harness_send(cpu, &after);
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        cr_expect_eq(harness_reply(cpu, 2)->payload[0], 40);
        cr_expect_eq(harness_reply(cpu, 4)->payload[0], 50);
        cr_expect_eq(harness_count(walker), asked + 2 + copied);
        cr_expect_eq(harness_log(walker, asked + 1)->kind, TRANSLATE_FAULT);
        struct harness_message forget = {.cycle = at + 500, .kind = CACHE_CONTROL_INVALIDATE};
        harness_send(control, &forget);
        cr_assert_eq(harness_run(), ENGINE_IDLE);
    }
}

Test(cache_translation, a_pause_does_not_wait_for_a_page_that_has_to_come_first)
{
    struct harness_message read = harness_read(100, 2, 0x6000, 1),
                           pause = {.cycle = 145, .tag = 4, .kind = CACHE_CONTROL_PAUSE},
                           resume = {.cycle = 250, .tag = 5, .kind = CACHE_CONTROL_RESUME};
    pages = AWAY;
    harness_memory[(6 ^ 2) << 12] = 60;
    harness_send(cpu, &read);
    harness_send(control, &pause);
    harness_send(control, &resume);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_eq(harness_count(walker), 3, "what was told before the pause may be old");
    cr_expect_lt(harness_reply(control, 4)->cycle, harness_log(walker, 1)->cycle + 30);
    cr_expect_gt(harness_reply(cpu, 2)->cycle, 250);
    cr_expect_eq(harness_reply(cpu, 2)->payload[0], 60, "where the page is at last");
}

Test(cache_translation, a_page_that_stays_read_only_is_an_error)
{
    uint8_t bytes[64] = {1};
    struct harness_message write = harness_write(100, 2, 0x6000, 1, bytes);
    pages = READ_ONLY;
    cr_expect_eq(read_byte(1, 1, 0x6000), 7);
    harness_send(cpu, &write);
    cr_expect_eq(harness_run(), ENGINE_FAILED);
    cr_expect_eq(harness_memory[0x6000], 7);
}
