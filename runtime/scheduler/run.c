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
 * With several ranks, each goes through the windows of a stretch by itself (rank_run.c). A
 * component can fail anywhere: it stops ticking, and the run goes on to the end of the stretch,
 * with one process, too; where a stretch is one window, to the end of the next one.
 *
 * Invariant between windows: every shard has run all its edges before the end of the window, and
 * nothing else; what is under way between shards arrives no earlier. */
#include "run.h"

#include "base/likely.h"
#include "base/number.h"
#include "runtime/engine/bug.h"
#include "runtime/engine/component_failure.h"
#include "runtime/engine/deferral.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/instances.h"
#include "runtime/engine/rank.h"
#include "runtime/engine/run_control.h"
#include "runtime/engine/shard.h"
#include "runtime/link/exchange.h"
#include "runtime/link/lookahead.h"
#include "runtime/link/ring_run.h"
#include "runtime/link/shared_wire.h"
#include "runtime/observe/hang.h"
#include "runtime/observe/host_time.h"
#include "runtime/observe/series.h"
#include "runtime/observe/stats.h"
#include "runtime/observe/stats_log.h"
#include "runtime/observe/view.h"
#include "runtime/state/rank_state.h"

#include "deferred.h"
#include "failure.h"
#include "progress.h"
#include "rank_run.h"
#include "run_state.h"
#include "window.h"

struct run_state this_run;
static bool is_running;
static bool is_interrupted; /* set by any thread */
static enum engine_result last_result = ENGINE_IDLE;

void engine_stop(void)
{
    __atomic_store_n(&this_run.must_stop, true, __ATOMIC_RELAXED);
    window_ask_end();
}

/* True if an interruption ends the run, between windows. All ranks follow rank 0. */
static bool is_cut_short(void)
{
    return rank_is_alone() ? engine_is_interrupted() : this_run.meeting.is_interrupted;
}

bool engine_is_stopping(void)
{
    return __atomic_load_n(&this_run.must_stop, __ATOMIC_RELAXED);
}

void engine_interrupt(void)
{
    __atomic_store_n(&is_interrupted, true, __ATOMIC_RELAXED);
}

bool engine_is_interrupted(void)
{
    return __atomic_load_n(&is_interrupted, __ATOMIC_RELAXED);
}

const char *engine_cut_reason(void)
{
    static const char *const words[] = {[ENGINE_DEADLOCK] = "deadlock",
                                        [ENGINE_STALL] = "stall",
                                        [ENGINE_LIMIT] = "limit",
                                        [ENGINE_FAILED] = "failure",
                                        [ENGINE_INTERRUPTED] = "interruption"};
    return words[last_result];
}

static uint64_t next_step(bool *is_live)
{
    if (rank_is_alone())
        return window_next(is_live);
    *is_live = this_run.meeting.is_live;
    return this_run.meeting.next_ps;
}

/* True if work is left that no component does. */
static bool is_outstanding(void)
{
    return rank_sum(hang_outstanding() != 0) != 0;
}

/* The time that everything has reached, as move_clocks() finds it. */
static uint64_t reached_ps(void)
{
    uint64_t last = window_last_step(this_run.meeting.now_ps);
    if (this_run.window_ps) {
        uint64_t end = within_limit(window_end(last));
        last = engine_time_of(this_run.fastest, engine_cycle_at(this_run.fastest, end) - 1);
    }
    return max(last, engine.time_ps);
}

/* Looks at the run with several ranks, one of which shows it. True if that one is interrupted. */
static bool look_together(void)
{
    view_gather();
    if (view_must_stop)
        view_look(reached_ps());
    return rank_sum(rank_is_first() && engine_is_interrupted()) != 0;
}

/* True if the run ends with `*result` at a look before the step at `time_ps`. A look is made where
 * one is due, or the run is watched. */
