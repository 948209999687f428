/* Slot-cycles of a kernel: each is counted once, so their sum is slots times cycles. */
#include <criterion/criterion.h>
#include <string.h>

#include "components/statistics/slot_account.h"

enum { SLOTS = 10 };

static uint64_t value_of(const struct slot_details *d, const char *group, const char *name)
{
    for (unsigned i = 0; i < d->count; i++)
        if (d->detail[i].group && strcmp(d->detail[i].group, group) == 0
            && strcmp(d->detail[i].name, name) == 0)
            return d->detail[i].value;
    cr_assert_fail("no %s.%s", group, name);
    return 0;
}

static const struct slot_kind held_kinds[] = {{"slot_cycles.issued", "valu"},
                                              {"slot_cycles.waiting", "barrier"}};

/* Cycles 100 to 200. Work-groups may be placed from 110 on: one of 4 wavefronts at 120, the last
 * one, of 2, at 140. Both end at 180. Compute units account for 300 of the 320 slot-cycles. */
static void run(struct slot_account *account, struct slot_use *all)
{
    slot_account_begin(account, all, 100);
    slot_account_running(account, all, 110);
    slot_account_place(account, all, 120, 4, false);
    slot_account_place(account, all, 140, 2, true);
    slot_account_finish(account, all, 180, 4);
    slot_account_finish(account, all, 180, 2);
}

static const uint64_t sums[] = {200, 100};
static const struct slot_charges charges = {
    .kinds = held_kinds, .sums = sums, .count = 2, .held = 300};

Test(slot_account, slots_of_a_kernel_that_runs_alone)
{
    struct slot_account account;
    struct slot_use all = {0};
    struct slot_details d = {0};
    run(&account, &all);
    slot_account_describe(&account, &all, SLOTS, 200, &charges, &d);
    cr_expect_eq(value_of(&d, "slot_cycles.issued", "valu"), 200);
    cr_expect_eq(value_of(&d, "slot_cycles.waiting", "barrier"), 100);
    cr_expect_eq(value_of(&d, "slot_cycles.moving", "dispatch"), 4 * 60 + 2 * 40 - 300);
    cr_expect_eq(value_of(&d, "slot_cycles.empty", "launch"), 10 * SLOTS);
    cr_expect_eq(value_of(&d, "slot_cycles.empty", "placing"), 30 * SLOTS - 20 * 4);
    cr_expect_eq(value_of(&d, "slot_cycles.empty", "draining"), 60 * SLOTS - 40 * 6);
    cr_expect_eq(value_of(&d, "slot_cycles.others", "kernels"), 0);
}

Test(slot_account, slots_that_another_kernel_holds_are_not_empty)
{
    struct slot_account account, other;
    struct slot_use all = {0};
    struct slot_details d = {0};
    slot_account_begin(&other, &all, 50);
    slot_account_running(&other, &all, 50);
    slot_account_place(&other, &all, 60, 3, true); /* until the end */
    run(&account, &all);
    slot_account_describe(&account, &all, SLOTS, 200, &charges, &d);
    cr_expect_eq(value_of(&d, "slot_cycles.empty", "launch"), 10 * (SLOTS - 3));
    cr_expect_eq(value_of(&d, "slot_cycles.others", "kernels"), 100 * 3);
    uint64_t sum = 0;
    for (unsigned i = 0; i < d.count; i++)
        sum += d.detail[i].group ? d.detail[i].value : 0;
    cr_expect_eq(sum, 100 * SLOTS);
}

Test(slot_account, dies_add_up_slots_and_agree_on_what_is_the_same)
{
    struct slot_details d = {0};
    slot_details_add(&d, "a", "b", 1);
    slot_details_same(&d, NULL, "c", 2);
    cr_assert_eq(d.count, 2);
    cr_expect_eq(d.merge[0], KERNEL_ADD);
    cr_expect_eq(d.merge[1], KERNEL_SAME);
    cr_expect_eq(d.detail[1].value, 2);
}
