/* The times at which the sleeping components of a clock domain wake: a binary heap, the earliest
 * cycle first.
 *
 * One node a component: its earliest wake-up. Wake-ups within ENGINE_NEAR cycles do not come here
 * (engine.h), so few nodes wait, and a timing wheel in place of the heap saves 0.1 to 0.3 % of a
 * run's instructions.
 *
 * Invariant: no node wakes before its parent, and a node knows its position in the heap. */
#ifndef HEDDLE_RUNTIME_ENGINE_WAKE_QUEUE_H
#define HEDDLE_RUNTIME_ENGINE_WAKE_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine.h"

struct wake_node {
    uint64_t cycle;
    uint32_t position; /* in the heap, from 1 on; 0: the component has no wake-up */
};

struct wake_queue {
    struct wake_node *nodes; /* by id; shared by the queues of all domains */
    uint32_t *heap;          /* ids; capacity for every component of the domain */
    uint32_t count;
};

void wake_queue_open(struct wake_queue *q, struct wake_node *nodes, uint32_t *heap);

/* Wakes `id` at `cycle`, or earlier if it has an earlier wake-up. */
void wake_queue_set(struct wake_queue *q, uint32_t id, uint64_t cycle);

static inline bool wake_queue_has_node(const struct wake_queue *q)
{
    return q->count;
}

/* Earliest cycle of all nodes, ENGINE_NEVER without any. */
static inline uint64_t wake_queue_next(const struct wake_queue *q)
{
    return q->count ? q->nodes[q->heap[0]].cycle : ENGINE_NEVER;
}

/* Takes the components due at `cycle`, which is not later than wake_queue_next(), and sets their
 * bits in `bitmap`. */
void wake_queue_pop(struct wake_queue *q, uint64_t cycle, uint64_t *bitmap);

#endif
