/* The slots of rings: where they stand, and how many a ring uses.
 *
 * A narrow ring uses fewer slots than its depth, so that they stay in the host's caches, and gets
 * twice as many when its sender finds none free; it refuses when a whole one would. On a large
 * platform ring_forget() takes back what is no longer needed. */
#include <string.h>

#include "ring_state.h"
#include "split.h"
#include "runtime/engine/arena.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/instances.h"
#include "runtime/engine/platform_table.h"
#include "runtime/engine/rank.h"
#include "runtime/engine/util.h"

/* Room for more slots of a ring, on a large platform. */
struct others {
    uint32_t first; /* arena offset */
    uint32_t units;
    uint32_t ring;
};

/* State of ring_forget(). */
struct wide_rings {
    size_t left;      /* bytes of slots given up since slots went back to the system */
    uint64_t moved[]; /* a bit for each ring that has left its first slots */
};

/* Slots of at least a page go back to the system when nothing is in the ring, if so many have been
 * used since the last time. */
#define BULKY 64u

/* Slots that a ring begins with, if it need not have all at once; slots that a deep one gets in the
 * front of the arena. Beyond those it moves to the rear, where what is never touched takes nothing:
 * most deep rings never need so many. On a large platform, where most rings never need more than a
 * few, they begin with FEW, which stand side by side, and move a first time for NARROW;
 * ring_forget() takes back what they no longer need. */
#define FEW       4u
#define LONG_SLOT 320u /* bytes: of these half of that, as few rings of them have much to do */
#define NARROW    16u
#define DEEP      (2 * NARROW)

bool ring_large;
static struct others *others; /* in the order of their addresses, rank by rank */
static uint32_t other_count;
static struct wide_rings *wide_rings;
static uint32_t *bulky; /* numbers of rings with such slots, on a large platform */
static uint32_t bulky_count;

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

static uint32_t place_other(uint32_t ring, uint32_t slots)
{
    uint32_t page = ARENA_PAGE / ARENA_UNIT, units = slots * ring_at(ring)->step, first;
    if (slots < DEEP) {
        first = arena_allocate_rear(units * ARENA_UNIT);
    } else { /* on pages of its own, of which it seldom needs more than the first */
        units = (units + page - 1) / page * page;
        first = arena_allocate_rear((units + page) * ARENA_UNIT);
        first = (first + page - 1) / page * page;
    }
    others[other_count++] = (struct others){first, units, ring};
    return first;
}

/* Not one between two shards or ranks, of which both ends would have to begin again. */
static bool is_bulky(const struct platform_table *table, uint32_t number)
{
    const struct ring *r = ring_at(number);
    const struct ring_route *route = &ring_routes[number];
    return !ring_is_narrow(r) && !route->split && route->depth >= BULKY
           && slot_bytes(r, 1) >= ARENA_PAGE && platform_is_here(table->rings[number].sender)
           && platform_is_here(table->rings[number].receiver);
}

