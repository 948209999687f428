/* The run of one of several ranks: stretches of windows, at whose ends the ranks meet.
 *
 * A rank goes through the windows of a stretch by itself: a message between ranks, or between the
 * main partition and the others, takes at least as long as the stretch. Components of the main
 * partition decide all that concerns all ranks. So a stretch ends with the first window in which
 * one of these components may tick; ranks learn which when they meet (rank_barrier.c). See
 * rank_run.h. */
#include "rank_run.h"

#include "base/number.h"
#include "runtime/engine/bug.h"
#include "runtime/engine/component_failure.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/extension.h"
#include "runtime/engine/rank.h"
#include "runtime/engine/rank_channel.h"
#include "runtime/engine/run_control.h"
#include "runtime/engine/shard.h"
#include "runtime/link/rank_rings.h"
#include "runtime/observe/series.h"
#include "runtime/observe/stats_log.h"
#include "runtime/observe/timeline.h"

#include "deferred.h"
#include "failure.h"
#include "run_state.h"
#include "window.h"

static uint64_t begun_ps; /* the present stretch */

/* The end of a window of the present stretch. */
static uint64_t end_of_window(uint32_t window)
{
    return window == RANK_BARRIER_LAST ? window_plan.end_ps
                                       : begun_ps + (window + 1) * this_run.window_ps;
}

/* Ends of windows for which an extension wants statistics. */
static uint64_t find_settled(void)
{
    uint64_t windows = 0, from_ps = 0;
    while ((from_ps = extensions_find_unsettled(from_ps)) != ENGINE_NEVER) {
        uint64_t window =
            stats_log_ticked ? (from_ps - begun_ps) / this_run.window_ps : RANK_BARRIER_LAST;
        bool last = window >= STATS_LOG_WINDOWS || window_end(from_ps) >= window_plan.end_ps;
        windows |= (uint64_t)1 << (last ? RANK_BARRIER_LAST : window);
        from_ps = window_end(from_ps);
    }
    return windows;
}

void rank_run_meet(void)
{
    this_run.met = (struct rank_barrier){.end_ps = window_plan.end_ps,
                                         .decides_ps = ENGINE_NEVER,
                                         .stop = engine_is_stopping(),
                                         .interrupted = engine_is_interrupted(),
                                         .failed = engine_failure() != NULL,
                                         .settles = find_settled()};
    if (!rank_is_first() && series_has_tracks())
        series_sample_until(window_plan.end_ps ? window_plan.end_ps - 1 : 0);
    rank_barrier_wait(&this_run.met, this_run.limit_ps + 1);
    window_plan.end_ps = this_run.met.end_ps;
    __atomic_store_n(&this_run.stop, this_run.met.stop, __ATOMIC_RELAXED);
    if (rank_is_first())
        timeline_settle();
    if (this_run.met.failed)
        failure_schedule_end(window_plan.end_ps - 1);
    if (this_run.met.failed)
        failure_agree();
    if (this_run.met.settles)
        rank_barrier_settle(this_run.met.settles, end_of_window);
    stats_log_forget();
}

/* True if something happened in this stretch that other ranks need to know. */
static bool must_meet(void)
{
    return rank_rings_have_outgoing() || series_has_tracks()
           || extensions_find_unsettled(0) != ENGINE_NEVER || engine_failure()
           || rank_channels_are_filling();
}

/* No other rank has anything to do until `this_run.met.alone_ps`: windows before that need no
 * meeting, unless there is something to tell. */
static bool goes_on_alone(uint64_t time_ps, bool is_live)
{
    return is_live && this_run.met.alone_ps > window_plan.end_ps && !must_meet()
           && window_end(time_ps) <= window_start(this_run.met.alone_ps)
           && window_start(time_ps) < this_run.look_ps;
}

/* How far a single shard may run through the ends of windows. In the stretch no other rank can
 * reach the shard; after it, other ranks do nothing unless they get a message. While statistics are
 * logged, windows in which other ranks may have a mark are run one by one. */
static uint64_t free_until(uint64_t last_ps)
{
    if (this_run.met.alone_ps > last_ps && must_meet())
        return last_ps;
    return this_run.met.alone_ps > last_ps || stats_log_ticked ? this_run.met.alone_ps : last_ps;
}

/* Is there another window to run before this rank meets the others, which is at `last_ps` or
 * later? */
static bool goes_on(uint64_t *time_ps, uint64_t last_ps)
{
    bool is_live;
    if (engine_is_stopping())
        return false;
    *time_ps = window_next(&is_live);
    if (!is_live) /* with `tick_all` there is a next edge even so */
        return false;
    return *time_ps < window_free_until()
           && (*time_ps < last_ps || goes_on_alone(*time_ps, is_live));
}

/* The end of the stretch that begins with the first step of all ranks. */
static uint64_t stretch_end(uint64_t time_ps)
{
    uint64_t end = window_end(time_ps), last = (time_ps / this_run.meet_ps + 1) * this_run.meet_ps;
    uint64_t logged = window_start(time_ps) + STATS_LOG_WINDOWS * this_run.window_ps;
    if (this_run.meet_ps == this_run.window_ps)
        return end;
    if (stats_log_ticked && logged < last)
        last = logged;
    if (this_run.met.decides_ps < last)
        last = window_end(this_run.met.decides_ps);
    if (this_run.look_ps < last)
        last = this_run.look_ps;
    return max(last, end);
}

/* A window is over, and this rank's next one, if there is one, begins at `next_ps`. Between the
 * two, a span of another rank may begin or end, or a span of this rank has done so in the
 * stretch. */
static void log_window(uint64_t last_ps, bool more, uint64_t next_ps)
{
    if (stats_log_ticked && window_plan.end_ps < last_ps
        && (!more || window_end(next_ps) > this_run.met.alone_ps
            || extensions_find_unsettled(0) != ENGINE_NEVER))
        stats_log_add((uint32_t)((window_plan.end_ps - begun_ps) / this_run.window_ps) - 1);
}

void rank_run_stretch(uint64_t time_ps)
{
    bool more;
    uint64_t last_ps = stretch_end(time_ps);
    begun_ps = window_start(time_ps);
    do {
        this_run.free_ps = free_until(last_ps);
        series_sample_until(time_ps);
        window_run(time_ps);
        if (window_plan.end_ps < last_ps && (window_has_work() || engine_is_stopping()))
            bug("something is decided at %llu ps, before ranks meet",
                (unsigned long long)window_plan.end_ps);
        window_close();
        rank_rings_collect();
        more = goes_on(&time_ps, last_ps);
        log_window(last_ps, more, time_ps);
    } while (more);
    window_plan.end_ps = max(last_ps, window_plan.end_ps);
    rank_run_meet();
}
