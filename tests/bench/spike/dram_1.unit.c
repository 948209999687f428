/* Unit dram_1; written by hand in the form that the generator emits. */
#define DRAM_CONSTANTS                                                                             \
    {                                                                                              \
        100, 64                                                                                    \
    }
#include "dram.c"

UNIT_DEFINE_WALK(dram)

static const struct stat_descriptor stats[] = {
    {"reads", "", STAT_COUNTER, offsetof(struct dram_stats, reads)},
    {"writes", "", STAT_COUNTER, offsetof(struct dram_stats, writes)},
};

extern const struct unit_type dram_unit_1;
const struct unit_type dram_unit_1 = {
    .name = "dram",
    .source = "dram.c",
    .instance_bytes = sizeof(struct dram),
    .io_words_offset = offsetof(struct dram_io, top_request),
    .stats_offset = offsetof(struct dram_io, stats),
    .stat_count = sizeof stats / sizeof stats[0],
    .stats = stats,
    .init = dram_init_one,
    .tick = dram_tick_one,
    .walk = dram_walk,
    .outstanding = dram_outstanding_one,
};
