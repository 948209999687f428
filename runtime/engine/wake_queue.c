/* The timing wheel; see wheel.h. */
#include "wake_queue.h"

#include "base/number.h"

void wheel_open(struct wheel *w, struct wheel_node *nodes, uint32_t *heap)
{
    w->nodes = nodes;
    w->heap = heap;
}

/* ---- heap of the far ones, smallest cycle first; nodes know their position ---- */

static void heap_put(struct wheel *w, uint32_t position, uint32_t id)
{
    w->heap[position] = id;
    w->nodes[id].next = position;
}

static void heap_up(struct wheel *w, uint32_t position, uint32_t id)
{
    uint64_t cycle = w->nodes[id].cycle;
    while (position) {
        uint32_t parent = (position - 1) / 2;
        if (w->nodes[w->heap[parent]].cycle <= cycle)
            break;
        heap_put(w, position, w->heap[parent]);
        position = parent;
    }
    heap_put(w, position, id);
}

static void heap_down(struct wheel *w, uint32_t position, uint32_t id)
{
    uint64_t cycle = w->nodes[id].cycle;
    for (;;) {
        uint32_t child = 2 * position + 1;
        if (child >= w->heap_count)
            break;
        if (child + 1 < w->heap_count
            && w->nodes[w->heap[child + 1]].cycle < w->nodes[w->heap[child]].cycle)
            child++;
        if (cycle <= w->nodes[w->heap[child]].cycle)
            break;
        heap_put(w, position, w->heap[child]);
        position = child;
    }
    heap_put(w, position, id);
}

static void heap_remove(struct wheel *w, uint32_t position)
{
    uint32_t last = w->heap[--w->heap_count];
    if (position == w->heap_count)
        return;
    if (position && w->nodes[last].cycle < w->nodes[w->heap[(position - 1) / 2]].cycle)
        heap_up(w, position, last);
    else
        heap_down(w, position, last);
}

/* ---- buckets of the near ones ---- */

static void bucket_insert(struct wheel *w, uint32_t id)
{
    struct wheel_node *n = &w->nodes[id];
    uint32_t bucket = n->cycle % WHEEL_BUCKETS;
    uint32_t first = w->first[bucket];
    n->previous = 0;
    n->next = first;
    if (first)
        w->nodes[first - 1].previous = id + 1;
    w->first[bucket] = id + 1;
    w->occupied[bucket / 64] |= (uint64_t)1 << (bucket % 64);
    w->summary |= (uint64_t)1 << (bucket / 64);
}

static void bucket_clear(struct wheel *w, uint32_t bucket)
{
    w->first[bucket] = 0;
    w->occupied[bucket / 64] &= ~((uint64_t)1 << (bucket % 64));
    if (!w->occupied[bucket / 64])
        w->summary &= ~((uint64_t)1 << (bucket / 64));
}

static void bucket_remove(struct wheel *w, uint32_t id)
{
    struct wheel_node *n = &w->nodes[id];
    if (n->next)
        w->nodes[n->next - 1].previous = n->previous;
    if (n->previous)
        w->nodes[n->previous - 1].next = n->next;
    else if (n->next)
        w->first[n->cycle % WHEEL_BUCKETS] = n->next;
    else
        bucket_clear(w, n->cycle % WHEEL_BUCKETS);
}

static void insert(struct wheel *w, uint32_t id, uint64_t cycle)
{
    struct wheel_node *n = &w->nodes[id];
    n->cycle = cycle;
    if (cycle - w->now < WHEEL_BUCKETS) {
        n->place = WHEEL_BUCKET;
        bucket_insert(w, id);
    } else {
        n->place = WHEEL_HEAP;
        heap_up(w, w->heap_count++, id);
    }
}

static void take_out(struct wheel *w, uint32_t id)
{
    struct wheel_node *n = &w->nodes[id];
    if (n->place == WHEEL_BUCKET)
        bucket_remove(w, id);
    else
        heap_remove(w, n->next);
}

void wheel_set(struct wheel *w, uint32_t id, uint64_t cycle)
{
    const struct wheel_node *n = &w->nodes[id];
    if (n->place != WHEEL_NOWHERE) {
        if (n->cycle <= cycle)
            return;
        take_out(w, id);
    }
    insert(w, id, cycle);
}

uint64_t wheel_next(const struct wheel *w)
{
    uint64_t far = w->heap_count ? w->nodes[w->heap[0]].cycle : WHEEL_NEVER;
    if (!w->summary)
        return far;
    uint32_t start = (w->now + 1) % WHEEL_BUCKETS;
    uint32_t word = start / 64;
    uint64_t bits = w->occupied[word] & (~(uint64_t)0 << (start % 64));
    uint32_t bucket;
    if (bits) {
        bucket = word * 64 + (uint32_t)__builtin_ctzll(bits);
    } else {
        /* The next occupied word after this one, around the end; at last this word's lower part.
         */
        uint32_t shift = (word + 1) % WHEEL_WORDS;
        uint64_t rotated = shift ? w->summary >> shift | w->summary << (64 - shift) : w->summary;
        word = (shift + (uint32_t)__builtin_ctzll(rotated)) % WHEEL_WORDS;
        bucket = word * 64 + (uint32_t)__builtin_ctzll(w->occupied[word]);
    }
    uint64_t near = w->nodes[w->first[bucket] - 1].cycle;
    return min(near, far);
}

void wheel_take(struct wheel *w, uint64_t cycle, uint64_t *bitmap)
{
    uint32_t bucket = cycle % WHEEL_BUCKETS;
    uint32_t entry = w->first[bucket];
    w->now = cycle;
    if (entry) {
        bucket_clear(w, bucket);
        while (entry) {
            struct wheel_node *n = &w->nodes[entry - 1];
            n->place = WHEEL_NOWHERE;
            bitmap[(entry - 1) >> 6] |= (uint64_t)1 << ((entry - 1) & 63);
            entry = n->next;
        }
    }
    while (w->heap_count && w->nodes[w->heap[0]].cycle == cycle) {
        uint32_t id = w->heap[0];
        w->nodes[id].place = WHEEL_NOWHERE;
        heap_remove(w, 0);
        bitmap[id >> 6] |= (uint64_t)1 << (id & 63);
    }
}
