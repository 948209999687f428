/* Blocks of statistics, and what a span of simulated time added to them. stats.c writes the blocks;
 * extensions (runtime/engine/extension.h) keep spans.
 *
 * Statistics are blocks of integers inside instances, one block a component or part, described by
 * its unit. A span begins with a copy of all blocks and ends with the difference, as JSON text in
 * the spool, a temporary file that lasts until the statistics are written. Spans may overlap. They
 * begin and end between windows, when all components have come to the same time: so they do not
 * depend on the order of ticks or the number of threads. Only while stats_are_wanted(). */
#ifndef HEDDLE_RUNTIME_OBSERVE_STATS_SPAN_H
#define HEDDLE_RUNTIME_OBSERVE_STATS_SPAN_H

#include "runtime/engine/platform_table.h"
#include "runtime/engine/stat.h"

#include "json.h"

/* The components' statistics that are written at the end of a span of time: sums over arrays, every
 * instance, or nothing. */
enum platform_span_stats {
    PLATFORM_SPAN_STATS_SUM,
    PLATFORM_SPAN_STATS_ALL,
    PLATFORM_SPAN_STATS_NONE
};

/* The statistics of one component or part. */
struct stat_block {
    const char *path;
    const uint64_t *values;
    const struct stat_descriptor *stats;
    uint32_t stat_count;
    uint32_t words;
    uint32_t place; /* index in the list of places */
};

/* Text in the spool. */
struct stats_text {
    uint64_t offset;
    uint64_t bytes;
};

/* True if statistics are written in this run. */
bool stats_are_wanted(void);

/* ---- spans ---- */

/* Returns the handle. Ends the program when there are too many at once. */
uint32_t stats_span_begin(void);
/* The JSON object of the statistics that have changed since; 0 bytes where the run wants none
 * (PLATFORM_SPAN_STATS_NONE). The handle is void. */
struct stats_text stats_span_end(uint32_t span);

/* Text of the caller's own, as members of a JSON object; `continues`: after others, so that a
 * comma comes first. */
struct json *stats_spool_begin(bool continues);
struct stats_text stats_spool_end(void);

/* Copies spooled text to `out`. */
void stats_spool_copy(struct json *out, struct stats_text text);

/* The text itself, `text.bytes` of it. */
void stats_spool_read(struct stats_text text, char *to);

/* ---- blocks: for stats.c, series_columns.c and extensions ---- */

/* Finds the blocks of a run without statistics. */
void stats_blocks_find(const struct platform_table *table);

/* Finds all blocks, and begins an empty spool in the file `fd`. */
void stats_span_open(const struct platform_table *table, enum platform_span_stats what, int fd);
const struct stat_block *stats_blocks(uint32_t *count);
/* Spans read other values of a block from now on. */
void stats_block_show(uint32_t block, const uint64_t *values);
uint32_t stat_words(const struct stat_descriptor *s);
/* Writes a statistic, less `base_values` (NULL: 0). Extremes of a difference are left out. */
void stat_write(struct json *j, const struct stat_descriptor *s, const uint64_t *values,
                const uint64_t *base_values);
/* False: the spool could not be written. */
bool stats_spool_finish(void);

#endif
