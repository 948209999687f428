/* Floats: what is exact, whatever the device. Each kernel twice, for floats and for doubles. */
#include "prelude.h"

#define EXACT(type, itype, utype)                                                                  \
    kernel void exact_##type(global const type *as, global const type *bs, global const type *cs,  \
                             global type *out)                                                     \
    {                                                                                              \
        size_t i = get_global_id(0);                                                               \
        type a = as[i], b = bs[i], c = cs[i];                                                      \
        int put = 0;                                                                               \
        PUT(a + b);                                                                                \
        PUT(a - b);                                                                                \
        PUT(a * b);                                                                                \
        PUT(fma(a, b, c));                                                                         \
        PUT(ceil(a));                                                                              \
        PUT(floor(a));                                                                             \
        PUT(trunc(a));                                                                             \
        PUT(round(a));                                                                             \
        PUT(rint(a));                                                                              \
        PUT(fabs(a));                                                                              \
        PUT(copysign(a, b));                                                                       \
        PUT(fmax(a, b));                                                                           \
        PUT(fmin(a, b));                                                                           \
        PUT(fmod(a, b));                                                                           \
        PUT(remainder(a, b));                                                                      \
        PUT(nextafter(a, b));                                                                      \
        PUT(fdim(a, b));                                                                           \
        PUT(maxmag(a, b));                                                                         \
        PUT(minmag(a, b));                                                                         \
        PUT(logb(a));                                                                              \
        PUT(ldexp(a, (int)(i % 61) - 30));                                                         \
        PUT(sign(a));                                                                              \
        PUT(step(a, b));                                                                           \
    }                                                                                              \
    kernel void pairs_##type(global const type *as, global const type *bs, global type *out,       \
                             global int *integers)                                                 \
    {                                                                                              \
        size_t i = get_global_id(0), n = get_global_size(0);                                       \
        type a = as[i], b = bs[i], whole, third;                                                   \
        int exponent, quotient;                                                                    \
        int put = 0;                                                                               \
        PUT(modf(a, &whole));                                                                      \
        PUT(whole);                                                                                \
        PUT(frexp(a, &exponent));                                                                  \
        PUT(fract(a, &third));                                                                     \
        PUT(third);                                                                                \
        PUT(remquo(a, b, &quotient));                                                              \
        integers[i] = isfinite(a) ? exponent : 0;                                                  \
        integers[n + i] = isfinite(a) && isfinite(b) && b != 0 ? quotient & 127 : 0;               \
        integers[2 * n + i] = isnormal(a) ? ilogb(a) : 0;                                          \
    }                                                                                              \
    kernel void relations_##type(global const type *as, global const type *bs, global int *out)    \
    {                                                                                              \
        size_t i = get_global_id(0);                                                               \
        type a = as[i], b = bs[i];                                                                 \
        int put = 0;                                                                               \
        PUT(isequal(a, b) | isnotequal(a, b) << 1 | isgreater(a, b) << 2 |                         \
            isgreaterequal(a, b) << 3 | isless(a, b) << 4 | islessequal(a, b) << 5 |               \
            islessgreater(a, b) << 6 | isordered(a, b) << 7 | isunordered(a, b) << 8);             \
        PUT(isfinite(a) | isinf(a) << 1 | isnan(a) << 2 | isnormal(a) << 3 | signbit(a) << 4);     \
        PUT((a < b) | (a <= b) << 1 | (a > b) << 2 | (a >= b) << 3 | (a == b) << 4 |               \
            (a != b) << 5);                                                                        \
        PUT(!a | (a && b) << 1 | (a || b) << 2);                                                   \
        type chosen = select(a, b, (utype)(i % 3));                                                \
        PUT(as_##itype(chosen) == as_##itype(i % 3 ? b : a));                                      \
        type##4 v = (type##4)(a, b, -a, b + a), w = v.yzwx;                                        \
        PUT(any(v < w) | all(isnotequal(v, w)) << 1 | any(isnan(v)) << 2 | all(signbit(v)) << 3);  \
        itype##4 ordered = isgreater(v, w);                                                        \
        PUT((int)(ordered.x & 1) | (int)(ordered.y & 2) | (int)(ordered.z & 4) |                   \
            (int)(ordered.w & 8));                                                                 \
    }

EXACT(float, int, uint)
EXACT(double, long, ulong)

/* Correct to the limits that OpenCL sets for them: quotients and roots of floats. */
kernel void quotients_float(global const float *as, global const float *bs, global real *divided,
                            global real *roots, global real *inverse)
{
    size_t i = get_global_id(0);
    divided[i] = (real)as[i] / (real)bs[i];
    roots[i] = sqrt(fabs((real)as[i]));
    inverse[i] = 1 / (real)as[i];
}

/* Those of doubles are rounded correctly. */
kernel void quotients_double(global const double *as, global const double *bs, global double *out)
{
    size_t i = get_global_id(0);
    int put = 0;
    PUT(as[i] / bs[i]);
    PUT(sqrt(fabs(as[i])));
    PUT(1 / as[i]);
}

/* Denormals, where the target keeps them. */
kernel void denormals_float(global const float *as, global const float *bs, global float *out)
{
    size_t i = get_global_id(0);
    float a = as[i] * 0x1p-100f * 0x1p-20f, b = bs[i] * 0x1p-120f;
    int put = 0;
    PUT(a);
    PUT(a + b);
    PUT(a - b);
    PUT(fma(a, 0x1p+10f, b));
    PUT(fmax(a, b));
    PUT(nextafter(a, b));
    PUT(ldexp(as[i], -130));
    PUT(a * 0x1p+60f);
    PUT(trunc(b * 0x1p+125f));
}
