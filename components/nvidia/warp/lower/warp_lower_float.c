/* Lowers instructions on floating-point numbers.
 *
 * An instruction is an operation in the unmodified form and others around it: inputs and results
 * flushed (halves; f32 where the operation is of bits), saturated, made not negative. */
#include "base/number.h"

#include "warp_build.h"

struct row {
    uint16_t opcode;
    uint8_t sources;
    bool of_bits;    /* the host's control word has no effect on denormals */
    uint16_t single; /* enum warp_run: f32, followed by f64 if there is one */
    uint16_t half;   /* F16, F16X2, BF16, BF16X2; 0: none */
};

static const struct row rows[] = {
    {PTX_OP_ADD, 2, false, WARP_RUN_ADD_F32, WARP_RUN_HADD_F16},
    {PTX_OP_SUB, 2, false, WARP_RUN_SUB_F32, WARP_RUN_HSUB_F16},
    {PTX_OP_MUL, 2, false, WARP_RUN_MUL_F32, WARP_RUN_HMUL_F16},
    {PTX_OP_FMA, 3, false, WARP_RUN_FMA_F32, WARP_RUN_HFMA_F16},
    {PTX_OP_MAD, 3, false, WARP_RUN_FMA_F32, 0},
    {PTX_OP_DIV, 2, false, WARP_RUN_DIV_F32, 0},
    {PTX_OP_RCP, 1, false, WARP_RUN_RCP_F32, 0},
    {PTX_OP_SQRT, 1, false, WARP_RUN_SQRT_F32, 0},
    {PTX_OP_RSQRT, 1, true, WARP_RUN_RSQRT_F32, 0},
    {PTX_OP_ABS, 1, true, WARP_RUN_ABS_F32, WARP_RUN_HABS_F16},
    {PTX_OP_NEG, 1, true, WARP_RUN_NEG_F32, WARP_RUN_HNEG_F16},
    {PTX_OP_MIN, 2, true, WARP_RUN_MIN_F32, WARP_RUN_HMIN_F16},
    {PTX_OP_MAX, 2, true, WARP_RUN_MAX_F32, WARP_RUN_HMAX_F16},
    {PTX_OP_COPYSIGN, 2, true, WARP_RUN_COPYSIGN_F32, 0},
    {PTX_OP_SIN, 1, true, WARP_RUN_SIN_F32, 0},
    {PTX_OP_COS, 1, true, WARP_RUN_COS_F32, 0},
    {PTX_OP_LG2, 1, true, WARP_RUN_LG2_F32, 0},
    {PTX_OP_EX2, 1, true, WARP_RUN_EX2_F32, WARP_RUN_HEX2_F16},
    {PTX_OP_TANH, 1, true, WARP_RUN_TANH_F32, WARP_RUN_HTANH_F16},
};

static unsigned half_index(enum ptx_type type)
{
    switch (type) {
    case PTX_F16:
        return 0;
    case PTX_F16X2:
        return 1;
    case PTX_BF16:
        return 2;
    default:
        return 3;
    }
}

/* The handler of a type; `half` is that of F16, which F16X2, BF16 and BF16X2 follow. */
static enum warp_run run_of(enum ptx_type type, enum warp_run single, enum warp_run wide,
                            enum warp_run half)
{
    if (type == PTX_F32)
        return single;
    return type == PTX_F64 ? wide : warp_run_at(half, half_index(type));
}

/* The control word that the modifiers ask for. */
static uint8_t control_of(const struct warp_build *b)
{
    return warp_rounding_control(b) | (warp_has(b, PTX_MOD_FTZ) ? WARP_FLUSH : 0);
}

/* A value with denormals flushed to zeros. */
static struct warp_value flushed(struct warp_build *b, struct warp_value v, enum ptx_type type)
{
    struct warp_value d = warp_temporary(b, type == PTX_F64 ? WARP_WIDE : WARP_NARROW);
    warp_emit1(b, run_of(type, WARP_RUN_FLUSH_F32, WARP_RUN_FLUSH_F64, WARP_RUN_HFLUSH_F16), d, v);
    return d;
}

/* min and max with .NaN and .xorsign.abs: magnitudes, then the sign. */
static void lower_extreme(struct warp_build *b, const struct row *row, enum ptx_type type,
                          struct warp_value d, struct warp_value *v, unsigned sources)
{
    bool single = type == PTX_F32, keeps = warp_has(b, PTX_MOD_PROPAGATE_NAN);
    bool least = row->opcode == PTX_OP_MIN;
    static const uint16_t runs[2][2][2] = {
        /* half or single; greatest or least; with .NaN */
        {{WARP_RUN_HMAX_F16, WARP_RUN_HMAXNAN_F16}, {WARP_RUN_HMIN_F16, WARP_RUN_HMINNAN_F16}},
        {{WARP_RUN_MAX_F32, WARP_RUN_MAXNAN_F32}, {WARP_RUN_MIN_F32, WARP_RUN_MINNAN_F32}}};
    enum warp_run run =
        warp_run_at((enum warp_run)runs[single][least][keeps], single ? 0 : half_index(type));
    struct warp_value x[4], result = d;
    bool absolute = warp_has(b, PTX_MOD_ABS), signs = warp_has(b, PTX_MOD_XORSIGN);
    for (unsigned i = 1; i <= sources; i++) {
        x[i] = v[i];
        if (!absolute)
            continue;
        x[i] = warp_temporary(b, WARP_NARROW);
        warp_emit1(b, run_of(type, WARP_RUN_ABS_F32, WARP_RUN_NONE, WARP_RUN_HABS_F16), x[i], v[i]);
    }
    if (signs || sources == 3)
        result = warp_temporary(b, WARP_NARROW);
    warp_emit2(b, run, result, x[1], x[2]);
    if (sources == 3)
        warp_emit2(b, run, d, result, x[3]);
    if (signs)
        warp_emit3(b, run_of(type, WARP_RUN_XORSIGN_32, WARP_RUN_NONE, WARP_RUN_HXORSIGN_F16), d,
                   result, v[1], v[2]);
}

