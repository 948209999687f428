/* The shared TLB through its ports. */
#include "tlb.gen.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/number.h"
#include "components/protocols/translate/translated_page.h"
#include "runtime/engine/run_control.h"
#include "tests/components/translations.h"

extern const struct unit_type tlb__generic;

static const struct build_port ports[] = {
    {"top", BUILD_IN, true}, {"bottom", BUILD_OUT, false}, {"control", BUILD_IN, false}};
static const struct build_type type = {.unit = &tlb__generic, .ports = ports, .port_count = 3};

static uint32_t tlb, users[4], walker, control;
static unsigned page_bits, fragment_bits;
static uint64_t
    moved_after; /* walks that the walker sees after this cycle are answered 2^41 higher */

/* Virtual page v is at physical v + 2^40; pages from 2^30 on are not mapped. */
static void walk(const struct harness_message *request, struct harness_message *reply)
{
    struct message header = {0};
    struct translate_reply *m = (struct translate_reply *)(void *)&header;
    uint64_t address;
    memcpy(&address, request->fields, 8);
    m->found.physical = (address >> page_bits << page_bits) + ((uint64_t)1 << 40)
                        + (request->cycle > moved_after ? (uint64_t)1 << 41 : 0);
    m->found.page_bits = (uint8_t)(address < 1 << 30 ? page_bits : 0);
    m->found.fragment_bits = (uint8_t)max(fragment_bits, page_bits);
    m->found.traits = page_traits(true, MEM_COARSE);
    memcpy(reply->fields, header.fields, sizeof reply->fields);
}

static bool fragments;

static void set_up_walker(int64_t sets, int64_t ways, int64_t latency, int64_t mshrs, uint32_t n,
                          void (*answer)(const struct harness_message *, struct harness_message *))
{
    struct tlb_params params = {.sets = sets,
                                .ways = ways,
                                .latency = latency,
                                .mshrs = mshrs,
                                .fragments = fragments,
                                .width = 4};
    int64_t values[sizeof params / sizeof(int64_t)];
    memcpy(values, &params, sizeof params);
    page_bits = 12;
    fragment_bits = 0;
    moved_after = UINT64_MAX;
    harness_start();
    tlb = build_instance(&type, 0, "tlb", values, NULL, ARRAY_COUNT(values));
    for (uint32_t i = 0; i < n; i++)
        users[i] = harness_requester();
    walker = harness_server(50, answer);
    control = harness_requester();
    for (uint32_t i = 0; i < n; i++)
        harness_wire(HARNESS_TRANSLATE, (struct build_end){users[i], 0, 0},
                     (struct build_end){tlb, 0, i}, 8, 1, 1);
    harness_wire(HARNESS_TRANSLATE, (struct build_end){tlb, 1, 0}, (struct build_end){walker, 0, 0},
                 16, 1, 1);
    harness_wire(HARNESS_TLB_CONTROL, (struct build_end){control, 0, 0},
                 (struct build_end){tlb, 2, 0}, 2, 1, 1);
    harness_build();
}

static void set_up(int64_t sets, int64_t ways, int64_t latency, int64_t mshrs, uint32_t n)
{
    set_up_walker(sets, ways, latency, mshrs, n, walk);
}

static const struct tlb_stats *stats(void)
{
    return &((const struct tlb_io *)harness_instance(tlb))->stats;
}

Test(tlb, hits_take_the_latency_and_misses_the_walk_more)
{
    set_up(1, 64, 4, 8, 1);
    look_up(users[0], 10, 1, 0x12345678, 1);
    look_up(users[0], 500, 2, 0x12345abc, 1);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_eq(harness_reply(users[0], 1)->cycle, 10 + 4 + 1 + 50 + 1);
    cr_expect_eq(harness_reply(users[0], 2)->cycle, 500 + 4 + 1);
    cr_expect_eq(page_found(users[0], 2).found.physical, 0x12345000 + ((uint64_t)1 << 40));
    cr_expect(page_found(users[0], 2).found.page_bits);
    cr_expect_eq(stats()->hits, 1);
    cr_expect_eq(stats()->misses, 1);
}

Test(tlb, users_of_one_page_share_a_walk)
{
    set_up(1, 64, 4, 8, 4);
    for (uint32_t i = 0; i < 4; i++)
        look_up(users[i], 1, 1, 0x5000 + i, 1);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_eq(harness_count(walker), 1);
    cr_expect_eq(stats()->misses, 4);
    cr_expect_eq(stats()->mshr_hits, 3);
    for (uint32_t i = 0; i < 4; i++)
        cr_expect_eq(harness_reply(users[i], 1)->cycle, 1 + 4 + 1 + 50 + 1);
}

