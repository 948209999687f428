/* The rows of the .tab files, the index from encodings to rows, and the public view of both.
 *
 * The index is built once at load, before main and before any thread; afterwards everything here is
 * read-only. */
#include "isa_table.h"

#include "base/number.h"

enum { NO = -1 };

#define OPERATION_NONE     ISA_OPERATION_NONE
#define OPERATION_INV      ISA_OPERATION_INV
#define OPERATION_WB       ISA_OPERATION_WB
#define OPERATION_SWAP     ISA_ATOMIC_SWAP
#define OPERATION_CMPSWAP  ISA_ATOMIC_CMPSWAP
#define OPERATION_ADD      ISA_ATOMIC_ADD
#define OPERATION_SUB      ISA_ATOMIC_SUB
#define OPERATION_RSUB     ISA_ATOMIC_RSUB
#define OPERATION_SMIN     ISA_ATOMIC_SMIN
#define OPERATION_UMIN     ISA_ATOMIC_UMIN
#define OPERATION_SMAX     ISA_ATOMIC_SMAX
#define OPERATION_UMAX     ISA_ATOMIC_UMAX
#define OPERATION_AND      ISA_ATOMIC_AND
#define OPERATION_OR       ISA_ATOMIC_OR
#define OPERATION_XOR      ISA_ATOMIC_XOR
#define OPERATION_INC      ISA_ATOMIC_INC
#define OPERATION_DEC      ISA_ATOMIC_DEC
#define OPERATION_FCMPSWAP ISA_ATOMIC_FCMPSWAP
#define OPERATION_FMIN     ISA_ATOMIC_FMIN
#define OPERATION_FMAX     ISA_ATOMIC_FMAX
#define OPERATION_FADD     ISA_ATOMIC_FADD
#define OPERATION_PK_F16   ISA_ATOMIC_PK_ADD_F16
#define OPERATION_PK_BF16  ISA_ATOMIC_PK_ADD_BF16

#define MEMORY_TIMING_SMEM    ISA_TIMING_SMEM
#define MEMORY_TIMING_DS      ISA_TIMING_LDS
#define MEMORY_TIMING_MUBUF   ISA_TIMING_VMEM
#define MEMORY_TIMING_MTBUF   ISA_TIMING_VMEM
#define MEMORY_TIMING_FLAT    ISA_TIMING_VMEM
#define MEMORY_TIMING_GLOBAL  ISA_TIMING_VMEM
#define MEMORY_TIMING_SCRATCH ISA_TIMING_VMEM

