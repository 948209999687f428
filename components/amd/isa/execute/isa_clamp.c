/* The clamp modifier of vector instructions with integer results: a result outside the range of its
 * type becomes the nearest end of the range and does not wrap. Only the few instructions that have
 * the modifier come here. Instructions that cannot overflow ignore it, and so do conversions, whose
 * results are limited anyway.
 *
 * Which rows have the modifier: LLVM 19 (HasIntClamp, VOP3_CLAMP); its effect: Vega ISA manual,
 * "Clamp". */
#include "base/wide.h"
#include "components/amd/isa/tables/isa_table.h"

enum shape { SHAPE_NONE, SHAPE_ADD, SHAPE_SUB, SHAPE_SUBREV, SHAPE_MAD, SHAPE_SUM, SHAPE_DOT };

/* in: bits of the factors or summands; out: of the result, and of what is added to a product. */
static const struct limit {
    uint8_t shape, in, out;
    bool is_signed;
} limits[ISA_OP_COUNT] = {
    [ISA_OP_v_add_u16] = {SHAPE_ADD, 16, 16, false},
    [ISA_OP_v_sub_u16] = {SHAPE_SUB, 16, 16, false},
    [ISA_OP_v_subrev_u16] = {SHAPE_SUBREV, 16, 16, false},
    [ISA_OP_v_add_u32_gfx9] = {SHAPE_ADD, 32, 32, false},
    [ISA_OP_v_sub_u32_gfx9] = {SHAPE_SUB, 32, 32, false},
    [ISA_OP_v_subrev_u32_gfx9] = {SHAPE_SUBREV, 32, 32, false},
    [ISA_OP_v_add_i32] = {SHAPE_ADD, 32, 32, true},
    [ISA_OP_v_sub_i32] = {SHAPE_SUB, 32, 32, true},
    [ISA_OP_v_add_i16] = {SHAPE_ADD, 16, 16, true},
    [ISA_OP_v_sub_i16] = {SHAPE_SUB, 16, 16, true},
    [ISA_OP_v_pk_add_u16] = {SHAPE_ADD, 16, 16, false},
    [ISA_OP_v_pk_sub_u16] = {SHAPE_SUB, 16, 16, false},
    [ISA_OP_v_pk_add_i16] = {SHAPE_ADD, 16, 16, true},
    [ISA_OP_v_pk_sub_i16] = {SHAPE_SUB, 16, 16, true},
    [ISA_OP_v_mul_i32_i24] = {SHAPE_MAD, 24, 32, true},
    [ISA_OP_v_mul_u32_u24] = {SHAPE_MAD, 24, 32, false},
    [ISA_OP_v_mad_i32_i24] = {SHAPE_MAD, 24, 32, true},
    [ISA_OP_v_mad_u32_u24] = {SHAPE_MAD, 24, 32, false},
    [ISA_OP_v_mad_u16] = {SHAPE_MAD, 16, 16, false},
    [ISA_OP_v_mad_i16] = {SHAPE_MAD, 16, 16, true},
    [ISA_OP_v_mad_legacy_u16] = {SHAPE_MAD, 16, 16, false},
    [ISA_OP_v_mad_legacy_i16] = {SHAPE_MAD, 16, 16, true},
    [ISA_OP_v_mad_u32_u16] = {SHAPE_MAD, 16, 32, false},
    [ISA_OP_v_mad_i32_i16] = {SHAPE_MAD, 16, 32, true},
    [ISA_OP_v_mad_u64_u32] = {SHAPE_MAD, 32, 64, false},
    [ISA_OP_v_mad_i64_i32] = {SHAPE_MAD, 32, 64, true},
    [ISA_OP_v_pk_mad_u16] = {SHAPE_MAD, 16, 16, false},
    [ISA_OP_v_pk_mad_i16] = {SHAPE_MAD, 16, 16, true},
    [ISA_OP_v_pk_mul_lo_u16] = {SHAPE_MAD, 16, 16, false},
    [ISA_OP_v_sad_u8] = {SHAPE_SUM, 32, 32, false},
    [ISA_OP_v_sad_hi_u8] = {SHAPE_SUM, 32, 32, false},
    [ISA_OP_v_sad_u16] = {SHAPE_SUM, 32, 32, false},
    [ISA_OP_v_sad_u32] = {SHAPE_SUM, 32, 32, false},
    [ISA_OP_v_msad_u8] = {SHAPE_SUM, 32, 32, false},
    [ISA_OP_v_qsad_pk_u16_u8] = {SHAPE_SUM, 16, 64, false},
    [ISA_OP_v_mqsad_pk_u16_u8] = {SHAPE_SUM, 16, 64, false},
    [ISA_OP_v_dot2_i32_i16] = {SHAPE_DOT, 16, 32, true},
    [ISA_OP_v_dot2_u32_u16] = {SHAPE_DOT, 16, 32, false},
    [ISA_OP_v_dot4_i32_i8] = {SHAPE_DOT, 8, 32, true},
    [ISA_OP_v_dot4_u32_u8] = {SHAPE_DOT, 8, 32, false},
    [ISA_OP_v_dot8_i32_i4] = {SHAPE_DOT, 4, 32, true},
    [ISA_OP_v_dot8_u32_u4] = {SHAPE_DOT, 4, 32, false},
};

