/* The run: windows, in which shards go on by themselves, and what is decided between them.
 *
 * What one partition does can be noticed by another only after the latency of a connection between
 * them. The least of these latencies is the window: time is cut into windows of that length,
 * counted from zero, so that they do not depend on the number of shards. In a window each shard
 * runs all its edges; what it sends to another shard arrives in a later window and is delivered
 * when that begins.
 *
 *     leader:  plan | run shard 0 ........ | wait | settle, decide, plan | run shard 0 ...
 *     worker:       | run shard 1 .... wait       |                      | run shard 1 ...
 *
 * Everything that concerns all shards happens between windows, in the leader, which is the thread
 * that called engine_run(): the run ends (stop, failure, idle, deadlock, stall, limits), spans of
 * statistics begin and end, stores are written (engine_at_window_end). A run with one shard goes
 * through its windows without stopping at their ends, but whatever asks for the end of the window
 * gets the same one, so all numbers are the same. A platform without partitions has no window; its
 * windows are as short as a step.
 *
 * With several ranks, each goes through the windows of a stretch by itself: what crosses between
 * ranks, or between the main partition and the others, takes at least that long. All that concerns
 * all ranks is decided by components of the main partition, so a stretch ends with the first window
 * in which one of these may tick, which is known when ranks meet. A component can fail anywhere: it
 * stops ticking, and the run goes on to the end of the stretch, with one process, too; where a
 * stretch is one window, to the end of the next one.
 *
 * Invariant between windows: every shard has run all its edges before the end of the window, and
 * nothing else; what is under way between shards arrives no earlier. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/engine/arena.h"
#include "runtime/engine/bug.h"
#include "runtime/engine/extension.h"
#include "runtime/observe/hang.h"
#include "runtime/observe/host_time.h"
#include "runtime/observe/series.h"
#include "runtime/observe/stats.h"
#include "runtime/observe/stats_log.h"
#include "thread_pool.h"
#include "rank_barrier.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/instances.h"
#include "runtime/engine/rank.h"
#include "runtime/engine/shard.h"
#include "runtime/link/cut.h"
#include "runtime/link/exchange.h"
#include "runtime/link/lookahead.h"
#include "runtime/state/owned.h"
#include "runtime/link/ring.h"
#include "runtime/link/ring_run.h"
#include "runtime/observe/timeline.h"
#include "runtime/observe/view.h"
#include "runtime/observe/watch.h"
#include "run.h"
#include "runtime/link/shared_wire.h"

#define DEFAULT_STALL_LIMIT 10000000u
#define CHECK_CYCLES        16384u /* between looks at stalls and the progress line */
#define PROGRESS_SECONDS    0.25
#define LINES_SECONDS       10.0 /* the first one comes after a second */

static struct engine_limits limits;
static uint64_t window_ps;  /* 0: none */
static uint64_t stretch_ps; /* of the description; window_ps: windows only */
static bool stretches;      /* ranks are cut so that they can go on for that long */
static uint64_t meet_ps;    /* with several ranks: stretch_ps, or window_ps */
static uint64_t begun_ps;   /* the present stretch */
static uint64_t limit_ps;
static uint64_t pause_ps;  /* with several ranks, rank 0 tells it when they meet */
static uint32_t fastest;   /* clock */
static uint64_t free_ps;   /* until then other ranks have nothing to do with us */
static uint64_t alone_ps;  /* until then a shard alone runs on, but for samples on the way */
static struct shard *solo; /* runs through the ends of windows, since no other has anything to do */
static bool running;
static bool stop;                                        /* set in ticks, read between windows */
static bool interrupted;                                 /* set anywhere */
static struct meeting met;                               /* with several ranks */
static enum engine_result ended = ENGINE_IDLE;           /* how the last run did */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows */
/* What is left for the end of the window: by instance, and whose there is. Made anew with each
 * platform. */
static void (**deferred)(struct component *c);
static uint32_t *deferred_leaves;
static uint32_t deferred_count;
/* Who puts work off, see engine_settles(). Made anew with each platform. */
struct settling {
    struct component *c;
    void (*settle)(struct component *c, uint64_t cycle);
    uint64_t (*last)(const struct component *c); /* or NULL */
};
static struct settling *settling;
static uint32_t settling_count;
static bool keeps_up;
static uint64_t failed_ps;
static uint64_t fail_end_ps; /* the run ends there; ENGINE_NEVER: nobody has failed */
static uint32_t failed_leaf;
static char failure[512];

