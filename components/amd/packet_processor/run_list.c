/* A list of ready queues, served round robin.
 *
 * Invariant: a queue waits only while all slots are taken. While some wait, a queue that has had
 * its slot for a quantum goes to the end of the list, so each waits at most (queues ahead of it /
 * slots) quanta. Without waiting queues nothing is ever changed. */
#include "run_list.h"

#include "run_list.gen.h"

#include "base/number.h"
#include "runtime/engine/engine.h"

enum { RUN_LIST_NONE = UINT32_MAX };

struct run_list_queue {
    uint32_t next; /* in the list of those that wait */
    bool is_ready, is_mapped;
    uint64_t mapped_at; /* cycle in which it was mapped */
};

struct run_list {
    struct run_list_io io;
    uint32_t queues_at; /* struct run_list_queue[] */
    uint32_t slots_at;  /* uint32_t[slot_count], queue or RUN_LIST_NONE */
    uint32_t slot_count;
    uint32_t first_waiting, last_waiting; /* queues */
};

static struct run_list_queue *run_list_queue(const struct run_list *p, uint32_t queue)
{
    return arena_at(struct run_list_queue, p->queues_at) + queue;
}

static void run_list_append(struct run_list *p, uint32_t queue)
{
    run_list_queue(p, queue)->next = RUN_LIST_NONE;
    if (p->first_waiting == RUN_LIST_NONE)
        p->first_waiting = queue;
    else
        run_list_queue(p, p->last_waiting)->next = queue;
    p->last_waiting = queue;
}

static void run_list_setup(struct run_list *p, uint32_t queues, uint32_t slots)
{
    p->queues_at = arena_allocate(queues * sizeof(struct run_list_queue));
    p->slots_at = arena_allocate(slots * sizeof(uint32_t));
    p->slot_count = slots;
    p->first_waiting = RUN_LIST_NONE;
    for (uint32_t i = 0; i < slots; i++)
        arena_at(uint32_t, p->slots_at)[i] = RUN_LIST_NONE;
}

static void run_list_ready(struct run_list *p, uint32_t queue)
{
    if (run_list_queue(p, queue)->is_ready)
        return;
    run_list_queue(p, queue)->is_ready = true;
    run_list_append(p, queue);
}

static void run_list_unmap(struct run_list *p, uint32_t queue)
{
    for (uint32_t i = 0; i < p->slot_count; i++)
        if (arena_at(uint32_t, p->slots_at)[i] == queue)
            arena_at(uint32_t, p->slots_at)[i] = RUN_LIST_NONE;
    run_list_queue(p, queue)->is_mapped = false;
}

static void run_list_remove(struct run_list *p, uint32_t queue)
{
    uint32_t before = RUN_LIST_NONE, place = p->first_waiting;
    for (; place != queue; place = run_list_queue(p, place)->next)
        before = place;
    uint32_t next = run_list_queue(p, queue)->next;
    if (before == RUN_LIST_NONE)
        p->first_waiting = next;
    else
        run_list_queue(p, before)->next = next;
    if (p->last_waiting == queue)
        p->last_waiting = before;
}

static void run_list_done(struct run_list *p, uint32_t queue)
{
    if (!run_list_queue(p, queue)->is_ready)
        return;
    run_list_queue(p, queue)->is_ready = false;
    if (run_list_queue(p, queue)->is_mapped)
        run_list_unmap(p, queue);
    else
        run_list_remove(p, queue);
}

static uint64_t run_list_schedule(struct run_list *p, uint64_t now, bool *changed)
{
    uint64_t quantum = run_list_params(p)->quantum, next = ENGINE_NEVER;
    uint32_t *slots = arena_at(uint32_t, p->slots_at);
    *changed = false;
    for (uint32_t i = 0; i < p->slot_count && p->first_waiting != RUN_LIST_NONE; i++) {
        if (slots[i] != RUN_LIST_NONE && run_list_queue(p, slots[i])->mapped_at + quantum > now)
            continue;
        uint32_t out = slots[i], in = p->first_waiting;
        if (out != RUN_LIST_NONE) {
            run_list_queue(p, out)->is_mapped = false;
            p->io.stats.preemptions++;
        }
        p->first_waiting = run_list_queue(p, in)->next;
        if (out != RUN_LIST_NONE)
            run_list_append(p, out);
        slots[i] = in;
        run_list_queue(p, in)->is_mapped = true;
        run_list_queue(p, in)->mapped_at = now;
        p->io.stats.mappings++;
        *changed = true;
    }
    for (uint32_t i = 0; i < p->slot_count && p->first_waiting != RUN_LIST_NONE; i++)
        next = min(run_list_queue(p, slots[i])->mapped_at + quantum, next);
    return next;
}

static bool run_list_is_mapped(const struct run_list *p, uint32_t queue)
{
    return run_list_queue(p, queue)->is_mapped;
}
