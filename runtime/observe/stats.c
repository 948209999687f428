/* The statistics file. It appears at once (temporary file, rename) or not at all. What belongs to
 * spans of time was written to the spool (stats_span.c) when they ended; extensions copy it. */
#define _GNU_SOURCE /* memfd_create */
#include "stats.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/grow.h"
#include "base/number.h"
#include "runtime/engine/bug.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/extension.h"
#include "runtime/engine/options.h"
#include "runtime/engine/output_file.h"
#include "runtime/engine/platform_table.h"
#include "runtime/engine/rank.h"
#include "runtime/engine/run_control.h"
#include "runtime/engine/version.h"
#include "runtime/link/ring.h"
#include "runtime/link/ring_run.h"
#include "runtime/link/shared_wire.h"
#include "runtime/state/checkpoint.h"
#include "runtime/state/lookup.h"
#include "runtime/state/platform.h"

#include "host_time.h"
#include "json.h"
#include "stats_ranks.h"
#include "stats_span.h"

static struct {
    const struct platform_table *table;
    const char *path; /* NULL: no statistics are written */
    enum platform_span_stats span_stats;
    struct output_file file;
    struct json out;
    struct output_file spool; /* never gets a name */
    bool has_spool;
    double start_seconds;
} stats;

bool stats_are_wanted(void)
{
    return stats.path != NULL;
}

/* ---- the file ---- */

static void write_parameters(const char *path, uint32_t first, uint32_t count)
{
    if (!count)
        return;
    json_open(&stats.out, path, '{');
    stats.out.is_flat = true;
    for (uint32_t i = first; i < first + count; i++)
        json_int(&stats.out, platform_string(stats.table->param_names[i]), stats.table->params[i]);
    json_close(&stats.out, '}');
    stats.out.is_flat = false;
}

/* Writes the settings as they were given, a line each. */
static void write_set(const char *set)
{
    json_open(&stats.out, "set", '[');
    for (const char *line = set ? set : ""; *line;) {
        size_t size = strcspn(line, "\n");
        char *text = grow_checked(strndup(line, size), "a setting");
        json_text(&stats.out, NULL, text);
        free(text);
        line += size + (line[size] == '\n');
    }
    json_close(&stats.out, ']');
}

static void write_optional(const char *name, const char *value)
{
    if (value)
        json_text(&stats.out, name, value);
}

/* A run that went on from a state of other parameters. */
static void write_origin(void)
{
    struct checkpoint_origin origin;
    if (!checkpoint_origin(&origin))
        return;
    json_open(&stats.out, "restored", '{');
    json_uint(&stats.out, "time_ps", origin.time_ps);
    json_text(&stats.out, "model", origin.model);
    write_set(origin.set);
    json_close(&stats.out, '}');
}

static void write_stamp(void)
{
    json_open(&stats.out, "stamp", '{');
    json_text(&stats.out, "version", HEDDLE_VERSION);
    json_text(&stats.out, "model", stats.table->model_hash);
    json_text(&stats.out, "program", option_text("program"));
    write_optional("description", option_text("description"));
    write_set(option_text("set"));
    if (stats.table->settings && *stats.table->settings) {
        json_key(&stats.out, "settings");
        json_raw(&stats.out, stats.table->settings, strlen(stats.table->settings));
    }
    write_origin();
    json_open(&stats.out, "parameters", '{');
    for (uint32_t i = 0; i < stats.table->instance_count; i++)
        write_parameters(platform_string(stats.table->instances[i].path),
                         stats.table->instances[i].params, stats.table->instances[i].param_count);
    for (uint32_t i = 0; i < stats.table->part_count; i++)
        write_parameters(platform_string(stats.table->parts[i].path), stats.table->parts[i].params,
                         stats.table->parts[i].param_count);
    json_close(&stats.out, '}');
    json_close(&stats.out, '}');
}

static void write_clocks(void)
{
    json_open(&stats.out, "clocks", '{');
    for (uint32_t i = 0; i < stats.table->domain_count; i++) {
        json_open(&stats.out, platform_string(stats.table->domains[i].name), '{');
        json_uint(&stats.out, "hz", stats.table->domains[i].hz);
        json_uint(&stats.out, "cycles", (uint64_t)engine_cycle_at(i, engine.time_ps));
        json_close(&stats.out, '}');
    }
    json_close(&stats.out, '}');
}

