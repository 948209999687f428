/* Looks at a run from time to time, to detect stalls and to print how far it has come. */
#include "progress.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/number.h"
#include "runtime/engine/deferral.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/extension.h"
#include "runtime/engine/instances.h"
#include "runtime/engine/platform_table.h"
#include "runtime/engine/rank.h"
#include "runtime/link/ring.h"
#include "runtime/link/ring_run.h"
#include "runtime/observe/host_time.h"
#include "runtime/observe/series.h"
#include "runtime/observe/view.h"
#include "runtime/state/platform.h"

#include "run_state.h"

#define CHECK_CYCLES     16384u /* between two looks */
#define PROGRESS_SECONDS 0.25
#define LINES_SECONDS    10.0 /* the first one comes after a second */

static struct {
    uint64_t interval_ps; /* a multiple of the window */
    uint64_t messages;
    uint64_t instructions;
    uint64_t still_looks; /* looks since something was last seen to have moved */
    uint64_t stall_looks; /* as many are a stall */
    double first_seconds; /* progress: wall clock of the first look */
    double shown_seconds; /* wall clock of the last drawing; 0: none yet */
    bool has_line;
} watch;

static double seconds(clockid_t clock)
{
    return (double)host_time_read(clock) * 1e-9;
}

/* "launch 3 of 10, 45 % of its parts, about 12 s left, " in the words of users, or "". The estimate
 * takes all parts that are known for equal. */
static void describe(char *text, size_t size, double since)
{
    struct run_counts counts;
    int used = 0;
    extensions_progress(&counts);
    text[0] = '\0';
    if (!counts.begun || !counts.launches)
        return;
    used = snprintf(text, size, "%s %" PRIu64 " of %" PRIu64 ", ", counts.launch_word, counts.begun,
                    counts.launches);
    if (counts.done && counts.done <= counts.parts && (size_t)used < size)
        used += snprintf(text + used, size - (size_t)used, "%.0f %% of the %s, ",
                         100 * (double)counts.done / (double)counts.parts, counts.parts_word);
    if (counts.done && counts.done < counts.parts && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, "about %.0f s left, ",
                 since * (double)(counts.parts - counts.done) / (double)counts.done);
}

/* A line that is drawn anew, for terminals, or one after the other, for logs. */
static void draw(uint64_t time_ps)
{
    char words[128];
    bool prints_lines = this_run.limits.progress == PLATFORM_PROGRESS_LINES;
    double now = seconds(CLOCK_MONOTONIC);
    if (watch.shown_seconds == 0) {
        watch.first_seconds = now;
        watch.shown_seconds = now - (prints_lines ? LINES_SECONDS - 1 : PROGRESS_SECONDS);
    }
    if (now - watch.shown_seconds < (prints_lines ? LINES_SECONDS : PROGRESS_SECONDS))
        return;
    watch.shown_seconds = now;
    watch.has_line = !prints_lines;
    describe(words, sizeof words, now - watch.first_seconds);
    fprintf(stderr, "%s%llu.%03llu us simulated, %s%llu instructions, %.0f KIPS%s",
            prints_lines ? "heddle: " : "\r\033[K", (unsigned long long)(time_ps / 1000000),
            (unsigned long long)(time_ps / 1000 % 1000), words,
            (unsigned long long)engine_instructions(),
            (double)engine_instructions() / 1000.0 / (seconds(CLOCK_PROCESS_CPUTIME_ID) + 1e-9),
            prints_lines ? "\n" : "");
}

void run_progress_erase(void)
{
    if (watch.has_line)
        fputs("\r\033[K", stderr);
    watch.has_line = false;
}

/* A rank may know of messages that others have sent. */
static uint64_t messages_here(void)
{
    uint64_t sum = 0;
    const struct platform_table *t = engine_base.platform;
    for (uint32_t i = 0; i < t->ring_count; i++)
        sum += platform_rank_of(t->rings[i].sender) == ranks.number ? ring_at(i)->messages : 0;
    return sum;
}

bool run_progress_look(uint64_t start_ps)
{
    engine_flush(min(start_ps, series_next()));
    uint64_t messages = rank_sum(messages_here());
    uint64_t instructions = rank_sum(engine_instructions());
    if (this_run.limits.progress)
        draw(start_ps);
    view_must_stop = view_is_open;
    watch.still_looks++;
    if (messages != watch.messages || instructions != watch.instructions) {
        watch.messages = messages;
        watch.instructions = instructions;
        watch.still_looks = 0;
    }
    this_run.look_ps = start_ps / watch.interval_ps * watch.interval_ps + watch.interval_ps;
    return watch.still_looks >= watch.stall_looks;
}

bool run_progress_is_spent(void)
{
    uint64_t stall_looks = this_run.limits.max_instructions;
    return stall_looks && watch.instructions >= stall_looks;
}

void run_progress_begin(void)
{
    uint64_t quarter = this_run.limits.stall_limit / 4 + 1;
    uint64_t cycles = min(quarter, CHECK_CYCLES);
    uint64_t unit = this_run.window_ps ? this_run.window_ps : 1;
    watch.interval_ps = (engine_time_of(this_run.fastest, cycles) + unit) / unit * unit;
    this_run.look_ps = engine.time_ps / watch.interval_ps * watch.interval_ps + watch.interval_ps;
    watch.stall_looks = divide_up(this_run.limits.stall_limit, cycles) + 1;
    watch.still_looks = 0;
}

void run_progress_open(void)
{
    watch.messages = 0;
    watch.instructions = 0;
}
