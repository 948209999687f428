/* Lowers instructions of registers: integer arithmetic, bits, logic, predicates. */
#include "base/number.h"

#include "warp_build.h"

/* The property of the type by which a family of integer operations finds its row. */
enum family { BY_SIZE, BY_SIGN, BY_WIDTH /* 32 or 64 */, ONE };

struct simple {
    uint16_t opcode;
    uint8_t family;
    uint8_t sources;
    uint16_t first; /* enum warp_run */
};

static const struct simple simple[] = {
    {PTX_OP_ADD, BY_SIZE, 2, WARP_RUN_ADD_16},  {PTX_OP_SUB, BY_SIZE, 2, WARP_RUN_SUB_16},
    {PTX_OP_SAD, BY_SIGN, 3, WARP_RUN_SAD_S16}, {PTX_OP_DIV, BY_SIGN, 2, WARP_RUN_DIV_S16},
    {PTX_OP_REM, BY_SIGN, 2, WARP_RUN_REM_S16}, {PTX_OP_ABS, BY_SIZE, 1, WARP_RUN_ABS_16},
    {PTX_OP_NEG, BY_SIZE, 1, WARP_RUN_NEG_16},  {PTX_OP_MIN, BY_SIGN, 2, WARP_RUN_MIN_S16},
    {PTX_OP_MAX, BY_SIGN, 2, WARP_RUN_MAX_S16}, {PTX_OP_POPC, BY_WIDTH, 1, WARP_RUN_POPC_32},
    {PTX_OP_CLZ, BY_WIDTH, 1, WARP_RUN_CLZ_32}, {PTX_OP_BREV, BY_WIDTH, 1, WARP_RUN_BREV_32},
    {PTX_OP_FNS, ONE, 3, WARP_RUN_FNS},         {PTX_OP_AND, BY_SIZE, 2, WARP_RUN_AND_16},
    {PTX_OP_OR, BY_SIZE, 2, WARP_RUN_OR_16},    {PTX_OP_XOR, BY_SIZE, 2, WARP_RUN_XOR_16},
    {PTX_OP_NOT, BY_SIZE, 1, WARP_RUN_NOT_16},  {PTX_OP_CNOT, BY_SIZE, 1, WARP_RUN_CNOT_16},
    {PTX_OP_SHL, BY_SIZE, 2, WARP_RUN_SHL_16},  {PTX_OP_SHR, BY_SIGN, 2, WARP_RUN_SHR_S16},
    {PTX_OP_BFI, BY_WIDTH, 4, WARP_RUN_BFI_32},
};

static enum ptx_type type_of(const struct warp_build *b, unsigned i)
{
    return (enum ptx_type)b->instruction->types[i];
}

static unsigned type_distance(enum family family, enum ptx_type type)
{
    switch (family) {
    case BY_SIZE:
        return warp_size_index(type);
    case BY_SIGN:
        return warp_sign_index(type);
    case BY_WIDTH:
        return ptx_type_bits(type) > 32;
    default:
        return 0;
    }
}

/* Operands from 1 on as sources 1, 2, ... of `op`; shifts and positions are u32. */
static enum ptx_type source_type(const struct warp_build *b, unsigned i)
{
    unsigned opcode = b->instruction->opcode;
    bool position =
        ((opcode == PTX_OP_SHL || opcode == PTX_OP_SHR || opcode == PTX_OP_SZEXT) && i == 2)
        || (opcode == PTX_OP_BFE && i >= 2) || (opcode == PTX_OP_BFI && i >= 3)
        || (opcode == PTX_OP_SHF && i == 3);
    return position ? PTX_U32 : type_of(b, 0);
}

/* Emits run with the instruction's operands; `wide`: of the destination. */
static struct warp_op *emit_sources(struct warp_build *b, enum warp_run run, unsigned sources,
                                    bool wide)
{
    struct warp_value v[5];
    for (unsigned i = 1; i <= sources; i++)
        v[i] = warp_input(b, &b->instruction->operands[i], source_type(b, i));
    v[0] = warp_output(b, &b->instruction->operands[0], wide);
    struct warp_op *op = warp_emit(b, run);
    for (unsigned i = 0; i <= sources; i++)
        warp_use(op, i, v[i]);
    return op;
}

/* ---- integers ---- */

