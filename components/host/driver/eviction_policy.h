/* The eviction policy of the driver: it decides which of a GPU's resident managed pages leaves for
 * the host's memory. Calls come from the driver's tick, while no kernel accesses memory. */
#ifndef HEDDLE_COMPONENTS_HOST_DRIVER_EVICTION_POLICY_H
#define HEDDLE_COMPONENTS_HOST_DRIVER_EVICTION_POLICY_H

#include <stdbool.h>
#include <stdint.h>

struct part;

struct eviction_policy_ops {
    /* Bytes of a block: its resident pages leave together. At least a page. */
    uint64_t (*block)(const struct part *self);
    /* A fault on a page makes the resident pages of its block the youngest. Otherwise pages keep
     * the order in which they came. */
    bool refreshes;
    /* The place to look at first, of `frames`; the resident page there or after it goes. NULL: the
     * oldest page goes. */
    uint64_t (*pick)(struct part *self, uint64_t frames);
};

#endif
