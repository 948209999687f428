/* Links that rings cross.
 *
 * Times over a link: start = max(now, when the link is free), + bytes / bandwidth, + latency, then
 * the next edge of the receiver. "Free" is kept as a fraction (whole picoseconds and a remainder
 * over the bandwidth), so long streams do not drift.
 *
 * A half of a bus (`via shared`) with several rings is granted at the end of the step, in order of
 * ring numbers, so that the order of ticks cannot matter; until then its messages carry
 * RING_UNKNOWN. Shared wires, whose rings take turns, are granted by shared_wire.c. When rings of
 * several shards share it, it is granted at the end of the window, in order of time and ring
 * number, which is the same order. */
#include <stdlib.h>
#include <string.h>

#include "port.h"
#include "ring_state.h"
#include "shared_wire.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/shard.h"

__extension__ typedef unsigned __int128 wide;

#define PS_PER_S ((uint64_t)1000000000000)

struct granted_later {
    uint64_t time_ps;
    uint32_t ring;
    uint32_t slot;
    uint32_t bytes;
    uint32_t sequence;
};

/* Messages that senders of a shard have put on buses. */
struct waiting {
    _Alignas(64) struct granted_later *items;
    uint32_t count;
    uint32_t mixed; /* of these, how many are for links of several shards */
};

struct ring_link *ring_links;
static struct waiting waiting[ENGINE_MAX_DOMAINS];
static struct granted_later *mixed;

/* A message of so many bytes takes a link at `now_ps`; returns the cycle in which it is seen. */
static uint64_t cross_link(const struct ring *r, uint64_t now_ps, uint32_t bytes)
{
    const struct ring_route *route = ring_route(r);
    struct ring_link *l = &ring_links[route->link - 1];
    struct ring_link_half *h = &l->halves[route->half];
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
    return ring_later(engine_cycle_at(route->receiver_domain, end_ps), route->receiver_domain,
                      now_ps)
           + route->delay;
}

uint64_t ring_link_bandwidth(const struct ring *r)
{
    return ring_route(r)->link ? ring_links[ring_route(r)->link - 1].bandwidth : 0;
}

/* What the message at the tail costs on a link: less than `bytes` where it is cut to its length. */
static uint32_t link_bytes(const struct ring *r, unsigned kind, uint32_t bytes)
{
    const struct platform_message *about = &port_messages(ring_index(r))[kind];
    uint32_t length;
    if (!about->length_at)
        return bytes;
    memcpy(&length, (const char *)ring_slot(r->tail) + about->length_at, sizeof length);
    return length < about->variable ? bytes - (about->variable - length) : bytes;
}

void ring_grant(uint32_t number, uint32_t slot, uint64_t time_ps, uint32_t bytes,
                uint64_t decided_ps)
{
    struct ring *r = ring_at(number);
    struct message *m = ring_slot(slot);
    uint64_t ready = cross_link(r, time_ps, bytes);
    message_set_stamp(m, ready << 16 | (m->stamp & 0xffff) | RING_FULL);
    ring_announce_late(r, ready);
    if (engine_unlikely(engine.tracing))
        ring_trace(r, m, time_ps, decided_ps);
}

static void grant(const struct granted_later *g)
{
    ring_grant(g->ring, g->slot, g->time_ps, g->bytes, g->time_ps);
}

uint64_t ring_link_free_ps(uint32_t link, unsigned half)
{
    return ring_links[link].halves[half].free_ps;
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
    return ring_links[ring_routes[g->ring].link - 1].halves[ring_routes[g->ring].half].mixed;
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

const struct ring_link_use *ring_link_use(uint32_t link, unsigned half)
{
    struct ring_link *l = &ring_links[link];
    struct ring_link_use *use = &l->halves[half].use;
    use->busy_ps = l->bandwidth ? (uint64_t)((wide)use->bytes * PS_PER_S / l->bandwidth) : 0;
    return use;
}

void ring_count_link(const struct platform_ring *p, const struct ring_route *route)
{
    struct ring_link_half *h = &ring_links[p->link - 1].halves[route->half];
    uint32_t shard = route->sender_domain / engine.clock_count;
    h->mixed |= h->rings++ && h->shard != shard;
    h->shard = shard;
}

uint64_t ring_send_over_link(struct ring *r, unsigned kind, uint32_t bytes, uint64_t now_ps)
{
    const struct ring_route *route = ring_route(r);
    bytes = link_bytes(r, kind, bytes);
    const struct ring_link_half *half = &ring_links[route->link - 1].halves[route->half];
    if (ring_links[route->link - 1].is_wire) {
        shared_wire_queue(ring_index(r), r->tail, now_ps, bytes);
        return RING_UNKNOWN;
    }
    if (half->rings == 1)
        return cross_link(r, now_ps, bytes);
    uint32_t shard = route->sender_domain / engine.clock_count;
    struct waiting *w = &waiting[shard];
    w->items[w->count] = (struct granted_later){now_ps, ring_index(r), r->tail, bytes, w->count};
    w->count++;
    if (half->mixed) {
        w->mixed++;
        window_ask_end();
    }
    shards[shard].step_end = true;
    return RING_UNKNOWN;
}

void ring_open_links(const struct platform_table *table)
{
    ring_links = arena_at(struct ring_link, arena_allocate(table->link_count * sizeof *ring_links));
    for (uint32_t i = 0; i < table->link_count; i++) {
        ring_links[i].bandwidth = table->links[i].bandwidth_bytes_per_s;
        ring_links[i].latency_ps = table->links[i].latency_ps;
        ring_links[i].is_wire = table->links[i].shared == LINK_WIRE;
    }
}

void ring_open_buses(uint32_t slots)
{
    mixed = arena_at(struct granted_later, arena_allocate(slots * sizeof *mixed));
    for (uint32_t i = 0; i < engine.shard_count; i++)
        waiting[i] = (struct waiting){
            arena_at(struct granted_later, arena_allocate(slots * sizeof *mixed)), 0, 0};
}