static void lower_multiply(struct warp_build *b)
{
    enum ptx_type type = type_of(b, 0);
    bool adds = b->instruction->opcode == PTX_OP_MAD;
    unsigned size = warp_size_index(type), sign = warp_sign_index(type);
    if (warp_has(b, PTX_MOD_WIDE)) {
        unsigned at = (ptx_type_is_signed(type) ? 0 : 2) + size;
        struct warp_value v[4] = {{0},
                                  warp_input(b, &b->instruction->operands[1], type),
                                  warp_input(b, &b->instruction->operands[2], type),
                                  WARP_VALUE_NONE};
        if (adds)
            v[3] = warp_input(b, &b->instruction->operands[3], size ? PTX_U64 : PTX_U32);
        v[0] = warp_output(b, &b->instruction->operands[0], size != 0);
        warp_emit3(b, warp_run_at(adds ? WARP_RUN_MADWIDE_S16 : WARP_RUN_MULWIDE_S16, at), v[0],
                   v[1], v[2], v[3]);
        return;
    }
    enum warp_run run = warp_run_at(adds ? WARP_RUN_MAD_16 : WARP_RUN_MUL_16, size);
    if (warp_has(b, PTX_MOD_SAT))
        run = WARP_RUN_MADHISAT_S32;
    else if (warp_has(b, PTX_MOD_HI))
        run = warp_run_at(adds ? WARP_RUN_MADHI_S16 : WARP_RUN_MULHI_S16, sign);
    emit_sources(b, run, adds ? 3 : 2, size == 2);
}

/* mul24, mad24: a product, and a sum of its own. */
static void lower_24(struct warp_build *b)
{
    bool is_signed = ptx_type_is_signed(type_of(b, 0)), high = warp_has(b, PTX_MOD_HI);
    enum warp_run run = warp_run_at(high ? WARP_RUN_MUL24HI_S32 : WARP_RUN_MUL24LO_S32, !is_signed);
    if (b->instruction->opcode == PTX_OP_MUL24) {
        emit_sources(b, run, 2, false);
        return;
    }
    struct warp_value product = warp_temporary(b, WARP_NARROW),
                      x = warp_input(b, &b->instruction->operands[1], PTX_U32),
                      y = warp_input(b, &b->instruction->operands[2], PTX_U32),
                      z = warp_input(b, &b->instruction->operands[3], PTX_U32);
    warp_emit2(b, run, product, x, y);
    warp_emit2(b, warp_has(b, PTX_MOD_SAT) ? WARP_RUN_ADDSAT_S32 : WARP_RUN_ADD_32,
               warp_output(b, &b->instruction->operands[0], false), product, z);
}

/* add.cc, addc, sub.cc, subc, mad.cc, madc: by the condition code. */
static void lower_carry(struct warp_build *b)
{
    const struct ptx_instruction *in = b->instruction;
    enum ptx_type type = type_of(b, 0);
    bool wide = ptx_type_bits(type) == 64, reads = in->opcode == PTX_OP_ADDC
                                                   || in->opcode == PTX_OP_SUBC
                                                   || in->opcode == PTX_OP_MADC;
    bool subtracts = in->opcode == PTX_OP_SUB || in->opcode == PTX_OP_SUBC;
    struct warp_value x = warp_input(b, &in->operands[1], type),
                      y = warp_input(b, &in->operands[2], type);
    if (in->opcode == PTX_OP_MAD || in->opcode == PTX_OP_MADC) {
        struct warp_value product = warp_temporary(b, wide ? WARP_WIDE : WARP_NARROW);
        enum warp_run run = warp_has(b, PTX_MOD_HI)
                                ? warp_run_at(WARP_RUN_MULHI_S16, warp_sign_index(type))
                                : warp_run_at(WARP_RUN_MUL_16, warp_size_index(type));
        warp_emit2(b, run, product, x, y);
        x = product;
        y = warp_input(b, &in->operands[3], type);
    }
    enum warp_run run =
        warp_run_at(subtracts ? WARP_RUN_SUBCC_32 : WARP_RUN_ADDCC_32, 2 * reads + wide);
    struct warp_op *op = warp_emit2(b, run, warp_output(b, &in->operands[0], wide), x, y);
    op->combine = warp_has(b, PTX_MOD_CC);
}

