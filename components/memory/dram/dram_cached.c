/* A timed dram with a cache in front (memory_side_cache.h): hits, and writes, are answered after
 * the latency of the cache; a miss asks memory. Writes, and atomics, go on to memory.
 *
 * The latency is in the rings of answers, since every answer takes it; one from memory takes
 * the rest of the memory's overhead in addition. */
#include "dram.gen.h"

#include "components/sampling/warmup.h"

#include "dram_state.h"

static void dram_warm_arrange(struct dram *c, const struct warm_access *a)
{
    dram_front_ops(c)->settle(dram_front(c), a->physical, a->kind == WARM_WRITE);
}

/* Returns what is in the rings of answers. */
static uint64_t dram_init_cached(struct dram *c, uint64_t overhead_ps)
{
    const struct memory_side_cache_ops *ops = dram_front_ops(c);
    uint64_t cycle_ps = engine.domains[c->io.base.domain].period_ps;
    ops->setup(dram_front(c), dram_line(c));
    uint64_t latency_ps = (ops->latency(dram_front(c)) - 1) * cycle_ps;
    c->extra_ps = overhead_ps > latency_ps ? overhead_ps - latency_ps : 0;
    return latency_ps;
}

/* Request `m` of `port` changes nothing, or a line that memory has room to be told of. */
static bool dram_serve_cached(struct dram *c, unsigned port, const struct mem_request *m,
                              uint64_t address, uint64_t now_ps)
{
    if (!dram_can_reply(c, port))
        return false;
    if (message_kind(m) != MEM_READ
        && dram_timing_ops(c)->take(dram_timing(c), 0, address, DRAM_TIMING_WRITE, now_ps)
               == DRAM_TIMING_FULL) {
        c->refused |= (uint8_t)(1u << port);
        return false;
    }
    dram_serve(c, port, m);
    return true;
}

static inline bool dram_accept_cached(struct dram *c, unsigned port, const struct mem_request *m,
                                      uint64_t address, uint64_t now_ps)
{
    const struct memory_side_cache_ops *ops = dram_front_ops(c);
    unsigned kind = message_kind(m);
    if (c->free_at > dram_now(c)) {
        dram_wake_at(c, c->free_at);
        return false;
    }
    unsigned access = DRAM_TIMING_READ | (kind == MEM_ATOMIC ? DRAM_TIMING_WRITE : 0);
    if (kind == MEM_WRITE || ops->holds(dram_front(c), address)) {
        if (!dram_serve_cached(c, port, m, address, now_ps))
            return false;
    } else if (!dram_accept_memory(c, port, m, kind, address, access, now_ps)) {
        return false;
    } else if (dram_is_probing(c, port)) {
        dram_update_holders(c, m, address);
    }
    ops->settle(dram_front(c), address, kind == MEM_WRITE);
    c->free_at = dram_now(c) + ops->interval(dram_front(c), address, kind == MEM_ATOMIC);
    return true;
}
