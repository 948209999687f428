/* The page walker: latency, walks in flight, what is not mapped. The test owns the page table. */
#include "mmu.gen.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/number.h"
#include "components/memory/page_table/page_table.h"
#include "components/protocols/translate/translated_page.h"

#define OWNER_STORE  struct page_table
#define OWNER_SOURCE "test_mmu.c"
#include "tlb_control.gen.h"

#include "runtime/engine/run_control.h"
#include "tests/components/owner.h"
#include "tests/components/translations.h"

extern const struct unit_type mmu__generic;

#define VIRTUAL ((uint64_t)0x7000 << 32)
#define PAGES   64u

static unsigned leaves; /* not 0: leaves of pages of 4 KiB, each one fragment */

static void owner_fill(struct page_table *table)
{
    if (leaves) {
        page_table_init(table, 12, leaves * PAGE_TABLE_FANOUT);
        table->fragment_bits = 21;
        for (uint64_t i = 0; i < leaves * PAGE_TABLE_FANOUT; i++)
            page_table_map(table, 3, VIRTUAL + (i << 12), ((uint64_t)leaves << 21) + (i << 12),
                           true);
        return;
    }
    page_table_init(table, 14, PAGES);
    for (uint64_t i = 0; i < PAGES; i++)
        page_table_map(table, 3, VIRTUAL + (i << 14), (PAGES - i) << 14, i % 2);
}

static const struct build_port ports[] = {
    {"top", BUILD_IN, true}, {"control", BUILD_IN, false}, {"tlbs", BUILD_OUT, true}};
static const struct build_type type = {
    .unit = &mmu__generic, .ports = ports, .port_count = 3, .store_count = 1};

static uint32_t mmu, users[2], control, tlbs[2];

static void forgotten(const struct harness_message *request, struct harness_message *reply)
{
    (void)request;
    reply->kind = TLB_CONTROL_FORGOTTEN;
}

static void set_up(int64_t latency, int64_t walkers)
{
    struct mmu_params params = {.walk_latency = latency, .walkers = walkers};
    int64_t values[sizeof params / sizeof(int64_t)];
    memcpy(values, &params, sizeof params);
    harness_start();
    build_instance(&owner_type, 0, "owner", NULL, NULL, 0);
    mmu = build_instance(&type, 0, "mmu", values, NULL, ARRAY_COUNT(values));
    for (uint32_t i = 0; i < 2; i++)
        users[i] = harness_requester();
    control = harness_requester();
    for (uint32_t i = 0; i < 2; i++)
        tlbs[i] = harness_server(10 + 70 * i, forgotten);
    harness_wire(HARNESS_TLB_CONTROL, (struct build_end){control, 0, 0},
                 (struct build_end){mmu, 1, 0}, 4, 1, 1);
    for (uint32_t i = 0; i < 2; i++)
        harness_wire(HARNESS_TLB_CONTROL, (struct build_end){mmu, 2, i},
                     (struct build_end){tlbs[i], 0, 0}, 4, 1, 1);
    for (uint32_t i = 0; i < 2; i++)
        harness_wire(HARNESS_TRANSLATE, (struct build_end){users[i], 0, 0},
                     (struct build_end){mmu, 0, i}, 32, 1, 1);
    harness_build();
}

Test(mmu, a_walk_takes_its_latency_and_finds_the_page)
{
    set_up(100, 4);
    look_up(users[0], 5, 1, VIRTUAL + (7 << 14) + 123, 3);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_eq(harness_reply(users[0], 1)->cycle, 5 + 100 + 1);
    struct translate_reply m = page_found(users[0], 1);
    cr_expect(m.found.page_bits);
    cr_expect_eq(m.found.physical, (uint64_t)(PAGES - 7) << 14);
    cr_expect_eq(m.found.page_bits, 14);
    cr_expect(page_may_be_written(m.found.traits));
}

