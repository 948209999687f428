/* Lowers cvt and cvt.pack.
 *
 * The formats that registers hold have operations of their own; what lies between is a temporary:
 * an integer is first extended to 32 or 64 bits, a half becomes f32, and what a double holds
 * exactly is rounded once to a smaller format. */
#include "base/number.h"

#include "warp_build.h"

enum { ROUND_NEAREST, ROUND_ZERO, ROUND_MINUS, ROUND_PLUS, ROUND_AWAY }; /* as warp_formats.h */
enum { FORMAT_RELU = 16, FORMAT_FINITE = 32 };

static unsigned integer_index(enum ptx_type type)
{
    unsigned size = ptx_type_bits(type) == 8 ? 0 : 1 + warp_size_index(type);
    return size + (ptx_type_is_signed(type) ? 0 : 4);
}

static int format_of(enum ptx_type type)
{
    static const struct {
        uint8_t type, format;
    } list[] = {{PTX_F16, 0},    {PTX_F16X2, 0},  {PTX_BF16, 1},   {PTX_BF16X2, 1},
                {PTX_TF32, 2},   {PTX_E4M3X2, 3}, {PTX_E5M2X2, 4}, {PTX_E3M2X2, 5},
                {PTX_E2M3X2, 6}, {PTX_E2M1X2, 7}};
    for (size_t i = 0; i < ARRAY_COUNT(list); i++)
        if (list[i].type == type)
            return list[i].format;
    return -1;
}

static unsigned rounding_of(const struct warp_build *b)
{
    switch (ptx_one_of(b->instruction, PTX_GROUP_ROUND)) {
    case PTX_MOD_RZ:
    case PTX_MOD_RZI:
        return ROUND_ZERO;
    case PTX_MOD_RM:
    case PTX_MOD_RMI:
        return ROUND_MINUS;
    case PTX_MOD_RP:
    case PTX_MOD_RPI:
        return ROUND_PLUS;
    case PTX_MOD_RNA:
        return ROUND_AWAY;
    default:
        return ROUND_NEAREST;
    }
}

static uint64_t how_of(const struct warp_build *b, int format)
{
    return rounding_of(b) | (warp_has(b, PTX_MOD_RELU) ? FORMAT_RELU : 0u)
           | (warp_has(b, PTX_MOD_SATFINITE) ? FORMAT_FINITE : 0u) | (uint64_t)format << 8;
}

static bool is_wide(struct warp_value v)
{
    return v.bank == WARP_WIDE || (v.bank == WARP_CONSTANT && v.wide);
}

/* Copies a result to the destination, which may be wider than the type: an integer is extended as
 * its type says. */
static void put_integer(struct warp_build *b, struct warp_value d, struct warp_value v,
                        enum ptx_type type)
{
    unsigned at = integer_index(type);
    if (is_wide(v) && !is_wide(d) && ptx_type_bits(type) == 32) {
        warp_emit1(b, WARP_RUN_EXTRACT_64_32, d, v);
        return;
    }
    if (is_wide(v) && ptx_type_bits(type) < 64) {
        struct warp_value low = warp_temporary(b, WARP_NARROW);
        warp_emit1(b, WARP_RUN_EXTRACT_64_32, low, v);
        v = low;
    }
    warp_emit1(b, warp_run_at(is_wide(d) ? WARP_RUN_WIDEN64_S8 : WARP_RUN_WIDEN32_S8, at), d, v);
}

static void integer_to_integer(struct warp_build *b, struct warp_value d, struct warp_value a,
                               enum ptx_type to, enum ptx_type from)
{
    if (warp_has(b, PTX_MOD_SAT)) {
        struct warp_value whole = warp_temporary(b, WARP_WIDE);
        bool result_wide = ptx_type_bits(to) == 64;
        struct warp_value cut = warp_temporary(b, result_wide ? WARP_WIDE : WARP_NARROW);
        warp_emit1(b, warp_run_at(WARP_RUN_WIDEN64_S8, integer_index(from)), whole, a);
        warp_emit1(
            b,
            warp_run_at(ptx_type_is_signed(from) ? WARP_RUN_CLAMP_S64_S8 : WARP_RUN_CLAMP_U64_S8,
                        integer_index(to)),
            cut, whole);
        put_integer(b, d, cut, to);
        return;
    }
    /* the lower bits of the source, read as the narrower of the two types */
    bool widens = ptx_type_bits(to) > ptx_type_bits(from);
    put_integer(b, d, a, widens ? from : to);
    if (widens && ptx_type_bits(to) < 32) /* u16.s8 into a wider register */
        put_integer(b, d, d, to);
    else if (widens && is_wide(d) && ptx_type_bits(to) == 32)
        put_integer(b, d, d, to);
}

