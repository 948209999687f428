/* Small floating-point formats. */
#include "warp_formats.h"

const struct warp_format warp_f16 = {5, 10, true, true}, warp_bf16 = {8, 7, true, true},
                         warp_tf32 = {8, 10, true, true}, warp_e4m3 = {4, 3, false, true},
                         warp_e5m2 = {5, 2, true, true}, warp_e3m2 = {3, 2, false, false},
                         warp_e2m3 = {2, 3, false, false}, warp_e2m1 = {2, 1, false, false};

/* Drops `shift` bits of the magnitude. */
static u64 round_bits(u64 magnitude, int shift, bool negative, enum warp_rounding mode)
{
    if (shift <= 0)
        return magnitude << -shift;
    if (shift > 62)
        shift = 62;
    u64 kept = magnitude >> shift, rest = magnitude & ((1ull << shift) - 1),
        half = 1ull << (shift - 1);
    switch (mode) {
    case ROUND_NEAREST:
        return kept + (rest > half || (rest == half && kept & 1));
    case ROUND_AWAY:
        return kept + (rest >= half);
    case ROUND_MINUS:
        return kept + (negative && rest);
    case ROUND_PLUS:
        return kept + (!negative && rest);
    default:
        return kept;
    }
}

static u32 largest(const struct warp_format *f)
{
    u32 all = (1u << (f->exponent + f->fraction)) - 1;
    return f->infinities ? all - (1u << f->fraction) : f->nans ? all - 1 : all;
}

u32 warp_format_bits(const struct warp_format *f, f64 x, enum warp_rounding mode, bool finite)
{
    u64 bits = bits64(x), fraction = bits & 0xfffffffffffffull;
    bool negative = bits >> 63;
    int exponent = (int)(bits >> 52 & 0x7ff);
    u32 sign = (u32)negative << (f->exponent + f->fraction), most = largest(f);
    u32 all = (1u << (f->exponent + f->fraction)) - 1;
    if (exponent == 0x7ff && fraction)
        return f->nans ? all : most;
    u32 beyond = f->infinities ? all - (1u << f->fraction) + 1 : f->nans ? all : most;
    if (finite)
        beyond = most;
    if (exponent == 0x7ff)
        return sign | beyond;
    if (!(bits << 1))
        return sign;
    int bias = (1 << (f->exponent - 1)) - 1;
    u64 magnitude = exponent ? fraction | 1ull << 52 : fraction;
    int scale = (exponent ? exponent : 1) - 1023 + bias; /* exponent field in the format */
    int shift = 52 - f->fraction + (scale < 1 ? 1 - scale : 0);
    u64 kept = round_bits(magnitude, shift, negative, mode);
    u64 value = kept + (scale > 1 ? (u64)(scale - 1) << f->fraction : 0);
    if (value <= most)
        return sign | (u32)value;
    bool stays = mode == ROUND_ZERO || (mode == ROUND_MINUS && !negative)
                 || (mode == ROUND_PLUS && negative);
    return sign | (stays ? most : beyond);
}

f64 warp_format_value(const struct warp_format *f, u32 bits)
{
    u32 fraction = bits & ((1u << f->fraction) - 1),
        exponent = bits >> f->fraction & ((1u << f->exponent) - 1);
    f64 sign = bits >> (f->exponent + f->fraction) & 1 ? -1.0 : 1.0;
    int bias = (1 << (f->exponent - 1)) - 1;
    bool top = exponent == (1u << f->exponent) - 1;
    if (top && f->infinities)
        return fraction ? float64(0x7ff8000000000000ull) : sign * __builtin_inf();
    if (top && f->nans && fraction == (1u << f->fraction) - 1)
        return float64(0x7ff8000000000000ull);
    f64 m = exponent ? (f64)(fraction | 1u << f->fraction) : (f64)fraction;
    return sign * __builtin_ldexp(m, (int)(exponent ? exponent : 1) - bias - f->fraction);
}
