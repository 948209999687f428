/* Rings at start-up: their control blocks, what the components at their ends add to them, and what
 * ranks agree about that. */
#include "runtime/engine/arena.h"
#include "runtime/engine/bug.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/instances.h"
#include "runtime/engine/platform_table.h"
#include "runtime/engine/rank.h"

#include "ring_ends.h"
#include "ring_state.h"
#include "shard_cut.h"
#include "shared_wire.h"

struct ring_route *ring_routes;

/* Both halves of a split ring have the delay, and count it the same. */
static void add_delay(uint32_t near, uint32_t cycles)
{
    uint32_t far = shard_cut_far(near);
    uint32_t delay = ring_routes[near].delay + cycles;
    if (delay > UINT16_MAX)
        bug("ring %u: a delay of %u cycles", near, delay);
    ring_routes[near].delay = delay;
    ring_routes[far].delay = delay;
    ring_find_simple(ring_at(near));
    ring_find_simple(ring_at(far));
}

static void add_end(uint32_t near, uint32_t cycles, uint32_t slots)
{
    struct ring *r = ring_at(near);
    add_delay(near, cycles);
    if (!slots)
        return;
    ring_place_slots(r, ring_route(r)->depth + slots);
    ring_find_simple(r);
    shared_wire_deepen(near);
    ring_share_slots(near);
}

void ring_add_delay(uint32_t number, uint32_t cycles)
{
    uint32_t near = shard_cut_near(number);
    add_end(near, cycles, 0);
    ring_ends_add(near, cycles, 0);
}

void ring_add_pipeline(uint32_t number, uint32_t cycles)
{
    uint32_t near = shard_cut_near(number);
    uint32_t slots = cycles * ring_at(near)->width;
    add_end(near, cycles, slots);
    ring_ends_add(near, cycles, slots);
}

void ring_agree(void)
{
    ring_ends_agree(add_end);
}

/* Beside one of their ends; between two ranks, each of which has its own copy, apart. */
static void place_first_slots(const struct platform_ring *p, struct ring *r)
{
    uint32_t rank = platform_rank_of(p->sender);
    arena_select(rank == platform_rank_of(p->receiver) ? rank : ARENA_COMMON);
    ring_place_slots(r, p->depth);
    arena_select(ARENA_COMMON);
}

static void open_ring(const struct platform_table *table, uint32_t number)
{
    const struct platform_ring *p = &table->rings[number];
    struct ring *r = ring_at(number);
    struct ring_route *route = &ring_routes[number];
    uint32_t receiver = platform_id_of(p->receiver), sender = platform_id_of(p->sender);
    route->latency = p->latency;
    route->is_reply = p->is_reply;
    route->sender_domain = (uint8_t)platform_domain_of(p->sender);
    route->receiver_domain = (uint8_t)platform_domain_of(p->receiver);
    r->width = (uint16_t)p->width;
    r->step = (uint16_t)(RING_HEADER + p->payload_bytes / ARENA_UNIT);
    route->link = p->link;
    bool has_one_clock =
        route->sender_domain % engine.clock_count == route->receiver_domain % engine.clock_count;
    r->latency = p->link || !has_one_clock || p->latency > UINT16_MAX ? 0 : (uint16_t)p->latency;
    route->is_split = shard_cut_near(number) != shard_cut_far(number);
    r->receiver_domain = route->receiver_domain;
    route->sender = sender;
    route->receiver = receiver;
    r->mark = engine_mark_of(receiver);
    if (platform_is_here(p->receiver))
        r->pending_at = engine_base.components[receiver]->pending_at + p->pending / 64;
    r->pending_bit = (uint8_t)(p->pending % 64);
    if (shard_cut_near(number) == number)
        place_first_slots(p, r);
    else
        ring_share_slots(shard_cut_near(number));
    ring_find_simple(r);
    route->half = (uint8_t)(p->is_reply ^ p->is_reversed);
}

void ring_reserve(void)
{
    uint32_t front = arena_allocate_front(sizeof(struct engine_front));
    uint32_t rings = arena_allocate_front(shard_cut_ring_total() * sizeof(struct ring));
    if (front != ENGINE_FRONT || rings != ENGINE_RINGS)
        bug("the rings stand at %u of the arena, not at %u", rings, ENGINE_RINGS);
}

void ring_open(const struct platform_table *table)
{
    uint32_t total = shard_cut_ring_total();
    ring_open_room(table);
    ring_routes = arena_at(struct ring_route, arena_allocate(total * sizeof *ring_routes));
    ring_open_links(table);
    for (uint32_t i = 0; i < total; i++)
        open_ring(table, i);
    ring_trace_all(false);
    shared_wire_open(table);
    ring_ends_open(table);
}
