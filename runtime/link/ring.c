/* The slow paths of rings: refusals, clock crossings, links.
 *
 * Times over a link: start = max(now, when the link is free), + bytes / bandwidth, + latency, then
 * the next edge of the receiver. "Free" is kept as a fraction (whole picoseconds and a remainder
 * over the bandwidth), so long streams do not drift. A wire between clocks counts its latency in
 * cycles of the server, the receiver of the requests, from the first server edge at or after the
 * sending; towards the requester it ends at the requester's next edge. Whatever it crosses, a
 * message or a credit is seen at an edge strictly later than its sending.
 *
 * A half of a bus (`via shared`) with several rings is granted at the end of the step, in order of
 * ring numbers, so that the order of ticks cannot matter; until then its messages carry
 * RING_UNKNOWN. Shared wires, whose rings take turns, are granted by shared_wire.c. When rings of
 * several shards share it, it is granted at the end of the window, in order of time and ring
 * number, which is the same order.
 *
 * A ring between two shards has two control blocks, the near one for the shard of the sender and
 * the far one for the shard of the receiver, and one set of slots. The stamps keep both apart
 * (ring.h); what one shard must do because of the other goes through exchange.c: the receiver is
 * woken when the next window begins, and a sender that was refused looks again then. Neither is
 * `simple`, and nobody waits at the far one. */
#include "ring.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/engine/bug.h"
#include "exchange.h"
#include "ring_run.h"
#include "runtime/engine/arena.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/platform_table.h"
#include "runtime/engine/shard.h"
#include "split.h"
#include "port.h"
#include "ring_ends.h"
#include "shared_wire.h"

__extension__ typedef unsigned __int128 wide;

#define PS_PER_S ((uint64_t)1000000000000)

/* What a ring's control block has no room for and fast paths do not need. */
struct route {
    uint32_t latency; /* cycles of the server; wires only */
    uint32_t sender;  /* component id */
    uint32_t receiver;
    uint32_t delay; /* cycles that the ends add to it: ring_add_delay(), ring_add_pipeline() */
    uint8_t sender_domain;
    uint8_t receiver_domain;
    uint8_t is_reply; /* 0 or 1; a state that is loaded may say anything */
    uint8_t half;     /* of the link */
    uint32_t link;    /* 1 + index of the link that is crossed, 0: a wire */
    uint8_t split;    /* between two shards: this is one of two rings */
    uint32_t depth;   /* slots */
    uint32_t room;    /* of these, for how many there is room where they stand */
    uint32_t few;     /* where the first ones stand */
    uint32_t middle;  /* where there is room for NARROW of them; 0: not on this platform */
    uint32_t wide;    /* where there is room for all; 0: they begin where it stands */
};

/* Room for more slots of a ring, on a large platform. */
struct others {
    uint32_t first; /* arena offset */
    uint32_t units;
    uint32_t ring;
};

/* What ring_forget() goes by. */
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

struct half {
    uint64_t free_ps;
    uint64_t fraction; /* in 1 / bandwidth ps */
    uint32_t rings;
    uint32_t shard; /* of the senders */
    bool mixed;     /* they are in several shards */
    struct ring_link_use use;
};

struct link {
    uint64_t bandwidth;
    uint64_t latency_ps;
    bool is_wire; /* granted by shared_wire.c */
    struct half halves[2];
};

struct granted_later {
    uint64_t time_ps;
    uint32_t ring;
    uint32_t slot;
    uint32_t bytes;
    uint32_t sequence;
};

/* Of the senders of a shard. */
struct waiting {
    _Alignas(64) struct granted_later *items;
    uint32_t count;
    uint32_t mixed; /* of these, how many are for links of several shards */
};

static struct route *routes;
static struct others *others; /* in the order of their addresses, rank by rank */
static uint32_t other_count;
static struct wide_rings *wide_rings;
static uint32_t *bulky; /* numbers of rings with such slots, on a large platform */
static uint32_t bulky_count;
static bool large;  /* platform_is_large() */
static bool traced; /* each message is looked at */
static struct link *links;
static uint32_t ring_count; /* of the tables */
static struct waiting waiting[ENGINE_MAX_DOMAINS];
static struct granted_later *mixed;

