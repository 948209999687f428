/* The unit that executes a SASS instruction, and the memory that it touches, by architecture.
 *
 * The part of the opcode before the first dot decides. The table is opcode_classes.def: names by
 * architecture from the instruction set reference of NVIDIA's "CUDA Binary Utilities" manual; the
 * units follow the tables that Accel-Sim ships (gpu-simulator/ISA_Def), but texture instructions
 * are texture instructions on every architecture, and atomics have a class of their own. */
#ifndef HEDDLE_COMPONENTS_TRACES_INSTRUCTION_TRACE_NVIDIA_OPCODE_CLASSES_H
#define HEDDLE_COMPONENTS_TRACES_INSTRUCTION_TRACE_NVIDIA_OPCODE_CLASSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum itrace_arch {
    ITRACE_KEPLER,    /* binary version 30 to 37 */
    ITRACE_MAXWELL,   /* 50 to 53 */
    ITRACE_PASCAL,    /* 60 to 62 */
    ITRACE_VOLTA,     /* 70, 72 */
    ITRACE_TURING,    /* 75 */
    ITRACE_AMPERE,    /* 80 to 88, without 89 */
    ITRACE_ADA,       /* 89 */
    ITRACE_HOPPER,    /* 90 */
    ITRACE_BLACKWELL, /* 100 to 121 */
    ITRACE_ARCH_COUNT,
    ITRACE_ARCH_UNKNOWN =
        ITRACE_ARCH_COUNT, /* any of them: the newest that knows an opcode answers */
};

enum sass_class {
#define SASS_CLASS(NAME, name, unit, kind) SASS_CLASS_##NAME,
#include "opcode_classes.def"
    SASS_CLASS_COUNT
};

enum itrace_space {
    ITRACE_SPACE_NONE,
    ITRACE_SPACE_GLOBAL,
    ITRACE_SPACE_SHARED,
    ITRACE_SPACE_LOCAL,
    ITRACE_SPACE_GENERIC, /* the address says which of the three: itrace_space() */
    ITRACE_SPACE_COUNT
};

struct sass_opcode {
    enum sass_class unit;
    enum itrace_space space; /* space of the addresses in the trace */
};

/* The architecture of a binary version, ITRACE_ARCH_UNKNOWN when there is none such. */
enum itrace_arch itrace_arch_of(uint64_t binary_version);
const char *itrace_arch_name(enum itrace_arch arch);
const char *sass_class_name(enum sass_class unit);

/* `name` without modifiers (`size` bytes; of PTX, it ends after its modifiers). An opcode that
 * this architecture does not have is looked for in the others, the nearest newer one first. False:
 * the opcode is unknown; *opcode is the default.
 */
bool sass_opcode_find(enum itrace_arch arch, const char *name, size_t size,
                      struct sass_opcode *opcode);

#endif
