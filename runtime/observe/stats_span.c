/* Growth of the statistics over a span of simulated time.
 *
 * A span's difference is written as text to an unnamed temporary file (the spool) when it ends, so
 * memory does not grow with the number of spans. It is summed over *places* unless every instance
 * is asked for: blocks whose paths differ in indices only, those of top-level instances excepted
 * ("device[1].core[*]"), so that the top-level instances stay apart. */
#include "stats_span.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "runtime/engine/arena.h"
#include "runtime/engine/bug.h"
#include "runtime/engine/deferral.h"
#include "runtime/engine/platform_table.h"
#include "runtime/state/checkpoint.h"
#include "runtime/state/lookup.h"
#include "runtime/state/platform.h"

#define SNAPSHOTS_MAX ((uint32_t)1 << 20) /* more than queues of commands can have at once */

/* Blocks that are summed; all have the statistics of the first. */
struct place {
    const char *path;
    const struct stat_block *first;
    uint64_t *sums; /* sums of the words of all blocks there */
    bool has_changed;
};

static struct {
    enum platform_span_stats mode;
    struct stat_block *blocks;
    uint32_t block_count;
    uint32_t total_words; /* words of all blocks */
    struct place *places;
    uint32_t place_count;
    uint64_t *zeros;                      /* as many words as the longest block has */
    uint32_t snapshots_at[SNAPSHOTS_MAX]; /* arena offsets, 0: not made yet */
    bool is_snapshot_taken[SNAPSHOTS_MAX];
    uint32_t snapshot_count; /* snapshots ever taken */
    struct json spool;
    uint64_t spool_start; /* first byte of the text that is being written */
} spans;

uint32_t stat_words(const struct stat_descriptor *s)
{
    static const uint32_t words[] = {
        [STAT_COUNTER] = 1,
        [STAT_HISTOGRAM] = sizeof(struct stat_histogram) / sizeof(uint64_t),
    };
    return words[s->kind];
}

const struct stat_block *stats_blocks(uint32_t *count)
{
    *count = spans.block_count;
    return spans.blocks;
}

void stats_block_show(uint32_t block, const uint64_t *values)
{
    spans.blocks[block].values = values;
}

/* ---- blocks and places ---- */

/* Adds a block. Statistics of another rank (`is_here` is false) are as that has sent them, in
 * memory of their own, so that the object stays untouched. */
static void add_block(const char *path, const char *object, uint32_t offset,
                      const struct stat_descriptor *stats, uint32_t count, bool is_here)
{
    struct stat_block *b = &spans.blocks[spans.block_count++];
    *b = (struct stat_block){.path = path, .stats = stats, .stat_count = count};
    for (uint32_t i = 0; i < count; i++)
        b->words += stat_words(&stats[i]);
    b->values = is_here ? (const uint64_t *)(const void *)(object + offset)
                        : arena_derive(b->words * sizeof *b->values);
    spans.total_words += b->words;
}

void stats_blocks_find(const struct platform_table *table)
{
    spans.blocks =
        arena_derive((table->instance_count + table->part_count + 1) * sizeof *spans.blocks);
    spans.block_count = 0;
    spans.total_words = 0;
    for (uint32_t i = 0; i < table->instance_count; i++) {
        const struct unit_type *u = platform_unit_of(i);
        add_block(platform_string(table->instances[i].path), (const char *)platform_component(i),
                  u->stats_offset, u->stats, u->stat_count, platform_is_here(i));
    }
    for (uint32_t i = 0; i < table->part_count; i++) {
        uint32_t owner = table->parts[i].owner_instance;
        const struct unit_part_type *u = platform_unit_of(owner)->parts[platform_kind_of_part(i)];
        add_block(platform_string(table->parts[i].path), platform_part_at(i), u->stats_offset,
                  u->stats, u->stat_count, platform_is_here(owner));
    }
}

/* The path with [*] for each index after the first dot; `to` holds twice its length. */
static void collapse(const char *path, char *to)
{
    bool is_below = false;
    while (*path) {
        is_below |= *path == '.';
        *to++ = *path;
        if (*path++ == '[' && is_below) {
            *to++ = '*';
            path += strcspn(path, "]");
        }
    }
    *to = '\0';
}

static bool have_same_stats(const struct stat_block *a, const struct stat_block *b)
{
    if (a->stat_count != b->stat_count)
        return false;
    for (uint32_t i = 0; i < a->stat_count; i++)
        if (a->stats[i].kind != b->stats[i].kind || strcmp(a->stats[i].name, b->stats[i].name) != 0)
            return false;
    return true;
}

/* Blocks at one place that have other statistics than the first there (a slot filled differently)
 * are alone. */
