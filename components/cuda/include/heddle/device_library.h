/* The device library: what clang's headers for CUDA call as __nv_NAME. Elementary functions are
 * those of libclc (the distribution's package libclc-19, linked as bitcode), the rest is
 * instructions and a few lines. docs/reference/cuda.md has the errors of each in units of the last
 * place. */
#ifndef HEDDLE_CUDA_DEVICE_LIBRARY_H
#define HEDDLE_CUDA_DEVICE_LIBRARY_H

#define HEDDLE_NV extern "C" inline __device__ __attribute__((always_inline))

/* ---- elementary functions of libclc, by their mangled names ---- */

#define HEDDLE_CLC_1(name, length)                                                                 \
    extern "C" __device__ float _Z##length##name##f(float);                                        \
    extern "C" __device__ double _Z##length##name##d(double);                                      \
    HEDDLE_NV float __nv_##name##f(float x) { return _Z##length##name##f(x); }                     \
    HEDDLE_NV double __nv_##name(double x) { return _Z##length##name##d(x); }
HEDDLE_CLC_1(sin, 3)
HEDDLE_CLC_1(cos, 3)
HEDDLE_CLC_1(tan, 3)
HEDDLE_CLC_1(asin, 4)
HEDDLE_CLC_1(acos, 4)
HEDDLE_CLC_1(atan, 4)
HEDDLE_CLC_1(sinh, 4)
HEDDLE_CLC_1(cosh, 4)
HEDDLE_CLC_1(tanh, 4)
HEDDLE_CLC_1(asinh, 5)
HEDDLE_CLC_1(acosh, 5)
HEDDLE_CLC_1(atanh, 5)
HEDDLE_CLC_1(exp, 3)
HEDDLE_CLC_1(exp2, 4)
HEDDLE_CLC_1(exp10, 5)
HEDDLE_CLC_1(expm1, 5)
HEDDLE_CLC_1(log, 3)
HEDDLE_CLC_1(log2, 4)
HEDDLE_CLC_1(log10, 5)
HEDDLE_CLC_1(log1p, 5)
HEDDLE_CLC_1(cbrt, 4)
HEDDLE_CLC_1(erf, 3)
HEDDLE_CLC_1(lgamma, 6)
HEDDLE_CLC_1(cospi, 5)
HEDDLE_CLC_1(logb, 4)
#undef HEDDLE_CLC_1

#define HEDDLE_CLC_2(name, length)                                                                 \
    extern "C" __device__ float _Z##length##name##ff(float, float);                                \
    extern "C" __device__ double _Z##length##name##dd(double, double);                             \
    HEDDLE_NV float __nv_##name##f(float x, float y) { return _Z##length##name##ff(x, y); }        \
    HEDDLE_NV double __nv_##name(double x, double y) { return _Z##length##name##dd(x, y); }
HEDDLE_CLC_2(atan2, 5)
HEDDLE_CLC_2(pow, 3)
HEDDLE_CLC_2(hypot, 5)
HEDDLE_CLC_2(fmod, 4)
HEDDLE_CLC_2(remainder, 9)
HEDDLE_CLC_2(nextafter, 9)
HEDDLE_CLC_2(fdim, 4)
#undef HEDDLE_CLC_2

extern "C" __device__ int _Z5ilogbf(float);
extern "C" __device__ int _Z5ilogbd(double);
HEDDLE_NV int __nv_ilogbf(float x) { return _Z5ilogbf(x); }
HEDDLE_NV int __nv_ilogb(double x) { return _Z5ilogbd(x); }

extern "C" __device__ double _Z4erfcd(double);
HEDDLE_NV double __nv_erfc(double x) { return _Z4erfcd(x); }
HEDDLE_NV float __nv_erfcf(float x) /* libclc's of float errs by 12 units */
{
    return (float)_Z4erfcd(x);
}

/* Lanczos' approximation with 13 terms and g = 6.0247 (Boost's lanczos13m53), and the rounding of
 * its base put right. libclc's errs by 155 units. */
