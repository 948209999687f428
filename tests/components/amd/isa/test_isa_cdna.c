/* What gfx908, gfx90a and gfx942 add besides matrix instructions: packed fp32, dot products that
 * accumulate, fp8 and bf8, 64-bit moves, accumulators as operands, float and packed atomics, loads
 * to LDS, operations on the L2. Encodings are llvm-mc's; results come from integers and from sums
 * in fixed point (fixed_float.h). */
#include "base/splitmix64.h"

#include "covered.h"
#include "fixed_float.h"
#include "machine.h"

enum { TRIES = 64, BASE = 0x1000, MEMORY = 4096 };

static struct machine m;
static uint64_t state = 7;

static uint32_t random32(void)
{
    return (uint32_t)(splitmix64(&state) >> 32);
}

static void decode(enum isa_target target, const char *text, const uint32_t *word,
                   struct isa_inst *inst)
{
    char found[ISA_TEXT_MAX];
    cr_assert_gt(isa_decode(target, word, 12, inst), 0, "%s does not decode", text);
    isa_format(inst, UINT64_MAX, found, sizeof found);
    cr_assert_str_eq(found, text);
}

/* The same words on another target, if it has the instruction. */
static bool decodes_on(enum isa_target other, enum isa_target target, const uint32_t *word,
                       struct isa_inst *inst)
{
    struct isa_inst first;
    isa_decode(target, word, 12, &first);
    return isa_decode(other, word, 12, inst) > 0 && inst->op == first.op
           && inst->flags == first.flags;
}

/* ---- vector instructions: sources v2 to v7 and s[4:5], destination v10 or v[10:11] ---- */

/* Registers of one lane before the instruction, and which lane it is. */
struct lane {
    uint32_t v[16];
    uint32_t s[2];
    unsigned number;
};

typedef uint64_t model(const struct lane *l);

static uint64_t pair(const struct lane *l, unsigned reg)
{
    return l->v[reg] | (uint64_t)l->v[reg + 1] << 32;
}

static uint64_t join(uint64_t low, uint64_t high)
{
    return (uint32_t)low | high << 32;
}

static uint32_t minus(uint32_t x)
{
    return x ^ 0x80000000;
}

static uint32_t product_of(uint32_t a, uint32_t b)
{
    bool negative = (a ^ b) >> 31;
    return (uint32_t)fused(F32, a, b, negative ? 0x80000000 : 0);
}

static uint64_t pk_fma(const struct lane *l)
{
    return join(fused(F32, l->v[2], l->v[4], l->v[6]), fused(F32, l->v[3], l->v[5], l->v[7]));
}
static uint64_t pk_fma_mixed(const struct lane *l)
{
    return join(fused(F32, minus(l->v[3]), l->v[4], l->v[7]),
                fused(F32, l->v[2], minus(l->v[5]), l->v[6]));
}
static uint64_t pk_mul(const struct lane *l)
{
    return join(product_of(l->v[2], l->v[4]), product_of(l->v[3], l->v[5]));
}
static uint64_t pk_mul_scalar(const struct lane *l)
{
    return join(product_of(l->v[2], l->s[0]), product_of(l->v[3], l->s[0]));
}
static uint64_t pk_mul_two(const struct lane *l)
{
    return join(product_of(l->v[2], 0x40000000), product_of(l->v[3], 0x40000000));
}
static uint64_t pk_sub(const struct lane *l)
{
    return join(fused(F32, l->v[2], 0x3f800000, minus(l->v[4])),
                fused(F32, l->v[3], 0x3f800000, minus(l->v[5])));
}
static uint64_t pk_mov_10(const struct lane *l)
{
    return join(l->v[3], l->v[4]);
}
static uint64_t pk_mov_01(const struct lane *l)
{
    return join(l->v[2], l->v[5]);
}
/* The lane with the first source of lane 5 of its row, one or two registers of it. */
static struct lane row_fifth(const struct lane *l)
{
    struct lane other = *l;
    unsigned from = (l->number & ~15u) + 5;
    other.v[2] = m.vgpr[2 * 64 + from];
    other.v[3] = m.vgpr[3 * 64 + from];
    return other;
}
static uint64_t fmac_f64(const struct lane *l)
{
    return fused(F64, pair(l, 2), pair(l, 4), pair(l, 10));
}
static uint64_t fmac_f64_dpp(const struct lane *l)
{
    struct lane other = row_fifth(l);
    return fmac_f64(&other);
}
static uint64_t fmac_f64_signs(const struct lane *l)
{
    return fused(F64, pair(l, 2) ^ (uint64_t)1 << 63, pair(l, 4) << 1 >> 1, pair(l, 10));
}
/* Products of halves and sum have no fp32 denormals, whatever MODE says. */
static uint32_t without_denormals(uint64_t value)
{
    return (uint32_t)(value & 0x7f800000 ? value : value & 0x80000000);
}
static uint64_t dot2c_f16(const struct lane *l)
{
    uint64_t low = fused(F16, l->v[2] & 0xffff, l->v[3] & 0xffff, without_denormals(l->v[10]));
    return without_denormals(fused(F16, l->v[2] >> 16, l->v[3] >> 16, low));
}
static uint64_t dot2c_f16_half(const struct lane *l)
{
    uint64_t low = fused(F16, 0x3800, l->v[3] & 0xffff, without_denormals(l->v[10]));
    return without_denormals(fused(F16, 0, l->v[3] >> 16, low));
}

/* Of each word the upper half is negated, or has its sign cleared. */
static uint64_t dot2c_f16_signs(const struct lane *l)
{
    struct lane other = *l;
    other.v[2] ^= 0x80000000;
    other.v[3] &= 0x7fffffff;
    return dot2c_f16(&other);
}

static uint64_t dot(uint32_t a, uint32_t b, uint32_t c, unsigned bits)
{
    int64_t sum = (int32_t)c;
    for (unsigned at = 0; at < 32; at += bits) {
        int64_t x = a >> at & ((1u << bits) - 1), y = b >> at & ((1u << bits) - 1);
        int64_t limit = (int64_t)1 << (bits - 1);
        sum += (x >= limit ? x - 2 * limit : x) * (y >= limit ? y - 2 * limit : y);
    }
    return (uint32_t)sum;
}
static uint64_t dot2c_i16(const struct lane *l)
{
    return dot(l->v[2], l->v[3], l->v[10], 16);
}
static uint64_t dot4c(const struct lane *l)
{
    return dot(l->v[2], l->v[3], l->v[10], 8);
}
static uint64_t dot8c(const struct lane *l)
{
    return dot(l->v[2], l->v[3], l->v[10], 4);
}
/* The lane with the first source in its quad backwards. */
static struct lane quad_reversed(const struct lane *l)
{
    struct lane other = *l;
    other.v[2] = m.vgpr[2 * 64 + (l->number ^ 3)];
    return other;
}
static uint64_t dot2c_f16_dpp(const struct lane *l)
{
    struct lane other = quad_reversed(l);
    return dot2c_f16(&other);
}
static uint64_t dot2c_i16_dpp(const struct lane *l)
{
    struct lane other = quad_reversed(l);
    return dot2c_i16(&other);
}
static uint64_t dot4c_dpp(const struct lane *l)
{
    struct lane other = quad_reversed(l);
    return dot4c(&other);
}
static uint64_t dot8c_dpp(const struct lane *l)
{
    struct lane other = quad_reversed(l);
    return dot8c(&other);
}

