/* Lowers setp, set, testp, selp and slct. */
#include "base/number.h"

#include "warp_build.h"

/* A comparison's rows: integers by sign and size, f32 and f64. */
struct comparison {
    uint16_t modifier;
    uint16_t integer; /* enum warp_run; 0: of floats only */
    uint16_t single;  /* 0: of integers only */
    bool is_unsigned;
};

static const struct comparison comparisons[] = {
    {PTX_MOD_EQ, WARP_RUN_SETP_EQ_S16, WARP_RUN_SETP_EQ_F32, false},
    {PTX_MOD_NE, WARP_RUN_SETP_NE_S16, WARP_RUN_SETP_NE_F32, false},
    {PTX_MOD_LT, WARP_RUN_SETP_LT_S16, WARP_RUN_SETP_LT_F32, false},
    {PTX_MOD_LE, WARP_RUN_SETP_LE_S16, WARP_RUN_SETP_LE_F32, false},
    {PTX_MOD_GT, WARP_RUN_SETP_GT_S16, WARP_RUN_SETP_GT_F32, false},
    {PTX_MOD_GE, WARP_RUN_SETP_GE_S16, WARP_RUN_SETP_GE_F32, false},
    {PTX_MOD_LO, WARP_RUN_SETP_LT_S16, 0, true},
    {PTX_MOD_LS, WARP_RUN_SETP_LE_S16, 0, true},
    {PTX_MOD_HI, WARP_RUN_SETP_GT_S16, 0, true},
    {PTX_MOD_HS, WARP_RUN_SETP_GE_S16, 0, true},
    {PTX_MOD_EQU, 0, WARP_RUN_SETP_EQU_F32, false},
    {PTX_MOD_NEU, 0, WARP_RUN_SETP_NEU_F32, false},
    {PTX_MOD_LTU, 0, WARP_RUN_SETP_LTU_F32, false},
    {PTX_MOD_LEU, 0, WARP_RUN_SETP_LEU_F32, false},
    {PTX_MOD_GTU, 0, WARP_RUN_SETP_GTU_F32, false},
    {PTX_MOD_GEU, 0, WARP_RUN_SETP_GEU_F32, false},
    {PTX_MOD_NUM, 0, WARP_RUN_SETP_NUM_F32, false},
    {PTX_MOD_NAN, 0, WARP_RUN_SETP_NAN_F32, false},
};

static enum ptx_type type_of(const struct warp_build *b, unsigned i)
{
    return (enum ptx_type)b->instruction->types[i];
}

static bool is_pair(enum ptx_type t)
{
    return t == PTX_F16X2 || t == PTX_BF16X2;
}

static bool is_half(enum ptx_type t)
{
    return t == PTX_F16 || t == PTX_BF16 || is_pair(t);
}

static enum warp_run comparison_run(struct warp_build *b, enum ptx_type type)
{
    enum ptx_modifier m = ptx_one_of(b->instruction, PTX_GROUP_COMPARE);
    for (size_t i = 0; i < ARRAY_COUNT(comparisons); i++) {
        const struct comparison *c = &comparisons[i];
        if (c->modifier != m)
            continue;
        uint16_t run = ptx_type_is_float(type) ? c->single : c->integer;
        if (!run)
            break;
        unsigned distance;
        if (ptx_type_is_float(type))
            distance = type == PTX_F64;
        else
            distance = c->is_unsigned ? 3 + warp_size_index(type) : warp_sign_index(type);
        return warp_run_at((enum warp_run)run, distance);
    }
    b->missing = true;
    return WARP_RUN_NOP;
}

/* A half of a pair, or a half alone, as f32. */
static struct warp_value half_value(struct warp_build *b, struct warp_value v, enum ptx_type type,
                                    bool high)
{
    struct warp_value x = v, d = warp_temporary(b, WARP_NARROW);
    bool bfloat = type == PTX_BF16 || type == PTX_BF16X2;
    if (ptx_has(b->instruction, PTX_MOD_FTZ)) {
        x = warp_temporary(b, WARP_NARROW);
        warp_emit1(b, warp_run_at(WARP_RUN_HFLUSH_F16, bfloat ? 3 : 1), x, v);
    }
    warp_emit1(b, warp_run_at(high ? WARP_RUN_VALUE_HIGH_F16 : WARP_RUN_VALUE_F16, bfloat), d, x);
    return d;
}

/* p and q of the comparison of operands 1 and 2; operand 3 is the predicate to combine with. */
static void emit_comparison(struct warp_build *b, enum ptx_type type, struct warp_value p,
                            struct warp_value q, bool high)
{
    static const struct warp_choice combine[] = {
        {PTX_MOD_AND, WARP_AND}, {PTX_MOD_OR, WARP_OR}, {PTX_MODIFIER_NONE, WARP_XOR}};
    const struct ptx_instruction *in = b->instruction;
    enum warp_run run = comparison_run(b, type);
    struct warp_value x = warp_input(b, &in->operands[1], type),
                      y = warp_input(b, &in->operands[2], type), input = WARP_VALUE_NONE;
    if (is_half(type)) {
        x = half_value(b, x, type, high);
        y = half_value(b, y, type, high);
    }
    if (in->operand_count > 3)
        input = warp_input_predicate(b, &in->operands[3]);
    struct warp_op *op = warp_emit3(b, run, p, x, y, input);
    warp_use(op, 4, q);
    op->effect = WARP_SECOND;
    op->combine = in->operand_count > 3 ? (uint8_t)warp_choose(b, combine) : WARP_SET;
    op->control = ptx_has(in, PTX_MOD_FTZ) && type == PTX_F32 ? WARP_FLUSH : 0;
}

