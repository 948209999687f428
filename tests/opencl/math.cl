/* Mathematical functions of floats, doubles and halves, each to the limit that OpenCL gives it. */
#include "prelude.h"

#define RESULT(name, value) out_##name[i] = (value)

#define FAMILY(suffix, source, type, load, sine)                                                         \
    kernel void powers_##suffix(global const source *as, global const source *bs,                  \
                                global type *out_exp, global type *out_exp2,                       \
                                global type *out_exp10, global type *out_expm1,                    \
                                global type *out_pow, global type *out_powr,                       \
                                global type *out_pown, global type *out_rootn,                     \
                                global type *out_cbrt, global type *out_rsqrt,                     \
                                global type *out_hypot)                                            \
    {                                                                                              \
        size_t i = get_global_id(0);                                                               \
        type a = load(i, as), b = load(i, bs), positive = fabs(a);                                 \
        RESULT(exp, exp(a));                                                                       \
        RESULT(exp2, exp2(a));                                                                     \
        RESULT(exp10, exp10(a));                                                                   \
        RESULT(expm1, expm1(a));                                                                   \
        RESULT(pow, pow(a, b));                                                                    \
        RESULT(powr, powr(positive, b));                                                           \
        RESULT(pown, pown(a, (int)(i % 11) - 5));                                                  \
        RESULT(rootn, rootn(positive, (int)(i % 5) + 1));                                          \
        RESULT(cbrt, cbrt(a));                                                                     \
        RESULT(rsqrt, rsqrt(positive));                                                            \
        RESULT(hypot, hypot(a, b));                                                                \
    }                                                                                              \
    kernel void logarithms_##suffix(global const source *as, global type *out_log,                 \
                                    global type *out_log2, global type *out_log10,                 \
                                    global type *out_log1p)                                        \
    {                                                                                              \
        size_t i = get_global_id(0);                                                               \
        type a = load(i, as);                                                                      \
        RESULT(log, log(a));                                                                       \
        RESULT(log2, log2(a));                                                                     \
        RESULT(log10, log10(a));                                                                   \
        RESULT(log1p, log1p(a));                                                                   \
    }                                                                                              \
    kernel void trigonometry_##suffix(global const source *as, global type *out_sin,               \
                                      global type *out_cos, global type *out_tan,                  \
                                      global type *out_sincos, global type *out_cosine,            \
                                      global type *out_sinpi, global type *out_cospi,              \
                                      global type *out_tanpi)                                      \
    {                                                                                              \
        size_t i = get_global_id(0);                                                               \
        type a = load(i, as), cosine;                                                              \
        RESULT(sin, sine(a));                                                                      \
        RESULT(cos, cos(a));                                                                       \
        RESULT(tan, tan(a));                                                                       \
        RESULT(sincos, sincos(a, &cosine));                                                        \
        RESULT(cosine, cosine);                                                                    \
        RESULT(sinpi, sinpi(a));                                                                   \
        RESULT(cospi, cospi(a));                                                                   \
        RESULT(tanpi, tanpi(a));                                                                   \
    }                                                                                              \
    kernel void arcs_##suffix(global const source *as, global const source *bs,                    \
                              global type *out_asin, global type *out_acos,                        \
                              global type *out_atan, global type *out_atan2,                       \
                              global type *out_asinpi, global type *out_acospi,                    \
                              global type *out_atanpi, global type *out_atan2pi)                   \
    {                                                                                              \
        size_t i = get_global_id(0);                                                               \
        type a = load(i, as), b = load(i, bs);                                                     \
        RESULT(asin, asin(a));                                                                     \
        RESULT(acos, acos(a));                                                                     \
        RESULT(atan, atan(a * 128));                                                               \
        RESULT(atan2, atan2(a, b));                                                                \
        RESULT(asinpi, asinpi(a));                                                                 \
        RESULT(acospi, acospi(a));                                                                 \
        RESULT(atanpi, atanpi(a));                                                                 \
        RESULT(atan2pi, atan2pi(a, b));                                                            \
    }                                                                                              \
    kernel void hyperbolic_##suffix(global const source *as, global const source *bs,              \
                                    global type *out_sinh, global type *out_cosh,                  \
                                    global type *out_tanh, global type *out_asinh,                 \
                                    global type *out_acosh, global type *out_atanh)                \
    {                                                                                              \
        size_t i = get_global_id(0);                                                               \
        type a = load(i, as), above_one = load(i, bs);                                             \
        RESULT(sinh, sinh(a));                                                                     \
        RESULT(cosh, cosh(a));                                                                     \
        RESULT(tanh, tanh(a));                                                                     \
        RESULT(asinh, asinh(a));                                                                   \
        RESULT(acosh, acosh(above_one));                                                           \
        RESULT(atanh, atanh(a / 16));                                                              \
    }                                                                                              \
    kernel void gammas_##suffix(global const source *as, global const source *bs,                  \
                                global type *out_erf, global type *out_erfc,                       \
                                global type *out_tgamma, global type *out_lgamma)                  \
    {                                                                                              \
        size_t i = get_global_id(0);                                                               \
        type a = load(i, as), above_three = load(i, bs);                                           \
        RESULT(erf, erf(a));                                                                       \
        RESULT(erfc, erfc(a));                                                                     \
        RESULT(tgamma, tgamma(a));                                                                 \
        RESULT(lgamma, lgamma(above_three));                                                       \
    }

