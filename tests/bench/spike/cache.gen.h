/* Component cache: written by hand in the form that the generator emits. The wrapper defines
 * CACHE_CONSTANTS as the values of one set of parameters, in order; without it they are read from
 * the tables. */
#ifndef SPIKE_CACHE_GEN_H
#define SPIKE_CACHE_GEN_H

#include "mem.gen.h"
#include "replacement_policy.h"
#include "runtime/engine.h"
#include "runtime/hang.h"
#include "runtime/ring.h"
#include "runtime/stat.h"
#include "runtime/unit.h"

struct cache_params {
    int64_t size;
    int64_t ways;
    int64_t line;
    int64_t latency;
    int64_t write_back;
    int64_t mshrs;
    int64_t stripe; /* bytes that stay together in this bank */
    int64_t banks;
    int64_t tlb; /* entries of the translation in front, 0: none */
    int64_t sets;
};

struct cache_stats {
    uint64_t hits;
    uint64_t misses;
    uint64_t writebacks;
    uint64_t translations_missed;
    struct stat_histogram mshr_occupancy;
};

struct cache_io {
    struct component base;
    uint32_t top_request, top_reply;
    uint32_t bottom_request, bottom_reply;
    uint32_t replacement;
    struct cache_stats stats;
};

struct cache;

static inline struct cache_io *cache_io(const struct cache *c)
{
    return (struct cache_io *)(uintptr_t)c;
}

#ifdef CACHE_CONSTANTS
static const struct cache_params cache_constants = CACHE_CONSTANTS;
static inline const struct cache_params *cache_params(const struct cache *c)
{
    (void)c;
    return &cache_constants;
}
#else
static inline const struct cache_params *cache_params(const struct cache *c)
{
    return (const struct cache_params *)(const void *)(engine.params + cache_io(c)->base.params);
}
#endif

static inline struct cache_stats *cache_stats(struct cache *c)
{
    return &cache_io(c)->stats;
}

static inline uint64_t cache_now(const struct cache *c)
{
    return component_now(&cache_io(c)->base);
}

static inline void cache_wake_at(struct cache *c, uint64_t cycle)
{
    component_wake_at(&cache_io(c)->base, cycle);
}

/* in top : mem(line) */
static inline const struct mem_request *cache_top_peek(const struct cache *c)
{
    return (const struct mem_request *)ring_peek(cache_io(c)->top_request, cache_now(c));
}

static inline void *cache_top_payload(const struct cache *c)
{
    return ring_peek_payload(cache_io(c)->top_request);
}

static inline void cache_top_pop(struct cache *c)
{
    ring_pop(cache_io(c)->top_request, cache_now(c));
}

static inline bool cache_top_can_reply(struct cache *c)
{
    return ring_can_send(cache_io(c)->top_reply, cache_now(c));
}

static inline void *cache_top_reply_data(struct cache *c, uint16_t tag)
{
    uint32_t ring = cache_io(c)->top_reply;
    void *payload = ring_next_payload(ring);
    ring_next(ring)->tag = tag;
    ring_send(ring, cache_now(c), MEM_DATA, (unsigned)MEM_WIRE_DATA(cache_params(c)->line), 0);
    return payload;
}

static inline void cache_top_reply_done(struct cache *c, uint16_t tag)
{
    uint32_t ring = cache_io(c)->top_reply;
    ring_next(ring)->tag = tag;
    ring_send(ring, cache_now(c), MEM_DONE, MEM_WIRE_DONE, 0);
}

/* out bottom : mem(line) */
static inline bool cache_bottom_can_send(struct cache *c)
{
    return ring_can_send(cache_io(c)->bottom_request, cache_now(c));
}

static inline void cache_bottom_send_read(struct cache *c, uint16_t tag, uint64_t address,
                                          uint32_t size, uint32_t pid)
{
    uint32_t ring = cache_io(c)->bottom_request;
    struct mem_request *m = (struct mem_request *)ring_next(ring);
    m->read.address = address;
    m->read.size = size;
    m->read.pid = pid;
    m->tag = tag;
    ring_send(ring, cache_now(c), MEM_READ, MEM_WIRE_READ, 1);
}

static inline void *cache_bottom_send_write(struct cache *c, uint16_t tag, uint64_t address,
                                            uint32_t pid)
{
    uint32_t ring = cache_io(c)->bottom_request;
    struct mem_request *m = (struct mem_request *)ring_next(ring);
    void *payload = ring_next_payload(ring);
    m->write.address = address;
    m->write.pid = pid;
    m->tag = tag;
    ring_send(ring, cache_now(c), MEM_WRITE, (unsigned)MEM_WIRE_WRITE(cache_params(c)->line), 1);
    return payload;
}

static inline const struct mem_reply *cache_bottom_peek_reply(const struct cache *c)
{
    return (const struct mem_reply *)ring_peek(cache_io(c)->bottom_reply, cache_now(c));
}

static inline void *cache_bottom_reply_payload(const struct cache *c)
{
    return ring_peek_payload(cache_io(c)->bottom_reply);
}

static inline void cache_bottom_pop_reply(struct cache *c)
{
    ring_pop(cache_io(c)->bottom_reply, cache_now(c));
}

/* slot replacement : replacement_policy */
static inline struct part *cache_replacement(const struct cache *c)
{
    return arena_at(struct part, cache_io(c)->replacement);
}

static const struct replacement_policy_ops lru_ops;
static inline const struct replacement_policy_ops *cache_replacement_ops(const struct cache *c)
{
    (void)c;
    return &lru_ops;
}

#endif