/* An integer as the operation to floats takes it. */
static void integer_to_float(struct warp_build *b, struct warp_value d, struct warp_value a,
                             enum ptx_type to, enum ptx_type from)
{
    unsigned at = integer_index(from);
    if (is_wide(a) && ptx_type_bits(from) < 64) {
        struct warp_value low = warp_temporary(b, WARP_NARROW);
        warp_emit1(b, WARP_RUN_EXTRACT_64_32, low, a);
        a = low;
    }
    if (to == PTX_F32 || to == PTX_F64) {
        warp_emit1(b, warp_run_at(to == PTX_F32 ? WARP_RUN_TO_F32_S8 : WARP_RUN_TO_F64_S8, at), d,
                   a)
            ->control = warp_rounding_control(b);
    } else {
        struct warp_value whole = warp_temporary(b, WARP_WIDE), odd = warp_temporary(b, WARP_WIDE);
        warp_emit1(b, warp_run_at(WARP_RUN_WIDEN64_S8, at), whole, a);
        warp_emit1(b, ptx_type_is_signed(from) ? WARP_RUN_TO_ODD_S64 : WARP_RUN_TO_ODD_U64, odd,
                   whole);
        warp_emit1(b, WARP_RUN_FORMAT_OF_F64, d, odd)->value = how_of(b, format_of(to));
    }
    if (warp_has(b, PTX_MOD_SAT) && to == PTX_F32)
        warp_emit1(b, WARP_RUN_SAT_F32, d, d);
    if (warp_has(b, PTX_MOD_SAT) && to == PTX_F64)
        warp_emit1(b, WARP_RUN_SAT_F64, d, d);
    if (warp_has(b, PTX_MOD_SAT) && to == PTX_F16)
        warp_emit1(b, WARP_RUN_HSAT_F16, d, d);
}

/* A half as f32; other floats as they are, denormals of f32 flushed with .ftz. */
static struct warp_value float_source(struct warp_build *b, struct warp_value a,
                                      enum ptx_type *from)
{
    struct warp_value v = warp_temporary(b, WARP_NARROW);
    if (*from == PTX_F16 || *from == PTX_BF16) {
        warp_emit1(b, *from == PTX_F16 ? WARP_RUN_VALUE_F16 : WARP_RUN_VALUE_BF16, v, a);
        *from = PTX_F32;
        return v;
    }
    if (*from != PTX_F32 || !warp_has(b, PTX_MOD_FTZ))
        return a;
    warp_emit1(b, WARP_RUN_FLUSH_F32, v, a);
    return v;
}

/* .rni, .rzi, .rmi, .rpi of f32 or f64. */
static struct warp_value rounded(struct warp_build *b, struct warp_value a, enum ptx_type type)
{
    bool wide = type == PTX_F64;
    const struct warp_choice runs[] = {
        {PTX_MOD_RNI, wide ? WARP_RUN_ROUND_RNI_F64 : WARP_RUN_ROUND_RNI_F32},
        {PTX_MOD_RZI, wide ? WARP_RUN_ROUND_RZI_F64 : WARP_RUN_ROUND_RZI_F32},
        {PTX_MOD_RMI, wide ? WARP_RUN_ROUND_RMI_F64 : WARP_RUN_ROUND_RMI_F32},
        {PTX_MOD_RPI, wide ? WARP_RUN_ROUND_RPI_F64 : WARP_RUN_ROUND_RPI_F32},
        {PTX_MODIFIER_NONE, WARP_RUN_NOP}};
    enum warp_run run = (enum warp_run)warp_choose(b, runs);
    if (run == WARP_RUN_NOP)
        return a;
    struct warp_value d = warp_temporary(b, wide ? WARP_WIDE : WARP_NARROW);
    warp_emit1(b, run, d, a);
    return d;
}

static void float_to_integer(struct warp_build *b, struct warp_value d, struct warp_value a,
                             enum ptx_type to, enum ptx_type from)
{
    a = float_source(b, a, &from);
    a = rounded(b, a, from);
    bool whole = ptx_type_bits(to) == 64;
    struct warp_value v = whole ? d : warp_temporary(b, WARP_NARROW);
    warp_emit1(b,
               warp_run_at(from == PTX_F64 ? WARP_RUN_FROM_F64_S8 : WARP_RUN_FROM_F32_S8,
                           integer_index(to)),
               v, a);
    if (!whole)
        put_integer(b, d, v, to);
}

static enum warp_run saturating_run(enum ptx_type type)
{
    switch (type) {
    case PTX_F32:
        return WARP_RUN_SAT_F32;
    case PTX_F64:
        return WARP_RUN_SAT_F64;
    case PTX_F16:
        return WARP_RUN_HSAT_F16;
    default:
        return WARP_RUN_HSAT_BF16;
    }
}

