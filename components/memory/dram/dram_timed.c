/* A dram whose timing part decides when requests are answered. This file decides what requests do.
 *
 * Requests take effect when they are accepted, whatever the order of their answers. So memory and
 * the result of each request are as in an ideal memory that accepts the requests in the same order;
 * a read keeps its line until the time of its answer.
 *
 * A tick lets the part issue the commands that were due before this cycle, accepts new requests,
 * and lets the part issue the commands of this cycle. So a request never changes earlier commands,
 * and more ticks change nothing. */
#include "dram.gen.h"

#include "base/likely.h"
#include "base/number.h"
#include "runtime/engine/component_failure.h"

#include "dram_state.h"

/* The first edge of the own clock at or after a time that is not before the current one. */
static uint64_t dram_edge_at(const struct dram *c, uint64_t time_ps)
{
    const struct engine_domain *d = &engine.domains[c->io.base.domain];
    if (unlikely(d->remainder))
        return engine_cycle_at(c->io.base.domain, time_ps);
    uint64_t ahead_ps = time_ps - d->time_ps + d->period_ps - 1;
    /* Nearly always both have 32 bits, whose division takes half as long. */
    return d->cycle
           + (likely(!((ahead_ps | d->period_ps) >> 32))
                  ? (uint32_t)ahead_ps / (uint32_t)d->period_ps
                  : ahead_ps / d->period_ps);
}

static void dram_init_timed(struct dram *c)
{
    uint64_t overhead_ps;
    uint32_t entries = 1,
             capacity = dram_timing_ops(c)->setup(dram_part(c), dram_line(c), &overhead_ps);
    if (!capacity)
        engine_die(&c->io.base,
                   "lines of %u bytes, but bursts of another size: set `burst` of the timing part",
                   (unsigned)dram_line(c));
    overhead_ps = dram_front(c) ? dram_init_cached(c, overhead_ps) : overhead_ps;
    uint32_t overhead = (uint32_t)engine_cycle_at(c->io.base.domain, overhead_ps);
    while (entries < capacity)
        entries *= 2;
    c->mask = entries - 1;
    for (unsigned p = 0; p < DRAM_PORTS; p++)
        c->queues[p].answers_at = arena_allocate(entries * sizeof(struct dram_answer));
    index_pool_init(&c->free_requests, capacity);
    c->half = capacity / DRAM_PORTS;
    c->requests_at = arena_allocate(capacity * sizeof(struct dram_entry));
    c->lines_at = arena_allocate((size_t)capacity * dram_line(c));
    ring_add_pipeline(ring_number(c->io.top_reply), overhead);
    if (dram_dma_is_connected(c))
        ring_add_pipeline(ring_number(c->io.dma_reply), overhead);
    c->first_due = ENGINE_NEVER;
}

static struct dram_entry *dram_entry(const struct dram *c, uint32_t number)
{
    return arena_at(struct dram_entry, c->requests_at) + number;
}

/* Queues the answer of a request of `port` after those that are due no later. */
static inline void dram_answer_at(struct dram *c, unsigned port, uint32_t number, uint64_t time_ps)
{
    struct dram_queue *q = &c->queues[port];
    struct dram_answer *ring = arena_at(struct dram_answer, q->answers_at);
    uint64_t due = dram_edge_at(c, time_ps);
    uint32_t index = q->head + q->count++;
    for (; index != q->head && ring[(index - 1) & c->mask].due > due; index--)
        ring[index & c->mask] = ring[(index - 1) & c->mask];
    ring[index & c->mask] = (struct dram_answer){.due = due, .number = number};
    c->first_due = min(due, c->first_due);
}

/* Issues what is due. True if there may be room where there was none. */
static OUT_OF_LINE bool dram_issue(struct dram *c, uint64_t until_ps)
{
    const struct dram_timing_ops *ops = dram_timing_ops(c);
    struct part *part = dram_part(c);
    uint64_t done, before = ops->rooms(part);
    uint32_t number;
    while ((number = ops->advance(part, until_ps, &done)) != DRAM_TIMING_NONE)
        dram_answer_at(c, dram_entry(c, number)->port, number, done + c->extra_ps);
    if (ops->rooms(part) == before)
        return false;
    c->refused = 0;
    return true;
}

/* A write takes effect on the line at `bytes`. */
static inline void dram_write(struct dram *c, unsigned port, void *payload, char *bytes)
{
    unsigned line = dram_port_line(c, port);
    struct mem_mask mask = mem_mask_load(mem_write_mask(payload, line), line);
    c->io.stats.writes++;
    if (likely(mem_mask_is_full(mask, line))) {
        memcpy(bytes, mem_write_data(payload, line), line);
        c->io.stats.bytes_written += line;
        return;
    }
    mem_copy_masked(bytes, mem_write_data(payload, line), mask, line);
    c->io.stats.bytes_written += mem_mask_count(mask);
}

