/* Files of a build that appear when they are complete. */
#include "outputs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cache.h"
#include "seal.h"

static const char *with_suffix(const struct site *site, const char *path, const char *suffix)
{
    return region_printf(site->region, "%s.%ld.%s", path, (long)getpid(), suffix);
}

const char *outputs_temporary(const struct site *site, const char *path)
{
    return with_suffix(site, path, "tmp");
}

void outputs_plan(const struct site *site, struct outputs *outputs, const char *what,
                  const struct words *argv, const char *path)
{
    struct words list = {0};
    for (uint32_t i = 0; i < argv->count; i++)
        vector_push(site->region, &list, argv->items[i]);
    vector_push(site->region, &list, (const char *)NULL);
    struct job job = {.what = what, .argv = list.items, .output = with_suffix(site, path, "log")};
    vector_push(site->region, &outputs->jobs, job);
    vector_push(site->region, &outputs->paths, path);
}

void outputs_make(const struct site *site, struct outputs *outputs)
{
    bool verbose = site->request->verbose;
    uint32_t parallel = site->request->jobs ? site->request->jobs : jobs_processors();
    for (uint32_t i = 0; verbose && i < outputs->jobs.count; i++)
        fprintf(stderr, "heddle: compiling %s\n", outputs->jobs.items[i].what);
    jobs_run(outputs->jobs.items, outputs->jobs.count, parallel,
             verbose ? JOBS_QUIET : site->request->progress);
}

bool outputs_keep(const struct site *site, struct outputs *outputs)
{
    bool complete = true;
    for (uint32_t i = 0; i < outputs->jobs.count; i++) {
        const char *path = outputs->paths.items[i], *made = outputs_temporary(site, path);
        bool kept = outputs->jobs.items[i].ok;
        if (kept && (!seal_put(made) || rename(made, path) != 0)) {
            fprintf(stderr, "heddle: cannot write '%s': %s\n", path, strerror(errno));
            kept = false;
        }
        if (!kept)
            unlink(made);
        complete = complete && kept;
    }
    if (!complete)
        cache_say_full(site->cache);
    return complete;
}
