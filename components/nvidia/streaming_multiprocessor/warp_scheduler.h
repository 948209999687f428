/* The warp scheduler of a streaming multiprocessor: the policy that picks the warp that issues. One
 * part serves all sub-cores; each sees only its own warps. Warps are numbers below 64, sets of them
 * are bits. */
#ifndef HEDDLE_COMPONENTS_NVIDIA_STREAMING_MULTIPROCESSOR_WARP_SCHEDULER_H
#define HEDDLE_COMPONENTS_NVIDIA_STREAMING_MULTIPROCESSOR_WARP_SCHEDULER_H

#include <stdint.h>

struct part;

enum { WARP_SCHEDULER_SUB_CORES = 8 };

struct warp_scheduler_ops {
    /* A warp came into a slot that was free. */
    void (*arrive)(struct part *self, uint32_t sub_core, uint32_t warp);
    /* The warp's slot is free again. */
    void (*leave)(struct part *self, uint32_t sub_core, uint32_t warp);
    /* One of `ready`, which is not empty; it issues now. `memory`: warps that wait for an answer of
     * memory, none of them ready. */
    uint32_t (*pick)(struct part *self, uint32_t sub_core, uint64_t ready, uint64_t memory);
};

#endif
