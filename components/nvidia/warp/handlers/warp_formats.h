/* Numbers of fewer bits than a float, and their roundings. Private to components/nvidia/warp; the
 * same on every host. */
#ifndef HEDDLE_COMPONENTS_NVIDIA_WARP_HANDLERS_WARP_FORMATS_H
#define HEDDLE_COMPONENTS_NVIDIA_WARP_HANDLERS_WARP_FORMATS_H

#include "base/likely.h"

#include "warp_lanes.h"

#define EXPONENT_MASK64 0x7ff0000000000000ull

enum warp_rounding { ROUND_NEAREST, ROUND_ZERO, ROUND_MINUS, ROUND_PLUS, ROUND_AWAY };

/* Exponent and fraction bits. `finite`: no infinities, the largest pattern is the NaN (e4m3), or
 * there are none (e3m2, e2m3, e2m1). */
struct warp_format {
    int exponent, fraction;
    bool infinities, nans;
};

static ALWAYS_INLINE u64 bits64(f64 x)
{
    u64 bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static ALWAYS_INLINE f64 float64(u64 bits)
{
    f64 x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
static ALWAYS_INLINE u32 bits32(f32 x)
{
    u32 bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static ALWAYS_INLINE f32 float32(u32 bits)
{
    f32 x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Every NaN is 0x7fffffff. By bits, which makes loops of it vectors in any rounding. */
static ALWAYS_INLINE f32 canonical(f32 x)
{
    u32 bits;
    memcpy(&bits, &x, sizeof bits);
    return float32((bits & 0x7fffffff) > 0x7f800000 ? 0x7fffffff : bits);
}

/* f16 and bf16 as f32, exactly; without branches, so that loops vectorise. */
static ALWAYS_INLINE f32 half_value(u32 h)
{
    u32 magnitude = (h & 0x7fff) << 13, sign = (h & 0x8000) << 16;
    /* the exponent's bias differs by 112; denormals are scaled in float arithmetic */
    f32 x = float32(magnitude) * 0x1p112f;
    u32 bits = bits32(x);
    bits = (h & 0x7c00) == 0x7c00 ? magnitude | 0x7f800000 : bits;
    return float32(bits | sign);
}
static ALWAYS_INLINE f32 bfloat_value(u32 h)
{
    return float32(h << 16);
}

/* f32 to f16 and bf16, to nearest even; NaN is 0x7fff. */
static ALWAYS_INLINE u32 half_bits(f32 x)
{
    u32 bits = bits32(x), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    u32 normal = magnitude - 0x38000000u;
    normal = (normal + 0xfff + (normal >> 13 & 1)) >> 13;
    /* below 2^-14: the sum with 1/2 has the fraction in its lower bits, rounded by the addition */
    u32 small = bits32(float32(magnitude) + 0.5f) - 0x3f000000u;
    u32 h = magnitude < 0x38800000 ? small : normal;
    h = magnitude >= 0x47800000 ? 0x7c00 : h;
    h = magnitude > 0x7f800000 ? 0x7fff : h | sign;
    return h;
}
static ALWAYS_INLINE u32 bfloat_bits(f32 x)
{
    u32 bits = bits32(x);
    u32 h = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (bits & 0x7fffffff) > 0x7f800000 ? 0x7fff : h;
}

/* A double whose last bit remembers what an exact sum has beyond it (rounding to odd), so that
 * rounding it again, to at most 51 bits, is as if the sum were rounded once. */
static ALWAYS_INLINE f64 fused_sum(f64 p, f64 c)
{
    f64 s = p + c, t = s - p, error = (p - (s - t)) + (c - t);
    u64 bits = bits64(s);
    bool inexact = error != 0.0 && error == error && (bits & EXPONENT_MASK64) != EXPONENT_MASK64;
    u64 away = (error > 0.0) == (s > 0.0) ? 1 : UINT64_MAX;
    return float64(inexact && !(bits & 1) ? bits + away : bits);
}

/* x in the format, rounded once; `finite`: what is too large becomes the largest. NaN has all bits
 * set but the sign. */
u32 warp_format_bits(const struct warp_format *format, f64 x, enum warp_rounding mode, bool finite);
f64 warp_format_value(const struct warp_format *format, u32 bits);

extern const struct warp_format warp_f16, warp_bf16, warp_tf32, warp_e4m3, warp_e5m2, warp_e3m2,
    warp_e2m3, warp_e2m1;

#endif
