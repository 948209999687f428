/* State of a dram, and the steps that both kinds of it are made of: looking at its ports, copying a
 * request out of its message, answering. */
#ifndef HEDDLE_COMPONENTS_MEMORY_DRAM_DRAM_STATE_H
#define HEDDLE_COMPONENTS_MEMORY_DRAM_DRAM_STATE_H

#include "dram.gen.h"

#include "base/likely.h"
#include "components/protocols/mem/mem_mask.h"
#include "runtime/engine/component_failure.h"
#include "runtime/engine/index_pool.h"
#include "runtime/observe/hang.h"
#include "runtime/state/memory.h"
#include "runtime/state/platform.h"

#include "dram_timing.h"
#include "memory_side_cache.h"

enum { DRAM_TOP, DRAM_DMA, DRAM_PORTS };

/* A request that a timed dram has accepted. The bytes of its answer are apart, so that requests
 * take few of the host's cache lines. */
struct dram_entry {
    uint16_t tag;
    uint8_t port;
    uint8_t kind; /* enum mem_request_kind */
};

struct dram_answer {
    uint64_t due;
    uint32_t number;
    uint32_t reserved;
};

struct dram_queue {
    uint32_t answers_at; /* arena offset: struct dram_answer [mask + 1], a ring, by time */
    uint32_t head;
    uint32_t count;
};

struct dram {
    struct dram_io io;
    uint32_t turn; /* the port that is asked first */
    /* Timed. */
    struct dram_queue queues[DRAM_PORTS];
    struct index_pool free_requests;
    uint32_t requests_at; /* arena offset: struct dram_entry by number */
    uint32_t lines_at;    /* arena offset: bytes of reads and atomics by number, [line] each */
    uint32_t mask;
    uint32_t taken[DRAM_PORTS]; /* not answered */
    uint32_t half;              /* half of the numbers of requests */
    uint8_t refused;            /* bit i: the part has no room for the oldest of port i */
    uint64_t first_due;         /* cycle of the earliest answer in the queues, or ENGINE_NEVER */
    /* With a cache in front. */
    uint64_t free_at;  /* cycle of the next request */
    uint64_t extra_ps; /* what an answer from memory takes more than a hit, above its own time */
    /* With caches that are probed. */
    struct platform_interleaving placing; /* how the space of this slice is interleaved */
    struct index_pool free_withheld;
    uint32_t holders_at;   /* arena offset: uint16_t by line of the slice, a bit a die */
    uint32_t withheld_at;  /* arena offset: struct dram_withheld by number */
    uint16_t head_awaited; /* answers to probes for the oldest request of `top` */
    bool head_is_probed;   /* they have been sent */
};

static inline unsigned dram_line(const struct dram *c)
{
    return dram_params(c)->line;
}

/* The timing part of a timed dram. */
static inline struct part *dram_part(const struct dram *c)
{
    return arena_at(struct part, c->io.timing);
}

/* The bytes that answer request `number`. */
static inline char *dram_bytes(const struct dram *c, uint32_t number)
{
    return arena_at(char, c->lines_at) + (size_t)number * dram_line(c);
}

/* Bytes of a line at a port. */
static inline unsigned dram_port_line(const struct dram *c, unsigned port)
{
    return (unsigned)(port == DRAM_TOP ? dram_params(c)->line : dram_params(c)->copy);
}

static inline const struct mem_request *dram_peek(const struct dram *c, unsigned port)
{
    return port == DRAM_TOP ? dram_top_peek(c) : dram_dma_peek(c);
}

/* The request after the oldest one, which may be still on its way; for the host's caches only. */
static inline const struct mem_request *dram_ahead(const struct dram *c, unsigned port)
{
    return (const struct mem_request *)ring_ahead(port == DRAM_TOP ? c->io.top_request
                                                                   : c->io.dma_request);
}

static inline void *dram_payload(const struct dram *c, unsigned port)
{
    return port == DRAM_TOP ? dram_top_payload(c) : dram_dma_payload(c);
}

static inline void dram_pop(const struct dram *c, unsigned port)
{
    if (port == DRAM_TOP)
        dram_top_pop(c);
    else
        dram_dma_pop(c);
}

static inline bool dram_can_reply(const struct dram *c, unsigned port)
{
    return port == DRAM_TOP ? dram_top_can_reply(c) : dram_dma_can_reply(c);
}

static inline void *dram_reply_data(const struct dram *c, unsigned port, uint16_t tag)
{
    void *payload = port == DRAM_TOP ? dram_top_reply_data(c, tag) : dram_dma_reply_data(c, tag);
    return mem_data_data(payload, dram_port_line(c, port));
}

static inline void dram_reply_done(const struct dram *c, unsigned port, uint16_t tag)
{
    if (port == DRAM_TOP)
        dram_top_reply_done(c, tag);
    else
        dram_dma_reply_done(c, tag);
}

static inline void dram_fail_outside(struct dram *c, uint64_t address)
{
    engine_fail(&c->io.base,
                "physical address 0x%llx is not in simulated memory: no `map` covers it",
                (unsigned long long)address);
}

/* dram.c */
static inline void dram_serve(struct dram *c, unsigned port, const struct mem_request *m);

/* dram_cached.c */
static uint64_t dram_init_cached(struct dram *c, uint64_t overhead_ps);
static inline bool dram_accept_cached(struct dram *c, unsigned port, const struct mem_request *m,
                                      uint64_t address, uint64_t now_ps);

/* dram_timed.c */
static ALWAYS_INLINE bool dram_accept_memory(struct dram *c, unsigned port,
                                             const struct mem_request *m, unsigned kind,
                                             uint64_t address, unsigned access, uint64_t now_ps);
static void dram_init_timed(struct dram *c);
static bool dram_tick_timed(struct dram *c);

#endif
