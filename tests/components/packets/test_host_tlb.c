/* The TLB of a simulated host: addresses are translated by page and process, order and bytes stay,
 * what has no page is reported. */
#include "host_tlb.gen.h"
#include "tlb_control.gen.h"
#include "translate.gen.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/number.h"
#include "components/protocols/translate/translated_page.h"
#include "runtime/engine/component_failure.h"
#include "runtime/engine/run_control.h"
#include "tests/components/harness.h"

extern const struct unit_type host_tlb__generic;

static const struct build_port ports[] = {{"top", BUILD_IN, false},
                                          {"bottom", BUILD_OUT, false},
                                          {"translate", BUILD_OUT, false},
                                          {"control", BUILD_IN, false}};
static const struct build_type type = {.unit = &host_tlb__generic, .ports = ports, .port_count = 4};

enum { PAGE = 4096, PAGES = 16 };

static uint32_t leaf, host, memory, walker, control;

/* Page i of process 1 is physical page PAGES - 1 - i; there are no others. */
static void walk(const struct harness_message *request, struct harness_message *reply)
{
    struct message header = {0};
    struct translate_request *m = (struct translate_request *)(void *)&header;
    memcpy(header.fields, request->fields, sizeof header.fields);
    uint64_t page = m->lookup.address / PAGE;
    bool valid = m->lookup.pid == 1 && page < PAGES;
    struct message out = {0};
    struct translate_reply *r = (struct translate_reply *)(void *)&out;
    r->found.physical = valid ? (PAGES - 1 - page) * PAGE : 0;
    r->found.page_bits = r->found.fragment_bits = valid ? 12 : 0;
    r->found.traits = page_traits(true, MEM_COARSE);
    reply->kind = TRANSLATE_FOUND;
    memcpy(reply->fields, out.fields, sizeof reply->fields);
}

static void set_up(int64_t entries, uint64_t walk_latency)
{
    struct host_tlb_params params = {.entries = entries};
    int64_t values[sizeof params / sizeof(int64_t)];
    memcpy(values, &params, sizeof params);
    harness_start();
    leaf = build_instance(&type, 0, "tlb", values, NULL, ARRAY_COUNT(values));
    host = harness_requester();
    memory = harness_server(10, harness_answer_memory);
    walker = harness_server(walk_latency, walk);
    control = harness_requester();
    harness_wire(HARNESS_TLB_CONTROL, (struct build_end){control, 0, 0},
                 (struct build_end){leaf, 3, 0}, 4, 1, 1);
    harness_wire(HARNESS_MEM, (struct build_end){host, 0, 0}, (struct build_end){leaf, 0, 0}, 16, 1,
                 1);
    harness_wire(HARNESS_MEM, (struct build_end){leaf, 1, 0}, (struct build_end){memory, 0, 0}, 16,
                 1, 1);
    harness_wire(HARNESS_TRANSLATE, (struct build_end){leaf, 2, 0},
                 (struct build_end){walker, 0, 0}, 4, 1, 1);
    harness_build();
}

Test(host_tlb, every_page_is_found_where_it_is)
{
    enum { COUNT = 300 };
    uint64_t random = 5;
    uint64_t address[COUNT];
    set_up(4, 30);
    for (uint32_t i = 0; i < PAGES * PAGE; i++)
        harness_memory[i] = (uint8_t)(i * 7 + i / PAGE);
    for (uint16_t i = 0; i < COUNT; i++) {
        address[i] = harness_random(&random) % (PAGES * PAGE) / 64 * 64;
        struct harness_message m = harness_read(1, i, address[i], 64);
        harness_send(host, &m);
    }
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_assert_eq(harness_count(host), COUNT);
    for (uint16_t i = 0; i < COUNT; i++) {
        uint64_t physical = (PAGES - 1 - address[i] / PAGE) * PAGE + address[i] % PAGE;
        cr_assert_arr_eq(harness_reply(host, i)->payload, harness_memory + physical, 64);
        cr_assert_eq(harness_log(memory, i)->tag, i, "in order");
    }
    const struct host_tlb_io *io = harness_instance(leaf);
    cr_expect_eq(io->stats.hits, COUNT);
    cr_expect_eq(io->stats.misses, harness_count(walker));
}

