/* Floats of 16 bits, which cuda_fp16.h and cuda_bf16.h are two of: bits in an unsigned short,
 * values through float on the host and by the machine's instructions on the device. */
#ifndef HEDDLE_CUDA_NARROW_FLOATS_H
#define HEDDLE_CUDA_NARROW_FLOATS_H

#include "cuda_runtime.h"

#define HEDDLE_BOTH __host__ __device__ __forceinline__
#define HEDDLE_FREE static __host__ __device__ __forceinline__

HEDDLE_FREE float heddle_wide_bf16(unsigned short bits)
{
    return __builtin_bit_cast(float, (unsigned int)bits << 16);
}
HEDDLE_FREE unsigned short heddle_narrow_bf16(float v)
{
    unsigned int bits = __builtin_bit_cast(unsigned int, v);
    if (__builtin_isnan(v))
        return 0x7fff;
    return (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
HEDDLE_FREE float heddle_wide_f16(unsigned short bits)
{
    return (float)__builtin_bit_cast(_Float16, bits);
}
HEDDLE_FREE unsigned short heddle_narrow_f16(float v)
{
    return __builtin_isnan(v) ? 0x7fff : __builtin_bit_cast(unsigned short, (_Float16)v);
}

/* Sums and products: of halves by the device's instructions, of bfloats by fma, which sm_80 has. */
#ifdef __CUDA_ARCH__
#define HEDDLE_DEVICE_2(name, instruction)                                                         \
    HEDDLE_FREE unsigned short name(unsigned short a, unsigned short b)                            \
    {                                                                                              \
        unsigned short r;                                                                          \
        asm(instruction : "=h"(r) : "h"(a), "h"(b));                                               \
        return r;                                                                                  \
    }
#define HEDDLE_DEVICE_3(name, instruction)                                                         \
    HEDDLE_FREE unsigned short name(unsigned short a, unsigned short b, unsigned short c)          \
    {                                                                                              \
        unsigned short r;                                                                          \
        asm(instruction : "=h"(r) : "h"(a), "h"(b), "h"(c));                                       \
        return r;                                                                                  \
    }
HEDDLE_DEVICE_2(heddle_add_f16, "add.f16 %0, %1, %2;")
HEDDLE_DEVICE_2(heddle_sub_f16, "sub.f16 %0, %1, %2;")
HEDDLE_DEVICE_2(heddle_mul_f16, "mul.f16 %0, %1, %2;")
HEDDLE_DEVICE_3(heddle_fma_f16, "fma.rn.f16 %0, %1, %2, %3;")
HEDDLE_DEVICE_3(heddle_fma_bf16, "fma.rn.bf16 %0, %1, %2, %3;")
HEDDLE_FREE unsigned short heddle_add_bf16(unsigned short a, unsigned short b)
{
    return heddle_fma_bf16(a, 0x3f80, b);
}
HEDDLE_FREE unsigned short heddle_sub_bf16(unsigned short a, unsigned short b)
{
    return heddle_fma_bf16(b, 0xbf80, a);
}
HEDDLE_FREE unsigned short heddle_mul_bf16(unsigned short a, unsigned short b)
{
    return heddle_fma_bf16(a, b, 0x8000);
}
#undef HEDDLE_DEVICE_2
#undef HEDDLE_DEVICE_3
#else
#define HEDDLE_HOST(letters)                                                                       \
    HEDDLE_FREE unsigned short heddle_add_##letters(unsigned short a, unsigned short b)            \
    {                                                                                              \
        return heddle_narrow_##letters(heddle_wide_##letters(a) + heddle_wide_##letters(b));       \
    }                                                                                              \
    HEDDLE_FREE unsigned short heddle_sub_##letters(unsigned short a, unsigned short b)            \
    {                                                                                              \
        return heddle_narrow_##letters(heddle_wide_##letters(a) - heddle_wide_##letters(b));       \
    }                                                                                              \
    HEDDLE_FREE unsigned short heddle_mul_##letters(unsigned short a, unsigned short b)            \
    {                                                                                              \
        return heddle_narrow_##letters(heddle_wide_##letters(a) * heddle_wide_##letters(b));       \
    }                                                                                              \
    HEDDLE_FREE unsigned short heddle_fma_##letters(unsigned short a, unsigned short b,            \
                                                    unsigned short c)                              \
    {                                                                                              \
        return heddle_narrow_##letters(__builtin_fmaf(                                             \
            heddle_wide_##letters(a), heddle_wide_##letters(b), heddle_wide_##letters(c)));        \
    }
HEDDLE_HOST(f16)
HEDDLE_HOST(bf16)
#undef HEDDLE_HOST
#endif

/* Elementary functions of the device, through float. */
#ifdef __CUDA__
#define HEDDLE_NARROW_MATH_1(type, pair, name, function)                                           \
    static __device__ __forceinline__ type h##name(type a) { return type(function((float)a)); }    \
    static __device__ __forceinline__ pair h2##name(pair a)                                        \
    {                                                                                              \
        return pair(h##name(a.x), h##name(a.y));                                                   \
    }
#define HEDDLE_NARROW_MATH(type, pair)                                                             \
    HEDDLE_NARROW_MATH_1(type, pair, exp, __nv_expf)                                               \
    HEDDLE_NARROW_MATH_1(type, pair, exp2, __nv_exp2f)                                             \
    HEDDLE_NARROW_MATH_1(type, pair, exp10, __nv_exp10f)                                           \
    HEDDLE_NARROW_MATH_1(type, pair, log, __nv_logf)                                               \
    HEDDLE_NARROW_MATH_1(type, pair, log2, __nv_log2f)                                             \
    HEDDLE_NARROW_MATH_1(type, pair, log10, __nv_log10f)                                           \
    HEDDLE_NARROW_MATH_1(type, pair, sin, __nv_sinf)                                               \
    HEDDLE_NARROW_MATH_1(type, pair, cos, __nv_cosf)                                               \
    HEDDLE_NARROW_MATH_1(type, pair, sqrt, __nv_sqrtf)                                             \
    HEDDLE_NARROW_MATH_1(type, pair, rsqrt, __nv_rsqrtf)                                           \
    HEDDLE_NARROW_MATH_1(type, pair, rcp, 1.0f /)                                                  \
    HEDDLE_NARROW_MATH_1(type, pair, floor, __nv_floorf)                                           \
    HEDDLE_NARROW_MATH_1(type, pair, ceil, __nv_ceilf)                                             \
    HEDDLE_NARROW_MATH_1(type, pair, trunc, __nv_truncf)                                           \
    HEDDLE_NARROW_MATH_1(type, pair, rint, __nv_rintf)
#define HEDDLE_NARROW_SHUFFLE(type, name, kind)                                                    \
    static __device__ __forceinline__ type name(unsigned int mask, type v, kind lane,              \
                                                int width = 32)                                    \
    {                                                                                              \
        unsigned int word = 0;                                                                     \
        __builtin_memcpy(&word, &v, sizeof v);                                                     \
        word = ::name(mask, word, lane, width);                                                    \
        __builtin_memcpy(&v, &word, sizeof v);                                                     \
        return v;                                                                                  \
    }
#define HEDDLE_NARROW_DEVICE(type, pair)                                                           \
    HEDDLE_NARROW_SHUFFLE(type, __shfl_sync, int)                                                  \
    HEDDLE_NARROW_SHUFFLE(type, __shfl_xor_sync, int)                                              \
    HEDDLE_NARROW_SHUFFLE(type, __shfl_up_sync, unsigned int)                                      \
    HEDDLE_NARROW_SHUFFLE(type, __shfl_down_sync, unsigned int)                                    \
    HEDDLE_NARROW_SHUFFLE(pair, __shfl_sync, int)                                                  \
    HEDDLE_NARROW_SHUFFLE(pair, __shfl_xor_sync, int)                                              \
    HEDDLE_NARROW_SHUFFLE(pair, __shfl_up_sync, unsigned int)                                      \
    HEDDLE_NARROW_SHUFFLE(pair, __shfl_down_sync, unsigned int)                                    \
    static __device__ __forceinline__ type __ldg(const type *p) { return *p; }                     \
    static __device__ __forceinline__ pair __ldg(const pair *p) { return *p; }                     \
    static __device__ __forceinline__ pair atomicAdd(pair *p, pair v)                              \
    {                                                                                              \
        unsigned int *word = (unsigned int *)p, old = *word, seen;                                 \
        pair value;                                                                                \
        do {                                                                                       \
            seen = old;                                                                            \
            __builtin_memcpy(&value, &seen, 4);                                                    \
            value = value + v;                                                                     \
            unsigned int made;                                                                     \
            __builtin_memcpy(&made, &value, 4);                                                    \
            old = ::atomicCAS(word, seen, made);                                                   \
        } while (old != seen);                                                                     \
        __builtin_memcpy(&value, &old, 4);                                                         \
        return value;                                                                              \
    }                                                                                              \
    static __device__ __forceinline__ type atomicAdd(type *p, type v)                              \
    {                                                                                              \
        unsigned short *word = (unsigned short *)p, old = *word, seen;                             \
        do {                                                                                       \
            seen = old;                                                                            \
            old = ::atomicCAS(word, seen, (type::from_bits(seen) + v).x);                          \
        } while (old != seen);                                                                     \
        return type::from_bits(old);                                                               \
    }
#else
#define HEDDLE_NARROW_MATH(type, pair)
#define HEDDLE_NARROW_DEVICE(type, pair)
#endif

/* Comparisons that a NaN makes false, and those with a u that it makes true. */
#define HEDDLE_NARROW_COMPARE(type, pair, name, op)                                                \
    HEDDLE_FREE bool __h##name(type a, type b)                                                     \
    {                                                                                              \
        return !__builtin_isunordered((float)a, (float)b) && (float)a op(float) b;                 \
    }                                                                                              \
    HEDDLE_FREE bool __h##name##u(type a, type b)                                                  \
    {                                                                                              \
        return __builtin_isunordered((float)a, (float)b) || (float)a op(float) b;                  \
    }                                                                                              \
    HEDDLE_FREE pair __h##name##2(pair a, pair b)                                                  \
    {                                                                                              \
        return pair(type(__h##name(a.x, b.x) ? 1.0f : 0.0f),                                       \
                    type(__h##name(a.y, b.y) ? 1.0f : 0.0f));                                      \
    }                                                                                              \
    HEDDLE_FREE pair __h##name##u2(pair a, pair b)                                                 \
    {                                                                                              \
        return pair(type(__h##name##u(a.x, b.x) ? 1.0f : 0.0f),                                    \
                    type(__h##name##u(a.y, b.y) ? 1.0f : 0.0f));                                   \
    }                                                                                              \
    HEDDLE_FREE bool __hb##name##2(pair a, pair b)                                                 \
    {                                                                                              \
        return __h##name(a.x, b.x) && __h##name(a.y, b.y);                                         \
    }                                                                                              \
    HEDDLE_FREE bool __hb##name##u2(pair a, pair b)                                                \
    {                                                                                              \
        return __h##name##u(a.x, b.x) && __h##name##u(a.y, b.y);                                   \
    }

/* From and to integers, which saturate. */
#define HEDDLE_NARROW_FROM(type, one, integer, letters, round, whole)                              \
    HEDDLE_FREE integer __##one##2##letters##_##round(type a)                                      \
    {                                                                                              \
        constexpr bool is_signed = (integer)-1 < 0;                                                \
        constexpr integer most =                                                                   \
            (integer)(is_signed ? ~(1ULL << (8 * sizeof(integer) - 1)) : ~0ULL);                   \
        constexpr integer least = is_signed ? (integer)(-most - 1) : (integer)0;                   \
        const float v = whole((float)a);                                                           \
        return __builtin_isnan(v)  ? (integer)0                                                    \
               : v >= (float)most  ? most                                                          \
               : v <= (float)least ? least                                                         \
                                   : (integer)v;                                                   \
    }
#define HEDDLE_NARROW_INTEGERS(type, one, integer, letters)                                        \
    HEDDLE_FREE type __##letters##2##one##_rn(integer v) { return type(v); }                       \
    HEDDLE_NARROW_FROM(type, one, integer, letters, rn, __builtin_rintf)                           \
    HEDDLE_NARROW_FROM(type, one, integer, letters, rz, __builtin_truncf)                          \
    HEDDLE_NARROW_FROM(type, one, integer, letters, rd, __builtin_floorf)                          \
    HEDDLE_NARROW_FROM(type, one, integer, letters, ru, __builtin_ceilf)

/* Results that are clamped to 0 to 1, or of which negative ones become 0. */
#define HEDDLE_NARROW_ENDED(type, pair, name, name2, end, operation)                               \
    HEDDLE_FREE type __##name(type a, type b) { return end(__##operation(a, b)); }                 \
    HEDDLE_FREE pair __##name2(pair a, pair b)                                                     \
    {                                                                                              \
        return pair(__##name(a.x, b.x), __##name(a.y, b.y));                                       \
    }
#define HEDDLE_NARROW_ENDED_3(type, pair, name, name2, end)                                        \
    HEDDLE_FREE type __##name(type a, type b, type c) { return end(__hfma(a, b, c)); }             \
    HEDDLE_FREE pair __##name2(pair a, pair b, pair c)                                             \
    {                                                                                              \
        return pair(__##name(a.x, b.x, c.x), __##name(a.y, b.y, c.y));                             \
    }
/* The type, the pair of two, and their functions, whose names have `one` and `two` in them. */
#define HEDDLE_NARROW(type, pair, native, one, two, letters)                                       \
    struct __align__(2) type                                                                       \
    {                                                                                              \
        unsigned short x;                                                                          \
        type() = default;                                                                          \
        HEDDLE_BOTH type(float v) : x(heddle_narrow_##letters(v)) {}                               \
        HEDDLE_BOTH type(double v) : x(heddle_narrow_##letters((float)v)) {}                       \
        HEDDLE_BOTH type(int v) : x(heddle_narrow_##letters((float)v)) {}                          \
        HEDDLE_BOTH type(unsigned int v) : x(heddle_narrow_##letters((float)v)) {}                 \
        HEDDLE_BOTH type(long long v) : x(heddle_narrow_##letters((float)v)) {}                    \
        HEDDLE_BOTH type(unsigned long long v) : x(heddle_narrow_##letters((float)v)) {}           \
        HEDDLE_BOTH type(short v) : x(heddle_narrow_##letters((float)v)) {}                        \
        HEDDLE_BOTH type(unsigned short v) : x(heddle_narrow_##letters((float)v)) {}               \
        HEDDLE_BOTH operator float() const { return heddle_wide_##letters(x); }                    \
        HEDDLE_BOTH type operator-() const { return from_bits((unsigned short)(x ^ 0x8000)); }     \
        HEDDLE_BOTH type operator+() const { return *this; }                                       \
        HEDDLE_BOTH type &operator++() { return *this = *this + type(1.0f); }                      \
        HEDDLE_BOTH type &operator--() { return *this = *this - type(1.0f); }                      \
        HEDDLE_BOTH type operator++(int)                                                           \
        {                                                                                          \
            type old = *this;                                                                      \
            ++*this;                                                                               \
            return old;                                                                            \
        }                                                                                          \
        HEDDLE_BOTH type operator--(int)                                                           \
        {                                                                                          \
            type old = *this;                                                                      \
            --*this;                                                                               \
            return old;                                                                            \
        }                                                                                          \
        HEDDLE_BOTH type &operator+=(type b) { return *this = *this + b; }                         \
        HEDDLE_BOTH type &operator-=(type b) { return *this = *this - b; }                         \
        HEDDLE_BOTH type &operator*=(type b) { return *this = *this * b; }                         \
        HEDDLE_BOTH type &operator/=(type b) { return *this = *this / b; }                         \
        static HEDDLE_BOTH type from_bits(unsigned short bits)                                     \
        {                                                                                          \
            type r;                                                                                \
            r.x = bits;                                                                            \
            return r;                                                                              \
        }                                                                                          \
        friend HEDDLE_BOTH type operator+(type a, type b)                                          \
        {                                                                                          \
            return from_bits(heddle_add_##letters(a.x, b.x));                                      \
        }                                                                                          \
        friend HEDDLE_BOTH type operator-(type a, type b)                                          \
        {                                                                                          \
            return from_bits(heddle_sub_##letters(a.x, b.x));                                      \
        }                                                                                          \
        friend HEDDLE_BOTH type operator*(type a, type b)                                          \
        {                                                                                          \
            return from_bits(heddle_mul_##letters(a.x, b.x));                                      \
        }                                                                                          \
        friend HEDDLE_BOTH type operator/(type a, type b) { return type((float)a / (float)b); }    \
        friend HEDDLE_BOTH bool operator==(type a, type b) { return (float)a == (float)b; }        \
        friend HEDDLE_BOTH bool operator!=(type a, type b) { return (float)a != (float)b; }        \
        friend HEDDLE_BOTH bool operator<(type a, type b) { return (float)a < (float)b; }          \
        friend HEDDLE_BOTH bool operator<=(type a, type b) { return (float)a <= (float)b; }        \
        friend HEDDLE_BOTH bool operator>(type a, type b) { return (float)a > (float)b; }          \
        friend HEDDLE_BOTH bool operator>=(type a, type b) { return (float)a >= (float)b; }        \
    };                                                                                             \
    struct __align__(4) pair                                                                       \
    {                                                                                              \
        type x, y;                                                                                 \
        pair() = default;                                                                          \
        HEDDLE_BOTH pair(type a, type b) : x(a), y(b) {}                                           \
        friend HEDDLE_BOTH pair operator+(pair a, pair b) { return pair(a.x + b.x, a.y + b.y); }   \
        friend HEDDLE_BOTH pair operator-(pair a, pair b) { return pair(a.x - b.x, a.y - b.y); }   \
        friend HEDDLE_BOTH pair operator*(pair a, pair b) { return pair(a.x * b.x, a.y * b.y); }   \
        friend HEDDLE_BOTH pair operator/(pair a, pair b) { return pair(a.x / b.x, a.y / b.y); }   \
        HEDDLE_BOTH pair &operator+=(pair b) { return *this = *this + b; }                         \
        HEDDLE_BOTH pair &operator-=(pair b) { return *this = *this - b; }                         \
        HEDDLE_BOTH pair &operator/=(pair b) { return *this = *this / b; }                         \
        HEDDLE_BOTH pair &operator*=(pair b) { return *this = *this * b; }                         \
        friend HEDDLE_BOTH bool operator==(pair a, pair b) { return a.x == b.x && a.y == b.y; }    \
    };                                                                                             \
    HEDDLE_FREE unsigned short __##one##_as_ushort(type a) { return a.x; }                         \
    HEDDLE_FREE type __ushort_as_##one(unsigned short bits) { return type::from_bits(bits); }      \
    HEDDLE_FREE type __float2##one(float v) { return type(v); }                                    \
    HEDDLE_FREE type __float2##one##_rn(float v) { return type(v); }                               \
    HEDDLE_FREE type __double2##one(double v) { return type((float)v); }                           \
    HEDDLE_FREE float __##one##2float(type a) { return (float)a; }                                 \
    HEDDLE_NARROW_INTEGERS(type, one, int, int)                                                    \
    HEDDLE_NARROW_INTEGERS(type, one, unsigned int, uint)                                          \
    HEDDLE_NARROW_INTEGERS(type, one, short, short)                                                \
    HEDDLE_NARROW_INTEGERS(type, one, unsigned short, ushort)                                      \
    HEDDLE_NARROW_INTEGERS(type, one, long long, ll)                                               \
    HEDDLE_NARROW_INTEGERS(type, one, unsigned long long, ull)                                     \
    HEDDLE_FREE pair __float2##two##_rn(float v) { return pair(type(v), type(v)); }                \
    HEDDLE_FREE pair __floats2##two##_rn(float a, float b) { return pair(type(a), type(b)); }      \
    HEDDLE_FREE pair __float22##two##_rn(float2 v) { return pair(type(v.x), type(v.y)); }          \
    HEDDLE_FREE pair __halves2##two(type a, type b) { return pair(a, b); }                         \
    HEDDLE_FREE pair __##one##2##two(type a) { return pair(a, a); }                                \
    HEDDLE_FREE pair make_##two(type a, type b) { return pair(a, b); }                             \
    HEDDLE_FREE type __low2##one(pair a) { return a.x; }                                           \
    HEDDLE_FREE type __high2##one(pair a) { return a.y; }                                          \
    HEDDLE_FREE float __low2float(pair a) { return (float)a.x; }                                   \
    HEDDLE_FREE float __high2float(pair a) { return (float)a.y; }                                  \
    HEDDLE_FREE pair __low2##two(pair a) { return pair(a.x, a.x); }                                \
    HEDDLE_FREE pair __high2##two(pair a) { return pair(a.y, a.y); }                               \
    HEDDLE_FREE pair __lows2##two(pair a, pair b) { return pair(a.x, b.x); }                       \
    HEDDLE_FREE pair __highs2##two(pair a, pair b) { return pair(a.y, b.y); }                      \
    HEDDLE_FREE pair __lowhigh2highlow(pair a) { return pair(a.y, a.x); }                          \
    HEDDLE_FREE float2 __##two##2float2(pair a) { return make_float2((float)a.x, (float)a.y); }    \
    HEDDLE_FREE type __hadd(type a, type b) { return a + b; }                                      \
    HEDDLE_FREE type __hsub(type a, type b) { return a - b; }                                      \
    HEDDLE_FREE type __hmul(type a, type b) { return a * b; }                                      \
    HEDDLE_FREE type __hdiv(type a, type b) { return a / b; }                                      \
    HEDDLE_FREE type __hneg(type a) { return -a; }                                                 \
    HEDDLE_FREE type __habs(type a) { return type::from_bits((unsigned short)(a.x & 0x7fff)); }    \
    HEDDLE_FREE type __hfma(type a, type b, type c)                                                \
    {                                                                                              \
        return type::from_bits(heddle_fma_##letters(a.x, b.x, c.x));                               \
    }                                                                                              \
    HEDDLE_FREE type __hmin(type a, type b) { return type(__builtin_fminf((float)a, (float)b)); }  \
    HEDDLE_FREE type __hmax(type a, type b) { return type(__builtin_fmaxf((float)a, (float)b)); }  \
    HEDDLE_NARROW_COMPARE(type, pair, eq, ==)                                                      \
    HEDDLE_NARROW_COMPARE(type, pair, ne, !=)                                                      \
    HEDDLE_NARROW_COMPARE(type, pair, lt, <)                                                       \
    HEDDLE_NARROW_COMPARE(type, pair, le, <=)                                                      \
    HEDDLE_NARROW_COMPARE(type, pair, gt, >)                                                       \
    HEDDLE_NARROW_COMPARE(type, pair, ge, >=)                                                      \
    HEDDLE_FREE bool __hisnan(type a) { return __builtin_isnan((float)a); }                        \
    HEDDLE_FREE int __hisinf(type a) { return __builtin_isinf((float)a); }                         \
    HEDDLE_FREE pair __hadd2(pair a, pair b) { return a + b; }                                     \
    HEDDLE_FREE pair __hsub2(pair a, pair b) { return a - b; }                                     \
    HEDDLE_FREE pair __hmul2(pair a, pair b) { return a * b; }                                     \
    HEDDLE_FREE pair __h2div(pair a, pair b) { return a / b; }                                     \
    HEDDLE_FREE pair __hneg2(pair a) { return pair(-a.x, -a.y); }                                  \
    HEDDLE_FREE pair __habs2(pair a) { return pair(__habs(a.x), __habs(a.y)); }                    \
    HEDDLE_FREE pair __hfma2(pair a, pair b, pair c)                                               \
    {                                                                                              \
        return pair(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));                                 \
    }                                                                                              \
    HEDDLE_FREE type heddle_clamped_##letters(type a)                                              \
    {                                                                                              \
        float v = (float)a; /* not a number becomes 0 */                                           \
        return type(v > 0 ? v < 1 ? v : 1.0f : 0.0f);                                              \
    }                                                                                              \
    HEDDLE_FREE type heddle_positive_##letters(type a) { return (float)a < 0 ? type(0.0f) : a; }   \
    HEDDLE_NARROW_ENDED(type, pair, hadd_sat, hadd2_sat, heddle_clamped_##letters, hadd)           \
    HEDDLE_NARROW_ENDED(type, pair, hsub_sat, hsub2_sat, heddle_clamped_##letters, hsub)           \
    HEDDLE_NARROW_ENDED(type, pair, hmul_sat, hmul2_sat, heddle_clamped_##letters, hmul)           \
    HEDDLE_NARROW_ENDED_3(type, pair, hfma_sat, hfma2_sat, heddle_clamped_##letters)               \
    HEDDLE_NARROW_ENDED_3(type, pair, hfma_relu, hfma2_relu, heddle_positive_##letters)            \
    HEDDLE_FREE pair __hmin2(pair a, pair b) { return pair(__hmin(a.x, b.x), __hmin(a.y, b.y)); }  \
    HEDDLE_FREE pair __hmax2(pair a, pair b) { return pair(__hmax(a.x, b.x), __hmax(a.y, b.y)); }  \
    HEDDLE_NARROW_MATH(type, pair)                                                                 \
    HEDDLE_NARROW_DEVICE(type, pair)

#endif