static void saturate(struct warp_build *b, struct warp_value d, enum ptx_type to)
{
    if (warp_has(b, PTX_MOD_SAT))
        warp_emit1(b, saturating_run(to), d, d);
}

static void float_to_float(struct warp_build *b, struct warp_value d, struct warp_value a,
                           enum ptx_type to, enum ptx_type from)
{
    enum ptx_type source = from;
    bool plain = how_of(b, 0) == 0;
    a = float_source(b, a, &source);
    a = rounded(b, a, source);
    if (to == PTX_F32 || to == PTX_F64) {
        enum warp_run run = to == PTX_F64 ? WARP_RUN_F64_OF_F32 : WARP_RUN_F32_OF_F64;
        if (source == to)
            run = to == PTX_F64 ? WARP_RUN_MOV_64 : WARP_RUN_MOV_32;
        warp_emit1(b, run, d, a)->control = source == to ? 0 : warp_rounding_control(b);
        if (to == PTX_F32 && source == PTX_F64 && warp_has(b, PTX_MOD_FTZ))
            warp_emit1(b, WARP_RUN_FLUSH_F32, d, d);
    } else if (source == PTX_F32 && plain && (to == PTX_F16 || to == PTX_BF16)) {
        warp_emit1(b, to == PTX_F16 ? WARP_RUN_F16_OF_F32 : WARP_RUN_BF16_OF_F32, d, a);
    } else {
        warp_emit1(b, source == PTX_F64 ? WARP_RUN_FORMAT_OF_F64 : WARP_RUN_FORMAT_OF_F32, d, a)
            ->value = how_of(b, format_of(to));
    }
    saturate(b, d, to);
}

/* Packed formats: two sources, or one that is packed. */
static void lower_packed(struct warp_build *b, enum ptx_type to, enum ptx_type from)
{
    const struct ptx_instruction *in = b->instruction;
    struct warp_value x = warp_input(b, &in->operands[1], from), y = WARP_VALUE_NONE,
                      d = warp_output(b, &in->operands[0], false);
    int format = format_of(to), source = format_of(from);
    if (in->operand_count == 3)
        y = warp_input(b, &in->operands[2], from);
    if (in->operand_count > 3 || format < 0 || warp_has(b, PTX_MOD_RS))
        b->missing = true;
    else if (in->operand_count == 3 && how_of(b, 0) == 0 && format < 2)
        warp_emit2(b, format ? WARP_RUN_BF16X2_OF_F32 : WARP_RUN_F16X2_OF_F32, d, x, y);
    else if (in->operand_count == 3)
        warp_emit2(b, WARP_RUN_FORMAT_OF_F32X2, d, x, y)->value = how_of(b, format);
    else if (from == PTX_F16X2)
        warp_emit1(b, WARP_RUN_FORMAT_OF_F16X2, d, x)->value = how_of(b, format);
    else if (to == PTX_F16X2 && source >= 0)
        warp_emit1(b, WARP_RUN_F16X2_OF_FORMAT, d, x)->value = how_of(b, source);
    else
        b->missing = true;
}

static void lower_pack(struct warp_build *b)
{
    const struct ptx_instruction *in = b->instruction;
    enum ptx_type type = (enum ptx_type)in->types[0];
    struct warp_value x = warp_input(b, &in->operands[1], PTX_S32),
                      y = warp_input(b, &in->operands[2], PTX_S32), z = WARP_VALUE_NONE;
    if (in->operand_count == 4)
        z = warp_input(b, &in->operands[3], PTX_B32);
    warp_emit3(b, in->operand_count == 4 ? WARP_RUN_CVT_PACK_C : WARP_RUN_CVT_PACK,
               warp_output(b, &in->operands[0], false), x, y, z)
        ->value = ptx_type_bits(type) | (ptx_type_is_signed(type) ? 256u : 0);
}

void warp_lower_convert(struct warp_build *b)
{
    const struct ptx_instruction *in = b->instruction;
    enum ptx_type to = (enum ptx_type)in->types[0], from = (enum ptx_type)in->types[1];
    if (in->opcode == PTX_OP_CVT_PACK) {
        lower_pack(b);
        return;
    }
    bool packed = to != PTX_F16 && to != PTX_BF16 && to != PTX_TF32 && to != PTX_F32
                  && to != PTX_F64 && ptx_type_is_float(to);
    if (packed || in->operand_count != 2) {
        lower_packed(b, to, from);
        return;
    }
    struct warp_value a = warp_input(b, &in->operands[1], from),
                      d = warp_output(b, &in->operands[0], ptx_type_bits(to) > 32);
    if (ptx_type_is_float(from))
        (ptx_type_is_float(to) ? float_to_float : float_to_integer)(b, d, a, to, from);
    else
        (ptx_type_is_float(to) ? integer_to_float : integer_to_integer)(b, d, a, to, from);
}