static const struct route *route_of(const struct ring *r)
{
    return &routes[r - ring_at(0)];
}

uint32_t ring_sender(const struct ring *r)
{
    return route_of(r)->sender;
}

uint32_t ring_receiver(const struct ring *r)
{
    return route_of(r)->receiver;
}

uint32_t ring_sender_domain(const struct ring *r)
{
    return route_of(r)->sender_domain;
}

uint32_t ring_receiver_domain(const struct ring *r)
{
    return route_of(r)->receiver_domain;
}

uint64_t ring_link_bandwidth(const struct ring *r)
{
    return route_of(r)->link ? links[route_of(r)->link - 1].bandwidth : 0;
}

static uint64_t later(uint64_t cycle, uint32_t domain, uint64_t now_ps)
{
    uint64_t least = engine_cycle_at(domain, now_ps + 1);
    return cycle > least ? cycle : least;
}

/* From an edge at `now_ps` to `target`, by a wire whose latency counts in cycles of `server`. */
static uint64_t cross_wire(uint64_t now_ps, uint32_t latency, uint32_t server, uint32_t target)
{
    uint64_t cycle = engine_cycle_at(server, now_ps) + latency;
    if (server != target)
        cycle = engine_cycle_at(target, engine_time_of(server, cycle));
    return later(cycle, target, now_ps);
}

static uint64_t cross_link(const struct ring *r, uint64_t now_ps, uint32_t bytes)
{
    const struct route *route = route_of(r);
    struct link *l = &links[route->link - 1];
    struct half *h = &l->halves[route->half];
    h->use.messages++;
    h->use.bytes += bytes;
    if (now_ps > h->free_ps) {
        h->free_ps = now_ps;
        h->fraction = 0;
    }
    if (l->bandwidth) {
        wide work = (wide)bytes * PS_PER_S + h->fraction;
        h->free_ps += (uint64_t)(work / l->bandwidth);
        h->fraction = (uint64_t)(work % l->bandwidth);
    }
    uint64_t end_ps = h->free_ps + (h->fraction != 0) + l->latency_ps;
    return later(engine_cycle_at(route->receiver_domain, end_ps), route->receiver_domain, now_ps)
           + route->delay;
}

/* What the message at the tail costs on a link: less than `bytes` where it is cut to its length. */
static uint32_t link_bytes(const struct ring *r, unsigned kind, uint32_t bytes)
{
    const struct platform_message *about = &port_messages((uint32_t)(r - ring_at(0)))[kind];
    uint32_t length;
    if (!about->length_at)
        return bytes;
    memcpy(&length, (const char *)ring_slot(r->tail) + about->length_at, sizeof length);
    return length < about->variable ? bytes - (about->variable - length) : bytes;
}

/* Over a link or between clocks: cycle of the receiver in which a message sent now is seen. */
static uint64_t arrival(struct ring *r, unsigned kind, uint32_t bytes)
{
    const struct route *route = route_of(r);
    uint64_t now_ps = shard_now(route->sender_domain);
    if (!route->link) {
        uint32_t server = route->is_reply ? route->sender_domain : route->receiver_domain;
        return cross_wire(now_ps, route->latency, server, route->receiver_domain) + route->delay;
    }
    bytes = link_bytes(r, kind, bytes);
    const struct half *half = &links[route->link - 1].halves[route->half];
    if (links[route->link - 1].is_wire) {
        shared_wire_queue((uint32_t)(r - ring_at(0)), r->tail, now_ps, bytes);
        return RING_UNKNOWN;
    }
    if (half->rings == 1)
        return cross_link(r, now_ps, bytes);
    uint32_t shard = route->sender_domain / engine.clock_count;
    struct waiting *w = &waiting[shard];
    w->items[w->count] =
        (struct granted_later){now_ps, (uint32_t)(r - ring_at(0)), r->tail, bytes, w->count};
    w->count++;
    if (half->mixed) {
        w->mixed++;
        window_ask_end();
    }
    shards[shard].step_end = true;
    return RING_UNKNOWN;
}