/* a * b + c of halves. Neither product nor sum is rounded but at the end. */
static uint32_t half_fma(uint32_t a, uint32_t b, uint32_t c)
{
    struct number x = number_of(F16, a), y = number_of(F16, b), z = number_of(F16, c);
    struct fixed sum =
        fixed_make(x.sign ^ y.sign, x.significand * y.significand, x.exponent + y.exponent);
    struct fixed addend = fixed_make(z.sign, z.significand, z.exponent);
    bool zeros = (!x.significand || !y.significand) && !z.significand;
    fixed_add(&sum, &addend);
    if (zeros)
        return (x.sign ^ y.sign) && z.sign ? 0x8000 : 0;
    return (uint32_t)fixed_round(&sum, 10, -14);
}
static uint64_t pk_fmac(const struct lane *l)
{
    uint32_t low = half_fma(l->v[2] & 0xffff, l->v[3] & 0xffff, l->v[10] & 0xffff);
    return low | half_fma(l->v[2] >> 16, l->v[3] >> 16, l->v[10] >> 16) << 16;
}
static uint64_t mov_b64(const struct lane *l)
{
    return pair(l, 2);
}
static uint64_t mov_b64_scalar(const struct lane *l)
{
    return join(l->s[0], l->s[1]);
}
/* LLVM makes it of constants that have 32 bits without a sign. */
static uint64_t mov_b64_literal(const struct lane *l)
{
    (void)l;
    return 0x80005555;
}
static uint64_t lshl_add_3(const struct lane *l)
{
    return pair(l, 2) * 8 + pair(l, 4);
}
static uint64_t lshl_add(const struct lane *l)
{
    return (pair(l, 2) << l->v[6] % 8) + pair(l, 4);
}
static uint64_t fmamk(const struct lane *l)
{
    return fused(F32, l->v[2], 0x40490fdb, l->v[3]);
}
static uint64_t fmaak(const struct lane *l)
{
    return fused(F32, l->v[2], l->v[3], 0x40490fdb);
}

/* ---- fp8 ---- */

/* Exactly, as an f32. */
static uint32_t widen(enum type type, uint32_t byte)
{
    struct number n = number_of(type, byte & 0xff);
    if (n.is_nan)
        return 0x7fc00000;
    struct fixed x = fixed_make(n.sign, n.significand, n.exponent);
    return (uint32_t)fixed_round(&x, 23, -126);
}
static uint64_t cvt_f32_fp8(const struct lane *l)
{
    return widen(FP8, l->v[2]);
}
static uint64_t cvt_f32_fp8_byte(const struct lane *l)
{
    return widen(FP8, l->v[2] >> 16);
}
static uint64_t cvt_f32_bf8(const struct lane *l)
{
    return widen(BF8, l->v[2]);
}
static uint64_t cvt_f32_bf8_byte(const struct lane *l)
{
    return widen(BF8, l->v[2] >> 24);
}
static uint64_t cvt_pk_f32_fp8(const struct lane *l)
{
    return join(widen(FP8, l->v[2]), widen(FP8, l->v[2] >> 8));
}
static uint64_t cvt_pk_f32_fp8_high(const struct lane *l)
{
    return join(widen(FP8, l->v[2] >> 16), widen(FP8, l->v[2] >> 24));
}
static uint64_t cvt_pk_f32_bf8(const struct lane *l)
{
    return join(widen(BF8, l->v[2]), widen(BF8, l->v[2] >> 8));
}
static uint64_t cvt_pk_f32_bf8_high(const struct lane *l)
{
    return join(widen(BF8, l->v[2] >> 16), widen(BF8, l->v[2] >> 24));
}

/* A finite magnitude in double, which holds all of f32 and fp8. */
static double magnitude(enum type type, uint32_t bits)
{
    struct number n = number_of(type, bits);
    double x = (double)n.significand;
    for (; n.exponent > 0; n.exponent--)
        x *= 2;
    for (; n.exponent < 0; n.exponent++)
        x /= 2;
    return x;
}

/* The 8-bit number next to an f32: of all that there are, and the one that would follow the
 * largest. With MODE's FP16_OVFL what is too large becomes the largest. */
static uint32_t narrow(enum type type, uint32_t bits, bool down)
{
    const struct number n = number_of(F32, bits);
    unsigned best = 0;
    double x = magnitude(F32, bits & 0x7fffffff), above = type == FP8 ? 256 : 65536;
    if (n.is_nan || n.is_infinite)
        return 0x80;
    for (unsigned code = 1; code <= 128; code++) {
        double last = magnitude(type, best), next = code == 128 ? above : magnitude(type, code);
        double middle = last + (next - last) / 2;
        bool up = down ? x >= next : x > middle || (x == middle && code % 2 == 0);
        best = up ? code : best;
        if (!up)
            break;
    }
    if (best == 128)
        return m.wave.mode & 1 << 23 ? 0x7f | (uint32_t)n.sign << 7 : 0x80;
    return best ? best | (uint32_t)n.sign << 7 : 0;
}

static uint64_t narrow_two(enum type type, uint32_t a, uint32_t b)
{
    return narrow(type, a, false) | narrow(type, b, false) << 8;
}
static uint64_t cvt_pk_fp8(const struct lane *l)
{
    return (l->v[10] & 0xffff0000) | narrow_two(FP8, l->v[2], l->v[3]);
}
static uint64_t cvt_pk_fp8_signs(const struct lane *l)
{
    uint32_t positive = l->v[3] & 0x7fffffff;
    return (l->v[10] & 0xffff) | narrow_two(FP8, minus(l->v[2]), positive) << 16;
}
static uint64_t cvt_pk_bf8(const struct lane *l)
{
    return (l->v[10] & 0xffff0000) | narrow_two(BF8, l->v[2], l->v[3]);
}
static uint64_t cvt_pk_bf8_high(const struct lane *l)
{
    return (l->v[10] & 0xffff) | narrow_two(BF8, l->v[2], l->v[3]) << 16;
}

/* Random bits below the last one that is kept, then toward zero. */
static uint64_t narrow_random(enum type type, const struct lane *l, unsigned byte)
{
    const struct number n = number_of(F32, l->v[2]);
    uint32_t bits = l->v[2], field = 0xffu << 8 * byte;
    if (!n.is_nan && !n.is_infinite)
        bits += l->v[3] / (type == FP8 ? 1u << 12 : 1u << 11);
    return (l->v[10] & ~field) | narrow(type, bits, true) << 8 * byte;
}
static uint64_t cvt_sr_fp8(const struct lane *l)
{
    return narrow_random(FP8, l, 0);
}
static uint64_t cvt_sr_fp8_1(const struct lane *l)
{
    return narrow_random(FP8, l, 1);
}
static uint64_t cvt_sr_bf8_2(const struct lane *l)
{
    return narrow_random(BF8, l, 2);
}
static uint64_t cvt_f32_fp8_dpp(const struct lane *l)
{
    struct lane other = quad_reversed(l);
    return cvt_f32_fp8(&other);
}
static uint64_t cvt_pk_f32_fp8_dpp(const struct lane *l)
{
    struct lane other = row_fifth(l);
    return cvt_pk_f32_fp8(&other);
}
static uint64_t cvt_pk_f32_bf8_dpp(const struct lane *l)
{
    struct lane other = row_fifth(l);
    return cvt_pk_f32_bf8(&other);
}
static uint64_t cvt_f32_bf8_dpp(const struct lane *l)
{
    struct lane other = quad_reversed(l);
    return cvt_f32_bf8(&other);
}
static uint64_t cvt_sr_bf8_3(const struct lane *l)
{
    return narrow_random(BF8, l, 3);
}

