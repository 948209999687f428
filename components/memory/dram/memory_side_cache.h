/* The cache in front of a dram's timing part. Such a cache is a part of the memory: all accesses go
 * through it, so it has no duties of coherence, and the bytes are those of the simulated memory. It
 * only says what the timing part is spared.
 *
 * holds() says whether a request needs nothing of memory but to be told of a change, and changes
 * nothing; settle() follows when that has been taken. */
#ifndef HEDDLE_COMPONENTS_MEMORY_DRAM_MEMORY_SIDE_CACHE_H
#define HEDDLE_COMPONENTS_MEMORY_DRAM_MEMORY_SIDE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

struct part;

struct memory_side_cache_ops {
    /* At start-up: memory has lines of `line` bytes. */
    void (*setup)(struct part *self, uint32_t line);
    /* From a request to its answer, of a hit. */
    uint32_t (*latency)(const struct part *self);
    /* Cycles from this request to the next that can be taken. */
    uint32_t (*interval)(struct part *self, uint64_t address, bool atomic);
    bool (*holds)(struct part *self, uint64_t address);
    /* The line is here now, and the most recently used; `writes`: if it was here before. */
    void (*settle)(struct part *self, uint64_t address, bool writes);
    /* Forgets all lines. */
    void (*drop)(struct part *self);
};

#endif
