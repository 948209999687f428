/* Which unit executes a SASS instruction, and what memory it touches, by architecture.
 *
 * The part of the opcode before the first dot decides. The table is opcode_classes.def: names by
 * architecture from the instruction set reference of NVIDIA's "CUDA Binary Utilities" manual; the
 * units follow the tables that Accel-Sim ships (gpu-simulator/ISA_Def), but texture instructions
 * are texture instructions on every architecture, and atomics have a class of their own. */
#ifndef HEDDLE_COMPONENTS_OPCODE_CLASSES_H
#define HEDDLE_COMPONENTS_OPCODE_CLASSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sass_arch {
    SASS_KEPLER,  /* binary version 30 to 37 */
    SASS_MAXWELL, /* 50 to 53 */
    SASS_PASCAL,  /* 60 to 62 */
    SASS_VOLTA,   /* 70, 72 */
    SASS_TURING,  /* 75 */
    SASS_AMPERE,  /* 80 to 88, without 89 */
    SASS_ADA,     /* 89 */
    SASS_HOPPER,  /* 90 */
    SASS_ARCH_COUNT,
    SASS_ARCH_UNKNOWN = SASS_ARCH_COUNT, /* any of them: the newest that knows an opcode answers */
    SASS_AMD                             /* and above, AMD's: amd_opcodes.h */
};

enum sass_class {
#define SASS_CLASS(NAME, name, unit, kind) SASS_CLASS_##NAME,
#include "components/traces/instruction_trace/nvidia/opcode_classes.def"
    SASS_CLASS_COUNT
};

enum sass_space {
    SASS_SPACE_NONE,
    SASS_SPACE_GLOBAL,
    SASS_SPACE_SHARED,
    SASS_SPACE_LOCAL,
    SASS_SPACE_GENERIC, /* the address says which of the three: sass_trace_space() */
    SASS_SPACE_COUNT
};

struct sass_opcode {
    enum sass_class unit;
    enum sass_space space; /* of the addresses in the trace */
    uint8_t amd_unit;      /* of AMD's: enum isa_unit */
};

/* The architecture of a binary version, SASS_ARCH_UNKNOWN when there is none such. */
enum sass_arch sass_arch_of(uint64_t binary_version);
const char *sass_arch_name(enum sass_arch arch);
const char *sass_class_name(enum sass_class unit);

/* `name` without modifiers (`size` bytes). An opcode that this architecture does not have is looked
 * for in the others, the nearest newer one first. false: nobody knows it; *opcode is the default.
 */
bool sass_opcode_find(enum sass_arch arch, const char *name, size_t size,
                      struct sass_opcode *opcode);

#endif
