/* The run of one of several ranks: stretches of windows, at whose ends the ranks meet.
 *
 * A rank goes through the windows of a stretch by itself: a message between ranks, or between the
 * main partition and the others, takes at least as long as the stretch. Components of the main
 * partition decide all that concerns all ranks. So a stretch ends with the first window in which
 * one of these components may tick; ranks learn which when they meet (rank_barrier.c). */
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

static uint64_t stretch_start_ps;

/* The end of a window of the present stretch. */
static uint64_t end_of_window(uint32_t window)
{
    return window == RANK_BARRIER_LAST ? window_plan.end_ps
                                       : stretch_start_ps + (window + 1) * this_run.window_ps;
}

/* Ends of windows for which an extension wants statistics. */
static uint64_t find_settled(void)
{
    uint64_t windows = 0, from_ps = 0;
    while ((from_ps = extensions_find_unsettled(from_ps)) != ENGINE_NEVER) {
        uint64_t window = stats_log_ticked ? (from_ps - stretch_start_ps) / this_run.window_ps
                                           : RANK_BARRIER_LAST;
        bool is_last = window >= STATS_LOG_WINDOWS || window_end(from_ps) >= window_plan.end_ps;
        windows |= (uint64_t)1 << (is_last ? RANK_BARRIER_LAST : window);
        from_ps = window_end(from_ps);
    }
    return windows;
}

void rank_run_meet(void)
{
    this_run.meeting = (struct rank_barrier){.end_ps = window_plan.end_ps,
                                             .decision_ps = ENGINE_NEVER,
                                             .must_stop = engine_is_stopping(),
                                             .is_interrupted = engine_is_interrupted(),
                                             .has_failed = engine_failure() != NULL,
                                             .settle_windows = find_settled()};
    if (!rank_is_first() && series_has_tracks())
        series_sample_until(window_plan.end_ps ? window_plan.end_ps - 1 : 0);
    rank_barrier_wait(&this_run.meeting, this_run.limit_ps + 1);
    window_plan.end_ps = this_run.meeting.end_ps;
    __atomic_store_n(&this_run.must_stop, this_run.meeting.must_stop, __ATOMIC_RELAXED);
    if (rank_is_first())
        timeline_settle();
    if (this_run.meeting.has_failed) {
        failure_schedule_end(window_plan.end_ps - 1);
        failure_agree();
    }
    if (this_run.meeting.settle_windows)
        rank_barrier_settle(this_run.meeting.settle_windows, end_of_window);
    stats_log_forget();
}

/* True if something happened in this stretch that other ranks need to know. */
static bool must_meet(void)
{
    return rank_rings_have_outgoing() || series_has_tracks()
           || extensions_find_unsettled(0) != ENGINE_NEVER || engine_failure()
           || rank_channels_are_filling();
}

/* True if the window of `time_ps` needs no meeting before it: it ends before another rank has
 * anything to do, and there is nothing to send. */
static bool can_skip_meeting(uint64_t time_ps)
{
    return this_run.meeting.others_ps > window_plan.end_ps && !must_meet()
           && window_end(time_ps) <= window_start(this_run.meeting.others_ps)
           && window_start(time_ps) < this_run.look_ps;
}

/* The time before which other ranks have no part in what this one runs. In the stretch no message
 * of theirs can arrive; after it, they do nothing unless they get one. While statistics are logged,
 * windows in which other ranks may have a mark are run one by one. */
static uint64_t find_others(uint64_t last_ps)
{
    uint64_t others_ps = this_run.meeting.others_ps;
    if (others_ps > last_ps && must_meet())
        return last_ps;
    return others_ps > last_ps || stats_log_ticked ? others_ps : last_ps;
}

/* True if another window is to be run before this rank meets the others, at `last_ps` or later. */
static bool has_next_window(uint64_t *time_ps, uint64_t last_ps)
{
    bool is_live;
    if (engine_is_stopping())
        return false;
    *time_ps = window_next(&is_live);
    if (!is_live) /* with `ticks_all` there is a next edge even so */
        return false;
    return *time_ps < window_next_decision() && (*time_ps < last_ps || can_skip_meeting(*time_ps));
}

/* The end of the stretch that begins with the first step of all ranks. */
static uint64_t stretch_end(uint64_t time_ps)
{
    uint64_t end_ps = (time_ps / this_run.meet_ps + 1) * this_run.meet_ps;
    if (this_run.meet_ps == this_run.window_ps)
        return end_ps;
    if (stats_log_ticked)
        end_ps = min(end_ps, window_start(time_ps) + STATS_LOG_WINDOWS * this_run.window_ps);
    if (this_run.meeting.decision_ps < end_ps)
        end_ps = window_end(this_run.meeting.decision_ps);
    return max(min(end_ps, this_run.look_ps), window_end(time_ps));
}

/* A window is over, and this rank's next one, if there is one, begins at `next_ps`. Between the
 * two, a span of another rank may begin or end, or a span of this rank has done so in the
 * stretch. */
static void log_window(uint64_t last_ps, bool has_next, uint64_t next_ps)
{
    if (stats_log_ticked && window_plan.end_ps < last_ps
        && (!has_next || window_end(next_ps) > this_run.meeting.others_ps
            || extensions_find_unsettled(0) != ENGINE_NEVER))
        stats_log_add((uint32_t)((window_plan.end_ps - stretch_start_ps) / this_run.window_ps) - 1);
}

void rank_run_stretch(uint64_t time_ps)
{
    bool has_next;
    uint64_t last_ps = stretch_end(time_ps);
    stretch_start_ps = window_start(time_ps);
    do {
        uint64_t others_ps = find_others(last_ps);
        series_sample_until(time_ps);
        window_run(time_ps, others_ps);
        if (window_plan.end_ps < last_ps && (window_has_work() || engine_is_stopping()))
            bug("something is decided at %llu ps, before ranks meet",
                (unsigned long long)window_plan.end_ps);
        window_close();
        rank_rings_collect();
        has_next = has_next_window(&time_ps, last_ps);
        log_window(last_ps, has_next, time_ps);
    } while (has_next);
    window_plan.end_ps = max(last_ps, window_plan.end_ps);
    rank_run_meet();
}
