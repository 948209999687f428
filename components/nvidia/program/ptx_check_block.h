/* State that checks keep of blocks under way: their warps, barriers and lanes, and how reports name
 * them. Private to the checks of PTX, with the events of each. */
#ifndef HEDDLE_COMPONENTS_NVIDIA_PROGRAM_PTX_CHECK_BLOCK_H
#define HEDDLE_COMPONENTS_NVIDIA_PROGRAM_PTX_CHECK_BLOCK_H

#include "components/checks/races/race_report.h"
#include "components/nvidia/ptx/ptx.h"

#include "ptx_checks.h"

/* A warp of which a lane waits at a barrier. */
struct ptx_at_barrier {
    uint32_t waiting_lanes; /* 0: none */
    uint32_t number, instruction;
    bool is_whole;               /* it is for all threads of the block */
    uint32_t passed_lanes;       /* lanes that have passed it meanwhile */
    uint32_t passed_instruction; /* the first instruction that they executed */
};

enum { PTX_BARRIERS = 16 };

struct ptx_check_block {
    struct check_identity identity; /* its code is a struct ptx_code */
    const struct ptx_call *call;
    uint64_t number;
    uint32_t group; /* race_group() */
    uint32_t cluster_blocks;
    uint32_t alive[RACE_GROUP];
    struct ptx_at_barrier barrier[RACE_GROUP];
    uint32_t arrived[PTX_BARRIERS]; /* warps, by bar.arrive */
    struct race_wave wave[RACE_GROUP];
    uint32_t fenced; /* warps that have stored nothing since their last fence towards all */
    struct race_memory shared;
};

/* The block of a step, which begins with its first. `command`: number of its launch among the
 * program's commands (race_order.h). */
struct ptx_check_block *ptx_check_block(const struct ptx_call *call, uint64_t number,
                                        uint32_t command);
/* Lanes of a warp end, and with the last of them the block. */
void ptx_check_exit(struct ptx_check_block *block, const struct warp_step *step);
struct check_identity ptx_identity(const struct ptx_call *call, uint64_t block);

/* A warp comes to a barrier; a warp executes something else. */
void ptx_check_arrive(struct ptx_check_block *block, const struct warp_step *step,
                      const struct ptx_instruction *instruction);
void ptx_check_pass_barrier(struct ptx_check_block *block, const struct warp_step *step,
                            bool accesses);

/* True if it is a load, store or atomic. */
bool ptx_check_accesses(const struct ptx_instruction *instruction);

/* ptx_races.c: the warp's accesses and synchronisation. */
void ptx_races_step(struct ptx_check_block *block, const struct warp_step *step,
                    const struct ptx_instruction *instruction);
/* The last lanes of a block end, and with them its shared memory. */
void ptx_races_end(struct ptx_check_block *block, const struct warp_step *step);
/* ptx_uninitialised.c: global memory, and reports. */
extern const struct warp_undefined ptx_uninitialised;

#endif