#define INSTN(m, text, fmt, o8, o9, kind, d, a, b, c, timing, ...)                                 \
    [ISA_OP_##m] = {text,                                                                          \
                    ISA_##fmt,                                                                     \
                    KIND_##kind,                                                                   \
                    ISA_TIMING_##timing,                                                           \
                    ISA_OPERATION_NONE,                                                            \
                    {TYPE_##d, TYPE_##a, TYPE_##b, TYPE_##c},                                      \
                    {o8, o9}},
#define INST(m, ...) INSTN(m, #m, __VA_ARGS__)
#define MEM(m, fmt, o8, o9, kind, type, op)                                                        \
    [ISA_OP_##m] = {#m,                                                                            \
                    ISA_##fmt,                                                                     \
                    KIND_##kind,                                                                   \
                    MEMORY_TIMING_##fmt,                                                           \
                    OPERATION_##op,                                                                \
                    {TYPE_##type, TYPE_NONE, TYPE_NONE, TYPE_NONE},                                \
                    {o8, o9}},

#define THIRD_MFMA(d)   TYPE_##d
#define THIRD_SMFMAC(d) TYPE_U32
#define MAI(name, kind, m, n, k, blocks, a, b, d)                                                  \
    [ISA_OP_##name] = {#name,                                                                      \
                       ISA_VOP3P,                                                                  \
                       KIND_##kind,                                                                \
                       ISA_TIMING_MATRIX,                                                          \
                       ISA_OPERATION_NONE,                                                         \
                       {TYPE_##d, TYPE_##a, TYPE_##b, THIRD_##kind(d)},                            \
                       {NO, NO}},

const struct isa_table_row isa_table[ISA_OP_COUNT] = {
#include "gcn_mai.tab"
#include "gcn_mem.tab"
#include "gcn_sop.tab"
#include "gcn_vop.tab"
#include "gcn_vop3p.tab"
#include "gcn_vopc.tab"
};

#undef INST
#undef INSTN
#undef MEM
#undef MAI

static const struct isa_mai_row mai[] = {
#define MAI(name, kind, m, n, k, blocks, ...) {m, n, k, blocks, KIND_##kind == KIND_SMFMAC},
#include "gcn_mai.tab"
#undef MAI
};

/* ---- types ---- */

unsigned isa_type_dwords(unsigned type)
{
    switch (type) {
    case TYPE_NONE:
        return 0;
    case TYPE_U64:
    case TYPE_I64:
    case TYPE_F64:
    case TYPE_M64:
    case TYPE_REL64:
    case TYPE_B64:
    case TYPE_MASK:
    case TYPE_FXY:
    case TYPE_PF32:
    case TYPE_F32X2:
    case TYPE_P32:
        return 2;
    case TYPE_B96:
    case TYPE_FXYZ:
        return 3;
    case TYPE_V128:
    case TYPE_B128:
    case TYPE_FXYZW:
        return 4;
    case TYPE_B256:
        return 8;
    case TYPE_B512:
        return 16;
    case TYPE_DHFX:
    case TYPE_DFXY:
        return 1;
    case TYPE_DFXYZ:
    case TYPE_DFXYZW:
        return 2;
    default:
        return 1;
    }
}

const struct isa_mai_row *isa_mai_row(unsigned op)
{
    return op >= ISA_OP_MAI_FIRST && op < ISA_OP_COUNT ? &mai[op - ISA_OP_MAI_FIRST] : NULL;
}

static unsigned element_bits(unsigned type)
{
    switch (type) {
    case TYPE_F64:
        return 64;
    case TYPE_F16:
    case TYPE_BF16:
        return 16;
    case TYPE_I8:
    case TYPE_FP8:
    case TYPE_BF8:
        return 8;
    default:
        return 32;
    }
}

unsigned isa_mai_dwords(unsigned op, unsigned operand)
{
    const struct isa_mai_row *row = isa_mai_row(op);
    unsigned k = operand == 1 && row->sparse ? row->k / 2u : row->k;
    unsigned elements = operand == 1   ? row->m * k
                        : operand == 2 ? row->n * k
                                       : (unsigned)row->m * row->n;
    if (operand == 3 && row->sparse)
        return 1;
    return elements * row->blocks * element_bits(isa_table[op].type[operand]) / (32 * ISA_LANES);
}

unsigned isa_kind_shape(unsigned kind)
{
    return kind == KIND_PKMAC ? KIND_MAC : kind;
}

unsigned isa_type_bytes(unsigned type)
{
    switch (type) {
    case TYPE_U8:
    case TYPE_I8:
    case TYPE_D16_U8:
    case TYPE_D16_I8:
    case TYPE_D16_HI_U8:
    case TYPE_D16_HI_I8:
        return 1;
    case TYPE_U16:
    case TYPE_I16:
    case TYPE_D16_U16:
    case TYPE_D16_HI_U16:
        return 2;
    default:
        return isa_type_dwords(type) * 4;
    }
}

unsigned isa_type_components(unsigned type)
{
    switch (type) {
    case TYPE_FX:
    case TYPE_DFX:
    case TYPE_DHFX:
        return 1;
    case TYPE_FXY:
    case TYPE_DFXY:
        return 2;
    case TYPE_FXYZ:
    case TYPE_DFXYZ:
        return 3;
    case TYPE_FXYZW:
    case TYPE_DFXYZW:
        return 4;
    default:
        return 0;
    }
}

bool isa_type_is_d16_format(unsigned type)
{
    return type >= TYPE_DFX && type <= TYPE_DFXYZW;
}

bool isa_type_is_float(unsigned type)
{
    return type == TYPE_F32 || type == TYPE_F64 || type == TYPE_F16 || type == TYPE_M32
           || type == TYPE_M16 || type == TYPE_M64 || type == TYPE_F32X2 || type == TYPE_WF16;
}

static bool is_half(unsigned type)
{
    return type == TYPE_F16 || type == TYPE_U16 || type == TYPE_I16 || type == TYPE_M16;
}

bool isa_row_has_op_sel(const struct isa_table_row *row)
{
    /* The 0x1f1.. range and what follows are gfx9's own; the legacy forms below it and the
     * VOP2/VOP1 ones have none. */
    if (row >= &isa_table[ISA_OP_v_cvt_pk_fp8_f32] && row <= &isa_table[ISA_OP_v_cvt_sr_bf8_f32])
        return true;
    return row->format == ISA_VOP3 && row->opcode[ISA_ENCODING_GFX9] > 0x1f0
           && is_half(row->type[1]);
}

bool isa_row_reads_fp8(const struct isa_table_row *row)
{
    return row >= &isa_table[ISA_OP_v_cvt_f32_fp8] && row <= &isa_table[ISA_OP_v_cvt_pk_f32_bf8];
}

/* ---- index ---- */

enum { OPCODE_MAX = 1024 };

static int16_t find_index[ISA_TARGET_COUNT][ISA_FORMAT_COUNT][OPCODE_MAX]; /* row + 1 */

/* A target's own opcodes, which come before its inherited ones. */
static const struct {
    uint8_t target;
    uint16_t row;
    int16_t opcode;
} overrides[] = {
#define TARGET(...)
#define OPCODE(target, row, opcode) {ISA_##target, ISA_OP_##row, opcode},
#include "components/amd/isa/targets.tab"
#undef TARGET
#undef OPCODE
};

static int16_t opcodes[ISA_TARGET_COUNT][ISA_OP_COUNT];

static void inherit(unsigned target)
{
    static bool done[ISA_TARGET_COUNT];
    unsigned parent = isa_traits[target].parent;
    if (done[target])
        return;
    done[target] = true;
    if (parent != target)
        inherit(parent);
    for (unsigned row = 0; row < ISA_OP_COUNT; row++)
        opcodes[target][row] = parent == target ? isa_table[row].opcode[isa_traits[target].encoding]
                                                : opcodes[parent][row];
    for (unsigned i = 0; i < ARRAY_COUNT(overrides); i++)
        if (overrides[i].target == target)
            opcodes[target][overrides[i].row] = overrides[i].opcode;
}

static void index_row(unsigned target, const struct isa_table_row *row, int16_t value)
{
    int opcode = opcodes[target][row - isa_table];
    if (opcode < 0)
        return;
    find_index[target][row->format][opcode] = value;
    switch (row->format) { /* the VOP3 form, but for those that carry a literal */
    case ISA_VOPC:
        find_index[target][ISA_VOP3][opcode] = value;
        break;
    case ISA_VOP2:
        if (isa_kind_shape(row->kind) != KIND_MK && isa_kind_shape(row->kind) != KIND_AK
            && row != &isa_table[ISA_OP_v_pk_fmac_f16])
            find_index[target][ISA_VOP3][0x100 + opcode] = value;
        break;
    case ISA_VOP1:
        if (row->type[0] != TYPE_A32
            && (row->kind != KIND_X || row->type[0] == TYPE_NONE || row->type[1] == TYPE_VREL
                || row == &isa_table[ISA_OP_v_movreld_b32]))
            find_index[target][ISA_VOP3][0x140 + opcode] = value;
        break;
    default:
        break;
    }
}

__attribute__((constructor)) static void build_index(void)
{
    for (unsigned target = 0; target < ISA_TARGET_COUNT; target++)
        inherit(target);
    for (unsigned target = 0; target < ISA_TARGET_COUNT; target++)
        for (unsigned row = 0; row < ISA_OP_COUNT; row++)
            index_row(target, &isa_table[row], (int16_t)(row + 1));
}

int isa_table_find(enum isa_target target, enum isa_format format, unsigned opcode)
{
    return opcode < OPCODE_MAX ? find_index[target][format][opcode] - 1 : -1;
}

/* ---- public ---- */

const char *isa_mnemonic(const struct isa_inst *inst)
{
    return inst->size && inst->op < ISA_OP_COUNT ? isa_table[inst->op].mnemonic : "invalid";
}

const char *isa_status_text(enum isa_status status)
{
    switch (status) {
    case ISA_OK:
        return "ok";
    case ISA_IS_MEMORY:
        return "memory instruction given to the executing units";
    case ISA_NOT_IMPLEMENTED:
        return "instruction not implemented";
    case ISA_BAD_REGISTER:
        return "register outside the wavefront's allocation";
    case ISA_BAD_RESOURCE:
        return "unsupported buffer resource";
    case ISA_TRAPPED:
        return "trap";
    }
    return "unknown";
}

const char *isa_reason(const struct isa_inst *inst)
{
    unsigned kind = isa_table[inst->op].kind;
    if ((inst->flags & ISA_IS_GDS) || kind == KIND_UNORD)
        return "no GPU here has a global data share (GDS)";
    return "";
}

const char *isa_word_reason(uint32_t word)
{
    return word >> 26 == 0x3c ? "image instructions are not simulated" : "";
}

static enum isa_unit unit_of(const struct isa_table_row *row)
{
    static const uint8_t by_format[ISA_FORMAT_COUNT] = {
        [ISA_SMEM] = ISA_UNIT_SMEM,    [ISA_DS] = ISA_UNIT_LDS,    [ISA_MUBUF] = ISA_UNIT_VMEM,
        [ISA_MTBUF] = ISA_UNIT_VMEM,   [ISA_FLAT] = ISA_UNIT_VMEM, [ISA_GLOBAL] = ISA_UNIT_VMEM,
        [ISA_SCRATCH] = ISA_UNIT_VMEM, [ISA_VOP1] = ISA_UNIT_VALU, [ISA_VOP2] = ISA_UNIT_VALU,
        [ISA_VOPC] = ISA_UNIT_VALU,    [ISA_VOP3] = ISA_UNIT_VALU, [ISA_VOP3P] = ISA_UNIT_VALU,
    };
    if (row->timing == ISA_TIMING_BRANCH)
        return ISA_UNIT_BRANCH;
    if (row->timing == ISA_TIMING_SPECIAL)
        return ISA_UNIT_SPECIAL;
    return (enum isa_unit)by_format[row->format];
}

size_t isa_row_count(void)
{
    return ISA_OP_COUNT;
}

struct isa_row isa_row(size_t index)
{
    struct isa_row out = {0};
    if (index >= ISA_OP_COUNT)
        return out;
    const struct isa_table_row *row = &isa_table[index];
    out.mnemonic = row->mnemonic;
    out.format = (enum isa_format)row->format;
    out.unit = unit_of(row);
    out.timing = (enum isa_timing)row->timing;
    out.is_implemented = isa_row_executable(row);
    for (unsigned target = 0; target < ISA_TARGET_COUNT; target++)
        out.opcode[target] = opcodes[target][index];
    return out;
}
