/* What the records of kernels and of instructions do at each point of a run; see
 * runtime/engine/extension.h. */
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
    .open_stats = kernel_forget,
    .settle = kernel_settle,
    .asks = kernel_asks,
    .write_stats = kernel_write,
    .progress = progress_tell,
    .cut = kernel_cut,
    .finish = finish_statistics,
};
