/* Statistics: integers only, so that sums do not depend on the compiler. Declared in the description; the generated
 * `struct NAME_stats` holds one of these types for each, in order. */
#ifndef HEDDLE_RUNTIME_STAT_H
#define HEDDLE_RUNTIME_STAT_H

#include <stdint.h>

#define STAT_BUCKETS 24 /* bucket 0: value 0; bucket i: 2^(i-1) .. 2^i - 1; the last takes the rest */

enum stat_kind { STAT_COUNTER, STAT_AVERAGE, STAT_HISTOGRAM };

/* A counter is a plain uint64_t. */
struct stat_average {
    uint64_t count;
    uint64_t sum;
};

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
};

static inline void stat_average_add(struct stat_average *s, uint64_t value)
{
    s->count++;
    s->sum += value;
}

static inline void stat_histogram_add(struct stat_histogram *s, uint64_t value)
{
    unsigned bucket = value ? 64u - (unsigned)__builtin_clzll(value) : 0;
    if (!s->count || value < s->min)
        s->min = value;
    if (value > s->max)
        s->max = value;
    s->count++;
    s->sum += value;
    s->bucket[bucket < STAT_BUCKETS ? bucket : STAT_BUCKETS - 1]++;
}

#endif
