/* Floating-point instructions by MPFR: exact values, rounded once to the destination's format. */
#include "rows.h"

#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <string.h>

enum format { F16, BF16, F32, F64, FORMATS };

static const struct {
    const char *name, *reg;
    int bits, precision, exponent; /* largest: 2^exponent */
} formats[FORMATS] = {{"f16", "b16", 16, 11, 16},
                      {"bf16", "b16", 16, 8, 128},
                      {"f32", "f32", 32, 24, 128},
                      {"f64", "f64", 64, 53, 1024}};

enum kind {
    ADD,
    SUB,
    MUL,
    FMA,
    DIV,
    SQRT,
    RCP,
    MIN,
    MAX,
    ARITHMETIC,
    CONVERT = ARITHMETIC,
    FROM_S32,
    FROM_U32,
    FROM_S64,
    FROM_U64,
    TO_S32,
    TO_U32,
    TO_S64,
    TO_U64,
    TO_S8,
    TO_U16,
    NEAR_RCP,
    NEAR_SQRT,
    NEAR_RSQRT,
    NEAR_SIN,
    NEAR_COS,
    NEAR_LG2,
    NEAR_EX2,
    NEAR_TANH,
    NEAR_DIV
};

static const char *const names[] = {"add", "sub", "mul", "fma", "div", "sqrt", "rcp", "min", "max"};
static const int sources[] = {2, 2, 2, 3, 2, 1, 1, 2, 2};
static const char *const rounding_names[] = {".rn", ".rz", ".rm", ".rp"};
static const mpfr_rnd_t roundings[] = {MPFR_RNDN, MPFR_RNDZ, MPFR_RNDD, MPFR_RNDU};

/* ---- rows ---- */

static struct float_row *next;

static void add_arithmetic(int kind, int format, int rounding, bool ftz, bool sat)
{
    const char *reg = formats[format].reg;
    int n = sources[kind];
    bool named = kind != MIN && kind != MAX;
    snprintf(next->text, sizeof next->text, "%s%s%s%s.%s %%d, %%a%s%s;", names[kind],
             named ? rounding_names[rounding] : "", ftz ? ".ftz" : "", sat ? ".sat" : "",
             formats[format].name, n > 1 ? ", %b" : "", n > 2 ? ", %c" : "");
    next->d = next->a = reg;
    next->b = n > 1 ? reg : NULL;
    next->c = n > 2 ? reg : NULL;
    next->kind = kind, next->format = next->from = format, next->rounding = rounding;
    next->ftz = ftz, next->sat = sat;
    next++;
}

static void add_conversion(int kind, int format, int from, int rounding, const char *to_name,
                           const char *from_name, const char *d, const char *a, bool integer)
{
    static const char *const to_integer[] = {".rni", ".rzi", ".rmi", ".rpi"};
    const char *name = rounding < 0 ? ""
                       : integer    ? to_integer[rounding]
                                    : rounding_names[rounding];
    snprintf(next->text, sizeof next->text, "cvt%s.%s.%s %%d, %%a;", name, to_name, from_name);
    next->d = d, next->a = a;
    next->kind = kind, next->format = format, next->from = from;
    next->rounding = rounding < 0 ? 0 : rounding;
    next++;
}

static void add_approximation(int kind, const char *text)
{
    snprintf(next->text, sizeof next->text, "%s", text);
    next->d = next->a = "f32";
    next->b = kind == NEAR_DIV ? "f32" : NULL;
    next->kind = kind, next->format = next->from = F32;
    next++;
}

