/* What a platform's shared object exports: start, run, finish. Everything else in it is hidden.
 * Called by front ends: a program's runtime library, and `heddle run`. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "exit_status.h"
#include "ranks_session.h"
#include "runtime/engine/extension.h"
#include "runtime/state/checkpoint.h"
#include "runtime/observe/hang.h"
#include "runtime/observe/host_time.h"
#include "runtime/engine/arena.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/platform_table.h"
#include "runtime/engine/rank.h"
#include "runtime/engine/store_log.h"
#include "runtime/observe/profile.h"
#include "runtime/observe/series.h"
#include "runtime/observe/stats.h"
#include "runtime/observe/timeline.h"
#include "runtime/observe/view.h"
#include "runtime/observe/watch.h"
#include "runtime/scheduler/balance.h"
#include "runtime/scheduler/crew.h"
#include "runtime/scheduler/meeting.h"
#include "runtime/scheduler/window.h"
#include "runtime/state/lookup.h"
#include "runtime/state/platform.h"
#include "runtime/state/tables.h"

static enum platform_mode mode;
static bool page_bounds;
static uint64_t max_cycles;
static const char *api_trace;
static const char *const *modules;
static uint32_t module_count;
static const char *sass_trace;
static bool sass_no_cache;
static bool allow_incomplete;
static const char *record_trace;
static bool record_asked;

enum platform_mode platform_mode(void)
{
    return mode;
}

bool platform_page_bounds(void)
{
    return page_bounds;
}

uint64_t platform_max_cycles(void)
{
    return max_cycles;
}

const char *platform_api_trace(void)
{
    return api_trace;
}

const char *platform_module(uint32_t number)
{
    return number < module_count ? modules[number] : NULL;
}

const char *platform_sass_trace(void)
{
    return sass_trace;
}

bool platform_sass_no_cache(void)
{
    return sass_no_cache;
}

bool platform_allows_incomplete(void)
{
    return allow_incomplete;
}

const char *platform_record_trace(void)
{
    record_asked = true;
    return record_trace;
}

/* Functional mode has nothing that could run on several threads; state files and the lines that are
 * watched are for finding mistakes, in one thread. */
static bool build(const struct platform_table *table, const struct heddle_options *options)
{
    bool alone = mode == PLATFORM_FUNCTIONAL || options->checkpoint_path || options->restore_path
                 || options->watch.count;
    uint32_t threads = !alone && options->threads > 1 ? (uint32_t)options->threads : 1;
    uint32_t most = crew_most();
    engine_keep_up(options->checkpoint_path || options->restore_path);
    arena_hide_by_moving(!rank_is_alone()); /* MPI may have threads that send from it */
    arena_use_small_pages(mode == PLATFORM_FUNCTIONAL || platform_is_large(table));
    if (!rank_is_alone()) {
        if (!platform_build_threads(table, threads))
            return false;
        crew_open(threads < most ? threads : most);
        store_log_begin();
        return true;
    }
    if (threads > most) {
        fprintf(stderr,
                "heddle: warning: '--threads %u': there are processors for %u; more threads would "
                "only wait for each other\n",
                threads, most);
        threads = most;
    }
    if (!platform_build_threads(table, threads))
        return false;
    if (threads > 1 && engine.shard_count == 1)
        fprintf(
            stderr,
            "heddle: warning: '--threads %u': this platform has no partitions that could go on "
            "by themselves for more than a cycle (`heddle check` prints the window); one thread "
            "is used\n",
            threads);
    crew_open(threads < engine.shard_count ? threads : engine.shard_count);
    return true;
}

static bool observe(const struct platform_table *table, const struct heddle_options *options)
{
    watch_open(table, options);
    profile_open(table, options);
    return stats_open(table, options) && timeline_open(table, options)
           && series_open(table, options) && view_open(table, options);
}

