// Brain floating point: the types __hip_bfloat16 and __hip_bfloat162 with the functions and
// operators that HIP documents for them ("HIP math API", bfloat16), for compilers whose HIP has no
// such header, as Debian 12's. Written for heddle, under its licence.
//
// A bfloat16 is the upper half of a float. Arithmetic is that of floats, rounded to the nearest
// bfloat16, ties to even. A NaN stays one and becomes quiet.
#ifndef HIP_INCLUDE_HIP_HIP_BF16_H
#define HIP_INCLUDE_HIP_HIP_BF16_H

#if !defined(__HIPCC_RTC__)
#include <cmath>
#include <hip/hip_runtime.h>
#endif

#define HIP_BF16_BOTH   __host__ __device__ inline
#define HIP_BF16_DEVICE __device__ inline

struct __hip_bfloat16_raw {
    unsigned short x;
};

struct __hip_bfloat162_raw {
    unsigned short x, y;
};

// ---- bits ----

HIP_BF16_BOTH unsigned short __hip_bf16_round(float value)
{
    unsigned bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    if (~bits & 0x7f800000u)
        bits += 0x7fffu + (bits >> 16 & 1);
    else if (bits & 0xffffu)
        bits |= 0x10000u; // a NaN whose upper half may be infinity's
    return static_cast<unsigned short>(bits >> 16);
}

