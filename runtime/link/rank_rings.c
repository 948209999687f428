/* Rings between ranks. Both ranks have the ring's control blocks and slots, each its own copy: the
 * sender's end is right at the sender's rank, the receiver's end at the receiver's. A message that
 * was sent is copied into the same slot at the receiver's rank when the ranks meet, and the stamp
 * of a slot that was freed goes back. Neither can be missed before: ranks meet before a message
 * arrives, or a credit counts (run.c). The main partition is shard 0 (shard_cut.c).
 *
 * Slots are used in turn, so each end keeps the place of what comes next and no names travel. What
 * was freed is found by looking: the receiver's head has moved, or all that it held is gone. */
#include "rank_rings.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "runtime/engine/arena.h"
#include "runtime/engine/bug.h"
#include "runtime/engine/platform_table.h"
#include "runtime/engine/rank.h"
#include "runtime/engine/shard.h"

#include "exchange.h"
#include "port.h"
#include "ring.h"
#include "ring_run.h"
#include "shard_cut.h"

/* A ring whose ends are at different ranks, one of them this. */
struct cut {
    uint32_t ring;       /* number of the sender's half */
    uint32_t rank;       /* the other end's rank */
    bool sends;          /* the sender is here */
    uint32_t next;       /* slot of the next message to be sent or received */
    uint32_t free;       /* slot that is freed next */
    uint32_t held_count; /* receiver: messages that were taken in and not freed */
};

struct sent_message {
    uint32_t ring;
    uint32_t bytes; /* header and payload together */
    uint64_t ready; /* cycle of the receiver */
};

struct credits {
    uint32_t ring;
    uint32_t count; /* stamps follow */
};

static struct cut *cuts;
static uint32_t cut_count;
static uint32_t *cut_of;  /* 1 + index, by ring */
static uint32_t *holding; /* the cuts that hold messages, which may be freed */
static uint32_t holding_count;
static struct rank_rings_arrivals arrivals; /* messages and credits collected so far */
static bool has_outgoing;

static uint32_t rank_at(uint32_t domain)
{
    return ranks.of_shard[domain / engine.clock_count];
}

/* Notes that something reaches a component of `rank` whose clock is `domain`. */
static void add_arrival(uint32_t rank, uint32_t domain, uint64_t cycle)
{
    uint64_t time_ps = engine_time_of(domain, cycle);
    arrivals.rank_ps[rank] = min(arrivals.rank_ps[rank], time_ps);
    if (domain < engine.clock_count)
        arrivals.main_ps = min(arrivals.main_ps, time_ps);
    has_outgoing = true;
}

static void forget_arrivals(void)
{
    for (uint32_t i = 0; i < ranks.count; i++)
        arrivals.rank_ps[i] = ENGINE_NEVER;
    arrivals.main_ps = ENGINE_NEVER;
    arrivals.messages = 0;
    has_outgoing = false;
}

/* ---- sending ---- */

/* Called for each message that was sent to another rank, ring by ring in order. */
static void send_message(uint32_t ring, uint64_t ready)
{
    struct cut *c = &cuts[cut_of[ring] - 1];
    const struct ring *r = ring_at(ring);
    const struct message *m = ring_slot(c->next);
    const struct sent_message sent = {
        ring, (uint32_t)sizeof *m + port_messages(ring)[message_kind(m)].payload_bytes, ready};
    rank_put(c->rank, &sent, sizeof sent);
    rank_put(c->rank, m, sent.bytes);
    c->next = ring_after(r, c->next);
    arrivals.messages = 1;
    add_arrival(c->rank, ring_receiver_domain(r), ready);
}

/* The slots that the receiver has freed since its last credits were sent. */
static uint32_t count_freed(const struct cut *c, const struct ring *far)
{
    uint32_t count = 0;
    for (uint32_t slot = c->free;
         count < c->held_count && !(message_stamp(ring_slot(slot)) & RING_FULL);
         slot = ring_after(far, slot))
        count++;
    return count;
}

static void send_credits(struct cut *c)
{
    const struct ring *far = ring_at(shard_cut_far(c->ring));
    const struct credits credits = {c->ring, count_freed(c, far)};
    if (!credits.count)
        return;
    rank_put(c->rank, &credits, sizeof credits);
    for (uint32_t i = 0; i < credits.count; i++) {
        uint64_t stamp = message_stamp(ring_slot(c->free));
        rank_put(c->rank, &stamp, sizeof stamp);
        c->free = ring_after(far, c->free);
        add_arrival(c->rank, ring_sender_domain(far), stamp >> 16);
    }
    c->held_count -= credits.count;
}

void rank_rings_collect(void)
{
    exchange_drain_foreign(send_message);
}

bool rank_rings_have_outgoing(void)
{
    return has_outgoing;
}

