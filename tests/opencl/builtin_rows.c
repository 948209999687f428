/* See builtin_rows.h. */
#include "builtin_rows.h"

#include <math.h>
#include <stdlib.h>

const struct builtin_shape builtin_shapes[BUILTIN_FORMATS] = {
    {"float", "uint", 32, 24, -126, 127},
    {"double", "ulong", 64, 53, -1022, 1023},
    {"half", "ushort", 16, 11, -14, 15},
};

/* ---- functions that MPFR has under another shape ---- */

#define A (inputs->value[0])
#define B (inputs->value[1])
#define C (inputs->value[2])

#define UNARY(name, call)                                                                          \
    static bool name(const struct builtin_inputs *inputs, mpfr_t r)                                \
    {                                                                                              \
        call(r, A, MPFR_RNDN);                                                                     \
        return true;                                                                               \
    }
#define BINARY(name, call)                                                                         \
    static bool name(const struct builtin_inputs *inputs, mpfr_t r)                                \
    {                                                                                              \
        call(r, A, B, MPFR_RNDN);                                                                  \
        return true;                                                                               \
    }
UNARY(row_acos, mpfr_acos)
UNARY(row_acosh, mpfr_acosh)
UNARY(row_asin, mpfr_asin)
UNARY(row_asinh, mpfr_asinh)
UNARY(row_atan, mpfr_atan)
UNARY(row_atanh, mpfr_atanh)
UNARY(row_cbrt, mpfr_cbrt)
UNARY(row_cos, mpfr_cos)
UNARY(row_cosh, mpfr_cosh)
UNARY(row_erf, mpfr_erf)
UNARY(row_erfc, mpfr_erfc)
UNARY(row_exp, mpfr_exp)
UNARY(row_exp2, mpfr_exp2)
UNARY(row_exp10, mpfr_exp10)
UNARY(row_expm1, mpfr_expm1)
UNARY(row_log, mpfr_log)
UNARY(row_log2, mpfr_log2)
UNARY(row_log10, mpfr_log10)
UNARY(row_log1p, mpfr_log1p)
UNARY(row_sin, mpfr_sin)
UNARY(row_sinh, mpfr_sinh)
UNARY(row_sqrt, mpfr_sqrt)
UNARY(row_tan, mpfr_tan)
UNARY(row_tanh, mpfr_tanh)
UNARY(row_fabs, mpfr_abs)
UNARY(row_rint, mpfr_rint)
BINARY(row_atan2, mpfr_atan2)
BINARY(row_add, mpfr_add)
BINARY(row_mul, mpfr_mul)
BINARY(row_div, mpfr_div)
BINARY(row_hypot, mpfr_hypot)
BINARY(row_pow, mpfr_pow)
BINARY(row_fmod, mpfr_fmod)
BINARY(row_remainder, mpfr_remainder)
BINARY(row_fmin, mpfr_min)
BINARY(row_fmax, mpfr_max)
BINARY(row_copysign, mpfr_copysign)

/* MPFR rounds 1/x once; rsqrt(-0) is -infinity in C, and 1/sqrt(x) says so. */
static bool row_rsqrt(const struct builtin_inputs *inputs, mpfr_t r)
{
    mpfr_rec_sqrt(r, A, MPFR_RNDN);
    if (mpfr_zero_p(A))
        mpfr_set_inf(r, mpfr_signbit(A) ? -1 : 1);
    return true;
}

static bool row_recip(const struct builtin_inputs *inputs, mpfr_t r)
{
    mpfr_ui_div(r, 1, A, MPFR_RNDN);
    return true;
}

#if MPFR_VERSION < MPFR_VERSION_NUM(4, 2, 0)
#error "functions of multiples of pi need MPFR 4.2"
#endif
UNARY(row_acospi, mpfr_acospi)
UNARY(row_asinpi, mpfr_asinpi)
UNARY(row_atanpi, mpfr_atanpi)
UNARY(row_cospi, mpfr_cospi)
UNARY(row_sinpi, mpfr_sinpi)
BINARY(row_atan2pi, mpfr_atan2pi)