static void write_components(void)
{
    json_open(&stats.out, "components", '{');
    uint32_t block_count;
    const struct stat_block *blocks = stats_blocks(&block_count);
    for (uint32_t b = 0; b < block_count; b++) {
        const uint64_t *now = blocks[b].values;
        if (!blocks[b].stat_count)
            continue;
        json_open(&stats.out, blocks[b].path, '{');
        for (uint32_t i = 0; i < blocks[b].stat_count; i++) {
            stat_write(&stats.out, &blocks[b].stats[i], now, NULL);
            now += stat_words(&blocks[b].stats[i]);
        }
        json_close(&stats.out, '}');
    }
    json_close(&stats.out, '}');
}

static void write_connections(void)
{
    json_open(&stats.out, "connections", '{');
    for (uint32_t i = 0; i < stats.table->ring_count; i++) {
        const struct platform_ring *p = &stats.table->rings[i];
        if (p->is_reply)
            continue;
        json_open(&stats.out, platform_string(p->name), '{');
        stats.out.is_flat = true;
        json_text(&stats.out, "to", platform_string(stats.table->instances[p->receiver].path));
        json_uint(&stats.out, "requests", ring_at(i)->messages);
        if (p->peer != RING_NONE)
            json_uint(&stats.out, "replies", ring_at(p->peer)->messages);
        json_close(&stats.out, '}');
        stats.out.is_flat = false;
    }
    json_close(&stats.out, '}');
}

/* Traffic of each connection over one way of a shared wire. */
static void write_channels(uint32_t link, unsigned half)
{
    uint32_t count = shared_wire_channel_count(link, half);
    if (!count)
        return;
    json_open(&stats.out, half ? "backward_channels" : "forward_channels", '{');
    for (uint32_t i = 0; i < count; i++) {
        const struct shared_wire_channel_use *use = shared_wire_channel(link, half, i);
        const struct platform_ring *ring = &stats.table->rings[use->ring];
        /* by the port of the sender, of which there is one a channel */
        json_open(&stats.out, platform_string(ring->name), '{');
        stats.out.is_flat = true;
        json_uint(&stats.out, "messages", use->messages);
        json_uint(&stats.out, "bytes", use->bytes);
        json_uint(&stats.out, "waited_ps", use->waited_ps);
        json_close(&stats.out, '}');
        stats.out.is_flat = false;
    }
    json_close(&stats.out, '}');
}

static void write_links(void)
{
    static const char *const names[] = {"forward", "backward"};
    json_open(&stats.out, "links", '{');
    for (uint32_t i = 0; i < stats.table->link_count; i++) {
        json_open(&stats.out, platform_string(stats.table->links[i].name), '{');
        json_uint(&stats.out, "latency_ps", stats.table->links[i].latency_ps);
        for (unsigned half = 0; half < 2; half++) {
            const struct ring_link_use *use = ring_link_use(i, half, engine.time_ps + 1);
            json_open(&stats.out, names[half], '{');
            stats.out.is_flat = true;
            json_uint(&stats.out, "messages", use->messages);
            json_uint(&stats.out, "bytes", use->bytes);
            json_uint(&stats.out, "busy_ps", use->busy_ps);
            json_close(&stats.out, '}');
            stats.out.is_flat = false;
            write_channels(i, half);
        }
        json_close(&stats.out, '}');
    }
    json_close(&stats.out, '}');
}

static double seconds(clockid_t clock)
{
    return (double)host_time_read(clock) * 1e-9;
}

/* Writes where, when and by which words the run was started. */
static void write_start(void)
{
    struct utsname machine;
    struct tm date;
    char text[32];
    time_t now = time(NULL);
    if (uname(&machine) == 0)
        json_text(&stats.out, "name", machine.nodename);
    if (gmtime_r(&now, &date) && strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &date))
        json_text(&stats.out, "date", text);
    write_optional("command", option_text("command"));
    write_optional("folder", option_text("folder"));
}

