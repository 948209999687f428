/* Unit xbar_1; written by hand in the form that the generator emits. */
#include "xbar.c"

UNIT_DEFINE_WALK(xbar)

static const struct stat_descriptor stats[] = {
    {"requests", "", STAT_COUNTER, offsetof(struct xbar_stats, requests)},
    {"replies", "", STAT_COUNTER, offsetof(struct xbar_stats, replies)},
};

extern const struct unit_type xbar_unit_1;
const struct unit_type xbar_unit_1 = {
    .name = "xbar",
    .source = "xbar.c",
    .instance_bytes = sizeof(struct xbar),
    .io_words_offset = offsetof(struct xbar_io, from_count),
    .stats_offset = offsetof(struct xbar_io, stats),
    .stat_count = sizeof stats / sizeof stats[0],
    .stats = stats,
    .init = xbar_init_one,
    .tick = xbar_tick_one,
    .walk = xbar_walk,
    .outstanding = xbar_outstanding_one,
};