Test(tlb, processes_do_not_share_entries)
{
    set_up(1, 64, 4, 8, 1);
    look_up(users[0], 1, 1, 0x5000, 1);
    look_up(users[0], 200, 2, 0x5000, 1);
    look_up(users[0], 201, 3, 0x5000, 2);
    look_up(users[0], 400, 4, 0x5000, 1);
    look_up(users[0], 401, 5, 0x5000, 2);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_eq(stats()->misses, 2);
    cr_expect_eq(stats()->hits, 3);
}

Test(tlb, a_page_that_is_not_mapped_is_asked_for_every_time)
{
    set_up(1, 64, 4, 8, 1);
    look_up(users[0], 1, 1, 1 << 30, 1);
    look_up(users[0], 200, 2, 1 << 30, 1);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_not(page_found(users[0], 1).found.page_bits);
    cr_expect_not(page_found(users[0], 2).found.page_bits);
    cr_expect_eq(harness_count(walker), 2);
}

Test(tlb, large_pages_need_one_entry)
{
    set_up(1, 4, 4, 8, 1);
    page_bits = 16;
    for (uint16_t i = 0; i < 64; i++)
        look_up(users[0], 1 + i * 100u, i, i * 0x1000u, 1);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_eq(stats()->misses, 4);
    for (uint16_t i = 0; i < 64; i++) {
        struct translate_reply m = page_found(users[0], i);
        uint64_t inside = ((uint64_t)1 << m.found.page_bits) - 1;
        cr_assert_eq(m.found.physical + (i * 0x1000u & inside), i * 0x1000u + ((uint64_t)1 << 40));
    }
}

/* Pages below 2^21 are a fragment of 2 MiB, those from there on lie alone. */
static void walk_fragments(const struct harness_message *request, struct harness_message *reply)
{
    uint64_t address;
    memcpy(&address, request->fields, 8);
    fragment_bits = address < 1 << 21 ? 21 : 12;
    walk(request, reply);
}

Test(tlb, an_entry_covers_its_fragment_whatever_the_size_of_others)
{
    fragments = true;
    set_up_walker(1, 4, 4, 8, 1, walk_fragments);
    uint16_t tag = 0;
    for (unsigned round = 0; round < 4; round++) {
        for (unsigned i = 0; i < 3; i++, tag++) /* three pages that lie alone */
            look_up(users[0], 1 + tag * 100u, tag, (1u << 21) + i * 0x1000u, 1);
        for (unsigned i = 0; i < 8; i++, tag++) /* and eight of one fragment */
            look_up(users[0], 1 + tag * 100u, tag, i * 0x3f000u + round * 0x1234u, 1);
    }
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_eq(harness_count(walker), 4, "one walk each, and four entries hold them all");
    cr_expect_eq(stats()->hits, 4u * 11 - 4);
    cr_expect_eq(page_found(users[0], 5).found.page_bits, 12);
    cr_expect_eq(page_found(users[0], 5).found.fragment_bits, 21);
    cr_expect_eq(page_found(users[0], 5).found.physical, ((uint64_t)1 << 40) + 2 * 0x3f000);
    cr_expect_eq(page_found(users[0], 13).found.physical, ((uint64_t)1 << 40) + (1 << 21) + 0x2000);
    cr_expect_eq(page_found(users[0], 13).found.fragment_bits, 12);
}

/* Fragments of `largest` bits fill the first half of each 4 MiB, the second one has smaller ones.
 * No two fragments lie side by side in memory. */
static unsigned largest;

static unsigned size_at(uint64_t address)
{
    unsigned smaller = largest - (unsigned)(address >> 22) % 3;
    return address >> 21 & 1 ? max(smaller, page_bits) : largest;
}

static uint64_t place_of(uint64_t address)
{
    unsigned bits = size_at(address);
    return ((address >> bits ^ 0x2a) << bits) + (address & (((uint64_t)1 << bits) - 1))
           + ((uint64_t)1 << 40);
}

static void walk_sizes(const struct harness_message *request, struct harness_message *reply)
{
    uint64_t address, page;
    memcpy(&address, request->fields, 8);
    fragment_bits = size_at(address);
    walk(request, reply);
    page = place_of(address) >> page_bits << page_bits;
    memcpy(reply->fields, &page, sizeof page); /* the first field */
}

