/* Finds the counters that a series has as columns, in the order of the tables, and takes their
 * values. series_columns.h has the interface. */
#include "series_columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "runtime/engine/platform_table.h"
#include "runtime/link/ring.h"
#include "runtime/link/ring_run.h"
#include "runtime/state/lookup.h"

#include "path_pattern.h"
#include "stats_ranks.h"
#include "stats_span.h"

/* The columns that series_columns_find() has found so far. */
static struct {
    struct series_column *columns;
    uint32_t column_count;
    size_t column_capacity;
    const char *section; /* the section of columns that are added */
    bool only_use;       /* columns that say how much is used, and no others */
    bool *is_selected;   /* by column */
} search;

static void add_column(const char *path, const char *counter, const char *suffix,
                       const uint64_t *value, uint32_t rank)
{
    grow_list(search.columns, search.column_count + 1, search.column_capacity, "columns");
    struct series_column *c = &search.columns[search.column_count++];
    *c = (struct series_column){
        .value = value, .section = search.section, .path = path, .rank = rank};
    snprintf(c->counter, sizeof c->counter, "%s%s", counter, suffix);
}

static void add_blocks(const struct platform_table *table)
{
    uint32_t count;
    const struct stat_block *blocks = stats_blocks(&count);
    search.section = "components";
    for (uint32_t b = 0; b < count; b++) {
        const uint64_t *value = blocks[b].values;
        uint32_t rank = platform_rank_of(stats_leaf_of_block(table, b));
        for (uint32_t i = 0; i < blocks[b].stat_count; i++) {
            const struct stat_descriptor *s = &blocks[b].stats[i];
            bool is_counter = s->kind == STAT_COUNTER;
            if (search.only_use && !s->is_use) {
                value += stat_words(s);
                continue;
            }
            add_column(blocks[b].path, s->name, is_counter ? "" : ".count", value, rank);
            if (!is_counter)
                add_column(blocks[b].path, s->name, ".sum", value + 1, rank);
            value += stat_words(s);
        }
    }
}

static void add_connections(const struct platform_table *table)
{
    search.section = "connections";
    for (uint32_t i = 0; i < table->ring_count; i++) {
        const struct platform_ring *r = &table->rings[i];
        if (r->is_reply)
            continue;
        add_column(platform_string(r->name), "requests", "", &ring_at(i)->messages,
                   platform_rank_of(r->sender));
        if (r->peer != RING_NONE)
            add_column(platform_string(r->name), "replies", "", &ring_at(r->peer)->messages,
                       platform_rank_of(r->receiver));
    }
}

static void add_links(const struct platform_table *table)
{
    search.section = "links";
    for (uint32_t i = 0; i < table->link_count; i++) {
        const char *name = platform_string(table->links[i].name);
        for (unsigned half = 0; half < 2; half++) {
            const struct ring_link_use *use = ring_link_use(i, half, 0);
            const char *direction = half ? "backward" : "forward";
            uint32_t rank = stats_rank_of_half(i, half);
            if (!search.only_use) {
                add_column(name, direction, ".messages", &use->messages, rank);
                add_column(name, direction, ".bytes", &use->bytes, rank);
            }
            add_column(name, direction, ".busy_ps", &use->busy_ps, rank);
        }
    }
}

static bool select_column(const char *pattern)
{
    char name[1024];
    bool any = false;
    for (uint32_t i = 0; i < search.column_count; i++) {
        snprintf(name, sizeof name, "%s.%s", search.columns[i].path, search.columns[i].counter);
        if (path_pattern_matches(pattern, name))
            any = search.is_selected[i] = true;
    }
    if (!any)
        fprintf(stderr,
                "heddle: '--series-counter %s': no counter of the platform has this name; the "
                "components of a statistics file list them, as in device.cache[0].hits\n",
                pattern);
    return any;
}

static bool select_columns(const char *patterns)
{
    uint32_t kept = 0;
    free(search.is_selected);
    search.is_selected =
        grow_zeroed((search.column_count + 1) * sizeof *search.is_selected, "columns");
    if (!path_pattern_each(patterns, select_column))
        return false;
    for (uint32_t i = 0; i < search.column_count; i++)
        if (search.is_selected[i])
            search.columns[kept++] = search.columns[i];
    search.column_count = kept;
    return true;
}

struct series_column *series_columns_find(const struct platform_table *table, const char *patterns,
                                          bool use, uint32_t *count)
{
    search.only_use = use;
    search.columns = NULL;
    search.column_count = 0;
    search.column_capacity = 0;
    add_blocks(table);
    if (!use)
        add_connections(table);
    add_links(table);
    bool is_complete = !patterns || select_columns(patterns);
    *count = search.column_count;
    if (!is_complete)
        free(search.columns);
    return is_complete ? search.columns : NULL;
}

void series_columns_settle(const struct platform_table *table, uint64_t time_ps)
{
    for (uint32_t i = 0; i < table->link_count; i++)
        for (unsigned half = 0; half < 2; half++)
            ring_link_use(i, half, time_ps);
}
