/* The policy of a page migration controller: it decides which pages of managed memory come to the
 * GPU. Calls come from the controller's tick, one for each lookup of a page of managed memory by a
 * first-level TLB of the GPU, in the order of the lookups. */
#ifndef HEDDLE_COMPONENTS_AMD_PAGE_MIGRATION_CONTROLLER_MIGRATION_POLICY_H
#define HEDDLE_COMPONENTS_AMD_PAGE_MIGRATION_CONTROLLER_MIGRATION_POLICY_H

#include <stdbool.h>
#include <stdint.h>

struct part;

struct migration_touch {
    uint64_t page; /* virtual address of its first byte */
    uint32_t pid;
    bool is_local;  /* it lies in this GPU's memory, or a copy of it does */
    bool is_placed; /* a GPU has asked for it before */
};

struct migration_policy_ops {
    /* True if the driver is asked for the page. For a local page it is only marked as placed. */
    bool (*wants)(struct part *self, const struct migration_touch *touch);
    bool copies; /* it wants a copy for reading instead of the page */
    bool faults; /* accesses to a page that is not local wait until it has come */
};

#endif