static struct {
    uint64_t next_ps;     /* time of the next look */
    uint64_t interval_ps; /* a multiple of the window */
    uint64_t messages;
    uint64_t instructions;
    uint64_t still; /* looks since something was last seen to have moved */
    uint64_t most;  /* as many are a stall */
    double first;   /* progress: wall clock of the first look, */
    double shown;   /* and of the last drawing; 0: none yet */
    bool drawn;
} watch;

/* ---- the ends of windows ---- */

static uint64_t window_start(uint64_t time)
{
    return window_ps ? time / window_ps * window_ps : time;
}

static uint64_t window_end(uint64_t time)
{
    return window_start(time) + (window_ps ? window_ps : 1);
}

/* No edge behind the limit runs: to where of a window that ends at `end_ps`? */
static uint64_t within_limit(uint64_t end_ps)
{
    return end_ps <= limit_ps ? end_ps : limit_ps + 1;
}

/* Of the last step of any shard, `least` at the least. */
static uint64_t last_step(uint64_t least)
{
    for (uint32_t i = 0; i < engine.shard_count; i++)
        least = shards[i].now_ps > least ? shards[i].now_ps : least;
    return least;
}

void window_ask_end(void)
{
    struct shard *l = solo;
    if (!l)
        return;
    uint64_t end = window_end(l->now_ps);
    if (end < alone_ps)
        alone_ps = end;
    if (end < l->until_ps)
        l->until_ps = end;
}

void engine_stop(void)
{
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    window_ask_end();
}

/* Between windows: is the run to end because of that? All ranks decide by what rank 0 has told. */
static bool is_cut_short(void)
{
    return rank_is_alone() ? engine_is_interrupted() : met.interrupted;
}

bool engine_is_stopping(void)
{
    return __atomic_load_n(&stop, __ATOMIC_RELAXED);
}

void engine_interrupt(void)
{
    __atomic_store_n(&interrupted, true, __ATOMIC_RELAXED);
}

bool engine_is_interrupted(void)
{
    return __atomic_load_n(&interrupted, __ATOMIC_RELAXED);
}

const char *engine_cut_by(void)
{
    static const char *const words[] = {[ENGINE_DEADLOCK] = "deadlock",
                                        [ENGINE_STALL] = "stall",
                                        [ENGINE_LIMIT] = "limit",
                                        [ENGINE_FAILED] = "failure",
                                        [ENGINE_INTERRUPTED] = "interruption"};
    return words[engine_is_interrupted() ? ENGINE_INTERRUPTED : ended];
}

void engine_fail(const struct component *c, const char *format, ...)
{
    uint64_t now = shard_now(c->domain);
    if (window_ps)
        shard_freeze(c);
    else
        engine_stop();
    window_ask_end();
    pthread_mutex_lock(&lock);
    if (!failure[0] || now < failed_ps || (now == failed_ps && c->leaf < failed_leaf)) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(failure, sizeof failure, format, arguments);
        va_end(arguments);
        failed_ps = now;
        failed_leaf = c->leaf;
    }
    pthread_mutex_unlock(&lock);
}

const char *engine_failure(void)
{
    return failure[0] ? failure : NULL;
}

void engine_clear_failure(void)
{
    failure[0] = '\0';
}

void engine_keep_up(bool always)
{
    keeps_up = always;
}

bool engine_settles(struct component *c, void (*settle)(struct component *c, uint64_t cycle),
                    uint64_t (*last)(const struct component *c))
{
    if (!rank_is_alone() || keeps_up)
        return false;
    settling[settling_count++] = (struct settling){c, settle, last};
    return true;
}

void engine_settle(uint64_t time_ps)
{
    for (uint32_t i = 0; i < settling_count; i++) {
        struct component *c = settling[i].c;
        settling[i].settle(c, engine_cycle_at(c->domain, time_ps));
    }
}

void engine_settle_window(void)
{
    engine_settle(within_limit(window_plan.end_ps));
}

