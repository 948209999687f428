/* Kernels that several command processors run together, a share each, in one record of the
 * statistics.
 *
 * The component that cuts the launch begins the record, opens its shares, and closes them before
 * it ends the record. Each command processor adds the details of its share once. Sums do not depend
 * on their order, and command processors may be in several shards. */
#ifndef HEDDLE_COMPONENTS_STATISTICS_KERNEL_SHARES_H
#define HEDDLE_COMPONENTS_STATISTICS_KERNEL_SHARES_H

#include "kernel_stats.h"

/* The way in which the numbers of two shares are merged. */
enum kernel_merge {
    KERNEL_ADD,
    KERNEL_MAX, /* the larger one */
    KERNEL_SAME /* both say the same */
};

/* A few kernels at a time: as many as command processors run. */
#define KERNEL_SHARES_MAX     4096
#define KERNEL_SHARES_DETAILS 128

void kernel_shares_open(uint32_t kernel);

/* As kernel_describe(); `merge` has one for each detail, names last for the whole run. */
void kernel_shares_add(uint32_t kernel, const struct kernel_detail *details,
                       const enum kernel_merge *merge, uint32_t number);

/* Each share adds its slots times the cycle of its end by this name, of a clock like that of
 * kernel_shares_close(). The record does not have it. */
#define KERNEL_SHARES_END "slots_end"

/* All shares have ended. The launch ran from cycle `begin` to `end`. Slots were empty before a
 * share ran, which becomes slot_cycles.empty.launch, and after it, slot_cycles.empty.draining. */
void kernel_shares_close(uint32_t kernel, uint64_t begin, uint64_t end);

/* Statistics begin: no kernel has shares. Called by kernel_reset(). */
void kernel_shares_reset(void);

#endif