static void find_place(struct stat_block *b)
{
    size_t bytes = 2 * strlen(b->path) + 1;
    char *path = arena_derive(bytes);
    collapse(b->path, path);
    for (uint32_t i = spans.place_count; i-- > 0;) {
        if (strcmp(spans.places[i].path, path) != 0)
            continue;
        if (have_same_stats(spans.places[i].first, b)) {
            b->place = i;
            return;
        }
        strcpy(path, b->path);
        break;
    }
    b->place = spans.place_count;
    spans.places[spans.place_count++] =
        (struct place){path, b, arena_derive((b->words + 1) * sizeof(uint64_t)), false};
}

static void find_places(void)
{
    uint32_t longest = 0;
    spans.places = arena_derive((spans.block_count + 1) * sizeof *spans.places);
    spans.place_count = 0;
    for (uint32_t b = 0; b < spans.block_count; b++) {
        longest = max(spans.blocks[b].words, longest);
        if (spans.blocks[b].words)
            find_place(&spans.blocks[b]);
    }
    spans.zeros = arena_derive((longest + 1) * sizeof(uint64_t));
}

/* ---- in a state ---- */

/* The head of the saved spans. It is followed by the offsets of `count` snapshots, whether each is
 * taken, and the spool. */
struct saved_spans {
    uint64_t mode, count, spool_bytes;
};

static uint64_t spans_size(void)
{
    json_finish(&spans.spool);
    return sizeof(struct saved_spans)
           + spans.snapshot_count * (sizeof *spans.snapshots_at + sizeof(bool)) + spans.spool.total;
}

static void spans_save(struct checkpoint_sink *to)
{
    const struct saved_spans s = {spans.mode, spans.snapshot_count, spans.spool.total};
    char text[4096];
    checkpoint_put(to, &s, sizeof s);
    checkpoint_put(to, spans.snapshots_at, s.count * sizeof *spans.snapshots_at);
    checkpoint_put(to, spans.is_snapshot_taken, s.count * sizeof *spans.is_snapshot_taken);
    for (uint64_t at = 0; at < s.spool_bytes; at += sizeof text) {
        uint64_t part = min(s.spool_bytes - at, sizeof text);
        memset(text, 0, part);
        spans.spool.has_failed |= pread(spans.spool.fd, text, part, (off_t)at) != (ssize_t)part;
        checkpoint_put(to, text, part);
    }
}

static bool spans_load(const void *bytes, uint64_t size)
{
    const struct saved_spans *s = bytes;
    const uint32_t *offsets = (const void *)(s + 1);
    (void)size;
    if (s->mode != spans.mode) {
        fprintf(stderr,
                "heddle: the state was written with another --kernel-stats; give the same\n");
        return false;
    }
    const bool *is_taken = (const void *)(offsets + s->count);
    spans.snapshot_count = (uint32_t)s->count;
    memcpy(spans.snapshots_at, offsets, s->count * sizeof *spans.snapshots_at);
    memcpy(spans.is_snapshot_taken, is_taken, s->count * sizeof *is_taken);
    json_raw(&spans.spool, (const char *)(is_taken + s->count), s->spool_bytes);
    return true;
}

static const struct checkpoint_part spans_part = {
    .name = "spans", .size = spans_size, .save = spans_save, .load = spans_load};

void stats_span_open(const struct platform_table *table, enum platform_span_stats what, int fd)
{
    memset(spans.snapshots_at, 0, spans.snapshot_count * sizeof spans.snapshots_at[0]);
    memset(spans.is_snapshot_taken, 0, spans.snapshot_count * sizeof spans.is_snapshot_taken[0]);
    spans.snapshot_count = 0;
    spans.mode = what;
    checkpoint_register(&spans_part);
    json_start(&spans.spool, fd);
    spans.spool.is_flat = true;
    stats_blocks_find(table);
    find_places();
}

/* ---- snapshots ---- */

uint32_t stats_span_begin(void)
{
    uint32_t s = 0;
    if (spans.mode == PLATFORM_SPAN_STATS_NONE)
        return SNAPSHOTS_MAX;
    engine_flush_window();
    while (s < SNAPSHOTS_MAX && spans.is_snapshot_taken[s])
        s++;
    if (s == SNAPSHOTS_MAX)
        die("more than %u spans of statistics at once; use --kernel-stats none", SNAPSHOTS_MAX);
    if (!spans.snapshots_at[s])
        spans.snapshots_at[s] = arena_allocate((spans.total_words + 1) * sizeof(uint64_t));
    spans.is_snapshot_taken[s] = true;
    spans.snapshot_count = s >= spans.snapshot_count ? s + 1 : spans.snapshot_count;
    uint64_t *to = arena_at(uint64_t, spans.snapshots_at[s]);
    for (uint32_t b = 0; b < spans.block_count; b++) {
        memcpy(to, spans.blocks[b].values, spans.blocks[b].words * sizeof *to);
        to += spans.blocks[b].words;
    }
    return s;
}

