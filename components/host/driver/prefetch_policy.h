/* The prefetch policy of the driver: when an access has waited for a page, it decides which other
 * pages of the large page around it come, too. */
#ifndef HEDDLE_COMPONENTS_HOST_DRIVER_PREFETCH_POLICY_H
#define HEDDLE_COMPONENTS_HOST_DRIVER_PREFETCH_POLICY_H

#include <stdbool.h>
#include <stdint.h>

struct part;

enum { PREFETCH_BYTES = 2 << 20, PREFETCH_PAGES = PREFETCH_BYTES / 4096 };

/* An aligned block of PREFETCH_BYTES. */
struct prefetch_block {
    uint32_t pages; /* pages that it has */
    uint64_t page_bytes;
    uint32_t faulted;            /* number of the page that has come for an access */
    bool here[PREFETCH_PAGES];   /* lies in the GPU's memory */
    bool wanted[PREFETCH_PAGES]; /* to be set */
};

struct prefetch_policy_ops {
    void (*choose)(struct part *self, struct prefetch_block *block);
};

#endif