static const struct vector_case {
    enum isa_target target;
    const char *text;
    uint32_t word[3];
    unsigned dwords;
    model *model;
} vector_cases[] = {
    {ISA_GFX90A,
     "v_pk_fma_f32 v[10:11], v[2:3], v[4:5], v[6:7]",
     {0xd3b0400a, 0x1c1a0902},
     2,
     pk_fma},
    {ISA_GFX90A,
     "v_pk_fma_f32 v[10:11], v[2:3], v[4:5], v[6:7] op_sel:[1,0,1] op_sel_hi:[0,1,0] "
     "neg_lo:[1,0,0] neg_hi:[0,1,0]",
     {0xd3b02a0a, 0x341a0902},
     2,
     pk_fma_mixed},
    {ISA_GFX90A, "v_pk_mul_f32 v[10:11], v[2:3], v[4:5]", {0xd3b1400a, 0x18020902}, 2, pk_mul},
    {ISA_GFX90A,
     "v_pk_mul_f32 v[10:11], v[2:3], s[4:5] op_sel_hi:[1,0]",
     {0xd3b1400a, 0x08000902},
     2,
     pk_mul_scalar},
    {ISA_GFX90A, "v_pk_mul_f32 v[10:11], v[2:3], 2.0", {0xd3b1400a, 0x1801e902}, 2, pk_mul_two},
    {ISA_GFX90A,
     "v_pk_add_f32 v[10:11], v[2:3], v[4:5] neg_lo:[0,1] neg_hi:[0,1]",
     {0xd3b2420a, 0x58020902},
     2,
     pk_sub},
    {ISA_GFX90A,
     "v_pk_mov_b32 v[10:11], v[2:3], v[4:5] op_sel:[1,0]",
     {0xd3b3480a, 0x18020902},
     2,
     pk_mov_10},
    {ISA_GFX90A,
     "v_pk_mov_b32 v[10:11], v[2:3], v[4:5] op_sel:[0,1]",
     {0xd3b3500a, 0x18020902},
     2,
     pk_mov_01},
    {ISA_GFX90A, "v_fmac_f64_e32 v[10:11], v[2:3], v[4:5]", {0x08140902}, 2, fmac_f64},
    {ISA_GFX90A,
     "v_fmac_f64_dpp v[10:11], v[2:3], v[4:5] row_newbcast:5 row_mask:0xf bank_mask:0xf",
     {0x081408fa, 0xff015502},
     2,
     fmac_f64_dpp},
    {ISA_GFX90A,
     "v_fmac_f64_e64 v[10:11], -v[2:3], |v[4:5]|",
     {0xd104020a, 0x20020902},
     2,
     fmac_f64_signs},
    {ISA_GFX90A, "v_dot2c_f32_f16_e32 v10, v2, v3", {0x6e140702}, 1, dot2c_f16},
    {ISA_GFX90A, "v_dot2c_f32_f16_e32 v10, 0.5, v3", {0x6e1406f0}, 1, dot2c_f16_half},
    {ISA_GFX90A,
     "v_dot2c_f32_f16_e64 v10, -v2, |v3|",
     {0xd137020a, 0x20020702},
     1,
     dot2c_f16_signs},
    {ISA_GFX90A, "v_dot2c_i32_i16_e32 v10, v2, v3", {0x70140702}, 1, dot2c_i16},
    {ISA_GFX90A, "v_dot4c_i32_i8_e32 v10, v2, v3", {0x72140702}, 1, dot4c},
    {ISA_GFX90A, "v_dot8c_i32_i4_e32 v10, v2, v3", {0x74140702}, 1, dot8c},
    {ISA_GFX90A,
     "v_dot8c_i32_i4_dpp v10, v2, v3 quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf",
     {0x741406fa, 0xff001b02},
     1,
     dot8c_dpp},
    {ISA_GFX908,
     "v_dot2c_f32_f16_dpp v10, v2, v3 quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf",
     {0x6e1406fa, 0xff001b02},
     1,
     dot2c_f16_dpp},
    {ISA_GFX908,
     "v_dot2c_i32_i16_dpp v10, v2, v3 quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf",
     {0x701406fa, 0xff001b02},
     1,
     dot2c_i16_dpp},
    {ISA_GFX908,
     "v_dot4c_i32_i8_dpp v10, v2, v3 quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf",
     {0x721406fa, 0xff001b02},
     1,
     dot4c_dpp},
    {ISA_GFX908, "v_dot2c_f32_f16_e64 v10, v2, v3", {0xd137000a, 0x00020702}, 1, dot2c_f16},
    {ISA_GFX908, "v_dot2c_i32_i16_e64 v10, v2, v3", {0xd138000a, 0x00020702}, 1, dot2c_i16},
    {ISA_GFX908, "v_dot4c_i32_i8_e64 v10, v2, v3", {0xd139000a, 0x00020702}, 1, dot4c},
    {ISA_GFX908, "v_dot8c_i32_i4_e64 v10, v2, v3", {0xd13a000a, 0x00020702}, 1, dot8c},
    {ISA_GFX90A, "v_pk_fmac_f16_e32 v10, v2, v3", {0x78140702}, 1, pk_fmac},
    {ISA_GFX942, "v_mov_b64_e32 v[10:11], v[2:3]", {0x7e147102}, 2, mov_b64},
    {ISA_GFX942, "v_mov_b64_e32 v[10:11], s[4:5]", {0x7e147004}, 2, mov_b64_scalar},
    {ISA_GFX942,
     "v_mov_b64_e32 v[10:11], 0x80005555",
     {0x7e1470ff, 0x80005555},
     2,
     mov_b64_literal},
    {ISA_GFX942,
     "v_lshl_add_u64 v[10:11], v[2:3], 3, v[4:5]",
     {0xd208000a, 0x04110702},
     2,
     lshl_add_3},
    {ISA_GFX942,
     "v_lshl_add_u64 v[10:11], v[2:3], v6, v[4:5]",
     {0xd208000a, 0x04120d02},
     2,
     lshl_add},
    {ISA_GFX942, "v_fmamk_f32 v10, v2, 0x40490fdb, v3", {0x2e140702, 0x40490fdb}, 1, fmamk},
    {ISA_GFX942, "v_fmaak_f32 v10, v2, v3, 0x40490fdb", {0x30140702, 0x40490fdb}, 1, fmaak},
    {ISA_GFX942, "v_cvt_f32_fp8_e32 v10, v2", {0x7e14a902}, 1, cvt_f32_fp8},
    {ISA_GFX942,
     "v_cvt_f32_fp8_sdwa v10, v2 src0_sel:BYTE_2",
     {0x7e14a8f9, 0x00020602},
     1,
     cvt_f32_fp8_byte},
    {ISA_GFX942, "v_cvt_pk_f32_fp8_e32 v[10:11], v2", {0x7e14ad02}, 2, cvt_pk_f32_fp8},
    {ISA_GFX942,
     "v_cvt_pk_f32_fp8_sdwa v[10:11], v2 src0_sel:WORD_1",
     {0x7e14acf9, 0x00050602},
     2,
     cvt_pk_f32_fp8_high},
    {ISA_GFX942, "v_cvt_f32_bf8_e32 v10, v2", {0x7e14ab02}, 1, cvt_f32_bf8},
    {ISA_GFX942,
     "v_cvt_f32_bf8_sdwa v10, v2 src0_sel:BYTE_3",
     {0x7e14aaf9, 0x00030602},
     1,
     cvt_f32_bf8_byte},
    {ISA_GFX942, "v_cvt_pk_f32_bf8_e32 v[10:11], v2", {0x7e14af02}, 2, cvt_pk_f32_bf8},
    {ISA_GFX942,
     "v_cvt_pk_f32_bf8_sdwa v[10:11], v2 src0_sel:WORD_1",
     {0x7e14aef9, 0x00050602},
     2,
     cvt_pk_f32_bf8_high},
    {ISA_GFX942, "v_mov_b64_e64 v[10:11], v[2:3]", {0xd178000a, 0x00000102}, 2, mov_b64},
    {ISA_GFX942, "v_cvt_f32_fp8_e64 v10, v2", {0xd194000a, 0x00000102}, 1, cvt_f32_fp8},
    {ISA_GFX942, "v_cvt_f32_bf8_e64 v10, v2", {0xd195000a, 0x00000102}, 1, cvt_f32_bf8},
    {ISA_GFX942, "v_cvt_pk_f32_fp8_e64 v[10:11], v2", {0xd196000a, 0x00000102}, 2, cvt_pk_f32_fp8},
    {ISA_GFX942, "v_cvt_pk_f32_bf8_e64 v[10:11], v2", {0xd197000a, 0x00000102}, 2, cvt_pk_f32_bf8},
    {ISA_GFX942,
     "v_cvt_f32_fp8_dpp v10, v2 quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf",
     {0x7e14a8fa, 0xff001b02},
     1,
     cvt_f32_fp8_dpp},
    {ISA_GFX942,
     "v_cvt_pk_f32_fp8_dpp v[10:11], v2 row_newbcast:5 row_mask:0xf bank_mask:0xf",
     {0x7e14acfa, 0xff015502},
     2,
     cvt_pk_f32_fp8_dpp},
    {ISA_GFX942,
     "v_cvt_pk_f32_bf8_dpp v[10:11], v2 row_newbcast:5 row_mask:0xf bank_mask:0xf",
     {0x7e14aefa, 0xff015502},
     2,
     cvt_pk_f32_bf8_dpp},
    {ISA_GFX942,
     "v_cvt_f32_bf8_dpp v10, v2 quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf",
     {0x7e14aafa, 0xff001b02},
     1,
     cvt_f32_bf8_dpp},
    {ISA_GFX942, "v_cvt_pk_fp8_f32 v10, v2, v3", {0xd2a2000a, 0x00020702}, 1, cvt_pk_fp8},
    {ISA_GFX942,
     "v_cvt_pk_fp8_f32 v10, -v2, |v3| op_sel:[0,0,1]",
     {0xd2a2420a, 0x20020702},
     1,
     cvt_pk_fp8_signs},
    {ISA_GFX942, "v_cvt_pk_bf8_f32 v10, v2, v3", {0xd2a3000a, 0x00020702}, 1, cvt_pk_bf8},
    {ISA_GFX942,
     "v_cvt_pk_bf8_f32 v10, v2, v3 op_sel:[0,0,1]",
     {0xd2a3400a, 0x00020702},
     1,
     cvt_pk_bf8_high},
    {ISA_GFX942, "v_cvt_sr_fp8_f32 v10, v2, v3", {0xd2a4000a, 0x00020702}, 1, cvt_sr_fp8},
    {ISA_GFX942,
     "v_cvt_sr_fp8_f32 v10, v2, v3 op_sel:[0,0,1,0]",
     {0xd2a4200a, 0x00020702},
     1,
     cvt_sr_fp8_1},
    {ISA_GFX942,
     "v_cvt_sr_bf8_f32 v10, v2, v3 op_sel:[0,0,0,1]",
     {0xd2a5400a, 0x00020702},
     1,
     cvt_sr_bf8_2},
    {ISA_GFX942,
     "v_cvt_sr_bf8_f32 v10, v2, v3 op_sel:[0,0,1,1]",
     {0xd2a5600a, 0x00020702},
     1,
     cvt_sr_bf8_3},
};

