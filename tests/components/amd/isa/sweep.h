/* Words of an instruction that differ from a valid one in one field: every register and
 * constant that it can name, with every modifier, every literal that equals a constant, and all
 * combinations of flags. */
#ifndef HEDDLE_TESTS_COMPONENTS_AMD_ISA_SWEEP_H
#define HEDDLE_TESTS_COMPONENTS_AMD_ISA_SWEEP_H

#include "oracle.h"

struct sweep {
    bool full; /* everything; otherwise all constants that print as floats and a sample */
    /* Compares one instruction. Returns the size that LLVM gives it, 0 for none. */
    unsigned (*attempt)(void *context, const uint32_t word[3]);
    void *context;
};

/* False: LLVM takes none of the words from which the sweep would start. */
bool sweep_opcode(const struct sweep *sweep, const struct oracle_format *format, unsigned opcode);

#endif
