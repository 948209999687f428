/* The GCN instruction sets: decode, print, execute.
 *
 * The library has no state but read-only tables and the host-CPU variant chosen once at load, so
 * any number of threads may call it. Registers and LDS belong to the caller: a wavefront's scalar
 * state is a plain `struct isa_wave` (no pointers, may be copied and saved), its vector registers
 * and LDS are reached through a transient `struct isa_context`.
 *
 * Life of one instruction in a compute unit:
 *
 *   once an address: isa_decode(target, bytes, n, &inst), kept in a decode cache; then by inst.unit
 *
 *   SALU, VALU, LDS, BRANCH, SPECIAL
 *       isa_execute(ctx, wave, &inst)
 *   SMEM
 *       isa_scalar_address(ctx, wave, &inst, &scalar); pc += inst.size;
 *       when the data is there: isa_scalar_load(wave, &inst, data)
 *   VMEM
 *       isa_memory_addresses(ctx, wave, &inst, &m); pc += inst.size; then by m.kind
 *       load:   when the data is there: isa_memory_load(ctx, &inst, &m, data, stride)
 *       store:  isa_memory_store(ctx, &inst, &m, out, stride)
 *       atomic: isa_memory_store and, for cmpswap, isa_memory_compare_data;
 *               isa_atomic_apply at the cache; if m.returns, isa_memory_load of the old values
 *       lanes of m.lds_mask (flat accesses into the LDS aperture): isa_memory_lds, at once
 *
 * s_waitcnt, s_barrier, s_sleep, s_endpgm and the rest of ISA_UNIT_SPECIAL change nothing here but
 * the pc: the compute unit acts on the flags and fields of the instruction. So do ds_gws_*, whose
 * requests to the GPU's global wave sync isa_sync() returns.
 *
 * Sources of encodings and semantics: AMD "Graphics Core Next Architecture, Generation 3" ISA
 * manual (2016, rev. 1.1), AMD "Vega" ISA manual (2017), LLVM's AMDGPU usage guide. Opcode numbers
 * and operand text are checked against llvm-mc 19.
 *
 * Limits, visible in isa_row() or stated here: images, interpolation and exports do not decode;
 * the global data share decodes and prints but does not execute; isa_reason() says why. There is
 * no trap handler: s_rfe_* jump, and of the hardware registers a program writes MODE and TRAPSTS.
 *
 * Floating point. MODE's rounding, denormals, IEEE and DX10_CLAMP bits hold for fp16, fp32 and
 * fp64. Results are exact values rounded once, but for reciprocals, roots, exponentials,
 * logarithms, sines and cosines, which are within the manuals' units in the last place (isa_math.h)
 * and do not follow MODE's rounding. What the manuals leave open is decided so: the first NaN
 * source results, quietened; a denormal result is one after rounding; omod flushes before and after
 * it scales, and overflows to infinity; v_fract and v_ldexp follow MODE's rounding, v_cvt_pk_u8,
 * v_cvt_norm and v_cvt_pknorm round to nearest even; the mixed multiply-adds take MODE's fp16 bits
 * for halves and its fp32 bits for the sum. Exceptions are never raised. Atomics on floats keep
 * denormals. */
#ifndef HEDDLE_COMPONENTS_AMD_ISA_ISA_H
#define HEDDLE_COMPONENTS_AMD_ISA_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "isa_target.h"

enum { ISA_LANES = 64, ISA_INST_BYTES_MAX = 12, ISA_TEXT_MAX = 256 };

/* ---- decoded instructions ---- */

enum isa_format {
    ISA_SOP2,
    ISA_SOPK,
    ISA_SOP1,
    ISA_SOPC,
    ISA_SOPP,
    ISA_SMEM,
    ISA_VOP2,
    ISA_VOP1,
    ISA_VOPC,
    ISA_VOP3,
    ISA_VOP3P,
    ISA_DS,
    ISA_MUBUF,
    ISA_MTBUF,
    ISA_FLAT,
    ISA_GLOBAL,
    ISA_SCRATCH,
    ISA_FORMAT_COUNT
};

