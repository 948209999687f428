/* A wavefront as the check of missing waits follows it: its loads that may be outstanding, as far
 * as its own s_waitcnt can know, and its last instructions.
 *
 * A wait for N on vmcnt or lgkmcnt says that all accesses but N are done. Vector memory answers in
 * the order of issue, and so does the LDS. Scalar memory, messages, and flat accesses of which only
 * some lanes fall into the LDS answer in any order (GCN3 and Vega ISA manuals, "Manually inserted
 * wait states", S_WAITCNT; the targets here count stores with vmcnt, too). So a wait proves all
 * ordered accesses done but for the last N, and unordered ones only if N is 0. */
#ifndef HEDDLE_COMPONENTS_CHECKS_HAZARDS_HAZARD_WAVE_H
#define HEDDLE_COMPONENTS_CHECKS_HAZARDS_HAZARD_WAVE_H

#include "components/amd/isa/isa_hazard.h"

enum hazard_kind {
    HAZARD_EARLY_READ,  /* a register is read before a load has brought it for sure */
    HAZARD_EARLY_WRITE, /* a register is written, and a load to it may come after that */
    HAZARD_WAIT_STATES,
    HAZARD_EARLY_BARRIER /* a barrier is passed before the work-group sees a store to the LDS */
};

struct hazard {
    enum hazard_kind kind;
    const struct isa_inst *first, *second;
    uint64_t first_pc, second_pc;
    uint16_t code;               /* a register, or ISA_OPERAND_NONE */
    bool counts_vm, counts_lgkm; /* counters that s_waitcnt has to wait for */
    uint8_t needed, present;     /* HAZARD_WAIT_STATES */
};

typedef void hazard_reporter(void *context, const struct hazard *hazard);

enum { HAZARD_PENDING = 96, HAZARD_PAST = 24, HAZARD_REGISTERS = 128 + 512 };

/* A memory instruction that may not be done. */
struct hazard_pending {
    struct isa_inst inst;
    uint64_t pc, lanes;
    uint16_t code; /* first register that it writes */
    uint8_t dwords;
    bool counts_vm, counts_lgkm, is_in_order;
};

struct hazard_past {
    struct isa_hazard_code code;
    uint64_t pc, position;
};

struct hazard_wave {
    uint64_t writes[HAZARD_REGISTERS / 64]; /* registers that `pending` writes */
    uint32_t count;
    uint32_t past_count;
    uint64_t position;                             /* wait states so far */
    uint64_t last_matrix;                          /* position after the last matrix product */
    struct hazard_pending pending[HAZARD_PENDING]; /* oldest first */
    struct hazard_past past[HAZARD_PAST];          /* by past_count */
};

/* Effects of an instruction in this execution. */
struct hazard_step {
    uint64_t pc;
    uint64_t exec;
    bool reaches_memory, reaches_lds; /* flat: lanes fall into memory; into the LDS */
    bool is_alone;                    /* the work-group has one wavefront */
};

void hazard_wave_begin(struct hazard_wave *w);

/* The instruction is about to be executed. */
void hazard_wave_step(struct hazard_wave *w, const struct isa_hazard_code *code,
                      const struct hazard_step *step, hazard_reporter *report, void *context);

#endif
