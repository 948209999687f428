/* The replacement policy of a cache: it chooses the line that makes room for a new one. Sets and
 * ways are numbers from 0; a policy keeps its own state for each line. Calls come from the cache's
 * tick only; victim() is called once for each line that is really replaced, so it may change state
 * (ageing).
 *
 * To add a policy `x`: declare `part x : replacement_policy { }` with its parameters in a .heddle
 * file, and next to it write x.c with `struct x`, `x_init()` and `static const struct
 * replacement_policy_ops x_ops`. A platform chooses it with `replacement = x`. See lru.c. */
#ifndef HEDDLE_COMPONENTS_MEMORY_CACHE_REPLACEMENT_POLICY_H
#define HEDDLE_COMPONENTS_MEMORY_CACHE_REPLACEMENT_POLICY_H

#include <stdint.h>

struct part;

struct replacement_policy_ops {
    /* At start-up: 1 <= ways <= 64. */
    void (*setup)(struct part *self, uint32_t sets, uint32_t ways);
    /* A request found the line. */
    void (*touch)(struct part *self, uint32_t set, uint32_t way);
    /* A new line was put into the way. */
    void (*fill)(struct part *self, uint32_t set, uint32_t way);
    /* The way to replace, one of those whose bit is set in `candidates` (never 0). */
    uint32_t (*victim)(struct part *self, uint32_t set, uint64_t candidates);
};

#endif