/* OpenCL C, "Edge Case Behavior": powr(x, NaN) is NaN, also of 1. */
static bool row_powr(const struct builtin_inputs *inputs, mpfr_t r)
{
    mpfr_powr(r, A, B, MPFR_RNDN);
    if (mpfr_nan_p(B))
        mpfr_set_nan(r);
    return true;
}

/* Poles of tanpi: +infinity at even numbers and a half, -infinity at odd ones (OpenCL C, "Edge Case
 * Behavior"). */
static bool row_tanpi(const struct builtin_inputs *inputs, mpfr_t r)
{
    mpfr_tanpi(r, A, MPFR_RNDN);
    if (mpfr_inf_p(r)) {
        mpfr_floor(r, A);
        mpfr_div_2ui(r, r, 1, MPFR_RNDN);
        mpfr_set_inf(r, mpfr_integer_p(r) ? 1 : -1);
    }
    return true;
}

/* Beyond 2000 the result is infinite or zero in all formats, and MPFR takes long. */
static bool row_tgamma(const struct builtin_inputs *inputs, mpfr_t r)
{
    if (!mpfr_number_p(A) || mpfr_cmp_si(A, -2000) > 0 || mpfr_integer_p(A)) {
        if (mpfr_number_p(A) && mpfr_cmp_ui(A, 2000) > 0)
            mpfr_set_inf(r, 1);
        else
            mpfr_gamma(r, A, MPFR_RNDN);
        return true;
    }
    mpfr_floor(r, A);
    mpfr_div_2ui(r, r, 1, MPFR_RNDN);
    mpfr_set_zero(r, mpfr_integer_p(r) ? 1 : -1);
    return true;
}

static bool row_lgamma(const struct builtin_inputs *inputs, mpfr_t r)
{
    int sign;
    mpfr_lgamma(r, &sign, A, MPFR_RNDN);
    return mpfr_cmp_si(A, -2000) > 0;
}

static bool row_ceil(const struct builtin_inputs *inputs, mpfr_t r)
{
    mpfr_rint_ceil(r, A, MPFR_RNDN);
    return true;
}

static bool row_floor(const struct builtin_inputs *inputs, mpfr_t r)
{
    mpfr_rint_floor(r, A, MPFR_RNDN);
    return true;
}

static bool row_round(const struct builtin_inputs *inputs, mpfr_t r)
{
    mpfr_rint_round(r, A, MPFR_RNDN);
    return true;
}

static bool row_trunc(const struct builtin_inputs *inputs, mpfr_t r)
{
    mpfr_rint_trunc(r, A, MPFR_RNDN);
    return true;
}

static bool row_fma(const struct builtin_inputs *inputs, mpfr_t r)
{
    mpfr_fma(r, A, B, C, MPFR_RNDN);
    return true;
}

static bool row_fdim(const struct builtin_inputs *inputs, mpfr_t r)
{
    mpfr_dim(r, A, B, MPFR_RNDN);
    return true;
}

static bool row_maxmag(const struct builtin_inputs *inputs, mpfr_t r)
{
    int order = mpfr_nan_p(A) || mpfr_nan_p(B) ? 0 : mpfr_cmpabs(A, B);
    if (order == 0)
        mpfr_max(r, A, B, MPFR_RNDN);
    else
        mpfr_set(r, order > 0 ? A : B, MPFR_RNDN);
    return true;
}

static bool row_minmag(const struct builtin_inputs *inputs, mpfr_t r)
{
    int order = mpfr_nan_p(A) || mpfr_nan_p(B) ? 0 : mpfr_cmpabs(A, B);
    if (order == 0)
        mpfr_min(r, A, B, MPFR_RNDN);
    else
        mpfr_set(r, order < 0 ? A : B, MPFR_RNDN);
    return true;
}

static bool row_pown(const struct builtin_inputs *inputs, mpfr_t r)
{
    mpfr_pow_si(r, A, inputs->integer, MPFR_RNDN);
    return true;
}

static bool row_rootn(const struct builtin_inputs *inputs, mpfr_t r)
{
    mpfr_rootn_si(r, A, inputs->integer, MPFR_RNDN);
    return true;
}

static bool row_ldexp(const struct builtin_inputs *inputs, mpfr_t r)
{
    mpfr_mul_2si(r, A, inputs->integer, MPFR_RNDN);
    return true;
}

