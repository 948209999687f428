/* A run that is watched while it goes on; view.h has its terms. The status page is written and its
 * wishes are read between windows. What components wait for is found out by a forked copy of the
 * process, so that looking changes no state. */
#define _GNU_SOURCE /* program_invocation_short_name */
#include "view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/number.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/extension.h"
#include "runtime/engine/options.h"
#include "runtime/engine/platform_table.h"
#include "runtime/engine/rank.h"
#include "runtime/engine/rank_channel.h"
#include "runtime/engine/run_control.h"
#include "runtime/engine/status_page.h"
#include "runtime/link/ring_run.h"
#include "runtime/state/lookup.h"
#include "runtime/state/rank_state.h"

#include "hang.h"
#include "host_time.h"
#include "series_columns.h"
#include "stats_span.h"

#define WRITE_SECONDS 0.2 /* between two writings, unless there is something to say */
#define WAIT_NS       10000000L
#define ALIVE_LOOKS   100 /* polls of a pause between two checks that `heddle run` lives */

bool view_is_open, view_must_stop;

static struct {
    struct status_page *page;
    const char *path;
    const struct platform_table *table;
    struct series_column *columns;
    uint32_t column_count;
    double written;
    uint32_t waits_answered;
    bool is_shared;                /* with several ranks: there is a status page at rank 0 */
    bool is_gathered;              /* rank 0 may look */
    bool has_states;               /* rank 0 has what a pause or the question for waits needs */
    uint64_t instructions;         /* instructions of all ranks */
    char waits[STATUS_PAGE_WAITS]; /* components that wait, and for which others */
} view;

static double seconds_now(void)
{
    return (double)host_time_read(CLOCK_MONOTONIC) * 1e-9;
}

