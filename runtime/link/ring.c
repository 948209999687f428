/* Rings: what sending, taking and refusing a message comes to, where the fast paths of ring.h do
 * not suffice.
 *
 * A wire between clocks counts its latency in cycles of the server, the receiver of the requests,
 * from the first server edge at or after the sending; towards the requester it ends at the
 * requester's next edge. Whatever it crosses, a message or a credit is seen at an edge strictly
 * later than its sending.
 *
 * A ring between two shards has two control blocks, the near one for the shard of the sender and
 * the far one for the shard of the receiver, and one set of slots. The stamps keep both apart
 * (ring.h); what one shard must do because of the other goes through exchange.c: the receiver is
 * woken when the next window begins, and a sender that was refused looks again then. Neither is
 * `simple`, and no sender waits at the far one. */
#include "base/likely.h"
#include "base/number.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/platform_table.h"
#include "runtime/engine/shard.h"

#include "exchange.h"
#include "port.h"
#include "ring_state.h"
#include "shard_cut.h"

static bool is_traced; /* each message is looked at */

uint32_t ring_sender(const struct ring *r)
{
    return ring_route(r)->sender;
}

uint32_t ring_sender_domain(const struct ring *r)
{
    return ring_route(r)->sender_domain;
}

uint32_t ring_receiver_domain(const struct ring *r)
{
    return ring_route(r)->receiver_domain;
}

/* From an edge at `now_ps` to `target`, by a wire whose latency counts in cycles of `server`. */
static uint64_t cross_wire(uint64_t now_ps, uint32_t latency, uint32_t server, uint32_t target)
{
    uint64_t cycle = engine_cycle_at(server, now_ps) + latency;
    if (server != target)
        cycle = engine_cycle_at(target, engine_time_of(server, cycle));
    return ring_later(cycle, target, now_ps);
}

/* Over a link or between clocks: cycle of the receiver in which a message sent now is seen. */
static uint64_t arrival(struct ring *r, unsigned kind, uint32_t bytes)
{
    const struct ring_route *route = ring_route(r);
    uint64_t now_ps = shard_now(route->sender_domain);
    if (route->link)
        return ring_send_over_link(r, kind, bytes, now_ps);
    uint32_t server = route->is_reply ? route->sender_domain : route->receiver_domain;
    return cross_wire(now_ps, route->latency, server, route->receiver_domain) + route->delay;
}

uint64_t ring_credit_return(const struct ring *r)
{
    const struct ring_route *route = ring_route(r);
    uint64_t now_ps = shard_now(route->receiver_domain);
    if (!route->link) {
        uint32_t server = route->is_reply ? route->sender_domain : route->receiver_domain;
        return cross_wire(now_ps, route->latency, server, route->sender_domain);
    }
    uint64_t back =
        engine_cycle_at(route->sender_domain, now_ps + ring_links[route->link - 1].latency_ps);
    return ring_later(back, route->sender_domain, now_ps);
}

void ring_announce_late(struct ring *r, uint64_t ready)
{
    const struct ring_route *route = ring_route(r);
    if (unlikely(route->is_split))
        exchange_message(route->sender_domain / engine.clock_count,
                         route->receiver_domain / engine.clock_count, ring_index(r), ready);
    else
        engine_arrives_far(route->receiver, ready);
}

/* True if arrivals are marks, which are made for heads only. Whether the ring lies between two
 * shards makes no difference. */
static inline bool is_near(const struct ring *r)
{
    return r->latency && r->latency + ring_route(r)->delay < ENGINE_NEAR;
}

/* Makes the receiver look when a message arrives in cycle `ready`. In a ring with marks,
 * ring_drop() does so for a message that is not the first. */
static inline void announce(struct ring *r, uint64_t ready)
{
    uint64_t *pending = arena_at(uint64_t, r->pending_at), bit = (uint64_t)1 << r->pending_bit;
    bool first = !(*pending & bit);
    *pending |= bit;
    if (!is_near(r))
        engine_arrives_far(ring_route(r)->receiver, ready);
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
        engine_arrives_far(ring_route(r)->receiver, cycle);
}