static bool row_modf_whole(const struct builtin_inputs *inputs, mpfr_t r)
{
    mpfr_rint_trunc(r, A, MPFR_RNDN);
    return true;
}

static bool row_modf_rest(const struct builtin_inputs *inputs, mpfr_t r)
{
    mpfr_frac(r, A, MPFR_RNDN);
    if (mpfr_inf_p(A))
        mpfr_set_zero(r, mpfr_signbit(A) ? -1 : 1);
    return true;
}

/* min(x - floor(x), the number below 1). */
static bool row_fract(const struct builtin_inputs *inputs, mpfr_t r)
{
    mpfr_t below;
    if (mpfr_inf_p(A) || mpfr_zero_p(A)) {
        mpfr_set_zero(r, mpfr_signbit(A) ? -1 : 1);
        return true;
    }
    mpfr_init2(below, 64);
    mpfr_set_ui_2exp(below, 1, -builtin_shapes[inputs->format].precision, MPFR_RNDN);
    mpfr_ui_sub(below, 1, below, MPFR_RNDN);
    mpfr_floor(r, A);
    mpfr_sub(r, A, r, MPFR_RNDN);
    if (!mpfr_nan_p(r))
        mpfr_min(r, r, below, MPFR_RNDN);
    mpfr_clear(below);
    return true;
}

static bool row_frexp(const struct builtin_inputs *inputs, mpfr_t r)
{
    mpfr_set(r, A, MPFR_RNDN);
    if (mpfr_regular_p(A))
        mpfr_set_exp(r, 0);
    return true;
}

static bool row_frexp_exponent(const struct builtin_inputs *inputs, mpfr_t r)
{
    mpfr_set_si(r, mpfr_regular_p(A) ? mpfr_get_exp(A) : 0, MPFR_RNDN);
    return mpfr_number_p(A) != 0;
}

static bool row_ilogb(const struct builtin_inputs *inputs, mpfr_t r)
{
    mpfr_set_si(r, mpfr_regular_p(A) ? mpfr_get_exp(A) - 1 : 0, MPFR_RNDN);
    return mpfr_regular_p(A) != 0;
}

static bool row_logb(const struct builtin_inputs *inputs, mpfr_t r)
{
    mpfr_set(r, A, MPFR_RNDN);
    if (mpfr_regular_p(A))
        mpfr_set_si(r, mpfr_get_exp(A) - 1, MPFR_RNDN);
    else if (mpfr_zero_p(A) || mpfr_inf_p(A))
        mpfr_set_inf(r, mpfr_zero_p(A) ? -1 : 1);
    return true;
}

static bool row_nextafter(const struct builtin_inputs *inputs, mpfr_t r)
{
    const struct builtin_shape *shape = &builtin_shapes[inputs->format];
    mpfr_t next;
    mpfr_set(r, A, MPFR_RNDN);
    if (mpfr_nan_p(A) || mpfr_nan_p(B))
        mpfr_set_nan(r);
    if (mpfr_nan_p(r) || mpfr_equal_p(A, B)) {
        if (!mpfr_nan_p(r))
            mpfr_set(r, B, MPFR_RNDN);
        return true;
    }
    /* A step is a unit in the last place of what is nearer to zero. */
    if (mpfr_inf_p(A)) {
        mpfr_set_ui_2exp(r, (1ul << shape->precision) - 1, shape->most + 1 - shape->precision,
                         MPFR_RNDN);
        mpfr_setsign(r, r, mpfr_signbit(A), MPFR_RNDN);
        return true;
    }
    int up = mpfr_cmp(B, A) > 0, away = mpfr_zero_p(A) || up == (mpfr_sgn(A) > 0);
    mpfr_init2(next, (mpfr_prec_t)mpfr_get_prec(r));
    long exponent = mpfr_zero_p(A) ? shape->least : mpfr_get_exp(A) - 1;
    mpfr_set_ui_2exp(next, 1, mpfr_zero_p(A) ? shape->least : exponent, MPFR_RNDN);
    if (!away && mpfr_cmpabs(A, next) == 0) /* a power of two: the step below is half */
        exponent--;
    exponent = exponent < shape->least ? shape->least : exponent;
    mpfr_set_ui_2exp(next, 1, exponent - shape->precision + 1, MPFR_RNDN);
    if (up)
        mpfr_add(r, A, next, MPFR_RNDN);
    else
        mpfr_sub(r, A, next, MPFR_RNDN);
    if (mpfr_zero_p(r))
        mpfr_setsign(r, r, mpfr_signbit(A), MPFR_RNDN);
    mpfr_clear(next);
    return true;
}