HIP_BF16_BOTH float __hip_bf16_widen(unsigned short half)
{
    unsigned bits = static_cast<unsigned>(half) << 16;
    float value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

// ---- the types ----

struct __hip_bfloat16 {
    unsigned short data;

    __hip_bfloat16() = default;
    HIP_BF16_BOTH __hip_bfloat16(float value) : data(__hip_bf16_round(value)) {}
    HIP_BF16_BOTH __hip_bfloat16(double value) : data(__hip_bf16_round(static_cast<float>(value)))
    {
    }
    HIP_BF16_BOTH __hip_bfloat16(int value) : data(__hip_bf16_round(static_cast<float>(value))) {}
    HIP_BF16_BOTH __hip_bfloat16(unsigned value) : data(__hip_bf16_round(static_cast<float>(value)))
    {
    }
    HIP_BF16_BOTH __hip_bfloat16(const __hip_bfloat16_raw &raw) : data(raw.x) {}

    HIP_BF16_BOTH operator float() const { return __hip_bf16_widen(data); }
    HIP_BF16_BOTH operator __hip_bfloat16_raw() const { return __hip_bfloat16_raw{data}; }
    HIP_BF16_BOTH __hip_bfloat16 &operator=(float value)
    {
        data = __hip_bf16_round(value);
        return *this;
    }
};

struct __hip_bfloat162 {
    __hip_bfloat16 x, y;

    __hip_bfloat162() = default;
    HIP_BF16_BOTH __hip_bfloat162(__hip_bfloat16 low, __hip_bfloat16 high) : x(low), y(high) {}
    HIP_BF16_BOTH __hip_bfloat162(const __hip_bfloat162_raw &raw)
        : x(__hip_bfloat16_raw{raw.x}), y(__hip_bfloat16_raw{raw.y})
    {
    }
    HIP_BF16_BOTH operator __hip_bfloat162_raw() const
    {
        return __hip_bfloat162_raw{x.data, y.data};
    }
    HIP_BF16_BOTH operator float2() const
    {
        return float2{static_cast<float>(x), static_cast<float>(y)};
    }
};

// ---- conversions ----

HIP_BF16_BOTH float __bfloat162float(__hip_bfloat16 a) { return __hip_bf16_widen(a.data); }
HIP_BF16_BOTH __hip_bfloat16 __float2bfloat16(float a) { return __hip_bfloat16(a); }
HIP_BF16_BOTH __hip_bfloat16 __float2bfloat16_rn(float a) { return __hip_bfloat16(a); }
HIP_BF16_BOTH __hip_bfloat16 __double2bfloat16(double a) { return __hip_bfloat16(a); }
HIP_BF16_BOTH __hip_bfloat162 __float2bfloat162_rn(float a) { return {a, a}; }
HIP_BF16_BOTH __hip_bfloat162 __floats2bfloat162_rn(float a, float b) { return {a, b}; }
HIP_BF16_BOTH __hip_bfloat162 __float22bfloat162_rn(float2 a) { return {a.x, a.y}; }
HIP_BF16_BOTH float2 __bfloat1622float2(__hip_bfloat162 a) { return a; }
HIP_BF16_BOTH __hip_bfloat162 __bfloat162bfloat162(__hip_bfloat16 a) { return {a, a}; }

HIP_BF16_BOTH short __bfloat16_as_short(__hip_bfloat16 a) { return static_cast<short>(a.data); }
HIP_BF16_BOTH unsigned short __bfloat16_as_ushort(__hip_bfloat16 a) { return a.data; }
HIP_BF16_BOTH __hip_bfloat16 __ushort_as_bfloat16(unsigned short a)
{
    return __hip_bfloat16_raw{a};
}
HIP_BF16_BOTH __hip_bfloat16 __short_as_bfloat16(short a)
{
    return __hip_bfloat16_raw{static_cast<unsigned short>(a)};
}

HIP_BF16_BOTH __hip_bfloat162 __halves2bfloat162(__hip_bfloat16 a, __hip_bfloat16 b)
{
    return {a, b};
}
HIP_BF16_BOTH __hip_bfloat16 __low2bfloat16(__hip_bfloat162 a) { return a.x; }
HIP_BF16_BOTH __hip_bfloat16 __high2bfloat16(__hip_bfloat162 a) { return a.y; }
HIP_BF16_BOTH float __low2float(__hip_bfloat162 a) { return a.x; }
HIP_BF16_BOTH float __high2float(__hip_bfloat162 a) { return a.y; }
HIP_BF16_BOTH __hip_bfloat162 __low2bfloat162(__hip_bfloat162 a) { return {a.x, a.x}; }
HIP_BF16_BOTH __hip_bfloat162 __high2bfloat162(__hip_bfloat162 a) { return {a.y, a.y}; }
HIP_BF16_BOTH __hip_bfloat162 __lows2bfloat162(__hip_bfloat162 a, __hip_bfloat162 b)
{
    return {a.x, b.x};
}
HIP_BF16_BOTH __hip_bfloat162 __highs2bfloat162(__hip_bfloat162 a, __hip_bfloat162 b)
{
    return {a.y, b.y};
}
HIP_BF16_BOTH __hip_bfloat162 __lowhigh2highlow(__hip_bfloat162 a) { return {a.y, a.x}; }

// ---- arithmetic ----

HIP_BF16_BOTH __hip_bfloat16 __hneg(__hip_bfloat16 a)
{
    return __hip_bfloat16_raw{static_cast<unsigned short>(a.data ^ 0x8000u)};
}
HIP_BF16_BOTH __hip_bfloat16 __habs(__hip_bfloat16 a)
{
    return __hip_bfloat16_raw{static_cast<unsigned short>(a.data & 0x7fffu)};
}
HIP_BF16_BOTH __hip_bfloat16 __hfma(__hip_bfloat16 a, __hip_bfloat16 b, __hip_bfloat16 c)
{
    return __builtin_fmaf(a, b, c);
}
HIP_BF16_BOTH __hip_bfloat162 __hneg2(__hip_bfloat162 a) { return {__hneg(a.x), __hneg(a.y)}; }
HIP_BF16_BOTH __hip_bfloat162 __habs2(__hip_bfloat162 a) { return {__habs(a.x), __habs(a.y)}; }
HIP_BF16_BOTH __hip_bfloat162 __hfma2(__hip_bfloat162 a, __hip_bfloat162 b, __hip_bfloat162 c)
{
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}

// One operation: by name, on pairs, and as operators.
#define HIP_BF16_OPERATION(name, name2, sign)                                                      \
    HIP_BF16_BOTH __hip_bfloat16 name(__hip_bfloat16 a, __hip_bfloat16 b)                          \
    {                                                                                              \
        return static_cast<float>(a) sign static_cast<float>(b);                                   \
    }                                                                                              \
    HIP_BF16_BOTH __hip_bfloat162 name2(__hip_bfloat162 a, __hip_bfloat162 b)                      \
    {                                                                                              \
        return {name(a.x, b.x), name(a.y, b.y)};                                                   \
    }                                                                                              \
    HIP_BF16_BOTH __hip_bfloat16 operator sign(__hip_bfloat16 a, __hip_bfloat16 b)                 \
    {                                                                                              \
        return name(a, b);                                                                         \
    }                                                                                              \
    HIP_BF16_BOTH __hip_bfloat162 operator sign(__hip_bfloat162 a, __hip_bfloat162 b)              \
    {                                                                                              \
        return name2(a, b);                                                                        \
    }                                                                                              \
    HIP_BF16_BOTH __hip_bfloat16 &operator sign##=(__hip_bfloat16 &a, __hip_bfloat16 b)            \
    {                                                                                              \
        return a = name(a, b);                                                                     \
    }                                                                                              \
    HIP_BF16_BOTH __hip_bfloat162 &operator sign##=(__hip_bfloat162 &a, __hip_bfloat162 b)         \
    {                                                                                              \
        return a = name2(a, b);                                                                    \
    }
HIP_BF16_OPERATION(__hadd, __hadd2, +)
HIP_BF16_OPERATION(__hsub, __hsub2, -)
HIP_BF16_OPERATION(__hmul, __hmul2, *)
HIP_BF16_OPERATION(__hdiv, __h2div, /)
#undef HIP_BF16_OPERATION

HIP_BF16_BOTH __hip_bfloat16 operator+(__hip_bfloat16 a) { return a; }
HIP_BF16_BOTH __hip_bfloat16 operator-(__hip_bfloat16 a) { return __hneg(a); }
HIP_BF16_BOTH __hip_bfloat162 operator+(__hip_bfloat162 a) { return a; }
HIP_BF16_BOTH __hip_bfloat162 operator-(__hip_bfloat162 a) { return __hneg2(a); }
HIP_BF16_BOTH __hip_bfloat16 &operator++(__hip_bfloat16 &a) { return a += 1.0f; }
HIP_BF16_BOTH __hip_bfloat16 &operator--(__hip_bfloat16 &a) { return a -= 1.0f; }
HIP_BF16_BOTH __hip_bfloat16 operator++(__hip_bfloat16 &a, int)
{
    __hip_bfloat16 before = a;
    ++a;
    return before;
}
HIP_BF16_BOTH __hip_bfloat16 operator--(__hip_bfloat16 &a, int)
{
    __hip_bfloat16 before = a;
    --a;
    return before;
}

// ---- comparison ----

HIP_BF16_BOTH bool __hisnan(__hip_bfloat16 a) { return (a.data & 0x7fffu) > 0x7f80u; }
HIP_BF16_BOTH int __hisinf(__hip_bfloat16 a)
{
    return (a.data & 0x7fffu) != 0x7f80u ? 0 : a.data & 0x8000u ? -1 : 1;
}
HIP_BF16_BOTH __hip_bfloat162 __hisnan2(__hip_bfloat162 a)
{
    return {__hisnan(a.x) ? 1.0f : 0.0f, __hisnan(a.y) ? 1.0f : 0.0f};
}

// A comparison: ordered, and true where an operand is no number ("u"); of pairs by element, and of
// both ("hb").
#define HIP_BF16_COMPARISON(what, sign)                                                            \
    HIP_BF16_BOTH bool __h##what(__hip_bfloat16 a, __hip_bfloat16 b)                               \
    {                                                                                              \
        return static_cast<float>(a) sign static_cast<float>(b);                                   \
    }                                                                                              \
    HIP_BF16_BOTH bool __h##what##u(__hip_bfloat16 a, __hip_bfloat16 b)                            \
    {                                                                                              \
        return __hisnan(a) || __hisnan(b) || __h##what(a, b);                                      \
    }                                                                                              \
    HIP_BF16_BOTH __hip_bfloat162 __h##what##2(__hip_bfloat162 a, __hip_bfloat162 b)               \
    {                                                                                              \
        return {__h##what(a.x, b.x) ? 1.0f : 0.0f, __h##what(a.y, b.y) ? 1.0f : 0.0f};             \
    }                                                                                              \
    HIP_BF16_BOTH bool __hb##what##2(__hip_bfloat162 a, __hip_bfloat162 b)                         \
    {                                                                                              \
        return __h##what(a.x, b.x) && __h##what(a.y, b.y);                                         \
    }                                                                                              \
    HIP_BF16_BOTH bool operator sign(__hip_bfloat16 a, __hip_bfloat16 b)                           \
    {                                                                                              \
        return __h##what(a, b);                                                                    \
    }                                                                                              \
    HIP_BF16_BOTH bool operator sign(__hip_bfloat162 a, __hip_bfloat162 b)                         \
    {                                                                                              \
        return __hb##what##2(a, b);                                                                \
    }
HIP_BF16_COMPARISON(eq, ==)
HIP_BF16_COMPARISON(ne, !=)
HIP_BF16_COMPARISON(lt, <)
HIP_BF16_COMPARISON(le, <=)
HIP_BF16_COMPARISON(gt, >)
HIP_BF16_COMPARISON(ge, >=)
#undef HIP_BF16_COMPARISON

// The other operand where one is no number.
HIP_BF16_BOTH __hip_bfloat16 __hmax(__hip_bfloat16 a, __hip_bfloat16 b)
{
    return __hisnan(a) || __hlt(a, b) ? b : a;
}
HIP_BF16_BOTH __hip_bfloat16 __hmin(__hip_bfloat16 a, __hip_bfloat16 b)
{
    return __hisnan(a) || __hlt(b, a) ? b : a;
}
HIP_BF16_BOTH __hip_bfloat162 __hmax2(__hip_bfloat162 a, __hip_bfloat162 b)
{
    return {__hmax(a.x, b.x), __hmax(a.y, b.y)};
}
HIP_BF16_BOTH __hip_bfloat162 __hmin2(__hip_bfloat162 a, __hip_bfloat162 b)
{
    return {__hmin(a.x, b.x), __hmin(a.y, b.y)};
}

// ---- functions of device code ----

#define HIP_BF16_FUNCTION(what, ...)                                                               \
    HIP_BF16_DEVICE __hip_bfloat16 h##what(__hip_bfloat16 a)                                       \
    {                                                                                              \
        float x = a;                                                                               \
        return static_cast<float>(__VA_ARGS__);                                                    \
    }                                                                                              \
    HIP_BF16_DEVICE __hip_bfloat162 h2##what(__hip_bfloat162 a)                                    \
    {                                                                                              \
        return {h##what(a.x), h##what(a.y)};                                                       \
    }
HIP_BF16_FUNCTION(ceil, ::ceilf(x))
HIP_BF16_FUNCTION(floor, ::floorf(x))
HIP_BF16_FUNCTION(trunc, ::truncf(x))
HIP_BF16_FUNCTION(rint, ::rintf(x))
HIP_BF16_FUNCTION(cos, ::cosf(x))
HIP_BF16_FUNCTION(sin, ::sinf(x))
HIP_BF16_FUNCTION(exp, ::expf(x))
HIP_BF16_FUNCTION(exp2, ::exp2f(x))
HIP_BF16_FUNCTION(exp10, ::exp10f(x))
HIP_BF16_FUNCTION(log, ::logf(x))
HIP_BF16_FUNCTION(log2, ::log2f(x))
HIP_BF16_FUNCTION(log10, ::log10f(x))
HIP_BF16_FUNCTION(sqrt, ::sqrtf(x))
HIP_BF16_FUNCTION(rsqrt, ::rsqrtf(x))
HIP_BF16_FUNCTION(rcp, 1.0f / x)
#undef HIP_BF16_FUNCTION

#undef HIP_BF16_BOTH
#undef HIP_BF16_DEVICE

#endif
