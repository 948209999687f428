/* The order of a dispatcher: the policy that decides which work-group goes to which compute unit
 * next.
 *
 * An order proposes, and the resource pool decides whether there is room. Work-groups are numbers
 * in the order x, y, z. Every work-group is proposed until it has been placed, and not again
 * afterwards. Calls come from the command processor's tick, for one dispatcher; setup() first,
 * once. */
#ifndef HEDDLE_COMPONENTS_AMD_COMMAND_PROCESSOR_DISPATCH_ORDER_H
#define HEDDLE_COMPONENTS_AMD_COMMAND_PROCESSOR_DISPATCH_ORDER_H

#include <stdbool.h>
#include <stdint.h>

struct part;

struct dispatch_order_ops {
    void (*setup)(struct part *self, uint32_t compute_units);
    /* A kernel begins. */
    void (*start)(struct part *self, uint64_t work_groups);
    /* Proposal number `attempt` (0 .. compute units - 1, each compute unit once). False: the
     * compute unit is to get none of the remaining work-groups. */
    bool (*propose)(const struct part *self, uint32_t attempt, uint32_t *cu, uint64_t *work_group);
    /* The last proposal for `cu` was placed. */
    void (*placed)(struct part *self, uint32_t cu);
};

#endif