/* Floats of moderate exponents, so that there are no NaNs: which one results is tested elsewhere.
 */
static uint32_t random_operand(bool halves, bool any)
{
    uint32_t x = random32(), kind = random32() % 8;
    if (any)
        return kind == 0   ? x & 0x807fffff
               : kind == 1 ? x | 0x7f800000
               : kind < 5  ? (x & 0x80ffffff) | (random32() % 48 + 100) << 23
                           : x;
    if (halves) /* 2^-14 to 2^1, denormals, zeros */
        return kind == 0 ? x & 0x83ff8000 : (x & 0x83ff83ff) | (kind << 26) | (kind / 2 + 6) << 10;
    return kind == 0 ? x & 0x807fffff : (x & 0x807fffff) | (random32() % 64 + 96) << 23;
}

static void check_vector_case(const struct vector_case *c, enum isa_target target, bool saturate)
{
    struct isa_inst inst;
    bool fp8 = strstr(c->text, "p8") || strstr(c->text, "bf8"), halves = strstr(c->text, "f16");
    unsigned half_registers = strstr(c->text, "pk_fmac") ? 16 : 10;
    struct machine before;
    decode(c->target, c->text, c->word, &inst);
    if (!decodes_on(target, c->target, c->word, &inst))
        return;
    machine_init(&m);
    m.wave.mode = 0xf0 | (saturate ? 1u << 23 : 0);
    for (unsigned i = 0; i < 16 * 64; i++)
        m.vgpr[i] = random_operand(halves && i / 64 < half_registers, fp8);
    m.wave.sgpr[4] = random_operand(false, false);
    m.wave.sgpr[5] = random32();
    isa_wave_set_pair(&m.wave, ISA_EXEC, (uint64_t)random32() << 32 | random32());
    if (inst.flags & ISA_IS_DPP)
        isa_wave_set_pair(&m.wave, ISA_EXEC, UINT64_MAX);
    before = m;
    cr_assert_eq(isa_execute(&m.ctx, &m.wave, &inst), ISA_OK, "%s", c->text);
    struct machine after = m;
    m = before;
    for (unsigned lane = 0; lane < 64; lane++) {
        struct lane l = {.s = {m.wave.sgpr[4], m.wave.sgpr[5]}, .number = lane};
        for (unsigned reg = 0; reg < 16; reg++)
            l.v[reg] = m.vgpr[reg * 64 + lane];
        bool active = isa_wave_exec(&m.wave) >> lane & 1;
        uint64_t expected = active ? c->model(&l) : pair(&l, 10);
        uint64_t found = machine_get64(&after, 10, lane), mask = c->dwords == 2 ? ~0ull : ~0u;
        cr_assert_eq(found & mask, expected & mask, "%s: %llx, not %llx (%x %x %x, %x)", c->text,
                     (unsigned long long)(found & mask), (unsigned long long)(expected & mask),
                     l.v[2], l.v[3], l.v[4], l.v[10]);
    }
    covered_mark(&inst);
}

Test(isa_cdna, vector_instructions)
{
    for (unsigned i = 0; i < sizeof vector_cases / sizeof *vector_cases; i++)
        for (unsigned target = 0; target < ISA_TARGET_COUNT; target++)
            for (unsigned try = 0; try < TRIES; try++)
                check_vector_case(&vector_cases[i], (enum isa_target)target, try % 2);
}

/* v_dot2c_f32_f16 to v_dot8c_i32_i4 v10, v2, v3, all of each source. */
Test(isa_cdna, dot_products_that_accumulate_have_no_sdwa_form)
{
    for (uint32_t opcode = 0x37; opcode <= 0x3a; opcode++) {
        const uint32_t word[] = {opcode << 25 | 10 << 17 | 3 << 9 | 249, 0x06060602};
        struct isa_inst inst;
        for (unsigned target = ISA_GFX908; target < ISA_TARGET_COUNT; target++)
            cr_expect_lt(isa_decode((enum isa_target)target, word, 12, &inst), 0);
    }
}

Test(isa_cdna, every_byte_is_widened_and_narrowed_to_itself)
{
    const enum type types[] = {FP8, BF8};
    machine_init(&m);
    for (unsigned t = 0; t < 2; t++)
        for (unsigned byte = 0; byte < 256; byte++)
            cr_expect_eq(narrow(types[t], widen(types[t], byte), false), byte);
}