/* Emits the operations on the destination that follow the instruction's own. */
static void finish_float(struct warp_build *b, enum ptx_type type, struct warp_value d,
                         bool flushes)
{
    bool single = type == PTX_F32, wide = type == PTX_F64;
    if (flushes && !wide)
        warp_emit1(b, run_of(type, WARP_RUN_FLUSH_F32, WARP_RUN_NONE, WARP_RUN_HFLUSH_F16), d, d);
    if (warp_has(b, PTX_MOD_SAT))
        warp_emit1(b, run_of(type, WARP_RUN_SAT_F32, WARP_RUN_SAT_F64, WARP_RUN_HSAT_F16), d, d);
    if (warp_has(b, PTX_MOD_RELU) && !single && !wide)
        warp_emit1(b, warp_run_at(WARP_RUN_HRELU_F16, half_index(type)), d, d);
}

/* add, sub, fma of f32 with halves as the other operands. */
static void widen_halves(struct warp_build *b, struct warp_value *v, unsigned sources)
{
    enum ptx_type small = (enum ptx_type)b->instruction->types[1];
    for (unsigned i = 1; i < sources; i++) {
        struct warp_value x = warp_temporary(b, WARP_NARROW);
        v[i] = warp_input(b, &b->instruction->operands[i], small);
        warp_emit1(b, small == PTX_F16 ? WARP_RUN_VALUE_F16 : WARP_RUN_VALUE_BF16, x, v[i]);
        v[i] = x;
    }
}

/* f32x2: both halves of 64 bits, each as f32. */
static void lower_pair(struct warp_build *b, const struct row *row)
{
    const struct ptx_instruction *in = b->instruction;
    struct warp_value low[4], high[4];
    for (unsigned i = 1; i <= row->sources; i++) {
        struct warp_value v = warp_input(b, &in->operands[i], PTX_F32X2);
        low[i] = warp_temporary(b, WARP_NARROW);
        high[i] = warp_temporary(b, WARP_NARROW);
        warp_emit1(b, WARP_RUN_EXTRACT_64_32, low[i], v);
        warp_emit1(b, WARP_RUN_EXTRACT_64_32, high[i], v)->value = 32;
    }
    struct warp_value x = warp_temporary(b, WARP_NARROW), y = warp_temporary(b, WARP_NARROW);
    for (unsigned k = 0; k < 2; k++) {
        struct warp_op *op = warp_emit(b, (enum warp_run)row->single);
        warp_use(op, 0, k ? y : x);
        for (unsigned i = 1; i <= row->sources; i++)
            warp_use(op, i, k ? high[i] : low[i]);
        op->control = control_of(b);
    }
    warp_emit2(b, WARP_RUN_PACK_32, warp_output(b, &in->operands[0], true), x, y);
}

static void lower_row(struct warp_build *b, const struct row *row, enum ptx_type type)
{
    const struct ptx_instruction *in = b->instruction;
    bool single = type == PTX_F32, wide = type == PTX_F64, ftz = warp_has(b, PTX_MOD_FTZ);
    struct warp_value v[4];
    unsigned sources = in->operand_count - 1u;
    for (unsigned i = 1; i <= sources; i++)
        v[i] = warp_input(b, &in->operands[i], type);
    if (in->type_count == 2)
        widen_halves(b, v, sources);
    bool by_hand = ftz && (row->of_bits || !(single || wide));
    if (by_hand)
        for (unsigned i = 1; i <= sources; i++)
            v[i] = flushed(b, v[i], type);
    struct warp_value d = warp_output(b, &in->operands[0], wide);
    if ((row->opcode == PTX_OP_MIN || row->opcode == PTX_OP_MAX) && !wide) {
        lower_extreme(b, row, type, d, v, sources);
        return;
    }
    enum warp_run of_single = (enum warp_run)row->single, of_half = (enum warp_run)row->half;
    struct warp_op *op = warp_emit(b, run_of(type, of_single, warp_run_at(of_single, 1), of_half));
    warp_use(op, 0, d);
    for (unsigned i = 1; i <= sources; i++)
        warp_use(op, i, v[i]);
    op->control = single || wide ? control_of(b) : 0;
    if (row->of_bits)
        op->control = 0;
    if (wide && ftz) /* .approx.ftz */
        warp_emit1(b, WARP_RUN_UPPER_F64, d, d);
    finish_float(b, type, d, by_hand);
}

void warp_lower_float(struct warp_build *b)
{
    const struct ptx_instruction *in = b->instruction;
    enum ptx_type type = (enum ptx_type)in->types[0];
    const struct row *row = NULL;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        if (rows[i].opcode == in->opcode)
            row = &rows[i];
    bool half = type == PTX_F16 || type == PTX_F16X2 || type == PTX_BF16 || type == PTX_BF16X2;
    if (!row || (half && !row->half) || warp_has(b, PTX_MOD_OOB)) {
        b->missing = true;
        return;
    }
    if (type == PTX_F32X2)
        lower_pair(b, row);
    else if (half || type == PTX_F32 || type == PTX_F64)
        lower_row(b, row, type);
    else
        b->missing = true;
}