void ring_put_any(struct ring *r, uint64_t limit, unsigned kind, unsigned wire_bytes,
                  unsigned awaited)
{
    struct message *m = ring_slot(r->tail);
    uint32_t ahead = r->latency + ring_route(r)->delay;
    uint64_t ready = r->latency ? (limit >> 16) + ahead : arrival(r, kind, wire_bytes);
    message_set_stamp(m, ready << 16 | kind << 8 | RING_FULL);
    r->tail = ring_after(r, r->tail);
    r->messages++;
    r->awaited += awaited;
    ring_count_sent(r, limit);
    if (!ring_route(r)->is_split)
        announce(r, ready);
    else if (ready != RING_UNKNOWN)
        ring_announce_late(r, ready);
    if (unlikely(engine.tracing))
        ring_trace(r, m, r->messages, shard_now(ring_route(r)->sender_domain), RING_OWN);
}

void ring_post_any(struct ring *r, uint64_t limit, unsigned kind, unsigned awaited)
{
    unsigned bytes = r->latency ? 0 : port_messages(ring_index(r))[kind].wire_bytes;
    ring_put_any(r, limit, kind, bytes, awaited);
}

/* The sender's shard may have been a window ahead of what marks can name. */
void ring_deliver(uint32_t number, uint64_t ready)
{
    struct ring *r = ring_at(shard_cut_far(number));
    if (ready - engine.domains[r->receiver_domain].cycle < ENGINE_NEAR) {
        announce(r, ready);
        return;
    }
    *arena_at(uint64_t, r->pending_at) |= (uint64_t)1 << r->pending_bit;
    engine_arrives_far(ring_route(r)->receiver, ready);
}

bool ring_retry_sender(uint32_t number)
{
    struct ring *r = ring_at(number);
    uint64_t stamp = message_stamp(ring_slot(r->tail));
    if (r->sender_waits == RING_WAITS_FOR_TWO) {
        uint64_t second = message_stamp(ring_slot(ring_after(r, r->tail)));
        stamp = max(second, stamp);
    }
    if (stamp & RING_FULL)
        return false;
    r->sender_waits = 0;
    engine_wake_later(ring_sender(r), stamp >> 16);
    return true;
}

void ring_find_simple(struct ring *r)
{
    uint32_t ahead = r->latency + ring_route(r)->delay;
    bool simple = r->latency && ahead < ENGINE_NEAR && !ring_route(r)->is_split && !is_traced;
    r->simple = !simple ? RING_NOT_SIMPLE : ring_is_narrow(r) ? RING_NARROW : RING_WHOLE;
    r->ahead = ((uint64_t)ahead << 16) + RING_FULL - 0xffff;
}

static void find_all_simple(void)
{
    uint32_t total = shard_cut_ring_total();
    for (uint32_t i = 0; i < total; i++)
        ring_find_simple(ring_at(i));
}

void ring_trace_all(bool on)
{
    is_traced = on;
    find_all_simple();
}

/* The sender of a ring that may lie between two shards begins to wait for room. */
static void begin_to_wait(struct ring *r, enum ring_wait wait)
{
    if (unlikely(ring_route(r)->is_split) && !r->sender_waits)
        exchange_wait(ring_index(r));
    r->sender_waits = (uint8_t)wait;
}

bool ring_refused(struct ring *r, uint64_t limit)
{
    uint64_t now = limit >> 16;
    uint64_t stamp = message_stamp(ring_slot(r->tail));
    if (stamp > limit && ring_is_narrow(r)) {
        ring_widen(r, 0);
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

bool ring_ask_second(struct ring *r, uint64_t limit)
{
    uint64_t stamp = message_stamp(ring_slot(ring_after(r, r->tail)));
    if (stamp > limit && ring_is_narrow(r)) {
        ring_widen(r, 1);
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
    for (uint32_t i = 0; i < engine_base.platform->ring_count; i++)
        sum += ring_at(i)->messages;
    return sum;
}
