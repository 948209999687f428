/* The formats of floating point as numbers, and a fused multiply-add of them in fixed point
 * (fixed_point.h). No floating-point arithmetic is used. */
#ifndef HEDDLE_TESTS_COMPONENTS_AMD_ISA_FIXED_FLOAT_H
#define HEDDLE_TESTS_COMPONENTS_AMD_ISA_FIXED_FLOAT_H

#include "fixed_point.h"

enum type { F64, F32, XF32, F16, BF16, FP8, BF8, I8 };

/* (-1)^sign * significand * 2^exponent, or not finite. */
struct number {
    bool sign, is_nan, is_infinite;
    uint64_t significand;
    int exponent;
};

static const struct layout {
    int bits, fraction, bias;
    bool fnuz;
} layouts[] = {
    [F64] = {64, 52, 1023, false}, [F32] = {32, 23, 127, false}, [XF32] = {32, 23, 127, false},
    [F16] = {16, 10, 15, false},   [BF16] = {16, 7, 127, false}, [FP8] = {8, 3, 8, true},
    [BF8] = {8, 2, 16, true},      [I8] = {8, 0, 0, false}};

static inline struct number number_of(enum type type, uint64_t bits)
{
    const struct layout *l = &layouts[type];
    int field_bits = l->bits - 1 - l->fraction;
    uint64_t fraction = bits & ((UINT64_C(1) << l->fraction) - 1);
    int field = (int)(bits >> l->fraction & ((1u << field_bits) - 1));
    struct number n = {.sign = bits >> (l->bits - 1) & 1};
    if (l->fnuz && bits == 0x80)
        n.is_nan = true;
    else if (!l->fnuz && field == (1 << field_bits) - 1)
        n.is_nan = fraction != 0, n.is_infinite = !fraction;
    n.significand = fraction | (field ? UINT64_C(1) << l->fraction : 0);
    n.exponent = (field ? field : 1) - l->bias - l->fraction;
    if (type == XF32)
        n.significand &= ~UINT64_C(0x1fff);
    return n;
}

static inline int leading_exponent(const struct number *n)
{
    return n->exponent + 63 - __builtin_clzll(n->significand);
}

static inline bool is_denormal(enum type type, uint64_t bits)
{
    const struct layout *l = &layouts[type];
    uint64_t magnitude = bits & ((UINT64_C(1) << (l->bits - 1)) - 1);
    return magnitude && !(magnitude >> l->fraction);
}

static inline uint64_t quiet(bool wide)
{
    return wide ? UINT64_C(0x7ff8000000000000) : 0x7fc00000;
}

static inline uint64_t rounded(const struct fixed *x, bool wide)
{
    return wide ? fixed_round(x, 52, -1022) : fixed_round(x, 23, -126);
}

/* a * b + c, rounded once; the sign of a sum of zeros is minus only if both are. */
static inline uint64_t fused(enum type type, uint64_t a_bits, uint64_t b_bits, uint64_t c_bits)
{
    enum type wide_type = type == F64 ? F64 : F32;
    struct number a = number_of(type, a_bits), b = number_of(type, b_bits),
                  c = number_of(wide_type, c_bits);
    bool sign = a.sign ^ b.sign, infinite = a.is_infinite || b.is_infinite;
    uint64_t top = UINT64_C(1) << (layouts[wide_type].bits - 1);
    uint64_t infinity = wide_type == F64 ? UINT64_C(0x7ff0000000000000) : 0x7f800000;
    if (a.is_nan || b.is_nan || c.is_nan || (infinite && (!a.significand || !b.significand)))
        return quiet(wide_type == F64);
    if (infinite && c.is_infinite && sign != c.sign)
        return quiet(wide_type == F64);
    if (infinite || c.is_infinite)
        return ((infinite ? sign : c.sign) ? top : 0) | infinity;
    struct fixed sum =
        fixed_make(sign, (unsigned __int128)a.significand * b.significand, a.exponent + b.exponent);
    struct fixed addend = fixed_make(c.sign, c.significand, c.exponent);
    bool zero_product = !a.significand || !b.significand;
    fixed_add(&sum, &addend);
    if (zero_product && !c.significand)
        return sign && c.sign ? top : 0;
    return rounded(&sum, wide_type == F64);
}

#endif
