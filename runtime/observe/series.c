/* Samples of counters over time. During the run, a sample is written to a spool without a name: the
 * time, the number of columns that grew, then column and growth of each. Only at the end is it
 * known which columns ever grew; the others are left out of the file. */
#include "series.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "runtime/engine/deferral.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/options.h"
#include "runtime/engine/output_file.h"
#include "runtime/engine/platform_table.h"
#include "runtime/engine/rank.h"
#include "runtime/engine/rank_channel.h"

#include "series_columns.h"
#include "series_ranks.h"
#include "stats_span.h"
#include "timeline.h"

#define NUMBER_BYTES 24 /* the longest number and a comma */

static struct {
    const char *path; /* NULL: no file, tracks of the timeline alone */
    struct output_file spool_file;
    FILE *spool;
    struct series_column *columns;
    uint32_t column_count;
    uint64_t *sent;    /* by column: its counter when the last sample was taken */
    uint64_t *growth;  /* values of the last sample; tracks fall back to 0 after it */
    bool *has_grown;   /* ever */
    uint64_t *record;  /* one sample */
    uint64_t interval; /* ps, or cycles of the fastest clock */
    bool counts_cycles;
    uint32_t clock;
    uint64_t number;     /* samples taken, by time */
    uint64_t counted_ps; /* time of the last sample that is kept */
    uint64_t next_ps;
} series = {.next_ps = ENGINE_NEVER};

static uint64_t time_of(uint64_t number)
{
    return series.counts_cycles ? engine_time_of(series.clock, number * series.interval)
                                : number * series.interval;
}

static uint32_t fastest_clock(void)
{
    uint32_t fastest = 0;
    for (uint32_t i = 0; i < engine.clock_count; i++)
        if (engine.domains[i].hz > engine.domains[fastest].hz)
            fastest = i;
    return fastest;
}

/* Forgets the series but for its columns, whose names the timeline may still have to write. */
static void forget_series(void)
{
    struct series_column *columns = series.columns;
    free(series.sent);
    free(series.growth);
    free(series.has_grown);
    free(series.record);
    memset(&series, 0, sizeof series);
    series.columns = columns;
    series.next_ps = ENGINE_NEVER;
}

static bool fail(const char *path)
{
    fprintf(stderr, "heddle: cannot write the time series to '%s': %s\n", path, strerror(errno));
    return false;
}

/* In a child of the program: its exit() would write what the spool holds once more. */
static void discard_spool(void)
{
    if (series.spool)
        __fpurge(series.spool);
}

/* Opened before anything is simulated, so that a wrong path costs nothing. */
static bool open_spool(void)
{
    if (!series.path)
        return true;
    if (!output_file_open(&series.spool_file, series.path))
        return fail(series.path);
    static bool is_registered;
    if (!is_registered)
        pthread_atfork(NULL, NULL, discard_spool);
    is_registered = true;
    output_file_hide(&series.spool_file);
    series.spool = fdopen(series.spool_file.fd, "w+");
    return series.spool || fail(series.path);
}

/* A run that is restored begins later than at 0. */
void series_begin(void)
{
    if (!series.interval || series.next_ps != ENGINE_NEVER)
        return;
    uint64_t now =
        series.counts_cycles ? engine_cycle_at(series.clock, engine.time_ps) : engine.time_ps;
    series.number = now / series.interval + 1;
    series.next_ps = time_of(series.number);
}

uint64_t series_next(void)
{
    return series.next_ps;
}

/* ---- samples ---- */

bool series_has_tracks(void)
{
    return series.interval && engine.tracing & ENGINE_TIMELINE;
}

static int by_column(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* A column of a sample, for its track in the trace. */
static void count(uint32_t column, uint64_t growth, uint64_t to_ps)
{
    const struct series_column *c = &series.columns[column];
    if (growth | series.growth[column])
        timeline_count(c->path, c->counter, series.counted_ps, to_ps, growth);
    series.growth[column] = growth;
}

static void count_all(const uint64_t *record)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < series.column_count; i++) {
        bool has_grown = at < record[1] && record[2 + 2 * at] == i;
        count(i, has_grown ? record[3 + 2 * at] : 0, record[0]);
        at += has_grown;
    }
    series.counted_ps = record[0];
}

/* Keeps a sample of all ranks. */
static void keep_record(uint64_t *record)
{
    if (!rank_is_alone())
        qsort(record + 2, record[1], 2 * sizeof *record, by_column);
    if (series_has_tracks())
        count_all(record);
    for (uint64_t i = 0; i < record[1]; i++)
        series.has_grown[record[2 + 2 * i]] = true;
    if (series.spool)
        fwrite(record, sizeof *record, 2 + 2 * (size_t)record[1], series.spool);
}

static void take_sample(uint64_t to_ps)
{
    engine_flush(to_ps);
    uint64_t *record = series.record + 2;
    series_columns_settle(engine_base.platform, to_ps);
    for (uint32_t i = 0; i < series.column_count; i++) {
        uint64_t now = *series.columns[i].value, growth = now - series.sent[i];
        if (!growth || series.columns[i].rank != ranks.number)
            continue;
        series.sent[i] = now;
        *record++ = i;
        *record++ = growth;
    }
    series.record[0] = to_ps;
    series.record[1] = (uint64_t)(record - series.record - 2) / 2;
    if (rank_is_alone())
        keep_record(series.record);
    else
        series_ranks_add(series.record);
}

void series_sample(void)
{
    take_sample(series.next_ps);
    series.next_ps = time_of(++series.number);
}

