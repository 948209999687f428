/* The free resources of each streaming multiprocessor: threads, blocks, registers, shared memory.
 * The limits are those of NVIDIA's occupancy calculator. */
#ifndef HEDDLE_COMPONENTS_NVIDIA_PROGRAM_SM_OCCUPANCY_H
#define HEDDLE_COMPONENTS_NVIDIA_PROGRAM_SM_OCCUPANCY_H

#include <stdbool.h>
#include <stdint.h>

enum { SM_WARP_THREADS = 32 };

struct sm_room {
    uint32_t threads, blocks, registers, shared; /* free ones, or what a block takes */
};

/* A streaming multiprocessor: the room of an empty one, and how it is given away. */
struct sm_shape {
    struct sm_room room;
    uint32_t register_unit, sub_cores;
    uint32_t shared_unit, shared_system; /* bytes; the latter for each block */
};

/* The number of blocks of so many threads, registers a thread and bytes of shared memory that an
 * empty SM holds; *limit names what it has too little of for more. *block is what one takes, if one
 * fits: registers go to whole warps, each on one sub-core. */
uint32_t sm_shape_blocks(const struct sm_shape *sm, uint64_t threads, uint64_t registers,
                         uint64_t shared, struct sm_room *block, const char **limit);

static inline bool sm_room_fits(const struct sm_room *room, const struct sm_room *block)
{
    return block->threads <= room->threads && block->blocks <= room->blocks
           && block->registers <= room->registers && block->shared <= room->shared;
}

static inline void sm_room_acquire(struct sm_room *room, const struct sm_room *block)
{
    room->threads -= block->threads;
    room->blocks -= block->blocks;
    room->registers -= block->registers;
    room->shared -= block->shared;
}

static inline void sm_room_release(struct sm_room *room, const struct sm_room *block)
{
    room->threads += block->threads;
    room->blocks += block->blocks;
    room->registers += block->registers;
    room->shared += block->shared;
}

/* The bytes that the L1 gives up for `bytes` of shared memory: 0, 8, 16, 32 or 64 KiB, or `most`
 * (NVIDIA, "CUDA C++ Programming Guide", carve-out of compute capabilities 7.0 and 8.6). */
uint32_t sm_room_carve(uint32_t bytes, uint32_t most);

#endif
