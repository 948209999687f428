/* A slice of Infinity Cache: tags, in order of use, and no bytes.
 *
 * A set is an array of line numbers, the most recently used first; the lowest bit says that there
 * is one. A line comes at a read or an atomic, when memory has been asked for it. Memory has what
 * is written, so a line goes without a word.
 *
 * The lower half of each place is in one table, the upper half in another. The second table is
 * not touched before a line needs it: with lines of 128 bytes, from 256 GiB on. */
#include "infinity_cache.gen.h"

#include <string.h>

#include "base/likely.h"
#include "base/number.h"
#include "runtime/engine/engine.h"

#include "memory_side_cache.h"

/* The first so many ways of all sets are side by side, then the next: most programs fill a few
 * ways of many sets. */
#define BLOCK_WAYS 4u

#define LINE_HERE      ((uint64_t)1)
#define LINE_FLAG_BITS 1

struct infinity_cache {
    struct infinity_cache_io io;
    uint32_t lower_at; /* arena offset: uint32_t [ways / BLOCK_WAYS][sets][BLOCK_WAYS] */
    uint32_t upper_at; /* arena offset: as `lower`, the upper halves */
    uint32_t line;
    bool has_upper; /* some are in the upper halves */
    uint64_t sets;
    uint64_t last_atomic; /* line */
};

static uint32_t infinity_ways(const struct infinity_cache *p)
{
    return infinity_cache_params(p)->ways;
}

/* Bytes of one of the tables. */
static size_t infinity_bytes(const struct infinity_cache *p)
{
    uint64_t blocks = divide_up(infinity_ways(p), BLOCK_WAYS);
    return blocks * p->sets * BLOCK_WAYS * sizeof(uint32_t);
}

static void infinity_setup(struct part *self, uint32_t line)
{
    struct infinity_cache *p = (struct infinity_cache *)(void *)self;
    p->line = line;
    p->sets = infinity_cache_params(p)->size / line / infinity_ways(p);
    p->last_atomic = UINT64_MAX;
    p->lower_at = arena_allocate(infinity_bytes(p));
    p->upper_at = arena_allocate(infinity_bytes(p));
}

/* The set of an address: line numbers of this slice follow each other, and all groups of index bits
 * are exclusive-or'ed, as in std/cache. */
static uint64_t infinity_set(const struct infinity_cache *p, uint64_t address)
{
    uint64_t chunk = infinity_cache_params(p)->interleave,
             number = address / chunk / infinity_cache_params(p)->interleaved;
    number = (number * chunk + address % chunk) / p->line;
    unsigned bits = p->sets > 1 ? 64 - (unsigned)__builtin_clzll(p->sets - 1) : 64;
    for (unsigned shift = bits; shift < 64; shift *= 2)
        number ^= number >> shift;
    return number % p->sets;
}

static uint64_t infinity_index(const struct infinity_cache *p, uint64_t set, uint32_t way)
{
    return (way / BLOCK_WAYS * p->sets + set) * BLOCK_WAYS + way % BLOCK_WAYS;
}

static uint32_t *infinity_near(const struct infinity_cache *p, uint64_t set, uint32_t way)
{
    return arena_at(uint32_t, p->lower_at) + infinity_index(p, set, way);
}

static uint64_t infinity_get(const struct infinity_cache *p, uint64_t set, uint32_t way)
{
    uint64_t index = infinity_index(p, set, way);
    uint64_t low = arena_at(uint32_t, p->lower_at)[index];
    return low | (p->has_upper ? (uint64_t)arena_at(uint32_t, p->upper_at)[index] << 32 : 0);
}

static void infinity_put(const struct infinity_cache *p, uint64_t set, uint32_t way, uint64_t line)
{
    uint64_t index = infinity_index(p, set, way);
    arena_at(uint32_t, p->lower_at)[index] = (uint32_t)line;
    arena_at(uint32_t, p->upper_at)[index] = (uint32_t)(line >> 32);
}

/* The line of an address as it is in its place. */
static uint64_t infinity_line(const struct infinity_cache *p, uint64_t address)
{
    return address / p->line << LINE_FLAG_BITS | LINE_HERE;
}