static void add_integers(int r)
{
    static const struct {
        int from, to;
        const char *name, *reg;
    } types[] = {{FROM_S32, TO_S32, "s32", "b32"},
                 {FROM_U32, TO_U32, "u32", "b32"},
                 {FROM_S64, TO_S64, "s64", "b64"},
                 {FROM_U64, TO_U64, "u64", "b64"}};
    for (int i = 0; i < 4; i++) {
        for (int f = F16; f < FORMATS; f++) {
            if (f == BF16)
                continue;
            add_conversion(types[i].from, f, 0, r, formats[f].name, types[i].name, formats[f].reg,
                           types[i].reg, false);
            add_conversion(types[i].to, 0, f, r, types[i].name, formats[f].name, types[i].reg,
                           formats[f].reg, true);
        }
    }
    add_conversion(TO_S8, 0, F32, r, "s8", "f32", "b32", "f32", true);
    add_conversion(TO_U16, 0, F64, r, "u16", "f64", "b16", "f64", true);
}

size_t float_rows(struct float_row *rows, size_t most)
{
    next = rows;
    memset(rows, 0, most * sizeof *rows);
    for (int r = 0; r < 4; r++) {
        for (int f = F32; f <= F64; f++)
            for (int kind = ADD; kind <= RCP; kind++)
                add_arithmetic(kind, f, r, false, false);
        for (int kind = ADD; kind <= DIV; kind++)
            add_arithmetic(kind, F32, r, true, kind != DIV && r == 1);
        add_conversion(CONVERT, F32, F64, r, "f32", "f64", "f32", "f64", false);
        add_conversion(CONVERT, F16, F32, r, "f16", "f32", "b16", "f32", false);
        add_conversion(CONVERT, F16, F64, r, "f16", "f64", "b16", "f64", false);
        if (r < 2)
            add_conversion(CONVERT, BF16, F32, r, "bf16", "f32", "b16", "f32", false);
        add_integers(r);
    }
    for (int f = F16; f <= BF16; f++)
        for (int kind = ADD; kind <= FMA; kind++)
            add_arithmetic(kind, f, 0, false, false);
    add_arithmetic(FMA, F16, 0, true, true);
    add_arithmetic(MUL, F16, 0, true, false);
    for (int f = F16; f < FORMATS; f++)
        for (int kind = MIN; kind <= MAX; kind++)
            add_arithmetic(kind, f, 0, f == F32, false);
    add_conversion(CONVERT, F64, F32, -1, "f64", "f32", "f64", "f32", false);
    add_conversion(CONVERT, F32, F16, -1, "f32", "f16", "f32", "b16", false);
    add_conversion(CONVERT, F64, F16, -1, "f64", "f16", "f64", "b16", false);
    add_approximation(NEAR_RCP, "rcp.approx.f32 %d, %a;");
    add_approximation(NEAR_SQRT, "sqrt.approx.f32 %d, %a;");
    add_approximation(NEAR_RSQRT, "rsqrt.approx.f32 %d, %a;");
    add_approximation(NEAR_SIN, "sin.approx.f32 %d, %a;");
    add_approximation(NEAR_COS, "cos.approx.f32 %d, %a;");
    add_approximation(NEAR_LG2, "lg2.approx.f32 %d, %a;");
    add_approximation(NEAR_EX2, "ex2.approx.f32 %d, %a;");
    add_approximation(NEAR_TANH, "tanh.approx.f32 %d, %a;");
    add_approximation(NEAR_DIV, "div.full.f32 %d, %a, %b;");
    return (size_t)(next - rows);
}

/* ---- bits and exact values ---- */

static uint64_t mask_of(int format)
{
    return formats[format].bits == 64 ? UINT64_MAX : ((uint64_t)1 << formats[format].bits) - 1;
}

static bool is_nan(int format, uint64_t u)
{
    int fraction = formats[format].precision - 1;
    uint64_t magnitude = u & (mask_of(format) >> 1);
    return magnitude > ((mask_of(format) >> 1) >> fraction << fraction);
}

static uint64_t flush(int format, uint64_t u)
{
    int fraction = formats[format].precision - 1;
    bool denormal = !((u & (mask_of(format) >> 1)) >> fraction);
    return denormal ? u & ~(mask_of(format) >> 1) & mask_of(format) : u;
}

