/* What lanes tell each other: a box for each pair of lanes and direction, in two copies. In a
 * window a lane writes into one copy of its boxes while the others read the other copy, which it
 * wrote in the window before; between windows the copies change their roles. So nothing is read
 * while it is written, and the barrier between windows is all the synchronisation there is.
 *
 * A letter says that a ring has a message for its receiver, which is to be woken; the message
 * stands in the ring. A slot is sent at most once in a window, which bounds the boxes. Credits need
 * no letter: a sender that was refused is kept in a list of its own lane, and when a window begins
 * its slot is looked at again. What was freed in the window before, or is being freed in this one
 * by another thread, may be used in a later one only. Called by ring.c and window.c. */
#include "runtime/engine/bug.h"
#include "shard.h"
#include "runtime/link/ring.h"

struct letter {
    uint64_t ready; /* cycle of the receiver */
    uint32_t ring;  /* of the tables: the sender's half */
};

struct box {
    _Alignas(64) struct letter *letters;
    uint32_t count;
    uint32_t room;
};

/* Rings whose senders, all of one lane, wait for room. */
struct waits {
    _Alignas(64) uint32_t *rings;
    uint32_t room;
};

static struct box *boxes; /* [2][lanes][lanes]: copy, from, to */
static struct waits waits[ENGINE_MAX_DOMAINS];
static uint32_t writing; /* the copy that is written */
static uint64_t waiting; /* bit i: the other copy has something for lane i */

static struct box *box_of(uint32_t copy, uint32_t from, uint32_t to)
{
    return &boxes[(copy * engine.lane_count + from) * engine.lane_count + to];
}

static uint32_t lane_of(uint32_t id)
{
    return component_lane(engine_base.components[id]);
}

void mail_message(uint32_t from, uint32_t to, uint32_t ring, uint64_t ready)
{
    struct box *b = box_of(writing, from, to);
    if (b->count == b->room)
        bug("ring %u: more letters in a window than slots", ring);
    b->letters[b->count++] = (struct letter){ready, ring};
    lanes[from].written[writing] |= (uint64_t)1 << to;
    window_ask_end();
}

void mail_wait(uint32_t ring)
{
    uint32_t lane = lane_of(ring_sender(ring_at(ring)));
    if (lanes[lane].waits == waits[lane].room)
        bug("ring %u: waits twice", ring);
    waits[lane].rings[lanes[lane].waits++] = ring;
}

void mail_turn(void)
{
    writing ^= 1;
    waiting = 0;
    for (uint32_t i = 0; i < engine.lane_count; i++)
        waiting |= lanes[i].written[writing ^ 1];
}

static void open_box(const struct box *b)
{
    for (uint32_t i = 0; i < b->count; i++)
        ring_take(b->letters[i].ring, b->letters[i].ready);
}

static void empty_boxes(uint32_t lane)
{
    for (uint64_t bits = lanes[lane].written[writing]; bits; bits &= bits - 1)
        box_of(writing, lane, (uint32_t)__builtin_ctzll(bits))->count = 0;
    lanes[lane].written[writing] = 0;
}

bool mail_is_pending(void)
{
    uint64_t pending = 0;
    for (uint32_t i = 0; i < engine.lane_count; i++)
        pending |= lanes[i].written[writing] | lanes[i].waits;
    return pending;
}

bool mail_is_due(uint32_t lane)
{
    if (waiting >> lane & 1 || lanes[lane].waits)
        return true;
    empty_boxes(lane);
    return false;
}

/* Keeps those that must wait on. */
static void look_again(uint32_t lane)
{
    struct lane *l = &lanes[lane];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < l->waits; i++) {
        if (!ring_look_again(waits[lane].rings[i]))
            waits[lane].rings[kept++] = waits[lane].rings[i];
    }
    l->waits = kept;
}

bool mail_deliver(uint32_t lane, uint64_t start_ps)
{
    bool any = waiting >> lane & 1;
    bool waits_for_room = lanes[lane].waits;
    if (any || waits_for_room)
        lane_move_clocks(lane, start_ps);
    for (uint32_t other = 0; any && other < engine.lane_count; other++) {
        if (lanes[other].written[writing ^ 1] >> lane & 1)
            open_box(box_of(writing ^ 1, other, lane));
    }
    empty_boxes(lane);
    if (waits_for_room)
        look_again(lane);
    return any || waits_for_room;
}

void mail_deliver_all(uint64_t start_ps)
{
    for (uint32_t lane = 0; lane < engine.lane_count; lane++)
        lane_move_clocks(lane, start_ps);
    for (uint32_t from = 0; from < engine.lane_count; from++) {
        for (uint32_t to = 0; to < engine.lane_count; to++)
            open_box(box_of(writing, from, to));
        empty_boxes(from);
        look_again(from);
    }
}

void mail_open(const struct platform_table *table)
{
    size_t count = 2 * (size_t)engine.lane_count * engine.lane_count;
    boxes = arena_derive(count * sizeof *boxes);
    writing = 0;
    waiting = 0;
    for (uint32_t i = 0; i < engine.lane_count; i++)
        waits[i].room = 0;
    for (uint32_t i = 0; i < table->ring_count; i++) {
        const struct ring *r = ring_at(i);
        uint32_t from = lane_of(ring_sender(r));
        uint32_t to = lane_of(ring_receiver(r));
        uint32_t depth = (r->end - r->first) / r->step;
        if (from == to)
            continue;
        box_of(0, from, to)->room += depth;
        box_of(1, from, to)->room += depth;
        waits[from].room++;
    }
    for (size_t i = 0; i < count; i++)
        boxes[i].letters = arena_derive(boxes[i].room * sizeof(struct letter));
    for (uint32_t i = 0; i < engine.lane_count; i++)
        waits[i].rings = arena_derive(waits[i].room * sizeof(uint32_t));
}
