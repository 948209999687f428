/* User queues that hold the queue slots of the hardware.
 *
 * Queues are numbers. A queue that has work is ready, from run_list_ready() to run_list_done(); the
 * run list gives slots to ready queues. Calls come from the packet processor's tick. */
#ifndef HEDDLE_COMPONENTS_AMD_PACKET_PROCESSOR_RUN_LIST_H
#define HEDDLE_COMPONENTS_AMD_PACKET_PROCESSOR_RUN_LIST_H

#include <stdbool.h>
#include <stdint.h>

struct run_list;

/* Once, before anything else. */
static void run_list_setup(struct run_list *p, uint32_t queues, uint32_t slots);

/* The queue has work; nothing when it is ready already. */
static void run_list_ready(struct run_list *p, uint32_t queue);

/* The queue has no more work: its slot is free. Nothing when it is not ready. */
static void run_list_done(struct run_list *p, uint32_t queue);

/* Fills free slots and changes queues whose time is up. *changed: some queue was given a slot.
 * Returns the cycle at which to call again, or ENGINE_NEVER. */
static uint64_t run_list_schedule(struct run_list *p, uint64_t now, bool *changed);

/* True if the queue holds a slot. */
static bool run_list_is_mapped(const struct run_list *p, uint32_t queue);

#endif