static bool row_remquo_low(const struct builtin_inputs *inputs, mpfr_t r)
{
    long quotient;
    if (!mpfr_number_p(A) || mpfr_nan_p(B) || mpfr_zero_p(B))
        return false;
    mpfr_remquo(r, &quotient, A, B, MPFR_RNDN);
    long low = labs(quotient) & 127;
    mpfr_set_si(r, quotient < 0 ? -low : low, MPFR_RNDN);
    return true;
}

/* ---- the rows ---- */

#define ALL(x)                                                                                     \
    {                                                                                              \
        x, x, x                                                                                    \
    }
#define EXACT                                                                                      \
    {                                                                                              \
        0, 0, 0                                                                                    \
    }

const struct builtin_row builtin_rows[] = {
    {"acos", "acos(a)", 1, row_acos, {4, 4, 2}, 0, {0}},
    {"acosh", "acosh(a)", 1, row_acosh, {4, 4, 2}, 0, {0}},
    {"acospi", "acospi(a)", 1, row_acospi, {5, 5, 2}, 0, {0}},
    {"asin", "asin(a)", 1, row_asin, {4, 4, 2}, 0, {0}},
    {"asinh", "asinh(a)", 1, row_asinh, {4, 4, 2}, 0, {0}},
    {"asinpi", "asinpi(a)", 1, row_asinpi, {5, 5, 2}, 0, {0}},
    {"atan", "atan(a)", 1, row_atan, {5, 5, 2}, 0, {0}},
    {"atan2", "atan2(a, b)", 2, row_atan2, {6, 6, 2}, 0, {0}},
    {"atan2pi", "atan2pi(a, b)", 2, row_atan2pi, {6, 6, 2}, 0, {0}},
    {"atanh", "atanh(a)", 1, row_atanh, {5, 5, 2}, 0, {0}},
    {"atanpi", "atanpi(a)", 1, row_atanpi, {5, 5, 2}, 0, {0}},
    {"cbrt", "cbrt(a)", 1, row_cbrt, {2, 2, 2}, 0, {0}},
    {"ceil", "ceil(a)", 1, row_ceil, EXACT, 0, {0}},
    {"copysign", "copysign(a, b)", 2, row_copysign, EXACT, 0, {0}},
    {"cos", "cos(a)", 1, row_cos, {4, 4, 2}, 0, {0}},
    {"cosh", "cosh(a)", 1, row_cosh, {4, 4, 2}, 0, {0}},
    {"cospi", "cospi(a)", 1, row_cospi, {4, 4, 2}, BUILTIN_ANY_ZERO, {0}},
    {"erf", "erf(a)", 1, row_erf, {16, 16, 4}, 0, {0}},
    {"erfc", "erfc(a)", 1, row_erfc, {16, 16, 4}, 0, {0}},
    {"exp", "exp(a)", 1, row_exp, {3, 3, 2}, 0, {0}},
    {"exp10", "exp10(a)", 1, row_exp10, {3, 3, 2}, 0, {0}},
    {"exp2", "exp2(a)", 1, row_exp2, {3, 3, 2}, 0, {0}},
    {"expm1", "expm1(a)", 1, row_expm1, {3, 3, 2}, BUILTIN_LIBRARY_ZERO, {0}},
    {"fabs", "fabs(a)", 1, row_fabs, EXACT, 0, {0}},
    {"fdim", "fdim(a, b)", 2, row_fdim, EXACT, 0, {0}},
    {"floor", "floor(a)", 1, row_floor, EXACT, 0, {0}},
    {"fma", "fma(a, b, c)", 3, row_fma, EXACT, 0, {0}},
    {"fmax", "fmax(a, b)", 2, row_fmax, EXACT, BUILTIN_ANY_ZERO, {0}},
    {"fmin", "fmin(a, b)", 2, row_fmin, EXACT, BUILTIN_ANY_ZERO, {0}},
    {"fmod", "fmod(a, b)", 2, row_fmod, EXACT, 0, {0}},
    {"fract", "({ T t; fract(a, &t); })", 1, row_fract, EXACT, BUILTIN_LIBRARY_ZERO, {0}},
    {"frexp", "({ int t; frexp(a, &t); })", 1, row_frexp, EXACT, 0, {0}},
    {"frexp, exponent",
     "({ int t; frexp(a, &t); t; })",
     1,
     row_frexp_exponent,
     EXACT,
     BUILTIN_INTEGER,
     {0}},
    {"hypot", "hypot(a, b)", 2, row_hypot, {4, 4, 2}, 0, {0}},
    {"ilogb", "ilogb(a)", 1, row_ilogb, EXACT, BUILTIN_INTEGER, {0}},
    {"ldexp", "ldexp(a, b)", 2, row_ldexp, EXACT, BUILTIN_INTEGER_B, {0}},
    {"lgamma", "lgamma(a)", 1, row_lgamma, EXACT, BUILTIN_UNLIMITED, {0}},
    {"log", "log(a)", 1, row_log, {3, 3, 2}, 0, {0}},
    {"log10", "log10(a)", 1, row_log10, {3, 3, 2}, 0, {0}},
    {"log1p", "log1p(a)", 1, row_log1p, {2, 2, 2}, BUILTIN_LIBRARY_ZERO, {0}},
    {"log2", "log2(a)", 1, row_log2, {3, 3, 2}, 0, {0}},
    {"logb", "logb(a)", 1, row_logb, EXACT, 0, {0}},
    {"maxmag", "maxmag(a, b)", 2, row_maxmag, EXACT, BUILTIN_ANY_ZERO, {0}},
    {"minmag", "minmag(a, b)", 2, row_minmag, EXACT, BUILTIN_ANY_ZERO, {0}},
    {"modf", "({ T t; modf(a, &t); })", 1, row_modf_rest, EXACT, 0, {0}},
    {"modf, whole", "({ T t; modf(a, &t); t; })", 1, row_modf_whole, EXACT, 0, {0}},
    {"nextafter", "nextafter(a, b)", 2, row_nextafter, EXACT, BUILTIN_ANY_ZERO, {0}},
    {"pow", "pow(a, b)", 2, row_pow, {16, 16, 4}, 0, {0}},
    {"pown", "pown(a, b)", 2, row_pown, {16, 16, 4}, BUILTIN_INTEGER_B, {0}},
    {"powr", "powr(a, b)", 2, row_powr, {16, 16, 4}, 0, {0}},
    {"remainder", "remainder(a, b)", 2, row_remainder, EXACT, 0, {0}},
    {"remquo", "({ int t; remquo(a, b, &t); })", 2, row_remainder, EXACT, 0, {0}},
    {"remquo, quotient",
     "({ int t; remquo(a, b, &t); t; })",
     2,
     row_remquo_low,
     EXACT,
     BUILTIN_INTEGER,
     {0}},
    {"rint", "rint(a)", 1, row_rint, EXACT, 0, {0}},
    {"rootn", "rootn(a, b)", 2, row_rootn, {16, 16, 4}, BUILTIN_INTEGER_B, {0}},
    {"round", "round(a)", 1, row_round, EXACT, 0, {0}},
    {"rsqrt", "rsqrt(a)", 1, row_rsqrt, {2, 2, 1}, 0, {0}},
    {"sin", "sin(a)", 1, row_sin, {4, 4, 2}, 0, {0}},
    {"sincos", "({ T t; sincos(a, &t); })", 1, row_sin, {4, 4, 2}, 0, {0}},
    {"sincos, cosine", "({ T t; sincos(a, &t); t; })", 1, row_cos, {4, 4, 2}, 0, {0}},
    {"sinh", "sinh(a)", 1, row_sinh, {4, 4, 2}, BUILTIN_LIBRARY_ZERO, {0}},
    {"sinpi", "sinpi(a)", 1, row_sinpi, {4, 4, 2}, BUILTIN_LIBRARY_ZERO, {0}},
    {"sqrt", "sqrt(a)", 1, row_sqrt, {3, 0, 0}, 0, {0}},
    {"tan", "tan(a)", 1, row_tan, {5, 5, 2}, 0, {0, 0, 2.5}},
    {"tanh", "tanh(a)", 1, row_tanh, {5, 5, 2}, BUILTIN_LIBRARY_ZERO, {0}},
    {"tanpi", "tanpi(a)", 1, row_tanpi, {6, 6, 2}, BUILTIN_ANY_ZERO, {0}},
    /* For a negative x the library rounds |x| + 3; from -33 on a product overflows, and what
     * would be a normal number is 0. */
    {"tgamma", "tgamma(a)", 1, row_tgamma, {16, 16, 4}, BUILTIN_ANY_ZERO, {0x1p24, 0, 0}},
    {"trunc", "trunc(a)", 1, row_trunc, EXACT, 0, {0}},
    {"x + y", "a + b", 2, row_add, EXACT, 0, {0}},
    {"x * y", "a * b", 2, row_mul, EXACT, 0, {0}},
    {"x / y", "a / b", 2, row_div, {2.5, 0, 0}, 0, {0}},
    {"1 / x", "(T)1 / a", 1, row_recip, {2.5, 0, 0}, 0, {0}},
    {"mad", "mad(a, b, c)", 3, row_fma, EXACT, BUILTIN_UNLIMITED, {0}},
    {"half_cos", "half_cos(a)", 1, row_cos, ALL(8192), BUILTIN_HALF_FORM, {0}},
    {"half_divide", "half_divide(a, b)", 2, row_div, ALL(8192), BUILTIN_HALF_FORM, {0}},
    {"half_exp", "half_exp(a)", 1, row_exp, ALL(8192), BUILTIN_HALF_FORM, {0}},
    {"half_exp10", "half_exp10(a)", 1, row_exp10, ALL(8192), BUILTIN_HALF_FORM, {0}},
    {"half_exp2", "half_exp2(a)", 1, row_exp2, ALL(8192), BUILTIN_HALF_FORM, {0}},
    {"half_log", "half_log(a)", 1, row_log, ALL(8192), BUILTIN_HALF_FORM, {0}},
    {"half_log10", "half_log10(a)", 1, row_log10, ALL(8192), BUILTIN_HALF_FORM, {0}},
    {"half_log2", "half_log2(a)", 1, row_log2, ALL(8192), BUILTIN_HALF_FORM, {0}},
    {"half_powr", "half_powr(a, b)", 2, row_powr, ALL(8192), BUILTIN_HALF_FORM, {0}},
    {"half_recip", "half_recip(a)", 1, row_recip, ALL(8192), BUILTIN_HALF_FORM, {0}},
    {"half_rsqrt", "half_rsqrt(a)", 1, row_rsqrt, ALL(8192), BUILTIN_HALF_FORM, {0}},
    {"half_sin", "half_sin(a)", 1, row_sin, ALL(8192), BUILTIN_HALF_FORM, {0}},
    {"half_sqrt", "half_sqrt(a)", 1, row_sqrt, ALL(8192), BUILTIN_HALF_FORM, {0}},
    {"half_tan", "half_tan(a)", 1, row_tan, ALL(8192), BUILTIN_HALF_FORM, {0}},
};
const unsigned builtin_row_count = sizeof builtin_rows / sizeof builtin_rows[0];

