/* Which queues have slots: against the rules alone. No slot is free while a queue waits; no queue
 * has two slots; a queue waits no longer than those ahead of it take at a quantum each; without
 * waiting queues nothing changes. */
#include "base/number.h"

#define RUN_LIST_CONSTANTS                                                                         \
    {                                                                                              \
        .quantum = QUANTUM                                                                         \
    }
enum { QUANTUM = 100, QUEUES = 24, SLOTS = 3 };
#include <criterion/criterion.h>

#include "components/amd/packet_processor/run_list.c"
#include "runtime/engine/arena.h"

static struct run_list *list;

static void set_up(void)
{
    arena_open();
    list = arena_at(struct run_list, arena_allocate(sizeof *list));
    run_list_setup(list, QUEUES, SLOTS);
}

static uint32_t mapped(void)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < QUEUES; i++)
        count += run_list_is_mapped(list, i);
    return count;
}

Test(run_list, queues_that_fit_keep_their_slots, .init = set_up)
{
    bool changed;
    for (uint32_t i = 0; i < SLOTS; i++)
        run_list_ready(list, i);
    cr_assert_eq(run_list_schedule(list, 0, &changed), ENGINE_NEVER);
    cr_assert(changed);
    cr_assert_eq(run_list_schedule(list, 100 * QUANTUM, &changed), ENGINE_NEVER);
    cr_assert_not(changed);
    cr_assert_eq(mapped(), SLOTS);
}

Test(run_list, more_queues_than_slots_take_turns, .init = set_up)
{
    uint64_t had[QUEUES] = {0}, next = 0;
    for (uint32_t i = 0; i < 7; i++)
        run_list_ready(list, i);
    for (uint64_t now = 0; now < 7 * 10 * QUANTUM; now++) {
        bool changed = false;
        if (now >= next) {
            next = run_list_schedule(list, now, &changed);
            cr_assert(changed);
            cr_assert_eq(next, now + QUANTUM);
        }
        for (uint32_t i = 0; i < 7; i++)
            had[i] += run_list_is_mapped(list, i);
    }
    for (uint32_t i = 0; i < 7; i++)
        cr_assert_eq(had[i], SLOTS * 10 * QUANTUM, "queue %u had a slot for %u cycles", i,
                     (unsigned)had[i]);
}

/* Random work. */
Test(run_list, nobody_starves_and_no_slot_is_wasted, .init = set_up)
{
    uint32_t random = 2463534242u;
    uint64_t waits_since[QUEUES] = {0};
    bool ready[QUEUES] = {false}, changed;
    for (uint64_t now = 1; now < 200000; now++) {
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        uint32_t queue = random % QUEUES, count = 0;
        if (random >> 8 & 1) {
            run_list_ready(list, queue);
            waits_since[queue] = ready[queue] ? waits_since[queue] : now;
            ready[queue] = true;
        } else if (!(random >> 9 & 7)) {
            run_list_done(list, queue);
            ready[queue] = false;
        }
        run_list_schedule(list, now, &changed);
        for (uint32_t i = 0; i < QUEUES; i++) {
            bool has = run_list_is_mapped(list, i);
            cr_assert(ready[i] || !has, "queue %u has a slot and no work", i);
            count += ready[i];
            if (has || !ready[i])
                waits_since[i] = now;
            cr_assert_leq(now - waits_since[i], (QUEUES / SLOTS + 1) * QUANTUM, "queue %u waits",
                          i);
        }
        cr_assert_eq(mapped(), min(count, SLOTS), "at %u", (unsigned)now);
    }
}