static void exact(mpfr_t x, int format, uint64_t u)
{
    const int bits = formats[format].bits, p = formats[format].precision;
    uint64_t fraction = u & (((uint64_t)1 << (p - 1)) - 1);
    uint64_t field = (u & (mask_of(format) >> 1)) >> (p - 1),
             top = (mask_of(format) >> 1) >> (p - 1);
    int sign = u >> (bits - 1) & 1 ? -1 : 1, bias = (int)(top / 2);
    if (field == top && fraction)
        mpfr_set_nan(x);
    else if (field == top)
        mpfr_set_inf(x, sign);
    else if (!field && !fraction)
        mpfr_set_zero(x, sign);
    else {
        if (field)
            fraction |= (uint64_t)1 << (p - 1);
        mpfr_set_ui_2exp(x, fraction, (field ? (long)field : 1) - bias - (p - 1), MPFR_RNDN);
        mpfr_setsign(x, x, sign < 0, MPFR_RNDN);
    }
}

static uint64_t nan_of(int format)
{
    return mask_of(format) >> 1;
}

/* A value of the format's precision as its bits. */
static uint64_t bits_of(mpfr_t x, int format)
{
    int p = formats[format].precision, bits = formats[format].bits;
    uint64_t sign = (uint64_t)(mpfr_signbit(x) != 0) << (bits - 1),
             top = (mask_of(format) >> 1) >> (p - 1);
    if (mpfr_nan_p(x))
        return nan_of(format);
    if (mpfr_inf_p(x))
        return sign | top << (p - 1);
    if (mpfr_zero_p(x))
        return sign;
    long e = mpfr_get_exp(x) - 1, bias = (long)(top / 2), least = 1 - bias;
    mpfr_t y;
    mpfr_init2(y, 64);
    mpfr_abs(y, x, MPFR_RNDN);
    mpfr_mul_2si(y, y, (p - 1) - (e < least ? least : e), MPFR_RNDN);
    uint64_t fraction = mpfr_get_ui(y, MPFR_RNDN);
    mpfr_clear(y);
    return sign
           | (e < least ? fraction
                        : fraction - ((uint64_t)1 << (p - 1)) + ((uint64_t)(e + bias) << (p - 1)));
}

/* One operation, rounded once. */
static uint64_t compute(const struct float_row *row, mpfr_t *x)
{
    int f = row->format, p = formats[f].precision;
    mpfr_rnd_t rnd = roundings[row->rounding];
    mpfr_exp_t low = mpfr_get_emin(), high = mpfr_get_emax();
    mpfr_t d;
    int t = 0;
    mpfr_init2(d, p);
    mpfr_set_emin(-(formats[f].exponent - 1) + 1 - p + 2);
    mpfr_set_emax(formats[f].exponent);
    switch (row->kind) {
    case ADD:
        t = mpfr_add(d, x[0], x[1], rnd);
        break;
    case SUB:
        t = mpfr_sub(d, x[0], x[1], rnd);
        break;
    case MUL:
        t = mpfr_mul(d, x[0], x[1], rnd);
        break;
    case FMA:
        t = mpfr_fma(d, x[0], x[1], x[2], rnd);
        break;
    case DIV:
        t = mpfr_div(d, x[0], x[1], rnd);
        break;
    case SQRT:
        t = mpfr_sqrt(d, x[0], rnd);
        break;
    case RCP:
        t = mpfr_ui_div(d, 1, x[0], rnd);
        break;
    default:
        t = mpfr_set(d, x[0], rnd);
        break;
    }
    t = mpfr_check_range(d, t, rnd);
    mpfr_subnormalize(d, t, rnd);
    mpfr_set_emin(low);
    mpfr_set_emax(high);
    uint64_t bits = bits_of(d, f);
    mpfr_clear(d);
    return bits;
}

static uint64_t saturate(int format, uint64_t u)
{
    mpfr_t x;
    mpfr_init2(x, 64);
    exact(x, format, u);
    bool below = mpfr_nan_p(x) || mpfr_sgn(x) <= 0, above = !below && mpfr_cmp_ui(x, 1) > 0;
    mpfr_set_ui(x, 1, MPFR_RNDN);
    uint64_t one = bits_of(x, format);
    mpfr_clear(x);
    return below ? 0 : above ? one : u;
}

