/* One slice of memory. With a timing part see dram_timed.c; without, an ideal memory channel:
 * accepts `width` requests a cycle from its two ports together, in turn when both have some, and
 * answers each `latency` - 1 cycles later. So with connections of one cycle, an answer is seen
 * latency + 1 cycles after the request was sent.
 *
 * A request takes effect in the simulated memory when it is accepted, and its answer spends the
 * latency in the ring of answers; so a load never sees a store that was accepted after it, and what
 * has been answered is there for the other port. */
#include "base/likely.h"
#include "components/sampling/warmup.h"
#include "runtime/engine/component_failure.h"

#include "dram_state.h"

static void dram_touch(struct component *self, const struct warm_access *a)
{
    struct dram *c = (struct dram *)(void *)self;
    if (dram_front_ops(c) && a->kind != WARM_PAGE)
        dram_warm_arrange(c, a);
    else if (!dram_front_ops(c))
        warm_count((enum warm_kind)a->kind, 1);
    if (dram_probe_count(c))
        dram_touch_holders(c, a);
}

static void dram_warm_drop(struct component *self)
{
    struct dram *c = (struct dram *)(void *)self;
    if (dram_front_ops(c))
        dram_front_ops(c)->drop(dram_front(c));
}

static const struct warm_ops dram_warm_ops = {.touch = dram_touch, .drop = dram_warm_drop};

static void dram_init(struct dram *c)
{
    dram_init_probes(c);
    if (dram_front_ops(c) || dram_probe_count(c))
        warm_register(&c->io.base, &dram_warm_ops);
    if (dram_timing_ops(c)) {
        dram_init_timed(c);
        return;
    }
    if (dram_front_ops(c))
        engine_die(&c->io.base, "a cache in front of ideal memory: choose a timing part, too");
    ring_add_pipeline(ring_number(c->io.top_reply), dram_params(c)->latency - 1);
    if (dram_dma_is_connected(c))
        ring_add_pipeline(ring_number(c->io.dma_reply), dram_params(c)->latency - 1);
}

static OUT_OF_LINE void serve_atomic(struct dram *c, unsigned port, const struct mem_request *m,
                                     void *payload, char *bytes)
{
    unsigned line = dram_port_line(c, port);
    void *old = dram_reply_data(c, port, m->tag);
    if (m->atomic.returns)
        memcpy(old, bytes, line);
    mem_apply_atomic(m->atomic.op, m->atomic.size,
                     mem_mask_load(mem_atomic_mask(payload, line), line), bytes,
                     mem_atomic_operand(payload, line), mem_atomic_compare(payload, line), NULL);
    c->io.stats.atomics++;
}

/* Request `m` of `port` takes effect, and is answered. There must be room for the answer. */
static ALWAYS_INLINE void dram_serve(struct dram *c, unsigned port, const struct mem_request *m)
{
    unsigned line = dram_port_line(c, port), kind = message_kind(m);
    if (kind >= MEM_FENCE) {
        dram_reply_done(c, port, m->tag);
        return;
    }
    uint64_t address = m->read.address / line * line; /* in the same place for all three */
    if (unlikely(!memory_contains(address, line))) {
        dram_fail_outside(c, address);
        return;
    }
    char *bytes = memory_at(address);
    void *payload = dram_payload(c, port);
    if (kind == MEM_READ) {
        memcpy(dram_reply_data(c, port, m->tag), bytes, line);
        c->io.stats.reads++;
        c->io.stats.bytes_read += line;
    } else if (kind == MEM_WRITE) {
        struct mem_mask mask = mem_mask_load(mem_write_mask(payload, line), line);
        mem_copy_masked(bytes, mem_write_data(payload, line), mask, line);
        if (!dram_is_probing(c, port) || !dram_withhold(c, m, address))
            dram_reply_done(c, port, m->tag);
        c->io.stats.writes++;
        c->io.stats.bytes_written += mem_mask_count(mask);
    } else {
        serve_atomic(c, port, m, payload, bytes);
    }
    if (dram_is_probing(c, port))
        dram_update_holders(c, m, address);
}

/* Serves the oldest request of `port`, if there is one, and room for its answer. */
static ALWAYS_INLINE bool accept_port(struct dram *c, unsigned port)
{
    const struct mem_request *m = dram_peek(c, port);
    if (!m || !dram_can_reply(c, port)
        || (dram_is_probing(c, port)
            && !dram_may_happen(c, m, m->read.address / dram_line(c) * dram_line(c))))
        return false;
    const struct mem_request *next = dram_ahead(c, port);
    if (next && memory_contains(next->read.address, 1)) /* the host's memory answers meanwhile */
        __builtin_prefetch(memory_at(next->read.address));
    dram_serve(c, port, m);
    dram_pop(c, port);
    c->turn = !port;
    return true;
}

/* Nearly everything comes from `top`. */
static OUT_OF_LINE bool accept_dma(struct dram *c)
{
    return accept_port(c, DRAM_DMA);
}

/* True if as many were accepted as a cycle allows, so there may be more. */
static bool dram_tick(struct dram *c)
{
    if (dram_probe_count(c))
        dram_accept_probe_answers(c);
    if (dram_timing_ops(c))
        return dram_tick_timed(c);
    for (int64_t room = dram_params(c)->width; room; room--) {
        uint64_t pending = component_pending(&c->io.base, 0);
        bool has_dma = pending >> dram_dma_first_pending(c) & 1,
             is_dma_first = has_dma && c->turn == DRAM_DMA;
        if (is_dma_first && accept_dma(c))
            continue;
        if ((pending >> dram_top_first_pending(c) & 1) && accept_port(c, DRAM_TOP))
            continue;
        if (!has_dma || is_dma_first || !accept_dma(c))
            return false;
    }
    return true;
}

/* Requests that an ideal memory has not answered are in its rings. */
static unsigned dram_outstanding(const struct dram *c, struct hang_report *report)
{
    static const char *const names[] = {"top", "dma"};
    if (report)
        for (unsigned p = 0; p < DRAM_PORTS; p++)
            if (c->taken[p])
                hang_note(report, "%u requests of port %s are not answered", c->taken[p], names[p]);
    if (report && (c->head_awaited || index_pool_used(&c->free_withheld)))
        hang_note(report, "%u writes wait for caches to let go of their lines",
                  index_pool_used(&c->free_withheld) + (c->head_awaited > 0));
    return c->taken[DRAM_TOP] + c->taken[DRAM_DMA] + index_pool_used(&c->free_withheld);
}