/* The hardware unit that an instruction is issued to. */
enum isa_unit {
    ISA_UNIT_SALU,
    ISA_UNIT_VALU,
    ISA_UNIT_SMEM,
    ISA_UNIT_VMEM,    /* flat, global, scratch, buffer, image */
    ISA_UNIT_LDS,     /* ds_*; also GDS */
    ISA_UNIT_BRANCH,  /* s_branch, s_cbranch_* */
    ISA_UNIT_SPECIAL, /* s_waitcnt, s_barrier, s_endpgm, s_nop, s_sleep, s_sendmsg, exp ... */
    ISA_UNIT_COUNT
};

/* Timing classes; how many cycles a class takes is a parameter of the compute unit. */
enum isa_timing {
    ISA_TIMING_FULL,      /* full-rate VALU: 4 cycles */
    ISA_TIMING_CONVERT,   /* between floats of 32 bits and integers, halves, eighths */
    ISA_TIMING_MULTIPLY,  /* 32-bit integer multiply, 64-bit shift */
    ISA_TIMING_QUARTER,   /* sums of absolute differences of four results */
    ISA_TIMING_TRANS,     /* rcp, rsq, sqrt, exp, log, sin, cos in fp32/fp16: 16 */
    ISA_TIMING_F64_ADD,   /* fp64 add, min, max, compare, convert */
    ISA_TIMING_F64_MUL,   /* fp64 multiply, fma, div_* */
    ISA_TIMING_F64_TRANS, /* fp64 rcp, rsq, sqrt */
    ISA_TIMING_MATRIX,    /* see isa_matrix_passes */
    ISA_TIMING_SALU,
    ISA_TIMING_SMEM,
    ISA_TIMING_VMEM,
    ISA_TIMING_LDS,
    ISA_TIMING_BRANCH,
    ISA_TIMING_SPECIAL,
    ISA_TIMING_COUNT
};

/* Flags of struct isa_inst. */
enum {
    ISA_WRITES_VCC = 1u << 0, /* implicitly or as its scalar destination */
    ISA_WRITES_EXEC = 1u << 1,
    ISA_WRITES_SCC = 1u << 2,
    ISA_RAISES_VM = 1u << 3,   /* issue raises vmcnt; the answer lowers it */
    ISA_RAISES_LGKM = 1u << 4, /* lgkmcnt; flat instructions raise both */
    ISA_IS_WAITCNT = 1u << 6,  /* see wait_vm, wait_lgkm, wait_exp */
    ISA_IS_BARRIER = 1u << 7,
    ISA_IS_ENDPGM = 1u << 8,
    ISA_IS_SLEEP = 1u << 9,   /* simm: in units of 64 cycles */
    ISA_IS_BRANCH = 1u << 10, /* may set the pc: s_branch, s_cbranch*, s_setpc, s_swappc, s_call */
    ISA_IS_LOAD = 1u << 11,
    ISA_IS_STORE = 1u << 12,
    ISA_IS_ATOMIC = 1u << 13,
    ISA_RETURNS = 1u << 14,     /* an atomic that writes its old value to registers */
    ISA_IS_FLAT = 1u << 15,     /* address may fall into the LDS or private aperture */
    ISA_IS_CACHE_OP = 1u << 16, /* s_dcache_*, buffer_wbinvl1*: see isa_cache_op in `cache_op` */
    ISA_IS_TIME = 1u << 17,     /* s_memtime, s_memrealtime */
    ISA_IS_SETPRIO = 1u << 18,  /* simm: priority 0..3 */
    ISA_IS_SENDMSG = 1u << 19,
    ISA_IS_TRAP = 1u << 20,
    ISA_HAS_LITERAL = 1u << 21,
    ISA_IS_SDWA = 1u << 22,
    ISA_IS_DPP = 1u << 23,
    ISA_UNIMPLEMENTED_SEMANTICS = 1u << 24, /* decodes and prints, is never executed */
    ISA_READS_VCC = 1u << 25,
    ISA_IS_GDS = 1u << 26,
    ISA_IS_VOP3_FORM = 1u << 27, /* VOP3-only, or the 64-bit form of a shorter instruction */
    ISA_IS_SWIZZLE = 1u << 28,   /* ds_swizzle_b32: its address operand is data */
    ISA_IS_SYNC = 1u << 29,      /* ds_gws_*: see isa_sync() */
};