void rank_rings_send(struct rank_rings_arrivals *sent)
{
    static const struct sent_message no_message = {RING_NONE, 0, 0};
    static const struct credits no_credit = {RING_NONE, 0};
    uint32_t kept = 0;
    rank_rings_collect();
    rank_put_others(&no_message, sizeof no_message);
    for (uint32_t i = 0; i < holding_count; i++) {
        send_credits(&cuts[holding[i]]);
        if (cuts[holding[i]].held_count)
            holding[kept++] = holding[i];
    }
    holding_count = kept;
    rank_put_others(&no_credit, sizeof no_credit);
    *sent = arrivals;
    forget_arrivals();
}

/* ---- receiving ---- */

static struct cut *cut_at(uint32_t ring, uint32_t from, bool sends)
{
    struct cut *c =
        ring < engine_base.platform->ring_count && cut_of[ring] ? &cuts[cut_of[ring] - 1] : NULL;
    if (!c || c->rank != from || c->sends != sends)
        bug("rank %u sends for ring %u, which does not lie between us", from, ring);
    return c;
}

static void receive_message(const struct sent_message *sent, const void *bytes, uint32_t from)
{
    struct cut *c = cut_at(sent->ring, from, false);
    const struct ring *far = ring_at(shard_cut_far(sent->ring));
    if (message_stamp(ring_slot(c->next)) & RING_FULL)
        bug("ring %u: a message comes from rank %u for a slot that is full", sent->ring, from);
    memcpy(ring_slot(c->next), bytes, sent->bytes);
    c->next = ring_after(far, c->next);
    if (c->held_count++ == 0)
        holding[holding_count++] = (uint32_t)(c - cuts);
    ring_deliver(sent->ring, sent->ready);
}

void rank_rings_receive(uint32_t from)
{
    struct sent_message sent;
    struct credits credits;
    memcpy(&sent, rank_read_next(from, sizeof sent), sizeof sent);
    while (sent.ring != RING_NONE) {
        receive_message(&sent, rank_read_next(from, sent.bytes), from);
        memcpy(&sent, rank_read_next(from, sizeof sent), sizeof sent);
    }
    memcpy(&credits, rank_read_next(from, sizeof credits), sizeof credits);
    while (credits.ring != RING_NONE) {
        struct cut *c = cut_at(credits.ring, from, true);
        for (uint32_t i = 0; i < credits.count; i++) {
            uint64_t stamp;
            memcpy(&stamp, rank_read_next(from, sizeof stamp), sizeof stamp);
            message_set_stamp(ring_slot(c->free), stamp);
            c->free = ring_after(ring_at(c->ring), c->free);
        }
        memcpy(&credits, rank_read_next(from, sizeof credits), sizeof credits);
    }
}

/* ---- start ---- */

/* Media whose rings take turns: which ring is granted one is known where all its senders are. */
static bool check_links(const struct platform_table *table)
{
    for (uint32_t i = 0; i < table->ring_count; i++) {
        const struct platform_ring *r = &table->rings[i];
        if (!r->link || table->links[r->link - 1].shared == LINK_OWN)
            continue;
        for (uint32_t k = 0; k < i; k++) {
            const struct platform_ring *other = &table->rings[k];
            if (other->link != r->link
                || (other->is_reply ^ other->is_reversed) != (r->is_reply ^ r->is_reversed)
                || rank_at(ring_sender_domain(ring_at(k)))
                       == rank_at(ring_sender_domain(ring_at(i))))
                continue;
            rank_say("several ranks cannot be used with the shared wire %s, over which %s and %s "
                     "send from different ranks",
                     table->strings + table->links[r->link - 1].name,
                     table->strings + table->rings[k].name, table->strings + r->name);
            return false;
        }
    }
    return true;
}

static void add_cut(uint32_t ring, uint32_t sender, uint32_t receiver)
{
    uint32_t first = ring_at(ring)->first;
    bool sends = sender == ranks.number;
    cuts[cut_count++] = (struct cut){ring, sends ? receiver : sender, sends, first, first, 0};
    cut_of[ring] = cut_count;
}

bool rank_rings_open(const struct platform_table *table)
{
    cuts = arena_derive((table->ring_count + 1) * sizeof *cuts);
    cut_of = arena_derive((table->ring_count + 1) * sizeof *cut_of);
    holding = arena_derive((table->ring_count + 1) * sizeof *holding);
    cut_count = holding_count = 0;
    forget_arrivals();
    if (!check_links(table))
        return false;
    for (uint32_t i = 0; i < table->ring_count; i++) {
        uint32_t sender = rank_at(ring_sender_domain(ring_at(i)));
        uint32_t receiver = rank_at(ring_receiver_domain(ring_at(i)));
        if (sender != receiver && (sender == ranks.number || receiver == ranks.number))
            add_cut(i, sender, receiver);
    }
    return true;
}