void engine_at_window_end(struct component *c, void (*work)(struct component *c))
{
    pthread_mutex_lock(&lock);
    if (!deferred[c->leaf])
        deferred_leaves[deferred_count++] = c->leaf;
    deferred[c->leaf] = work;
    pthread_mutex_unlock(&lock);
    window_ask_end();
}

static int by_leaf(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

void engine_wake_between(uint32_t id, uint64_t cycle)
{
    const struct component *c = engine_base.components[id];
    uint64_t least = component_now(c) + 1;
    engine_wake_later(id, cycle > least ? cycle : least);
    shard_find_awake(component_shard(c));
    shard_plan(component_shard(c));
}

/* Between windows: what was left for their end. */
static void do_deferred(uint64_t end)
{
    qsort(deferred_leaves, deferred_count, sizeof *deferred_leaves, by_leaf);
    for (uint32_t i = 0; i < deferred_count; i++) {
        struct component *c = platform_component(deferred_leaves[i]);
        deferred[c->leaf](c);
        deferred[c->leaf] = NULL;
        uint64_t cycle = engine_cycle_at(c->domain, end);
        engine_wake_between(c->id, cycle);
    }
    deferred_count = 0;
}

/* ---- limits and progress ---- */

static double seconds(clockid_t clock)
{
    return (double)host_time_read(clock) * 1e-9;
}

/* A line that is drawn anew, for terminals, or one after the other, for logs. */
static void draw_progress(uint64_t time_ps)
{
    char words[128];
    bool lines = limits.progress == PLATFORM_PROGRESS_LINES;
    double now = seconds(CLOCK_MONOTONIC);
    if (watch.shown == 0) {
        watch.first = now;
        watch.shown = now - (lines ? LINES_SECONDS - 1 : PROGRESS_SECONDS);
    }
    if (now - watch.shown < (lines ? LINES_SECONDS : PROGRESS_SECONDS))
        return;
    watch.shown = now;
    watch.drawn = !lines;
    extensions_progress(words, sizeof words, now - watch.first);
    fprintf(stderr, "%s%llu.%03llu us simulated, %s%s%llu instructions, %.0f KIPS%s",
            lines ? "heddle: " : "\r\033[K", (unsigned long long)(time_ps / 1000000),
            (unsigned long long)(time_ps / 1000 % 1000), words, words[0] ? ", " : "",
            (unsigned long long)engine_instructions(),
            (double)engine_instructions() / 1000.0 / (seconds(CLOCK_PROCESS_CPUTIME_ID) + 1e-9),
            lines ? "\n" : "");
}

static void erase_progress(void)
{
    if (watch.drawn)
        fputs("\r\033[K", stderr);
    watch.drawn = false;
}

/* A rank may know of messages that others have sent. */
static uint64_t messages_here(void)
{
    uint64_t sum = 0;
    const struct platform_table *t = engine_base.platform;
    if (rank_is_alone())
        return engine_messages();
    for (uint32_t i = 0; i < t->ring_count; i++)
        sum += platform_rank_of(t->rings[i].sender) == ranks.number ? ring_at(i)->messages : 0;
    return sum;
}

/* Looks are made before the first step at or after multiples of the interval, whatever the number
 * of shards; time in which everybody sleeps is jumped over and does not count. true: nothing has
 * moved for too long. */
static bool check_stall(uint64_t start_ps)
{
    engine_settle(start_ps < series_next() ? start_ps : series_next());
    uint64_t messages = rank_sum(messages_here());
    uint64_t instructions = rank_sum(engine_instructions());
    if (limits.progress)
        draw_progress(start_ps);
    view_stops_now = view_open_now;
    watch.still++;
    if (messages != watch.messages || instructions != watch.instructions) {
        watch.messages = messages;
        watch.instructions = instructions;
        watch.still = 0;
    }
    watch.next_ps = start_ps / watch.interval_ps * watch.interval_ps + watch.interval_ps;
    return watch.still >= watch.most;
}

static void start_watch(void)
{
    uint64_t quarter = limits.stall_limit / 4 + 1;
    uint64_t cycles = quarter < CHECK_CYCLES ? quarter : CHECK_CYCLES;
    uint64_t unit = window_ps ? window_ps : 1;
    watch.interval_ps = (engine_time_of(fastest, cycles) + unit) / unit * unit;
    watch.next_ps = engine.time_ps / watch.interval_ps * watch.interval_ps + watch.interval_ps;
    watch.most = (limits.stall_limit + cycles - 1) / cycles + 1;
    watch.still = 0;
}

/* ---- windows ---- */

static uint64_t next_of_shards(bool *live)
{
    uint64_t next = wire_mixed_next();
    *live = next != ENGINE_NEVER;
    for (uint32_t i = 0; i < engine.shard_count; i++) {
        *live |= shards[i].live;
        next = shards[i].next_ps < next ? shards[i].next_ps : next;
    }
    return next;
}

/* What the shards do next. If only undelivered arrivals are left, they are delivered to find out.
 */
static uint64_t next_here(bool *live)
{
    uint64_t next = next_of_shards(live);
    if (engine.shard_count == 1 || !exchange_is_pending())
        return next;
    if (*live && next < window_plan.end_ps + window_ps)
        return window_plan.end_ps;
    exchange_deliver_all(window_plan.end_ps);
    for (uint32_t i = 0; i < engine.shard_count; i++)
        shard_plan(i);
    return next_of_shards(live);
}

static uint64_t next_step(bool *live)
{
    if (rank_is_alone())
        return next_here(live);
    *live = met.live;
    return met.next_ps;
}

/* One shard alone, while there is nothing to do in any other: on the way it stops for samples. */
static void run_alone(uint32_t shard)
{
    struct shard *l = &shards[shard];
    alone_ps = l->until_ps;
    for (;;) {
        uint64_t sample_ps = series_next();
        l->until_ps = sample_ps < alone_ps ? sample_ps : alone_ps;
        shard_run(shard);
        if (sample_ps >= alone_ps)
            return; /* what is due at the end of a window is taken before the next step */
        series_take();
    }
}

static void run_on(uint32_t shard)
{
    if (solo)
        run_alone(shard);
    else
        shard_run(shard);
}

static void run_window(uint32_t shard)
{
    struct shard *l = &shards[shard];
    const struct window_plan *plan = &window_told.plan;
    l->until_ps = plan->until_ps;
    if (exchange_deliver(shard, plan, window_start(plan->end_ps - 1)))
        shard_plan(shard);
    l->watched = (uint8_t)((l->watched & SHARD_FROZEN) | (stats_log_ticked ? SHARD_LOGGED : 0));
    run_on(shard);
}

/* The rest of a window that stopped for a sample. */
static void run_rest(uint32_t shard)
{
    shards[shard].until_ps = window_told.plan.until_ps;
    shard_run(shard);
}

/* The shards that have something to do in the window; the others sleep through it. */
static uint64_t find_due(void)
{
    uint64_t due = 0;
    for (uint32_t i = 0; i < engine.shard_count; i++)
        due |= (uint64_t)exchange_has_work(i, &window_plan) << i;
    return due;
}

/* The end of time that may be run without looking at the watch, a pause or the limit. */
static uint64_t free_until(void)
{
    uint64_t last_ps = pause_ps < limit_ps ? pause_ps : limit_ps;
    uint64_t until = watch.next_ps <= last_ps ? watch.next_ps : last_ps + 1;
    return until < fail_end_ps ? until : fail_end_ps;
}

/* One shard alone has something to do: until the window in which another has, it runs on like the
 * only one, through the ends of windows, unless it sends something or asks for an end. */
static void run_solo(uint32_t shard)
{
    bool live;
    uint64_t own = shards[shard].next_ps;
    shards[shard].next_ps = ENGINE_NEVER;
    uint64_t others = next_of_shards(&live);
    others = others < free_ps ? others : free_ps;
    shards[shard].next_ps = own;
    window_plan.until_ps = free_until();
    if (others != ENGINE_NEVER && window_start(others) < window_plan.until_ps)
        window_plan.until_ps = window_start(others);
    solo = &shards[shard];
    window_tell();
    run_window(shard);
    solo = NULL;
    uint64_t last = window_end(shards[shard].now_ps); /* it may have found nothing to do */
    window_plan.end_ps = last > window_plan.end_ps ? last : window_plan.end_ps;
}

/* Shards together, up to each sample that lies within the window. What waits for shared links is
 * granted as far as time has come, so that their counters are those of a single shard. */
static void run_together(uint64_t due)
{
    uint64_t last_ps = window_plan.until_ps;
    void (*run)(uint32_t shard) = run_window;
    while (series_next() < last_ps) {
        window_plan.until_ps = series_next();
        crew_run(run, due);
        ring_settle_mixed();
        wire_settle_mixed(window_plan.until_ps);
        series_take();
        run = run_rest;
    }
    window_plan.until_ps = last_ps;
    crew_run(run, due);
}

/* Runs all shards through the window in which `time` lies; a single one goes on until somebody asks
 * for the end of a window. */
static void run_shards(uint64_t time)
{
    if (engine.shard_count == 1) {
        struct shard *l = &shards[0];
        l->until_ps = free_until();
        run_alone(0);
        window_plan.end_ps = window_end(l->now_ps);
        return;
    }
    window_plan.end_ps = window_end(time);
    window_plan.until_ps = within_limit(window_plan.end_ps);
    exchange_turn();
    uint64_t due = find_due();
    bool one = due && !(due & (due - 1));
    if (one && wire_mixed_next() >= window_plan.end_ps && free_ps >= window_plan.end_ps)
        run_solo((uint32_t)__builtin_ctzll(due));
    else
        run_together(due);
}

/* With several ranks: the first failure of all is that of rank 0. */
static void agree_on_failure(void)
{
    struct {
        uint64_t ps;
        uint32_t leaf;
        char text[sizeof failure];
    } own = {failed_ps, failed_leaf, ""}, other;
    memcpy(own.text, failure, sizeof failure);
    if (ranks.number)
        rank_put(0, &own, sizeof own);
    rank_exchange();
    for (uint32_t i = 1; i < ranks.count && !ranks.number; i++) {
        memcpy(&other, rank_take(i, sizeof other), sizeof other);
        if (!other.text[0]
            || (failure[0]
                && (failed_ps < other.ps || (failed_ps == other.ps && failed_leaf < other.leaf))))
            continue;
        failed_ps = other.ps;
        failed_leaf = other.leaf;
        memcpy(failure, other.text, sizeof failure);
    }
}

/* At the end of a window, or of a stretch. */
static void note_failure(uint64_t time_ps)
{
    if (window_ps && fail_end_ps == ENGINE_NEVER)
        fail_end_ps = stretch_ps > window_ps ? (time_ps / stretch_ps + 1) * stretch_ps
                                             : window_end(time_ps) + window_ps;
}

/* Of the present stretch. */
static uint64_t end_of_window(uint32_t window)
{
    return window == MEETING_LAST ? window_plan.end_ps : begun_ps + (window + 1) * window_ps;
}

/* Ends of windows for which an extension wants statistics. */
static uint64_t find_settled(void)
{
    uint64_t windows = 0, from_ps = 0;
    while ((from_ps = extensions_ask(from_ps)) != ENGINE_NEVER) {
        uint64_t window = stats_log_ticked ? (from_ps - begun_ps) / window_ps : MEETING_LAST;
        bool last = window >= STATS_LOG_WINDOWS || window_end(from_ps) >= window_plan.end_ps;
        windows |= (uint64_t)1 << (last ? MEETING_LAST : window);
        from_ps = window_end(from_ps);
    }
    return windows;
}

static void meet(void)
{
    met = (struct meeting){.end_ps = window_plan.end_ps,
                           .decides_ps = ENGINE_NEVER,
                           .pause_ps = pause_ps,
                           .stop = __atomic_load_n(&stop, __ATOMIC_RELAXED),
                           .interrupted = engine_is_interrupted(),
                           .failed = failure[0] != '\0',
                           .settles = find_settled()};
    if (ranks.number && series_has_tracks())
        series_take_until(window_plan.end_ps ? window_plan.end_ps - 1 : 0);
    meeting_hold(&met, limit_ps + 1);
    window_plan.end_ps = met.end_ps;
    pause_ps = met.pause_ps;
    __atomic_store_n(&stop, met.stop, __ATOMIC_RELAXED);
    if (!ranks.number) {
        timeline_settle();
        watch_settle();
    }
    if (met.failed)
        note_failure(window_plan.end_ps - 1);
    if (met.failed)
        agree_on_failure();
    if (met.settles)
        meeting_settle(met.settles, end_of_window);
    stats_log_forget();
}

/* Is work left that nobody does? */
static bool is_outstanding(void)
{
    return rank_sum(hang_outstanding() != 0) != 0;
}

static void settle(void)
{
    ring_settle_mixed();
    wire_settle_mixed(within_limit(window_plan.end_ps));
    if (failure[0])
        note_failure(failed_ps);
    if (rank_is_alone()) {
        extensions_settle(ENGINE_NEVER);
        timeline_settle();
    }
    if (deferred_count)
        do_deferred(window_plan.end_ps);
}

/* No other rank has anything to do until `met.alone_ps`: windows before that need no meeting,
 * unless there is something to tell. */
static bool goes_on_alone(uint64_t time_ps, bool live)
{
    return live && met.alone_ps > window_plan.end_ps && !cut_leaves() && !series_has_tracks()
           && extensions_ask(0) == ENGINE_NEVER && !failure[0] && !timeline_is_filling()
           && !watch_has_lines() && !extensions_are_filling()
           && window_end(time_ps) <= window_start(met.alone_ps)
           && window_start(time_ps) < watch.next_ps;
}

/* Is there another window to run before this rank meets the others, which is at `last_ps` or
 * later? */
static bool goes_on(uint64_t *time_ps, uint64_t last_ps)
{
    bool live;
    if (__atomic_load_n(&stop, __ATOMIC_RELAXED))
        return false;
    *time_ps = next_here(&live);
    if (!live) /* with `tick_all` there is a next edge even so */
        return false;
    return *time_ps < free_until() && (*time_ps < last_ps || goes_on_alone(*time_ps, live));
}

/* The end of the stretch that begins with the first step of all ranks. */
static uint64_t stretch_end(uint64_t time_ps)
{
    uint64_t end = window_end(time_ps), last = (time_ps / meet_ps + 1) * meet_ps;
    uint64_t logged = window_start(time_ps) + STATS_LOG_WINDOWS * window_ps;
    if (meet_ps == window_ps)
        return end;
    if (stats_log_ticked && logged < last)
        last = logged;
    if (met.decides_ps < last)
        last = window_end(met.decides_ps);
    if (watch.next_ps < last)
        last = watch.next_ps;
    if (pause_ps < last)
        last = pause_ps + 1;
    return last > end ? last : end;
}

/* A window is over, and the next one of this rank, if there is one, is that of `next_ps`. Between
 * the two a span of others may begin or end; or one of this rank has, in the stretch. */
static void log_window(uint64_t last_ps, bool more, uint64_t next_ps)
{
    if (stats_log_ticked && window_plan.end_ps < last_ps
        && (!more || window_end(next_ps) > met.alone_ps || extensions_ask(0) != ENGINE_NEVER))
        stats_log_note((uint32_t)((window_plan.end_ps - begun_ps) / window_ps) - 1);
}

static void run_to_meeting(uint64_t time_ps)
{
    if (rank_is_alone()) {
        run_shards(time_ps);
        settle();
        return;
    }
    bool more;
    uint64_t last_ps = stretch_end(time_ps);
    begun_ps = window_start(time_ps);
    free_ps = met.alone_ps > last_ps || stats_log_ticked ? met.alone_ps : last_ps;
    if (series_has_tracks() && free_ps > last_ps)
        free_ps = last_ps;
    do {
        series_take_until(time_ps);
        run_shards(time_ps);
        if (window_plan.end_ps < last_ps
            && (deferred_count || __atomic_load_n(&stop, __ATOMIC_RELAXED)))
            bug("something is decided at %llu ps, before ranks meet",
                (unsigned long long)window_plan.end_ps);
        settle();
        cut_collect();
        more = goes_on(&time_ps, last_ps);
        log_window(last_ps, more, time_ps);
    } while (more);
    window_plan.end_ps = last_ps > window_plan.end_ps ? last_ps : window_plan.end_ps;
    meet();
}

/* A failure ends the run with the stretch in which it came, or behind the next window. */
static bool has_failed(uint64_t next_ps, bool live)
{
    return fail_end_ps != ENGINE_NEVER && (!live || next_ps > limit_ps || next_ps >= fail_end_ps);
}

/* To which time everything has come, as move_clocks() says it. */
static uint64_t reached_ps(void)
{
    uint64_t last = last_step(met.now_ps);
    if (window_ps) {
        uint64_t end = within_limit(window_end(last));
        last = engine_time_of(fastest, engine_cycle_at(fastest, end) - 1);
    }
    return last > engine.time_ps ? last : engine.time_ps;
}

/* With several ranks, one of which shows the run. true: that one has been interrupted. */
static bool look_together(void)
{
    view_gather(rank_sum(engine_instructions()));
    if (view_stops_now)
        view_look(reached_ps());
    return rank_sum(ranks.number == 0 && engine_is_interrupted()) != 0;
}

/* Nothing else is left to be done: who has put work off is woken for what is left of it. true:
 * somebody is. */
static bool wake_for_last(void)
{
    bool found = false;
    engine_settle(last_step(0) + 1);
    for (uint32_t i = 0; i < settling_count; i++) {
        const struct settling *s = &settling[i];
        uint64_t cycle = s->last ? s->last(s->c) : 0;
        if (cycle)
            engine_wake_between(s->c->id, cycle);
        found |= cycle != 0;
    }
    return found;
}

static enum engine_result loop(void)
{
    if (!rank_is_alone())
        meet();
    for (;;) {
        bool live;
        uint64_t time = next_step(&live);
        if (has_failed(time, live))
            return ENGINE_FAILED;
        if (!live && wake_for_last())
            continue;
        if (!live)
            return is_outstanding() ? ENGINE_DEADLOCK : ENGINE_IDLE;
        if (time > limit_ps)
            return ENGINE_LIMIT;
        if (time > pause_ps)
            return ENGINE_PAUSED;
        bool looks = window_start(time) >= watch.next_ps;
        if (looks) {
            if (is_cut_short())
                return ENGINE_INTERRUPTED;
            if (check_stall(window_start(time)))
                return ENGINE_STALL;
        }
        if (engine_unlikely(view_is_shared()) && (looks || met.settles) && look_together())
            return ENGINE_INTERRUPTED;
        if (engine_unlikely(view_stops_now)) {
            engine_settle_window();
            view_look(reached_ps());
        }
        if (engine_unlikely(view_open_now) && rank_is_alone() && engine_is_interrupted())
            return ENGINE_INTERRUPTED;
        series_take_until(time);
        run_to_meeting(time);
        if (engine_unlikely(__atomic_load_n(&stop, __ATOMIC_RELAXED)))
            return is_cut_short()             ? ENGINE_INTERRUPTED
                   : failure[0] || met.failed ? ENGINE_FAILED
                                              : ENGINE_STOPPED;
    }
}

/* All clocks to the end of the last window in which something happened, or which a failure left.
 * Returns the time before which all has happened. */
static uint64_t move_clocks(enum engine_result result)
{
    uint64_t last = met.now_ps;
    if (result == ENGINE_FAILED && fail_end_ps != ENGINE_NEVER)
        last = fail_end_ps - 1;
    last = last_step(last);
    uint64_t end = last + 1;
    if (window_ps && result != ENGINE_PAUSED) {
        end = within_limit(window_end(last));
        for (uint32_t i = 0; i < engine.shard_count; i++)
            shard_move_clocks(i, end);
        last = engine_time_of(fastest, engine_cycle_at(fastest, end) - 1);
    }
    engine.time_ps = result == ENGINE_LIMIT  ? limit_ps
                     : last > engine.time_ps ? last
                                             : engine.time_ps;
    return result == ENGINE_LIMIT ? limit_ps + 1 : end;
}

void engine_abandon(void)
{
    if (!running)
        return;
    if (!rank_is_alone())
        die("the program ended in the middle of a call of the simulator, which has several ranks: "
            "nothing is written");
    engine.time_ps = last_step(engine.time_ps);
    erase_progress();
    ended = ENGINE_INTERRUPTED;
}

/* Ranks meet from the beginning on. */
static enum engine_result begin_and_loop(void)
{
    if (ranks.number == 0 && ranks.count > 1)
        rank_call(RANK_RUN);
    start_watch();
    series_begin();
    if (view_is_shared())
        view_gather(rank_sum(engine_instructions()));
    view_begin();
    wire_find();
    for (uint32_t i = 0; i < engine.shard_count; i++) {
        shard_find_awake(i);
        shard_plan(i);
    }
    met = (struct meeting){.alone_ps = ENGINE_NEVER};
    free_ps = fail_end_ps = ENGINE_NEVER;
    meet_ps = stretches ? stretch_ps : window_ps;
    if (meet_ps > window_ps && stats_take_spans() && !stats_log_ticked)
        stats_log_open();
    stats_log_begin();
    return !rank_is_alone() || !engine_is_interrupted() ? loop() : ENGINE_INTERRUPTED;
}

/* Who waits for a rank that has died goes on behind setjmp(), at any exchange of the run. */
enum engine_result engine_run(void)
{
    static const enum hang_reason reasons[] = {[ENGINE_DEADLOCK] = HANG_DEADLOCK,
                                               [ENGINE_STALL] = HANG_STALL,
                                               [ENGINE_LIMIT] = HANG_LIMIT};
    if (running)
        bug("engine_run() entered twice");
    running = true;
    stop = false;
    host_time_begin();
    jmp_buf lost;
    rank_set_escape(&lost);
    enum engine_result result = setjmp(lost) == 0 ? begin_and_loop() : ENGINE_INTERRUPTED;
    ended = result;
    if (engine.shard_count > 1)
        exchange_deliver_all(within_limit(window_plan.end_ps));
    uint64_t end_ps = move_clocks(result);
    if (result == ENGINE_STOPPED)
        ring_forget(RING_FORGETS);
    series_take_until(engine.time_ps);
    engine_settle(end_ps);
    view_end(engine.time_ps);
    erase_progress();
    if (result == ENGINE_DEADLOCK || result == ENGINE_STALL || result == ENGINE_LIMIT) {
        owned_gather();
        if (ranks.number == 0)
            hang_explain(reasons[result]);
    }
    rank_set_escape(NULL);
    host_time_end();
    running = false;
    return result;
}

/* ---- start ---- */

/* What is settled at the end of a window must not be settled earlier. */
void engine_pause_at(uint64_t time_ps)
{
    pause_ps = time_ps == ENGINE_NEVER ? ENGINE_NEVER : window_end(time_ps) - 1;
}

void engine_pause_now(void)
{
    engine_pause_at(shards[0].now_ps);
    window_ask_end();
}

void engine_set_limits(const struct engine_limits *chosen)
{
    limits = *chosen;
    if (!limits.stall_limit)
        limits.stall_limit = DEFAULT_STALL_LIMIT;
    window_ps = limits.windowless ? 0 : lookahead_ps(engine_base.platform);
    stretch_ps = limits.windowless ? 0 : lookahead_links_ps(engine_base.platform);
    stretches = !rank_is_alone() && lookahead_ranks_ps(engine_base.platform) >= stretch_ps;
    engine_pause_at(ENGINE_NEVER);
    engine_set_order(limits.tick_order, limits.seed, limits.tick_all);
    limit_ps = limits.max_cycles ? engine_time_of(fastest, limits.max_cycles) : ENGINE_NEVER - 1;
}

void window_open(void)
{
    failure[0] = '\0';
    running = false;
    ended = ENGINE_IDLE;
    interrupted = false;
    solo = engine.shard_count == 1 ? &shards[0] : NULL;
    window_plan.end_ps = 0; /* of a platform before */
    stats_log_close();
    deferred_count = 0;
    deferred = arena_derive((engine_base.platform->instance_count + 1) * sizeof *deferred);
    deferred_leaves =
        arena_derive((engine_base.platform->instance_count + 1) * sizeof *deferred_leaves);
    settling_count = 0;
    settling = arena_derive((engine_base.platform->instance_count + 1) * sizeof *settling);
    fastest = 0;
    engine.time_ps = 0;
    for (uint32_t i = 0; i < engine.clock_count; i++) {
        if (engine.domains[i].hz > engine.domains[fastest].hz)
            fastest = i;
    }
    watch.messages = 0;
    watch.instructions = 0;
    engine_set_limits(&(struct engine_limits){0});
}