enum isa_cache_op {
    ISA_CACHE_NONE,
    ISA_CACHE_INVALIDATE_SCALAR,
    ISA_CACHE_WRITEBACK_SCALAR,
    ISA_CACHE_INVALIDATE_VECTOR, /* buffer_wbinvl1*: the vector L1 */
    ISA_CACHE_ACQUIRE, /* buffer_inv, buffer_invl2: lines that others at the scope have changed */
    ISA_CACHE_RELEASE  /* buffer_wbl2: lines that others at the scope may read are written back */
};

/* Scope of a vector memory operation, numbered as `enum scope` of
 * components/protocols/mem/mem.heddle (asserted in compute_unit/cu_vector_memory.c). */
enum isa_scope { ISA_SCOPE_WAVEFRONT, ISA_SCOPE_WORK_GROUP, ISA_SCOPE_AGENT, ISA_SCOPE_SYSTEM };

enum { ISA_WAIT_NONE = 255 };

/*
 * Operand codes are those of the 9-bit source encoding, for sources and destinations alike: 0..101
 * SGPRs, 102..127 the special scalar registers below, 128..208 inline integers, 240..248 inline
 * floats, 255 the literal, 256..511 VGPRs, 512..767 accumulation registers.
 */
enum {
    ISA_FLAT_SCRATCH = 102,
    ISA_XNACK_MASK = 104,
    ISA_VCC = 106,
    ISA_TTMP0 = 112,
    ISA_M0 = 124,
    ISA_EXEC = 126,
    ISA_VCCZ = 251,
    ISA_EXECZ = 252,
    ISA_SCC = 253,
    ISA_LDS_DIRECT = 254, /* vector instructions; not executable */
    ISA_LITERAL = 255,
    ISA_VGPR = 256,
    ISA_AGPR = 512,
    ISA_OPERAND_NONE = 0xffff
};

/* One decoded instruction: plain data, 64 bytes at most. */
struct isa_inst {
    uint16_t op;    /* row of the instruction table; stable within one build only */
    uint8_t size;   /* bytes: 4, 8, 12 */
    uint8_t format; /* enum isa_format; a VOP1/2/C row keeps its format in its VOP3 form */
    uint8_t unit;   /* enum isa_unit */
    uint8_t timing; /* enum isa_timing */
    uint16_t vgprs; /* 1 + highest VGPR index named, 0 for none */
    uint32_t flags;
    uint32_t literal; /* if ISA_HAS_LITERAL */
    int32_t simm;     /* SOPK/SOPP immediate (sign-extended), memory offset in bytes */
    uint16_t dst;     /* vector or scalar destination, or ISA_OPERAND_NONE */
    uint16_t sdst;    /* second, scalar destination (carry out, VOP3 compare) */
    uint16_t src[3];  /* memory: address VGPR, data, second data; base or resource is in sdst */
    uint16_t soffset; /* memory: scalar offset operand */
    uint8_t sgprs;    /* 1 + highest plain SGPR index named */
    uint8_t abs, neg; /* bit i: source i */
    uint8_t omod, clamp;
    uint8_t opsel;                                 /* VOP3 op_sel; VOP3P: op_sel | op_sel_hi << 4 */
    uint8_t sel_dst, unused_dst, sel_src[2], sext; /* SDWA */
    uint8_t dpp_masks;                             /* row_mask << 4 | bank_mask */
    uint8_t dpp_bound;
    uint16_t dpp_ctrl;
    uint8_t wait_vm, wait_lgkm, wait_exp; /* waits until the counter is <= this; or ISA_WAIT_NONE */
    uint8_t memory;                       /* memory modifiers: ISA_MEM_* */
    uint8_t dwords;      /* memory: registers of data (loads, stores), scalar dwords */
    uint8_t cache_op;    /* enum isa_cache_op */
    uint8_t target;      /* enum isa_target */
    uint8_t format_bits; /* MTBUF: data and number format */
    uint16_t agprs;      /* 1 + highest accumulation register named, 0 for none */
    uint8_t broadcast;   /* MFMA: cbsz | abid << 4; its blgp is in neg */
};

