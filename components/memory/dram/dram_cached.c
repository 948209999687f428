/* A timed dram with a cache in front (memory_side_cache.h): hits, and writes, are answered after
 * the latency of the cache; a read that misses asks memory, and so does the line that goes.
 *
 * The latency stands in the rings of answers, since every answer takes it; one from memory takes
 * the rest of the memory's overhead in addition. */
#include "dram.gen.h"

#include "dram_state.h"
#include "components/sampling/warmup.h"

static void dram_warm_settle(struct dram *c, const struct warm_access *a)
{
    bool writes = a->kind == WARM_WRITE || a->kind == WARM_ATOMIC;
    dram_front_ops(c)->settle(dram_front(c), a->physical, writes);
}

/* Returns what stands in the rings of answers. */
static uint64_t dram_init_cached(struct dram *c, uint64_t overhead_ps)
{
    const struct memory_side_cache_ops *ops = dram_front_ops(c);
    uint64_t cycle_ps = engine.domains[c->io.base.domain].period_ps;
    ops->setup(dram_front(c), dram_line(c));
    uint64_t latency_ps = (ops->latency(dram_front(c)) - 1) * cycle_ps;
    c->extra_ps = overhead_ps > latency_ps ? overhead_ps - latency_ps : 0;
    return latency_ps;
}

/* Writes the line that goes to memory, which takes writes at once or not now. */
static bool dram_let_go(struct dram *c, uint64_t address)
{
    if (dram_timing_ops(c)->take(dram_timing(c), 0, address, DRAM_TIMING_WRITE,
                                 component_now_ps(&c->io.base))
        == DRAM_TIMING_FULL)
        return false;
    dram_front_ops(c)->clean(dram_front(c), address);
    return true;
}

static inline bool dram_take_cached(struct dram *c, unsigned port, const struct mem_request *m,
                                    uint64_t address, char *bytes, uint64_t now_ps)
{
    const struct memory_side_cache_ops *ops = dram_front_ops(c);
    unsigned kind = message_kind(m);
    if (c->free_at > dram_now(c)) {
        dram_wake_at(c, c->free_at);
        return false;
    }
    struct memory_side_look look = ops->look(dram_front(c), address);
    if (look.dirty && !dram_let_go(c, look.goes))
        return false;
    if (look.hit || kind == MEM_WRITE) {
        if (!dram_can_reply(c, port))
            return false;
        dram_serve(c, port, m);
    } else if (!dram_take_memory(c, port, m, kind, address, bytes, DRAM_TIMING_READ, now_ps)) {
        return false;
    } else if (dram_is_probing(c, port)) {
        dram_note_holder(c, m, address);
    }
    ops->settle(dram_front(c), address, kind != MEM_READ);
    c->free_at = dram_now(c) + ops->interval(dram_front(c), address, kind == MEM_ATOMIC);
    return true;
}