/* min and max: a NaN loses, -0 is below +0. */
static uint64_t extreme(const struct float_row *row, mpfr_t *x, uint64_t a, uint64_t b)
{
    if (mpfr_nan_p(x[0]) || mpfr_nan_p(x[1]))
        return mpfr_nan_p(x[0]) && mpfr_nan_p(x[1]) ? nan_of(row->format)
               : mpfr_nan_p(x[0])                   ? b
                                                    : a;
    int order = mpfr_cmp(x[0], x[1]);
    if (!order)
        order = (mpfr_signbit(x[0]) ? 0 : 1) - (mpfr_signbit(x[1]) ? 0 : 1);
    return (row->kind == MIN ? order <= 0 : order >= 0) ? a : b;
}

/* To an integer: rounded, then clamped; NaN is 0. */
static uint64_t to_integer(const struct float_row *row, mpfr_t x)
{
    static const struct {
        int kind, bits;
        bool is_signed;
    } types[] = {{TO_S32, 32, true},  {TO_U32, 32, false}, {TO_S64, 64, true},
                 {TO_U64, 64, false}, {TO_S8, 8, true},    {TO_U16, 16, false}};
    unsigned i = 0;
    while (types[i].kind != row->kind)
        i++;
    mpfr_t y, low, high;
    mpfr_inits2(2200, y, low, high, (mpfr_ptr)0);
    mpfr_rint(y, x, roundings[row->rounding]);
    mpfr_set_ui_2exp(high, 1, types[i].bits - types[i].is_signed, MPFR_RNDN);
    mpfr_neg(low, high, MPFR_RNDN);
    mpfr_sub_ui(high, high, 1, MPFR_RNDN);
    if (!types[i].is_signed)
        mpfr_set_zero(low, 1);
    uint64_t d;
    if (mpfr_nan_p(y))
        d = 0;
    else {
        if (mpfr_cmp(y, high) > 0)
            mpfr_set(y, high, MPFR_RNDN);
        if (mpfr_cmp(y, low) < 0)
            mpfr_set(y, low, MPFR_RNDN);
        d = types[i].is_signed ? (uint64_t)mpfr_get_sj(y, MPFR_RNDN) : mpfr_get_uj(y, MPFR_RNDN);
    }
    mpfr_clears(y, low, high, (mpfr_ptr)0);
    return d;
}

/* ---- approximations: the manual's bounds (9.7.3) ---- */

/* The exact value, and how far from it the manual allows: relative to it and absolute. */
static void approximate(const struct float_row *row, mpfr_t *x, mpfr_t d, double *relative,
                        double *absolute)
{
    *relative = 0x1p-22, *absolute = 0x1p-149;
    switch (row->kind) {
    case NEAR_RCP:
        mpfr_ui_div(d, 1, x[0], MPFR_RNDN);
        *relative = 0x1p-23;
        break;
    case NEAR_SQRT:
        mpfr_sqrt(d, x[0], MPFR_RNDN);
        *relative = 0x1p-23;
        break;
    case NEAR_RSQRT:
        mpfr_rec_sqrt(d, x[0], MPFR_RNDN);
        *relative = 0x1p-22;
        break;
    case NEAR_SIN:
        mpfr_sin(d, x[0], MPFR_RNDN);
        *relative = 0;
        *absolute = 0x1p-20;
        break;
    case NEAR_COS:
        mpfr_cos(d, x[0], MPFR_RNDN);
        *relative = 0;
        *absolute = 0x1p-20;
        break;
    case NEAR_LG2:
        mpfr_log2(d, x[0], MPFR_RNDN);
        *absolute = 0x1p-22;
        break;
    case NEAR_EX2:
        mpfr_exp2(d, x[0], MPFR_RNDN);
        *relative = 0x1p-22;
        break;
    case NEAR_TANH:
        mpfr_tanh(d, x[0], MPFR_RNDN);
        *relative = 0x1p-11;
        break;
    default:
        mpfr_div(d, x[0], x[1], MPFR_RNDN);
        break;
    }
    if (row->kind == NEAR_RSQRT && mpfr_zero_p(x[0])) /* the manual's table: -0 gives -inf */
        mpfr_set_inf(d, mpfr_signbit(x[0]) ? -1 : 1);
}