/* Bits of isa_inst.memory. */
enum {
    ISA_MEM_GLC = 1,
    ISA_MEM_SLC = 2,
    ISA_MEM_TFE = 4,
    ISA_MEM_LDS = 8,
    ISA_MEM_OFFEN = 16,
    ISA_MEM_IDXEN = 32,
    ISA_MEM_OFFSET_IS_SGPR = 64, /* SMEM */
    ISA_MEM_SCC = 64,            /* vector memory: scc, or sc1 where GLC is sc0 and SLC is nt */
    ISA_MEM_NV = 128
};

enum { ISA_ERROR_INVALID = -1, ISA_ERROR_UNIMPLEMENTED = -2, ISA_ERROR_TRUNCATED = -3 };

/*
 * Decodes the instruction at `bytes`, of which n are readable. Returns its size; ISA_ERROR_INVALID
 * for no instruction of the target; ISA_ERROR_TRUNCATED when n is too small;
 * ISA_ERROR_UNIMPLEMENTED for a valid one whose semantics are missing: then *out is filled
 * (out->size says how long it is) and isa_format() works. On other errors *out is zeroed. Fields
 * that the hardware ignores are ignored.
 */
int isa_decode(enum isa_target target, const void *bytes, size_t n, struct isa_inst *out);

/* Assembler text in llvm-mc's spelling (branch operands as the raw immediate, as llvm-mc prints
 * them without symbols; with pc != UINT64_MAX the branch target follows as a comment). Returns the
 * length as snprintf does. */
size_t isa_format(const struct isa_inst *inst, uint64_t pc, char *buf, size_t n);

/* Assembler text of the register with the operand code ("v3", "s[4:5]"); the length as above. */
size_t isa_format_register(enum isa_target target, unsigned code, unsigned dwords, char *buf,
                           size_t n);

/* The bare mnemonic ("v_add_f32"), valid for ever. */
const char *isa_mnemonic(const struct isa_inst *inst);

/* Passes of the matrix unit that a matrix instruction takes, 2 to 16 (AMD, matrix instruction
 * calculator; LLVM's scheduling model has the same). */
unsigned isa_matrix_passes(const struct isa_inst *inst);

/* Passes for which a matrix instruction keeps the vector ALU: sparse products for two; those of
 * doubles, and of floats on gfx942, for all; the rest for one (there: "can co-execute with
 * VALU"). */
unsigned isa_matrix_alu_passes(const struct isa_inst *inst);

/* ---- state ---- */

/*
 * Scalar state of one wavefront. sgpr[] is indexed by scalar operand code, so that vcc, exec, m0,
 * flat_scratch and the trap registers live in it too: use the accessors below.
 */
struct isa_wave {
    _Alignas(8) uint32_t sgpr[128];
    uint64_t pc;
    uint32_t mode; /* MODE: [3:0] rounding, [5:4] fp32 denormals, [7:6] fp64/fp16 denormals, [8]
                      dx10_clamp, [9] ieee, [27] vector registers relative to M0, [28] vector
                      instructions are skipped, [31:29] depth of the branch stack */
    uint32_t status, trapsts, hw_id, gpr_alloc, lds_alloc, ib_sts; /* what s_getreg_b32 reads */
    uint32_t xcc_id;                                               /* as well: the compute die */
    uint8_t scc;
    uint8_t trapped; /* s_trap was executed: its id + 1 */
};

/* MODE's FP16_OVFL: conversions to fp8 that overflow give the largest number, not a NaN. */
enum { ISA_MODE_SATURATE = 1 << 23 };
/* Minima and maxima quieten signalling NaNs; output modifiers are ignored. */
enum { ISA_MODE_IEEE = 1 << 9 };

/* MODE bits that change how vector instructions execute: registers relative to M0; not at all. */
enum { ISA_MODE_INDEXED = 1 << 27, ISA_MODE_SKIP = 1 << 28 };

