/* What the records of kernels and of instructions do at each point of a run; see
 * runtime/engine/extension.h. */
#include "statistics_extension.h"

#include "address_list.h"
#include "instruction_recorder_ranks.h"
#include "kernel_share_messages.h"
#include "kernel_stats.h"
#include "run_progress.h"
#include "runtime/engine/options.h"

static bool start(void)
{
    progress_open();
    return address_list_open(option_file("addresses"));
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

static enum extension_end finish(void)
{
    return address_list_close() ? EXTENSION_DONE : EXTENSION_FAILED;
}

const struct extension statistics_extension = {
    .start = start,
    .open_stats = kernel_forget,
    .settle = kernel_settle,
    .asks = kernel_asks,
    .tell = kernel_tell,
    .take = kernel_take,
    .meet_tell = meet_tell,
    .meet_take = meet_take,
    .is_filling = recorder_ranks_is_filling,
    .write_stats = kernel_write,
    .progress = progress_tell,
    .cut = kernel_cut,
    .finish = finish,
};
