/* What is under way between lanes: a box for each pair of lanes and direction, in two copies. In a
 * window a lane writes into one copy of its boxes while the others read the other copy, which it
 * wrote in the window before; between windows the copies change their roles. So nothing is read
 * while it is written, and the barrier between windows is all the synchronisation there is.
 *
 * A letter names a slot of a ring and gives the slot's new stamp: with RING_FULL a message, which
 * is copied from the sender's half of the ring (the slot stays as it is until its credit comes
 * back, a window later at least), without it a credit. A slot is sent and freed at most once in a
 * window, which bounds the boxes. Called by ring.c and window.c. */
#include "bug.h"
#include "lane.h"
#include "ring.h"

struct letter {
    uint64_t stamp;
    uint32_t ring; /* of the tables: the sender's half */
    uint32_t slot; /* from the ring's first, in 16 bytes */
};

struct box {
    _Alignas(64) struct letter *letters;
    uint32_t count;
    uint32_t room;
};

static struct box *boxes; /* [2][lanes][lanes]: copy, from, to */
static uint32_t writing;  /* the copy that is written */

static struct box *box_of(uint32_t copy, uint32_t from, uint32_t to)
{
    return &boxes[(copy * engine.lane_count + from) * engine.lane_count + to];
}

static uint32_t lane_of(uint32_t id)
{
    return component_lane(engine_base.components[id]);
}

static void put(uint32_t from, uint32_t to, struct letter letter)
{
    struct box *b = box_of(writing, from, to);
    if (b->count == b->room)
        bug("ring %u: more letters in a window than slots", letter.ring);
    b->letters[b->count++] = letter;
    lanes[from].written[writing] |= (uint64_t)1 << to;
    lanes[from].sent = true;
}

void mail_message(uint32_t ring, uint32_t slot, uint64_t stamp)
{
    const struct ring *r = ring_at(ring);
    put(lane_of(ring_sender(r)), lane_of(r->receiver), (struct letter){stamp, ring, slot});
}

void mail_credit(uint32_t ring, uint32_t slot, uint64_t back)
{
    const struct ring *r = ring_at(ring);
    put(lane_of(r->receiver), lane_of(ring_sender(r)), (struct letter){back << 16, ring, slot});
}

void mail_turn(void)
{
    writing ^= 1;
}

static void open_box(const struct box *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        const struct letter *l = &b->letters[i];
        if (l->stamp & RING_FULL)
            ring_take(l->ring, l->slot, l->stamp);
        else
            ring_credit(l->ring, l->slot, l->stamp);
    }
}

static void empty_boxes(uint32_t lane)
{
    for (uint64_t bits = lanes[lane].written[writing]; bits; bits &= bits - 1)
        box_of(writing, lane, (uint32_t)__builtin_ctzll(bits))->count = 0;
    lanes[lane].written[writing] = 0;
}

bool mail_deliver(uint32_t lane, uint64_t start_ps)
{
    bool any = false;
    for (uint32_t other = 0; other < engine.lane_count; other++) {
        if (!(lanes[other].written[writing ^ 1] >> lane & 1))
            continue;
        if (!any)
            lane_move_clocks(lane, start_ps);
        any = true;
        open_box(box_of(writing ^ 1, other, lane));
    }
    empty_boxes(lane);
    return any;
}

void mail_deliver_all(uint64_t start_ps)
{
    for (uint32_t lane = 0; lane < engine.lane_count; lane++)
        lane_move_clocks(lane, start_ps);
    for (uint32_t from = 0; from < engine.lane_count; from++) {
        for (uint32_t to = 0; to < engine.lane_count; to++)
            open_box(box_of(writing, from, to));
        empty_boxes(from);
        lanes[from].sent = false;
    }
}

void mail_open(const struct platform_table *table)
{
    size_t count = 2 * (size_t)engine.lane_count * engine.lane_count;
    boxes = arena_derive(count * sizeof *boxes);
    writing = 0;
    for (uint32_t i = 0; i < table->ring_count; i++) {
        const struct ring *r = ring_at(i);
        uint32_t from = lane_of(ring_sender(r));
        uint32_t to = lane_of(r->receiver);
        uint32_t depth = (r->end - r->first) / r->step;
        for (uint32_t copy = 0; from != to && copy < 2; copy++) {
            box_of(copy, from, to)->room += depth;
            box_of(copy, to, from)->room += depth;
        }
    }
    for (size_t i = 0; i < count; i++)
        boxes[i].letters = arena_derive(boxes[i].room * sizeof(struct letter));
}