static bool is_near(const struct float_row *row, mpfr_t *x, float actual, uint64_t *expected)
{
    mpfr_t d, e, bound;
    mpfr_inits2(200, d, e, bound, (mpfr_ptr)0);
    double relative, absolute;
    approximate(row, x, d, &relative, &absolute);
    float rounded = mpfr_get_flt(d, MPFR_RNDN);
    bool good;
    *expected = 0;
    memcpy(expected, &rounded, sizeof rounded);
    if (isnan(rounded) || isinf(rounded) || rounded == 0.0f || isinf(actual) || isnan(actual))
        good = isnan(rounded) ? isnan(actual) : actual == rounded;
    else {
        mpfr_set_flt(e, actual, MPFR_RNDN);
        mpfr_sub(e, e, d, MPFR_RNDN);
        mpfr_abs(e, e, MPFR_RNDN);
        mpfr_abs(bound, d, MPFR_RNDN);
        mpfr_mul_d(bound, bound, relative, MPFR_RNDN);
        mpfr_add_d(bound, bound, absolute, MPFR_RNDN);
        good = mpfr_lessequal_p(e, bound);
    }
    mpfr_clears(d, e, bound, (mpfr_ptr)0);
    return good;
}

bool float_row_accepts(const struct float_row *row, uint64_t a, uint64_t b, uint64_t c,
                       uint64_t actual, uint64_t *expected)
{
    uint64_t source[3] = {a, b, c};
    mpfr_t x[3];
    bool good;
    for (int i = 0; i < 3; i++) {
        mpfr_init2(x[i], 64);
        if (row->ftz)
            source[i] = flush(row->from, source[i]);
        if (row->kind >= FROM_S32 && row->kind <= FROM_U64) {
            if (row->kind == FROM_S32 || row->kind == FROM_S64)
                mpfr_set_sj(x[i], row->kind == FROM_S32 ? (int32_t)source[i] : (int64_t)source[i],
                            MPFR_RNDN);
            else
                mpfr_set_uj(x[i], source[i], MPFR_RNDN);
        } else {
            exact(x[i], row->from, source[i] & mask_of(row->from));
        }
    }
    if (row->kind >= NEAR_RCP) {
        float value;
        memcpy(&value, &actual, sizeof value);
        good = is_near(row, x, value, expected);
    } else if (row->kind >= TO_S32 && row->kind <= TO_U16) {
        uint64_t d = to_integer(row, x[0]);
        uint64_t mask = row->kind == TO_S64 || row->kind == TO_U64 ? UINT64_MAX
                        : row->kind == TO_U16                      ? 0xffff
                                                                   : UINT32_MAX;
        *expected = d & mask;
        good = actual == *expected;
    } else {
        uint64_t d = row->kind == MIN || row->kind == MAX ? extreme(row, x, source[0], source[1])
                                                          : compute(row, x);
        if (row->ftz)
            d = flush(row->format, d);
        if (row->sat)
            d = saturate(row->format, d);
        *expected = d;
        /* whether a result that rounds up to the least normal number is flushed is left open */
        uint64_t least = (uint64_t)1 << (formats[row->format].precision - 1);
        bool open = row->ftz && (d & (mask_of(row->format) >> 1)) == least;
        good = actual == d || (open && actual == (d & ~least))
               || (row->format == F64 && is_nan(F64, d) && is_nan(F64, actual));
    }
    for (int i = 0; i < 3; i++)
        mpfr_clear(x[i]);
    return good;
}