/* ---- numbers ---- */

void builtin_load(enum builtin_format format, uint64_t bits, mpfr_t value)
{
    const struct builtin_shape *shape = &builtin_shapes[format];
    int fraction_bits = shape->precision - 1;
    uint64_t fraction = bits & ((UINT64_C(1) << fraction_bits) - 1);
    int field = (int)(bits >> fraction_bits) & (2 * shape->most + 1);
    int sign = bits >> (shape->bits - 1) & 1 ? -1 : 1;
    if (field == 2 * shape->most + 1) {
        mpfr_set_inf(value, sign);
        if (fraction) {
            mpfr_set_nan(value);
            mpfr_setsign(value, value, sign < 0, MPFR_RNDN);
        }
        return;
    }
    fraction |= field ? UINT64_C(1) << fraction_bits : 0;
    mpfr_set_ui_2exp(value, fraction, (field ? field : 1) - shape->most - fraction_bits, MPFR_RNDN);
    mpfr_setsign(value, value, sign < 0, MPFR_RNDN);
}

bool builtin_is_denormal(enum builtin_format format, uint64_t bits)
{
    const struct builtin_shape *shape = &builtin_shapes[format];
    uint64_t magnitude = bits & ((UINT64_C(1) << (shape->bits - 1)) - 1);
    return magnitude != 0 && magnitude >> (shape->precision - 1) == 0;
}

