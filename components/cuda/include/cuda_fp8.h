/* Floats of 8 bits, as the manual "CUDA Math API" lists them, by the definition of the Open Compute
 * Project ("OFP8"): E4M3 has no infinities and one NaN, E5M2 is as IEEE 754 would have it. Own
 * conversions, which round once to the nearest, ties to even, and saturate in constructors. */
#ifndef HEDDLE_CUDA_FP8_H
#define HEDDLE_CUDA_FP8_H

#include "cuda_bf16.h"
#include "cuda_fp16.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };
struct __half2_raw {
    unsigned short x, y;
};

HEDDLE_FREE __nv_fp8_storage_t __nv_cvt_double_to_fp8(double v, __nv_saturation_t saturation,
                                                      __nv_fp8_interpretation_t kind)
{
    const int fraction = kind == __NV_E4M3 ? 3 : 2, least = kind == __NV_E4M3 ? -6 : -14;
    const unsigned int most = kind == __NV_E4M3 ? 0x7e : 0x7b;
    const unsigned long long bits = __builtin_bit_cast(unsigned long long, v),
                             magnitude = bits & 0x7fffffffffffffffull;
    const unsigned int sign = (unsigned int)(bits >> 56) & 0x80;
    if (magnitude > 0x7ff0000000000000ull)
        return 0x7f;
    const int exponent = (int)(magnitude >> 52) - 1023, at = exponent < least ? least : exponent;
    const int dropped = 52 - fraction + at - exponent;
    unsigned int code = 0;
    if (dropped < 55 && magnitude != 0) { /* what is smaller is less than half the least number */
        const unsigned long long all = (magnitude & 0xfffffffffffffull) | 1ull << 52,
                                 rest = all & ((1ull << dropped) - 1), half = 1ull << (dropped - 1);
        code = (unsigned int)(all >> dropped);
        code += rest > half || (rest == half && (code & 1));
        if (exponent > 1000) /* infinities, too */
            code = most + 1;
        else
            code += (unsigned int)(at - least) << fraction;
    }
    if (code > most) /* E4M3: the NaN; E5M2: infinity */
        code = saturation == __NV_SATFINITE ? most : most + 1;
    return (__nv_fp8_storage_t)(sign | code);
}

/* Halves and bfloats convert to float only. */
template <typename T> HEDDLE_FREE double heddle_as_double(T v) { return (double)v; }
HEDDLE_FREE double heddle_as_double(__half v) { return (double)(float)v; }
HEDDLE_FREE double heddle_as_double(__nv_bfloat16 v) { return (double)(float)v; }

HEDDLE_FREE float heddle_wide_fp8(__nv_fp8_storage_t bits, __nv_fp8_interpretation_t kind)
{
    const int fraction = kind == __NV_E4M3 ? 3 : 2, bias = kind == __NV_E4M3 ? 7 : 15;
    const unsigned int magnitude = bits & 0x7f, sign = (bits & 0x80u) << 24;
    unsigned int wide;
    if (kind == __NV_E4M3 ? magnitude == 0x7f : magnitude > 0x7c)
        wide = 0x7fffffff;
    else if (kind == __NV_E5M2 && magnitude == 0x7c)
        wide = 0x7f800000 | sign;
    else if (magnitude >> fraction)
        wide = ((magnitude << (23 - fraction)) + ((127u - bias) << 23)) | sign;
    else /* a multiple of the least number */
        wide = __builtin_bit_cast(unsigned int,
                                  (float)magnitude *(kind == __NV_E4M3 ? 0x1p-9f : 0x1p-16f))
               | sign;
    return __builtin_bit_cast(float, wide);
}

HEDDLE_FREE __nv_fp8_storage_t __nv_cvt_float_to_fp8(float v, __nv_saturation_t saturation,
                                                     __nv_fp8_interpretation_t kind)
{
    return __nv_cvt_double_to_fp8((double)v, saturation, kind);
}
HEDDLE_FREE __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw v, __nv_saturation_t saturation,
                                                       __nv_fp8_interpretation_t kind)
{
    return __nv_cvt_float_to_fp8(heddle_wide_f16(v.x), saturation, kind);
}
HEDDLE_FREE __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 v, __nv_saturation_t saturation,
                                                          __nv_fp8_interpretation_t kind)
{
    return (__nv_fp8x2_storage_t)(__nv_cvt_float_to_fp8(v.y, saturation, kind) << 8
                                  | __nv_cvt_float_to_fp8(v.x, saturation, kind));
}
HEDDLE_FREE __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(double2 v, __nv_saturation_t saturation,
                                                           __nv_fp8_interpretation_t kind)
{
    return (__nv_fp8x2_storage_t)(__nv_cvt_double_to_fp8(v.y, saturation, kind) << 8
                                  | __nv_cvt_double_to_fp8(v.x, saturation, kind));
}
HEDDLE_FREE __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(__half2_raw v,
                                                            __nv_saturation_t saturation,
                                                            __nv_fp8_interpretation_t kind)
{
    return __nv_cvt_float2_to_fp8x2(make_float2(heddle_wide_f16(v.x), heddle_wide_f16(v.y)),
                                    saturation, kind);
}
/* All numbers of 8 bits are halves. */
HEDDLE_FREE __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t v, __nv_fp8_interpretation_t kind)
{
    __half_raw half = {heddle_narrow_f16(heddle_wide_fp8(v, kind))};
    return half;
}
HEDDLE_FREE __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t v,
                                                   __nv_fp8_interpretation_t kind)
{
    __half2_raw both = {__nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)v, kind).x,
                        __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)(v >> 8), kind).x};
    return both;
}

