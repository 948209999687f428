/* Numbers 0, 1, ... to acquire and give back: slots of a table that grows on the heap. The number
 * given back last is acquired first, so a table stays as small as its use at one time.
 * runtime/engine/index_pool.h does that for tables of the arena. */
#ifndef HEDDLE_BASE_NUMBER_POOL_H
#define HEDDLE_BASE_NUMBER_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "grow.h"

/* All zeros at first. */
struct number_pool {
    uint32_t *free; /* numbers that were given back */
    size_t free_count, capacity;
    uint32_t used; /* numbers from here on were never acquired */
};

/* `contents`: the use of the memory, for a message. */
static inline uint32_t number_pool_acquire(struct number_pool *p, const char *contents)
{
    if (p->free_count)
        return p->free[--p->free_count];
    grow_list(p->free, (size_t)p->used + 1, p->capacity, contents);
    return p->used++;
}

/* No list grows here, as each number has its place already. */
static inline void number_pool_release(struct number_pool *p, uint32_t number)
{
    p->free[p->free_count++] = number;
}

#endif