void series_sample_until(uint64_t time_ps)
{
    while (series.next_ps <= time_ps)
        series_sample();
}

/* ---- the file ---- */

static void write_name(FILE *out, const struct series_column *c)
{
    bool is_quoted = strpbrk(c->path, ",\"") != NULL;
    fputs(is_quoted ? ",\"" : ",", out);
    for (const char *at = c->path; *at; at++) {
        if (*at == '"')
            putc('"', out);
        putc(*at, out);
    }
    fprintf(out, ".%s%s", c->counter, is_quoted ? "\"" : "");
}

static char *put_number(char *to, uint64_t value)
{
    char digits[NUMBER_BYTES];
    size_t count = 0;
    do
        digits[count++] = (char)('0' + value % 10);
    while (value /= 10);
    while (count)
        *to++ = digits[--count];
    return to;
}

/* ",0" so many times: most columns do not grow in an interval. */
static char *put_zeros(char *to, uint32_t count)
{
    static const char zeros[] = ",0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0";
    const uint32_t chunk = sizeof zeros / 2;
    for (; count > chunk; count -= chunk, to += 2 * (size_t)chunk)
        memcpy(to, zeros, 2 * (size_t)chunk);
    memcpy(to, zeros, 2 * (size_t)count);
    return to + 2 * (size_t)count;
}

/* The spool's samples as rows of the columns that grew, `kept` of them. */
static void write_rows(FILE *out, const uint32_t *place, uint32_t kept)
{
    char *text = grow_memory(NULL, ((size_t)kept + 3) * NUMBER_BYTES, "series");
    uint64_t head[2], from_ps = 0;
    rewind(series.spool);
    while (fread(head, sizeof head, 1, series.spool) == 1) {
        uint64_t *record = series.record;
        size_t words = 2 * (size_t)head[1];
        if (fread(record, sizeof *record, words, series.spool) != words)
            break;
        char *end = put_number(text, from_ps);
        *end++ = ',';
        end = put_number(end, head[0]);
        uint32_t written = 0;
        for (size_t i = 0; i < words; i += 2) {
            end = put_zeros(end, place[record[i]] - written);
            written = place[record[i]] + 1;
            *end++ = ',';
            end = put_number(end, record[i + 1]);
        }
        end = put_zeros(end, kept - written);
        *end++ = '\n';
        fwrite(text, 1, (size_t)(end - text), out);
        from_ps = head[0];
    }
    free(text);
}

static bool write_file(FILE *out)
{
    uint32_t kept = 0, *place = grow_zeroed((series.column_count + 1) * sizeof *place, "series");
    fputs("from_ps,to_ps", out);
    for (uint32_t i = 0; i < series.column_count; i++)
        if (series.has_grown[i]) {
            place[i] = kept++;
            write_name(out, &series.columns[i]);
        }
    putc('\n', out);
    bool is_complete = fflush(series.spool) == 0 && !ferror(series.spool);
    if (is_complete)
        write_rows(out, place, kept);
    free(place);
    return is_complete && !ferror(series.spool) && !ferror(out);
}

static bool publish(void)
{
    struct output_file file;
    if (!output_file_open(&file, series.path))
        return fail(series.path);
    int copy = dup(file.fd);
    FILE *out = copy >= 0 ? fdopen(copy, "w") : NULL;
    bool is_complete = out && write_file(out);
    if (out && fclose(out) != 0)
        is_complete = false;
    if (is_complete)
        return output_file_publish(&file) || fail(series.path);
    fail(series.path);
    output_file_discard(&file);
    return false;
}

static void take_rest(void)
{
    series_begin();
    series_sample_until(engine.time_ps);
    take_sample(engine.time_ps + 1);
}

static void encode(uint32_t to, uint64_t end_ps)
{
    if (end_ps == ENGINE_NEVER)
        take_rest();
    series_ranks_encode(to);
}

bool series_open(const struct platform_table *table)
{
    uint64_t ps = option_number("every-ps"), cycles = option_number("every-cycles");
    const char *path = option_file("series"), *counters = option_text("series-counter");
    forget_series();
    series_ranks_forget();
    free(series.columns);
    series.columns = NULL;
    if (!ps && !cycles)
        return true;
    if (!stats_are_wanted())
        stats_blocks_find(table);
    series.path = rank_is_first() ? path : NULL;
    series.columns = series_columns_find(table, counters, option_number("series-use") != 0,
                                         &series.column_count);
    if (!series.columns)
        return false;
    size_t columns = series.column_count + 1;
    series.sent = grow_zeroed(columns * sizeof *series.sent, "series");
    series.growth = grow_zeroed(columns * sizeof *series.growth, "series");
    series.has_grown = grow_zeroed(columns * sizeof *series.has_grown, "series");
    series.record = grow_zeroed(2 * columns * sizeof *series.record, "series");
    series.counts_cycles = cycles != 0;
    series.interval = series.counts_cycles ? cycles : ps;
    series.clock = fastest_clock();
    static const struct rank_channel channel = {.times = RANK_CHANNEL_BARRIER | RANK_CHANNEL_END,
                                                .encode = encode,
                                                .merge = series_ranks_merge};
    rank_channel_register(&channel);
    return open_spool();
}

void series_join_ranks(void)
{
    while (series.interval && series_ranks_next(series.record))
        keep_record(series.record);
}

bool series_close(void)
{
    if (!series.interval)
        return true;
    take_rest();
    series_join_ranks();
    bool is_complete = !series.path || publish();
    if (series.spool)
        fclose(series.spool);
    forget_series();
    return is_complete;
}
