/* What each kernel did to the statistics; see stats_share.h and kernel_stats.h.
 *
 * Statistics are blocks of integers inside instances, one block a component or part, described by
 * its unit. A snapshot is a copy of all blocks. The difference that a kernel made is written as
 * text to an unnamed temporary file (the spool) at the kernel's end, so memory does not grow with
 * the number of kernels. It is summed over *places* unless every instance is asked for: blocks
 * whose paths differ in indices only, those of top-level instances excepted ("gpu[1].sa[*].cu[*]"),
 * so that GPUs stay apart. */
#include "stats_share.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/engine/bug.h"
#include "components/sampling/kernel_stats.h"
#include "runtime/engine/setup.h"

#define MAX_SNAPSHOTS 4096u

/* Blocks that are summed; all have the statistics of the first. */
struct place {
    const char *path;
    const struct stat_block *first;
    uint64_t *sums; /* of the words of all blocks there */
    bool changed;
};

static enum platform_kernel_stats mode;
static struct stat_block *blocks;
static uint32_t block_count;
static uint32_t total_words;
static struct place *places;
static uint32_t place_count;
static uint64_t *zeros;                   /* as many words as the longest block has */
static uint32_t snapshots[MAX_SNAPSHOTS]; /* arena offsets, 0: not made yet */
static bool snapshot_taken[MAX_SNAPSHOTS];
static struct json spool;

uint32_t stat_words(const struct stat_descriptor *s)
{
    static const uint32_t words[] = {
        [STAT_COUNTER] = 1,
        [STAT_AVERAGE] = sizeof(struct stat_average) / sizeof(uint64_t),
        [STAT_HISTOGRAM] = sizeof(struct stat_histogram) / sizeof(uint64_t),
    };
    return words[s->kind];
}

const struct stat_block *stats_blocks(uint32_t *count)
{
    *count = block_count;
    return blocks;
}

/* ---- blocks and places ---- */

static void add_block(const char *path, const char *object, uint32_t offset,
                      const struct stat_descriptor *stats, uint32_t count)
{
    struct stat_block *b = &blocks[block_count++];
    *b = (struct stat_block){.path = path,
                             .values = (const uint64_t *)(const void *)(object + offset),
                             .stats = stats,
                             .stat_count = count};
    for (uint32_t i = 0; i < count; i++)
        b->words += stat_words(&stats[i]);
    total_words += b->words;
}

static void find_blocks(const struct platform_table *table)
{
    blocks = arena_derive((table->instance_count + table->part_count + 1) * sizeof *blocks);
    block_count = 0;
    total_words = 0;
    for (uint32_t i = 0; i < table->instance_count; i++) {
        const struct unit_type *u = platform_unit_of(i);
        add_block(platform_string(table->instances[i].path), (const char *)platform_component(i),
                  u->stats_offset, u->stats, u->stat_count);
    }
    for (uint32_t i = 0; i < table->part_count; i++) {
        const struct part *part = platform_part_at(i);
        const struct unit_part_type *u =
            platform_unit_of(table->parts[i].owner_instance)->parts[part->kind];
        add_block(platform_string(table->parts[i].path), (const char *)part, u->stats_offset,
                  u->stats, u->stat_count);
    }
}

/* The path with [*] for each index behind the first dot; `to` holds twice its length. */
static void collapse(const char *path, char *to)
{
    bool below = false;
    while (*path) {
        below |= *path == '.';
        *to++ = *path;
        if (*path++ == '[' && below) {
            *to++ = '*';
            path += strcspn(path, "]");
        }
    }
    *to = '\0';
}

static bool same_stats(const struct stat_block *a, const struct stat_block *b)
{
    if (a->stat_count != b->stat_count)
        return false;
    for (uint32_t i = 0; i < a->stat_count; i++) {
        if (a->stats[i].kind != b->stats[i].kind || strcmp(a->stats[i].name, b->stats[i].name) != 0)
            return false;
    }
    return true;
}

/* Blocks at one place that have other statistics than the first there (a slot filled differently)
 * stand alone. */
