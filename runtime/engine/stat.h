/* Statistics: integers only, so that sums do not depend on the compiler. Declared in the
 * description; the generated `struct NAME_stats` holds one of these types for each, in order. */
#ifndef HEDDLE_RUNTIME_ENGINE_STAT_H
#define HEDDLE_RUNTIME_ENGINE_STAT_H

#include <stdint.h>

#include "base/likely.h"

/* Bucket 0 counts the value 0, bucket i values from 2^(i-1) to 2^i - 1, the last one the rest. */
#define STAT_BUCKETS 24

enum stat_kind { STAT_COUNTER, STAT_HISTOGRAM };

/* A counter is a plain uint64_t. */
struct stat_histogram {
    uint64_t count;
    uint64_t sum;
    uint64_t min;
    uint64_t max;
    uint64_t bucket[STAT_BUCKETS];
};

struct stat_descriptor {
    const char *name;
    const char *doc;
    uint32_t kind;   /* enum stat_kind */
    uint32_t offset; /* in the stats struct */
    uint32_t is_use; /* counts what is used: in the part of a measure of utilisation or bandwidth */
};

/* The rest of stat_histogram_add() for a value outside of what was seen before. */
static OUT_OF_LINE __attribute__((unused)) void stat_histogram_widen(struct stat_histogram *s,
                                                                     uint64_t value)
{
    if (!s->count || value < s->min)
        s->min = value;
    if (value > s->max)
        s->max = value;
}

static inline void stat_histogram_add(struct stat_histogram *s, uint64_t value)
{
    unsigned bucket = 63u - (unsigned)__builtin_clzll(value << 1 | 1); /* 0 for 0: no branch */
    if (unlikely(value - s->min > s->max - s->min))
        stat_histogram_widen(s, value); /* before the first one, min and max are 0 */
    s->count++;
    s->sum += value;
    s->bucket[bucket < STAT_BUCKETS ? bucket : STAT_BUCKETS - 1]++;
}

#endif