/* A broadcast within rows of 16, of one and of two dwords. */
Test(isa_cdna, a_row_gets_the_value_of_one_of_its_lanes)
{
    static const struct vector_case cases[] = {
        {ISA_GFX90A,
         "v_mov_b32_dpp v10, v2 row_newbcast:5 row_mask:0xf bank_mask:0xf",
         {0x7e1402fa, 0xff015502},
         1,
         NULL},
        {ISA_GFX942,
         "v_mov_b64_dpp v[10:11], v[2:3] row_newbcast:7 row_mask:0xf bank_mask:0xf",
         {0x7e1470fa, 0xff015702},
         2,
         NULL},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct vector_case *c = &cases[i];
        struct isa_inst inst;
        decode(c->target, c->text, c->word, &inst);
        machine_init(&m);
        for (unsigned at = 0; at < 4 * 64; at++)
            m.vgpr[at] = random32();
        unsigned from = i == 0 ? 5 : 7;
        cr_assert_eq(isa_execute(&m.ctx, &m.wave, &inst), ISA_OK);
        for (unsigned lane = 0; lane < 64; lane++)
            for (unsigned reg = 0; reg < c->dwords; reg++)
                cr_expect_eq(m.vgpr[(10 + reg) * 64 + lane],
                             m.vgpr[(2 + reg) * 64 + lane / 16 * 16 + from]);
        covered_mark(&inst);
    }
}

/* ---- accumulators ---- */

static void run(enum isa_target target, const char *text, const uint32_t *word)
{
    struct isa_inst inst;
    decode(target, text, word, &inst);
    cr_assert_eq(isa_execute(&m.ctx, &m.wave, &inst), ISA_OK, "%s", text);
    covered_mark(&inst);
}

static void use_accumulators(void)
{
    machine_init(&m);
    m.ctx.vgpr_count = 128;
    m.ctx.agpr_count = 128;
    for (unsigned i = 0; i < MACHINE_VGPRS * 64; i++)
        m.vgpr[i] = random32();
}

/* gfx908 has no move between accumulators. */
static void move_accumulators(enum isa_target target)
{
    const uint32_t write[] = {0xd3d94001, 0x18000102}, constant[] = {0xd3d94001, 0x180000d0};
    const uint32_t move[] = {0x7e04a501}, read[] = {0xd3d8400a, 0x18000102};
    use_accumulators();
    const uint64_t exec = UINT64_C(0x123456789abcdef0);
    uint32_t old[64];
    memcpy(old, &m.vgpr[10 * 64], sizeof old);
    isa_wave_set_pair(&m.wave, ISA_EXEC, exec);
    run(target, "v_accvgpr_write_b32 a1, v2", write);
    if (isa_traits[target].accumulators == ISA_ACCUMULATORS_UNIFIED)
        run(target, "v_accvgpr_mov_b32 a2, a1", move);
    else
        memcpy(&m.vgpr[130 * 64], &m.vgpr[129 * 64], 256);
    run(target, "v_accvgpr_write_b32 a1, -16", constant);
    run(target, "v_accvgpr_read_b32 v10, a2", read);
    for (unsigned lane = 0; lane < 64; lane++) {
        bool active = exec >> lane & 1;
        cr_expect_eq(m.vgpr[10 * 64 + lane], active ? m.vgpr[2 * 64 + lane] : old[lane]);
        if (active)
            cr_expect_eq(m.vgpr[129 * 64 + lane], (uint32_t)-16);
    }
    m.ctx.agpr_count = 2;
    struct isa_inst inst;
    decode(target, "v_accvgpr_read_b32 v10, a2", read, &inst);
    cr_expect_eq(isa_execute(&m.ctx, &m.wave, &inst), ISA_BAD_REGISTER);
}

Test(isa_cdna, accumulators_are_moved)
{
    for (unsigned target = 0; target < ISA_TARGET_COUNT; target++)
        if (isa_traits[target].accumulators != ISA_ACCUMULATORS_NONE)
            move_accumulators((enum isa_target)target);
}

Test(isa_cdna, accumulators_are_data_of_lds_instructions)
{
    const uint32_t write[] = {0xda9a0000, 0x00000402}, read[] = {0xdaec0000, 0x04000002};
    use_accumulators();
    for (unsigned lane = 0; lane < 64; lane++)
        m.vgpr[2 * 64 + lane] = 8 * (63 - lane);
    struct machine before = m;
    run(ISA_GFX90A, "ds_write_b64 v2, a[4:5]", write);
    for (unsigned lane = 0; lane < 64; lane++)
        cr_expect_eq(memcmp(&m.lds[8 * (63 - lane)], &before.vgpr[132 * 64 + lane], 4), 0);
    memset(&m.vgpr[132 * 64], 0, 512);
    run(ISA_GFX90A, "ds_read_b64 a[4:5], v2", read);
    cr_expect_arr_eq(m.vgpr, before.vgpr, sizeof m.vgpr);
}

Test(isa_cdna, accumulators_are_data_of_memory_instructions)
{
    const uint32_t store[] = {0xdc748000, 0x00ff0402}, load[] = {0xdc548000, 0x04ff0002};
    static uint8_t data[64][16];
    struct isa_memory access;
    struct isa_inst inst;
    use_accumulators();
    decode(ISA_GFX90A, "global_store_dwordx2 v[2:3], a[4:5], off", store, &inst);
    cr_assert_eq(isa_memory_addresses(&m.ctx, &m.wave, &inst, &access), ISA_OK);
    isa_memory_store(&m.ctx, &inst, &access, data, 16);
    for (unsigned lane = 0; lane < 64; lane++)
        cr_expect_eq(memcmp(data[lane] + 4, &m.vgpr[133 * 64 + lane], 4), 0);
    covered_mark(&inst);
    memset(data, 0x5a, sizeof data);
    decode(ISA_GFX90A, "global_load_dwordx2 a[4:5], v[2:3], off", load, &inst);
    cr_assert_eq(isa_memory_addresses(&m.ctx, &m.wave, &inst, &access), ISA_OK);
    isa_memory_load(&m.ctx, &inst, &access, data, 16);
    for (unsigned lane = 0; lane < 64; lane++)
        cr_expect_eq(machine_get64(&m, 132, lane), UINT64_C(0x5a5a5a5a5a5a5a5a));
    covered_mark(&inst);
}

/* ---- atomics: addresses in v[2:3] or v2, operands in v4 or v[4:5] ---- */

enum sum { SUM_F64, LEAST_F64, MOST_F64, SUM_F32, SUM_2F16, SUM_2BF16 };

static uint64_t sum_of(enum type type, uint64_t a, uint64_t b)
{
    struct number x = number_of(type, a), y = number_of(type, b);
    struct fixed sum = fixed_make(x.sign, x.significand, x.exponent),
                 other = fixed_make(y.sign, y.significand, y.exponent);
    fixed_add(&sum, &other);
    if (!x.significand && !y.significand)
        return a & b;
    return fixed_round(&sum, layouts[type].fraction, 1 - layouts[type].bias);
}

static bool is_less(uint64_t a, uint64_t b)
{
    int64_t x = (int64_t)a, y = (int64_t)b;
    x = x < 0 ? INT64_MIN - x : x;
    y = y < 0 ? INT64_MIN - y : y;
    return x < y;
}

static uint64_t atomic_result(enum sum op, uint64_t old, uint64_t operand)
{
    enum type half = op == SUM_2F16 ? F16 : BF16;
    switch (op) {
    case SUM_F64:
        return sum_of(F64, old, operand);
    case LEAST_F64:
        return is_less(operand, old) ? operand : old;
    case MOST_F64:
        return is_less(old, operand) ? operand : old;
    case SUM_F32:
        return sum_of(F32, old, operand);
    default:
        return sum_of(half, old & 0xffff, operand & 0xffff)
               | sum_of(half, old >> 16, operand >> 16) << 16;
    }
}