uint64_t ring_credit_return(const struct ring *r)
{
    const struct route *route = route_of(r);
    uint64_t now_ps = shard_now(route->receiver_domain);
    if (!route->link) {
        uint32_t server = route->is_reply ? route->sender_domain : route->receiver_domain;
        return cross_wire(now_ps, route->latency, server, route->sender_domain);
    }
    uint64_t back =
        engine_cycle_at(route->sender_domain, now_ps + links[route->link - 1].latency_ps);
    return later(back, route->sender_domain, now_ps);
}

/* Tells the receiver of a message that will arrive in cycle `ready`. */
static void announce_late(struct ring *r, uint64_t ready)
{
    const struct route *route = route_of(r);
    if (engine_unlikely(route->split))
        exchange_message(route->sender_domain / engine.clock_count,
                         route->receiver_domain / engine.clock_count, (uint32_t)(r - ring_at(0)),
                         ready);
    else
        engine_arrives_far(route->receiver, ready);
}

void ring_grant(uint32_t number, uint32_t slot, uint64_t time_ps, uint32_t bytes,
                uint64_t decided_ps)
{
    struct ring *r = ring_at(number);
    struct message *m = ring_slot(slot);
    uint64_t ready = cross_link(r, time_ps, bytes);
    message_set_stamp(m, ready << 16 | (m->stamp & 0xffff) | RING_FULL);
    announce_late(r, ready);
    if (engine_unlikely(engine.tracing))
        ring_trace(r, m, time_ps, decided_ps);
}

static void grant(const struct granted_later *g)
{
    ring_grant(g->ring, g->slot, g->time_ps, g->bytes, g->time_ps);
}

uint64_t ring_link_free_ps(uint32_t link, unsigned half)
{
    return links[link].halves[half].free_ps;
}

static int by_time(const void *a, const void *b)
{
    const struct granted_later *x = a;
    const struct granted_later *y = b;
    if (x->time_ps != y->time_ps)
        return x->time_ps < y->time_ps ? -1 : 1;
    if (x->ring != y->ring)
        return x->ring < y->ring ? -1 : 1;
    return x->sequence < y->sequence ? -1 : 1;
}

static bool is_mixed(const struct granted_later *g)
{
    return links[routes[g->ring].link - 1].halves[routes[g->ring].half].mixed;
}

void ring_settle_links(uint32_t shard)
{
    struct waiting *w = &waiting[shard];
    uint32_t kept = 0;
    if (w->count == w->mixed)
        return;
    qsort(w->items, w->count, sizeof *w->items, by_time);
    for (uint32_t i = 0; i < w->count; i++) {
        if (is_mixed(&w->items[i]))
            w->items[kept++] = w->items[i];
        else
            grant(&w->items[i]);
    }
    w->count = kept;
}

void ring_settle_mixed(void)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < engine.shard_count; i++) {
        struct waiting *w = &waiting[i];
        for (uint32_t k = 0; k < w->count; k++)
            mixed[count++] = w->items[k];
        w->count = 0;
        w->mixed = 0;
    }
    if (!count)
        return;
    qsort(mixed, count, sizeof *mixed, by_time);
    for (uint32_t i = 0; i < count; i++)
        grant(&mixed[i]);
    for (uint32_t i = 0; i < engine.shard_count; i++)
        shard_plan(i);
}

/* Are arrivals marks, made for heads only? The same whether the ring lies between two shards or
 * not.
 */
static inline bool is_near(const struct ring *r)
{
    return r->latency && r->latency + route_of(r)->delay < ENGINE_NEAR;
}

/* Makes the receiver look when a message arrives in cycle `ready`; of those with marks, for one
 * that stands behind others ring_drop() does so. */