#define HEDDLE_FP8(name, kind)                                                                     \
    struct __nv_fp8_##name {                                                                       \
        __nv_fp8_storage_t __x;                                                                    \
        __nv_fp8_##name() = default;                                                               \
        template <typename T>                                                                      \
        HEDDLE_BOTH explicit __nv_fp8_##name(T v)                                                  \
            : __x(__nv_cvt_double_to_fp8(heddle_as_double(v), __NV_SATFINITE, kind))               \
        {                                                                                          \
        }                                                                                          \
        HEDDLE_BOTH explicit operator float() const { return heddle_wide_fp8(__x, kind); }         \
        HEDDLE_BOTH explicit operator double() const                                               \
        {                                                                                          \
            return (double)heddle_wide_fp8(__x, kind);                                             \
        }                                                                                          \
        HEDDLE_BOTH explicit operator __half() const                                               \
        {                                                                                          \
            return __half(heddle_wide_fp8(__x, kind));                                             \
        }                                                                                          \
        HEDDLE_BOTH explicit operator __nv_bfloat16() const                                        \
        {                                                                                          \
            return __nv_bfloat16(heddle_wide_fp8(__x, kind));                                      \
        }                                                                                          \
        HEDDLE_BOTH explicit operator int() const { return (int)heddle_wide_fp8(__x, kind); }      \
        HEDDLE_BOTH explicit operator bool() const { return (__x & 0x7f) != 0; }                   \
    };                                                                                             \
    struct __nv_fp8x2_##name {                                                                     \
        __nv_fp8x2_storage_t __x;                                                                  \
        __nv_fp8x2_##name() = default;                                                             \
        HEDDLE_BOTH explicit __nv_fp8x2_##name(float2 v)                                           \
            : __x(__nv_cvt_float2_to_fp8x2(v, __NV_SATFINITE, kind))                               \
        {                                                                                          \
        }                                                                                          \
        HEDDLE_BOTH explicit __nv_fp8x2_##name(double2 v)                                          \
            : __x(__nv_cvt_double2_to_fp8x2(v, __NV_SATFINITE, kind))                              \
        {                                                                                          \
        }                                                                                          \
        HEDDLE_BOTH explicit __nv_fp8x2_##name(__half2 v)                                          \
            : __nv_fp8x2_##name(make_float2((float)v.x, (float)v.y))                               \
        {                                                                                          \
        }                                                                                          \
        HEDDLE_BOTH explicit __nv_fp8x2_##name(__nv_bfloat162 v)                                   \
            : __nv_fp8x2_##name(make_float2((float)v.x, (float)v.y))                               \
        {                                                                                          \
        }                                                                                          \
        HEDDLE_BOTH explicit operator float2() const                                               \
        {                                                                                          \
            return make_float2(heddle_wide_fp8((__nv_fp8_storage_t)__x, kind),                     \
                               heddle_wide_fp8((__nv_fp8_storage_t)(__x >> 8), kind));             \
        }                                                                                          \
        HEDDLE_BOTH explicit operator __half2() const                                              \
        {                                                                                          \
            float2 v = (float2) * this;                                                            \
            return __half2(__half(v.x), __half(v.y));                                              \
        }                                                                                          \
    };                                                                                             \
    struct __nv_fp8x4_##name {                                                                     \
        __nv_fp8x4_storage_t __x;                                                                  \
        __nv_fp8x4_##name() = default;                                                             \
        HEDDLE_BOTH explicit __nv_fp8x4_##name(float4 v)                                           \
            : __x((unsigned int)__nv_fp8x2_##name(make_float2(v.z, v.w)).__x << 16                 \
                  | __nv_fp8x2_##name(make_float2(v.x, v.y)).__x)                                  \
        {                                                                                          \
        }                                                                                          \
        HEDDLE_BOTH explicit operator float4() const                                               \
        {                                                                                          \
            __nv_fp8x2_##name low, high;                                                           \
            low.__x = (__nv_fp8x2_storage_t)__x;                                                   \
            high.__x = (__nv_fp8x2_storage_t)(__x >> 16);                                          \
            float2 a = (float2)low, b = (float2)high;                                              \
            return make_float4(a.x, a.y, b.x, b.y);                                                \
        }                                                                                          \
    }
HEDDLE_FP8(e4m3, __NV_E4M3);
HEDDLE_FP8(e5m2, __NV_E5M2);
#undef HEDDLE_FP8

#endif
