/* Tells the watch for livelocks (components/livelock/livelock.h) which words each warp
 * instruction of a watched launch reads and changes. Private to components/nvidia/warp. */
#ifndef HEDDLE_COMPONENTS_NVIDIA_WARP_WARP_LIVELOCK_H
#define HEDDLE_COMPONENTS_NVIDIA_WARP_WARP_LIVELOCK_H

#include "warp_machine.h"

/* An operation was executed by the lanes of `mask`. */
void warp_livelock_step(struct warp_machine *m, const struct warp_op *op, uint32_t mask);

/* True if each of the block's warps that can execute has come back to a state of its own. */
bool warp_livelock_block(struct warp_launch *l, struct warp_block *b);

/* Describes the wait of the block's warp that has the likeliest access. False: none can execute. */
bool warp_livelock_describe(struct warp_launch *l, struct warp_block *b, struct warp_fault *fault);

#endif
