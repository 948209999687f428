/* What the library does at each point of a run, and the options of this run that it answers for.
 * The runtime calls it through the table; see runtime/engine/extension.h. */
#include "sampling_extension.h"

#include <stdio.h>
#include <string.h>

#include "components/statistics/statistics_extension.h"
#include "launch_census.h"
#include "online_sampling.h"
#include "runtime/engine/engine.h"
#include "runtime/state/platform.h"
#include "sampling_options.h"
#include "warmup.h"

static struct sampling sampling;
static char chosen_kernels[1 << 16]; /* the caller's text may be gone later */
static enum platform_profile profile;

const struct sampling *platform_sampling(void)
{
    return &sampling;
}

enum platform_profile platform_profile(void)
{
    return profile;
}

static bool restored; /* launches before the state are not known */

static bool start(const struct heddle_options *options)
{
    char mistake[512] = "the list of --kernels is too long";
    restored = options->restore_path != NULL;
    size_t size = options->kernels ? strlen(options->kernels) + 1 : 0;
    if (size <= sizeof chosen_kernels) {
        memcpy(chosen_kernels, size ? options->kernels : "", size ? size : 1);
        if (sampling_parse(size ? chosen_kernels : NULL, options->warmup, &sampling, mistake,
                           sizeof mistake)
            && sampling_parse_interval(options->interval, &sampling, mistake, sizeof mistake)) {
            sampling.in_parts = options->mode == PLATFORM_SAMPLED;
            online_sampling_open(&sampling);
            census_open();
            profile = (enum platform_profile)options->profile;
            return true;
        }
    }
    fprintf(stderr, "heddle: %s\n", mistake);
    return false;
}

/* A run that was cut short may not have come to what was chosen, one from a state may be past it.
 */
static enum extension_end finish(void)
{
    bool partly = engine_cut_by() || restored;
    return partly || census_close(&sampling) ? EXTENSION_DONE : EXTENSION_MISSED;
}

const struct extension sampling_extension = {
    .start = start,
    .build = warm_open,
    .write_stats = online_sampling_write,
    .finish = finish,
};

__attribute__((constructor)) static void register_extension(void)
{
    extension_register(&statistics_extension);
    extension_register(&sampling_extension);
}
