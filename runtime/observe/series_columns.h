/* Every counter of a run as a column: those of components and parts, the messages of connections,
 * and what crossed links. A histogram gives its count and its sum. */
#ifndef HEDDLE_RUNTIME_OBSERVE_SERIES_COLUMNS_H
#define HEDDLE_RUNTIME_OBSERVE_SERIES_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

struct platform_table;

struct series_column {
    const uint64_t *value; /* as it is now */
    const char *section;   /* a section of statistics: "components", "connections", "links" */
    const char *path;      /* "device.cache[3]", "device.work[3]", or a link's name */
    char counter[64];      /* "hits", "occupancy.sum", "forward.bytes" */
    uint32_t rank;         /* the one that counts it */
};

/* The columns whose path and counter match a line of `patterns`, as in "device.cache.hits"; NULL:
 * all. NULL is also returned when a line matches nothing, which is said on standard error. With
 * `only_use` only those that say how much is used: of components by their measures, and the time in
 * which links are taken. To be freed. In order of components, parts, connections and links. */
struct series_column *series_columns_find(const struct platform_table *table, const char *patterns,
                                          bool only_use, uint32_t *count);

/* Brings the counters up to date that are computed from others (the time in which a link was
 * taken, up to `time_ps`). */
void series_columns_settle(const struct platform_table *table, uint64_t time_ps);

#endif
