/* Windows: which shards run in them, one or together, and what ends them. run.c says what a window
 * is. */
#include "window.h"

#include "base/number.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/extension.h"
#include "runtime/engine/rank.h"
#include "runtime/engine/shard.h"
#include "runtime/link/exchange.h"
#include "runtime/link/shared_wire.h"
#include "runtime/observe/series.h"
#include "runtime/observe/stats_log.h"
#include "runtime/observe/timeline.h"

#include "deferred.h"
#include "failure.h"
#include "run_state.h"
#include "thread_pool.h"

static struct shard *solo;   /* the shard that runs through the ends of windows; NULL: none does */
static uint64_t solo_end_ps; /* where `solo` stops, apart from samples on the way */

void window_ask_end(void)
{
    struct shard *s = solo;
    if (!s)
        return;
    solo_end_ps = min(solo_end_ps, window_end(s->now_ps));
    s->until_ps = min(s->until_ps, solo_end_ps);
}

uint64_t window_last_step(uint64_t least)
{
    for (uint32_t i = 0; i < engine.shard_count; i++)
        least = max(shards[i].now_ps, least);
    return least;
}

static uint64_t next_of_shards(bool *is_live)
{
    uint64_t next = shared_wire_mixed_next();
    *is_live = next != ENGINE_NEVER;
    for (uint32_t i = 0; i < engine.shard_count; i++) {
        *is_live |= shards[i].is_live;
        next = min(shards[i].next_ps, next);
    }
    return next;
}

uint64_t window_next(bool *is_live)
{
    uint64_t next = next_of_shards(is_live);
    if (engine.shard_count == 1 || !exchange_is_pending())
        return next;
    if (*is_live && next < window_plan.end_ps + this_run.window_ps)
        return window_plan.end_ps;
    exchange_deliver_all(window_plan.end_ps);
    for (uint32_t i = 0; i < engine.shard_count; i++)
        shard_plan(i);
    return next_of_shards(is_live);
}

/* Runs the only shard that has anything to do, which stops for samples on the way. */
static void run_solo(uint32_t shard)
{
    struct shard *s = &shards[shard];
    solo_end_ps = s->until_ps;
    for (;;) {
        uint64_t sample_ps = series_next();
        s->until_ps = min(sample_ps, solo_end_ps);
        shard_run(shard);
        if (sample_ps >= solo_end_ps)
            return; /* work due at the end of a window is taken before the next step */
        series_sample();
    }
}

static void run_window(uint32_t shard)
{
    struct shard *s = &shards[shard];
    const struct window_plan *plan = &window_published.plan;
    s->until_ps = plan->until_ps;
    if (exchange_deliver(shard, plan, window_start(plan->end_ps - 1)))
        shard_plan(shard);
    s->watch_bits =
        (uint8_t)((s->watch_bits & SHARD_FROZEN) | (stats_log_ticked ? SHARD_LOGGED : 0));
    if (solo)
        run_solo(shard);
    else
        shard_run(shard);
}

/* The rest of a window that stopped for a sample. */
static void run_rest(uint32_t shard)
{
    shards[shard].until_ps = window_published.plan.until_ps;
    shard_run(shard);
}

/* The shards that have something to do in the window; the others sleep through it. */
static uint64_t find_due(void)
{
    uint64_t due = 0;
    for (uint32_t i = 0; i < engine.shard_count; i++)
        due |= (uint64_t)exchange_prepare_window(i, &window_plan) << i;
    return due;
}

uint64_t window_next_decision(void)
{
    uint64_t last_ps = min(this_run.pause_ps, this_run.limit_ps);
    return min(min(this_run.look_ps, last_ps + 1), this_run.fail_end_ps);
}

/* `shard` alone has something to do. It runs through the ends of windows to the window in which
 * another shard or another rank has something to do, or to the next decision, unless it sends
 * something or asks for an end. */
static void run_windows_of(uint32_t shard, uint64_t others_ps)
{
    bool is_live;
    uint64_t next_ps = shards[shard].next_ps;
    shards[shard].next_ps = ENGINE_NEVER;
    others_ps = min(next_of_shards(&is_live), others_ps);
    shards[shard].next_ps = next_ps;
    window_plan.until_ps = window_next_decision();
    if (others_ps != ENGINE_NEVER && window_start(others_ps) < window_plan.until_ps)
        window_plan.until_ps = window_start(others_ps);
    solo = &shards[shard];
    window_publish();
    run_window(shard);
    solo = NULL;
    /* The shard may have found nothing to do. */
    window_plan.end_ps = max(window_end(shards[shard].now_ps), window_plan.end_ps);
}

/* Shards together, up to each sample that lies within the window. What waits for shared wires is
 * granted as far as time has come, so that their counters are those of a single shard. */
static void run_together(uint64_t due)
{
    uint64_t last_ps = window_plan.until_ps;
    void (*run)(uint32_t shard) = run_window;
    while (series_next() < last_ps) {
        window_plan.until_ps = series_next();
        thread_pool_run(run, due);
        shared_wire_settle_mixed(window_plan.until_ps);
        series_sample();
        run = run_rest;
    }
    window_plan.until_ps = last_ps;
    thread_pool_run(run, due);
}

void window_run(uint64_t time_ps, uint64_t others_ps)
{
    if (engine.shard_count == 1) {
        struct shard *s = &shards[0];
        s->until_ps = window_next_decision();
        run_solo(0);
        window_plan.end_ps = window_end(s->now_ps);
        return;
    }
    window_plan.end_ps = window_end(time_ps);
    window_plan.until_ps = within_limit(window_plan.end_ps);
    exchange_turn();
    uint64_t due = find_due();
    bool is_one = due && !(due & (due - 1));
    if (is_one && shared_wire_mixed_next() >= window_plan.end_ps && others_ps >= window_plan.end_ps)
        run_windows_of((uint32_t)__builtin_ctzll(due), others_ps);
    else
        run_together(due);
}

void window_close(void)
{
    shared_wire_settle_mixed(within_limit(window_plan.end_ps));
    failure_close_window();
    if (rank_is_alone()) {
        extensions_settle(ENGINE_NEVER);
        timeline_settle();
    }
    if (window_has_work())
        window_do_work(window_plan.end_ps);
}

void window_open(void)
{
    solo = engine.shard_count == 1 ? &shards[0] : NULL;
    window_plan.end_ps = 0; /* an earlier platform may have left one */
}