struct sizes {
    unsigned page, largest;
    bool fragments;
};

static void check_sizes(const struct sizes *s)
{
    enum { LOOKUPS = 600 };
    static uint64_t asked[LOOKUPS];
    uint64_t random = s->page * 31 + s->largest;
    fragments = s->fragments;
    set_up_walker(4, 8, 3, 16, 4, walk_sizes);
    page_bits = s->page;
    largest = s->largest;
    for (uint16_t i = 0; i < LOOKUPS; i++) {
        uint64_t r = harness_random(&random), near = i ? asked[i - 1] : 0;
        asked[i] = r >> 63 ? (near ^ (r & 0x7fff)) : r % (12u << 20);
        look_up(users[i % 4], 1 + i / 16 * 40u, i, asked[i], 1);
    }
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    for (uint16_t i = 0; i < LOOKUPS; i++) {
        struct translate_reply m = page_found(users[i % 4], i);
        uint64_t inside = asked[i] & (((uint64_t)1 << m.found.page_bits) - 1);
        cr_assert_eq(m.found.physical + inside, place_of(asked[i]),
                     "pages of 2^%u, fragments of 2^%u: 0x%llx is not at 0x%llx", s->page,
                     s->largest, (unsigned long long)asked[i],
                     (unsigned long long)(m.found.physical + inside));
        cr_assert_leq(m.found.fragment_bits, size_at(asked[i]));
    }
}

Test(tlb, every_address_is_found_whatever_the_sizes_of_pages_and_fragments)
{
    for (unsigned page = 12; page <= 21; page++)
        for (unsigned most = page; most <= 21; most++)
            for (unsigned kind = 0; kind < 2; kind++)
                check_sizes(&(struct sizes){page, most, kind == 1});
}

Test(tlb, pages_of_several_sizes_are_refused)
{
    set_up(1, 4, 4, 8, 1);
    page_bits = 16;
    look_up(users[0], 1, 1, 0x12345, 1);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    page_bits = 12;
    look_up(users[0], 200, 2, 0x82345, 1);
    cr_expect_eq(harness_run(), ENGINE_FAILED);
}

Test(tlb, pages_of_a_fragment_that_are_asked_for_together_become_one_entry)
{
    fragments = true;
    set_up_walker(1, 4, 4, 8, 4, walk_fragments);
    for (uint32_t i = 0; i < 4; i++)
        look_up(users[i], 1, 1, i * 0x5000, 1);
    for (uint32_t i = 0; i < 4; i++)
        look_up(users[i], 200, 2, 0x100000 + i * 0x5000, 1);
    for (uint16_t i = 0; i < 3; i++) /* room for three more */
        look_up(users[0], 400 + i * 100u, (uint16_t)(3 + i), (1u << 21) + i * 0x1000u, 1);
    look_up(users[1], 800, 3, 0x1000, 1);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_eq(harness_count(walker), 4 + 3);
    cr_expect_eq(stats()->hits, 5);
}

Test(tlb, few_mshrs_slow_down_but_lose_nothing)
{
    set_up(2, 4, 2, 2, 4);
    uint64_t random = 5;
    for (uint16_t i = 0; i < 2000; i++)
        look_up(users[i % 4], 1, i, harness_random(&random) % 40 * 4096 + i % 4096, i % 2 + 1u);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    for (uint32_t u = 0; u < 4; u++)
        cr_expect_eq(harness_count(users[u]), 500);
    cr_expect_eq(stats()->lookups, 2000);
    cr_expect_eq(stats()->hits + stats()->misses, 2000);
}

static void forget(uint64_t cycle, uint16_t tag, uint64_t address, uint64_t size, uint32_t pid)
{
    struct harness_message m = {.cycle = cycle, .tag = tag, .kind = TLB_CONTROL_FORGET};
    memcpy(m.fields, &address, 8);
    memcpy(m.fields + 8, &size, 8);
    memcpy(m.fields + 16, &pid, 4);
    harness_send(control, &m);
}