static const struct atomic_case {
    enum isa_target target;
    const char *text;
    uint32_t word[3];
    enum sum op;
} atomic_cases[] = {
    {ISA_GFX90A,
     "flat_atomic_add_f64 v[10:11], v[2:3], v[4:5] glc",
     {0xdd3d0000, 0x0a000402},
     SUM_F64},
    {ISA_GFX90A, "global_atomic_add_f64 v[2:3], v[4:5], off", {0xdd3c8000, 0x007f0402}, SUM_F64},
    {ISA_GFX90A,
     "global_atomic_min_f64 v[10:11], v[2:3], v[4:5], off glc",
     {0xdd418000, 0x0a7f0402},
     LEAST_F64},
    {ISA_GFX90A,
     "global_atomic_max_f64 v[10:11], v[2:3], v[4:5], off glc",
     {0xdd458000, 0x0a7f0402},
     MOST_F64},
    {ISA_GFX90A,
     "flat_atomic_min_f64 v[10:11], v[2:3], v[4:5] glc",
     {0xdd410000, 0x0a000402},
     LEAST_F64},
    {ISA_GFX90A,
     "flat_atomic_max_f64 v[10:11], v[2:3], v[4:5] glc",
     {0xdd450000, 0x0a000402},
     MOST_F64},
    {ISA_GFX90A,
     "buffer_atomic_add_f64 v[4:5], v2, s[8:11], 0 offen glc",
     {0xe13c5000, 0x80020402},
     SUM_F64},
    {ISA_GFX90A,
     "buffer_atomic_min_f64 v[4:5], v2, s[8:11], 0 offen glc",
     {0xe1405000, 0x80020402},
     LEAST_F64},
    {ISA_GFX90A,
     "buffer_atomic_max_f64 v[4:5], v2, s[8:11], 0 offen glc",
     {0xe1445000, 0x80020402},
     MOST_F64},
    {ISA_GFX90A,
     "global_atomic_add_f32 v10, v[2:3], v4, off glc",
     {0xdd358000, 0x0a7f0402},
     SUM_F32},
    {ISA_GFX90A,
     "global_atomic_pk_add_f16 v10, v[2:3], v4, off glc",
     {0xdd398000, 0x0a7f0402},
     SUM_2F16},
    {ISA_GFX90A,
     "buffer_atomic_add_f32 v4, v2, s[8:11], 0 offen glc",
     {0xe1345000, 0x80020402},
     SUM_F32},
    {ISA_GFX90A,
     "buffer_atomic_pk_add_f16 v4, v2, s[8:11], 0 offen glc",
     {0xe1385000, 0x80020402},
     SUM_2F16},
    {ISA_GFX908, "global_atomic_add_f32 v[2:3], v4, off", {0xdd348000, 0x007f0402}, SUM_F32},
    {ISA_GFX908, "global_atomic_pk_add_f16 v[2:3], v4, off", {0xdd388000, 0x007f0402}, SUM_2F16},
    {ISA_GFX908,
     "buffer_atomic_add_f32 v4, v2, s[8:11], 0 offen",
     {0xe1341000, 0x80020402},
     SUM_F32},
    {ISA_GFX908,
     "buffer_atomic_pk_add_f16 v4, v2, s[8:11], 0 offen",
     {0xe1381000, 0x80020402},
     SUM_2F16},
    {ISA_GFX942, "flat_atomic_add_f32 v10, v[2:3], v4 sc0", {0xdd350000, 0x0a000402}, SUM_F32},
    {ISA_GFX942, "flat_atomic_pk_add_f16 v10, v[2:3], v4 sc0", {0xdd390000, 0x0a000402}, SUM_2F16},
    {ISA_GFX942,
     "flat_atomic_pk_add_bf16 v10, v[2:3], v4 sc0",
     {0xdd490000, 0x0a000402},
     SUM_2BF16},
    {ISA_GFX942,
     "global_atomic_pk_add_bf16 v10, v[2:3], v4, off sc0",
     {0xdd498000, 0x0a7f0402},
     SUM_2BF16},
    {ISA_GFX90A, "ds_add_f64 v2, v[4:5]", {0xd8b80000, 0x00000402}, SUM_F64},
    {ISA_GFX90A, "ds_add_rtn_f64 v[10:11], v2, v[4:5]", {0xd8f80000, 0x0a000402}, SUM_F64},
    {ISA_GFX942, "ds_pk_add_f16 v2, v4", {0xd82e0000, 0x00000402}, SUM_2F16},
    {ISA_GFX942, "ds_pk_add_rtn_f16 v10, v2, v4", {0xd96e0000, 0x0a000402}, SUM_2F16},
    {ISA_GFX942, "ds_pk_add_bf16 v2, v4", {0xd8300000, 0x00000402}, SUM_2BF16},
    {ISA_GFX942, "ds_pk_add_rtn_bf16 v10, v2, v4", {0xd9700000, 0x0a000402}, SUM_2BF16},
};

/* Bytes of an operand: no exponents of all ones. */
static uint64_t random_number(enum sum op)
{
    uint64_t x = (uint64_t)random32() << 32 | random32();
    if (op <= MOST_F64)
        return x & ~(UINT64_C(1) << 62);
    return (uint32_t)x & (op == SUM_2F16 ? 0xbfffbfff : op == SUM_F32 ? 0xbfffffff : 0xbfffbfff);
}

static void access_memory(const struct isa_inst *inst, uint8_t *memory)
{
    struct isa_memory access;
    uint8_t data[64][16], old[64][16];
    cr_assert_eq(isa_memory_addresses(&m.ctx, &m.wave, inst, &access), ISA_OK);
    cr_assert_eq(access.kind, ISA_MEMORY_ATOMIC);
    cr_assert_eq(access.mask, isa_wave_exec(&m.wave));
    isa_memory_store(&m.ctx, inst, &access, data, 16);
    for (unsigned lane = 0; lane < 64; lane++)
        if (access.mask >> lane & 1)
            isa_atomic_apply((enum isa_atomic)access.atomic, access.bytes,
                             memory + (access.address[lane] - BASE), data[lane], NULL, old[lane]);
    if (access.returns)
        isa_memory_load(&m.ctx, inst, &access, old, 16);
}

static void prepare_atomic(const struct atomic_case *c, bool lds)
{
    bool buffer = c->text[0] == 'b';
    const uint32_t resource[4] = {BASE, 0, MEMORY, 0x00027000};
    machine_init(&m);
    memcpy(&m.wave.sgpr[8], resource, sizeof resource);
    isa_wave_set_pair(&m.wave, ISA_EXEC, (uint64_t)random32() << 32 | random32());
    for (unsigned lane = 0; lane < 64; lane++) {
        uint64_t operand = random_number(c->op);
        m.vgpr[2 * 64 + lane] = lane * 8 + (lds || buffer ? 0 : BASE);
        m.vgpr[3 * 64 + lane] = 0;
        m.vgpr[4 * 64 + lane] = (uint32_t)operand;
        m.vgpr[5 * 64 + lane] = (uint32_t)(operand >> 32);
    }
}

static void check_atomic_case(const struct atomic_case *c, enum isa_target target)
{
    static uint8_t memory[MEMORY], before[MEMORY];
    bool lds = c->text[0] == 'd', buffer = c->text[0] == 'b';
    unsigned bytes = c->op <= MOST_F64 ? 8 : 4;
    struct isa_inst inst;
    decode(c->target, c->text, c->word, &inst);
    if (!decodes_on(target, c->target, c->word, &inst))
        return;
    prepare_atomic(c, lds);
    for (unsigned lane = 0; lane < 64; lane++) {
        uint64_t old = random_number(c->op);
        memcpy(before + 8 * lane, &old, 8);
    }
    memcpy(memory, before, MEMORY);
    memcpy(m.lds, before, MACHINE_LDS);
    struct machine registers = m;
    if (lds)
        cr_assert_eq(isa_execute(&m.ctx, &m.wave, &inst), ISA_OK);
    else
        access_memory(&inst, memory);
    for (unsigned lane = 0; lane < 64; lane++) {
        uint64_t old = 0, found = 0, operand = machine_get64(&registers, 4, lane);
        bool active = isa_wave_exec(&m.wave) >> lane & 1;
        memcpy(&old, before + 8 * lane, bytes);
        memcpy(&found, (lds ? m.lds : memory) + 8 * lane, bytes);
        operand = bytes == 8 ? operand : (uint32_t)operand;
        uint64_t expected = active ? atomic_result(c->op, old, operand) : old;
        cr_assert_eq(found, expected, "%s: %llx, not %llx (%llx, %llx)", c->text,
                     (unsigned long long)found, (unsigned long long)expected,
                     (unsigned long long)old, (unsigned long long)operand);
        if (!active || !(inst.flags & ISA_RETURNS))
            continue;
        uint64_t returned = machine_get64(&m, buffer ? 4 : 10, lane);
        cr_assert_eq(bytes == 8 ? returned : (uint32_t)returned, old, "%s", c->text);
    }
    covered_mark(&inst);
}

