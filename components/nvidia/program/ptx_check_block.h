/* State that checks keep of blocks under way: their warps, barriers and lanes, and the texts of
 * reports. Private to the checks of PTX. */
#ifndef HEDDLE_COMPONENTS_PTX_CHECK_BLOCK_H
#define HEDDLE_COMPONENTS_PTX_CHECK_BLOCK_H

#include "components/checks/finding.h"
#include "components/checks/races/race_shadow.h"
#include "ptx_checks.h"
#include "components/nvidia/ptx/ptx.h"

/* What reports need of a block, which may be over. */
struct ptx_past {
    const struct ptx_code *code;
    const struct program_table *program;
    uint64_t launch;
    uint32_t group[3], gpu, pid;
    const char *title;
};

/* A warp of which a lane waits at a barrier. */
struct ptx_at_barrier {
    uint32_t waiting; /* lanes; 0: none */
    uint32_t number, instruction;
    bool is_whole;   /* it is for all threads of the block */
    uint32_t passed; /* lanes that went on behind it meanwhile */
    uint32_t behind; /* the first instruction that they executed */
};

enum { PTX_BARRIERS = 16 };

struct ptx_check_block {
    uint64_t launch, number; /* launch 0: the entry is free */
    uint32_t group;          /* race_group_begin() */
    uint32_t cluster_blocks;
    uint32_t alive[RACE_GROUP];
    struct ptx_at_barrier at[RACE_GROUP];
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
const struct ptx_past *ptx_check_past(uint32_t group);
struct ptx_past ptx_past_of(const struct ptx_call *call, uint64_t block);

/* A warp comes to a barrier; a warp executes something else. */
void ptx_check_arrive(struct ptx_check_block *block, const struct warp_step *step,
                      const struct ptx_instruction *instruction);
void ptx_check_go_on(struct ptx_check_block *block, const struct warp_step *step, bool accesses);

/* A load, store or atomic? */
bool ptx_check_accesses(const struct ptx_instruction *instruction);
/* Fills in what a warp does at the instruction. */
void ptx_check_place(const struct ptx_past *past, uint32_t warp, uint32_t instruction,
                     uint32_t lane, struct finding_place *place);

#endif