static enum warp_run bit_field(const struct warp_build *b)
{
    const struct ptx_instruction *in = b->instruction;
    enum ptx_type type = type_of(b, 0);
    bool is_signed = ptx_type_is_signed(type), wide = ptx_type_bits(type) == 64;
    switch (in->opcode) {
    case PTX_OP_BFE:
        return warp_run_at(WARP_RUN_BFE_S32, (is_signed ? 0 : 2) + wide);
    case PTX_OP_BFIND:
        return warp_run_at(warp_has(b, PTX_MOD_SHIFTAMT) ? WARP_RUN_BFINDSHIFT_S32
                                                         : WARP_RUN_BFIND_S32,
                           (is_signed ? 0 : 2) + wide);
    case PTX_OP_BMSK:
        return warp_has(b, PTX_MOD_CLAMP) ? WARP_RUN_BMSK_CLAMP : WARP_RUN_BMSK_WRAP;
    case PTX_OP_SZEXT:
        return warp_run_at(warp_has(b, PTX_MOD_CLAMP) ? WARP_RUN_SZEXT_CLAMP_S32
                                                      : WARP_RUN_SZEXT_WRAP_S32,
                           !is_signed);
    case PTX_OP_SHF:
        return warp_run_at(warp_has(b, PTX_MOD_L) ? WARP_RUN_SHF_L_CLAMP : WARP_RUN_SHF_R_CLAMP,
                           warp_has(b, PTX_MOD_WRAP));
    case PTX_OP_PRMT: {
        static const enum ptx_modifier mode[] = {PTX_MOD_F4E, PTX_MOD_B4E, PTX_MOD_RC8,
                                                 PTX_MOD_ECL, PTX_MOD_ECR, PTX_MOD_RC16};
        for (unsigned i = 0; i < 6; i++)
            if (warp_has(b, mode[i]))
                return warp_run_at(WARP_RUN_PRMT_F4E, i);
        return WARP_RUN_PRMT;
    }
    case PTX_OP_DP4A:
        return warp_run_at(WARP_RUN_DP4A_SS,
                           (is_signed ? 0 : 2) + !ptx_type_is_signed(type_of(b, 1)));
    default:
        return warp_run_at(WARP_RUN_DP2A_SS,
                           (is_signed ? 0 : 2) + !ptx_type_is_signed(type_of(b, 1)));
    }
}

static void lower_bit_field(struct warp_build *b)
{
    const struct ptx_instruction *in = b->instruction;
    enum warp_run run = bit_field(b);
    bool wide = ptx_type_bits(type_of(b, 0)) == 64 && in->opcode == PTX_OP_BFE;
    if (in->opcode != PTX_OP_DP2A || warp_has(b, PTX_MOD_LO)) {
        emit_sources(b, run, in->operand_count - 1u, wide);
        return;
    }
    struct warp_value upper = warp_temporary(b, WARP_NARROW),
                      a = warp_input(b, &in->operands[1], PTX_U32),
                      y = warp_input(b, &in->operands[2], PTX_U32),
                      c = warp_input(b, &in->operands[3], PTX_U32);
    warp_emit1(b, WARP_RUN_EXTRACT_32_16, upper, y)->value = 16;
    warp_emit3(b, run, warp_output(b, &in->operands[0], false), a, upper, c);
}

/* lop3: with .and or .or a predicate as well. */
static void lower_lop3(struct warp_build *b)
{
    const struct ptx_instruction *in = b->instruction;
    struct warp_value first, second;
    struct warp_value x = warp_input(b, &in->operands[1], PTX_B32),
                      y = warp_input(b, &in->operands[2], PTX_B32),
                      z = warp_input(b, &in->operands[3], PTX_B32);
    warp_outputs(b, &in->operands[0], false, &first, &second);
    if (first.bank == WARP_BANK_NONE)
        first = warp_temporary(b, WARP_NARROW);
    warp_emit3(b, WARP_RUN_LOP3, first, x, y, z)->value = in->operands[4].bits;
    if (in->operand_count < 6 || second.bank == WARP_BANK_NONE)
        return;
    struct warp_value input = warp_input_predicate(b, &in->operands[5]);
    struct warp_op *op =
        warp_emit3(b, warp_has(b, PTX_MOD_AND) ? WARP_RUN_LOP3_AND : WARP_RUN_LOP3_OR,
                   WARP_VALUE_NONE, first, WARP_VALUE_NONE, input);
    warp_use(op, 4, second);
    op->effect = WARP_SECOND;
}