HEDDLE_NV double heddle_lanczos(double x)
{
    static constexpr double above[] = {23531376880.410759688572007674451636754734846804940,
                                       42919803642.649098768957899047001988850926355848959,
                                       35711959237.355668049440185451547166705960488635843,
                                       17921034426.037209699919755754458931112671403265390,
                                       6039542586.3520280050642916443072979210699388420708,
                                       1439720407.3117216736632230727949123939715485786372,
                                       248874557.86205415651146038641322942321632125127801,
                                       31426415.585400194380614231628318205362874684987640,
                                       2876370.6289353724412254090516208496135991145378768,
                                       186056.26539522349504029498971604569928220784236328,
                                       8071.6720023658162106380029022722506138218516325024,
                                       210.82427775157934587250973392071336271166969580291,
                                       2.5066282746310002701649081771338373386264310793408};
    static constexpr double below[] = {0,        39916800, 120543840, 150917976, 105258076,
                                       45995730, 13339535, 2637558,   357423,    32670,
                                       1925,     66,       1};
    double num = 0, den = 0;
    for (int i = 0; i < 13; i++) {
        int k = x < 8 ? 12 - i : i;
        num = x < 8 ? num * x + above[k] : num / x + above[k];
        den = x < 8 ? den * x + below[k] : den / x + below[k];
    }
    return num / den;
}
HEDDLE_NV double __nv_tgamma(double x)
{
    const double g = 5.524680040776729583740234375;
    double size = __builtin_fabs(x), whole = __builtin_floor(x);
    if (x != x || x == __builtin_inf())
        return x;
    if (x == 0)
        return 1 / x;
    if (x < 0 && x == whole)
        return __builtin_nan("");
    if (x > 172)
        return __builtin_inf();
    if (size < 0x1p-54)
        return 1 / x;
    if (x < -184)
        return __nv_fmod(whole, 2) == 0 ? 0.0 : -0.0;
    double y = size + g, error = size > g ? (y - size) - g : (y - g) - size, z = size - 0.5;
    double r = heddle_lanczos(size) * __nv_exp(-y);
    if (x < 0) {
        r = -3.14159265358979323846 / (__nv_sinpi(size) * size * r);
        error = -error;
        z = -z;
    }
    r += error * (g + 0.5) * r / y;
    z = __nv_pow(y, 0.5 * z);
    return r * z * z;
}
HEDDLE_NV float __nv_tgammaf(float x) { return (float)__nv_tgamma(x); }

/* ---- functions that are instructions ---- */

#define HEDDLE_BUILTIN_1(name)                                                                     \
    HEDDLE_NV float __nv_##name##f(float x) { return __builtin_##name##f(x); }                     \
    HEDDLE_NV double __nv_##name(double x) { return __builtin_##name(x); }
HEDDLE_BUILTIN_1(floor)
HEDDLE_BUILTIN_1(ceil)
HEDDLE_BUILTIN_1(trunc)
HEDDLE_BUILTIN_1(rint)
HEDDLE_BUILTIN_1(nearbyint)
HEDDLE_BUILTIN_1(round)
HEDDLE_BUILTIN_1(fabs)
#undef HEDDLE_BUILTIN_1
#define HEDDLE_BUILTIN_2(name)                                                                     \
    HEDDLE_NV float __nv_##name##f(float x, float y) { return __builtin_##name##f(x, y); }         \
    HEDDLE_NV double __nv_##name(double x, double y) { return __builtin_##name(x, y); }
HEDDLE_BUILTIN_2(fmin)
HEDDLE_BUILTIN_2(fmax)
HEDDLE_BUILTIN_2(copysign)
#undef HEDDLE_BUILTIN_2
HEDDLE_NV float __nv_fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
HEDDLE_NV double __nv_fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
HEDDLE_NV float __nv_sqrtf(float x) { return __nvvm_sqrt_rn_f(x); }
HEDDLE_NV double __nv_sqrt(double x) { return __nvvm_sqrt_rn_d(x); }
HEDDLE_NV float __nv_rsqrtf(float x) { return __nvvm_rsqrt_approx_f(x); }
HEDDLE_NV double __nv_rsqrt(double x) { return 1.0 / __nvvm_sqrt_rn_d(x); }
HEDDLE_NV float __nv_saturatef(float x) { return __nvvm_saturate_f(x); }

/* ---- arithmetic with a rounding ---- */

#define HEDDLE_ROUNDED_1(name, type, instruction, letter)                                          \
    HEDDLE_NV type __nv_##name(type x)                                                             \
    {                                                                                              \
        type r;                                                                                    \
        asm(instruction " %0, %1;" : "=" letter(r) : letter(x));                                   \
        return r;                                                                                  \
    }
#define HEDDLE_ROUNDED_2(name, type, instruction, letter)                                          \
    HEDDLE_NV type __nv_##name(type x, type y)                                                     \
    {                                                                                              \
        type r;                                                                                    \
        asm(instruction " %0, %1, %2;" : "=" letter(r) : letter(x), letter(y));                    \
        return r;                                                                                  \
    }
#define HEDDLE_ROUNDED_3(name, type, instruction, letter)                                          \
    HEDDLE_NV type __nv_##name(type x, type y, type z)                                             \
    {                                                                                              \
        type r;                                                                                    \
        asm(instruction " %0, %1, %2, %3;" : "=" letter(r) : letter(x), letter(y), letter(z));     \
        return r;                                                                                  \
    }