/* On a large platform, when all depths are known: places for more than the first few slots. */
void ring_place_others(const struct platform_table *table)
{
    const uint32_t *order = order_by_kinds(table);
    others = arena_derive(2 * table->ring_count * sizeof *others);
    bulky = arena_derive((table->ring_count + 1) * sizeof *bulky);
    wide_rings = arena_at(struct wide_rings,
                          arena_allocate(sizeof *wide_rings + (table->ring_count / 64 + 1) * 8));
    for (uint32_t i = 0; i < 2 * table->ring_count; i++) {
        bool first = i < table->ring_count;
        uint32_t number = order[first ? i : i - table->ring_count];
        const struct ring *r = ring_at(number);
        struct ring_route *route = &ring_routes[number];
        bool deep = route->depth >= DEEP;
        if (first && is_bulky(table, number))
            bulky[bulky_count++] = number;
        if (!ring_is_narrow(r))
            continue;
        arena_select(platform_rank_of(table->rings[number].sender));
        if (first)
            route->middle = place_other(number, deep ? NARROW : route->depth);
        else if (deep)
            route->wide = place_other(number, route->depth);
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

/* To a place with room for more slots, or for fewer. */
static void stand_at(struct ring *r, uint32_t place)
{
    uint32_t number = ring_index(r);
    struct ring_route *route = &ring_routes[number];
    uint64_t bit = (uint64_t)1 << number % 64;
    bool all = place == route->wide || (place == route->middle && route->depth < DEEP);
    route->room = all ? route->depth : place == route->middle ? NARROW : few_of(r);
    r->first = place;
    if (ring_large && place == route->few)
        wide_rings->moved[number / 64] &= ~bit;
    else if (ring_large)
        __atomic_fetch_or(&wide_rings->moved[number / 64], bit, __ATOMIC_RELAXED);
}

/* Is the slot of a message, or of a credit that its sender does not know of? */
static bool is_taken(const struct ring *r, uint32_t slot)
{
    uint64_t now = component_now(engine_base.components[ring_sender(r)]);
    return message_stamp(ring_slot(slot)) > ring_limit(now);
}

/* The first of the taken slots, which stand side by side, the newest before the tail; 0: they are
 * more than a quarter of all slots, or go round the end. */
static uint32_t find_taken(const struct ring *r, uint32_t end)
{
    uint32_t from = end, most = (r->end - r->first) / 4;
    while (from > r->first && end - from <= most && is_taken(r, from - r->step))
        from -= r->step;
    bool round = from == r->first && end != r->end && is_taken(r, r->end - r->step);
    return end - from > most || round ? 0 : from;
}

/* Twice as many slots as are taken suffice, if that is no more than half of what it has. */
static void shrink(struct ring *r)
{
    const struct ring_route *route = ring_route(r);
    uint32_t end = r->tail == r->first ? r->end : r->tail, from = find_taken(r, end);
    uint32_t taken = (end - from) / r->step, slots = few_of(r);
    while (slots < 2 * taken)
        slots *= 2;
    if (!from || 2 * slots * r->step > r->end - r->first)
        return;
    bool narrow = slots <= NARROW || route->depth < DEEP;
    uint32_t to = slots == few_of(r) ? route->few : narrow ? route->middle : route->wide;
    wide_rings->left += (size_t)(r->end - r->first - slots * r->step) * ARENA_UNIT;
    memmove(ring_slot(to), ring_slot(from), (size_t)(end - from) * ARENA_UNIT);
    r->head = r->head == r->tail ? to + end - from : to + r->head - from;
    r->tail = to + end - from;
    r->end = to + slots * r->step;
    stand_at(r, to);
    for (uint32_t slot = r->tail; slot != r->end; slot += r->step)
        message_set_stamp(ring_slot(slot), 0);
    ring_find_simple(r);
}

static void shrink_all(void)
{
    for (uint32_t word = 0; word <= engine_base.platform->ring_count / 64; word++)
        for (uint64_t bits = wide_rings->moved[word]; bits; bits &= bits - 1)
            shrink(ring_at(64 * word + (uint32_t)__builtin_ctzll(bits)));
}

static void forget_slots(uint32_t start, uint32_t end)
{
    arena_forget(arena_at(char, start), (size_t)(end - start) * ARENA_UNIT);
}

/* Nothing is in the ring: what its sender does not know of stands at the beginning then. */
static void forget_bulky(struct ring *r)
{
    uint32_t end = r->tail == r->first ? r->end : r->tail, to = r->first;
    bool used = message_stamp(ring_slot(r->first + (BULKY - 1) * r->step)) != 0;
    bool empty = r->head == r->tail && !(message_stamp(ring_slot(r->tail)) & RING_FULL);
    uint32_t from = used && empty ? find_taken(r, end) : 0;
    if (!from)
        return;
    for (uint32_t slot = from; slot != end; slot += r->step, to += r->step)
        message_set_stamp(ring_slot(to), message_stamp(ring_slot(slot)));
    r->head = r->tail = to;
    message_set_stamp(ring_slot(to), 0); /* the others are on pages that go */
    forget_slots(to, r->end);
}

void ring_forget(size_t least)
{
    for (uint32_t i = 0; i < bulky_count; i++)
        forget_bulky(ring_at(bulky[i]));
    if (!other_count)
        return;
    shrink_all();
    if (wide_rings->left < least)
        return;
    wide_rings->left = 0;
    uint32_t start = others[0].first;
    for (uint32_t i = 0; i < other_count; i++) {
        const struct ring *r = ring_at(others[i].ring);
        uint32_t end = others[i].first + others[i].units;
        bool apart =
            i + 1 == other_count || others[i + 1].first - end >= ARENA_ALIGNMENT / ARENA_UNIT;
        if (r->first == others[i].first) {
            forget_slots(start, r->first);
            start = r->end;
        }
        if (apart) {
            forget_slots(start, end);
            start = i + 1 < other_count ? others[i + 1].first : 0;
        }
    }
}

/* To where there is room for more slots. */
static void move_slots(struct ring *r)
{
    const struct ring_route *route = ring_route(r);
    uint32_t from = r->first;
    bool further = r->first != route->few || !route->middle;
    stand_at(r, further ? route->wide : route->middle);
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
    other_count = 0;
    bulky_count = 0;
}
