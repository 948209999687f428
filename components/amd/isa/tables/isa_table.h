/* The instruction tables as C: operation numbers, kinds, types, rows. Private to
 * components/amd/isa.
 *
 * The .tab files are the single truth; everything here is their expansion. An operation's number is
 * its place in gcn_sop.tab, gcn_vop.tab, gcn_vopc.tab, gcn_vop3p.tab, gcn_mem.tab and gcn_mai.tab,
 * in this order, so that a switch over one group is dense. */
#ifndef HEDDLE_COMPONENTS_AMD_ISA_TABLES_ISA_TABLE_H
#define HEDDLE_COMPONENTS_AMD_ISA_TABLES_ISA_TABLE_H

#include "components/amd/isa/isa.h"

enum isa_op {
#define INST(m, ...)  ISA_OP_##m,
#define INSTN(m, ...) ISA_OP_##m,
#define MEM(m, ...)   ISA_OP_##m,
#define MAI(m, ...)   ISA_OP_##m,
#include "gcn_sop.tab"
    ISA_OP_VALU_FIRST,
    ISA_OP_BEFORE_VALU = ISA_OP_VALU_FIRST - 1,
#include "gcn_vop.tab"
#include "gcn_vop3p.tab"
#include "gcn_vopc.tab"
    ISA_OP_MEM_FIRST,
    ISA_OP_BEFORE_MEM = ISA_OP_MEM_FIRST - 1,
#include "gcn_mem.tab"
    ISA_OP_MAI_FIRST,
    ISA_OP_BEFORE_MAI = ISA_OP_MAI_FIRST - 1,
#include "gcn_mai.tab"
#undef INST
#undef INSTN
#undef MEM
#undef MAI
    ISA_OP_COUNT
};

/* The kinds explained at the head of the table files. */
enum isa_kind {
    KIND_S,
    KIND_SC,
    KIND_SX,
    KIND_SCD,
    KIND_SRC,
    KIND_SRL,
    KIND_SRD,
    KIND_BR,
    KIND_P,
    KIND_V,
    KIND_MAC,
    KIND_MK,
    KIND_AK,
    KIND_CO,
    KIND_CIO,
    KIND_CI,
    KIND_VI,
    KIND_SD,
    KIND_X,
    KIND_CMP,
    KIND_CMPX,
    KIND_MFMA,
    KIND_SMFMAC,
    KIND_PK,
    KIND_PKMAC,
    KIND_ACC,
    KIND_FP8,
    KIND_MIX,
    KIND_LOAD,
    KIND_STORE,
    KIND_ATOMIC,
    KIND_CACHE,
    KIND_SLOAD,
    KIND_SBLOAD,
    KIND_SSTORE,
    KIND_SBSTORE,
    KIND_STIME,
    KIND_SCACHE,
    KIND_LOAD2,
    KIND_LOAD2ST,
    KIND_STORE2,
    KIND_STORE2ST,
    KIND_RTN,
    KIND_CMPST,
    KIND_CMPST_RTN,
    KIND_MSKOR,
    KIND_MSKOR_RTN,
    KIND_XCHG2,
    KIND_XCHG2ST,
    KIND_WRAP,
    KIND_SWIZZLE,
    KIND_PERMUTE,
    KIND_BPERMUTE,
    KIND_APPEND,
    KIND_CONSUME,
    KIND_LOADTID,
    KIND_STORETID,
    KIND_NOP,
    KIND_CONDXCHG,
    KIND_SRC2,
    KIND_WRSRC2,
    KIND_FLOAD,
    KIND_FSTORE,
    KIND_STORELDS,
    KIND_LOADLDS,
    KIND_SATOMIC,
    KIND_SBATOMIC,
    KIND_SSCRLOAD,
    KIND_SSCRSTORE,
    KIND_SPROBE,
    KIND_SBPROBE,
    KIND_SDISCARD,
    KIND_GWS,
    KIND_GWSV,
    /* From here on: known, not executable. */
    KIND_UN,
    KIND_UNORD
};

