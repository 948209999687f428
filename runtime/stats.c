/* The statistics file, and snapshots of all components' statistics for the records of kernels.
 *
 * Statistics are blocks of integers inside instances, one block a component or part, described by
 * its unit. A snapshot is a copy of all blocks. The difference that a kernel made is written as
 * text to an unnamed temporary file at the kernel's end and copied into the statistics file at the
 * end of the run, so memory does not grow with the number of kernels. The statistics file appears
 * at once (temporary file, rename) or not at all. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "bug.h"
#include "json.h"
#include "kernel_record.h"
#include "ring.h"
#include "setup.h"
#include "stat.h"
#include "version.h"

#define MAX_SNAPSHOTS 4096u
#define PATH_BYTES    4096

struct block {
    const char *path;
    const uint64_t *values;
    const struct stat_descriptor *stats;
    uint32_t stat_count;
    uint32_t words;
};

static const struct platform_table *table;
static struct heddle_options options;
static char temporary[PATH_BYTES + 16];
static struct block *blocks;
static uint32_t block_count;
static uint32_t total_words;
static uint32_t snapshots[MAX_SNAPSHOTS]; /* arena offsets, 0: not made yet */
static bool snapshot_taken[MAX_SNAPSHOTS];
static int spool_fd = -1;
static struct json spool;
static struct json out;
static double started;

static uint32_t stat_words(const struct stat_descriptor *s)
{
    static const uint32_t words[] = {
        [STAT_COUNTER] = 1,
        [STAT_AVERAGE] = sizeof(struct stat_average) / sizeof(uint64_t),
        [STAT_HISTOGRAM] = sizeof(struct stat_histogram) / sizeof(uint64_t),
    };
    return words[s->kind];
}

static void add_block(const char *path, const char *object, uint32_t offset,
                      const struct stat_descriptor *stats, uint32_t count)
{
    struct block *b = &blocks[block_count++];
    *b = (struct block){path, (const uint64_t *)(const void *)(object + offset), stats, count, 0};
    for (uint32_t i = 0; i < count; i++)
        b->words += stat_words(&stats[i]);
    total_words += b->words;
}