/* Exponent of a unit in the last place of a number as large as `exact`. */
static long unit_of(const struct builtin_shape *shape, const mpfr_t exact)
{
    long exponent = mpfr_zero_p(exact) ? shape->least : mpfr_get_exp(exact) - 1;
    exponent = exponent < shape->least ? shape->least : exponent;
    exponent = exponent > shape->most ? shape->most : exponent;
    return exponent - shape->precision + 1;
}

static double distance_of_numbers(const struct builtin_shape *shape, mpfr_t got, const mpfr_t exact,
                                  bool rounded)
{
    long unit = unit_of(shape, exact);
    mpfr_t difference;
    bool infinite = mpfr_inf_p(got) != 0;
    double ulps;
    if (infinite) { /* one more than the largest number */
        int sign = mpfr_sgn(got);
        mpfr_set_ui_2exp(got, 1, shape->most + 1, MPFR_RNDN);
        mpfr_setsign(got, got, sign < 0, MPFR_RNDN);
    }
    mpfr_init2(difference, mpfr_get_prec(exact) + 100);
    mpfr_sub(difference, got, exact, MPFR_RNDN);
    mpfr_div_2si(difference, difference, unit, MPFR_RNDN);
    ulps = fabs(mpfr_get_d(difference, MPFR_RNDA));
    if (infinite && mpfr_cmpabs(exact, got) >= 0)
        ulps = 0;
    if (rounded) { /* the nearest one, and an even one of two */
        mpfr_abs(difference, difference, MPFR_RNDN);
        int order = mpfr_cmp_d(difference, 0.5);
        mpfr_div_2si(difference, got, unit + 1, MPFR_RNDN);
        ulps = order < 0 || (order == 0 && mpfr_integer_p(difference)) ? 0 : ulps;
    }
    mpfr_clear(difference);
    return ulps;
}

