/* Floating-point instructions by MPFR: exact values, rounded once to the destination's format. */
#include "rows_float.h"

#include <math.h>
#include <mpfr.h>
#include <string.h>

const struct float_format_of float_formats[FORMATS] = {
    [F16] = {"f16", "b16", 16, 11, 16, 0},     [BF16] = {"bf16", "b16", 16, 8, 128, 0},
    [F32] = {"f32", "f32", 32, 24, 128, 0},    [F64] = {"f64", "f64", 64, 53, 1024, 0},
    [TF32] = {"tf32", "b32", 19, 11, 128, 13}, [E4M3] = {"e4m3", "b16", 8, 4, 9, 0},
    [E5M2] = {"e5m2", "b16", 8, 3, 16, 0},     [E3M2] = {"e3m2", "b16", 6, 3, 5, 0},
    [E2M3] = {"e2m3", "b16", 6, 4, 3, 0},      [E2M1] = {"e2m1", "b16", 4, 2, 3, 0}};
#define formats float_formats

static const mpfr_rnd_t roundings[] = {MPFR_RNDN, MPFR_RNDZ, MPFR_RNDD, MPFR_RNDU, MPFR_RNDN};

/* ---- bits and exact values ---- */

static uint64_t mask_of(int format)
{
    return ~(uint64_t)0 >> (64 - formats[format].bits);
}

/* How wide a part of a packed register is. */
static int width_of(int format)
{
    return formats[format].bits == 6 ? 8 : formats[format].bits;
}

/* Formats whose largest exponent is one of numbers: all but the largest pattern, or all. */
static bool has_infinities(int format)
{
    return format < E4M3 || format == E5M2;
}

