/* The slots of rings: where they stand, and how many a ring uses.
 *
 * A narrow ring uses fewer slots than its depth, so that they stay in the host's caches, and gets
 * twice as many when its sender finds none free; it refuses when a whole one would. */
#include <string.h>

#include "ring_state.h"
#include "split.h"
#include "runtime/engine/arena.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/instances.h"
#include "runtime/engine/platform_table.h"
#include "runtime/engine/rank.h"
#include "runtime/engine/util.h"

/* Slots that a ring begins with, if it need not have all at once; slots that a deep one gets in the
 * front of the arena. Beyond those it moves to the rear, where what is never touched takes nothing:
 * most deep rings never need so many. On a large platform, where most rings never need more than a
 * few, they begin with FEW, which stand side by side, and move a first time for NARROW. */
#define FEW       4u
#define LONG_SLOT 320u /* bytes: of these half of that, as few rings of them have much to do */
#define NARROW    16u
#define DEEP      (2 * NARROW)

bool ring_large;

/* May a ring use fewer slots than it has? Not where others than its ends look at slots, nor where
 * both ends may do so in one tick. */
static bool may_be_narrow(const struct ring *r)
{
    const struct ring_route *route = ring_route(r);
    return r->latency && !route->split && route->sender != route->receiver;
}

static size_t slot_bytes(const struct ring *r, uint32_t slots)
{
    return (size_t)slots * r->step * ARENA_UNIT;
}

/* How many it begins with. */
static uint32_t few_of(const struct ring *r)
{
    return !ring_large ? NARROW : slot_bytes(r, 1) < LONG_SLOT ? FEW : FEW / 2;
}

/* Gives an empty ring `depth` slots. */
void ring_place_slots(struct ring *r, uint32_t depth)
{
    struct ring_route *route = ring_route(r);
    uint32_t few = few_of(r), before = route->room;
    bool narrow = depth > few && may_be_narrow(r), deep = narrow && (ring_large || depth >= DEEP);
    route->depth = depth;
    route->room = deep ? few : depth;
    route->wide = deep && !ring_large ? arena_allocate_rear(slot_bytes(r, depth)) : 0;
    if (route->room > before)
        r->first = arena_allocate_front(slot_bytes(r, route->room));
    route->few = r->first;
    r->end = r->first + (narrow ? few : depth) * r->step;
    r->head = r->first;
    r->tail = r->first;
}

static uint32_t group_of(const struct platform_table *table, uint32_t leaf)
{
    uint32_t g = 0;
    while (leaf - table->groups[g].first >= table->groups[g].count)
        g++;
    return g;
}

/* The rings between components of the same kinds behind each other: they need as many slots. */
static const uint32_t *order_by_kinds(const struct platform_table *table)
{
    uint32_t groups = table->group_count, count = table->ring_count, before = 0;
    uint32_t *order = arena_derive((count + 1) * sizeof *order);
    uint32_t *kind = arena_derive((count + 1) * sizeof *kind);
    uint32_t *next = arena_derive(((size_t)groups * groups + 1) * sizeof *next);
    for (uint32_t i = 0; i < count; i++) {
        kind[i] = group_of(table, table->rings[i].sender) * groups
                  + group_of(table, table->rings[i].receiver);
        next[kind[i]]++;
    }
    for (uint32_t k = 0; k < groups * groups; k++) {
        uint32_t rings = next[k];
        next[k] = before;
        before += rings;
    }
    for (uint32_t i = 0; i < count; i++)
        order[next[kind[i]]++] = i;
    return order;
}

/* Many slots stand on pages of their own, of which they seldom need more than the first. */
static uint32_t place_other(const struct ring *r, uint32_t slots)
{
    uint32_t page = ARENA_PAGE / ARENA_UNIT;
    if (slots < DEEP)
        return arena_allocate_rear(slot_bytes(r, slots));
    return (arena_allocate_rear(slot_bytes(r, slots) + ARENA_PAGE) + page - 1) / page * page;
}

/* On a large platform, when all depths are known: places for more than the first few slots, for all
 * rings those of NARROW before the others. */
void ring_place_others(const struct platform_table *table)
{
    const uint32_t *order = order_by_kinds(table);
    for (uint32_t i = 0; i < 2 * table->ring_count; i++) {
        bool first = i < table->ring_count;
        uint32_t number = order[first ? i : i - table->ring_count];
        const struct ring *r = ring_at(number);
        struct ring_route *route = &ring_routes[number];
        bool deep = route->depth >= DEEP;
        if (!ring_is_narrow(r))
            continue;
        arena_select(platform_rank_of(table->rings[number].sender));
        if (first)
            route->middle = place_other(r, deep ? NARROW : route->depth);
        else if (deep)
            route->wide = place_other(r, route->depth);
    }
    arena_select(ARENA_COMMON);
}

/* The slots of the near ring are those of the far one, too. */
void ring_share_slots(uint32_t near)
{
    struct ring *from = ring_at(near);
    struct ring *to = ring_at(split_far(near));
    to->first = from->first;
    to->end = from->end;
    to->head = from->head;
    to->tail = from->tail;
    ring_routes[split_far(near)].depth = ring_routes[near].depth;
}

/* To where there is room for more slots. */
static void move_slots(struct ring *r)
{
    struct ring_route *route = ring_route(r);
    uint32_t from = r->first;
    bool further = r->first != route->few || !route->middle;
    r->first = further ? route->wide : route->middle;
    route->room = further || route->depth < DEEP ? route->depth : NARROW;
    memcpy(ring_slot(r->first), ring_slot(from), (size_t)(r->end - from) * ARENA_UNIT);
    r->end += r->first - from;
    r->head += r->first - from;
    r->tail += r->first - from;
}

/* Twice as many slots, the new ones `ahead` of the one to send in next; what is in the slots from
 * there on moves up with them, oldest first as before. */
void ring_widen(struct ring *r, uint32_t ahead)
{
    uint32_t used = (r->end - r->first) / r->step, rest = ring_route(r)->depth - used;
    uint32_t added = min_u64(used, rest) * r->step;
    if (used + added / r->step > ring_route(r)->room)
        move_slots(r);
    uint32_t at = r->tail + ahead * r->step;
    if (r->head > at || (r->head == at && message_stamp(ring_slot(at)) & RING_FULL))
        r->head += added;
    memmove(ring_slot(at + added), ring_slot(at), (size_t)(r->end - at) * ARENA_UNIT);
    for (uint32_t slot = at; slot != at + added; slot += r->step)
        message_set_stamp(ring_slot(slot), 0);
    r->end += added;
    ring_find_simple(r);
}

void ring_open_room(const struct platform_table *table)
{
    ring_large = platform_is_large(table);
}