static bool ends_at_look(uint64_t time_ps, enum engine_result *result)
{
    bool is_due = window_start(time_ps) >= this_run.look_ps;
    *result = ENGINE_INTERRUPTED;
    if (is_due && is_cut_short())
        return true;
    if (is_due && run_progress_look(window_start(time_ps))) {
        *result = ENGINE_STALL;
        return true;
    }
    if (is_due && run_progress_is_spent()) {
        this_run.limit_ps = window_start(time_ps) - 1;
        *result = ENGINE_LIMIT;
        return true;
    }
    if (unlikely(view_is_shared()) && (is_due || this_run.meeting.settle_windows)
        && look_together())
        return true;
    if (unlikely(view_must_stop)) {
        engine_flush_window();
        view_look(reached_ps());
    }
    return unlikely(view_is_open) && rank_is_alone() && engine_is_interrupted();
}

/* True if the run ends with `*result` before the step at `time_ps`. What is decided here is decided
 * at window_next_decision() at the latest. `is_live`: something is under way or will wake. */
static bool ends_before(uint64_t time_ps, bool is_live, enum engine_result *result)
{
    if (failure_ends_run(time_ps, is_live))
        *result = ENGINE_FAILED;
    else if (!is_live)
        *result = is_outstanding() ? ENGINE_DEADLOCK : ENGINE_IDLE;
    else if (time_ps > this_run.limit_ps)
        *result = ENGINE_LIMIT;
    else if (time_ps > this_run.pause_ps)
        *result = ENGINE_PAUSED;
    else
        return ends_at_look(time_ps, result);
    return true;
}

/* Runs what begins with the step at `time_ps`: a window, several of the only shard that has
 * something to do, or a stretch of this rank. */
static void run_from(uint64_t time_ps)
{
    series_sample_until(time_ps);
    if (!rank_is_alone()) {
        rank_run_stretch(time_ps);
        return;
    }
    window_run(time_ps, ENGINE_NEVER);
    window_close();
}

static enum engine_result loop(void)
{
    enum engine_result result;
    if (!rank_is_alone())
        rank_run_meet();
    for (;;) {
        bool is_live;
        uint64_t time_ps = next_step(&is_live);
        if (ends_before(time_ps, is_live, &result))
            return result;
        run_from(time_ps);
        if (unlikely(engine_is_stopping()))
            break;
    }
    if (is_cut_short())
        return ENGINE_INTERRUPTED;
    return engine_failure() || this_run.meeting.has_failed ? ENGINE_FAILED : ENGINE_STOPPED;
}

/* Moves all clocks to the end of the last window in which something happened, or which a failure
 * left. Returns the time before which all has happened. */
static uint64_t move_clocks(enum engine_result result)
{
    uint64_t last = this_run.meeting.now_ps;
    if (result == ENGINE_FAILED && this_run.fail_end_ps != ENGINE_NEVER)
        last = this_run.fail_end_ps - 1;
    last = window_last_step(last);
    uint64_t end = last + 1;
    if (this_run.window_ps && result != ENGINE_PAUSED) {
        end = within_limit(window_end(last));
        for (uint32_t i = 0; i < engine.shard_count; i++)
            shard_move_clocks(i, end);
        last = engine_time_of(this_run.fastest, engine_cycle_at(this_run.fastest, end) - 1);
    }
    engine.time_ps = result == ENGINE_LIMIT ? this_run.limit_ps : max(last, engine.time_ps);
    return result == ENGINE_LIMIT ? this_run.limit_ps + 1 : end;
}

void engine_abandon(void)
{
    last_result = ENGINE_INTERRUPTED;
    if (!is_running)
        return;
    if (!rank_is_alone())
        die("the program ended in the middle of a call of the simulator, which has several ranks: "
            "nothing is written");
    engine.time_ps = window_last_step(engine.time_ps);
    run_progress_erase();
}

