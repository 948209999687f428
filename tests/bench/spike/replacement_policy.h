/* Interface replacement_policy: which way of a set goes next. */
#ifndef SPIKE_REPLACEMENT_POLICY_H
#define SPIKE_REPLACEMENT_POLICY_H

#include "runtime/part.h"

struct replacement_policy_ops {
    void (*prepare)(struct part *self, uint32_t sets, uint32_t ways);
    void (*touch)(struct part *self, uint32_t set, uint32_t way);
    uint32_t (*victim)(struct part *self, uint32_t set);
};

#endif