static void find_place(struct stat_block *b)
{
    size_t bytes = 2 * strlen(b->path) + 1;
    char *path = arena_derive(bytes);
    collapse(b->path, path);
    for (uint32_t i = place_count; i-- > 0;) {
        if (strcmp(places[i].path, path) != 0)
            continue;
        if (same_stats(places[i].first, b)) {
            b->place = i;
            return;
        }
        strcpy(path, b->path);
        break;
    }
    b->place = place_count;
    places[place_count++] =
        (struct place){path, b, arena_derive((b->words + 1) * sizeof(uint64_t)), false};
}

static void find_places(void)
{
    uint32_t longest = 0;
    places = arena_derive((block_count + 1) * sizeof *places);
    place_count = 0;
    for (uint32_t b = 0; b < block_count; b++) {
        longest = blocks[b].words > longest ? blocks[b].words : longest;
        if (blocks[b].words)
            find_place(&blocks[b]);
    }
    zeros = arena_derive((longest + 1) * sizeof(uint64_t));
}

void stats_share_open(const struct platform_table *table, enum platform_kernel_stats what, int fd)
{
    memset(snapshots, 0, sizeof snapshots);
    memset(snapshot_taken, 0, sizeof snapshot_taken);
    mode = what;
    json_start(&spool, fd);
    spool.flat = true;
    find_blocks(table);
    find_places();
}

/* ---- snapshots ---- */

uint32_t stats_snapshot_take(void)
{
    uint32_t s = 0;
    if (mode == PLATFORM_KERNEL_STATS_NONE)
        return MAX_SNAPSHOTS;
    while (s < MAX_SNAPSHOTS && snapshot_taken[s])
        s++;
    if (s == MAX_SNAPSHOTS)
        die("more than %u kernels at once", MAX_SNAPSHOTS);
    if (!snapshots[s])
        snapshots[s] = arena_allocate((total_words + 1) * sizeof(uint64_t));
    snapshot_taken[s] = true;
    uint64_t *to = arena_at(uint64_t, snapshots[s]);
    for (uint32_t b = 0; b < block_count; b++) {
        memcpy(to, blocks[b].values, blocks[b].words * sizeof *to);
        to += blocks[b].words;
    }
    return s;
}

void stat_write(struct json *j, const struct stat_descriptor *s, const uint64_t *now,
                const uint64_t *before)
{
    if (s->kind == STAT_COUNTER) {
        json_uint(j, s->name, now[0] - (before ? before[0] : 0));
        return;
    }
    json_open(j, s->name, '{');
    bool was_flat = j->flat;
    j->flat = true;
    json_uint(j, "count", now[0] - (before ? before[0] : 0));
    json_uint(j, "sum", now[1] - (before ? before[1] : 0));
    if (s->kind == STAT_HISTOGRAM) {
        uint32_t first = offsetof(struct stat_histogram, bucket) / sizeof(uint64_t);
        if (!before) {
            json_uint(j, "min", now[2]);
            json_uint(j, "max", now[3]);
        }
        uint32_t used = STAT_BUCKETS;
        while (used && now[first + used - 1] == (before ? before[first + used - 1] : 0))
            used--;
        json_open(j, "buckets", '[');
        for (uint32_t i = 0; i < used; i++)
            json_uint(j, NULL, now[first + i] - (before ? before[first + i] : 0));
        json_close(j, ']');
    }
    json_close(j, '}');
    j->flat = was_flat;
}

/* The statistics of `like` that differ between `now` and `then`. */
static void write_changed(const char *path, const struct stat_block *like, const uint64_t *now,
                          const uint64_t *then)
{
    json_open(&spool, path, '{');
    for (uint32_t i = 0; i < like->stat_count; i++) {
        uint32_t words = stat_words(&like->stats[i]);
        if (memcmp(now, then, words * sizeof *now) != 0)
            stat_write(&spool, &like->stats[i], now, then);
        now += words;
        then += words;
    }
    json_close(&spool, '}');
}