/* 4 entries: the fifth page takes the place of the one that was used longest ago. */
Test(host_tlb, the_least_recently_used_page_goes)
{
    static const uint8_t pages[] = {0, 1, 2, 3, 0, 4, 0, 1};
    static const bool misses[] = {true, true, true, true, false, true, false, true};
    uint32_t expected = 0;
    set_up(4, 3);
    for (uint16_t i = 0; i < sizeof pages; i++) {
        struct harness_message m = harness_read(1, i, (uint64_t)pages[i] * PAGE, 8);
        harness_send(host, &m);
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        expected += misses[i];
        cr_expect_eq(harness_count(walker), expected, "access %u", i);
    }
}

Test(host_tlb, a_miss_takes_the_walk_and_a_hit_a_cycle)
{
    set_up(4, 50);
    struct harness_message m = harness_read(1, 0, 0, 8);
    harness_send(host, &m);
    m = harness_read(1, 1, 64, 8);
    harness_send(host, &m);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    /* Seen in 2, asked for then; the walk's answer 50 + 1 later, sent on at once, seen in memory a
     * cycle later. The hit behind it follows a cycle later. */
    cr_expect_eq(harness_log(memory, 0)->cycle, 2 + 51 + 1);
    cr_expect_eq(harness_log(memory, 1)->cycle, 2 + 51 + 2);
}

Test(host_tlb, an_address_without_a_page_is_reported)
{
    set_up(4, 3);
    struct harness_message m = harness_read(1, 0, (uint64_t)PAGES * PAGE, 8);
    harness_send(host, &m);
    cr_expect_eq(harness_run(), ENGINE_FAILED);
    cr_expect_not_null(strstr(engine_failure(), "no page at 0x10000"));
    engine_clear_failure();
}

static void forget(uint64_t cycle, uint64_t address, uint64_t size, uint32_t pid)
{
    struct harness_message m = {.cycle = cycle, .kind = TLB_CONTROL_FORGET};
    memcpy(m.fields, &address, 8);
    memcpy(m.fields + 8, &size, 8);
    memcpy(m.fields + 16, &pid, 4);
    harness_send(control, &m);
}

/* Pages 0 .. 3 are read, some are shot down, and all are read again. */
Test(host_tlb, a_shoot_down_forgets_the_pages_of_the_process_and_no_others)
{
    static const struct {
        uint64_t address, size;
        uint32_t pid, forgotten;
    } cases[] = {{PAGE, PAGE, 1, 1},       {PAGE - 1, 2, 1, 2},    {0, PAGES * PAGE, 2, 0},
                 {PAGE, 1, UINT32_MAX, 1}, {4 * PAGE, PAGE, 1, 0}, {0, (uint64_t)1 << 48, 1, 4}};
    for (uint32_t c = 0; c < ARRAY_COUNT(cases); c++) {
        set_up(4, 30);
        for (uint16_t i = 0; i < 8; i++) {
            struct harness_message m = harness_read(1 + i / 4 * 500, i, i % 4 * PAGE, 8);
            harness_send(host, &m);
        }
        forget(400, cases[c].address, cases[c].size, cases[c].pid);
        cr_assert_eq(harness_run(), ENGINE_IDLE);
        cr_expect_eq(harness_count(control), 1);
        cr_expect_eq(harness_count(walker), 4 + cases[c].forgotten, "case %u", c);
    }
}

/* The answer that was under way may be older than the shoot-down: it is never used. */
Test(host_tlb, a_walk_under_way_is_done_again)
{
    set_up(4, 50);
    struct harness_message m = harness_read(1, 0, PAGE, 8);
    harness_send(host, &m);
    forget(20, PAGE, PAGE, 1);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_eq(harness_count(walker), 2);
    cr_expect_eq(harness_reply(control, 0)->cycle, 22);
    cr_expect_gt(harness_log(memory, 0)->cycle, 2 + 2 * 51);
    cr_expect_eq(harness_count(memory), 1);
}