static bool start(const struct heddle_options *options)
{
    if (options->abi != PLATFORM_ABI) {
        fprintf(
            stderr,
            "heddle: the platform speaks interface %u, its caller %u; build the platform again\n",
            PLATFORM_ABI, options->abi);
        return false;
    }
    if (options->tick_order < ENGINE_ASCENDING || options->tick_order > ENGINE_RANDOM) {
        fprintf(stderr, "heddle: unknown tick order %d\n", options->tick_order);
        return false;
    }
    if (options->mode < PLATFORM_TIMING || options->mode > PLATFORM_SAMPLED) {
        fprintf(stderr, "heddle: unknown mode %d\n", options->mode);
        return false;
    }
    mode = (enum platform_mode)options->mode;
    page_bounds = options->page_bounds;
    max_cycles = options->max_cycles;
    api_trace = options->api_trace;
    modules = options->modules;
    module_count = options->module_count;
    sass_trace = options->sass_trace_path;
    sass_no_cache = options->sass_no_cache;
    allow_incomplete = options->allow_incomplete;
    record_trace = options->record_trace;
    record_asked = false;
    const struct platform_table *table = platform_image.table;
    if (!table && !options->tables_path) {
        fprintf(stderr, "heddle: a generic build needs tables (HEDDLE_TABLES)\n");
        return false;
    }
    if (!table)
        table = tables_read(options->tables_path, platform_image.units, platform_image.unit_count);
    if (!table || !rank_open() || !ranks_agree(table, options) || !extensions_start(options)
        || !build(table, options))
        return false;
    if (record_trace && !record_asked) {
        fprintf(stderr,
                "heddle: '--record instructions': this platform has no driver that a program could "
                "use\n");
        return false;
    }
    engine_set_limits(&(struct engine_limits){
        .max_cycles = options->max_cycles,
        .stall_limit = options->stall_limit,
        .tick_order = options->tick_order,
        .seed = options->seed,
        .windowless = mode == PLATFORM_FUNCTIONAL,
        .tick_all = options->tick_all,
        .progress = ranks.number ? PLATFORM_QUIET : options->progress,
    });
    if (engine_failure()) { /* a component that cannot start */
        fprintf(stderr, "heddle: %s\n", engine_failure());
        return false;
    }
    return observe(table, options) && checkpoint_open(table, options);
}

static int run(void)
{
    if (ranks.number)
        return ranks_serve();
    enum engine_result result = checkpoint_run();
    if (result == ENGINE_FAILED)
        fprintf(stderr, "heddle: %s\n", engine_failure());
    static const enum exit_status statuses[] = {
        [ENGINE_FAILED] = EXIT_GAVE_UP,        [ENGINE_DEADLOCK] = EXIT_DEADLOCK,
        [ENGINE_STALL] = EXIT_STALL,           [ENGINE_LIMIT] = EXIT_LIMIT,
        [ENGINE_INTERRUPTED] = EXIT_SIGNALLED,
    };
    return (size_t)result < sizeof statuses / sizeof statuses[0] ? statuses[result] : EXIT_GAVE_UP;
}

/* What the others have counted. */
static void finish_ranks(void)
{
    jmp_buf lost;
    rank_set_escape(&lost);
    if (!rank_is_lost() && !rank_is_alone() && setjmp(lost) == 0) {
        rank_call(RANK_END);
        meeting_settle_last();
    }
    rank_set_escape(NULL);
    if (rank_is_lost()) {
        signal(SIGPIPE, SIG_IGN); /* who has read what we print may be gone, too */
        fprintf(stderr, "heddle: another rank does not answer; of the components of others there "
                        "are the statistics that they told last\n");
    }
}

static int finish(void)
{
    if (ranks.number)
        return EXIT_CLEAN;
    finish_ranks();
    watch_close();
    view_close();
    bool sampled = series_close();
    bool traced = timeline_close();
    bool written = stats_write(balance_reported()) && sampled;
    written = profile_write() && written;
    enum extension_end end = extensions_finish();
    rank_close();
    enum checkpoint_end state = checkpoint_end();
    if (!platform_driver()) /* the run may be repeated in this process, at the same addresses */
        arena_close();
    bool failed = !written || !traced || end == EXTENSION_FAILED || state == CHECKPOINT_FAILED;
    bool missed = end == EXTENSION_MISSED || state == CHECKPOINT_MISSED;
    return failed ? EXIT_NOT_STARTED : missed ? EXIT_MISSED : EXIT_CLEAN;
}

static bool has(const char *type)
{
    const struct platform_table *table = platform_image.table;
    const struct unit_type *const *units = table ? table->units : platform_image.units;
    uint32_t count = table ? table->unit_count : platform_image.unit_count;
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(units[i]->name, type) == 0)
            return true;
    return false;
}

const struct heddle_platform *heddle_platform_open(uint32_t abi)
{
    static const struct heddle_platform platform = {.abi = PLATFORM_ABI,
                                                    .start = start,
                                                    .run = run,
                                                    .finish = finish,
                                                    .interrupt = engine_interrupt,
                                                    .note_program_cpu = host_time_note_program,
                                                    .driver = platform_driver,
                                                    .suspects = watch_suspects,
                                                    .has = has};
    return abi == PLATFORM_ABI ? &platform : NULL;
}