static void lower_setp(struct warp_build *b)
{
    struct warp_value p, q;
    enum ptx_type type = type_of(b, 0);
    warp_outputs(b, &b->instruction->operands[0], false, &p, &q);
    if (b->instruction->operands[0].kind == PTX_OPERAND_SINK)
        p = WARP_VALUE_NONE;
    if (!is_pair(type)) {
        emit_comparison(b, type, p, q, false);
        return;
    }
    emit_comparison(b, type, p, WARP_VALUE_NONE, false);
    emit_comparison(b, type, q, WARP_VALUE_NONE, true);
}

/* The bits of a result where the comparison is true. */
static uint32_t true_bits(enum ptx_type result)
{
    switch (result) {
    case PTX_F32:
        return 0x3f800000;
    case PTX_F16:
    case PTX_F16X2:
        return 0x3c00;
    case PTX_BF16:
    case PTX_BF16X2:
        return 0x3f80;
    default:
        return ptx_type_bits(result) == 16 ? 0xffff : UINT32_MAX;
    }
}

/* All ones, or 1.0, where the predicate is true. */
static void lower_set(struct warp_build *b)
{
    const struct ptx_instruction *in = b->instruction;
    enum ptx_type result = type_of(b, 0), type = type_of(b, 1);
    struct warp_value p = warp_temporary(b, WARP_PREDICATE);
    uint32_t one = true_bits(result);
    emit_comparison(b, type, p, WARP_VALUE_NONE, false);
    struct warp_value zero = warp_constant(b, 0, false),
                      d = warp_output(b, &in->operands[0], false);
    if (!is_pair(type)) {
        warp_emit3(b, WARP_RUN_SELP_32, d, warp_constant(b, one, false), zero, p);
        return;
    }
    one = is_pair(result) ? one : 0xffff;
    struct warp_value low = warp_temporary(b, WARP_NARROW), high = warp_temporary(b, WARP_NARROW);
    warp_emit3(b, WARP_RUN_SELP_32, low, warp_constant(b, one, false), zero, p);
    emit_comparison(b, type, p, WARP_VALUE_NONE, true);
    warp_emit3(b, WARP_RUN_SELP_32, high, warp_constant(b, one, false), zero, p);
    warp_emit2(b, WARP_RUN_PACK_16, d, low, high);
}

static void lower_testp(struct warp_build *b)
{
    static const enum ptx_modifier test[] = {PTX_MOD_FINITE, PTX_MOD_INFINITE,
                                             PTX_MOD_NUMBER, PTX_MOD_NOTANUMBER,
                                             PTX_MOD_NORMAL, PTX_MOD_SUBNORMAL};
    unsigned wide = type_of(b, 0) == PTX_F64;
    for (unsigned i = 0; i < 6; i++) {
        if (!ptx_has(b->instruction, test[i]))
            continue;
        struct warp_value x = warp_input(b, &b->instruction->operands[1], type_of(b, 0));
        warp_emit2(b, warp_run_at(WARP_RUN_TESTP_FINITE_32, 2 * i + wide),
                   warp_output(b, &b->instruction->operands[0], false), x, x);
        return;
    }
    b->missing = true;
}

static void lower_select(struct warp_build *b)
{
    const struct ptx_instruction *in = b->instruction;
    enum ptx_type type = type_of(b, 0);
    bool wide = ptx_type_bits(type) > 32;
    struct warp_value x = warp_input(b, &in->operands[1], type),
                      y = warp_input(b, &in->operands[2], type), c;
    enum warp_run run = WARP_RUN_SELP_32;
    if (in->opcode == PTX_OP_SELP) {
        c = warp_input_predicate(b, &in->operands[3]);
    } else {
        c = warp_input(b, &in->operands[3], type_of(b, 1));
        if (ptx_has(in, PTX_MOD_FTZ)) {
            struct warp_value full = c;
            c = warp_temporary(b, WARP_NARROW);
            warp_emit1(b, WARP_RUN_FLUSH_F32, c, full);
        }
        run = type_of(b, 1) == PTX_F32 ? WARP_RUN_SLCT_32_F32 : WARP_RUN_SLCT_32_S32;
    }
    warp_emit3(b, warp_run_at(run, wide), warp_output(b, &in->operands[0], wide), x, y, c);
}

void warp_lower_compare(struct warp_build *b)
{
    switch (b->instruction->opcode) {
    case PTX_OP_SETP:
        lower_setp(b);
        return;
    case PTX_OP_SET:
        lower_set(b);
        return;
    case PTX_OP_TESTP:
        lower_testp(b);
        return;
    default:
        lower_select(b);
    }
}