static uint32_t wish(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

/* ---- writing ---- */

static void set_sequence(uint32_t by)
{
    __atomic_store_n(&view.page->sequence, view.page->sequence + by, __ATOMIC_SEQ_CST);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static void set_state(enum status_page_state state)
{
    __atomic_store_n(&view.page->state, state, __ATOMIC_RELAXED);
}

static void write_page(uint64_t time_ps)
{
    struct status_page *p = view.page;
    uint64_t *values = (uint64_t *)(void *)((char *)p + p->values);
    double now = seconds_now();
    set_sequence(1);
    p->time_ps = time_ps;
    p->cycles = engine_cycle_at(0, time_ps);
    p->instructions = view.is_shared ? view.instructions : engine_instructions();
    p->messages = engine_messages();
    struct run_counts counts;
    extensions_progress(&counts);
    p->launches_asked = counts.launches;
    p->parts = counts.parts;
    p->parts_done = counts.done;
    series_columns_settle(view.table, time_ps);
    for (uint32_t i = 0; i < view.column_count; i++)
        values[i] = *view.columns[i].value;
    set_sequence(1);
    view.written = now;
}

static void answer_waits(void)
{
    uint32_t wish_number = wish(&view.page->wishes.waits);
    if (wish_number == view.waits_answered)
        return;
    set_sequence(1);
    snprintf(view.page->waits, sizeof view.page->waits, "%s",
             view.is_shared ? view.waits : hang_describe());
    view.page->waits_answered = view.waits_answered = wish_number;
    set_sequence(1);
}

void view_kernel(uint32_t number, const char *name, uint64_t start_ps, uint64_t end_ps,
                 uint64_t cycles)
{
    if (!view_is_open)
        return;
    struct status_page *p = view.page;
    struct status_page_kernel *k = &p->launches[number % STATUS_PAGE_KERNELS];
    set_sequence(1);
    if (!end_ps)
        p->kernels_begun++;
    else
        p->kernels_ended++;
    if (!end_ps || k->number == number + 1) {
        *k = (struct status_page_kernel){
            .number = number + 1, .start_ps = start_ps, .end_ps = end_ps, .cycles = cycles};
        snprintf(k->name, sizeof k->name, "%s", name);
    }
    set_sequence(1);
    if (end_ps && wish(&p->wishes.step)) {
        __atomic_store_n(&p->wishes.pause, 1, __ATOMIC_RELAXED);
        __atomic_store_n(&p->wishes.step, 0, __ATOMIC_RELAXED);
        view_must_stop = true;
    }
}

/* ---- obeying ---- */

/* The page is gone with `heddle run`, and nothing could end the pause. */
static bool is_served(void)
{
    return access(view.path, F_OK) == 0;
}

static void wait_for_page(uint64_t time_ps)
{
    const struct timespec nap = {.tv_nsec = WAIT_NS};
    struct status_page_wishes *wishes = &view.page->wishes;
    write_page(time_ps);
    set_state(STATUS_PAGE_PAUSED);
    for (unsigned looks = 1; wish(&wishes->pause) && !wish(&wishes->step); looks++) {
        if (engine_is_interrupted() || (looks % ALIVE_LOOKS == 0 && !is_served()))
            break;
        answer_waits();
        nanosleep(&nap, NULL);
    }
    if (wish(&wishes->step)) /* a step ends a pause */
        __atomic_store_n(&wishes->pause, 0, __ATOMIC_RELAXED);
    set_state(STATUS_PAGE_RUNNING);
}

/* ---- several ranks ---- */

bool view_is_shared(void)
{
    return view.is_shared;
}

/* Describes the state of all ranks in a copy of this process, since bringing the state together
 * changes this rank's rings that end at other ranks. */
static void describe_apart(void)
{
    int ends[2];
    size_t used = 0;
    fflush(NULL);
    pid_t copy = pipe(ends) == 0 ? fork() : -1;
    if (copy == 0) {
        rank_state_receive();
        const char *text = hang_describe();
        for (size_t size = strlen(text), at = 0; at < size;) {
            ssize_t put = write(ends[1], text + at, size - at);
            if (put <= 0)
                break;
            at += (size_t)put;
        }
        _exit(0);
    }
    if (copy > 0) {
        close(ends[1]);
        for (ssize_t got = 1; got > 0 && used < sizeof view.waits - 1; used += (size_t)got) {
            got = read(ends[0], view.waits + used, sizeof view.waits - 1 - used);
            got = max(got, 0);
        }
        close(ends[0]);
        waitpid(copy, NULL, 0);
    }
    view.waits[used] = '\0';
}

void view_gather(void)
{
    view.instructions = rank_sum(engine_instructions());
    bool is_wanted = view_is_open
                     && (wish(&view.page->wishes.pause)
                         || wish(&view.page->wishes.waits) != view.waits_answered);
    rank_channels_encode(RANK_CHANNEL_VIEW, ENGINE_NEVER);
    rank_exchange();
    if (rank_is_first())
        for (uint32_t i = 1; i < ranks.count; i++)
            rank_channels_merge(RANK_CHANNEL_VIEW, i);
    rank_share(&is_wanted, sizeof is_wanted);
    if (is_wanted)
        rank_state_send();
    if (is_wanted && view_is_open)
        describe_apart();
    view.is_gathered = true;
    view.has_states = is_wanted;
    view_must_stop = view_is_open;
}

/* ---- looking ---- */

void view_look(uint64_t time_ps)
{
    view_must_stop = false;
    if (view.is_shared && !view.is_gathered)
        return;
    view.is_gathered = false;
    bool can_obey = !view.is_shared || view.has_states;
    if (can_obey && wish(&view.page->wishes.pause))
        wait_for_page(time_ps);
    else if (seconds_now() - view.written >= WRITE_SECONDS)
        write_page(time_ps);
    if (can_obey)
        answer_waits();
}

void view_show_begin(void)
{
    set_state(STATUS_PAGE_RUNNING);
    view_look(engine.time_ps);
}

void view_show_end(uint64_t time_ps)
{
    if (seconds_now() - view.written >= WRITE_SECONDS)
        write_page(time_ps);
    set_state(STATUS_PAGE_HOST);
}

/* ---- opening ---- */

static bool fail(const char *reason)
{
    fprintf(stderr, "heddle: cannot show the run: %s\n", reason);
    return false;
}

/* Names after the structure, values after them. */
static bool write_names(void)
{
    struct status_page *p = view.page;
    char *at = (char *)(p + 1), *end = (char *)p + STATUS_PAGE_BYTES;
    p->names = sizeof *p;
    p->value_count = view.column_count;
    for (uint32_t i = 0; i < view.column_count; i++) {
        const struct series_column *c = &view.columns[i];
        size_t bytes = strlen(c->section) + strlen(c->path) + strlen(c->counter) + 4;
        if ((size_t)(end - at) < bytes + (view.column_count + 1) * sizeof(uint64_t))
            return fail("the platform has more counters than can be shown");
        at += sprintf(at, "%s\t%s\t%s\n", c->section, c->path, c->counter);
    }
    p->name_bytes = (uint64_t)(at - (char *)(p + 1));
    p->values = round_up(p->names + p->name_bytes, 8);
    return true;
}

bool view_open(const struct platform_table *table)
{
    const char *path = option_text("view");
    uint64_t process = option_number("process"), number = process ? process - 1 : 0;
    view_is_open = view_must_stop = false;
    view.is_shared = !rank_is_alone() && path;
    if (!path || !rank_is_first())
        return true;
    if (number >= STATUS_PAGE_PLACES) {
        fprintf(stderr, "heddle: warning: the page shows %d processes; this is one more\n",
                STATUS_PAGE_PLACES);
        return true;
    }
    int file = open(path, O_RDWR | O_CLOEXEC);
    void *place = file < 0 ? MAP_FAILED
                           : mmap(NULL, STATUS_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file,
                                  (off_t)(number * STATUS_PAGE_BYTES));
    if (file >= 0)
        close(file);
    if (place == MAP_FAILED)
        return fail(strerror(errno));
    view.page = place;
    view.path = path;
    view.table = table;
    view.written = 0;
    view.waits_answered = view.page->waits_answered;
    free(view.columns);
    if (!stats_are_wanted())
        stats_blocks_find(table);
    view.columns = series_columns_find(table, NULL, false, &view.column_count);
    if (!write_names())
        return false;
    view.page->pid = (uint32_t)getpid();
    snprintf(view.page->program, sizeof view.page->program, "%s", program_invocation_short_name);
    snprintf(view.page->platform, sizeof view.page->platform, "%s", platform_string(table->name));
    snprintf(view.page->model, sizeof view.page->model, "%s", table->model_hash);
    set_state(STATUS_PAGE_HOST);
    __atomic_store_n(&view.page->magic, STATUS_PAGE_MAGIC, __ATOMIC_RELEASE);
    view_is_open = true;
    return true;
}

void view_close(void)
{
    if (!view_is_open)
        return;
    write_page(engine.time_ps);
    set_state(STATUS_PAGE_ENDED);
    view_is_open = view_must_stop = false;
}
