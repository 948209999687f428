/* Messages between shards: an outbox for each pair of shards and direction, in two copies. In a
 * window a shard writes into one copy of its outboxes, while other shards read the other copy,
 * written in the window before; between windows the copies change their roles. So nothing is read
 * while it is written. The only synchronisation is that a window ends before the next one begins.
 *
 * An arrival says that a ring has a message for its receiver, which is to be woken; the message
 * is in the ring. A slot is sent at most once in a window, which bounds the outboxes. Credits
 * need no arrival: a sender that was refused is kept in a list of its own shard, and when a window
 * begins its slot is looked at again. A slot freed in the window before, or being freed in this
 * window by another thread, may be used in a later window only. Called by ring.c and run.c.
 */
#include "exchange.h"

#include "runtime/engine/arena.h"
#include "runtime/engine/bug.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/platform_table.h"
#include "runtime/engine/rank.h"
#include "runtime/engine/shard.h"

#include "ring.h"
#include "ring_run.h"
#include "shard_cut.h"

struct arrival {
    uint64_t ready; /* cycle of the receiver */
    uint32_t ring;  /* number in the tables: the sender's half */
};

struct outbox {
    _Alignas(64) struct arrival *arrivals;
    uint32_t count;
    uint32_t capacity;
};

/* Rings whose senders, all of one shard, wait for room; shards[].waiting_count of them. */
struct wait_list {
    _Alignas(64) uint32_t *rings;
    uint32_t capacity;
};

static struct outbox *outboxes; /* [2][shards][shards]: copy, from, to */
static struct wait_list wait_lists[ENGINE_DOMAINS_MAX];

static struct outbox *outbox_of(uint32_t copy, uint32_t from, uint32_t to)
{
    return &outboxes[(copy * engine.shard_count + from) * engine.shard_count + to];
}

void exchange_message(uint32_t from, uint32_t to, uint32_t ring, uint64_t ready)
{
    uint32_t copy = window_published.plan.write_copy;
    struct outbox *b = outbox_of(copy, from, to);
    if (b->count == b->capacity)
        bug("ring %u: more arrivals in a window than slots", ring);
    b->arrivals[b->count++] = (struct arrival){ready, ring};
    shards[from].written[copy] |= (uint64_t)1 << to;
    window_ask_end();
}

void exchange_wait(uint32_t ring)
{
    uint32_t shard = ring_sender_domain(ring_at(ring)) / engine.clock_count;
    if (shards[shard].waiting_count == wait_lists[shard].capacity)
        bug("ring %u: waits twice", ring);
    wait_lists[shard].rings[shards[shard].waiting_count++] = ring;
}

void exchange_turn(void)
{
    window_plan.write_copy ^= 1;
    window_plan.inbound = 0;
    for (uint32_t i = 0; i < engine.shard_count; i++)
        window_plan.inbound |= shards[i].written[window_plan.write_copy ^ 1];
}

static void deliver_outbox(const struct outbox *b)
{
    for (uint32_t i = 0; i < b->count; i++)
        ring_deliver(b->arrivals[i].ring, b->arrivals[i].ready);
}

static void empty_outboxes(uint32_t shard, uint32_t copy)
{
    for (uint64_t bits = shards[shard].written[copy]; bits; bits &= bits - 1)
        outbox_of(copy, shard, (uint32_t)__builtin_ctzll(bits))->count = 0;
    if (shards[shard].written[copy])
        shards[shard].written[copy] = 0;
}

bool exchange_is_pending(void)
{
    uint64_t pending = 0;
    for (uint32_t i = 0; i < engine.shard_count; i++)
        pending |= shards[i].written[window_plan.write_copy] | shards[i].waiting_count;
    return pending;
}

static bool has_inbound(uint32_t shard, const struct window_plan *plan)
{
    return plan->inbound >> shard & 1;
}

bool exchange_prepare(uint32_t shard, const struct window_plan *plan)
{
    if (has_inbound(shard, plan) || shards[shard].waiting_count)
        return true;
    empty_outboxes(shard, plan->write_copy);
    return false;
}

bool exchange_prepare_window(uint32_t shard, const struct window_plan *plan)
{
    return shards[shard].next_ps < plan->end_ps || exchange_prepare(shard, plan);
}