/* MODE of a compute kernel without special directives: fp32 denormals flushed, fp64/fp16 kept,
 * dx10_clamp, ieee. */
enum { ISA_MODE_DEFAULT = 0xc0 | 0x300 };

static inline uint64_t isa_wave_pair(const struct isa_wave *wave, unsigned code)
{
    uint64_t value;
    memcpy(&value, &wave->sgpr[code], sizeof value);
    return value;
}

static inline void isa_wave_set_pair(struct isa_wave *wave, unsigned code, uint64_t value)
{
    memcpy(&wave->sgpr[code], &value, sizeof value);
}

static inline uint64_t isa_wave_exec(const struct isa_wave *wave)
{
    return isa_wave_pair(wave, ISA_EXEC);
}
static inline uint64_t isa_wave_vcc(const struct isa_wave *wave)
{
    return isa_wave_pair(wave, ISA_VCC);
}

/*
 * Registers and memory that one execution may touch. Filled by the caller before a call; nothing in
 * it is kept. Register reg of lane l is vgpr[reg * 64 + l]; aligned to 64 bytes for speed. The
 * aperture bases are full 64-bit addresses whose low 32 bits are zero; 0 switches an aperture off.
 */
struct isa_context {
    uint32_t *vgpr;
    /* Registers allocated to the wavefront; naming a higher one is ISA_BAD_REGISTER. Accumulator a0
     * is register number vgpr_count. */
    uint32_t vgpr_count, agpr_count;
    /* This work-group's allocation, in bytes. Reads beyond it return 0 and writes are dropped, as
     * on hardware. */
    uint32_t lds_size;
    uint8_t *lds;
    uint64_t shared_aperture, private_aperture;
    /* gfx8: base of FLAT_SCRATCH's offset. */
    uint64_t scratch_base;
    /* Cycles: the caller's answer to ISA_SCALAR_TIME, through isa_scalar_load. */
    uint64_t time;
};

/* The number of a vector register or accumulator, by its operand code, in vgpr[]. */
static inline unsigned isa_register(const struct isa_context *ctx, unsigned code)
{
    return code >= ISA_AGPR ? code - ISA_AGPR + ctx->vgpr_count : code - ISA_VGPR;
}

enum isa_status {
    ISA_OK,
    ISA_IS_MEMORY, /* isa_execute was given an SMEM or VMEM instruction and did nothing */
    ISA_NOT_IMPLEMENTED,
    ISA_BAD_REGISTER, /* a VGPR outside the allocation */
    ISA_BAD_RESOURCE, /* a buffer resource of a type that is not a linear or swizzled buffer */
    ISA_TRAPPED,      /* s_trap: wave->trapped holds the id + 1; the pc has moved on */
};

const char *isa_status_text(enum isa_status status);

/* The reason why an instruction with ISA_UNIMPLEMENTED_SEMANTICS has none, or why a word does not
 * decode: a clause; "" if none is given. */
const char *isa_reason(const struct isa_inst *inst);
const char *isa_word_reason(uint32_t word);

/*
 * Executes what touches only registers and LDS, and advances wave->pc. On any status but ISA_OK and
 * ISA_TRAPPED neither registers nor pc have changed.
 */
enum isa_status isa_execute(struct isa_context *ctx, struct isa_wave *wave,
                            const struct isa_inst *inst);

/* ---- global wave sync ---- */

enum isa_sync_operation {
    ISA_SYNC_INIT,
    ISA_SYNC_BARRIER,
    ISA_SYNC_SIGNAL,      /* ds_gws_sema_v */
    ISA_SYNC_SIGNAL_MANY, /* ds_gws_sema_br */
    ISA_SYNC_WAIT,        /* ds_gws_sema_p */
    ISA_SYNC_RELEASE_ALL  /* ds_gws_sema_release_all */
};

enum { ISA_SYNC_RESOURCES = 64 };

struct isa_sync {
    uint8_t operation; /* enum isa_sync_operation */
    /* Below ISA_SYNC_RESOURCES: the offset and M0[21:16] (LLVM, SIISelLowering). */
    uint8_t resource;
    uint32_t value; /* operand of the first active lane, or lane 0 if none is; 0: no operand */
};

