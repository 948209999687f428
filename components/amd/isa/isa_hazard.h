/* Wait states that a program must leave between two instructions, by the rules of gcn_hazards.tab,
 * since the hardware does not wait by itself. These rules leave out the data of loads, which
 * s_waitcnt waits for. */
#ifndef HEDDLE_COMPONENTS_AMD_ISA_ISA_HAZARD_H
#define HEDDLE_COMPONENTS_AMD_ISA_ISA_HAZARD_H

#include "isa_uses.h"

enum { ISA_HAZARD_STATES_MAX = 19, ISA_HAZARD_STATES_USUAL = 5 };

/* An instruction with the rules that have it as their first or second one. */
struct isa_hazard_code {
    struct isa_inst inst;
    struct isa_use uses[ISA_USES_MAX];
    uint8_t count;
    uint8_t states; /* wait states that the instruction counts as between two others */
    uint8_t passes; /* passes of the matrix unit; 0: it is no matrix product */
    uint8_t hwreg;
    bool reads_all_lanes;         /* whatever EXEC says */
    uint64_t as_first, as_second; /* bit i: rule i */
};

void isa_hazard_make(const struct isa_inst *inst, struct isa_hazard_code *out);

/* Wait states that `second` needs after `first`, 0 for none. `last` is the one before `second`,
 * which may be `first`. `*code`: a register that the two meet in, or ISA_OPERAND_NONE. */
unsigned isa_hazard_states(const struct isa_hazard_code *first, const struct isa_hazard_code *last,
                           const struct isa_hazard_code *second, unsigned *code);

#endif
