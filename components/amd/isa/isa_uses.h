/* The registers that an instruction reads and writes, by its bytes alone.
 *
 * SCC, MODE and the other hardware registers are left out. Registers relative to M0 are given as
 * written in the instruction. A write may leave lanes, and parts of a register, as they were. */
#ifndef HEDDLE_COMPONENTS_AMD_ISA_ISA_USES_H
#define HEDDLE_COMPONENTS_AMD_ISA_ISA_USES_H

#include "isa.h"

/* Operand of the instruction that holds the registers. */
enum isa_use_place {
    ISA_USE_SOURCE0, /* memory: the address */
    ISA_USE_SOURCE1, /* memory: data; of a sparse product the index, too */
    ISA_USE_SOURCE2, /* addend of a matrix product, which may be its destination */
    ISA_USE_DESTINATION,
    ISA_USE_SCALAR, /* sdst: a mask that is written; memory: the base or the resource */
    ISA_USE_OFFSET, /* memory: the scalar offset or base */
    ISA_USE_IMPLIED /* VCC, EXEC, M0 */
};

struct isa_use {
    uint16_t code; /* code of the first register: below 128, or from ISA_VGPR on */
    uint8_t dwords;
    uint8_t place; /* enum isa_use_place */
    bool written;
};

enum { ISA_USES_MAX = 12 };

/* The number of uses. A register that is read and written counts twice. */
unsigned isa_uses(const struct isa_inst *inst, struct isa_use out[ISA_USES_MAX]);

/* Ways in which an instruction makes its result of its sources. */
enum isa_effect {
    ISA_COMPUTES,
    ISA_MOVES,       /* dwords of source 0, in their order */
    ISA_MOVES_PAIRS, /* a dword of source 0 and one of source 1, as op_sel chooses */
    ISA_SELECTS,
    ISA_ANDS, /* ANDS to XORS bit by bit */
    ISA_ORS,
    ISA_ANDS_NOT, /* the second source is negated */
    ISA_ORS_NOT,
    ISA_XORS, /* or negates */
    ISA_CROSSES_LANES,
    ISA_READS_LANE,
    ISA_READS_FIRST_LANE,
    ISA_WRITES_LANE,
    ISA_MULTIPLIES_MATRICES,
    ISA_INDEXES /* registers relative to M0 */
};
enum isa_effect isa_effect(const struct isa_inst *inst);
/* True if the instruction depends on SCC. */
bool isa_reads_scc(const struct isa_inst *inst);
/* True for s_OP_saveexec, which keeps EXEC in its destination. */
bool isa_saves_exec(const struct isa_inst *inst);

/* True if this is the use of a register of that kind. */
static inline bool isa_use_is_vector(const struct isa_use *use)
{
    return use->code >= ISA_VGPR;
}

#endif