/* Finds the request of an instruction with ISA_IS_SYNC. False: there is none, since MODE skips
 * it. */
bool isa_sync(const struct isa_context *ctx, const struct isa_wave *wave,
              const struct isa_inst *inst, struct isa_sync *out);

/* ---- atomics ---- */

/* Numbered as `enum atomic_op` of components/protocols/mem/mem.heddle (asserted in
 * compute_unit/cu_vector_memory.c). */
enum isa_atomic {
    ISA_ATOMIC_SWAP,
    ISA_ATOMIC_CMPSWAP,
    ISA_ATOMIC_ADD,
    ISA_ATOMIC_SUB,
    ISA_ATOMIC_SMIN,
    ISA_ATOMIC_UMIN,
    ISA_ATOMIC_SMAX,
    ISA_ATOMIC_UMAX,
    ISA_ATOMIC_AND,
    ISA_ATOMIC_OR,
    ISA_ATOMIC_XOR,
    ISA_ATOMIC_INC,
    ISA_ATOMIC_DEC,
    ISA_ATOMIC_FCMPSWAP,
    ISA_ATOMIC_FMIN,
    ISA_ATOMIC_FMAX,
    ISA_ATOMIC_FADD,
    ISA_ATOMIC_PK_ADD_F16, /* 4 bytes: two sums */
    ISA_ATOMIC_PK_ADD_BF16,
    ISA_ATOMIC_COUNT
};

/*
 * One atomic step on `bytes` (4 or 8) bytes at memory: old value to *old (may be NULL), memory
 * updated. compare is read by CMPSWAP and FCMPSWAP only. No alignment is needed. The arithmetic is
 * the only definition: LDS and the caches use it.
 */
void isa_atomic_apply(enum isa_atomic op, unsigned bytes, void *memory, const void *operand,
                      const void *compare, void *old);

/* ---- vector memory ---- */

enum isa_memory_kind { ISA_MEMORY_LOAD, ISA_MEMORY_STORE, ISA_MEMORY_ATOMIC, ISA_MEMORY_CACHE_OP };

/*
 * The accesses of one vector-memory instruction. A lane moves `bytes` bytes from/to address[lane],
 * contiguous, unless its bit in swizzle_mask is set and bytes > 4: then its i-th dword is at
 * address[lane] + i * dword_stride (scratch). Where such a lane begins inside of a dword and does
 * not end there (straddle_mask), its bytes are where isa_memory_byte() says. A buffer access out of
 * its resource's range is in no mask: loads of such lanes (zero_mask) return 0, which
 * isa_memory_addresses has already written.
 */
struct isa_memory {
    uint8_t kind;   /* enum isa_memory_kind */
    uint8_t bytes;  /* in memory, a lane: 1, 2, 4, 8, 12, 16 */
    uint8_t atomic; /* enum isa_atomic */
    bool returns;   /* the atomic writes its old value back */
    bool glc, slc;
    uint8_t cache_op; /* enum isa_cache_op */
    uint8_t scope;    /* enum isa_scope: sc0 and sc1; else agent with glc, system with scc and of L2
                         operations */
    uint32_t dword_stride;
    uint64_t mask;     /* active lanes that go to device memory */
    uint64_t lds_mask; /* active flat lanes that fall into LDS: address[lane] is an LDS offset */
    uint64_t swizzle_mask;
    uint64_t straddle_mask; /* lanes of swizzle_mask, of bytes <= 4, too */
    uint64_t zero_mask;
    uint64_t address[ISA_LANES]; /* valid for lanes of mask and lds_mask only */
    /* Steps that isa_memory_store and isa_memory_load do. */
    uint8_t unusual;                    /* ISA_UNUSUAL_*; 0 for most */
    uint8_t data_format, number_format; /* typed: of the buffer */
    uint16_t select;                    /* typed: what each register gets, 3 bits each: 0, 1, 4 to 7
                                           for a component */
    uint32_t lds_base;                  /* LDS: of lane 0; lanes are 4 bytes apart */
    uint64_t short_mask; /* lanes of swizzle_mask of which only the first dwords[lane]
                            dwords lie inside the buffer; the rest reads 0 */
    uint8_t dwords[ISA_LANES];
    uint8_t skew; /* swizzled: an address modulo 4 is that of the private offset plus this */
};

