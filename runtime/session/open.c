/* The functions that a platform's shared object exports: start, run, finish. All else is hidden.
 * Called by front ends: a program's runtime library, and `heddle run`. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "runtime/engine/arena.h"
#include "runtime/engine/component_failure.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/extension.h"
#include "runtime/engine/options.h"
#include "runtime/engine/platform_table.h"
#include "runtime/engine/rank.h"
#include "runtime/engine/run_control.h"
#include "runtime/engine/store_log.h"
#include "runtime/observe/hang.h"
#include "runtime/observe/host_time.h"
#include "runtime/observe/profile.h"
#include "runtime/observe/series.h"
#include "runtime/observe/stats.h"
#include "runtime/observe/timeline.h"
#include "runtime/observe/view.h"
#include "runtime/observe/watch.h"
#include "runtime/scheduler/rank_barrier.h"
#include "runtime/scheduler/run.h"
#include "runtime/scheduler/thread_pool.h"
#include "runtime/state/checkpoint.h"
#include "runtime/state/lookup.h"
#include "runtime/state/platform.h"
#include "runtime/state/tables.h"

#include "exit_status.h"
#include "ranks_session.h"
#include "run_mode.h"

/* In functional mode nothing but the executor runs on several threads, which are its own. */
static bool build(const struct platform_table *table)
{
    bool keeps_state = option_text("checkpoint") || option_text("restore");
    uint32_t threads = platform_mode() == PLATFORM_FUNCTIONAL ? 1 : platform_threads();
    engine_defer_nothing(keeps_state);
    arena_use_small_pages(platform_mode() == PLATFORM_FUNCTIONAL || platform_is_large(table));
    if (!rank_is_alone()) {
        if (!platform_build_threads(table, threads))
            return false;
        thread_pool_open(threads);
        store_log_begin();
        return true;
    }
    if (platform_threads() > thread_pool_processors())
        fprintf(stderr,
                "heddle: warning: '--threads %u': there are processors for %u, so threads wait for "
                "each other\n",
                platform_threads(), thread_pool_processors());
    if (!platform_build_threads(table, threads))
        return false;
    if (threads > 1 && engine.shard_count == 1)
        fprintf(
            stderr,
            "heddle: warning: '--threads %u': this platform has no partitions that could go on "
            "by themselves for more than a cycle (`heddle check` prints the window); one thread "
            "is used\n",
            threads);
    thread_pool_open(min(threads, engine.shard_count));
    return true;
}

static bool observe(const struct platform_table *table)
{
    watch_open(table);
    profile_open(table);
    return stats_open(table) && timeline_open(table) && series_open(table) && view_open(table);
}

static void set_limits(void)
{
    static const char *const orders[] = {[ENGINE_ASCENDING] = "ascending",
                                         [ENGINE_DESCENDING] = "descending",
                                         [ENGINE_RANDOM] = "random"};
    static const char *const progress[] = {[PLATFORM_QUIET] = "none",
                                           [PLATFORM_PROGRESS_LINE] = "line",
                                           [PLATFORM_PROGRESS_LINES] = "lines"};
    int progress_kind = (int)option_word("progress", progress, ARRAY_COUNT(progress));
    engine_set_limits(&(struct engine_limits){
        .max_cycles = platform_max_cycles(),
        .max_instructions = platform_max_instructions(),
        .stall_limit = option_number("stall-limit"),
        .tick_order = (int)option_word("tick-order", orders, ARRAY_COUNT(orders)),
        .seed = option_number("tick-seed"),
        .is_windowless = platform_mode() == PLATFORM_FUNCTIONAL,
        .ticks_all = option_flag("tick-all"),
        .progress = rank_is_first() ? progress_kind : PLATFORM_QUIET,
    });
}

static bool start_session(const char *options)
{
    if (!options_open(options))
        return false;
    run_mode_open();
    const struct platform_table *table = tables_read(option_text("tables"), &platform_image);
    if (!table || !rank_open() || !ranks_agree(table) || !extensions_start() || !build(table))
        return false;
    set_limits();
    return observe(table) && checkpoint_open(table)
           && (!rank_is_alone() || options_end()); /* others may hold what asks for a key */
}

static int run_session(void)
{
    if (!rank_is_first())
        return ranks_serve();
    enum engine_result result = checkpoint_run();
    if (result == ENGINE_FAILED)
        fprintf(stderr, "heddle: %s\n", engine_failure());
    static const enum exit_status statuses[] = {
        [ENGINE_FAILED] = EXIT_GAVE_UP,        [ENGINE_DEADLOCK] = EXIT_DEADLOCK,
        [ENGINE_STALL] = EXIT_STALL,           [ENGINE_LIMIT] = EXIT_LIMIT,
        [ENGINE_INTERRUPTED] = EXIT_SIGNALLED,
    };
    return (size_t)result < ARRAY_COUNT(statuses) ? statuses[result] : EXIT_GAVE_UP;
}

static void end_ranks(void)
{
    rank_call(RANK_END);
    rank_barrier_settle_last();
}

/* Counts of the other ranks. */
static void finish_ranks(void)
{
    if (!rank_is_alone() && !rank_try(end_ranks)) {
        signal(SIGPIPE, SIG_IGN); /* the reader of what we print may be gone, too */
        fprintf(stderr, "heddle: another rank does not answer; of the components of others there "
                        "are the statistics that they sent last\n");
    }
}

static int finish_session(void)
{
    if (!rank_is_first()) {
        thread_pool_close();
        return EXIT_CLEAN;
    }
    finish_ranks();
    watch_close();
    view_close();
    bool has_series = series_close();
    bool has_trace = timeline_close();
    bool has_files = stats_write() && has_series;
    has_files = profile_write() && has_files;
    enum extension_end end = extensions_finish();
    rank_close();
    thread_pool_close();
    enum checkpoint_end state = checkpoint_end();
    if (!platform_driver()) /* the run may be repeated in this process, at the same addresses */
        arena_close();
    bool has_failed =
        !has_files || !has_trace || end == EXTENSION_FAILED || state == CHECKPOINT_FAILED;
    bool has_missed = end == EXTENSION_MISSED || state == CHECKPOINT_MISSED;
    if (has_failed)
        return EXIT_UNABLE;
    if (has_missed)
        return EXIT_MISSED;
    return end == EXTENSION_FOUND ? EXIT_FOUND : EXIT_CLEAN;
}

static bool has_component(const char *type)
{
    for (uint32_t i = 0; i < platform_image.unit_count; i++)
        if (strcmp(platform_image.units[i]->name, type) == 0)
            return true;
    return false;
}

const struct heddle_platform *heddle_platform_open(uint32_t abi)
{
    static const struct heddle_platform platform = {.abi = PLATFORM_ABI,
                                                    .start = start_session,
                                                    .run = run_session,
                                                    .finish = finish_session,
                                                    .interrupt = engine_interrupt,
                                                    .driver = platform_driver,
                                                    .suspects = watch_suspects,
                                                    .has = has_component};
    return abi == PLATFORM_ABI ? &platform : NULL;
}