static inline void announce(struct ring *r, uint64_t ready)
{
    uint64_t *pending = arena_at(uint64_t, r->pending), bit = (uint64_t)1 << r->pending_bit;
    bool first = !(*pending & bit);
    *pending |= bit;
    if (!is_near(r))
        engine_arrives_far(route_of(r)->receiver, ready);
    else if (first)
        engine_mark_arrival(r->mark, r->receiver_domain, ready);
}

/* Between two shards, the sender's may be a window ahead of what marks can name. */
void ring_head_waits(struct ring *r, uint64_t limit, uint64_t cycle)
{
    if (!is_near(r))
        return; /* announced when it was sent */
    if (cycle < (limit >> 16) + ENGINE_NEAR)
        engine_mark_arrival(r->mark, r->receiver_domain, cycle);
    else
        engine_arrives_far(route_of(r)->receiver, cycle);
}

void ring_put_any(struct ring *r, uint64_t limit, unsigned kind, unsigned wire_bytes,
                  unsigned awaited)
{
    struct message *m = ring_slot(r->tail);
    uint32_t ahead = r->latency + route_of(r)->delay;
    uint64_t ready = r->latency ? (limit >> 16) + ahead : arrival(r, kind, wire_bytes);
    message_set_stamp(m, ready << 16 | kind << 8 | RING_FULL);
    r->tail = ring_after(r, r->tail);
    r->messages++;
    r->awaited += awaited;
    ring_count_sent(r, limit);
    if (!route_of(r)->split)
        announce(r, ready);
    else if (ready != RING_UNKNOWN)
        announce_late(r, ready);
    if (engine_unlikely(engine.tracing))
        ring_trace(r, m, shard_now(route_of(r)->sender_domain), RING_OWN);
}

void ring_post_any(struct ring *r, uint64_t limit, unsigned kind, unsigned awaited)
{
    unsigned bytes = r->latency ? 0 : port_messages((uint32_t)(r - ring_at(0)))[kind].wire_bytes;
    ring_put_any(r, limit, kind, bytes, awaited);
}

/* The sender's shard may have been a window ahead of what marks can name. */
void ring_take(uint32_t number, uint64_t ready)
{
    struct ring *r = ring_at(split_far(number));
    if (ready - engine.domains[r->receiver_domain].cycle < ENGINE_NEAR) {
        announce(r, ready);
        return;
    }
    *arena_at(uint64_t, r->pending) |= (uint64_t)1 << r->pending_bit;
    engine_arrives_far(route_of(r)->receiver, ready);
}

bool ring_look_again(uint32_t number)
{
    struct ring *r = ring_at(number);
    uint64_t stamp = message_stamp(ring_slot(r->tail));
    if (r->sender_waits == RING_WAITS_FOR_TWO) {
        uint64_t second = message_stamp(ring_slot(ring_after(r, r->tail)));
        stamp = second > stamp ? second : stamp;
    }
    if (stamp & RING_FULL)
        return false;
    r->sender_waits = 0;
    engine_wake_later(ring_sender(r), stamp >> 16);
    return true;
}

/* May a ring use fewer slots than it has? Not where others than its ends look at slots, nor where
 * both ends may do so in one tick. */
static bool may_be_narrow(const struct ring *r)
{
    const struct route *route = route_of(r);
    return r->latency && !route->split && route->sender != route->receiver;
}

static size_t slot_bytes(const struct ring *r, uint32_t slots)
{
    return (size_t)slots * r->step * ARENA_UNIT;
}

/* How many it begins with. */
static uint32_t few_of(const struct ring *r)
{
    return !large ? NARROW : slot_bytes(r, 1) < LONG_SLOT ? FEW : FEW / 2;
}

