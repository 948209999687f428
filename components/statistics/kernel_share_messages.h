/* Shares of a kernel from command processors of other ranks: they are sent to the rank that began
 * the kernel's record.
 *
 * A handle of kernel_stats.h names the rank of its record. Details for a record of another rank
 * wait until ranks meet. The end of the record comes later: the end of a share crosses between
 * ranks, too, and no earlier than its details. */
#ifndef HEDDLE_COMPONENTS_STATISTICS_KERNEL_SHARE_MESSAGES_H
#define HEDDLE_COMPONENTS_STATISTICS_KERNEL_SHARE_MESSAGES_H

#include <stdint.h>

#include "runtime/engine/rank_channel.h"

#include "kernel_shares.h"

/* For a record of another rank; from any thread. */
void kernel_send_count(uint32_t kernel, uint64_t work_groups, uint64_t instructions);
void kernel_send_share(uint32_t kernel, const struct kernel_detail *details,
                       const enum kernel_merge *how, uint32_t number);
extern const struct rank_channel kernel_shares_channel;

#endif
