/* See ranks_session.h. Called by open.c. */
#define _GNU_SOURCE /* dladdr */
#include "ranks_session.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "exit_status.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/options.h"
#include "runtime/engine/platform_table.h"
#include "runtime/engine/rank.h"
#include "runtime/engine/sha256.h"
#include "runtime/engine/version.h"
#include "runtime/link/place.h"
#include "runtime/scheduler/meeting.h"
#include "runtime/state/checkpoint.h"

/* Of the shared object that this is part of. */
static void hash_own_file(char hex[65])
{
    Dl_info info;
    struct sha256 hash;
    sha256_init(&hash);
    if (dladdr(&engine_base, &info))
        sha256_add_file(&hash, info.dli_fname);
    sha256_finish(&hash, hex);
}

/* All ranks must hold the same platform and the same options that decide what happens. */
bool ranks_agree(const struct platform_table *table, const struct heddle_options *o)
{
    char text[1024], file[65];
    if (rank_is_alone())
        return true;
    hash_own_file(file);
    snprintf(text, sizeof text,
             "%d threads, limits %llu and %llu, order %d, seed %llu, bounds %d, "
             "statistics %d and %d, trace %d, samples every %llu ps or %llu cycles, profile %d, "
             "state %d at %llu ps, %llu cycles or %s, from a state %d, instructions recorded %d, "
             "view %d, lines 0x%llx, 0x%llx, 0x%llx and 0x%llx",
             o->threads, (unsigned long long)o->max_cycles, (unsigned long long)o->stall_limit,
             o->tick_order, (unsigned long long)o->seed, o->page_bounds, o->stats_path != NULL,
             o->span_stats, o->trace_path != NULL, (unsigned long long)o->series_ps,
             (unsigned long long)o->series_cycles, o->instruction_profile != NULL,
             o->checkpoint_path != NULL, (unsigned long long)o->checkpoint_ps,
             (unsigned long long)o->checkpoint_cycle,
             o->checkpoint_kernel ? o->checkpoint_kernel : "a launch", o->restore_path != NULL,
             o->record_trace != NULL, o->view_path != NULL, (unsigned long long)o->watch.address[0],
             (unsigned long long)o->watch.address[1], (unsigned long long)o->watch.address[2],
             (unsigned long long)o->watch.address[3]);
    bool same = rank_agree("version", HEDDLE_VERSION);
    same = same && rank_agree("platform", table->model_hash);
    same = same && rank_agree("options", text);
    same = same && rank_agree("counters", o->series_counters ? o->series_counters : "");
    same = same && rank_agree("placement", place_text());
    return same && rank_agree("code of the platform", file);
}

int ranks_serve(void)
{
    for (enum rank_command asked; (asked = rank_await()) != RANK_END;) {
        if (asked == RANK_RUN)
            engine_run();
        else if (asked == RANK_STATE)
            checkpoint_tell();
        else
            checkpoint_resume();
    }
    meeting_settle_last();
    rank_close();
    return EXIT_CLEAN;
}
