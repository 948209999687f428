/* What is free on each streaming multiprocessor: threads, blocks, registers, shared memory. The
 * limits are those of NVIDIA's occupancy calculator. */
#ifndef HEDDLE_COMPONENTS_SM_OCCUPANCY_H
#define HEDDLE_COMPONENTS_SM_OCCUPANCY_H

#include <stdbool.h>
#include <stdint.h>

struct sm_room {
    uint32_t threads, blocks, registers, shared; /* free ones, or what a block takes */
};

/* What a block of `threads` threads takes: registers go to whole warps, each on one sub-core. */
static struct sm_room sm_room_of_block(const struct sm_room *whole, uint32_t threads,
                                       uint32_t registers, uint64_t shared, uint32_t unit,
                                       uint32_t sub_cores, uint64_t shared_unit);
static bool sm_room_fits(const struct sm_room *room, const struct sm_room *block);
static void sm_room_take(struct sm_room *room, const struct sm_room *block);
static void sm_room_give(struct sm_room *room, const struct sm_room *block);

/* What the L1 gives up for `bytes` of shared memory: 0, 8, 16, 32 or 64 KiB, or `most` (NVIDIA,
 * "CUDA C++ Programming Guide", carve-out of compute capabilities 7.0 and 8.6). */
static uint32_t sm_room_carve(uint32_t bytes, uint32_t most);

/* How many such blocks an empty SM holds, and which limit says so. */
static uint32_t sm_room_count(const struct sm_room *whole, const struct sm_room *block,
                              const char **limit);

#endif
