/* Overloads for float of the functions in math.h, which clang's headers declare and leave to
 * NVIDIA's, and minima and maxima of mixed types. */
#ifndef HEDDLE_CUDA_DEVICE_MATH_H
#define HEDDLE_CUDA_DEVICE_MATH_H

#define HEDDLE_MATH static __device__ __forceinline__
#define HEDDLE_FLOAT_1(name)                                                                       \
    HEDDLE_MATH float name(float x) { return __nv_##name##f(x); }
#define HEDDLE_FLOAT_2(name)                                                                       \
    HEDDLE_MATH float name(float x, float y) { return __nv_##name##f(x, y); }

HEDDLE_FLOAT_1(acosh)
HEDDLE_FLOAT_1(asinh)
HEDDLE_FLOAT_1(atanh)
HEDDLE_FLOAT_1(cbrt)
HEDDLE_FLOAT_1(erf)
HEDDLE_FLOAT_1(erfc)
HEDDLE_FLOAT_1(exp2)
HEDDLE_FLOAT_1(expm1)
HEDDLE_FLOAT_1(lgamma)
HEDDLE_FLOAT_1(log1p)
HEDDLE_FLOAT_1(log2)
HEDDLE_FLOAT_1(logb)
HEDDLE_FLOAT_1(nearbyint)
HEDDLE_FLOAT_1(rint)
HEDDLE_FLOAT_1(round)
HEDDLE_FLOAT_1(tgamma)
HEDDLE_FLOAT_1(trunc)
HEDDLE_FLOAT_2(copysign)
HEDDLE_FLOAT_2(fdim)
HEDDLE_FLOAT_2(fmax)
HEDDLE_FLOAT_2(fmin)
HEDDLE_FLOAT_2(hypot)
HEDDLE_FLOAT_2(nextafter)
HEDDLE_FLOAT_2(remainder)
HEDDLE_MATH float fma(float x, float y, float z) { return __nv_fmaf(x, y, z); }
HEDDLE_MATH int ilogb(float x) { return __nv_ilogbf(x); }
HEDDLE_MATH long lrint(float x) { return __nv_llrintf(x); }
HEDDLE_MATH long lround(float x) { return __nv_llroundf(x); }
HEDDLE_MATH long long llrint(float x) { return __nv_llrintf(x); }
HEDDLE_MATH long long llround(float x) { return __nv_llroundf(x); }
HEDDLE_MATH float scalbn(float x, int n) { return __nv_scalbnf(x, n); }
HEDDLE_MATH float scalbln(float x, long n)
{
    return __nv_scalbnf(x, n > 300 ? 300 : n < -300 ? -300 : (int)n);
}

#undef HEDDLE_FLOAT_1
#undef HEDDLE_FLOAT_2

#define HEDDLE_MIN_MAX(result, a, b)                                                               \
    static __host__ __device__ __forceinline__ result min(a x, b y)                                \
    {                                                                                              \
        return (result)x < (result)y ? (result)x : (result)y;                                      \
    }                                                                                              \
    static __host__ __device__ __forceinline__ result max(a x, b y)                                \
    {                                                                                              \
        return (result)x > (result)y ? (result)x : (result)y;                                      \
    }
HEDDLE_MIN_MAX(unsigned int, unsigned int, unsigned int)
HEDDLE_MIN_MAX(unsigned int, int, unsigned int)
HEDDLE_MIN_MAX(unsigned int, unsigned int, int)
HEDDLE_MIN_MAX(long, long, long)
HEDDLE_MIN_MAX(unsigned long, long, unsigned long)
HEDDLE_MIN_MAX(unsigned long, unsigned long, long)
HEDDLE_MIN_MAX(unsigned long long, long long, unsigned long long)
HEDDLE_MIN_MAX(unsigned long long, unsigned long long, long long)
HEDDLE_MIN_MAX(unsigned long, unsigned long, unsigned long)
HEDDLE_MIN_MAX(long long, long long, long long)
HEDDLE_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
#undef HEDDLE_MIN_MAX
/* The device has those of clang's headers. */
static __host__ __forceinline__ int min(int x, int y) { return x < y ? x : y; }
static __host__ __forceinline__ int max(int x, int y) { return x > y ? x : y; }
/* A NaN loses, as with fmin() and fmax(). */
#define HEDDLE_MIN_MAX(result, a, b, suffix)                                                       \
    static __host__ __device__ __forceinline__ result min(a x, b y)                                \
    {                                                                                              \
        return __builtin_fmin##suffix(x, y);                                                       \
    }                                                                                              \
    static __host__ __device__ __forceinline__ result max(a x, b y)                                \
    {                                                                                              \
        return __builtin_fmax##suffix(x, y);                                                       \
    }
HEDDLE_MIN_MAX(float, float, float, f)
HEDDLE_MIN_MAX(double, double, double, )
HEDDLE_MIN_MAX(double, float, double, )
HEDDLE_MIN_MAX(double, double, float, )
#undef HEDDLE_MIN_MAX
#undef HEDDLE_MATH

#endif
