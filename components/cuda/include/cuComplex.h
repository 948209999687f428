/* Complex numbers in float2 and double2, as cuComplex.h of CUDA names them: own definitions. Moduli
 * and quotients are scaled, so that no intermediate value overflows. */
#ifndef HEDDLE_CUDA_CUCOMPLEX_H
#define HEDDLE_CUDA_CUCOMPLEX_H

#include <math.h>

#include "vector_functions.h"

#define HEDDLE_COMPLEX static __host__ __device__ __inline__

/* `f` ends the names of functions in float; `abs` and `root` are those of the precision. */
#define HEDDLE_COMPLEX_OF(complex, real, f, pair, make_pair, abs, root)                            \
    typedef pair complex;                                                                          \
    HEDDLE_COMPLEX real cuCreal##f(complex z) { return z.x; }                                      \
    HEDDLE_COMPLEX real cuCimag##f(complex z) { return z.y; }                                      \
    HEDDLE_COMPLEX complex make_##complex(real re, real im) { return make_pair(re, im); }          \
    HEDDLE_COMPLEX complex cuConj##f(complex z) { return make_pair(z.x, -z.y); }                   \
    HEDDLE_COMPLEX complex cuCadd##f(complex a, complex b)                                         \
    {                                                                                              \
        return make_pair(a.x + b.x, a.y + b.y);                                                    \
    }                                                                                              \
    HEDDLE_COMPLEX complex cuCsub##f(complex a, complex b)                                         \
    {                                                                                              \
        return make_pair(a.x - b.x, a.y - b.y);                                                    \
    }                                                                                              \
    HEDDLE_COMPLEX complex cuCmul##f(complex a, complex b)                                         \
    {                                                                                              \
        return make_pair(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);                            \
    }                                                                                              \
    HEDDLE_COMPLEX complex cuCdiv##f(complex a, complex b)                                         \
    {                                                                                              \
        real scale = 1 / (abs(b.x) + abs(b.y));                                                    \
        real ax = a.x * scale, ay = a.y * scale, bx = b.x * scale, by = b.y * scale;               \
        real over = 1 / (bx * bx + by * by);                                                       \
        return make_pair((ax * bx + ay * by) * over, (ay * bx - ax * by) * over);                  \
    }                                                                                              \
    HEDDLE_COMPLEX real cuCabs##f(complex z)                                                       \
    {                                                                                              \
        real a = abs(z.x), b = abs(z.y), large = a > b ? a : b, small = a > b ? b : a;             \
        real ratio = small / large;                                                                \
        return large == 0 || isinf(large) || isinf(small) ? large + small                          \
                                                          : large * root(1 + ratio * ratio);       \
    }                                                                                              \
    HEDDLE_COMPLEX complex cuCfma##f(complex a, complex b, complex c)                              \
    {                                                                                              \
        return make_pair(a.x * b.x + c.x - a.y * b.y, a.x * b.y + c.y + a.y * b.x);                \
    }

HEDDLE_COMPLEX_OF(cuFloatComplex, float, f, float2, make_float2, fabsf, sqrtf)
HEDDLE_COMPLEX_OF(cuDoubleComplex, double, , double2, make_double2, fabs, sqrt)
#undef HEDDLE_COMPLEX_OF

typedef cuFloatComplex cuComplex;
HEDDLE_COMPLEX cuComplex make_cuComplex(float re, float im) { return make_float2(re, im); }
HEDDLE_COMPLEX cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z)
{
    return make_float2((float)z.x, (float)z.y);
}
HEDDLE_COMPLEX cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z)
{
    return make_double2(z.x, z.y);
}
#undef HEDDLE_COMPLEX

#endif