void stat_write(struct json *j, const struct stat_descriptor *s, const uint64_t *values,
                const uint64_t *base_values)
{
    if (s->kind == STAT_COUNTER) {
        json_uint(j, s->name, values[0] - (base_values ? base_values[0] : 0));
        return;
    }
    json_open(j, s->name, '{');
    bool was_flat = j->is_flat;
    j->is_flat = true;
    json_uint(j, "count", values[0] - (base_values ? base_values[0] : 0));
    json_uint(j, "sum", values[1] - (base_values ? base_values[1] : 0));
    uint32_t first = offsetof(struct stat_histogram, bucket) / sizeof(uint64_t);
    if (!base_values) {
        json_uint(j, "min", values[2]);
        json_uint(j, "max", values[3]);
    }
    uint32_t used = STAT_BUCKETS;
    while (used && values[first + used - 1] == (base_values ? base_values[first + used - 1] : 0))
        used--;
    json_open(j, "buckets", '[');
    for (uint32_t i = 0; i < used; i++)
        json_uint(j, NULL, values[first + i] - (base_values ? base_values[first + i] : 0));
    json_close(j, ']');
    json_close(j, '}');
    j->is_flat = was_flat;
}

/* The statistics of `like` that differ between `values` and `base_values`. */
static void write_changed(const char *path, const struct stat_block *like, const uint64_t *values,
                          const uint64_t *base_values)
{
    json_open(&spans.spool, path, '{');
    for (uint32_t i = 0; i < like->stat_count; i++) {
        uint32_t words = stat_words(&like->stats[i]);
        if (memcmp(values, base_values, words * sizeof *values) != 0)
            stat_write(&spans.spool, &like->stats[i], values, base_values);
        values += words;
        base_values += words;
    }
    json_close(&spans.spool, '}');
}

static void add_to_place(const struct stat_block *b, const uint64_t *base_values)
{
    struct place *place = &spans.places[b->place];
    uint64_t *sums = place->sums;
    for (uint32_t i = 0; i < b->words; i++)
        sums[i] += b->values[i] - base_values[i];
    place->has_changed = true;
}

static void write_places(void)
{
    for (uint32_t i = 0; i < spans.place_count; i++) {
        struct place *place = &spans.places[i];
        uint64_t *sums = place->sums;
        if (!place->has_changed)
            continue;
        write_changed(place->path, place->first, sums, spans.zeros);
        memset(sums, 0, place->first->words * sizeof *sums);
        place->has_changed = false;
    }
}

/* Writes the components whose statistics have changed. */
static void write_difference(const uint64_t *snapshot)
{
    json_open(&spans.spool, NULL, '{');
    for (uint32_t b = 0; b < spans.block_count; b++) {
        const struct stat_block *block = &spans.blocks[b];
        const uint64_t *base_values = snapshot;
        snapshot += block->words;
        if (memcmp(block->values, base_values, block->words * sizeof *base_values) == 0)
            continue;
        if (spans.mode == PLATFORM_SPAN_STATS_ALL)
            write_changed(block->path, block, block->values, base_values);
        else
            add_to_place(block, base_values);
    }
    write_places();
    json_close(&spans.spool, '}');
}

/* ---- the spool ---- */

struct json *stats_spool_begin(bool continues)
{
    spans.spool.is_first = !continues;
    spans.spool_start = spans.spool.total;
    return &spans.spool;
}

struct stats_text stats_spool_end(void)
{
    return (struct stats_text){spans.spool_start, spans.spool.total - spans.spool_start};
}

struct stats_text stats_span_end(uint32_t span)
{
    if (span == SNAPSHOTS_MAX)
        return (struct stats_text){0};
    engine_flush_window();
    stats_spool_begin(false);
    write_difference(arena_at(uint64_t, spans.snapshots_at[span]));
    spans.is_snapshot_taken[span] = false;
    return stats_spool_end();
}

void stats_spool_copy(struct json *out, struct stats_text text_at)
{
    uint64_t offset = text_at.offset, length = text_at.bytes;
    char text[16384];
    while (length) {
        size_t part = min(length, sizeof text);
        ssize_t n = pread(spans.spool.fd, text, part, (off_t)offset);
        if (n <= 0) {
            out->has_failed = true;
            return;
        }
        json_raw(out, text, (size_t)n);
        offset += (uint64_t)n;
        length -= (uint64_t)n;
    }
}

void stats_spool_read(struct stats_text text, char *to)
{
    if (!text.bytes)
        return;
    json_flush(&spans.spool);
    if (pread(spans.spool.fd, to, text.bytes, (off_t)text.offset) != (ssize_t)text.bytes)
        die("what was noted of the statistics cannot be read: %s", strerror(errno));
}

bool stats_spool_finish(void)
{
    return json_finish(&spans.spool);
}
