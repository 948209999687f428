/* Hooks of sampling into the points of a run, and the options of the run that it answers for. The
 * runtime calls it through the table; see runtime/engine/extension.h. */
#include "sampling_extension.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "components/statistics/statistics_extension.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/options.h"
#include "runtime/engine/run_control.h"
#include "runtime/state/platform.h"

#include "launch_census.h"
#include "online_sampling.h"
#include "sampling_options.h"
#include "warmup.h"

static struct sampling sampling;
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

static bool start_sampling(void)
{
    static const char *const profiles[] = {[PLATFORM_PROFILE_NONE] = "none",
                                           [PLATFORM_PROFILE_BLOCKS] = "blocks",
                                           [PLATFORM_PROFILE_MEMORY] = "memory"};
    char mistake[512];
    bool sampled = platform_mode() == PLATFORM_SAMPLED;
    const char *kernels = option_text("kernels"), *warmup = option_text("warmup");
    const char *error = option_text("error");
    restored = option_text("restore") != NULL;
    if (!sampling_parse(sampled ? "auto" : kernels, warmup, &sampling, mistake, sizeof mistake)
        || !sampling_parse_error(sampled && !error ? "2" : error, &sampling, mistake,
                                 sizeof mistake)) {
        fprintf(stderr, "heddle: %s\n", mistake);
        return false;
    }
    sampling.in_parts = sampled;
    online_sampling_open(&sampling);
    census_open();
    profile = (enum platform_profile)option_word("profile", profiles, ARRAY_COUNT(profiles));
    return true;
}

/* A run that was cut short may not have come to what was chosen, one from a state may be past it.
 */
static enum extension_end finish_sampling(void)
{
    bool partly = engine_cut_reason() || restored;
    return partly || census_close(&sampling) ? EXTENSION_DONE : EXTENSION_MISSED;
}

const struct extension sampling_extension = {
    .start = start_sampling,
    .build = warm_open,
    .write_stats = online_sampling_write,
    .finish = finish_sampling,
};

__attribute__((constructor)) static void register_extension(void)
{
    extension_register(&statistics_extension);
    extension_register(&sampling_extension);
}
