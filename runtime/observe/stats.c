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

static const struct platform_table *table;
static const char *stats_path; /* NULL: no statistics are written */
static enum platform_span_stats span_stats;
static struct output_file file;
static struct output_file spool; /* never gets a name */
static bool has_spool;
static struct json out;
static double started;

bool stats_are_wanted(void)
{
    return stats_path != NULL;
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

/* Writes the settings as they were given, a line each. */
static void write_set(const char *set)
{
    json_open(&out, "set", '[');
    for (const char *line = set ? set : ""; *line;) {
        size_t size = strcspn(line, "\n");
        char *text = grow_checked(strndup(line, size), "a setting");
        json_text(&out, NULL, text);
        free(text);
        line += size + (line[size] == '\n');
    }
    json_close(&out, ']');
}

static void write_optional(const char *name, const char *value)
{
    if (value)
        json_text(&out, name, value);
}

/* A run that went on from a state of other parameters. */
static void write_origin(void)
{
    struct checkpoint_origin origin;
    if (!checkpoint_origin(&origin))
        return;
    json_open(&out, "restored", '{');
    json_uint(&out, "time_ps", origin.time_ps);
    json_text(&out, "model", origin.model);
    write_set(origin.set);
    json_close(&out, '}');
}

static void write_stamp(void)
{
    json_open(&out, "stamp", '{');
    json_text(&out, "version", HEDDLE_VERSION);
    json_text(&out, "model", table->model_hash);
    json_text(&out, "program", option_text("program"));
    write_optional("description", option_text("description"));
    write_set(option_text("set"));
    if (table->settings && *table->settings) {
        json_key(&out, "settings");
        json_raw(&out, table->settings, strlen(table->settings));
    }
    write_origin();
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

static void write_components(void)
{
    json_open(&out, "components", '{');
    uint32_t block_count;
    const struct stat_block *blocks = stats_blocks(&block_count);
    for (uint32_t b = 0; b < block_count; b++) {
        const uint64_t *now = blocks[b].values;
        if (!blocks[b].stat_count)
            continue;
        json_open(&out, blocks[b].path, '{');
        for (uint32_t i = 0; i < blocks[b].stat_count; i++) {
            stat_write(&out, &blocks[b].stats[i], now, NULL);
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

/* Traffic of each connection over one way of a shared wire. */
static void write_channels(uint32_t link, unsigned half)
{
    uint32_t count = shared_wire_channel_count(link, half);
    if (!count)
        return;
    json_open(&out, half ? "backward_channels" : "forward_channels", '{');
    for (uint32_t i = 0; i < count; i++) {
        const struct shared_wire_channel_use *use = shared_wire_channel(link, half, i);
        const struct platform_ring *ring = &table->rings[use->ring];
        /* by the port of the sender, of which there is one a channel */
        json_open(&out, platform_string(ring->name), '{');
        out.flat = true;
        json_uint(&out, "messages", use->messages);
        json_uint(&out, "bytes", use->bytes);
        json_uint(&out, "waited_ps", use->waited_ps);
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
        json_uint(&out, "latency_ps", table->links[i].latency_ps);
        for (unsigned half = 0; half < 2; half++) {
            const struct ring_link_use *use = ring_link_use(i, half, engine.time_ps + 1);
            json_open(&out, names[half], '{');
            out.flat = true;
            json_uint(&out, "messages", use->messages);
            json_uint(&out, "bytes", use->bytes);
            json_uint(&out, "busy_ps", use->busy_ps);
            json_close(&out, '}');
            out.flat = false;
            write_channels(i, half);
        }
        json_close(&out, '}');
    }
    json_close(&out, '}');
}

static double seconds(clockid_t clock)
{
    return (double)host_time_read(clock) * 1e-9;
}

/* Where, when and by which words the run was started. */
static void write_start(void)
{
    struct utsname machine;
    struct tm date;
    char text[32];
    time_t now = time(NULL);
    if (uname(&machine) == 0)
        json_text(&out, "name", machine.nodename);
    if (gmtime_r(&now, &date) && strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &date))
        json_text(&out, "date", text);
    write_optional("command", option_text("command"));
    write_optional("folder", option_text("folder"));
}

static void write_host(void)
{
    struct rusage usage;
    double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    getrusage(RUSAGE_SELF, &usage);
    json_open(&out, "host", '{');
    write_start();
    json_seconds(&out, "wall_seconds", seconds(CLOCK_MONOTONIC) - started);
    json_seconds(&out, "cpu_seconds", cpu);
    json_seconds(&out, "simulation_cpu_seconds", (double)host_time_simulation_ns() * 1e-9);
    json_decimal(&out, "kips", cpu > 0 ? (double)engine_instructions() / 1000.0 / cpu : 0);
    if (host_time_is_unordered())
        json_bool(&out, "unordered", true);
    json_uint(&out, "peak_rss_bytes", (uint64_t)usage.ru_maxrss * 1024);
    stats_ranks_write(&out);
    json_close(&out, '}');
}

static bool fail(void)
{
    fprintf(stderr, "heddle: cannot write the statistics to '%s': %s\n", stats_path,
            strerror(errno));
    return false;
}

/* Why the run ended before its work was done, and how far it came. */
static void write_end(void)
{
    if (engine_cut_reason())
        json_text(&out, "partial", engine_cut_reason());
}

bool stats_write(void)
{
    if (!stats_path)
        return true;
    extensions_cut();
    bool spooled = stats_spool_finish();
    if (!output_file_open(&file, stats_path))
        return fail();
    json_start(&out, file.fd);
    json_open(&out, NULL, '{');
    write_stamp();
    json_text(&out, "platform", platform_string(table->name));
    static const char *const modes[] = {
        [PLATFORM_TIMING] = "timing",
        [PLATFORM_FUNCTIONAL] = "functional",
        [PLATFORM_SAMPLED] = "sampled",
    };
    json_text(&out, "mode", modes[platform_mode()]);
    write_end();
    json_uint(&out, "time_ps", engine.time_ps);
    write_clocks();
    extensions_write_stats(&out);
    write_components();
    write_connections();
    write_links();
    if (!option_flag("stats-no-host"))
        write_host();
    json_close(&out, '}');
    json_raw(&out, "\n", 1);
    if (json_finish(&out) && spooled)
        return output_file_publish(&file) || fail();
    fail();
    output_file_discard(&file);
    return false;
}

bool stats_have_spans(void)
{
    return stats_path && span_stats != PLATFORM_SPAN_STATS_NONE;
}

static bool open_spool(void)
{
    if (!stats_path)
        return true;
    /* Other ranks send their text of spans to rank 0 from memory. */
    if (!rank_is_first()) {
        int hidden = memfd_create("heddle spool", MFD_CLOEXEC);
        if (hidden < 0)
            return fail();
        stats_span_open(table, PLATFORM_SPAN_STATS_NONE, hidden);
        return true;
    }
    /* Opened now, so that a wrong path costs no simulation. */
    if (has_spool)
        output_file_discard(&spool);
    has_spool = output_file_open(&spool, stats_path);
    if (!has_spool)
        return fail();
    output_file_hide(&spool);
    stats_span_open(table, span_stats, spool.fd);
    return true;
}

bool stats_open(const struct platform_table *described)
{
    static const char *const span_names[] = {[PLATFORM_SPAN_STATS_SUM] = "sum",
                                             [PLATFORM_SPAN_STATS_ALL] = "all",
                                             [PLATFORM_SPAN_STATS_NONE] = "none"};
    bool no_host = option_flag("stats-no-host");
    table = described;
    stats_path = option_file("stats");
    span_stats =
        (enum platform_span_stats)option_word("kernel-stats", span_names, ARRAY_COUNT(span_names));
    option_text("program");
    option_text("set");
    started = seconds(CLOCK_MONOTONIC);
    host_time_open(stats_path && !no_host);
    extensions_open_stats();
    if (!open_spool())
        return false;
    stats_ranks_open(table);
    return true;
}
