/* Registers by a kernel's descriptor: how many a wavefront has, and which values the first
 * registers hold when it begins.
 *
 * Both kinds of descriptor (amd_kernel_code_t of code objects v2, and the 64-byte one since v3)
 * hold the same words: compute_pgm_rsrc1 to 3, the kernel code properties, and what is preloaded of
 * the arguments. Only this file reads them (LLVM, "User Guide for AMDGPU Backend": Code Object V3
 * Kernel Descriptor, and compute_pgm_rsrc1, 2 and 3 for GFX6 to GFX12).
 *
 * The vector registers of a wavefront are numbered as they are stored: v0, v1 ... first, and a0, a1
 * ... from accum_offset on. */
#ifndef HEDDLE_COMPONENTS_AMD_ISA_KERNEL_REGISTERS_H
#define HEDDLE_COMPONENTS_AMD_ISA_KERNEL_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

/* Targets with the same granules of registers. ACCUMULATORS: each vector register comes with an
 * accumulator, of a file of their own. UNIFIED: vector registers and accumulators share a file. */
enum kernel_generation {
    KERNEL_GFX8,
    KERNEL_GFX9,
    KERNEL_GFX9_ACCUMULATORS,
    KERNEL_GFX9_UNIFIED,
    KERNEL_GFX10_WAVE64,
    KERNEL_GFX10_WAVE32,
    KERNEL_GENERATIONS
};

enum {
    KERNEL_VGPRS_MAX = 512,        /* stored registers of a wavefront */
    KERNEL_PRELOAD_PROLOGUE = 256, /* bytes of code for hardware that does not preload */
};

/* Fields of a descriptor. */
struct kernel_words {
    uint32_t rsrc1, rsrc2, rsrc3;
    uint16_t properties;
    uint16_t preload; /* kernarg_preload */
};

struct kernel_registers {
    uint32_t vgprs;        /* a lane: what is taken of the file, rounded up to the granule */
    uint32_t sgprs;        /* a wavefront, with VCC, FLAT_SCRATCH and XNACK_MASK, rounded up */
    uint32_t accum_offset; /* number of a0; without accumulators: of registers */
    uint32_t stored;       /* vector registers, and accumulators */

    /* Initial scalar registers, in this order, and how many each takes. */
    bool private_segment_buffer; /* 4 */
    bool dispatch_ptr;           /* 2 */
    bool queue_ptr;              /* 2 */
    bool kernarg_ptr;            /* 2 */
    bool dispatch_id;            /* 2 */
    bool flat_scratch_init;      /* 2 */
    bool private_segment_size;   /* 1 */
    bool grid_work_groups[3];    /* 1 each; only in code objects v2 */
    uint32_t preload;            /* dwords of arguments, after all of these */
    uint32_t preload_offset;     /* where they begin in the arguments, in dwords */
    uint32_t user_sgprs;         /* all of these, as the descriptor states it */
    bool work_group_id[3];       /* 1 each */
    bool work_group_info;        /* 1 */
    bool private_wave_offset;    /* 1 */

    uint32_t work_item_dimensions; /* initial vector registers: 1 = x, 2 = x y, 3 = x y z */
    uint32_t float_mode; /* bits 0..7 of MODE: rounding and denormals, 2 bits for each size */
    bool dx10_clamp, ieee_mode, fp16_overflow;
};

/* The words of a 64-byte descriptor. */
struct kernel_words kernel_words_read(const void *descriptor);

void kernel_registers_decode(struct kernel_registers *k, enum kernel_generation generation,
                             const struct kernel_words *words);

#endif
