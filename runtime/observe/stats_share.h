/* Blocks of statistics, and the share that each kernel had in them: what stats_share.c keeps and
 * stats.c writes. */
#ifndef HEDDLE_RUNTIME_STATS_SHARE_H
#define HEDDLE_RUNTIME_STATS_SHARE_H

#include "json.h"
#include "runtime/state/platform.h"
#include "stat.h"

/* The statistics of one component or part. */
struct stat_block {
    const char *path;
    const uint64_t *values;
    const struct stat_descriptor *stats;
    uint32_t stat_count;
    uint32_t words;
    uint32_t place; /* index in the list of places */
};

/* Finds all blocks, and begins an empty spool in the file `fd`. */
void stats_share_open(const struct platform_table *table, enum platform_kernel_stats what, int fd);
const struct stat_block *stats_blocks(uint32_t *count);
uint32_t stat_words(const struct stat_descriptor *s);
/* One statistic; `before` NULL: since the start. Extremes of a difference are unknown and left out.
 */
void stat_write(struct json *j, const struct stat_descriptor *s, const uint64_t *now,
                const uint64_t *before);
/* Copies spooled text to `out`. */
void stats_spool_copy(struct json *out, uint64_t offset, uint64_t length);
/* false: the spool could not be written. */
bool stats_spool_finish(void);

#endif