static void find_blocks(void)
{
    blocks = arena_at(struct block, arena_allocate((table->instance_count + table->part_count + 1)
                                                   * sizeof *blocks));
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

/* ---- snapshots ---- */

bool stats_wanted(void)
{
    return options.stats_path != NULL;
}

uint32_t stats_snapshot_take(void)
{
    uint32_t s = 0;
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

/* One statistic; `before` NULL: since the start. Extremes of a difference are unknown and left out.
 */
static void write_stat(struct json *j, const struct stat_descriptor *s, const uint64_t *now,
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

/* Statistics that a kernel changed, of the components that it touched. */
static void write_difference(struct json *j, const uint64_t *before)
{
    json_open(j, NULL, '{');
    for (uint32_t b = 0; b < block_count; b++) {
        const uint64_t *now = blocks[b].values;
        const uint64_t *then = before;
        before += blocks[b].words;
        if (!blocks[b].words || memcmp(now, then, blocks[b].words * sizeof *now) == 0)
            continue;
        json_open(j, blocks[b].path, '{');
        for (uint32_t i = 0; i < blocks[b].stat_count; i++) {
            uint32_t words = stat_words(&blocks[b].stats[i]);
            if (memcmp(now, then, words * sizeof *now) != 0)
                write_stat(j, &blocks[b].stats[i], now, then);
            now += words;
            then += words;
        }
        json_close(j, '}');
    }
    json_close(j, '}');
}

void stats_snapshot_spool(uint32_t snapshot, uint64_t *offset, uint64_t *length)
{
    *offset = spool.total;
    spool.first = true;
    spool.flat = true;
    write_difference(&spool, arena_at(uint64_t, snapshots[snapshot]));
    *length = spool.total - *offset;
    snapshot_taken[snapshot] = false;
}

static void copy_spool(uint64_t offset, uint64_t length)
{
    char text[16384];
    while (length) {
        size_t part = length < sizeof text ? length : sizeof text;
        ssize_t n = pread(spool_fd, text, part, (off_t)offset);
        if (n <= 0) {
            out.failed = true;
            return;
        }
        json_raw(&out, text, (size_t)n);
        offset += (uint64_t)n;
        length -= (uint64_t)n;
    }
}

/* ---- the file ---- */

static void write_parameters(const char *path, uint32_t first, uint32_t count)
{
    if (!count)
        return;
    json_open(&out, path, '{');
    out.flat = true;
    for (uint32_t i = first; i < first + count; i++)
        json_int(&out, platform_string(table->param_names[i]), table->params[i]);
    json_close(&out, '}');
    out.flat = false;
}

static void write_stamp(void)
{
    json_open(&out, "stamp", '{');
    json_text(&out, "version", HEDDLE_VERSION);
    json_text(&out, "model", table->model_hash);
    json_text(&out, "program", options.program_hash);
    json_open(&out, "parameters", '{');
    for (uint32_t i = 0; i < table->instance_count; i++)
        write_parameters(platform_string(table->instances[i].path), table->instances[i].params,
                         table->instances[i].param_count);
    for (uint32_t i = 0; i < table->part_count; i++)
        write_parameters(platform_string(table->parts[i].path), table->parts[i].params,
                         table->parts[i].param_count);
    json_close(&out, '}');
    json_close(&out, '}');
}

static void write_clocks(void)
{
    json_open(&out, "clocks", '{');
    for (uint32_t i = 0; i < table->domain_count; i++) {
        json_open(&out, platform_string(table->domains[i].name), '{');
        json_uint(&out, "hz", table->domains[i].hz);
        json_uint(&out, "cycles", (uint64_t)engine_cycle_at(i, engine.time_ps));
        json_close(&out, '}');
    }
    json_close(&out, '}');
}

static void write_kernels(void)
{
    uint32_t count;
    const struct kernel_record *k = kernel_records(&count);
    json_open(&out, "kernels", '[');
    for (uint32_t i = 0; i < count; i++, k++) {
        if (!(k->state & KERNEL_ENDED))
            continue;
        json_open(&out, NULL, '{');
        json_text(&out, "name", arena_at(char, k->name));
        json_uint(&out, "gpu", k->gpu);
        json_uint(&out, "start_ps", k->start_ps);
        json_uint(&out, "end_ps", k->end_ps);
        json_uint(&out, "cycles", k->cycles);
        json_uint(&out, "wavefront_instructions", k->instructions);
        json_uint(&out, "work_groups", k->work_groups);
        json_key(&out, "components");
        copy_spool(k->spool_offset, k->spool_bytes);
        json_close(&out, '}');
    }
    json_close(&out, ']');
}

static void write_components(void)
{
    json_open(&out, "components", '{');
    for (uint32_t b = 0; b < block_count; b++) {
        const uint64_t *now = blocks[b].values;
        if (!blocks[b].stat_count)
            continue;
        json_open(&out, blocks[b].path, '{');
        for (uint32_t i = 0; i < blocks[b].stat_count; i++) {
            write_stat(&out, &blocks[b].stats[i], now, NULL);
            now += stat_words(&blocks[b].stats[i]);
        }
        json_close(&out, '}');
    }
    json_close(&out, '}');
}

static void write_connections(void)
{
    json_open(&out, "connections", '{');
    for (uint32_t i = 0; i < table->ring_count; i++) {
        const struct platform_ring *p = &table->rings[i];
        if (p->is_reply)
            continue;
        json_open(&out, platform_string(p->name), '{');
        out.flat = true;
        json_text(&out, "to", platform_string(table->instances[p->receiver].path));
        json_uint(&out, "requests", ring_at(i)->messages);
        if (p->peer != RING_NONE)
            json_uint(&out, "replies", ring_at(p->peer)->messages);
        json_close(&out, '}');
        out.flat = false;
    }
    json_close(&out, '}');
}

static void write_links(void)
{
    static const char *const names[] = {"forward", "backward"};
    json_open(&out, "links", '{');
    for (uint32_t i = 0; i < table->link_count; i++) {
        json_open(&out, platform_string(table->links[i].name), '{');
        for (unsigned half = 0; half < (table->links[i].shared ? 1u : 2u); half++) {
            const struct ring_link_use *use = ring_link_use(i, half);
            json_open(&out, table->links[i].shared ? "shared" : names[half], '{');
            out.flat = true;
            json_uint(&out, "messages", use->messages);
            json_uint(&out, "bytes", use->bytes);
            json_uint(&out, "busy_ps", use->busy_ps);
            json_close(&out, '}');
            out.flat = false;
        }
        json_close(&out, '}');
    }
    json_close(&out, '}');
}

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void write_host(void)
{
    struct rusage usage;
    double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    getrusage(RUSAGE_SELF, &usage);
    json_open(&out, "host", '{');
    json_decimal(&out, "wall_seconds", seconds(CLOCK_MONOTONIC) - started);
    json_decimal(&out, "cpu_seconds", cpu);
    json_decimal(&out, "kips", cpu > 0 ? (double)engine_instructions() / 1000.0 / cpu : 0);
    json_uint(&out, "peak_rss_bytes", (uint64_t)usage.ru_maxrss * 1024);
    json_close(&out, '}');
}

static int open_temporary(void)
{
    int fd = open(temporary, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        fprintf(stderr, "heddle: cannot write the statistics to '%s': %s\n", options.stats_path,
                strerror(errno));
    return fd;
}

bool stats_write(void)
{
    if (!options.stats_path)
        return true;
    bool spooled = json_finish(&spool);
    int fd = open_temporary();
    if (fd < 0)
        return false;
    json_start(&out, fd);
    json_open(&out, NULL, '{');
    write_stamp();
    json_text(&out, "platform", platform_string(table->name));
    json_text(&out, "mode", options.mode == PLATFORM_FUNCTIONAL ? "functional" : "timing");
    json_uint(&out, "time_ps", engine.time_ps);
    write_clocks();
    write_kernels();
    write_components();
    write_connections();
    write_links();
    if (!options.stats_no_host)
        write_host();
    json_close(&out, '}');
    json_raw(&out, "\n", 1);
    bool good = json_finish(&out) && spooled;
    good = close(fd) == 0 && good;
    if (good && rename(temporary, options.stats_path) == 0)
        return true;
    fprintf(stderr, "heddle: cannot write the statistics to '%s': %s\n", options.stats_path,
            strerror(errno));
    unlink(temporary);
    return false;
}

bool stats_open(const struct platform_table *described, const struct heddle_options *chosen)
{
    table = described;
    options = *chosen;
    started = seconds(CLOCK_MONOTONIC);
    kernel_forget();
    memset(snapshots, 0, sizeof snapshots);
    memset(snapshot_taken, 0, sizeof snapshot_taken);
    if (!options.stats_path)
        return true;
    int n = snprintf(temporary, sizeof temporary, "%s.%ld.tmp", options.stats_path, (long)getpid());
    if (n >= (int)sizeof temporary) {
        fprintf(stderr, "heddle: the path of the statistics is longer than %d bytes\n", PATH_BYTES);
        return false;
    }
    /* Opened now, so that a wrong path costs no simulation; its inode without a name is the spool.
     */
    if (spool_fd >= 0)
        close(spool_fd);
    spool_fd = open_temporary();
    if (spool_fd < 0)
        return false;
    unlink(temporary);
    json_start(&spool, spool_fd);
    find_blocks();
    return true;
}
