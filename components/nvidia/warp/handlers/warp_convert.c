/* Handlers of warp_convert.def, at one x86-64 level; compiled so that they keep to the host's
 * rounding. */
#include "base/number.h"

#include "warp_formats.h"
#include "warp_lanes.h"
#include "warp_variant.h"

static ALWAYS_INLINE s64 clamp_signed(s64 a, s64 low, s64 high)
{
    return a < low ? low : a > high ? high : a;
}
static ALWAYS_INLINE u64 clamp_signed_u(s64 a, u64 high)
{
    return a < 0 ? 0 : min((u64)a, high);
}
static ALWAYS_INLINE s64 clamp_unsigned(u64 a, s64 low, s64 high)
{
    (void)low;
    return a > (u64)high ? high : (s64)a;
}
static ALWAYS_INLINE u64 clamp_unsigned_u(u64 a, u64 high)
{
    return min(a, high);
}

/* Bounds are exact in double, or one above the largest integer. */
static ALWAYS_INLINE s64 clamp_float(f64 a, s64 low, s64 high)
{
    bool above = a >= (f64)high, below = a <= (f64)low;
    f64 inside = above || below || a != a ? 0.0 : a;
    return above ? high : below ? low : (s64)inside;
}
static ALWAYS_INLINE u64 clamp_float_u(f64 a, u64 high)
{
    bool above = a >= (f64)high, inside = a > 0.0 && !above;
    f64 x = inside ? a : 0.0;
    bool large = x >= 0x1p63;
    u64 value = (u64)(s64)(large ? x - 0x1p63 : x) | (u64)large << 63;
    return above ? high : value;
}

/* To nearest even whatever the host's rounding is, and the sign of a zero kept. */
static ALWAYS_INLINE f32 nearest32(f32 a)
{
    f32 magnitude = __builtin_fabsf(a), sum = magnitude + 0x1p23f;
    f32 rounded = magnitude < 0x1p23f ? sum - 0x1p23f : magnitude;
    return canonical(__builtin_copysignf(rounded, a));
}
static ALWAYS_INLINE f64 nearest64(f64 a)
{
    f64 magnitude = __builtin_fabs(a), sum = magnitude + 0x1p52;
    f64 rounded = magnitude < 0x1p52 ? sum - 0x1p52 : magnitude;
    return a != a ? a : __builtin_copysign(rounded, a);
}

static ALWAYS_INLINE f64 odd_unsigned(u64 a)
{
    int shift = a >> 53 ? 11 - __builtin_clzll(a | 1) : 0;
    u64 kept = a >> shift, rest = a & ((1ull << shift) - 1);
    return (f64)(kept | (rest != 0)) * (f64)(1ull << shift);
}
static ALWAYS_INLINE f64 odd_signed(s64 a)
{
    return a < 0 ? -odd_unsigned(0 - (u64)a) : odd_unsigned((u64)a);
}

static const struct warp_format *const formats[] = {&warp_f16,  &warp_bf16, &warp_tf32, &warp_e4m3,
                                                    &warp_e5m2, &warp_e3m2, &warp_e2m3, &warp_e2m1};

/* One number, in the way of the immediate. */
static u32 formatted(f64 x, u64 how)
{
    const struct warp_format *f = formats[how >> 8 & 15];
    if (how & 16 && x < 0.0)
        x = 0.0;
    if (how & 16 && x == 0.0)
        x = 0.0; /* also of -0 */
    u32 bits = warp_format_bits(f, x, (enum warp_rounding)(how & 15), how >> 5 & 1);
    return f == &warp_tf32 ? (bits << 13) | (x != x ? 0x1fff : 0) : bits;
}

static unsigned format_bits(u64 how)
{
    const struct warp_format *f = formats[how >> 8 & 15];
    unsigned bits = 1 + (unsigned)f->exponent + (unsigned)f->fraction;
    return bits > 8 ? 16 : bits == 4 ? 4 : 8;
}

RUN(FORMAT_OF_F32)
{
    u32 *to = warp_target(m, op);
    const f32 *a = warp_source(m, op, 1);
    EACH to[i] = formatted((f64)a[i], op->value);
}

RUN(FORMAT_OF_F64)
{
    u32 *to = warp_target(m, op);
    const f64 *a = warp_source(m, op, 1);
    EACH to[i] = formatted(a[i], op->value);
}

RUN(FORMAT_OF_F32X2)
{
    u32 *to = warp_target(m, op);
    const f32 *a = warp_source(m, op, 1), *b = warp_source(m, op, 2);
    EACH to[i] =
        formatted((f64)b[i], op->value) | formatted((f64)a[i], op->value) << format_bits(op->value);
}

RUN(FORMAT_OF_F16X2)
{
    u32 *to = warp_target(m, op);
    const u32 *a = warp_source(m, op, 1);
    EACH to[i] = formatted((f64)half_value(a[i] & 0xffff), op->value)
                 | formatted((f64)half_value(a[i] >> 16), op->value) << format_bits(op->value);
}

RUN(F16X2_OF_FORMAT)
{
    u32 *to = warp_target(m, op);
    const u32 *a = warp_source(m, op, 1);
    const struct warp_format *f = formats[op->value >> 8 & 15];
    unsigned bits = format_bits(op->value);
    EACH
    {
        u32 low = formatted(warp_format_value(f, a[i] & ((1u << bits) - 1)), op->value & 16);
        u32 high =
            formatted(warp_format_value(f, a[i] >> bits & ((1u << bits) - 1)), op->value & 16);
        to[i] = low | high << 16;
    }
}

static ALWAYS_INLINE u32 pack_fields(s32 a, s32 b, u32 c, u32 how)
{
    u32 bits = how & 255;
    s32 low = how & 256 ? -(1 << (bits - 1)) : 0, high = (1 << (how & 256 ? bits - 1 : bits)) - 1;
    a = a < low ? low : a > high ? high : a;
    b = b < low ? low : b > high ? high : b;
    u32 field = (1u << bits) - 1, rest = 2 * bits < 32 ? c << 2 * bits : 0;
    return ((u32)b & field) | ((u32)a & field) << bits | rest;
}

#define HANDLER(id)
#include "warp_convert.def"
#include "warp_enter.h"

void WARP_NAMED(warp_enter_convert_)(warp_handler **table)
{
#include "warp_convert.def"
}