/* Pages 4 .. 7 of processes 1 and 2 are looked up, shot down, and looked up again. */
Test(tlb, a_shoot_down_forgets_the_pages_of_the_process_and_no_others)
{
    static const struct {
        uint64_t address, size;
        uint32_t pid;
        unsigned forgotten;
    } cases[] = {{0x5000, 0x1000, 1, 1},
                 {0x5fff, 2, 1, 2},
                 {0x4000, 0x4000, 2, 4},
                 {0x8000, 0x9000, 1, 0},
                 {0, (uint64_t)1 << 48, 3, 0},
                 {0x5000, 1, UINT32_MAX, 2},
                 {0, (uint64_t)1 << 48, UINT32_MAX, 8}};
    for (unsigned c = 0; c < ARRAY_COUNT(cases); c++) {
        set_up(1, 64, 4, 8, 1);
        for (uint16_t i = 0; i < 16; i++)
            look_up(users[0], 1 + i % 8 * 100u + i / 8 * 2000u, i, 0x4000 + i % 4 * 0x1000u,
                    1 + i % 8 / 4);
        forget(1500, 7, cases[c].address, cases[c].size, cases[c].pid);
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        cr_expect_eq(harness_reply(control, 7)->cycle, 1502);
        cr_expect_eq(harness_count(walker), 8 + cases[c].forgotten, "case %u: %u walks", c,
                     harness_count(walker));
        cr_expect_eq(stats()->forgotten, cases[c].forgotten);
    }
}

Test(tlb, a_shoot_down_of_one_page_forgets_its_fragment)
{
    fragments = true;
    set_up_walker(1, 4, 4, 8, 1, walk_fragments);
    look_up(users[0], 1, 1, 0x3000, 1);
    forget(200, 1, 0x77000, 0x1000, 1);
    look_up(users[0], 300, 2, 0x3000, 1);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_eq(harness_count(walker), 2);
    cr_expect_eq(stats()->forgotten, 1);
}

/* The walk of a page that is shot down meanwhile may have seen what was mapped before: nobody gets
 * it any more, and the shoot-down is not over before that is certain. */
Test(tlb, a_page_on_its_way_is_asked_for_again)
{
    set_up(1, 64, 4, 8, 2);
    moved_after = 60;
    look_up(users[0], 50, 1, 0x5123, 1);
    look_up(users[1], 51, 1, 0x5456, 1);
    look_up(users[1], 52, 2, 0x9000, 1);
    forget(70, 1, 0x5000, 0x1000, 1);
    forget(71, 2, 0x9000, 0x1000, 2); /* of another process: has to wait for its turn only */
    look_up(users[0], 400, 3, 0x5000, 1);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    for (uint16_t i = 0; i < 2; i++)
        cr_expect_eq(page_found(users[i], 1).found.physical, 0x5000 + ((uint64_t)3 << 40));
    cr_expect_eq(page_found(users[0], 3).found.physical, 0x5000 + ((uint64_t)3 << 40));
    cr_expect_eq(page_found(users[1], 2).found.physical, 0x9000 + ((uint64_t)1 << 40));
    cr_expect_eq(harness_count(walker), 3);
    cr_expect_gt(harness_reply(control, 1)->cycle, harness_log(walker, 2)->cycle - 2);
    cr_expect_gt(harness_reply(control, 2)->cycle, harness_reply(control, 1)->cycle);
    cr_expect_gt(harness_reply(users[0], 1)->cycle, 50 + 2 * 50);
}

struct shape {
    uint64_t sets, ways, pages;
};

/* Hits and misses of lookups one at a time, against lists that are searched. */
Test(tlb, replaces_the_least_recently_used)
{
    static const struct shape shapes[] = {{1, 64, 90}, {1, 1, 3}, {4, 4, 24}, {16, 2, 50}};
    for (size_t s = 0; s < ARRAY_COUNT(shapes); s++) {
        uint64_t pages[64] = {0}, used[64] = {0}, clock = 0, hits = 0, random = 11;
        set_up((int64_t)shapes[s].sets, (int64_t)shapes[s].ways, 2, 8, 1);
        for (uint32_t i = 0; i < 4000; i++) {
            uint64_t r = harness_random(&random),
                     page = r % (r >> 62 ? shapes[s].pages : shapes[s].pages / 2 + 1);
            uint64_t base = page % shapes[s].sets * shapes[s].ways, at = base;
            bool hit = false;
            for (uint64_t w = base; w < base + shapes[s].ways && !hit; w++) {
                hit = used[w] && pages[w] == page;
                if (hit || used[w] < used[at])
                    at = w;
            }
            pages[at] = page;
            used[at] = ++clock;
            hits += hit;
            look_up(users[0], 1 + i * 70, (uint16_t)i, page * 4096, 1);
        }
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        cr_expect_eq(stats()->hits, hits, "shape %d: %d, not %d", (int)s, (int)stats()->hits,
                     (int)hits);
    }
}