static void begin_and_loop(void)
{
    rank_call(RANK_RUN);
    run_progress_begin();
    series_begin();
    if (view_is_shared())
        view_gather();
    view_begin();
    shared_wire_find();
    for (uint32_t i = 0; i < engine.shard_count; i++) {
        shard_find_awake(i);
        shard_plan(i);
    }
    this_run.meeting = (struct rank_barrier){.others_ps = ENGINE_NEVER};
    this_run.fail_end_ps = ENGINE_NEVER;
    if (this_run.meet_ps > this_run.window_ps && stats_have_spans() && !stats_log_ticked)
        stats_log_open();
    stats_log_begin();
    last_result = !rank_is_alone() || !engine_is_interrupted() ? loop() : ENGINE_INTERRUPTED;
}

enum engine_result engine_run(void)
{
    static const enum hang_reason reasons[] = {[ENGINE_DEADLOCK] = HANG_DEADLOCK,
                                               [ENGINE_STALL] = HANG_STALL,
                                               [ENGINE_LIMIT] = HANG_LIMIT};
    if (is_running)
        bug("engine_run() entered twice");
    is_running = true;
    this_run.must_stop = false;
    host_time_begin();
    if (!rank_try(begin_and_loop))
        last_result = ENGINE_INTERRUPTED;
    if (engine.shard_count > 1)
        exchange_deliver_all(within_limit(window_plan.end_ps));
    uint64_t end_ps = move_clocks(last_result);
    series_sample_until(engine.time_ps);
    engine_flush(end_ps);
    view_end(engine.time_ps);
    run_progress_erase();
    if (last_result == ENGINE_DEADLOCK || last_result == ENGINE_STALL
        || last_result == ENGINE_LIMIT) {
        if (!rank_try(rank_state_gather))
            last_result = ENGINE_INTERRUPTED;
        else if (rank_is_first())
            hang_explain(reasons[last_result]);
    }
    host_time_end();
    is_running = false;
    return last_result;
}

/* Work that is settled at the end of a window must not be settled earlier. */
void engine_pause_at(uint64_t time_ps)
{
    this_run.pause_ps = time_ps == ENGINE_NEVER ? ENGINE_NEVER : window_end(time_ps) - 1;
}

void engine_pause_now(void)
{
    engine_pause_at(shards[0].now_ps);
    window_ask_end();
}

uint64_t engine_stall_limit(void)
{
    return this_run.limits.stall_limit;
}

void engine_set_limits(const struct engine_limits *chosen)
{
    this_run.limits = *chosen;
    if (!this_run.limits.stall_limit)
        this_run.limits.stall_limit = HANG_STALL_LIMIT_CY;
    this_run.window_ps = this_run.limits.is_windowless ? 0 : lookahead_ps(engine_base.platform);
    this_run.stretch_ps =
        this_run.limits.is_windowless ? 0 : lookahead_links_ps(engine_base.platform);
    bool meets_late =
        !rank_is_alone() && lookahead_ranks_ps(engine_base.platform) >= this_run.stretch_ps;
    this_run.meet_ps = meets_late ? this_run.stretch_ps : this_run.window_ps;
    engine_pause_at(ENGINE_NEVER);
    engine_set_order(this_run.limits.tick_order, this_run.limits.seed, this_run.limits.ticks_all);
    this_run.limit_ps = this_run.limits.max_cycles
                            ? engine_time_of(this_run.fastest, this_run.limits.max_cycles)
                            : ENGINE_NEVER - 1;
}

void run_open(void)
{
    engine_clear_failure();
    is_running = false;
    last_result = ENGINE_IDLE;
    is_interrupted = false;
    window_open();
    stats_log_close();
    deferred_open();
    run_progress_open();
    this_run.fastest = 0;
    engine.time_ps = 0;
    for (uint32_t i = 0; i < engine.clock_count; i++)
        if (engine.domains[i].hz > engine.domains[this_run.fastest].hz)
            this_run.fastest = i;
    engine_set_limits(&(struct engine_limits){0});
}