Test(isa_cdna, float_and_packed_atomics)
{
    for (unsigned i = 0; i < sizeof atomic_cases / sizeof *atomic_cases; i++)
        for (unsigned target = 0; target < ISA_TARGET_COUNT; target++)
            for (unsigned try = 0; try < 16; try++)
                check_atomic_case(&atomic_cases[i], (enum isa_target)target);
}

/* ---- loads to LDS ---- */

static const struct lds_case {
    enum isa_target target;
    const char *text;
    uint32_t word[3];
    unsigned bytes;
    bool is_signed;
    unsigned offset;
} lds_cases[] = {
    {ISA_GFX942,
     "global_load_lds_dword v[2:3], off offset:16",
     {0xdca88010, 0x007f0002},
     4,
     false,
     16},
    {ISA_GFX942, "global_load_lds_ubyte v[2:3], off", {0xdc988000, 0x007f0002}, 1, false, 0},
    {ISA_GFX942, "global_load_lds_sbyte v[2:3], off", {0xdc9c8000, 0x007f0002}, 1, true, 0},
    {ISA_GFX942, "global_load_lds_ushort v[2:3], off", {0xdca08000, 0x007f0002}, 2, false, 0},
    {ISA_GFX942, "global_load_lds_sshort v[2:3], off", {0xdca48000, 0x007f0002}, 2, true, 0},
    {ISA_GFX942, "scratch_load_lds_dword v2, off offset:4", {0xdca86004, 0x007f0002}, 4, false, 4},
    {ISA_GFX942, "scratch_load_lds_ubyte v2, off", {0xdc986000, 0x007f0002}, 1, false, 0},
    {ISA_GFX942, "scratch_load_lds_sbyte v2, off", {0xdc9c6000, 0x007f0002}, 1, true, 0},
    {ISA_GFX942, "scratch_load_lds_ushort v2, off", {0xdca06000, 0x007f0002}, 2, false, 0},
    {ISA_GFX942, "scratch_load_lds_sshort v2, off", {0xdca46000, 0x007f0002}, 2, true, 0},
    {ISA_GFX942,
     "buffer_load_dword v2, s[8:11], 0 offen lds",
     {0xe0511000, 0x80020002},
     4,
     false,
     0},
};

/* M0 is where lane 0 writes, but for the instruction's offset, which counts on both sides. */
static void check_lds_case(const struct lds_case *c)
{
    enum { M0 = 32 };
    const uint32_t resource[4] = {BASE, 0, MEMORY, 0x00027000};
    struct isa_inst inst;
    struct isa_memory access;
    uint8_t data[64][16], lds[MACHINE_LDS];
    decode(c->target, c->text, c->word, &inst);
    machine_init(&m);
    memcpy(&m.wave.sgpr[8], resource, sizeof resource);
    m.wave.sgpr[ISA_M0] = 0xabc00000 | M0;
    isa_wave_set_pair(&m.wave, ISA_EXEC, UINT64_C(0xfedcba9876543210));
    for (unsigned i = 0; i < sizeof m.lds; i++)
        m.lds[i] = lds[i] = (uint8_t)random32();
    for (unsigned lane = 0; lane < 64; lane++) {
        m.vgpr[2 * 64 + lane] = 4 * (63 - lane);
        for (unsigned byte = 0; byte < 16; byte++)
            data[lane][byte] = (uint8_t)random32();
    }
    cr_assert_eq(isa_memory_addresses(&m.ctx, &m.wave, &inst, &access), ISA_OK);
    cr_expect_eq(access.kind, ISA_MEMORY_LOAD);
    cr_expect_eq(access.bytes, c->bytes);
    if (c->text[0] == 'g')
        cr_expect_eq(access.address[1], 4u * 62 + c->offset);
    isa_memory_load(&m.ctx, &inst, &access, data, 16);
    for (unsigned lane = 0; lane < 64; lane++) {
        int64_t value = 0, limit = INT64_C(1) << (8 * c->bytes - 1);
        memcpy(&value, data[lane], c->bytes);
        if (c->is_signed && value >= limit)
            value -= 2 * limit;
        uint32_t word = (uint32_t)value;
        if (isa_wave_exec(&m.wave) >> lane & 1)
            memcpy(lds + M0 + c->offset + 4 * lane, &word, 4);
    }
    cr_expect_arr_eq(m.lds, lds, sizeof lds, "%s", c->text);
    covered_mark(&inst);
}

Test(isa_cdna, loads_to_lds)
{
    for (unsigned i = 0; i < sizeof lds_cases / sizeof *lds_cases; i++)
        check_lds_case(&lds_cases[i]);
}

/* ---- scopes ---- */

static const struct {
    enum isa_target target;
    const char *text;
    uint32_t word[3];
    enum isa_cache_op op;
    enum isa_scope scope;
} scope_cases[] = {
    {ISA_GFX90A, "buffer_wbl2", {0xe0a00000, 0x00000000}, ISA_CACHE_RELEASE, ISA_SCOPE_SYSTEM},
    {ISA_GFX90A, "buffer_invl2", {0xe0a40000, 0x00000000}, ISA_CACHE_ACQUIRE, ISA_SCOPE_SYSTEM},
    {ISA_GFX90A,
     "buffer_wbinvl1_vol",
     {0xe0fc0000, 0x00000000},
     ISA_CACHE_INVALIDATE_VECTOR,
     ISA_SCOPE_AGENT},
    {ISA_GFX942, "buffer_wbl2 sc1", {0xe0a08000, 0x00000000}, ISA_CACHE_RELEASE, ISA_SCOPE_AGENT},
    {ISA_GFX942,
     "buffer_wbl2 sc0 sc1",
     {0xe0a0c000, 0x00000000},
     ISA_CACHE_RELEASE,
     ISA_SCOPE_SYSTEM},
    {ISA_GFX942,
     "buffer_inv sc0",
     {0xe0a44000, 0x00000000},
     ISA_CACHE_ACQUIRE,
     ISA_SCOPE_WORK_GROUP},
    {ISA_GFX942, "buffer_inv sc1", {0xe0a48000, 0x00000000}, ISA_CACHE_ACQUIRE, ISA_SCOPE_AGENT},
    {ISA_GFX942,
     "buffer_inv sc0 sc1",
     {0xe0a4c000, 0x00000000},
     ISA_CACHE_ACQUIRE,
     ISA_SCOPE_SYSTEM},
    {ISA_GFX942,
     "global_load_dword v10, v[2:3], off sc0 sc1",
     {0xde518000, 0x0a7f0002},
     ISA_CACHE_NONE,
     ISA_SCOPE_SYSTEM},
    {ISA_GFX942,
     "global_load_dword v10, v[2:3], off sc1",
     {0xde508000, 0x0a7f0002},
     ISA_CACHE_NONE,
     ISA_SCOPE_AGENT},
    {ISA_GFX942,
     "global_load_dword v10, v[2:3], off nt",
     {0xdc528000, 0x0a7f0002},
     ISA_CACHE_NONE,
     ISA_SCOPE_WAVEFRONT},
};

