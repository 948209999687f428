/* Numbers 0 .. capacity - 1 to acquire and release: slots of tables that are kept elsewhere. Last
 * in, first out, so that a large table whose slots are rarely all used stays small in the host's
 * caches, and memory never used is never touched. Order of use depends on the owner's own calls
 * only. */
#ifndef HEDDLE_RUNTIME_ENGINE_INDEX_POOL_H
#define HEDDLE_RUNTIME_ENGINE_INDEX_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/number.h"

#include "arena.h"
#include "engine.h"

struct index_pool {
    /* Arena offset of the end of the stack of numbers that were released. The first of them is
     * last, so that it is beside the lowest entry of a table that is allocated next. */
    uint32_t stack_at;
    uint32_t stack_count;
    uint32_t next_unused; /* the lowest number never acquired */
    uint32_t capacity;
};

/* At start-up only. */
static inline void index_pool_init(struct index_pool *p, uint32_t capacity)
{
    size_t bytes = round_up((size_t)capacity * sizeof(uint32_t), 64);
    p->stack_at = arena_allocate(bytes) + (uint32_t)(bytes / ARENA_UNIT);
    p->stack_count = 0;
    p->next_unused = 0;
    p->capacity = capacity;
}

static inline bool index_pool_has(const struct index_pool *p)
{
    return p->stack_count || p->next_unused < p->capacity;
}

static inline uint32_t index_pool_used(const struct index_pool *p)
{
    return p->next_unused - p->stack_count;
}

/* index_pool_has() must hold. */
static inline uint32_t index_pool_acquire(struct index_pool *p)
{
    return p->stack_count ? arena_at(uint32_t, p->stack_at)[-(ptrdiff_t)p->stack_count--]
                          : p->next_unused++;
}

static inline void index_pool_release(struct index_pool *p, uint32_t number)
{
    arena_at(uint32_t, p->stack_at)[-(ptrdiff_t)++p->stack_count] = number;
}

#endif
