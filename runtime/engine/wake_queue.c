/* The binary heap of the components that sleep. */
#include "wake_queue.h"

void wake_queue_open(struct wake_queue *q, struct wake_node *nodes, uint32_t *heap)
{
    q->nodes = nodes;
    q->heap = heap;
}

static uint64_t cycle_at(const struct wake_queue *q, uint32_t index)
{
    return q->nodes[q->heap[index]].cycle;
}

static void put(struct wake_queue *q, uint32_t index, uint32_t id)
{
    q->heap[index] = id;
    q->nodes[id].position = index + 1;
}

/* Puts `id` at `index` or above, where its parent is not later. */
static void rise(struct wake_queue *q, uint32_t index, uint32_t id)
{
    uint64_t cycle = q->nodes[id].cycle;
    while (index) {
        uint32_t parent = (index - 1) / 2;
        if (cycle_at(q, parent) <= cycle)
            break;
        put(q, index, q->heap[parent]);
        index = parent;
    }
    put(q, index, id);
}

/* Puts `id` at `index` or below, where no child is earlier. */
static void sink(struct wake_queue *q, uint32_t index, uint32_t id)
{
    uint64_t cycle = q->nodes[id].cycle;
    for (;;) {
        uint32_t child = 2 * index + 1;
        if (child + 1 < q->count && cycle_at(q, child + 1) < cycle_at(q, child))
            child++;
        if (child >= q->count || cycle <= cycle_at(q, child))
            break;
        put(q, index, q->heap[child]);
        index = child;
    }
    put(q, index, id);
}

void wake_queue_set(struct wake_queue *q, uint32_t id, uint64_t cycle)
{
    struct wake_node *n = &q->nodes[id];
    bool is_new = !n->position;
    if (!is_new && n->cycle <= cycle)
        return;
    n->cycle = cycle;
    rise(q, is_new ? q->count++ : n->position - 1, id);
}

void wake_queue_pop(struct wake_queue *q, uint64_t cycle, uint64_t *bitmap)
{
    while (wake_queue_next(q) == cycle) {
        uint32_t id = q->heap[0];
        q->nodes[id].position = 0;
        bitmap[id / 64] |= (uint64_t)1 << (id % 64);
        if (--q->count)
            sink(q, 0, q->heap[q->count]);
    }
}
