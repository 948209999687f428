/* The slots of rings: where they are, and how many a ring uses.
 *
 * A narrow ring uses fewer slots than its depth, so that they stay in the host's caches, and gets
 * twice as many when its sender finds none free; it refuses when a whole one would. */
#include <string.h>

#include "base/number.h"
#include "runtime/engine/arena.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/instances.h"
#include "runtime/engine/platform_table.h"
#include "runtime/engine/rank.h"

#include "ring_state.h"
#include "shard_cut.h"

/* Slots that a ring begins with, if it need not have all at once; slots that a deep one has. Beyond
 * the first ones a deep ring moves to the rear of the arena, where what is never touched takes
 * nothing: most deep rings never need so many. On a large platform most rings never need more than
 * FEW. */
#define FEW    4u
#define NARROW 16u
#define DEEP   (2 * NARROW)

static bool is_large; /* platform_is_large() */

/* True if a ring may use fewer slots than it has: not where others than its ends look at slots, nor
 * where both ends may do so in one tick. */
static bool may_be_narrow(const struct ring *r)
{
    const struct ring_route *route = ring_route(r);
    return r->latency && !route->is_split && route->sender != route->receiver;
}

static size_t slot_bytes(const struct ring *r, uint32_t slots)
{
    return (size_t)slots * r->step * ARENA_UNIT;
}

/* The number of slots with which a narrow ring begins. */
static uint32_t few_slots(void)
{
    return is_large ? FEW : NARROW;
}

void ring_place_slots(struct ring *r, uint32_t depth)
{
    struct ring_route *route = ring_route(r);
    uint32_t few = few_slots(), before = route->placed_slots;
    bool is_narrow = depth > few && may_be_narrow(r),
         deep = is_narrow && (is_large || depth >= DEEP);
    route->depth = depth;
    route->placed_slots = deep ? few : depth;
    route->wide_at = deep ? arena_allocate_rear(slot_bytes(r, depth)) : 0;
    if (route->placed_slots > before)
        r->first = arena_allocate_front(slot_bytes(r, route->placed_slots));
    r->end = r->first + (is_narrow ? few : depth) * r->step;
    r->head = r->first;
    r->tail = r->first;
}

void ring_share_slots(uint32_t near)
{
    struct ring *from = ring_at(near);
    struct ring *to = ring_at(shard_cut_far(near));
    to->first = from->first;
    to->end = from->end;
    to->head = from->head;
    to->tail = from->tail;
    ring_routes[shard_cut_far(near)].depth = ring_routes[near].depth;
}

/* Moves the slots to the place where all of them fit. */
static void move_slots(struct ring *r)
{
    struct ring_route *route = ring_route(r);
    uint32_t from = r->first;
    r->first = route->wide_at;
    route->placed_slots = route->depth;
    memcpy(ring_slot(r->first), ring_slot(from), (size_t)(r->end - from) * ARENA_UNIT);
    r->end += r->first - from;
    r->head += r->first - from;
    r->tail += r->first - from;
}

/* Messages in the slots from the new ones on move up with them, oldest first as before. */
void ring_widen(struct ring *r, uint32_t ahead)
{
    uint32_t used = (r->end - r->first) / r->step, rest = ring_route(r)->depth - used;
    uint32_t added = min(used, rest) * r->step;
    if (used + added / r->step > ring_route(r)->placed_slots)
        move_slots(r);
    uint32_t gap = r->tail + ahead * r->step;
    if (r->head > gap || (r->head == gap && message_stamp(ring_slot(gap)) & RING_FULL))
        r->head += added;
    memmove(ring_slot(gap + added), ring_slot(gap), (size_t)(r->end - gap) * ARENA_UNIT);
    for (uint32_t slot = gap; slot != gap + added; slot += r->step)
        message_set_stamp(ring_slot(slot), 0);
    r->end += added;
    ring_find_simple(r);
}

void ring_open_room(const struct platform_table *table)
{
    is_large = platform_is_large(table);
}