#define HEDDLE_ROUNDINGS(suffix, mode)                                                             \
    HEDDLE_ROUNDED_2(fadd_##suffix, float, "add." mode ".f32", "f")                                \
    HEDDLE_ROUNDED_2(fsub_##suffix, float, "sub." mode ".f32", "f")                                \
    HEDDLE_ROUNDED_2(fmul_##suffix, float, "mul." mode ".f32", "f")                                \
    HEDDLE_ROUNDED_2(fdiv_##suffix, float, "div." mode ".f32", "f")                                \
    HEDDLE_ROUNDED_3(fmaf_##suffix, float, "fma." mode ".f32", "f")                                \
    HEDDLE_ROUNDED_3(fmaf_ieee_##suffix, float, "fma." mode ".f32", "f")                           \
    HEDDLE_ROUNDED_1(frcp_##suffix, float, "rcp." mode ".f32", "f")                                \
    HEDDLE_ROUNDED_1(fsqrt_##suffix, float, "sqrt." mode ".f32", "f")                              \
    HEDDLE_ROUNDED_2(dadd_##suffix, double, "add." mode ".f64", "d")                               \
    HEDDLE_ROUNDED_2(dsub_##suffix, double, "sub." mode ".f64", "d")                               \
    HEDDLE_ROUNDED_2(dmul_##suffix, double, "mul." mode ".f64", "d")                               \
    HEDDLE_ROUNDED_2(ddiv_##suffix, double, "div." mode ".f64", "d")                               \
    HEDDLE_ROUNDED_3(fma_##suffix, double, "fma." mode ".f64", "d")                                \
    HEDDLE_ROUNDED_1(drcp_##suffix, double, "rcp." mode ".f64", "d")                               \
    HEDDLE_ROUNDED_1(dsqrt_##suffix, double, "sqrt." mode ".f64", "d")
HEDDLE_ROUNDINGS(rn, "rn")
HEDDLE_ROUNDINGS(rz, "rz")
HEDDLE_ROUNDINGS(ru, "rp")
HEDDLE_ROUNDINGS(rd, "rm")
#undef HEDDLE_ROUNDINGS
#undef HEDDLE_ROUNDED_1
#undef HEDDLE_ROUNDED_2
#undef HEDDLE_ROUNDED_3
HEDDLE_NV float __nv_frsqrt_rn(float x) { return __nvvm_rsqrt_approx_f(x); }

/* ---- conversions ---- */

#define HEDDLE_CONVERT(name, to, from, instruction, out, in)                                       \
    HEDDLE_NV to __nv_##name(from x)                                                               \
    {                                                                                              \
        to r;                                                                                      \
        asm("cvt." instruction " %0, %1;" : "=" out(r) : in(x));                                   \
        return r;                                                                                  \
    }
#define HEDDLE_CONVERTS(suffix, integer, real)                                                     \
    HEDDLE_CONVERT(float2int_##suffix, int, float, integer ".s32.f32", "r", "f")                   \
    HEDDLE_CONVERT(float2uint_##suffix, unsigned int, float, integer ".u32.f32", "r", "f")         \
    HEDDLE_CONVERT(float2ll_##suffix, long long, float, integer ".s64.f32", "l", "f")              \
    HEDDLE_CONVERT(float2ull_##suffix, unsigned long long, float, integer ".u64.f32", "l", "f")    \
    HEDDLE_CONVERT(double2int_##suffix, int, double, integer ".s32.f64", "r", "d")                 \
    HEDDLE_CONVERT(double2uint_##suffix, unsigned int, double, integer ".u32.f64", "r", "d")       \
    HEDDLE_CONVERT(double2ll_##suffix, long long, double, integer ".s64.f64", "l", "d")            \
    HEDDLE_CONVERT(double2ull_##suffix, unsigned long long, double, integer ".u64.f64", "l", "d")  \
    HEDDLE_CONVERT(double2float_##suffix, float, double, real ".f32.f64", "f", "d")                \
    HEDDLE_CONVERT(int2float_##suffix, float, int, real ".f32.s32", "f", "r")                      \
    HEDDLE_CONVERT(uint2float_##suffix, float, unsigned int, real ".f32.u32", "f", "r")            \
    HEDDLE_CONVERT(ll2float_##suffix, float, long long, real ".f32.s64", "f", "l")                 \
    HEDDLE_CONVERT(ull2float_##suffix, float, unsigned long long, real ".f32.u64", "f", "l")       \
    HEDDLE_CONVERT(ll2double_##suffix, double, long long, real ".f64.s64", "d", "l")               \
    HEDDLE_CONVERT(ull2double_##suffix, double, unsigned long long, real ".f64.u64", "d", "l")
HEDDLE_CONVERTS(rn, "rni", "rn")
HEDDLE_CONVERTS(rz, "rzi", "rz")
HEDDLE_CONVERTS(ru, "rpi", "rp")
HEDDLE_CONVERTS(rd, "rmi", "rm")
#undef HEDDLE_CONVERTS
HEDDLE_NV double __nv_int2double_rn(int x) { return x; }
HEDDLE_NV double __nv_uint2double_rn(unsigned int x) { return x; }
HEDDLE_CONVERT(float2half_rn, unsigned short, float, "rn.f16.f32", "h", "f")
HEDDLE_CONVERT(half2float, float, unsigned short, "f32.f16", "f", "h")
#undef HEDDLE_CONVERT

#define HEDDLE_BITS(name, to, from)                                                                \
    HEDDLE_NV to __nv_##name(from x) { return __builtin_bit_cast(to, x); }
HEDDLE_BITS(float_as_int, int, float)
HEDDLE_BITS(float_as_uint, unsigned int, float)
HEDDLE_BITS(int_as_float, float, int)
HEDDLE_BITS(uint_as_float, float, unsigned int)
HEDDLE_BITS(double_as_longlong, unsigned long long, double)
HEDDLE_BITS(longlong_as_double, double, long long)
#undef HEDDLE_BITS
HEDDLE_NV int __nv_double2hiint(double x) { return (int)(__nv_double_as_longlong(x) >> 32); }
HEDDLE_NV int __nv_double2loint(double x) { return (int)__nv_double_as_longlong(x); }
HEDDLE_NV double __nv_hiloint2double(int high, int low)
{
    return __nv_longlong_as_double(
        (long long)((unsigned long long)(unsigned int)high << 32 | (unsigned int)low));
}
HEDDLE_NV long long __nv_llrintf(float x) { return __nv_float2ll_rn(x); }
HEDDLE_NV long long __nv_llrint(double x) { return __nv_double2ll_rn(x); }
HEDDLE_NV long long __nv_llroundf(float x) { return __nv_float2ll_rz(__builtin_roundf(x)); }
HEDDLE_NV long long __nv_llround(double x) { return __nv_double2ll_rz(__builtin_round(x)); }

/* ---- fast variants ---- */

HEDDLE_NV float __nv_fast_sinf(float x) { return __nvvm_sin_approx_f(x); }
HEDDLE_NV float __nv_fast_cosf(float x) { return __nvvm_cos_approx_f(x); }
HEDDLE_NV float __nv_fast_fdividef(float x, float y) { return __nvvm_div_approx_f(x, y); }
HEDDLE_NV float __nv_fast_tanf(float x)
{
    return __nvvm_div_approx_f(__nvvm_sin_approx_f(x), __nvvm_cos_approx_f(x));
}
HEDDLE_NV void __nv_fast_sincosf(float x, float *sine, float *cosine)
{
    *sine = __nvvm_sin_approx_f(x);
    *cosine = __nvvm_cos_approx_f(x);
}
HEDDLE_NV float __nv_fast_expf(float x) { return __nvvm_ex2_approx_f(x * 1.4426950408889634f); }
HEDDLE_NV float __nv_fast_exp10f(float x) { return __nvvm_ex2_approx_f(x * 3.3219280948873623f); }
HEDDLE_NV float __nv_fast_log2f(float x) { return __nvvm_lg2_approx_f(x); }
HEDDLE_NV float __nv_fast_logf(float x) { return __nvvm_lg2_approx_f(x) * 0.69314718055994531f; }
HEDDLE_NV float __nv_fast_log10f(float x) { return __nvvm_lg2_approx_f(x) * 0.30102999566398120f; }
HEDDLE_NV float __nv_fast_powf(float x, float y)
{
    return __nvvm_ex2_approx_f(y * __nvvm_lg2_approx_f(x));
}

/* ---- integers ---- */

HEDDLE_NV int __nv_abs(int x) { return x < 0 ? -x : x; }
HEDDLE_NV long long __nv_llabs(long long x) { return x < 0 ? -x : x; }
HEDDLE_NV int __nv_min(int x, int y) { return x < y ? x : y; }
HEDDLE_NV int __nv_max(int x, int y) { return x > y ? x : y; }
HEDDLE_NV unsigned int __nv_umin(unsigned int x, unsigned int y) { return x < y ? x : y; }
HEDDLE_NV unsigned int __nv_umax(unsigned int x, unsigned int y) { return x > y ? x : y; }
HEDDLE_NV long long __nv_llmin(long long x, long long y) { return x < y ? x : y; }
HEDDLE_NV long long __nv_llmax(long long x, long long y) { return x > y ? x : y; }
HEDDLE_NV unsigned long long __nv_ullmin(unsigned long long x, unsigned long long y)
{
    return x < y ? x : y;
}
HEDDLE_NV unsigned long long __nv_ullmax(unsigned long long x, unsigned long long y)
{
    return x > y ? x : y;
}
HEDDLE_NV int __nv_brev(int x) { return (int)__builtin_bitreverse32((unsigned int)x); }
HEDDLE_NV long long __nv_brevll(long long x)
{
    return (long long)__builtin_bitreverse64((unsigned long long)x);
}
HEDDLE_NV int __nv_clz(int x) { return x ? __builtin_clz((unsigned int)x) : 32; }
HEDDLE_NV int __nv_clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
HEDDLE_NV int __nv_popc(unsigned int x) { return __builtin_popcount(x); }
HEDDLE_NV int __nv_popcll(unsigned long long x) { return __builtin_popcountll(x); }
HEDDLE_NV int __nv_ffs(int x) { return x ? __builtin_ctz((unsigned int)x) + 1 : 0; }
HEDDLE_NV int __nv_ffsll(long long x) { return x ? __builtin_ctzll((unsigned long long)x) + 1 : 0; }
HEDDLE_NV int __nv_byte_perm(int x, int y, int selector)
{
    int r;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(selector & 0x7777));
    return r;
}
HEDDLE_NV int __nv_mulhi(int x, int y) { return (int)(((long long)x * y) >> 32); }
HEDDLE_NV unsigned int __nv_umulhi(unsigned int x, unsigned int y)
{
    return (unsigned int)(((unsigned long long)x * y) >> 32);
}
HEDDLE_NV long long __nv_mul64hi(long long x, long long y)
{
    return (long long)(((__int128)x * y) >> 64);
}
HEDDLE_NV unsigned long long __nv_umul64hi(unsigned long long x, unsigned long long y)
{
    return (unsigned long long)(((unsigned __int128)x * y) >> 64);
}
HEDDLE_NV int __nv_mul24(int x, int y)
{
    return (int)((unsigned int)(x << 8 >> 8) * (unsigned int)(y << 8 >> 8));
}
HEDDLE_NV unsigned int __nv_umul24(unsigned int x, unsigned int y)
{
    return (x & 0xffffffu) * (y & 0xffffffu);
}
HEDDLE_NV int __nv_sad(int x, int y, int z)
{
    return (int)((unsigned int)z
                 + (x > y ? (unsigned int)x - (unsigned int)y : (unsigned int)y - (unsigned int)x));
}
HEDDLE_NV unsigned int __nv_usad(unsigned int x, unsigned int y, unsigned int z)
{
    return z + (x > y ? x - y : y - x);
}
HEDDLE_NV int __nv_hadd(int x, int y) { return (int)(((long long)x + y) >> 1); }
HEDDLE_NV int __nv_rhadd(int x, int y) { return (int)(((long long)x + y + 1) >> 1); }
HEDDLE_NV int __nv_uhadd(unsigned int x, unsigned int y)
{
    return (int)(((unsigned long long)x + y) >> 1);
}
HEDDLE_NV unsigned int __nv_urhadd(unsigned int x, unsigned int y)
{
    return (unsigned int)(((unsigned long long)x + y + 1) >> 1);
}

/* ---- parts of numbers ---- */

HEDDLE_NV int __nv_isnanf(float x) { return __builtin_isnan(x); }
HEDDLE_NV int __nv_isnand(double x) { return __builtin_isnan(x); }
HEDDLE_NV int __nv_isinff(float x) { return __builtin_isinf(x); }
HEDDLE_NV int __nv_isinfd(double x) { return __builtin_isinf(x); }
HEDDLE_NV int __nv_finitef(float x) { return __builtin_isfinite(x); }
HEDDLE_NV int __nv_isfinited(double x) { return __builtin_isfinite(x); }
HEDDLE_NV int __nv_signbitf(float x) { return __nv_float_as_int(x) < 0; }
HEDDLE_NV int __nv_signbitd(double x) { return (long long)__nv_double_as_longlong(x) < 0; }
HEDDLE_NV float __nv_nanf(const signed char *) { return __builtin_nanf(""); }
HEDDLE_NV double __nv_nan(const signed char *) { return __builtin_nan(""); }
HEDDLE_NV float __nv_modff(float x, float *whole)
{
    *whole = __builtin_truncf(x);
    return __builtin_copysignf(__builtin_isinf(x) ? 0.0f : x - *whole, x);
}
HEDDLE_NV double __nv_modf(double x, double *whole)
{
    *whole = __builtin_trunc(x);
    return __builtin_copysign(__builtin_isinf(x) ? 0.0 : x - *whole, x);
}
/* A power of two is reached in three steps, the last of which rounds. */
HEDDLE_NV double __nv_ldexp(double x, int n)
{
    n = n > 3000 ? 3000 : n < -3000 ? -3000 : n;
    if (n > 1023) {
        x *= 0x1p1023;
        n -= 1023;
        if (n > 1023) {
            x *= 0x1p1023;
            n = n - 1023 > 1023 ? 1023 : n - 1023;
        }
    } else if (n < -1022) { /* 53 bits are left for the last step */
        x *= 0x1p-969;
        n += 969;
        if (n < -1022) {
            x *= 0x1p-969;
            n = n + 969 < -1022 ? -1022 : n + 969;
        }
    }
    return x * __nv_longlong_as_double((long long)(n + 1023) << 52);
}
HEDDLE_NV float __nv_ldexpf(float x, int n)
{
    n = n > 300 ? 300 : n < -300 ? -300 : n;
    return (float)((double)x * __nv_longlong_as_double((long long)(n + 1023) << 52));
}
HEDDLE_NV double __nv_scalbn(double x, int n) { return __nv_ldexp(x, n); }
HEDDLE_NV float __nv_scalbnf(float x, int n) { return __nv_ldexpf(x, n); }
HEDDLE_NV double __nv_frexp(double x, int *exponent)
{
    if (x == 0 || !__builtin_isfinite(x)) {
        *exponent = 0;
        return x;
    }
    int shift = __builtin_fabs(x) < 0x1p-1022 ? 64 : 0;
    unsigned long long bits = __nv_double_as_longlong(shift ? x * 0x1p64 : x);
    *exponent = (int)(bits >> 52 & 0x7ff) - 1022 - shift;
    return __nv_longlong_as_double((long long)((bits & 0x800fffffffffffffull) | 1022ull << 52));
}
HEDDLE_NV float __nv_frexpf(float x, int *exponent) { return (float)__nv_frexp(x, exponent); }
HEDDLE_NV float __nv_remquof(float x, float y, int *quotient)
{
    float near = __nv_fmodf(x, 8 * y), rest = __nv_remainderf(x, y);
    *quotient = __nv_float2int_rn((near - rest) / y);
    return rest;
}
HEDDLE_NV double __nv_remquo(double x, double y, int *quotient)
{
    double near = __nv_fmod(x, 8 * y), rest = __nv_remainder(x, y);
    *quotient = __nv_double2int_rn((near - rest) / y);
    return rest;
}

/* ---- what is made of others ---- */

HEDDLE_NV void __nv_sincosf(float x, float *sine, float *cosine)
{
    *sine = __nv_sinf(x);
    *cosine = __nv_cosf(x);
}
HEDDLE_NV void __nv_sincos(double x, double *sine, double *cosine)
{
    *sine = __nv_sin(x);
    *cosine = __nv_cos(x);
}
extern "C" __device__ double _Z5sinpid(double);
HEDDLE_NV double __nv_sinpi(double x) { return _Z5sinpid(x); }
/* From 0 to a half of a turn by two series of Taylor's, up to a quarter each; pi has two parts, as
 * one alone is more than an ULP away. */
HEDDLE_NV float __nv_sinpif(float x)
{
    float turned = x - 2 * __builtin_rintf(x / 2), size = __builtin_fabsf(turned), result;
    size = size > 0.5f ? 1 - size : size;
    if (size <= 0.25f) {
        float square = size * size, high = size * 3.14159274f;
        float low = __nv_fmaf(size, 3.14159274f, -high) + size * -8.74227766e-8f;
        float rest = __nv_fmaf(square, 0.0821458866f, -0.599264529f);
        rest = __nv_fmaf(square, __nv_fmaf(square, rest, 2.55016404f), -5.16771278f) * square;
        result = high + __nv_fmaf(rest, size, low);
    } else {
        float square = (0.5f - size) * (0.5f - size);
        float rest = __nv_fmaf(square, -0.0258068913f, 0.235330630f);
        rest = __nv_fmaf(square, __nv_fmaf(square, rest, -1.33526277f), 4.05871213f);
        result = __nv_fmaf(square, __nv_fmaf(square, rest, -4.93480220f), 1.0f);
    }
    return turned == 0 ? x * 0 : __builtin_copysignf(result, turned);
}
HEDDLE_NV void __nv_sincospif(float x, float *sine, float *cosine)
{
    *sine = __nv_sinpif(x);
    *cosine = __nv_cospif(x);
}
HEDDLE_NV void __nv_sincospi(double x, double *sine, double *cosine)
{
    *sine = __nv_sinpi(x);
    *cosine = __nv_cospi(x);
}
HEDDLE_NV float __nv_powif(float x, int n) { return __nv_powf(x, (float)n); }
HEDDLE_NV double __nv_powi(double x, int n) { return __nv_pow(x, n); }
HEDDLE_NV float __nv_rcbrtf(float x) { return (float)(1.0 / __nv_cbrt(x)); }
HEDDLE_NV double __nv_rcbrt(double x) { return 1.0 / __nv_cbrt(x); }
HEDDLE_NV float __nv_rhypotf(float x, float y)
{
    return (float)(1.0 / __nvvm_sqrt_rn_d((double)x * x + (double)y * y));
}
HEDDLE_NV double __nv_rhypot(double x, double y) { return 1.0 / __nv_hypot(x, y); }
HEDDLE_NV float __nv_norm3df(float x, float y, float z)
{
    return (float)__nvvm_sqrt_rn_d((double)x * x + (double)y * y + (double)z * z);
}
HEDDLE_NV float __nv_norm4df(float x, float y, float z, float w)
{
    return (float)__nvvm_sqrt_rn_d((double)x * x + (double)y * y + (double)z * z + (double)w * w);
}
HEDDLE_NV double __nv_norm3d(double x, double y, double z)
{
    return __nv_hypot(__nv_hypot(x, y), z);
}
HEDDLE_NV double __nv_norm4d(double x, double y, double z, double w)
{
    return __nv_hypot(__nv_hypot(x, y), __nv_hypot(z, w));
}
HEDDLE_NV float __nv_rnorm3df(float x, float y, float z)
{
    return (float)(1.0 / __nvvm_sqrt_rn_d((double)x * x + (double)y * y + (double)z * z));
}
HEDDLE_NV float __nv_rnorm4df(float x, float y, float z, float w)
{
    return (
        float)(1.0
               / __nvvm_sqrt_rn_d((double)x * x + (double)y * y + (double)z * z + (double)w * w));
}
HEDDLE_NV double __nv_rnorm3d(double x, double y, double z) { return 1.0 / __nv_norm3d(x, y, z); }
HEDDLE_NV double __nv_rnorm4d(double x, double y, double z, double w)
{
    return 1.0 / __nv_norm4d(x, y, z, w);
}
HEDDLE_NV float __nv_normf(int count, const float *x)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += (double)x[i] * x[i];
    return (float)__nvvm_sqrt_rn_d(sum);
}
HEDDLE_NV double __nv_norm(int count, const double *x)
{
    double norm = 0;
    for (int i = 0; i < count; i++)
        norm = __nv_hypot(norm, x[i]);
    return norm;
}
HEDDLE_NV float __nv_rnormf(int count, const float *x) { return 1.0f / __nv_normf(count, x); }
HEDDLE_NV double __nv_rnorm(int count, const double *x) { return 1.0 / __nv_norm(count, x); }
HEDDLE_NV double __nv_normcdf(double x) { return 0.5 * __nv_erfc(x * -0.70710678118654752440); }
HEDDLE_NV float __nv_normcdff(float x) { return (float)__nv_normcdf(x); }

/* The inverse of erfc() up to 0.5: Giles's approximation of single precision ("Approximating the
 * erfinv function", GPU Computing Gems, 2011), or the leading term, then Newton's method on the
 * logarithm, which converges however small q is. */
HEDDLE_NV double __heddle_erfcinv(double q)
{
    double w = -__nv_log(q * (2 - q)), x;
    if (w < 5) {
        const double p[] = {2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
                            -4.39150654e-06, 0.00021858087,  -0.00125372503,
                            -0.00417768164,  0.246640727,    1.50140941};
        x = 0;
        for (int i = 0; i < 9; i++)
            x = p[i] + x * (w - 2.5);
        x *= 1 - q;
    } else {
        x = __nvvm_sqrt_rn_d(w - 0.5 * __nv_log(3.14159265358979323846 * w));
    }
    for (int i = 0; i < 4; i++) {
        double e = __nv_erfc(x);
        x += __nv_log1p((e - q) / q) * e * 0.88622692545275801365 * __nv_exp(x * x);
    }
    return x;
}
/* The inverse of erf() up to 0.5: terms of its series, then Newton's method. */
HEDDLE_NV double __heddle_erfinv(double y)
{
    double x = 0.88622692545275801365 * y;
    x += 0.26179938779914943654 * x * x * x;
    for (int i = 0; i < 4; i++)
        x -= (__nv_erf(x) - y) * 0.88622692545275801365 * __nv_exp(x * x);
    return x;
}
HEDDLE_NV double __nv_erfcinv(double q)
{
    if (!(q > 0 && q < 2))
        return q == 0 ? __builtin_inf() : q == 2 ? -__builtin_inf() : __builtin_nan("");
    if (q >= 0.5 && q <= 1.5)
        return __heddle_erfinv(1 - q);
    return q < 1 ? __heddle_erfcinv(q) : -__heddle_erfcinv(2 - q);
}
HEDDLE_NV double __nv_erfinv(double y)
{
    double a = __nv_fabs(y);
    return __nv_copysign(a < 0.5 ? __heddle_erfinv(a) : __nv_erfcinv(1 - a), y);
}
HEDDLE_NV double __nv_normcdfinv(double p) { return -1.41421356237309504880 * __nv_erfcinv(2 * p); }
/* exp(x^2) erfc(x): a continued fraction where erfc() is small. */
HEDDLE_NV double __nv_erfcx(double x)
{
    if (x < 4) {
        double high = x * x, low = __nv_fma(x, x, -high);
        double e = __nv_exp(high);
        return x < -26.7 ? __builtin_inf() : __nv_erfc(x) * __nv_fma(e, low, e);
    }
    double f = x;
    for (int k = 60; k > 0 && x < 1e8; k--)
        f = x + 0.5 * k / f;
    return 0.56418958354775628695 / f;
}
HEDDLE_NV float __nv_erfinvf(float y) { return (float)__nv_erfinv(y); }
HEDDLE_NV float __nv_erfcinvf(float q) { return (float)__nv_erfcinv(q); }
HEDDLE_NV float __nv_normcdfinvf(float p) { return (float)__nv_normcdfinv(p); }
HEDDLE_NV float __nv_erfcxf(float x) { return (float)__nv_erfcx(x); }

/* ---- lanes of two halves or four bytes in a word ---- */

#define HEDDLE_LANES(name, lanes, type, expression)                                                \
    HEDDLE_NV int __nv_##name##lanes(int a, int b)                                                 \
    {                                                                                              \
        const int width = 32 / lanes;                                                              \
        unsigned int r = 0;                                                                        \
        for (int i = 0; i < lanes; i++) {                                                          \
            int x = (type)((unsigned int)a >> i * width),                                          \
                y = (type)((unsigned int)b >> i * width);                                          \
            (void)y;                                                                               \
            r |= ((unsigned int)(expression) & (0xffffffffu >> (32 - width))) << i * width;        \
        }                                                                                          \
        return (int)r;                                                                             \
    }
#define HEDDLE_LANES_1(name, lanes, type, expression)                                              \
    HEDDLE_NV int __nv_##name##lanes(int a)                                                        \
    {                                                                                              \
        const int width = 32 / lanes;                                                              \
        unsigned int r = 0;                                                                        \
        for (int i = 0; i < lanes; i++) {                                                          \
            int x = (type)((unsigned int)a >> i * width);                                          \
            r |= ((unsigned int)(expression) & (0xffffffffu >> (32 - width))) << i * width;        \
        }                                                                                          \
        return (int)r;                                                                             \
    }
#define HEDDLE_LANES_SUM(name, lanes, type)                                                        \
    HEDDLE_NV int __nv_##name##lanes(int a, int b)                                                 \
    {                                                                                              \
        const int width = 32 / lanes;                                                              \
        int sum = 0;                                                                               \
        for (int i = 0; i < lanes; i++) {                                                          \
            int x = (type)((unsigned int)a >> i * width),                                          \
                y = (type)((unsigned int)b >> i * width);                                          \
            sum += x > y ? x - y : y - x;                                                          \
        }                                                                                          \
        return sum;                                                                                \
    }
#define HEDDLE_CLAMP(v, low, high) ((v) < (low) ? (low) : (v) > (high) ? (high) : (v))
#define HEDDLE_COMPARES(name, lanes, type, operation)                                              \
    HEDDLE_LANES(vcmp##name, lanes, type, x operation y ? -1 : 0)                                  \
    HEDDLE_LANES(vset##name, lanes, type, x operation y)
#define HEDDLE_SIMD(lanes, s, u, low, high, top)                                                   \
    HEDDLE_LANES_1(vabs, lanes, s, x < 0 ? -x : x)                                                 \
    HEDDLE_LANES_1(vabsss, lanes, s, x == low ? high : x < 0 ? -x : x)                             \
    HEDDLE_LANES_1(vneg, lanes, s, -x)                                                             \
    HEDDLE_LANES_1(vnegss, lanes, s, x == low ? high : -x)                                         \
    HEDDLE_LANES(vabsdiffs, lanes, s, x > y ? x - y : y - x)                                       \
    HEDDLE_LANES(vabsdiffu, lanes, u, x > y ? x - y : y - x)                                       \
    HEDDLE_LANES(vadd, lanes, u, x + y)                                                            \
    HEDDLE_LANES(vaddss, lanes, s, HEDDLE_CLAMP(x + y, low, high))                                 \
    HEDDLE_LANES(vaddus, lanes, u, HEDDLE_CLAMP(x + y, 0, top))                                    \
    HEDDLE_LANES(vsub, lanes, u, x - y)                                                            \
    HEDDLE_LANES(vsubss, lanes, s, HEDDLE_CLAMP(x - y, low, high))                                 \
    HEDDLE_LANES(vsubus, lanes, u, HEDDLE_CLAMP(x - y, 0, top))                                    \
    HEDDLE_LANES(vavgs, lanes, s, (x + y + (x + y >= 0)) >> 1)                                     \
    HEDDLE_LANES(vavgu, lanes, u, (x + y + 1) >> 1)                                                \
    HEDDLE_LANES(vhaddu, lanes, u, (x + y) >> 1)                                                   \
    HEDDLE_LANES(vmaxs, lanes, s, x > y ? x : y)                                                   \
    HEDDLE_LANES(vmaxu, lanes, u, x > y ? x : y)                                                   \
    HEDDLE_LANES(vmins, lanes, s, x < y ? x : y)                                                   \
    HEDDLE_LANES(vminu, lanes, u, x < y ? x : y)                                                   \
    HEDDLE_COMPARES(eq, lanes, u, ==)                                                              \
    HEDDLE_COMPARES(ne, lanes, u, !=)                                                              \
    HEDDLE_COMPARES(ges, lanes, s, >=)                                                             \
    HEDDLE_COMPARES(geu, lanes, u, >=)                                                             \
    HEDDLE_COMPARES(gts, lanes, s, >)                                                              \
    HEDDLE_COMPARES(gtu, lanes, u, >)                                                              \
    HEDDLE_COMPARES(les, lanes, s, <=)                                                             \
    HEDDLE_COMPARES(leu, lanes, u, <=)                                                             \
    HEDDLE_COMPARES(lts, lanes, s, <)                                                              \
    HEDDLE_COMPARES(ltu, lanes, u, <)                                                              \
    HEDDLE_LANES_SUM(vsads, lanes, s)                                                              \
    HEDDLE_LANES_SUM(vsadu, lanes, u)
HEDDLE_SIMD(2, short, unsigned short, -32768, 32767, 65535)
HEDDLE_SIMD(4, signed char, unsigned char, -128, 127, 255)
#undef HEDDLE_SIMD
#undef HEDDLE_COMPARES
#undef HEDDLE_CLAMP
#undef HEDDLE_LANES
#undef HEDDLE_LANES_1
#undef HEDDLE_LANES_SUM
#undef HEDDLE_NV

#endif
