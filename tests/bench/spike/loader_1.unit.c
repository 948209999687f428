/* Unit loader_1; written by hand in the form that the generator emits. */
#include "loader.c"

UNIT_DEFINE_WALK(loader)

static const struct stat_descriptor stats[] = {
    {"loads", "", STAT_COUNTER, offsetof(struct loader_stats, loads)},
    {"stores", "", STAT_COUNTER, offsetof(struct loader_stats, stores)},
    {"wrong", "", STAT_COUNTER, offsetof(struct loader_stats, wrong)},
    {"latency", "", STAT_HISTOGRAM, offsetof(struct loader_stats, latency)},
};

extern const struct unit_type loader_unit_1;
const struct unit_type loader_unit_1 = {
    .name = "loader",
    .source = "loader.c",
    .instance_bytes = sizeof(struct loader),
    .io_words_offset = offsetof(struct loader_io, mem_request),
    .stats_offset = offsetof(struct loader_io, stats),
    .stat_count = sizeof stats / sizeof stats[0],
    .stats = stats,
    .init = loader_init_one,
    .tick = loader_tick_one,
    .walk = loader_walk,
    .outstanding = loader_outstanding_one,
};