Test(isa_cdna, scopes_of_accesses_and_cache_operations)
{
    for (unsigned i = 0; i < sizeof scope_cases / sizeof *scope_cases; i++) {
        struct isa_inst inst;
        struct isa_memory access;
        decode(scope_cases[i].target, scope_cases[i].text, scope_cases[i].word, &inst);
        isa_memory_describe(&inst, &access);
        cr_expect_eq(access.cache_op, scope_cases[i].op, "%s", scope_cases[i].text);
        cr_expect_eq(access.scope, scope_cases[i].scope, "%s", scope_cases[i].text);
        if (scope_cases[i].op != ISA_CACHE_NONE)
            covered_mark(&inst);
        /* Only what is written back is waited for. */
        bool waits = inst.flags & ISA_RAISES_VM;
        cr_expect_eq(waits,
                     scope_cases[i].op == ISA_CACHE_RELEASE || scope_cases[i].op == ISA_CACHE_NONE);
    }
}

/* First words of a load, a store and an atomic of global memory: flat on gfx803. */
static const struct {
    uint32_t word[2];
    enum isa_memory_kind kind;
} access_cases[] = {{{0xdc508000, 0x0a7f0002}, ISA_MEMORY_LOAD},
                    {{0xdc708000, 0x007f0a02}, ISA_MEMORY_STORE},
                    {{0xdd008000, 0x007f0a02}, ISA_MEMORY_ATOMIC}};

/* By bit: sc0 (glc), sc1 (scc), nt (slc). "User Guide for AMDGPU Backend", memory models of gfx6 to
 * gfx9, gfx90a and gfx942: how far an access is seen, and whether a load goes past what others of
 * the agent do not see. nt says nothing of that. */
static enum isa_scope scope_by_model(enum isa_target target, enum isa_memory_kind kind, bool sc0,
                                     bool sc1)
{
    if (target == ISA_GFX942 && kind == ISA_MEMORY_ATOMIC)
        return sc1 ? ISA_SCOPE_SYSTEM : ISA_SCOPE_AGENT;
    if (target == ISA_GFX942)
        return (enum isa_scope)(sc0 | sc1 << 1);
    return sc1 && target == ISA_GFX90A ? ISA_SCOPE_SYSTEM
           : sc0                       ? ISA_SCOPE_AGENT
                                       : ISA_SCOPE_WORK_GROUP;
}

static void check_policy(enum isa_target target, unsigned which, unsigned bits)
{
    bool sc0 = bits & 1, sc1 = bits & 2, nt = bits & 4, is_scope = target == ISA_GFX942;
    uint32_t word[3] = {access_cases[which].word[0], access_cases[which].word[1], 0};
    enum isa_memory_kind kind = access_cases[which].kind;
    struct isa_inst inst;
    struct isa_memory access;
    if (target == ISA_GFX803) {
        word[0] &= ~UINT32_C(0x8000);
        word[1] &= ~UINT32_C(0x7f0000);
    }
    word[0] |= (uint32_t)sc0 << 16 | (uint32_t)nt << 17 | (uint32_t)sc1 << 25;
    cr_assert_gt(isa_decode(target, word, 12, &inst), 0);
    isa_memory_describe(&inst, &access);
    cr_expect_eq(access.kind, kind);
    cr_expect_eq(access.scope, scope_by_model(target, kind, sc0, sc1),
                 "target %d, kind %d, bits %u: scope %u", (int)target, (int)kind, bits,
                 access.scope);
    if (kind == ISA_MEMORY_LOAD) {
        bool past = is_scope ? sc1 : sc0 || (sc1 && target == ISA_GFX90A);
        cr_expect_eq(access.glc, past);
        cr_expect_eq(isa_is_coherent(&inst), past);
    }
}

Test(isa_cdna, every_cache_policy_has_the_scope_of_the_memory_model)
{
    static const enum isa_target targets[] = {ISA_GFX803, ISA_GFX900, ISA_GFX906,
                                              ISA_GFX908, ISA_GFX90A, ISA_GFX942};
    for (unsigned t = 0; t < sizeof targets / sizeof targets[0]; t++)
        for (unsigned which = 0; which < sizeof access_cases / sizeof access_cases[0]; which++)
            for (unsigned bits = 0; bits < 8; bits++)
                if (targets[t] >= ISA_GFX90A || !(bits & 2)) /* others have no scc */
                    check_policy(targets[t], which, bits);
}

Test(isa_cdna, a_wavefront_reads_the_number_of_its_die)
{
    const uint32_t word[] = {0xb880f814};
    machine_init(&m);
    m.wave.sgpr[0] = 5;
    run(ISA_GFX942, "s_getreg_b32 s0, hwreg(HW_REG_XCC_ID)", word);
    cr_expect_eq(m.wave.sgpr[0], 0);
}

/* ---- rates ---- */

/* Cycles of 16 lanes that llvm-mca 19 gives instructions on gfx90a and gfx942 (its SISchedule);
 * others it gives one. */
static unsigned passes_of_llvm(const char *mnemonic)
{
    static const char *const fours[] = {
        "v_cvt_f32_i32",    "v_cvt_f32_u32",    "v_cvt_u32_f32",     "v_cvt_i32_f32",
        "v_cvt_f16_f32",    "v_cvt_f32_f16",    "v_cvt_rpi_i32_f32", "v_cvt_flr_i32_f32",
        "v_cvt_off_f32_i4", "v_cvt_f32_fp8",    "v_cvt_f32_bf8",     "v_cvt_pk_f32_fp8",
        "v_cvt_pk_f32_bf8", "v_cvt_pk_fp8_f32", "v_cvt_pk_bf8_f32",  "v_cvt_sr_fp8_f32",
        "v_cvt_sr_bf8_f32", "v_exp_f32",        "v_log_f32",         "v_rcp_f32",
        "v_rcp_iflag_f32",  "v_rsq_f32",        "v_sqrt_f32",        "v_sin_f32",
        "v_cos_f32",        "v_rcp_f16",        "v_sqrt_f16",        "v_rsq_f16",
        "v_log_f16",        "v_exp_f16",        "v_sin_f16",         "v_cos_f16",
        "v_exp_legacy_f32", "v_log_legacy_f32", "v_rcp_f64",         "v_rsq_f64",
        "v_sqrt_f64",       "v_qsad_pk_u16_u8", "v_mqsad_u32_u8"};
    for (size_t i = 0; i < sizeof fours / sizeof fours[0]; i++)
        if (!strcmp(mnemonic, fours[i]))
            return 4;
    return 1;
}

Test(isa_cdna, vector_instructions_have_the_rates_of_llvm)
{
    /* What the compute unit takes for a class on these targets, in passes of 4 cycles; a system
     * test has its parameters. */
    static const unsigned passes[ISA_TIMING_COUNT] = {
        [ISA_TIMING_FULL] = 1,    [ISA_TIMING_CONVERT] = 4,  [ISA_TIMING_MULTIPLY] = 1,
        [ISA_TIMING_QUARTER] = 4, [ISA_TIMING_TRANS] = 4,    [ISA_TIMING_F64_ADD] = 1,
        [ISA_TIMING_F64_MUL] = 1, [ISA_TIMING_F64_TRANS] = 4};
    unsigned compared = 0;
    for (size_t i = 0; i < isa_row_count(); i++) {
        struct isa_row row = isa_row(i);
        bool there = row.opcode[ISA_GFX90A] >= 0 || row.opcode[ISA_GFX942] >= 0;
        if (row.unit != ISA_UNIT_VALU || row.timing == ISA_TIMING_MATRIX || !there)
            continue;
        cr_expect_eq(passes[row.timing], passes_of_llvm(row.mnemonic), "%s", row.mnemonic);
        compared++;
    }
    cr_expect_geq(compared, 450, "%u", compared);
}