static void add_to_place(const struct stat_block *b, const uint64_t *then)
{
    struct place *place = &places[b->place];
    uint64_t *sums = place->sums;
    for (uint32_t i = 0; i < b->words; i++)
        sums[i] += b->values[i] - then[i];
    place->changed = true;
}

static void write_places(void)
{
    for (uint32_t i = 0; i < place_count; i++) {
        struct place *place = &places[i];
        uint64_t *sums = place->sums;
        if (!place->changed)
            continue;
        write_changed(place->path, place->first, sums, zeros);
        memset(sums, 0, place->first->words * sizeof *sums);
        place->changed = false;
    }
}

/* Of the components that the kernel touched. */
static void write_difference(const uint64_t *before)
{
    json_open(&spool, NULL, '{');
    for (uint32_t b = 0; b < block_count; b++) {
        const uint64_t *then = before;
        before += blocks[b].words;
        if (memcmp(blocks[b].values, then, blocks[b].words * sizeof *then) == 0)
            continue;
        if (mode == PLATFORM_KERNEL_STATS_ALL)
            write_changed(blocks[b].path, &blocks[b], blocks[b].values, then);
        else
            add_to_place(&blocks[b], then);
    }
    write_places();
    json_close(&spool, '}');
}

/* ---- the spool ---- */

void stats_snapshot_spool(uint32_t snapshot, uint64_t *offset, uint64_t *length)
{
    if (snapshot == MAX_SNAPSHOTS)
        return;
    *offset = spool.total;
    spool.first = true;
    write_difference(arena_at(uint64_t, snapshots[snapshot]));
    *length = spool.total - *offset;
    snapshot_taken[snapshot] = false;
}

/* Length of what two paths have in common in whole names. */
static size_t common_names(const char *a, const char *b)
{
    size_t i = 0, names = 0;
    while (a[i] && a[i] == b[i]) {
        i++;
        if ((!a[i] || a[i] == '.') && (!b[i] || b[i] == '.'))
            names = i;
    }
    return names;
}

static unsigned count_names(const char *path)
{
    unsigned names = *path != '\0';
    for (; *path; path++)
        names += *path == '.';
    return names;
}

/* Closes and opens objects, so that what follows stands in `to` instead of `from`. */
static void move_to_group(const char *from, const char *to)
{
    char name[64];
    size_t common = common_names(from, to);
    for (unsigned n = count_names(from + common + (from[common] == '.')); n > 0; n--)
        json_close(&spool, '}');
    for (to += common + (to[common] == '.'); *to;) {
        size_t size = strcspn(to, ".");
        if (size >= sizeof name)
            bug("detail of a kernel: group '%s' has a name that is too long", to);
        memcpy(name, to, size);
        name[size] = '\0';
        json_open(&spool, name, '{');
        to += size + (to[size] == '.');
    }
}

void stats_spool_details(const struct kernel_detail *details, uint32_t number, uint64_t *offset,
                         uint64_t *length)
{
    const char *group = "";
    *offset = spool.total;
    spool.first = false; /* more members of an object that has some */
    for (uint32_t i = 0; i < number; i++) {
        const char *wanted = details[i].group ? details[i].group : "";
        move_to_group(group, wanted);
        group = wanted;
        if (details[i].text)
            json_text(&spool, details[i].name, details[i].text);
        else
            json_uint(&spool, details[i].name, details[i].value);
    }
    move_to_group(group, "");
    *length = spool.total - *offset;
}

void stats_spool_copy(struct json *out, uint64_t offset, uint64_t length)
{
    char text[16384];
    while (length) {
        size_t part = length < sizeof text ? length : sizeof text;
        ssize_t n = pread(spool.fd, text, part, (off_t)offset);
        if (n <= 0) {
            out->failed = true;
            return;
        }
        json_raw(out, text, (size_t)n);
        offset += (uint64_t)n;
        length -= (uint64_t)n;
    }
}

bool stats_spool_finish(void)
{
    return json_finish(&spool);
}
