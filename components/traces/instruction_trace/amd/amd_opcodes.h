/* What traces of AMD programs (docs/reference/traces.md) have that NVIDIA's do not: opcodes and
 * registers of the GCN instruction sets, and header lines that let a platform play the kernel. */
#ifndef HEDDLE_COMPONENTS_AMD_OPCODES_H
#define HEDDLE_COMPONENTS_AMD_OPCODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "components/amd/isa/isa_target.h"
#include "components/traces/instruction_trace/nvidia/opcode_classes.h"

#define ITRACE_AMD_LANES      64
/* Bytes of one "-code" or "-arguments" line, and of all of a trace. */
#define ITRACE_AMD_LINE_BYTES 1024
#define ITRACE_AMD_MOST_BYTES (16u << 20)

/* A register as itrace_inst has it: the operand code of isa.h (vector registers from 256 on,
 * accumulators from 512 on), and how many registers follow each other. */
#define ITRACE_AMD_REGISTER(number)  ((number)&1023u)
#define ITRACE_AMD_REGISTERS(number) (((unsigned)(number) >> 10) + 1)

/* A target as an architecture of traces, and back. */
static inline enum itrace_arch itrace_arch_of_target(enum isa_target target)
{
    return (enum itrace_arch)(ITRACE_AMD + (unsigned)target);
}

static inline bool itrace_arch_is_amd(enum itrace_arch arch)
{
    return arch >= ITRACE_AMD;
}

static inline enum isa_target itrace_arch_target(enum itrace_arch arch)
{
    return (enum isa_target)(arch - ITRACE_AMD);
}

/* `name` as the disassembler writes it, with the suffix of its encoding. false: no instruction has
 * this name; *opcode is the default. */
bool amd_opcode_find(const char *name, struct sass_opcode *opcode);

/* The register that `text` (`size` bytes) names: v7, s[0:3], vcc, m0 ...; false: none. */
bool amd_register(const char *text, size_t size, uint16_t *number);

/* The address at which the flat aperture of the LDS begins. */
uint64_t amd_shared_aperture(enum itrace_arch arch);

/* Can a lane's access have this width? 0: no access. */
bool amd_width(uint64_t width);

#endif