#define LOAD(i, p) ((p)[i])
#ifdef ORACLE
#define LOAD_REAL(i, p) ((double)(p)[i])
#else
#define LOAD_REAL(i, p) ((p)[i])
#endif
FAMILY(float, float, real, LOAD_REAL, sin)
FAMILY(double, double, double, LOAD, sin)
/* The device library of ROCm 5.2 gives NaN for the sine of every half that is finite. */
FAMILY(half, ushort, real16, load_real16, sinpi)

/* Faster and less exact. */
kernel void native(global const float *as, global const float *bs, global real *out_sin,
                   global real *out_cos, global real *out_exp, global real *out_exp2,
                   global real *out_log, global real *out_log2, global real *out_sqrt,
                   global real *out_rsqrt, global real *out_recip, global real *out_divide,
                   global real *out_powr, global real *out_half_tan, global real *out_half_exp10)
{
    size_t i = get_global_id(0);
#ifdef ORACLE
#define native_sin sin
#define native_cos cos
#define native_exp exp
#define native_exp2 exp2
#define native_log log
#define native_log2 log2
#define native_sqrt sqrt
#define native_rsqrt rsqrt
#define native_recip(x) (1 / (x))
#define native_divide(x, y) ((x) / (y))
#define native_powr powr
#define half_tan tan
#define half_exp10 exp10
#endif
    real a = as[i], b = bs[i];
    RESULT(sin, native_sin(a));
    RESULT(cos, native_cos(a));
    RESULT(exp, native_exp(a));
    RESULT(exp2, native_exp2(a));
    RESULT(log, native_log(b));
    RESULT(log2, native_log2(b));
    RESULT(sqrt, native_sqrt(b));
    RESULT(rsqrt, native_rsqrt(b));
    RESULT(recip, native_recip(a));
    RESULT(divide, native_divide(a, b));
    RESULT(powr, native_powr(b, a));
    RESULT(half_tan, half_tan(a));
    RESULT(half_exp10, half_exp10(a));
}

/* Common and geometric functions. */
kernel void geometry(global const float4 *as, global const float4 *bs, global real *out_common,
                     global real *out_dot, global real *out_cross, global real *out_length,
                     global real *out_normal)
{
    size_t i = get_global_id(0), n = get_global_size(0);
    real4 a = convert_real4(as[i]), b = convert_real4(bs[i]);
    real3 across = cross(a.xyz, (real3)(2));
    out_common[i] = degrees(a.x);
    out_common[n + i] = radians(a.y);
    out_common[2 * n + i] = clamp(a.x, min(b.x, b.y), max(b.x, b.y));
    out_common[3 * n + i] = max(a.z, b.z) - min(a.w, b.w);
    out_common[4 * n + i] = smoothstep((real)-4, (real)4, a.x);
    out_common[5 * n + i] = sign(b.w) + step(a.x, a.y);
    out_dot[i] = dot(fabs(a), fabs(b));
    out_cross[i] = across.x;
    out_cross[n + i] = across.y + 0;
    out_length[i] = length(a);
    out_length[n + i] = distance(a.xy, a.xy * 3);
    out_length[2 * n + i] = length(a.xyz);
    out_normal[i] = normalize(a).x;
    out_normal[n + i] = normalize(a.zyx).z;
}