/* Whether a result that is right is, or may be, a denormal number or zero. */
static bool is_tiny(const struct builtin_shape *shape, const mpfr_t exact, double limit)
{
    mpfr_t normal;
    if (!mpfr_number_p(exact))
        return false;
    mpfr_init2(normal, 100);
    mpfr_set_d(normal, limit, MPFR_RNDU);
    mpfr_mul_2si(normal, normal, 1 - shape->precision, MPFR_RNDU);
    mpfr_add_ui(normal, normal, 1, MPFR_RNDU);
    mpfr_mul_2si(normal, normal, shape->least, MPFR_RNDU);
    bool tiny = mpfr_cmpabs(exact, normal) < 0;
    mpfr_clear(normal);
    return tiny;
}

double builtin_distance(const struct builtin_row *row, enum builtin_format format, uint64_t bits,
                        const mpfr_t exact, bool flushes)
{
    const struct builtin_shape *shape = &builtin_shapes[format];
    mpfr_t got;
    double ulps;
    mpfr_init2(got, 64);
    builtin_load(format, bits, got);
    bool same_sign = mpfr_signbit(got) == mpfr_signbit(exact);
    bool tiny = is_tiny(shape, exact, row->limit[format]);
    if (mpfr_nan_p(exact) || mpfr_nan_p(got))
        ulps = mpfr_nan_p(exact) && mpfr_nan_p(got) ? 0 : INFINITY;
    else if (mpfr_inf_p(exact))
        ulps = mpfr_inf_p(got) && same_sign ? 0 : INFINITY;
    else if (mpfr_zero_p(exact) && mpfr_zero_p(got))
        ulps = same_sign || row->flags & (BUILTIN_ANY_ZERO | BUILTIN_LIBRARY_ZERO) ? 0 : INFINITY;
    else if (flushes && tiny && mpfr_zero_p(got))
        ulps = 0;
    else
        ulps = distance_of_numbers(shape, got, exact, row->limit[format] == 0);
    mpfr_clear(got);
    return ulps;
}