bool isa_op_saturates(unsigned op)
{
    return limits[op].shape != SHAPE_NONE;
}

static signed_wide field(uint64_t value, unsigned bits, bool is_signed)
{
    unsigned up = 64 - bits;
    return is_signed ? (signed_wide)((int64_t)(value << up) >> up)
                     : (signed_wide)(value << up >> up);
}

static signed_wide dot(const struct limit *l, uint64_t a, uint64_t b, uint64_t c)
{
    signed_wide sum = field(c, 32, l->is_signed);
    for (unsigned shift = 0; shift < 32; shift += l->in)
        sum += field(a >> shift, l->in, l->is_signed) * field(b >> shift, l->in, l->is_signed);
    return sum;
}

static uint64_t limited(const struct limit *l, uint64_t a, uint64_t b, uint64_t c)
{
    signed_wide x = field(a, l->in, l->is_signed), y = field(b, l->in, l->is_signed), exact;
    signed_wide most = ((signed_wide)1 << (l->out - l->is_signed)) - 1,
                least = l->is_signed ? -most - 1 : 0;
    switch (l->shape) {
    case SHAPE_ADD:
        exact = x + y;
        break;
    case SHAPE_SUB:
        exact = x - y;
        break;
    case SHAPE_SUBREV:
        exact = y - x;
        break;
    case SHAPE_MAD:
        exact = x * y + field(c, l->out, l->is_signed);
        break;
    default:
        exact = dot(l, a, b, c);
        break;
    }
    return (uint64_t)(exact < least ? least : exact > most ? most : exact);
}

/* Fields of the wrapped sum that are below what was added have wrapped. */
static uint64_t limited_sum(const struct limit *l, uint64_t sum, uint64_t added)
{
    uint64_t most = UINT64_MAX >> (64 - l->in);
    for (unsigned shift = 0; shift < l->out; shift += l->in)
        if ((sum >> shift & most) < (added >> shift & most))
            sum |= most << shift;
    return sum;
}

static uint64_t value_of(const uint32_t *source, unsigned lane, bool is_wide)
{
    return !source ? 0 : source[lane] | (is_wide ? (uint64_t)source[64 + lane] << 32 : 0);
}

void isa_clamp_result(unsigned op, uint32_t *result, const uint32_t *a, const uint32_t *b,
                      const uint32_t *c)
{
    const struct limit *l = &limits[op];
    bool is_wide = l->out == 64;
    c = isa_table[op].type[3] == TYPE_NONE ? NULL : c;
    for (unsigned lane = 0; lane < 64; lane++) {
        uint64_t added = value_of(c, lane, is_wide), value;
        if (l->shape == SHAPE_SUM)
            value = limited_sum(l, value_of(result, lane, is_wide), added);
        else
            value = limited(l, a[lane], b[lane], added);
        result[lane] = (uint32_t)(l->out == 16 ? value & 0xffff : value);
        if (is_wide)
            result[64 + lane] = (uint32_t)(value >> 32);
    }
}