static OUT_OF_LINE void dram_happen_atomic(struct dram *c, unsigned port,
                                           const struct mem_request *m, char *kept, char *bytes)
{
    unsigned line = dram_port_line(c, port);
    void *payload = dram_payload(c, port);
    memcpy(kept, bytes, line);
    mem_apply_atomic(m->atomic.op, m->atomic.size,
                     mem_mask_load(mem_atomic_mask(payload, line), line), bytes,
                     mem_atomic_operand(payload, line), mem_atomic_compare(payload, line), NULL);
    c->io.stats.atomics++;
}

/* A request takes effect on the line at `bytes`; what it is answered with is kept. */
static ALWAYS_INLINE void dram_happen(struct dram *c, uint32_t number, unsigned port, unsigned kind,
                                      const struct mem_request *m, void *payload, char *bytes)
{
    unsigned line = dram_port_line(c, port);
    if (kind == MEM_READ) {
        memcpy(dram_bytes(c, number), bytes, line);
        c->io.stats.reads++;
        c->io.stats.bytes_read += line;
    } else if (kind == MEM_WRITE) {
        dram_write(c, port, payload, bytes);
    } else {
        dram_happen_atomic(c, port, m, dram_bytes(c, number), bytes);
    }
}

/* A fence is answered when all requests before it have been. */
static OUT_OF_LINE bool dram_accept_fence(struct dram *c, unsigned port,
                                          const struct mem_request *m)
{
    if (c->taken[port] || index_pool_used(&c->free_withheld) || !dram_can_reply(c, port))
        return false;
    dram_reply_done(c, port, m->tag);
    return true;
}

/* True if an answer may leave in this tick, before those that are due later. */
static inline bool dram_can_answer_now(struct dram *c, unsigned port)
{
    const struct dram_queue *q = &c->queues[port];
    const struct dram_answer *first =
        arena_at(struct dram_answer, q->answers_at) + (q->head & c->mask);
    return (!q->count || first->due > component_tick_now(&c->io.base)) && dram_can_reply(c, port);
}

static inline char *dram_line_bytes(uint64_t address)
{
    return memory.bytes + (address - memory.first);
}

/* Accepts request `m` of `port`, of a kind, on the line at `address`, if memory has room for the
 * `access` that it needs. False: the request stays. */
static ALWAYS_INLINE bool dram_accept_memory(struct dram *c, unsigned port,
                                             const struct mem_request *m, unsigned kind,
                                             uint64_t address, unsigned access, uint64_t now_ps)
{
    /* Each port has half of the numbers, so neither waits for answers that the other leaves. */
    if (c->taken[port] == c->half)
        return false;
    /* A write that can be answered at once needs no number. */
    bool can_answer = access == DRAM_TIMING_WRITE && !c->extra_ps && dram_can_answer_now(c, port);
    uint32_t number = can_answer ? 0 : index_pool_acquire(&c->free_requests);
    uint64_t time = dram_timing_ops(c)->take(dram_part(c), number, address, access, now_ps);
    if (time == DRAM_TIMING_FULL) {
        if (!can_answer)
            index_pool_release(&c->free_requests, number);
        c->refused |= (uint8_t)(1u << port);
        return false;
    }
    void *payload = dram_payload(c, port);
    char *bytes = dram_line_bytes(address);
    if (can_answer) {
        dram_write(c, port, payload, bytes);
        dram_reply_done(c, port, m->tag);
        return true;
    }
    struct dram_entry *e = dram_entry(c, number);
    e->tag = m->tag;
    e->port = (uint8_t)port;
    e->kind = (uint8_t)kind;
    dram_happen(c, number, port, kind, m, payload, bytes);
    c->taken[port]++;
    if (time != DRAM_TIMING_LATER)
        dram_answer_at(c, port, number, time + c->extra_ps);
    return true;
}

static OUT_OF_LINE bool dram_accept_atomic(struct dram *c, unsigned port,
                                           const struct mem_request *m, uint64_t address,
                                           uint64_t now_ps)
{
    return dram_accept_memory(c, port, m, MEM_ATOMIC, address, DRAM_TIMING_READ | DRAM_TIMING_WRITE,
                              now_ps);
}

/* Accepts the oldest request of `port`, `m`, if there is room for it. Its kind is a constant in the
 * functions called here. */
