/* Handlers of warp_half.def, at one x86-64 level. */
#include <math.h>

#include "base/number.h"

#include "warp_formats.h"
#include "warp_lanes.h"
#include "warp_variant.h"

static ALWAYS_INLINE u32 both(u32 low, u32 high)
{
    return (low & 0xffff) | high << 16;
}

/* Sums and products of two halves are exact in float up to bits that do not matter: 24 bits are
 * more than twice 11 and two. */
static ALWAYS_INLINE u32 add_f16(u32 a, u32 b)
{
    return half_bits(half_value(a) + half_value(b));
}
static ALWAYS_INLINE u32 sub_f16(u32 a, u32 b)
{
    return half_bits(half_value(a) - half_value(b));
}
static ALWAYS_INLINE u32 mul_f16(u32 a, u32 b)
{
    return half_bits(half_value(a) * half_value(b));
}
static ALWAYS_INLINE u32 add_bf16(u32 a, u32 b)
{
    return bfloat_bits(bfloat_value(a) + bfloat_value(b));
}
static ALWAYS_INLINE u32 sub_bf16(u32 a, u32 b)
{
    return bfloat_bits(bfloat_value(a) - bfloat_value(b));
}

/* A double as a float whose last bit remembers the rest. */
static ALWAYS_INLINE f32 odd_float(f64 x)
{
    f32 y = (f32)x;
    u32 bits = bits32(y);
    f64 error = x - (f64)y;
    bool inexact = error != 0.0 && error == error && (bits & 0x7f800000) != 0x7f800000;
    u32 away = (error > 0.0) == (x > 0.0) ? 1 : UINT32_MAX;
    return float32(inexact && !(bits & 1) ? bits + away : bits);
}

/* Products of bf16 may lie below the least float, where a double is still exact. */
static ALWAYS_INLINE u32 mul_bf16(u32 a, u32 b)
{
    return bfloat_bits(odd_float((f64)bfloat_value(a) * (f64)bfloat_value(b)));
}
static ALWAYS_INLINE u32 fma_f16(u32 a, u32 b, u32 c)
{
    f64 sum = fused_sum((f64)half_value(a) * (f64)half_value(b), (f64)half_value(c));
    return half_bits(odd_float(sum));
}
static ALWAYS_INLINE u32 fma_bf16(u32 a, u32 b, u32 c)
{
    f64 sum = fused_sum((f64)bfloat_value(a) * (f64)bfloat_value(b), (f64)bfloat_value(c));
    return bfloat_bits(odd_float(sum));
}

static ALWAYS_INLINE u32 abs_16(u32 a)
{
    return a & 0x7fff;
}
static ALWAYS_INLINE u32 neg_16(u32 a)
{
    return a ^ 0x8000;
}

static ALWAYS_INLINE s32 order16(u32 a)
{
    s32 x = (s32)(s16)a;
    return x ^ ((x >> 31) & 0x7fff);
}

/* The lesser or greater by bits, and what NaNs make of it; `top` is the pattern of infinity. */
static ALWAYS_INLINE u32 choose_half(u32 a, u32 b, bool first, u32 top, bool keep)
{
    bool nan_a = (a & 0x7fff) > top, nan_b = (b & 0x7fff) > top;
    u32 d = first ? a : b;
    d = nan_b ? a : d;
    d = nan_a ? b : d;
    return (keep ? nan_a || nan_b : nan_a && nan_b) ? 0x7fff : d & 0xffff;
}
static ALWAYS_INLINE u32 min_f16(u32 a, u32 b)
{
    return choose_half(a, b, order16(a) < order16(b), 0x7c00, false);
}
static ALWAYS_INLINE u32 max_f16(u32 a, u32 b)
{
    return choose_half(a, b, order16(a) > order16(b), 0x7c00, false);
}
static ALWAYS_INLINE u32 min_bf16(u32 a, u32 b)
{
    return choose_half(a, b, order16(a) < order16(b), 0x7f80, false);
}
static ALWAYS_INLINE u32 max_bf16(u32 a, u32 b)
{
    return choose_half(a, b, order16(a) > order16(b), 0x7f80, false);
}
static ALWAYS_INLINE u32 minnan_f16(u32 a, u32 b)
{
    return choose_half(a, b, order16(a) < order16(b), 0x7c00, true);
}
static ALWAYS_INLINE u32 maxnan_f16(u32 a, u32 b)
{
    return choose_half(a, b, order16(a) > order16(b), 0x7c00, true);
}
static ALWAYS_INLINE u32 minnan_bf16(u32 a, u32 b)
{
    return choose_half(a, b, order16(a) < order16(b), 0x7f80, true);
}
static ALWAYS_INLINE u32 maxnan_bf16(u32 a, u32 b)
{
    return choose_half(a, b, order16(a) > order16(b), 0x7f80, true);
}

/* NaN becomes +0. */
static ALWAYS_INLINE u32 sat_f16(u32 a)
{
    return a & 0x8000 || (a & 0x7fff) > 0x7c00 ? 0 : min(a, 0x3c00);
}
static ALWAYS_INLINE u32 sat_bf16(u32 a)
{
    return a & 0x8000 || (a & 0x7fff) > 0x7f80 ? 0 : min(a, 0x3f80);
}

/* Negative numbers become +0, NaN stays. */
static ALWAYS_INLINE u32 relu_f16(u32 a)
{
    return (a & 0x7fff) > 0x7c00 ? 0x7fff : a & 0x8000 ? 0 : a;
}
static ALWAYS_INLINE u32 relu_bf16(u32 a)
{
    return (a & 0x7fff) > 0x7f80 ? 0x7fff : a & 0x8000 ? 0 : a;
}
static ALWAYS_INLINE u32 flush_f16(u32 a)
{
    return a & 0x7c00 ? a : a & 0x8000;
}
static ALWAYS_INLINE u32 flush_bf16(u32 a)
{
    return a & 0x7f80 ? a : a & 0x8000;
}
static ALWAYS_INLINE u32 ex2_f16(u32 a)
{
    return half_bits((f32)exp2((f64)half_value(a)));
}
static ALWAYS_INLINE u32 ex2_bf16(u32 a)
{
    return bfloat_bits((f32)exp2((f64)bfloat_value(a)));
}
static ALWAYS_INLINE u32 tanh_f16(u32 a)
{
    return half_bits((f32)tanh((f64)half_value(a)));
}
static ALWAYS_INLINE u32 tanh_bf16(u32 a)
{
    return bfloat_bits((f32)tanh((f64)bfloat_value(a)));
}

/* a with the sign of b xor c. */
static ALWAYS_INLINE u32 xorsign_f16(u32 a, u32 b, u32 c)
{
    return (a & 0x7fff) > 0x7c00 ? a : (a & 0x7fff) | ((b ^ c) & 0x8000);
}
static ALWAYS_INLINE u32 xorsign_bf16(u32 a, u32 b, u32 c)
{
    return (a & 0x7fff) > 0x7f80 ? a : (a & 0x7fff) | ((b ^ c) & 0x8000);
}

#define HANDLER(id)
#include "warp_half.def"

/* From here on, a row of the table is an entry. */
#include "warp_enter.h"

void WARP_NAMED(warp_enter_half_)(warp_handler **table)
{
#include "warp_half.def"
}
