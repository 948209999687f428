/* Links that rings cross.
 *
 * Times over a link: start = max(now, when the link is free), + bytes / bandwidth, + latency, then
 * the next edge of the receiver. "Free" is kept as a fraction (whole picoseconds and a remainder
 * over the bandwidth), so long streams do not drift.
 *
 * A ring over a link of its own knows the time at once. Shared wires, whose rings take turns, are
 * granted by shared_wire.c; until then their messages carry RING_UNKNOWN. */
#include <string.h>

#include "base/likely.h"
#include "base/number.h"
#include "base/wide.h"
#include "runtime/engine/engine.h"

#include "port.h"
#include "ring_state.h"
#include "shared_wire.h"

struct ring_link *ring_links;

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

/* Bytes of a link that the message at the tail takes: fewer than `bytes` where it is cut. */
static uint32_t link_bytes(const struct ring *r, unsigned kind, uint32_t bytes)
{
    const struct platform_message *type = &port_messages(ring_index(r))[kind];
    uint32_t length;
    if (!type->length_at)
        return bytes;
    memcpy(&length, (const char *)ring_slot(r->tail) + type->length_at, sizeof length);
    return length < type->variable_bytes ? bytes - (type->variable_bytes - length) : bytes;
}

void ring_grant(const struct shared_wire_channel_use *use, uint32_t slot, uint64_t time_ps,
                uint32_t bytes, uint64_t decided_ps)
{
    struct ring *r = ring_at(use->ring);
    struct message *m = ring_slot(slot);
    uint64_t ready = cross_link(r, time_ps, bytes);
    message_set_stamp(m, ready << 16 | (m->stamp & 0xffff) | RING_FULL);
    ring_announce_late(r, ready);
    if (unlikely(engine.tracing))
        ring_trace(r, m, use->messages, time_ps, decided_ps);
}

uint64_t ring_link_free_ps(uint32_t link, unsigned half)
{
    return ring_links[link].halves[half].free_ps;
}

const struct ring_link_use *ring_link_use(uint32_t link, unsigned half, uint64_t until_ps)
{
    struct ring_link *l = &ring_links[link];
    struct ring_link_half *h = &l->halves[half];
    uint64_t busy_ps = l->bandwidth ? divide_wide(h->use.bytes, PS_PER_S, l->bandwidth) : 0;
    uint64_t ahead_ps = h->free_ps > until_ps ? h->free_ps - until_ps : 0;
    busy_ps -= min(ahead_ps, busy_ps);
    if (busy_ps > h->use.busy_ps) /* both are rounded */
        h->use.busy_ps = busy_ps;
    return &h->use;
}

uint64_t ring_send_over_link(struct ring *r, unsigned kind, uint32_t bytes, uint64_t now_ps)
{
    const struct ring_route *route = ring_route(r);
    bytes = link_bytes(r, kind, bytes);
    if (!ring_links[route->link - 1].is_wire)
        return cross_link(r, now_ps, bytes);
    shared_wire_queue(ring_index(r), r->tail, now_ps, bytes);
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