static ALWAYS_INLINE bool dram_offer_timed(struct dram *c, unsigned port,
                                           const struct mem_request *m, uint64_t now_ps)
{
    unsigned line = dram_port_line(c, port), kind = message_kind(m);
    if (unlikely(kind >= MEM_FENCE))
        return dram_accept_fence(c, port, m);
    uint64_t address = m->read.address / line * line; /* in the same place for all three */
    if (unlikely(!memory_contains(address, line))) {
        dram_fail_outside(c, address);
        return false;
    }
    __builtin_prefetch(dram_line_bytes(address)); /* the host's memory answers meanwhile */
    if (unlikely(dram_is_probing(c, port)) && !dram_may_happen(c, m, address))
        return false;
    if (dram_front_ops(c))
        return dram_accept_cached(c, port, m, address, now_ps);
    bool is_accepted =
        kind == MEM_READ
            ? dram_accept_memory(c, port, m, MEM_READ, address, DRAM_TIMING_READ, now_ps)
        : kind == MEM_WRITE
            ? dram_accept_memory(c, port, m, MEM_WRITE, address, DRAM_TIMING_WRITE, now_ps)
            : dram_accept_atomic(c, port, m, address, now_ps);
    if (unlikely(dram_is_probing(c, port)) && is_accepted)
        dram_update_holders(c, m, address);
    return is_accepted;
}

/* Accepts as many as a cycle allows, from the ports in turn. One that the part refused is not tried
 * again before that may have room. In *shown the ports that show a request, before and after. */
static ALWAYS_INLINE unsigned dram_accept_timed(struct dram *c, unsigned *shown, uint64_t now_ps)
{
    unsigned taken = 0, most = dram_params(c)->width, asks = *shown & ~c->refused;
    while (taken < most && asks) {
        unsigned port = asks == (1u << DRAM_TOP | 1u << DRAM_DMA) ? c->turn : asks >> 1,
                 bit = 1u << DRAM_TOP << port;
        struct ring *in = ring_placed(port == DRAM_TOP ? c->io.top_request : c->io.dma_request);
        const struct mem_request *m = (const struct mem_request *)(void *)ring_slot(in->head);
        if (!dram_offer_timed(c, port, m, now_ps)) {
            asks &= ~bit;
            continue;
        }
        if (!ring_drop(in, c->io.base.limit))
            *shown &= ~bit;
        c->turn = !port;
        asks = *shown & ~c->refused;
        taken++;
    }
    return taken;
}

/* Answers what is due on `port`. */
static bool dram_finish_port(struct dram *c, unsigned port)
{
    struct dram_queue *q = &c->queues[port];
    const struct dram_answer *ring = arena_at(struct dram_answer, q->answers_at), *a;
    bool progress = false;
    for (; q->count; q->head++, q->count--) {
        a = ring + (q->head & c->mask);
        if (a->due > dram_now(c) || !dram_can_reply(c, port)) {
            c->first_due = min(a->due, c->first_due);
            if (a->due > dram_now(c))
                dram_wake_at(c, a->due);
            break;
        }
        const struct dram_entry *e = dram_entry(c, a->number);
        if (e->kind == MEM_WRITE)
            dram_reply_done(c, port, e->tag);
        else
            memcpy(dram_reply_data(c, port, e->tag), dram_bytes(c, a->number),
                   dram_port_line(c, port));
        index_pool_release(&c->free_requests, a->number);
        c->taken[port]--;
        progress = true;
    }
    return progress;
}

/* Answers what is due, or asks to be woken when something is. */
static bool dram_finish_timed(struct dram *c)
{
    if (c->first_due > component_tick_now(&c->io.base)) {
        if (c->first_due != ENGINE_NEVER)
            dram_wake_at(c, c->first_due);
        return false;
    }
    bool progress = false;
    c->first_due = ENGINE_NEVER;
    for (unsigned port = DRAM_TOP; port < DRAM_PORTS; port++)
        if (c->queues[port].count)
            progress |= dram_finish_port(c, port);
    return progress;
}

/* The ports that show a request: bits. */
static inline unsigned dram_shown(const struct dram *c)
{
    uint64_t pending = component_pending(&c->io.base, 0);
    unsigned shown = 0;
    if (pending >> dram_top_first_pending(c) & 1 && dram_top_peek(c))
        shown |= 1u << DRAM_TOP;
    if (pending >> dram_dma_first_pending(c) & 1 && dram_dma_peek(c))
        shown |= 1u << DRAM_DMA;
    return shown;
}

static bool dram_tick_timed(struct dram *c)
{
    const struct part *part = dram_part(c);
    uint64_t now_ps = component_now_ps(&c->io.base), next_ps = dram_timing_ops(c)->next_ps(part);
    bool has_room = false, has_accepted = false;
    unsigned shown = 0;
    if (component_pending(&c->io.base, 0)) {
        has_room = unlikely(next_ps < now_ps) && dram_issue(c, now_ps - 1);
        shown = dram_shown(c);
        has_accepted = shown & ~c->refused && dram_accept_timed(c, &shown, now_ps);
        next_ps = dram_timing_ops(c)->next_ps(part);
    }
    if (next_ps <= now_ps)
        has_room |= dram_issue(c, now_ps);
    has_room |= dram_finish_timed(c);
    next_ps = dram_timing_ops(c)->next_ps(part);
    if (next_ps != DRAM_TIMING_LATER)
        dram_wake_at(c, dram_edge_at(c, next_ps));
    /* A request that waits at a port found no slot, or is one more than a cycle allows. */
    return (has_room || has_accepted) && shown;
}