static void lower_predicates(struct warp_build *b)
{
    const struct ptx_instruction *in = b->instruction;
    enum warp_run run = WARP_RUN_PREDICATE_MOV;
    if (in->opcode == PTX_OP_AND)
        run = WARP_RUN_PREDICATE_AND;
    else if (in->opcode == PTX_OP_OR)
        run = WARP_RUN_PREDICATE_OR;
    else if (in->opcode == PTX_OP_XOR)
        run = WARP_RUN_PREDICATE_XOR;
    struct warp_op *op = warp_emit(b, run);
    warp_use(op, 0, warp_output(b, &in->operands[0], false));
    for (unsigned i = 1; i < in->operand_count; i++) {
        struct warp_value v = warp_input_predicate(b, &in->operands[i]);
        bool negated = v.negated != (in->opcode == PTX_OP_NOT);
        v.negated = false;
        warp_use(op, i, v);
        op->value |= (uint64_t)negated << i;
    }
}

static enum warp_run packed_integer_run(unsigned opcode, bool is_signed)
{
    switch (opcode) {
    case PTX_OP_ADD:
        return WARP_RUN_ADD_16X2;
    case PTX_OP_SUB:
        return WARP_RUN_SUB_16X2;
    case PTX_OP_MIN:
        return is_signed ? WARP_RUN_MIN_S16X2 : WARP_RUN_MIN_U16X2;
    default:
        return is_signed ? WARP_RUN_MAX_S16X2 : WARP_RUN_MAX_U16X2;
    }
}

static void lower_packed_integers(struct warp_build *b)
{
    const struct ptx_instruction *in = b->instruction;
    struct warp_value d = warp_output(b, &in->operands[0], false);
    emit_sources(b, packed_integer_run(in->opcode, type_of(b, 0) == PTX_S16X2), 2, false);
    if (warp_has(b, PTX_MOD_RELU))
        warp_emit1(b, WARP_RUN_RELU_S16X2, d, d);
}

/* Lowers instructions of the table, with and without saturation. */
static void lower_simple(struct warp_build *b)
{
    const struct ptx_instruction *in = b->instruction;
    enum ptx_type type = type_of(b, 0);
    if (warp_has(b, PTX_MOD_SAT)) {
        emit_sources(b, in->opcode == PTX_OP_ADD ? WARP_RUN_ADDSAT_S32 : WARP_RUN_SUBSAT_S32, 2,
                     false);
        return;
    }
    for (size_t i = 0; i < ARRAY_COUNT(simple); i++) {
        const struct simple *s = &simple[i];
        if (s->opcode != in->opcode)
            continue;
        bool narrow_result = in->opcode == PTX_OP_POPC || in->opcode == PTX_OP_CLZ;
        emit_sources(
            b, warp_run_at((enum warp_run)s->first, type_distance((enum family)s->family, type)),
            s->sources, ptx_type_bits(type) > 32 && !narrow_result);
        if (warp_has(b, PTX_MOD_RELU)) {
            struct warp_value d = warp_output(b, &in->operands[0], false);
            warp_emit1(b, WARP_RUN_RELU_S32, d, d);
        }
        return;
    }
    b->missing = true;
}

void warp_lower_arithmetic(struct warp_build *b)
{
    const struct ptx_instruction *in = b->instruction;
    enum ptx_type type = type_of(b, 0);
    if (type == PTX_PRED) {
        lower_predicates(b);
        return;
    }
    if (ptx_type_is_float(type)) {
        warp_lower_float(b);
        return;
    }
    if (warp_has(b, PTX_MOD_CC) || in->opcode == PTX_OP_ADDC || in->opcode == PTX_OP_SUBC
        || in->opcode == PTX_OP_MADC) {
        lower_carry(b);
        return;
    }
    if (type == PTX_S16X2 || type == PTX_U16X2) {
        lower_packed_integers(b);
        return;
    }
    switch (in->opcode) {
    case PTX_OP_MUL:
    case PTX_OP_MAD:
        lower_multiply(b);
        return;
    case PTX_OP_MUL24:
    case PTX_OP_MAD24:
        lower_24(b);
        return;
    case PTX_OP_LOP3:
        lower_lop3(b);
        return;
    case PTX_OP_BFE:
    case PTX_OP_BFIND:
    case PTX_OP_BMSK:
    case PTX_OP_SZEXT:
    case PTX_OP_SHF:
    case PTX_OP_PRMT:
    case PTX_OP_DP4A:
    case PTX_OP_DP2A:
        lower_bit_field(b);
        return;
    default:
        lower_simple(b);
    }
}
