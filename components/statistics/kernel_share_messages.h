/* With several ranks: what command processors of other ranks have to say of a kernel whose record
 * was begun at this one.
 *
 * A handle of kernel_stats.h names the rank of its record. What is added to a record of another
 * rank waits until ranks meet. Whoever ends the record has then heard of it: that a share is over
 * crosses between ranks, too, and no earlier. */
#ifndef HEDDLE_STATISTICS_KERNEL_RANKS_H
#define HEDDLE_STATISTICS_KERNEL_RANKS_H

#include <stdint.h>

#include "components/statistics/kernel_shares.h"

/* For a record of another rank; from any thread. */
void kernel_ranks_count(uint32_t kernel, uint64_t work_groups, uint64_t instructions);
void kernel_ranks_share(uint32_t kernel, const struct kernel_detail *details,
                        const enum kernel_merge *merge, uint32_t number);
/* When ranks meet. */
void kernel_ranks_tell(void);
void kernel_ranks_take(uint32_t from);

#endif
