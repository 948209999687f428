/* Compares what ranks have been started with, and serves rank 0 in the other ranks. open.c calls
 * it; ranks_session.h has the interface. */
#define _GNU_SOURCE /* dladdr */
#include "ranks_session.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/options.h"
#include "runtime/engine/platform_table.h"
#include "runtime/engine/rank.h"
#include "runtime/engine/rank_channel.h"
#include "runtime/engine/run_control.h"
#include "runtime/engine/version.h"
#include "runtime/link/rank_placement.h"
#include "runtime/scheduler/rank_barrier.h"

#include "exit_status.h"

/* A hash of the shared object that this is part of. */
static void hash_own_file(char hex[65])
{
    Dl_info info;
    struct sha256 hash;
    sha256_init(&hash);
    if (dladdr(&engine_base, &info))
        sha256_add_file(&hash, info.dli_fname);
    sha256_finish(&hash, hex);
}

/* Rank 0 has read the description, and so knows which rank runs what. */
static void share_placement(void)
{
    const char *text = placement_text();
    if (rank_is_first())
        for (uint32_t i = 1; i < ranks.count; i++)
            rank_put_text(i, text);
    rank_exchange();
    if (!rank_is_first())
        setenv(PLACEMENT_ENVIRONMENT, rank_read_next(0, rank_bytes_left(0)), 1);
}

/* All ranks must hold the same platform and the same options that decide what happens. */
bool ranks_agree(const struct platform_table *table)
{
    char file[65];
    if (rank_is_alone())
        return true;
    hash_own_file(file);
    if (!rank_agree("version", HEDDLE_VERSION, NULL)
        || !rank_agree("platform", table->model_hash, NULL)
        || !rank_agree("code of the platform", file, NULL)
        || !rank_agree("options", options_shared(), options_difference))
        return false;
    share_placement();
    return true;
}

int ranks_serve(void)
{
    while (rank_await() != RANK_END)
        engine_run();
    rank_barrier_settle_last();
    rank_close();
    return EXIT_CLEAN;
}