/* Wakes the senders for which there is room now; the others stay in the list. */
static void retry_senders(uint32_t shard)
{
    struct shard *s = &shards[shard];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->waiting_count; i++)
        if (!ring_retry_sender(wait_lists[shard].rings[i]))
            wait_lists[shard].rings[kept++] = wait_lists[shard].rings[i];
    s->waiting_count = kept;
}

bool exchange_deliver(uint32_t shard, const struct window_plan *plan, uint64_t start_ps)
{
    bool has_arrivals = has_inbound(shard, plan), has_senders = shards[shard].waiting_count;
    if (has_arrivals || has_senders)
        shard_move_clocks(shard, start_ps);
    if (has_arrivals)
        for (uint32_t other = 0; other < engine.shard_count; other++)
            if (shards[other].written[plan->write_copy ^ 1] >> shard & 1)
                deliver_outbox(outbox_of(plan->write_copy ^ 1, other, shard));
    empty_outboxes(shard, plan->write_copy);
    if (has_senders)
        retry_senders(shard);
    return has_arrivals || has_senders;
}

void exchange_deliver_all(uint64_t start_ps)
{
    for (uint32_t shard = 0; shard < engine.shard_count; shard++)
        shard_move_clocks(shard, start_ps);
    for (uint32_t from = 0; from < engine.shard_count; from++) {
        for (uint32_t to = 0; to < engine.shard_count; to++)
            deliver_outbox(outbox_of(window_plan.write_copy, from, to));
        empty_outboxes(from, window_plan.write_copy);
        retry_senders(from);
    }
}

static uint64_t foreign_shards(void)
{
    uint64_t set = 0;
    for (uint32_t i = 0; i < engine.shard_count; i++)
        set |= (uint64_t)!rank_has(i) << i;
    return set;
}

void exchange_drain_foreign(void (*send)(uint32_t ring, uint64_t ready))
{
    uint64_t foreign = foreign_shards();
    for (uint32_t from = 0; from < engine.shard_count; from++) {
        for (uint64_t bits = shards[from].written[window_plan.write_copy] & foreign; bits;
             bits &= bits - 1) {
            struct outbox *b =
                outbox_of(window_plan.write_copy, from, (uint32_t)__builtin_ctzll(bits));
            for (uint32_t i = 0; i < b->count; i++)
                send(b->arrivals[i].ring, b->arrivals[i].ready);
            b->count = 0;
        }
        shards[from].written[window_plan.write_copy] &= ~foreign;
    }
}

void exchange_retry_senders(void)
{
    for (uint32_t i = 0; i < engine.shard_count; i++)
        if (shards[i].waiting_count)
            retry_senders(i);
}

bool exchange_has_waiting_sender(void)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < engine.shard_count; i++)
        count += shards[i].waiting_count;
    return count != 0;
}

void exchange_open(const struct platform_table *table)
{
    size_t count = 2 * (size_t)engine.shard_count * engine.shard_count;
    outboxes = arena_derive(count * sizeof *outboxes);
    window_plan.write_copy = window_published.plan.write_copy = 0;
    window_plan.inbound = window_published.plan.inbound = 0;
    for (uint32_t i = 0; i < engine.shard_count; i++)
        wait_lists[i].capacity = 0;
    for (uint32_t i = 0; i < table->ring_count; i++) {
        const struct ring *r = ring_at(i);
        uint32_t from = ring_sender_domain(r) / engine.clock_count;
        uint32_t to = ring_receiver_domain(r) / engine.clock_count;
        uint32_t depth = (r->end - r->first) / r->step;
        if (from == to)
            continue;
        outbox_of(0, from, to)->capacity += depth;
        outbox_of(1, from, to)->capacity += depth;
        wait_lists[from].capacity++;
    }
    for (size_t i = 0; i < count; i++)
        outboxes[i].arrivals = arena_derive(outboxes[i].capacity * sizeof(struct arrival));
    for (uint32_t i = 0; i < engine.shard_count; i++)
        wait_lists[i].rings = arena_derive(wait_lists[i].capacity * sizeof(uint32_t));
}