/* Address of byte `i` of the lane's access. */
static inline uint64_t isa_memory_byte(const struct isa_memory *m, unsigned lane, unsigned i)
{
    if (!(m->swizzle_mask >> lane & 1))
        return m->address[lane] + i;
    unsigned begin = (unsigned)(m->address[lane] - m->skew) & 3, at = begin + i;
    return m->address[lane] - begin + (uint64_t)(at / 4) * m->dword_stride + at % 4;
}

/* Address of the byte at an offset of the lane's private memory. */
uint64_t isa_memory_private(uint32_t target, const struct isa_context *context,
                            const struct isa_wave *wave, uint32_t offset, unsigned lane);

enum { ISA_REACH_LINE = 64 };

/* Order of the addresses of the active lanes. */
struct isa_reach {
    uint64_t low, high; /* the lowest and the highest of them */
    uint64_t base;      /* linear: lane l's is base + l * bytes */
    bool is_linear;
    bool stays_in_lines; /* no lane's bytes cross a multiple of ISA_REACH_LINE */
};

/* m->mask is not 0. */
void isa_memory_reach(const struct isa_memory *m, struct isa_reach *out);

/* Bit l: lane l's address is in another line of ISA_REACH_LINE bytes than that of lane l - 1. Bit 0
 * is set. */
uint64_t isa_memory_breaks(const uint64_t address[ISA_LANES]);

/* Offset of each lane's address in its line of ISA_REACH_LINE bytes. */
void isa_memory_offsets(const uint64_t address[ISA_LANES], uint8_t offset[ISA_LANES]);

/* Copies the dword at line + offset[lane] to to + 4 * lane for the lanes `lanes`. Each ends within
 * the line, which has ISA_REACH_LINE bytes. */
void isa_memory_pick(const uint8_t offset[ISA_LANES], uint64_t lanes, const uint8_t *line,
                     uint8_t *to);

/* Distance in dwords from the lowest to the highest LDS address in each group of `lanes` lanes (8,
 * 16 or 32). */
void isa_lds_spans(const uint32_t *address, unsigned lanes, uint32_t *dwords);

/* Sets straddle_mask for `lanes`, which are swizzled. */
void isa_memory_find_straddling(struct isa_memory *m, uint64_t lanes);

/* Properties that make an access more than bytes between memory and registers. */
enum {
    ISA_UNUSUAL_TYPED = 1,  /* elements are converted */
    ISA_UNUSUAL_LDS = 2,    /* LDS takes the place of registers */
    ISA_UNUSUAL_SHORT = 4,  /* short_mask is not 0 */
    ISA_UNUSUAL_STATUS = 8, /* tfe: one more register is written, with 0: all is resident */
};

/* True if a load must see the writes of others at its agent. */
static inline bool isa_is_coherent(const struct isa_inst *inst)
{
    unsigned past =
        isa_traits[inst->target].has_scope_bits ? ISA_MEM_SCC : ISA_MEM_GLC | ISA_MEM_SCC;
    return (inst->memory & past) != 0;
}

/* Describes the accesses as far as the instruction alone defines them: all but masks, which are 0,
 * and addresses. */
void isa_memory_describe(const struct isa_inst *inst, struct isa_memory *out);

/* Computes the accesses of a VMEM instruction. Does not move the pc. */
enum isa_status isa_memory_addresses(struct isa_context *ctx, const struct isa_wave *wave,
                                     const struct isa_inst *inst, struct isa_memory *out);

/*
 * isa_memory_store writes the operands of a store or an atomic as they go to memory: lane l's bytes
 * (m->bytes of them) to out + l * stride, for the lanes of m->mask. isa_memory_load writes loaded
 * bytes, or an atomic's old values, from data + l * stride to registers. Sub-dword stores give
 * their low (or, for d16_hi, high) part, and loads are extended as the instruction says. Unusual
 * accesses convert elements, use LDS in place of registers, or reach beyond a buffer. Of others,
 * these functions read only m->unusual and m->mask.
 */
