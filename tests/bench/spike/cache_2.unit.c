/* Unit cache_2: a 128 KiB bank, 16 ways, write-back; written by hand in the form that the generator
 * emits. */
#define CACHE_CONSTANTS                                                                            \
    {                                                                                              \
        131072, 16, 64, 4, 1, 64, 128, 16, 0, 128                                                  \
    }
#include "cache.gen.h"

#include "lru.c"

#include "cache.c"

UNIT_DEFINE_WALK(cache)

static void lru_init_one(void *part)
{
    lru_init(part);
}

static const struct unit_part_type lru_type = {
    .name = "lru",
    .instance_bytes = sizeof(struct lru),
    .init = lru_init_one,
};

static const struct unit_part_type *const parts[] = {&lru_type};

static const struct stat_descriptor stats[] = {
    {"hits", "", STAT_COUNTER, offsetof(struct cache_stats, hits)},
    {"misses", "", STAT_COUNTER, offsetof(struct cache_stats, misses)},
    {"writebacks", "", STAT_COUNTER, offsetof(struct cache_stats, writebacks)},
    {"translations_missed", "", STAT_COUNTER, offsetof(struct cache_stats, translations_missed)},
    {"mshr_occupancy", "", STAT_HISTOGRAM, offsetof(struct cache_stats, mshr_occupancy)},
};

extern const struct unit_type cache_unit_2;
const struct unit_type cache_unit_2 = {
    .name = "cache",
    .source = "cache.c",
    .instance_bytes = sizeof(struct cache),
    .io_words_offset = offsetof(struct cache_io, top_request),
    .stats_offset = offsetof(struct cache_io, stats),
    .stat_count = sizeof stats / sizeof stats[0],
    .stats = stats,
    .parts = parts,
    .part_count = 1,
    .init = cache_init_one,
    .tick = cache_tick_one,
    .walk = cache_walk,
    .outstanding = cache_outstanding_one,
};
