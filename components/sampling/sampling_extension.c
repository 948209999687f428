/* What the library does at each point of a run, and the options of this run that it answers for.
 * The runtime calls it through the table; see runtime/engine/extension.h. */
#include "sampling_extension.h"

#include <stdio.h>
#include <string.h>

#include "components/statistics/address_list.h"
#include "components/statistics/instruction_recorder_ranks.h"
#include "components/statistics/kernel_ranks.h"
#include "components/statistics/kernel_stats.h"
#include "launch_census.h"
#include "online_sampling.h"
#include "components/statistics/run_progress.h"
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
            progress_open();
            profile = (enum platform_profile)options->profile;
            return address_list_open(options->addresses);
        }
    }
    fprintf(stderr, "heddle: %s\n", mistake);
    return false;
}

static void write_stats(struct json *out)
{
    kernel_write(out);
    online_sampling_write(out);
}

/* A run that was cut short may not have come to what was chosen, one from a state may be past it.
 */
static enum extension_end finish(void)
{
    if (!address_list_close())
        return EXTENSION_FAILED;
    bool partly = engine_cut_by() || restored;
    return partly || census_close(&sampling) ? EXTENSION_DONE : EXTENSION_MISSED;
}

static void meet_tell(void)
{
    recorder_ranks_tell();
    kernel_ranks_tell();
}

static void meet_take(uint32_t from)
{
    recorder_ranks_hear(from);
    kernel_ranks_take(from);
}

const struct extension sampling_extension = {
    .start = start,
    .build = warm_open,
    .open_stats = kernel_forget,
    .settle = kernel_settle,
    .asks = kernel_asks,
    .tell = kernel_tell,
    .take = kernel_take,
    .meet_tell = meet_tell,
    .meet_take = meet_take,
    .is_filling = recorder_ranks_is_filling,
    .write_stats = write_stats,
    .progress = progress_tell,
    .cut = kernel_cut,
    .finish = finish,
};

__attribute__((constructor)) static void register_extension(void)
{
    extension_register(&sampling_extension);
}