void isa_memory_store(const struct isa_context *ctx, const struct isa_inst *inst,
                      const struct isa_memory *m, void *out, size_t stride);
void isa_memory_load(struct isa_context *ctx, const struct isa_inst *inst,
                     const struct isa_memory *m, const void *data, size_t stride);

/* Writes the compare operands of cmpswap for the lanes of mask. */
void isa_memory_compare_data(const struct isa_context *ctx, const struct isa_inst *inst,
                             uint64_t mask, void *out, size_t stride);

/* Performs the accesses of memory->lds_mask on ctx->lds, results included. */
void isa_memory_lds(struct isa_context *ctx, const struct isa_inst *inst,
                    const struct isa_memory *memory);

/* ---- LDS ---- */

/* Accesses of an LDS instruction: each active lane accesses `count` times `bytes` bytes, at the
 * address in its register src[0] plus offset[i]. Data of stores: src[1], src[2]. */
struct isa_lds_access {
    uint8_t kind;   /* enum isa_memory_kind: load, store or atomic */
    uint8_t bytes;  /* 1, 2, 4, 8, 12, 16 */
    uint8_t count;  /* 1 or 2 */
    uint8_t atomic; /* enum isa_atomic, or larger: operations that only LDS has */
    bool returns;
    uint32_t offset[2];
};

/* False: it accesses no LDS, or in a way of its own (src2, addtid, append, consume, gws). */
bool isa_lds_access_describe(const struct isa_inst *inst, struct isa_lds_access *out);

/* ---- scalar memory ---- */

enum isa_scalar_kind {
    ISA_SCALAR_LOAD,
    ISA_SCALAR_STORE,
    ISA_SCALAR_TIME,
    ISA_SCALAR_CACHE_OP, /* cache_op ISA_CACHE_NONE: nothing to do */
    ISA_SCALAR_ATOMIC    /* an atomic of 4 * dwords bytes, or of none if `valid` is 0 */
};

struct isa_scalar {
    uint8_t kind;   /* enum isa_scalar_kind */
    uint8_t dwords; /* 1, 2, 4, 8, 16; of which only the first `valid` lie inside a buffer: the rest
                       read 0 */
    uint8_t valid;
    uint8_t cache_op;
    uint8_t atomic;   /* enum isa_atomic */
    bool glc;         /* atomics: the old value goes to the registers */
    uint64_t address; /* a multiple of 4 */
};

/* "scalar load", "scalar store", "scalar atomic". */
const char *isa_scalar_name(const struct isa_scalar *scalar);

enum isa_status isa_scalar_address(const struct isa_context *ctx, const struct isa_wave *wave,
                                   const struct isa_inst *inst, struct isa_scalar *out);

/* Writes inst->dwords words into the destination SGPRs; ISA_SCALAR_TIME: the two words of the time.
 */
void isa_scalar_load(struct isa_wave *wave, const struct isa_inst *inst, const uint32_t *data);
/* Gets the data of a store, or the operand of an atomic, at most 16 words. The comparand of a
 * cmpswap follows it. */
void isa_scalar_store_data(const struct isa_wave *wave, const struct isa_inst *inst, uint32_t *out);

/* ---- the table, and the variants of its code ---- */

struct isa_row {
    const char *mnemonic;
    enum isa_format format;
    int opcode[ISA_TARGET_COUNT]; /* -1: the target does not have it */
    enum isa_unit unit;
    enum isa_timing timing;
    bool is_implemented;
};

/* Rows of all tables, in table order: for coverage pages and tests. */
size_t isa_row_count(void);
struct isa_row isa_row(size_t index);

/*
 * The semantics are compiled for x86-64-v2, x86-64-v3, or both, as the build says. Both give the
 * same bytes; the best that the host can run is chosen at load. isa_variant_select is for tests and
 * benchmarks: false when the host cannot run the variant. Not while others execute.
 */
unsigned isa_variant_count(void);
const char *isa_variant_name(unsigned variant);
unsigned isa_variant_current(void);
bool isa_variant_select(unsigned variant);

#endif
