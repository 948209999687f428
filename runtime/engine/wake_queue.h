/* The timing wheel of a clock domain: when sleeping components wake.
 *
 * One node a component: its earliest wake-up. 4096 buckets, one a cycle, hold the wake-ups of the
 * next 4096 cycles in intrusive lists; a bitmap of occupied buckets with a summary word finds the
 * next one in a few instructions. What lies further ahead waits in a binary heap and is taken from
 * there when its cycle comes; it never moves to a bucket.
 *
 * Invariant: every node in a bucket has now < cycle < now + 4096, so a bucket holds one cycle only;
 * now is the last cycle taken, and callers never skip a cycle that holds a node. */
#ifndef HEDDLE_RUNTIME_WAKE_QUEUE_H
#define HEDDLE_RUNTIME_WAKE_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#define WHEEL_BUCKETS 4096
#define WHEEL_WORDS   (WHEEL_BUCKETS / 64)
#define WHEEL_NEVER   UINT64_MAX

enum wheel_place { WHEEL_NOWHERE, WHEEL_BUCKET, WHEEL_HEAP };

struct wheel_node {
    uint64_t cycle : 56;
    uint64_t place : 8; /* enum wheel_place */
    uint32_t
        next; /* in a bucket: 1 + id of the neighbours, 0 none; in the heap: next is the position */
    uint32_t previous;
};

struct wheel {
    struct wheel_node *nodes; /* by id; shared by the wheels of all domains */
    uint32_t *heap;           /* ids; room for every component of the domain */
    uint32_t heap_count;
    uint64_t now;
    uint64_t summary;
    uint64_t occupied[WHEEL_WORDS];
    uint32_t first[WHEEL_BUCKETS]; /* 1 + id, 0: empty */
};

void wheel_open(struct wheel *w, struct wheel_node *nodes, uint32_t *heap);

/* Wake `id` at `cycle` > now, or earlier if it already has an earlier wake-up. */
void wheel_set(struct wheel *w, uint32_t id, uint64_t cycle);

static inline bool wheel_has_some(const struct wheel *w)
{
    return w->summary || w->heap_count;
}

/* Earliest cycle of all nodes, WHEEL_NEVER without any. */
uint64_t wheel_next(const struct wheel *w);

/* now = `cycle`, not later than wheel_next(); the components due then get their bits set in
 * `bitmap`. */
void wheel_take(struct wheel *w, uint64_t cycle, uint64_t *bitmap);

/* Would that set any? When not, it is enough to say which cycle it is now. */
static inline bool wheel_is_due(const struct wheel *w, uint64_t cycle)
{
    return w->first[cycle % WHEEL_BUCKETS]
           || (w->heap_count && w->nodes[w->heap[0]].cycle == cycle);
}

#endif
