/* The scheduler of a packet processor: the policy that decides which user queues hold the
 * hardware's queue slots.
 *
 * Queues are numbers. A queue that has work is ready, from ready() to done(); the scheduler gives
 * slots to ready queues. Calls come from the packet processor's tick; setup() first, once. */
#ifndef HEDDLE_COMPONENTS_QUEUE_SCHEDULER_H
#define HEDDLE_COMPONENTS_QUEUE_SCHEDULER_H

#include <stdbool.h>
#include <stdint.h>

struct part;

struct queue_scheduler_ops {
    void (*setup)(struct part *self, uint32_t queues, uint32_t slots);
    /* The queue has work; nothing when it is ready already. */
    void (*ready)(struct part *self, uint32_t queue);
    /* The queue has no more work: its slot is free. Nothing when it is not ready. */
    void (*done)(struct part *self, uint32_t queue);
    /* Fills free slots and changes queues whose time is up. *changed: some queue was given a slot.
     * Returns the cycle at which to call again, or ENGINE_NEVER. */
    uint64_t (*schedule)(struct part *self, uint64_t now, bool *changed);
    /* Has it a slot? */
    bool (*mapped)(const struct part *self, uint32_t queue);
};

#endif