/* Gives an empty ring `depth` slots. */
static void place_slots(struct ring *r, uint32_t depth)
{
    struct route *route = &routes[r - ring_at(0)];
    uint32_t few = few_of(r), before = route->room;
    bool narrow = depth > few && may_be_narrow(r), deep = narrow && (large || depth >= DEEP);
    route->depth = depth;
    route->room = deep ? few : depth;
    route->wide = deep && !large ? arena_allocate_rear(slot_bytes(r, depth)) : 0;
    if (route->room > before)
        r->first = arena_allocate_front(slot_bytes(r, route->room));
    route->few = r->first;
    r->end = r->first + (narrow ? few : depth) * r->step;
    r->head = r->first;
    r->tail = r->first;
}

static bool is_narrow(const struct ring *r)
{
    return r->end != r->first + route_of(r)->depth * r->step;
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
    const struct route *route = &routes[number];
    return !is_narrow(r) && !route->split && route->depth >= BULKY && slot_bytes(r, 1) >= ARENA_PAGE
           && platform_is_here(table->rings[number].sender)
           && platform_is_here(table->rings[number].receiver);
}

/* On a large platform, when all depths are known: places for more than the first few slots. */
static void place_others(const struct platform_table *table)
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
        struct route *route = &routes[number];
        bool deep = route->depth >= DEEP;
        if (first && is_bulky(table, number))
            bulky[bulky_count++] = number;
        if (!is_narrow(r))
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
static void share_slots(uint32_t near)
{
    struct ring *from = ring_at(near);
    struct ring *to = ring_at(split_far(near));
    to->first = from->first;
    to->end = from->end;
    to->head = from->head;
    to->tail = from->tail;
    routes[split_far(near)].depth = routes[near].depth;
}

static void find_simple(struct ring *r)
{
    uint32_t ahead = r->latency + route_of(r)->delay;
    bool simple = r->latency && ahead < ENGINE_NEAR && !route_of(r)->split && !traced;
    r->simple = !simple ? RING_NOT_SIMPLE : is_narrow(r) ? RING_NARROW : RING_WHOLE;
    r->ahead = ((uint64_t)ahead << 16) + RING_FULL - 0xffff;
}

static void find_all_simple(void)
{
    uint32_t total = split_ring_total();
    for (uint32_t i = 0; i < total; i++)
        find_simple(ring_at(i));
}

void ring_trace_all(bool on)
{
    traced = on;
    find_all_simple();
}

/* Both halves of a split ring count the same. */
static void add_delay(uint32_t near, uint32_t cycles)
{
    uint32_t far = split_far(near);
    uint32_t delay = routes[near].delay + cycles;
    if (delay > UINT16_MAX)
        bug("ring %u: a delay of %u cycles", near, delay);
    routes[near].delay = delay;
    routes[far].delay = delay;
    find_simple(ring_at(near));
    find_simple(ring_at(far));
}

static void add(uint32_t near, uint32_t cycles, uint32_t slots)
{
    struct ring *r = ring_at(near);
    add_delay(near, cycles);
    if (!slots)
        return;
    place_slots(r, route_of(r)->depth + slots);
    find_simple(r);
    shared_wire_deepen(near);
    share_slots(near);
}

void ring_add_delay(uint32_t number, uint32_t cycles)
{
    uint32_t near = split_near(number);
    add(near, cycles, 0);
    ring_ends_note(near, cycles, 0);
}

void ring_add_pipeline(uint32_t number, uint32_t cycles)
{
    uint32_t near = split_near(number);
    uint32_t slots = cycles * ring_at(near)->width;
    add(near, cycles, slots);
    ring_ends_note(near, cycles, slots);
}

void ring_agree(void)
{
    ring_ends_agree(add);
    if (large)
        place_others(engine_base.platform);
}

/* To a place with room for more slots, or for fewer. */
static void stand_at(struct ring *r, uint32_t place)
{
    uint32_t number = (uint32_t)(r - ring_at(0));
    struct route *route = &routes[number];
    uint64_t bit = (uint64_t)1 << number % 64;
    bool all = place == route->wide || (place == route->middle && route->depth < DEEP);
    route->room = all ? route->depth : place == route->middle ? NARROW : few_of(r);
    r->first = place;
    if (large && place == route->few)
        wide_rings->moved[number / 64] &= ~bit;
    else if (large)
        __atomic_fetch_or(&wide_rings->moved[number / 64], bit, __ATOMIC_RELAXED);
}