static void write_host(void)
{
    struct rusage usage;
    double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    getrusage(RUSAGE_SELF, &usage);
    json_open(&stats.out, "host", '{');
    write_start();
    json_seconds(&stats.out, "wall_seconds", seconds(CLOCK_MONOTONIC) - stats.start_seconds);
    json_seconds(&stats.out, "cpu_seconds", cpu);
    json_seconds(&stats.out, "simulation_cpu_seconds", (double)host_time_simulation_ns() * 1e-9);
    json_decimal(&stats.out, "kips", cpu > 0 ? (double)engine_instructions() / 1000.0 / cpu : 0);
    if (host_time_is_unordered())
        json_bool(&stats.out, "unordered", true);
    json_uint(&stats.out, "peak_rss_bytes", (uint64_t)usage.ru_maxrss * 1024);
    stats_ranks_write(&stats.out);
    json_close(&stats.out, '}');
}

static bool fail(void)
{
    fprintf(stderr, "heddle: cannot write the statistics to '%s': %s\n", stats.path,
            strerror(errno));
    return false;
}

/* Writes why the run ended before its work was done, and how far it came. */
static void write_end(void)
{
    if (engine_cut_reason())
        json_text(&stats.out, "partial", engine_cut_reason());
}

bool stats_write(void)
{
    if (!stats.path)
        return true;
    extensions_cut();
    bool is_spooled = stats_spool_finish();
    if (!output_file_open(&stats.file, stats.path))
        return fail();
    json_start(&stats.out, stats.file.fd);
    json_open(&stats.out, NULL, '{');
    write_stamp();
    json_text(&stats.out, "platform", platform_string(stats.table->name));
    static const char *const modes[] = {
        [PLATFORM_TIMING] = "timing",
        [PLATFORM_FUNCTIONAL] = "functional",
        [PLATFORM_SAMPLED] = "sampled",
    };
    json_text(&stats.out, "mode", modes[platform_mode()]);
    write_end();
    json_uint(&stats.out, "time_ps", engine.time_ps);
    write_clocks();
    extensions_write_stats(&stats.out);
    write_components();
    write_connections();
    write_links();
    if (!option_flag("stats-no-host"))
        write_host();
    json_close(&stats.out, '}');
    json_raw(&stats.out, "\n", 1);
    if (json_finish(&stats.out) && is_spooled)
        return output_file_publish(&stats.file) || fail();
    fail();
    output_file_discard(&stats.file);
    return false;
}

bool stats_have_spans(void)
{
    return stats.path && stats.span_stats != PLATFORM_SPAN_STATS_NONE;
}

static bool open_spool(void)
{
    if (!stats.path)
        return true;
    /* Other ranks send their text of spans to rank 0 from memory. */
    if (!rank_is_first()) {
        int hidden = memfd_create("heddle spool", MFD_CLOEXEC);
        if (hidden < 0)
            return fail();
        stats_span_open(stats.table, PLATFORM_SPAN_STATS_NONE, hidden);
        return true;
    }
    /* Opened now, so that a wrong path costs no simulation. */
    if (stats.has_spool)
        output_file_discard(&stats.spool);
    stats.has_spool = output_file_open(&stats.spool, stats.path);
    if (!stats.has_spool)
        return fail();
    output_file_hide(&stats.spool);
    stats_span_open(stats.table, stats.span_stats, stats.spool.fd);
    return true;
}

bool stats_open(const struct platform_table *described)
{
    static const char *const span_names[] = {[PLATFORM_SPAN_STATS_SUM] = "sum",
                                             [PLATFORM_SPAN_STATS_ALL] = "all",
                                             [PLATFORM_SPAN_STATS_NONE] = "none"};
    bool has_no_host = option_flag("stats-no-host");
    stats.table = described;
    stats.path = option_file("stats");
    stats.span_stats =
        (enum platform_span_stats)option_word("kernel-stats", span_names, ARRAY_COUNT(span_names));
    option_text("program");
    option_text("set");
    stats.start_seconds = seconds(CLOCK_MONOTONIC);
    host_time_open(stats.path && !has_no_host);
    extensions_open_stats();
    if (!open_spool())
        return false;
    stats_ranks_open(stats.table);
    return true;
}
