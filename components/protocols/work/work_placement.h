/* Payload of work.map: everything a compute unit needs to start a work-group. At most 320 bytes. */
#ifndef HEDDLE_COMPONENTS_PROTOCOLS_WORK_WORK_PLACEMENT_H
#define HEDDLE_COMPONENTS_PROTOCOLS_WORK_WORK_PLACEMENT_H

#include <stdint.h>

#define WORK_WAVEFRONTS_MAX 16
#define WORK_PRELOADED_MAX  14

/* The place of the queue object (amd_queue_t) of a launch that asks for one, in bytes after its
 * dispatch packet. The driver puts it there. */
#define WORK_QUEUE_OFFSET 64

/* The offsets at which amd_queue_t holds the upper halves of the flat apertures for LDS and
 * scratch, for code that finds them through its queue pointer (gfx8). */
#define WORK_QUEUE_SHARED_APERTURE  64
#define WORK_QUEUE_PRIVATE_APERTURE 68

struct work_wavefront {
    uint8_t simd;
    uint8_t slot;  /* wavefront slot of that SIMD */
    uint16_t vgpr; /* first register of 64 lanes */
    uint16_t sgpr; /* first scalar register */
    uint16_t reserved;
};

struct work_placement {
    uint64_t entry;   /* virtual address of the first instruction */
    uint64_t kernarg; /* virtual */
    uint64_t packet;  /* virtual address of the dispatch packet */
    uint64_t queue;   /* virtual address of the queue object */
    uint64_t scratch; /* virtual address of the private-memory pool of this dispatch; 0: none */
    uint32_t scratch_bytes_per_wavefront;
    uint32_t scratch_wavefront; /* number of the first wavefront's scratch area in the pool */
    uint32_t rsrc1, rsrc2;      /* compute_pgm_rsrc1, compute_pgm_rsrc2 of the descriptor */
    uint16_t properties;        /* kernel_code_properties of the descriptor */
    uint16_t preload;           /* kernarg_preload of the descriptor */
    uint32_t private_bytes;     /* a work-item */
    uint32_t pid;
    uint32_t grid[3];    /* work-items */
    uint16_t block[3];   /* as launched */
    uint16_t items[3];   /* items of this work-group: fewer at the edges of the grid */
    uint32_t lds_offset; /* bytes */
    uint32_t lds_bytes;
    uint16_t vgprs; /* registers a wavefront */
    uint16_t sgprs;
    uint16_t wavefronts;
    uint16_t work_group_slot;
    uint16_t cu;           /* number among the compute units of the GPU, or of the die */
    uint16_t dispatcher;   /* number of the one that placed it */
    uint32_t dispatch_id;  /* number of the kernel launch since start */
    uint8_t memory_only;   /* 1: everything but memory instructions takes no time */
    uint8_t die;           /* number of the compute die, where a GPU has several */
    uint16_t accum_offset; /* number of the first accumulator among the vector registers */
    uint32_t preloaded[WORK_PRELOADED_MAX]; /* arguments that registers begin with */
    struct work_wavefront wavefront[WORK_WAVEFRONTS_MAX];
};
_Static_assert(sizeof(struct work_placement) <= 320, "fits the payload of work.map");

#endif
