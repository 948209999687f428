/* Component dram: written by hand in the form that the generator emits. */
#ifndef SPIKE_DRAM_GEN_H
#define SPIKE_DRAM_GEN_H

#include "mem.gen.h"
#include "runtime/hang.h"
#include "runtime/stat.h"
#include "runtime/unit.h"

struct dram_params {
    int64_t latency;
    int64_t line;
};

struct dram_stats {
    uint64_t reads;
    uint64_t writes;
};

struct dram_io {
    struct component base;
    uint32_t top_request, top_reply;
    struct dram_stats stats;
};

struct dram;

static inline struct dram_io *dram_io(const struct dram *c)
{
    return (struct dram_io *)(uintptr_t)c;
}

#ifdef DRAM_CONSTANTS
static const struct dram_params dram_constants = DRAM_CONSTANTS;
static inline const struct dram_params *dram_params(const struct dram *c)
{
    (void)c;
    return &dram_constants;
}
#else
static inline const struct dram_params *dram_params(const struct dram *c)
{
    return (const struct dram_params *)(const void *)(engine.params + dram_io(c)->base.params);
}
#endif

static inline struct dram_stats *dram_stats(struct dram *c)
{
    return &dram_io(c)->stats;
}

static inline uint64_t dram_now(const struct dram *c)
{
    return component_now(&dram_io(c)->base);
}

static inline void dram_wake_at(struct dram *c, uint64_t cycle)
{
    component_wake_at(&dram_io(c)->base, cycle);
}

static inline const struct mem_request *dram_top_peek(const struct dram *c)
{
    return (const struct mem_request *)ring_peek(dram_io(c)->top_request, dram_now(c));
}

static inline void *dram_top_payload(const struct dram *c)
{
    return ring_peek_payload(dram_io(c)->top_request);
}

static inline void dram_top_pop(struct dram *c)
{
    ring_pop(dram_io(c)->top_request, dram_now(c));
}

static inline bool dram_top_can_reply(struct dram *c)
{
    return ring_can_send(dram_io(c)->top_reply, dram_now(c));
}

static inline void *dram_top_reply_data(struct dram *c, uint16_t tag)
{
    uint32_t ring = dram_io(c)->top_reply;
    void *payload = ring_next_payload(ring);
    ring_next(ring)->tag = tag;
    ring_send(ring, dram_now(c), MEM_DATA, (unsigned)MEM_WIRE_DATA(dram_params(c)->line), 0);
    return payload;
}

static inline void dram_top_reply_done(struct dram *c, uint16_t tag)
{
    uint32_t ring = dram_io(c)->top_reply;
    ring_next(ring)->tag = tag;
    ring_send(ring, dram_now(c), MEM_DONE, MEM_WIRE_DONE, 0);
}

#endif