Test(mmu, pages_of_others_and_beyond_the_end_are_not_mapped)
{
    set_up(10, 4);
    look_up(users[0], 1, 1, VIRTUAL + ((uint64_t)PAGES << 14), 3);
    look_up(users[0], 1, 2, VIRTUAL, 4);
    look_up(users[0], 1, 3, VIRTUAL, 3);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    cr_expect_not(page_found(users[0], 1).found.page_bits);
    cr_expect_not(page_found(users[0], 2).found.page_bits);
    cr_expect(page_found(users[0], 3).found.page_bits);
    cr_expect_not(page_may_be_written(page_found(users[0], 3).found.traits));
    const struct mmu_io *io = harness_instance(mmu);
    cr_expect_eq(io->stats.walks, 3);
    cr_expect_eq(io->stats.faults, 2);
}

Test(mmu, walkers_bound_the_walks_in_flight_and_inputs_take_turns)
{
    set_up(50, 4);
    for (uint16_t i = 0; i < 20; i++) {
        look_up(users[0], 1, i, VIRTUAL, 3);
        look_up(users[1], 1, i, VIRTUAL, 3);
    }
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    const struct mmu_io *io = harness_instance(mmu);
    cr_expect_eq(io->stats.walks_in_flight.max, 4);
    uint64_t last = harness_log(users[0], 19)->cycle;
    cr_expect_geq(last, 40 / 4 * 50 - 4);
    cr_expect_leq(last, 40 / 4 * 51 + 4);
    cr_expect_leq(harness_log(users[1], 19)->cycle, last + 2);
    cr_expect_geq(harness_log(users[1], 19)->cycle + 2, last);
}

Test(mmu, lookups_of_an_input_join_the_walk_to_the_leaf_of_their_fragment)
{
    leaves = 2;
    set_up(50, 1);
    for (uint16_t i = 0; i < 20; i++)
        look_up(users[0], 1, i, VIRTUAL + ((uint64_t)i << 12), 3);
    look_up(users[0], 1, 20, VIRTUAL + (1 << 21), 3);
    look_up(users[1], 1, 0, VIRTUAL, 3);
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    const struct mmu_io *io = harness_instance(mmu);
    cr_expect_eq(io->stats.walks, 3, "the other leaf and the other input walk for themselves");
    for (uint16_t i = 0; i < 20; i++) {
        struct translate_reply m = page_found(users[0], i);
        cr_expect_eq(m.found.physical, ((uint64_t)2 << 21) + ((uint64_t)i << 12));
        cr_expect_eq(m.found.fragment_bits, 21);
        cr_expect_eq(harness_log(users[0], i)->tag, i, "in the order of the lookups");
    }
    cr_expect_leq(harness_reply(users[0], 19)->cycle, 1 + 50 + 20);
}

/* One TLB answers after 10 cycles, the other after 80; the second shoot-down waits for the first.
 */
Test(mmu, a_shoot_down_goes_to_all_tlbs_and_is_answered_when_all_have_forgotten)
{
    set_up(10, 4);
    for (uint16_t i = 0; i < 2; i++) {
        uint64_t address = VIRTUAL + i, size = 5;
        uint32_t pid = 3;
        struct harness_message m = {.cycle = 5 + i, .tag = i, .kind = TLB_CONTROL_FORGET};
        memcpy(m.fields, &address, 8);
        memcpy(m.fields + 8, &size, 8);
        memcpy(m.fields + 16, &pid, 4);
        harness_send(control, &m);
    }
    cr_assert_eq(harness_run(), ENGINE_IDLE);
    for (uint32_t t = 0; t < 2; t++) {
        cr_assert_eq(harness_count(tlbs[t]), 2);
        for (uint16_t i = 0; i < 2; i++)
            cr_expect_arr_eq(harness_log(tlbs[t], i)->fields, (&(struct {
                                 uint64_t a, s;
                                 uint32_t p;
                             }){VIRTUAL + i, 5, 3}),
                             20);
    }
    uint64_t first = harness_reply(control, 0)->cycle;
    cr_expect_eq(first, 5 + 1 + 1 + 80 + 1);
    cr_expect_eq(harness_reply(control, 1)->cycle, first + 1 + 80 + 1);
}
