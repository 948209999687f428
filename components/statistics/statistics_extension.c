/* Hooks of kernel statistics into the points of a run (runtime/engine/extension.h). */
#include "statistics_extension.h"

#include "runtime/engine/options.h"

#include "address_list.h"
#include "kernel_share_messages.h"
#include "kernel_stats.h"
#include "run_progress.h"

static bool start_statistics(void)
{
    rank_channel_register(&kernel_shares_channel);
    rank_channel_register(&kernel_channel);
    progress_open();
    return address_list_open(option_file("addresses"));
}

static enum extension_end finish_statistics(void)
{
    return address_list_close() ? EXTENSION_DONE : EXTENSION_FAILED;
}

const struct extension statistics_extension = {
    .start = start_statistics,
    .open_stats = kernel_reset,
    .settle = kernel_settle,
    .find_unsettled = kernel_next_mark_ps,
    .write_stats = kernel_write,
    .progress = progress_read,
    .cut = kernel_cut,
    .finish = finish_statistics,
};