static OUT_OF_LINE uint32_t infinity_find_far(const struct infinity_cache *p, uint64_t set,
                                              uint64_t line)
{
    for (uint32_t i = 0; i < infinity_ways(p); i++) {
        uint64_t there = infinity_get(p, set, i);
        if (!there || there == line)
            return i;
    }
    return infinity_ways(p);
}

/* The line's way in the set; else the first empty way, or the number of ways. Looks at lower halves
 * alone, for a cache with nothing in the upper ones. */
static inline uint32_t infinity_find_near(const struct infinity_cache *p, uint64_t set,
                                          uint32_t line)
{
    for (uint32_t i = 0; i < infinity_ways(p); i++) {
        uint32_t there = *infinity_near(p, set, i);
        if (!there || there == line)
            return i;
    }
    return infinity_ways(p);
}

static inline uint32_t infinity_find(const struct infinity_cache *p, uint64_t set, uint64_t line)
{
    return unlikely(p->has_upper || line >> 32) ? infinity_find_far(p, set, line)
                                                : infinity_find_near(p, set, (uint32_t)line);
}

/* True if this place has a line. */
static bool infinity_is_line(const struct infinity_cache *p, uint64_t set, uint32_t way)
{
    return way < infinity_ways(p) && infinity_get(p, set, way);
}

static uint32_t infinity_latency(const struct part *self)
{
    return infinity_cache_params((const struct infinity_cache *)(const void *)self)->latency;
}

static uint32_t infinity_interval(struct part *self, uint64_t address, bool is_atomic)
{
    struct infinity_cache *p = (struct infinity_cache *)(void *)self;
    const struct infinity_cache_params *k = infinity_cache_params(p);
    uint64_t line = address / p->line * p->line;
    if (!is_atomic)
        return k->interval;
    bool is_same = line == p->last_atomic;
    p->last_atomic = line;
    return (uint32_t)(is_same ? k->atomic_same : k->atomic);
}

static bool infinity_holds(struct part *self, uint64_t address)
{
    struct infinity_cache *p = (struct infinity_cache *)(void *)self;
    uint64_t set = infinity_set(p, address);
    return infinity_is_line(p, set, infinity_find(p, set, infinity_line(p, address)));
}

static inline void infinity_count(struct infinity_cache *p, bool is_hit)
{
    if (is_hit)
        p->io.stats.hits++;
    else
        p->io.stats.misses++;
}

static OUT_OF_LINE void infinity_arrange_far(struct infinity_cache *p, uint64_t set, uint64_t line)
{
    p->has_upper = true;
    uint32_t way = infinity_find_far(p, set, line), last = infinity_ways(p) - 1;
    infinity_count(p, infinity_is_line(p, set, way));
    for (uint32_t i = min(way, last); i > 0; i--)
        infinity_put(p, set, i, infinity_get(p, set, i - 1));
    infinity_put(p, set, 0, line);
}

/* Moves on what is in front of its place, or of the first that is empty, on the way there. */
static void infinity_arrange(struct part *self, uint64_t address, bool writes)
{
    struct infinity_cache *p = (struct infinity_cache *)(void *)self;
    uint64_t line = infinity_line(p, address), set = infinity_set(p, address);
    if (writes && !infinity_holds(self, address)) {
        infinity_count(p, false);
        return;
    }
    if (unlikely(p->has_upper || line >> 32)) {
        infinity_arrange_far(p, set, line);
        return;
    }
    uint32_t next = (uint32_t)line, there = 0;
    for (uint32_t i = 0; i < infinity_ways(p); i++) {
        uint32_t *lower = infinity_near(p, set, i);
        there = *lower;
        *lower = next;
        if (!there || there == (uint32_t)line)
            break;
        next = there;
        there = 0;
    }
    infinity_count(p, there != 0);
}

static void infinity_drop(struct part *self)
{
    struct infinity_cache *p = (struct infinity_cache *)(void *)self;
    memset(arena_at(uint32_t, p->lower_at), 0, infinity_bytes(p));
    if (p->has_upper)
        memset(arena_at(uint32_t, p->upper_at), 0, infinity_bytes(p));
    p->has_upper = false;
}

static const struct memory_side_cache_ops infinity_cache_ops = {.setup = infinity_setup,
                                                                .latency = infinity_latency,
                                                                .interval = infinity_interval,
                                                                .holds = infinity_holds,
                                                                .settle = infinity_arrange,
                                                                .drop = infinity_drop};