/* Is the slot of a message, or of a credit that its sender does not know of? */
static bool is_taken(const struct ring *r, uint32_t slot)
{
    uint64_t now = component_now(engine_base.components[ring_sender(r)]);
    return message_stamp(ring_slot(slot)) > ring_limit(now);
}

/* What is taken stands side by side, the newest before the tail. Where it begins; 0: it is more
 * than a quarter of all slots, or goes round the end. */
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
    const struct route *route = route_of(r);
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
    find_simple(r);
}

static void shrink_all(void)
{
    for (uint32_t word = 0; word <= ring_count / 64; word++)
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
    const struct route *route = route_of(r);
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
static void widen(struct ring *r, uint32_t ahead)
{
    uint32_t used = (r->end - r->first) / r->step, rest = route_of(r)->depth - used;
    uint32_t added = (used < rest ? used : rest) * r->step;
    if (used + added / r->step > route_of(r)->room)
        move_slots(r);
    uint32_t at = r->tail + ahead * r->step;
    if (r->head > at || (r->head == at && message_stamp(ring_slot(at)) & RING_FULL))
        r->head += added;
    memmove(ring_slot(at + added), ring_slot(at), (size_t)(r->end - at) * ARENA_UNIT);
    for (uint32_t slot = at; slot != at + added; slot += r->step)
        message_set_stamp(ring_slot(slot), 0);
    r->end += added;
    find_simple(r);
}

/* The sender of a ring that may lie between two shards begins to wait for room. */
static void begin_to_wait(struct ring *r, enum ring_wait wait)
{
    if (engine_unlikely(route_of(r)->split) && !r->sender_waits)
        exchange_wait((uint32_t)(r - ring_at(0)));
    r->sender_waits = (uint8_t)wait;
}

bool ring_refused(struct ring *r, uint64_t limit)
{
    uint64_t now = limit >> 16;
    uint64_t stamp = message_stamp(ring_slot(r->tail));
    if (stamp > limit && is_narrow(r)) {
        widen(r, 0);
        stamp = 0;
        if (r->sent < limit || r->burst < r->width)
            return true;
    }
    if (stamp & RING_FULL)
        begin_to_wait(r, RING_WAITS);
    else
        component_wake_at(engine_base.components[ring_sender(r)],
                          stamp >> 16 > now ? stamp >> 16 : now + 1);
    return false;
}

bool ring_has_second(struct ring *r, uint64_t limit)
{
    uint64_t stamp = message_stamp(ring_slot(ring_after(r, r->tail)));
    if (stamp > limit && is_narrow(r)) {
        widen(r, 1);
        return true;
    }
    if (stamp <= limit)
        return true;
    if (!(stamp & RING_FULL))
        component_wake_at(engine_base.components[ring_sender(r)], stamp >> 16);
    else if (!r->sender_waits)
        begin_to_wait(r, RING_WAITS_FOR_TWO);
    return false;
}

void ring_wake_sender(struct ring *r, uint64_t cycle)
{
    r->sender_waits = 0;
    if (r->latency == 1)
        engine_wake_next(ring_sender(r));
    else
        engine_wake_later(ring_sender(r), cycle);
}

uint64_t engine_messages(void)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < ring_count; i++)
        sum += ring_at(i)->messages;
    return sum;
}

const struct ring_link_use *ring_link_use(uint32_t link, unsigned half)
{
    struct link *l = &links[link];
    struct ring_link_use *use = &l->halves[half].use;
    use->busy_ps = l->bandwidth ? (uint64_t)((wide)use->bytes * PS_PER_S / l->bandwidth) : 0;
    return use;
}

/* ---- start ---- */