static bool is_nan(int format, uint64_t u)
{
    int fraction = formats[format].precision - 1;
    uint64_t magnitude = u & (mask_of(format) >> 1);
    if (!has_infinities(format))
        return format == E4M3 && magnitude == mask_of(format) >> 1;
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
    if (is_nan(format, u))
        mpfr_set_nan(x);
    else if (field == top && has_infinities(format))
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
    return mask_of(format) >> 1; /* for formats without one the largest number */
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

/* The nearest number of a format of few bits, the even one of two; what is larger, and infinities,
 * becomes the largest. */
static uint64_t nearest_of_few(mpfr_t x, int format)
{
    uint64_t best = 0;
    mpfr_t y, distance, least;
    if (mpfr_nan_p(x))
        return nan_of(format);
    mpfr_inits2(400, y, distance, least, (mpfr_ptr)0);
    for (uint64_t u = 0; u <= mask_of(format) >> 1; u++) {
        if (is_nan(format, u) || (has_infinities(format) && u >= 0x7c))
            continue;
        exact(y, format, u);
        mpfr_abs(distance, x, MPFR_RNDN);
        mpfr_sub(distance, distance, y, MPFR_RNDN);
        mpfr_abs(distance, distance, MPFR_RNDN);
        bool ties = u && mpfr_equal_p(distance, least);
        if (!u || mpfr_less_p(distance, least) || (ties && !(u & 1)) || mpfr_inf_p(x)) {
            mpfr_set(least, distance, MPFR_RNDN);
            best = u;
        }
    }
    mpfr_clears(y, distance, least, (mpfr_ptr)0);
    return best | (uint64_t)(mpfr_signbit(x) != 0) << (formats[format].bits - 1);
}

static int operate(enum float_kind kind, mpfr_t d, mpfr_t *x, int rounding)
{
    mpfr_rnd_t rnd = roundings[rounding];
    switch (kind) {
    case ADD:
        return mpfr_add(d, x[0], x[1], rnd);
    case SUB:
        return mpfr_sub(d, x[0], x[1], rnd);
    case MUL:
        return mpfr_mul(d, x[0], x[1], rnd);
    case MAD:
    case FMA:
        return mpfr_fma(d, x[0], x[1], x[2], rnd);
    case DIV:
        return mpfr_div(d, x[0], x[1], rnd);
    case SQRT:
        return mpfr_sqrt(d, x[0], rnd);
    case RCP:
        return mpfr_ui_div(d, 1, x[0], rnd);
    case WHOLE:
        mpfr_rint(x[0], x[0], rnd);
        return mpfr_set(d, x[0], rnd);
    default:
        return mpfr_set(d, x[0], rnd);
    }
}

/* One operation, rounded once. */
static uint64_t compute(const struct float_row *row, mpfr_t *x)
{
    int f = row->to, p = formats[f].precision;
    mpfr_exp_t low = mpfr_get_emin(), high = mpfr_get_emax();
    if (f >= E4M3)
        return nearest_of_few(x[0], f);
    mpfr_t d;
    mpfr_init2(d, p);
    mpfr_set_emin(-(formats[f].exponent - 1) + 1 - p + 2);
    mpfr_set_emax(formats[f].exponent);
    int t = operate(row->kind, d, x, row->rounding);
    t = mpfr_check_range(d, t, roundings[row->rounding]);
    mpfr_subnormalize(d, t, roundings[row->rounding]);
    mpfr_set_emin(low);
    mpfr_set_emax(high);
    uint64_t bits = bits_of(d, f);
    mpfr_clear(d);
    return bits;
}

/* To nearest with ties away from zero, of f32 to tf32: by the bits of f32. */
static uint64_t ties_away(uint64_t u)
{
    uint64_t magnitude = u & 0x7fffffff;
    if (magnitude > 0x7f800000)
        return nan_of(TF32);
    return (u >> 31 << 18) | (magnitude + (magnitude < 0x7f800000 ? 0x1000 : 0)) >> 13;
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

/* min and max of `count` numbers: a NaN loses, or wins with .NaN; -0 is below +0. */
static uint64_t extreme(const struct float_row *row, const uint64_t *bits, int count)
{
    int f = row->to;
    uint64_t sign = (mask_of(f) >> 1) + 1, best = nan_of(f), signs = 0;
    mpfr_t x, y;
    mpfr_inits2(64, x, y, (mpfr_ptr)0);
    for (int i = 0; i < count; i++) {
        uint64_t u = row->absolute ? bits[i] & ~sign : bits[i];
        signs ^= bits[i] & sign;
        if (is_nan(f, u)) {
            if (!row->nan)
                continue;
            best = nan_of(f);
            break;
        }
        exact(x, f, u);
        exact(y, f, best);
        int order = mpfr_nan_p(y) ? 0 : mpfr_cmp(x, y);
        if (!order)
            order = (u & sign ? 0 : 1) - (best & sign ? 0 : 1);
        if (mpfr_nan_p(y) || (row->kind == MIN ? order < 0 : order > 0))
            best = u;
    }
    mpfr_clears(x, y, (mpfr_ptr)0);
    return row->xorsign && !is_nan(f, best) ? (best & ~sign) | signs : best;
}

/* To an integer: rounded, then clamped; NaN is 0. */
static uint64_t to_integer(const struct float_row *row, mpfr_t x)
{
    bool is_signed = row->integer < 0;
    int bits = is_signed ? -row->integer : row->integer;
    mpfr_t y, low, high;
    mpfr_inits2(2200, y, low, high, (mpfr_ptr)0);
    mpfr_rint(y, x, roundings[row->rounding]);
    mpfr_set_ui_2exp(high, 1, bits - is_signed, MPFR_RNDN);
    mpfr_neg(low, high, MPFR_RNDN);
    mpfr_sub_ui(high, high, 1, MPFR_RNDN);
    if (!is_signed)
        mpfr_set_zero(low, 1);
    uint64_t d;
    if (mpfr_nan_p(y))
        d = 0;
    else {
        if (mpfr_cmp(y, high) > 0)
            mpfr_set(y, high, MPFR_RNDN);
        if (mpfr_cmp(y, low) < 0)
            mpfr_set(y, low, MPFR_RNDN);
        d = is_signed ? (uint64_t)mpfr_get_sj(y, MPFR_RNDN) : mpfr_get_uj(y, MPFR_RNDN);
    }
    mpfr_clears(y, low, high, (mpfr_ptr)0);
    return d & (~(uint64_t)0 >> (64 - (bits < 32 && bits != 16 ? 32 : bits)));
}

/* An integer of a source. */
static void set_integer(mpfr_t x, uint64_t bits, int integer)
{
    int n = integer < 0 ? -integer : integer;
    if (integer < 0)
        mpfr_set_sj(x, (int64_t)(bits << (64 - n)) >> (64 - n), MPFR_RNDN);
    else
        mpfr_set_uj(x, bits << (64 - n) >> (64 - n), MPFR_RNDN);
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
    static const double of_halves[] = {[F16] = 0x1p-9, [BF16] = 0x1p-7, [F32] = 0};
    if (row->to <= BF16) {
        *relative = of_halves[row->to];
        *absolute = row->to == F16 ? 0x1p-24 : 0x1p-133;
    }
    if (row->to == F64)
        *relative = row->upper ? 0x1p-19 : 0x1p-48, *absolute = 0x1p-1074;
    if (row->kind == NEAR_RSQRT && mpfr_zero_p(x[0])) /* the manual's table: -0 gives -inf */
        mpfr_set_inf(d, mpfr_signbit(x[0]) ? -1 : 1);
}

/* With .ftz a result below the normal numbers is 0; of divisors beyond 2^126 .approx gives 0 or the
 * quotient (9.7.3.8). */
static bool is_near(const struct float_row *row, mpfr_t *x, uint64_t actual, uint64_t *expected)
{
    int f = row->to;
    mpfr_t d, e, bound;
    mpfr_inits2(200, d, e, bound, (mpfr_ptr)0);
    double relative, absolute;
    approximate(row, x, d, &relative, &absolute);
    mpfr_t *rounded = &d;
    struct float_row plain = {.kind = CONVERT, .to = row->to};
    *expected = compute(&plain, rounded);
    bool is_zero = !(actual & (mask_of(f) >> 1));
    uint64_t least = (uint64_t)1 << (formats[f].precision - 1);
    bool good;
    if (row->ftz && (*expected & (mask_of(f) >> 1)) <= least && is_zero)
        good = true;
    else if (row->kind == NEAR_DIV && is_zero && mpfr_number_p(x[1]) && mpfr_get_exp(x[1]) > 126)
        good = true;
    else if (row->upper && (uint32_t)actual)
        good = false;
    else {
        exact(e, f, actual & mask_of(f));
        if (!mpfr_number_p(e) || is_nan(f, *expected) || !(*expected << (65 - formats[f].bits))
            || (*expected & (mask_of(f) >> 1))
                   == (mask_of(f) >> formats[f].precision << (formats[f].precision - 1))) {
            good = is_nan(f, *expected) ? is_nan(f, actual) : actual == *expected;
        } else {
            mpfr_sub(e, e, d, MPFR_RNDN);
            mpfr_abs(e, e, MPFR_RNDN);
            mpfr_abs(bound, d, MPFR_RNDN);
            mpfr_mul_d(bound, bound, relative, MPFR_RNDN);
            mpfr_add_d(bound, bound, absolute, MPFR_RNDN);
            good = mpfr_lessequal_p(e, bound);
        }
    }
    mpfr_clears(d, e, bound, (mpfr_ptr)0);
    return good;
}

/* ---- a row ---- */

/* Conversions flush f32 only. */
static bool flushes(const struct float_row *row, int format)
{
    return row->ftz && row->kind != FROM_INTEGER && (row->kind != CONVERT || format == F32);
}

/* One result of numbers as bits. */
static bool accepts_part(const struct float_row *row, uint64_t *source, uint64_t actual,
                         uint64_t *expected)
{
    mpfr_t x[3];
    bool good;
    int f = row->to;
    for (int i = 0; i < 3; i++) {
        int from = row->from[i];
        if (row->kind != FROM_INTEGER)
            source[i] &= mask_of(from);
        if (flushes(row, from))
            source[i] = flush(from, source[i]);
        mpfr_init2(x[i], 64);
        if (row->kind == FROM_INTEGER)
            set_integer(x[i], source[i], row->integer);
        else
            exact(x[i], from, source[i]);
    }
    if (row->kind >= NEAR_RCP) {
        good = is_near(row, x, actual, expected);
    } else if (row->kind == TO_INTEGER) {
        *expected = to_integer(row, x[0]);
        good = actual == *expected;
    } else {
        uint64_t sign = (mask_of(f) >> 1) + 1, d = row->kind == MIN || row->kind == MAX
                                                       ? extreme(row, source, row->c ? 3 : 2)
                                                   : row->kind == ABS   ? source[0] & ~sign
                                                   : row->kind == NEG   ? source[0] ^ sign
                                                   : row->rounding == 4 ? ties_away(source[0])
                                                                        : compute(row, x);
        bool bits_of_nan = f == F64 || f == TF32 || row->kind == ABS || row->kind == NEG;
        uint64_t infinity = sign - ((uint64_t)1 << (formats[f].precision - 1));
        if (flushes(row, f))
            d = flush(f, d);
        if (row->sat)
            d = saturate(f, d);
        if (row->relu && (d & sign) && !is_nan(f, d))
            d = 0;
        if (row->finite && has_infinities(f) && (d & ~sign) == infinity)
            d--;
        *expected = d << formats[f].shift;
        /* whether a result that rounds up to the least normal number is flushed is left open */
        uint64_t least = (uint64_t)1 << (formats[f].precision - 1);
        bool open = row->ftz && (d & (mask_of(f) >> 1)) == least;
        good = actual == *expected || (open && actual == (d & ~least))
               || (bits_of_nan && is_nan(f, d) && is_nan(f, actual >> formats[f].shift));
    }
    for (int i = 0; i < 3; i++)
        mpfr_clear(x[i]);
    return good;
}

bool float_row_accepts(const struct float_row *row, uint64_t a, uint64_t b, uint64_t c,
                       uint64_t actual, uint64_t *expected)
{
    uint64_t sources[3] = {a, b, c}, part;
    if (row->parts == 1)
        return accepts_part(row, sources, actual, expected);
    *expected = 0;
    bool good = true;
    for (int p = 0; p < 2; p++) {
        int to = width_of(row->to), from = width_of(row->from[0]);
        uint64_t of_part[3] = {a >> p * from, b >> p * from, c >> p * from};
        if (row->crosses)
            of_part[0] = p ? a : b;
        good &= accepts_part(row, of_part, actual >> p * to & (~(uint64_t)0 >> (64 - to)), &part);
        *expected |= part << p * to;
    }
    return good;
}
