/* Counts slot-cycles by the changes of their number, and divides them among the kinds of
 * slot_account.h at the end of a kernel. */
#include "slot_account.h"

#include <inttypes.h>

#include "runtime/engine/bug.h"

static uint64_t slot_use_until(const struct slot_use *u, uint64_t now)
{
    return u->sum + u->wavefronts * (now - u->cycle);
}

static void slot_use_change(struct slot_use *u, uint64_t now, uint64_t more, uint64_t less)
{
    u->sum = slot_use_until(u, now);
    u->cycle = now;
    u->wavefronts += more - less;
}

void slot_account_begin(struct slot_account *account, const struct slot_use *all, uint64_t now)
{
    *account = (struct slot_account){
        .begin = now, .use = {.cycle = now}, .all_at_begin = slot_use_until(all, now)};
}

void slot_account_running(struct slot_account *account, const struct slot_use *all, uint64_t now)
{
    account->placing_begin = account->placed = now;
    account->all_at_running = account->all_at_placed = slot_use_until(all, now);
}

void slot_account_place(struct slot_account *account, struct slot_use *all, uint64_t now,
                        uint32_t wavefronts, bool last)
{
    slot_use_change(&account->use, now, wavefronts, 0);
    slot_use_change(all, now, wavefronts, 0);
    if (last) {
        account->placed = now;
        account->all_at_placed = all->sum;
    }
}

void slot_account_finish(struct slot_account *account, struct slot_use *all, uint64_t now,
                         uint32_t wavefronts)
{
    slot_use_change(&account->use, now, 0, wavefronts);
    slot_use_change(all, now, 0, wavefronts);
}

void slot_details_put(struct slot_details *to, struct kernel_detail detail, enum kernel_merge merge)
{
    if (to->count == SLOT_DETAILS_MAX)
        bug("a kernel's record has more than %d details", SLOT_DETAILS_MAX);
    to->merge[to->count] = merge;
    to->detail[to->count++] = detail;
}

void slot_details_add(struct slot_details *to, const char *group, const char *name, uint64_t value)
{
    slot_details_put(to, (struct kernel_detail){group, name, NULL, value}, KERNEL_ADD);
}

void slot_details_same(struct slot_details *to, const char *group, const char *name, uint64_t value)
{
    slot_details_put(to, (struct kernel_detail){group, name, NULL, value}, KERNEL_SAME);
}

/* Slot-cycles between two times that no kernel held. */
static uint64_t empty_slots(uint64_t slots, uint64_t cycles, uint64_t all_before,
                            uint64_t all_after)
{
    return slots * cycles - (all_after - all_before);
}

void slot_account_describe(const struct slot_account *account, const struct slot_use *all,
                           uint64_t slots, uint64_t now, const struct slot_charges *charges,
                           struct slot_details *to)
{
    uint64_t end = slot_use_until(all, now), own = slot_use_until(&account->use, now), charged = 0;
    slot_details_add(to, NULL, "slots", slots);
    for (unsigned i = 0; i < charges->count; i++) {
        charged += charges->sums[i];
        slot_details_add(to, charges->kinds[i].group, charges->kinds[i].name, charges->sums[i]);
    }
    if (charged != charges->held || own < charged)
        bug("account of a kernel: %" PRIu64 " slot-cycles of %" PRIu64 ", held for %" PRIu64,
            charged, charges->held, own);
    slot_details_add(to, "slot_cycles.moving", "dispatch", own - charged);
    slot_details_add(to, "slot_cycles.empty", "launch",
                     empty_slots(slots, account->placing_begin - account->begin,
                                 account->all_at_begin, account->all_at_running));
    slot_details_add(to, "slot_cycles.empty", "placing",
                     empty_slots(slots, account->placed - account->placing_begin,
                                 account->all_at_running, account->all_at_placed));
    slot_details_add(to, "slot_cycles.empty", "draining",
                     empty_slots(slots, now - account->placed, account->all_at_placed, end));
    slot_details_add(to, "slot_cycles.others", "kernels", end - account->all_at_begin - own);
}