static void count_link(const struct platform_ring *p, const struct route *route)
{
    struct half *h = &links[p->link - 1].halves[route->half];
    uint32_t shard = route->sender_domain / engine.clock_count;
    h->mixed |= h->rings++ && h->shard != shard;
    h->shard = shard;
}

/* Beside one of their ends; between two ranks, each of which has its own copy, apart. */
static void place_first_slots(const struct platform_ring *p, struct ring *r)
{
    uint32_t rank = platform_rank_of(p->sender);
    arena_select(rank == platform_rank_of(p->receiver) ? rank : ARENA_COMMON);
    place_slots(r, p->depth);
    arena_select(ARENA_COMMON);
}

static void open_ring(const struct platform_table *table, uint32_t number)
{
    const struct platform_ring *p = &table->rings[number];
    struct ring *r = ring_at(number);
    struct route *route = &routes[number];
    uint32_t receiver = platform_id_of(p->receiver), sender = platform_id_of(p->sender);
    route->latency = p->latency;
    route->is_reply = p->is_reply;
    route->sender_domain = (uint8_t)platform_domain_of(p->sender);
    route->receiver_domain = (uint8_t)platform_domain_of(p->receiver);
    r->width = (uint16_t)p->width;
    r->step = (uint16_t)(RING_HEADER + p->payload_bytes / ARENA_UNIT);
    route->link = p->link;
    bool one_clock =
        route->sender_domain % engine.clock_count == route->receiver_domain % engine.clock_count;
    r->latency = p->link || !one_clock || p->latency > UINT16_MAX ? 0 : (uint16_t)p->latency;
    route->split = split_near(number) != split_far(number);
    r->receiver_domain = route->receiver_domain;
    route->sender = sender;
    route->receiver = receiver;
    r->mark = engine_mark_of(receiver);
    if (platform_is_here(p->receiver))
        r->pending = engine_base.components[receiver]->pending + p->pending / 64;
    r->pending_bit = (uint8_t)(p->pending % 64);
    if (split_near(number) == number)
        place_first_slots(p, r);
    else
        share_slots(split_near(number));
    find_simple(r);
    if (p->link) {
        uint32_t back = p->is_reply ^ p->reversed;
        route->half = table->links[p->link - 1].shared == LINK_BUS ? 0 : (uint8_t)back;
        if (split_near(number) == number)
            count_link(p, route);
    }
}

void ring_reserve(void)
{
    uint32_t front = arena_allocate_front(sizeof(struct engine_front));
    uint32_t rings = arena_allocate_front(split_ring_total() * sizeof(struct ring));
    if (front != ENGINE_FRONT || rings != ENGINE_RINGS)
        bug("the rings stand at %u of the arena, not at %u", rings, ENGINE_RINGS);
}

void ring_open(const struct platform_table *table)
{
    size_t slots = 0;
    uint32_t total = split_ring_total();
    ring_count = table->ring_count;
    traced = false;
    large = platform_is_large(table);
    other_count = 0;
    bulky_count = 0;
    routes = arena_at(struct route, arena_allocate(total * sizeof *routes));
    links = arena_at(struct link, arena_allocate(table->link_count * sizeof *links));
    for (uint32_t i = 0; i < table->link_count; i++) {
        links[i].bandwidth = table->links[i].bandwidth_bytes_per_s;
        links[i].latency_ps = table->links[i].latency_ps;
        links[i].is_wire = table->links[i].shared == LINK_WIRE;
    }
    for (uint32_t i = 0; i < total; i++) {
        open_ring(table, i);
        slots += table->rings[i].link ? table->rings[i].depth : 0;
    }
    mixed = arena_at(struct granted_later, arena_allocate(slots * sizeof *mixed));
    for (uint32_t i = 0; i < engine.shard_count; i++)
        waiting[i] = (struct waiting){
            arena_at(struct granted_later, arena_allocate(slots * sizeof *mixed)), 0, 0};
    shared_wire_open(table);
    ring_ends_open(table);
}
