/* Places as reports name them, whatever has executed there: AMD's wavefronts, warps of PTX, copies.
 *
 * An executor numbers its instructions, and describes a number by its struct check_executor. Checks
 * keep numbers; they become text when something is reported. */
#ifndef HEDDLE_COMPONENTS_CHECKS_CHECK_PLACE_H
#define HEDDLE_COMPONENTS_CHECKS_CHECK_PLACE_H

#include "finding.h"

struct check_identity;
struct program_table;

struct check_executor {
    uint64_t (*pc)(const struct check_identity *identity, uint32_t instruction);
    /* Fills in the text and the source; the rest is there. */
    void (*describe)(const struct check_identity *identity, uint32_t instruction,
                     struct finding_place *place);
    /* The name of the constant that lies at the address; NULL: none. The member may be NULL. */
    const char *(*constant)(const struct check_identity *identity, uint64_t address);
};

/* A work-group (a block of PTX), or a command of the driver; also when it is over. */
struct check_identity {
    const struct check_executor *executor;
    const struct program_table *program;
    const void *code;   /* the executor's own */
    const char *kernel; /* as people call it; NULL: none */
    uint64_t launch;    /* its number, from 1 */
    uint32_t gpu, pid, group[3];
};

/* An instruction of a wavefront (a warp). */
struct check_place {
    const struct check_identity *identity;
    uint32_t wavefront, instruction;
    uint32_t lane; /* or FINDING_LANE_NONE */
};

/* Begins a finding at one place, or at two. False: it is known already, and counted. */
bool check_found(enum finding_kind kind, const struct check_place *first,
                 const struct check_place *second, struct finding *finding);
/* Fills in the space, the address and the memory of a finding. */
void check_address(const struct check_identity *identity, enum finding_space space,
                   uint64_t address, struct finding *finding);

#endif
