/* Component loader: written by hand in the form that the generator emits. */
#ifndef SPIKE_LOADER_GEN_H
#define SPIKE_LOADER_GEN_H

#include "mem.gen.h"
#include "runtime/hang.h"
#include "runtime/stat.h"
#include "runtime/unit.h"

struct loader_params {
    int64_t pattern;
    int64_t number;
    int64_t loaders;
    int64_t requests;
    int64_t footprint;
    int64_t line;
};

struct loader_stats {
    uint64_t loads;
    uint64_t stores;
    uint64_t wrong;
    struct stat_histogram latency;
};

struct loader_io {
    struct component base;
    uint32_t mem_request, mem_reply;
    struct loader_stats stats;
};

struct loader;

static inline struct loader_io *loader_io(const struct loader *c)
{
    return (struct loader_io *)(uintptr_t)c;
}

static inline const struct loader_params *loader_params(const struct loader *c)
{
    return (const struct loader_params *)(const void *)(engine.params + loader_io(c)->base.params);
}

static inline struct loader_stats *loader_stats(struct loader *c)
{
    return &loader_io(c)->stats;
}

static inline uint64_t loader_now(const struct loader *c)
{
    return component_now(&loader_io(c)->base);
}

static inline bool loader_mem_can_send(struct loader *c)
{
    return ring_can_send(loader_io(c)->mem_request, loader_now(c));
}

static inline void loader_mem_send_read(struct loader *c, uint16_t tag, uint64_t address,
                                        uint32_t size, uint32_t pid)
{
    uint32_t ring = loader_io(c)->mem_request;
    struct mem_request *m = (struct mem_request *)ring_next(ring);
    m->read.address = address;
    m->read.size = size;
    m->read.pid = pid;
    m->tag = tag;
    ring_send(ring, loader_now(c), MEM_READ, MEM_WIRE_READ, 1);
}

static inline void *loader_mem_send_write(struct loader *c, uint16_t tag, uint64_t address,
                                          uint32_t pid)
{
    uint32_t ring = loader_io(c)->mem_request;
    struct mem_request *m = (struct mem_request *)ring_next(ring);
    void *payload = ring_next_payload(ring);
    m->write.address = address;
    m->write.pid = pid;
    m->tag = tag;
    ring_send(ring, loader_now(c), MEM_WRITE, (unsigned)MEM_WIRE_WRITE(loader_params(c)->line), 1);
    return payload;
}

static inline const struct mem_reply *loader_mem_peek_reply(const struct loader *c)
{
    return (const struct mem_reply *)ring_peek(loader_io(c)->mem_reply, loader_now(c));
}

static inline void *loader_mem_reply_payload(const struct loader *c)
{
    return ring_peek_payload(loader_io(c)->mem_reply);
}

static inline void loader_mem_pop_reply(struct loader *c)
{
    ring_pop(loader_io(c)->mem_reply, loader_now(c));
}

#endif
