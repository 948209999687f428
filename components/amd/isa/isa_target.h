/* Traits: how targets differ, beside their opcodes. Part of isa.h.
 *
 * The rows are in targets.tab, with the opcodes that a target has over the one it inherits from.
 * Code asks for a trait, never for a target: a new target is a row there. Only a new format, or the
 * semantics of new instructions, needs C. */
#ifndef HEDDLE_COMPONENTS_AMD_ISA_ISA_TARGET_H
#define HEDDLE_COMPONENTS_AMD_ISA_ISA_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel_registers.h"

enum isa_target {
#define TARGET(id, ...) ISA_##id,
#define OPCODE(target, row, opcode)
#include "targets.tab"
#undef TARGET
#undef OPCODE
    ISA_TARGET_COUNT
};

/* Layout of instructions: the fields of gfx8 or those of gfx9 (GCN3 and Vega ISA manuals,
 * "Microcode formats"). GFX9 has VOP3P, op_sel, scalar operands of SDWA, signed memory offsets,
 * global and scratch instructions, and registers with the apertures. */
enum isa_encoding { ISA_ENCODING_GFX8, ISA_ENCODING_GFX9, ISA_ENCODING_COUNT };

/* Contents of FLAT_SCRATCH: an offset from the queue's scratch memory and a size; an address that
 * the program computes; an address that the hardware sets for each wavefront. */
enum isa_scratch { ISA_SCRATCH_OFFSET, ISA_SCRATCH_ABSOLUTE, ISA_SCRATCH_ARCHITECTED };

/* Accumulation registers: none, 256 beside the vector registers, or a part of a file of 512. */
enum isa_accumulators { ISA_ACCUMULATORS_NONE, ISA_ACCUMULATORS_OWN, ISA_ACCUMULATORS_UNIFIED };

/* The generation whose rounding the matrix instructions have. */
enum isa_matrix { ISA_MATRIX_NONE, ISA_MATRIX_CDNA1, ISA_MATRIX_CDNA2, ISA_MATRIX_CDNA3 };

struct isa_traits {
    const char *name;
    const char *generic; /* target whose code runs on this one as well, or NULL */
    uint8_t parent;      /* enum isa_target: whose opcodes it has, but for its own */
    uint8_t encoding;    /* enum isa_encoding */
    uint8_t registers;   /* enum kernel_generation: granules of registers */
    uint8_t first_ttmp;  /* operand code of ttmp0 */
    uint8_t vmcnt_most;  /* largest vmcnt of s_waitcnt */
    uint8_t hwregs;      /* numbers of hardware registers that have names: below this */
    uint8_t scratch;     /* enum isa_scratch */
    uint8_t accumulators, matrix;
    uint32_t shared_aperture, private_aperture; /* upper halves of flat addresses: LDS, scratch */
    bool packed_work_items;                     /* v0 = x | y << 10 | z << 20 at the start */
    bool minimum_keeps_denormals; /* v_min, v_max, v_med3 of floats do not flush, whatever MODE says
                                   */
    bool l2_fences;      /* buffer_wbl2 and its like: buffer_wbinvl1 reaches the agent only */
    bool has_scope_bits; /* sc0, sc1, nt where others have glc, scc, slc */
    bool xnack, sramecc; /* True if code objects may ask for the feature */
};

/* Flat addresses at which device memory ends, as the Linux driver sets them (amdkfd,
 * kfd_flat_memory.c: VI, and GFX9). */
#define ISA_APERTURES_GFX8 .shared_aperture = 0x20000000, .private_aperture = 0x20000001
#define ISA_APERTURES_GFX9 .shared_aperture = 0x00010000, .private_aperture = 0x00020000

extern const struct isa_traits isa_traits[ISA_TARGET_COUNT];

static inline bool isa_is_gfx9(enum isa_target target)
{
    return isa_traits[target].encoding == ISA_ENCODING_GFX9;
}

/* "gfx803" -> ISA_GFX803; names with feature suffixes ("gfx906:xnack-") are accepted, and
 * "gfx9-generic", for the first target that runs it. 0, or -1 for an unknown name. */
int isa_target_by_name(const char *name, enum isa_target *out);
const char *isa_target_name(enum isa_target target);

/* The traits of the target of that name; NULL: there is none. */
const struct isa_traits *isa_traits_of(const char *name);

/* "gfx803, gfx900 ... or gfx942", for messages. Returns the length as snprintf does. */
size_t isa_target_names(char *text, size_t size);

#endif