enum isa_type {
    TYPE_NONE,
    TYPE_U32,
    TYPE_I32,
    TYPE_U16,
    TYPE_I16,
    TYPE_U64,
    TYPE_I64,
    TYPE_F32,
    TYPE_F64,
    TYPE_F16,
    TYPE_M32,
    TYPE_M16,
    TYPE_M64,
    TYPE_P16,
    TYPE_PF16,
    TYPE_V128,
    TYPE_SREG,
    TYPE_VREL,
    TYPE_MASK,
    TYPE_IMM,
    TYPE_UIMM,
    TYPE_HWREG,
    TYPE_REL,
    TYPE_REL64,
    TYPE_REL16,
    TYPE_WAIT,
    TYPE_MSG,
    TYPE_IDXIMM,
    TYPE_U8,
    TYPE_I8,
    TYPE_D16_U8,
    TYPE_D16_I8,
    TYPE_D16_U16,
    TYPE_D16_HI_U8,
    TYPE_D16_HI_I8,
    TYPE_D16_HI_U16,
    TYPE_B32,
    TYPE_B64,
    TYPE_B96,
    TYPE_B128,
    TYPE_B256,
    TYPE_B512,
    TYPE_FX,
    TYPE_FXY,
    TYPE_FXYZ,
    TYPE_FXYZW,
    TYPE_DFX,
    TYPE_DHFX,
    TYPE_DFXY,
    TYPE_DFXYZ,
    TYPE_DFXYZW,
    TYPE_A32,   /* an accumulation register */
    TYPE_PF32,  /* two floats in a pair of registers */
    TYPE_P32,   /* two words in one */
    TYPE_F32X2, /* the same, as one result */
    TYPE_WF16,  /* a word of two halves; constants are those of one */
    TYPE_W16,
    TYPE_XF32, /* elements of matrices, as TYPE_F16, TYPE_F32, TYPE_F64, TYPE_I8 and TYPE_I32 are */
    TYPE_BF16,
    TYPE_FP8,
    TYPE_BF8
};

enum {
    ISA_ATOMIC_RSUB = ISA_ATOMIC_COUNT,
    ISA_OPERATION_NONE,
    ISA_OPERATION_INV,
    ISA_OPERATION_WB
};

struct isa_table_row {
    const char *mnemonic;
    uint8_t format, kind, timing, operation; /* operation: enum isa_atomic or ISA_OPERATION_* */
    uint8_t type[4];                         /* dst, src0..2; memory: type[0] is the element */
    int16_t opcode[ISA_ENCODING_COUNT];      /* opcodes of the targets without a parent; -1: none */
};

extern const struct isa_table_row isa_table[ISA_OP_COUNT];

/* Columns of gcn_mai.tab beyond types. */
struct isa_mai_row {
    uint8_t m, n, k, blocks;
    bool sparse;
};

/* The matrix columns of a row from ISA_OP_MAI_FIRST on; NULL for others. */
const struct isa_mai_row *isa_mai_row(unsigned op);

/* Registers of an operand of a matrix row: 0 the destination, 1 A, 2 B, 3 C (or the index). */
unsigned isa_mai_dwords(unsigned op, unsigned operand);

/* The kind whose operands and text a kind has: MAC of PKMAC, itself of most. */
unsigned isa_kind_shape(unsigned kind);

/* Row of an encoding, or -1. VOP3 opcodes include those of the VOP3 forms of VOPC, VOP2 and VOP1.
 */
int isa_table_find(enum isa_target target, enum isa_format format, unsigned opcode);

/* Registers (dwords) that a value of the type takes. */
unsigned isa_type_dwords(unsigned type);
unsigned isa_type_bytes(unsigned type); /* in memory */

/* Components of a type of typed buffers (FX to DFXYZW), 1 to 4; 0 for other types. */
unsigned isa_type_components(unsigned type);
bool isa_type_is_d16_format(unsigned type);
bool isa_type_is_float(unsigned type); /* takes abs and neg, omod */

/* gfx9 VOP3 instructions whose sources may be the upper halves of registers. */
bool isa_row_has_op_sel(const struct isa_table_row *row);

/* Conversions from fp8 and bf8: their SDWA forms write whole registers. */
bool isa_row_reads_fp8(const struct isa_table_row *row);

/* Rows with integer results that `clamp` limits, but for those with a carry, which all do; others
 * ignore it. */
bool isa_op_saturates(unsigned op);

/* Replaces the wrapped results of 64 lanes by limited ones; sources as the row's kernel takes them.
 */
void isa_clamp_result(unsigned op, uint32_t *result, const uint32_t *a, const uint32_t *b,
                      const uint32_t *c);

static inline bool isa_row_executable(const struct isa_table_row *row)
{
    return row->kind < KIND_UN;
}

#endif
