/* See float_oracle.h.
 *
 * MPFR rounds to the precision of the destination with an unlimited exponent; its check_range and
 * subnormalize then bring the result, with the direction in which it was rounded, into the format.
 */
#include "float_oracle.h"

#include <math.h>
#include <mpfr.h>
#include <string.h>

struct format {
    int bits, fraction, precision, least, most; /* exponents as MPFR counts: of 0.1... */
};

static const struct format formats[] = {
    {16, 10, 11, -23, 16}, {32, 23, 24, -148, 128}, {64, 52, 53, -1073, 1024}};

static mpfr_t source[3], result[3], part, exact;
static const mpfr_rnd_t roundings[4] = {MPFR_RNDN, MPFR_RNDU, MPFR_RNDD, MPFR_RNDZ};

static void prepare(void)
{
    static bool done;
    if (done)
        return;
    done = true;
    for (unsigned i = 0; i < 3; i++) {
        mpfr_init2(source[i], 53);
        mpfr_init2(result[i], formats[i].precision);
    }
    mpfr_init2(part, 128);
    mpfr_init2(exact, 96);
}

/* ---- bits ---- */

static uint64_t sign_of(int f)
{
    return UINT64_C(1) << (formats[f].bits - 1);
}

static uint64_t infinity_of(int f)
{
    return sign_of(f) - (UINT64_C(1) << formats[f].fraction);
}

static uint64_t quiet_bit(int f)
{
    return UINT64_C(1) << (formats[f].fraction - 1);
}

static uint64_t default_nan(int f)
{
    return infinity_of(f) | quiet_bit(f);
}

static uint64_t magnitude_of(int f, uint64_t u)
{
    return u & (sign_of(f) - 1);
}

bool float_is_nan(enum float_format f, uint64_t u)
{
    return magnitude_of(f, u) > infinity_of(f);
}

static bool signals(int f, uint64_t u)
{
    return float_is_nan((enum float_format)f, u) && !(u & quiet_bit(f));
}

uint64_t float_quiet(enum float_format f, uint64_t u)
{
    return u | quiet_bit(f);
}

uint64_t float_convert_nan(enum float_format from, enum float_format to, uint64_t u)
{
    uint64_t fraction = u & ((UINT64_C(1) << formats[from].fraction) - 1);
    int up = formats[to].fraction - formats[from].fraction;
    fraction = up > 0 ? fraction << up : fraction >> -up;
    return (u & sign_of(from) ? sign_of(to) : 0) | default_nan(to) | fraction;
}

uint64_t float_flush(enum float_format f, uint64_t u)
{
    return u & infinity_of(f) ? u : u & sign_of(f);
}

static bool is_zero(int f, uint64_t u)
{
    return magnitude_of(f, u) == 0;
}

static bool is_infinite(int f, uint64_t u)
{
    return magnitude_of(f, u) == infinity_of(f);
}

static int exponent_field(int f, uint64_t u)
{
    return (int)(magnitude_of(f, u) >> formats[f].fraction);
}

static bool is_denormal(int f, uint64_t u)
{
    return !is_zero(f, u) && exponent_field(f, u) == 0;
}

static double as_double(int f, uint64_t u)
{
    double magnitude;
    if (f == FP64)
        memcpy(&magnitude, &u, 8);
    if (f == FP64)
        return magnitude;
    int field = exponent_field(f, u), bias = (1 << (formats[f].bits - formats[f].fraction - 2)) - 1;
    uint64_t fraction = u & ((UINT64_C(1) << formats[f].fraction) - 1);
    if (field == 2 * bias + 1)
        magnitude = fraction ? (double)NAN : (double)INFINITY;
    else
        magnitude = ldexp((double)(fraction + ((uint64_t)(field != 0) << formats[f].fraction)),
                          (field ? field : 1) - bias - formats[f].fraction);
    return u & sign_of(f) ? -magnitude : magnitude;
}

/* x is a number of the format. */
static uint64_t from_double(int f, double x)
{
    uint64_t sign = signbit(x) ? sign_of(f) : 0, u;
    int bias = (1 << (formats[f].bits - formats[f].fraction - 2)) - 1, exponent;
    if (f == FP64) {
        memcpy(&u, &x, 8);
        return u;
    }
    x = fabs(x);
    if (isinf(x))
        return sign | infinity_of(f);
    if (x == 0)
        return sign;
    frexp(x, &exponent);
    int field = exponent - 1 + bias < 1 ? 1 : exponent - 1 + bias;
    u = (uint64_t)ldexp(x, formats[f].fraction + bias - field);
    return sign | (u + ((uint64_t)(field - 1) << formats[f].fraction));
}

/* ---- rounding ---- */

static void load(mpfr_t to, int f, uint64_t u)
{
    mpfr_set_d(to, as_double(f, u), MPFR_RNDN);
}

/* r has been rounded to the format's precision, in direction `ternary`. */
static uint64_t store(mpfr_t r, int ternary, int f, unsigned round)
{
    mpfr_exp_t least = mpfr_get_emin(), most = mpfr_get_emax();
    if (mpfr_nan_p(r))
        return default_nan(f);
    mpfr_set_emin(formats[f].least);
    mpfr_set_emax(formats[f].most);
    ternary = mpfr_check_range(r, ternary, roundings[round]);
    mpfr_subnormalize(r, ternary, roundings[round]);
    mpfr_set_emin(least);
    mpfr_set_emax(most);
    return from_double(f, mpfr_get_d(r, MPFR_RNDN));
}

uint64_t float_round(enum float_format from, enum float_format to, uint64_t u, unsigned round)
{
    prepare();
    if (float_is_nan(from, u))
        return float_convert_nan(from, to, u);
    load(source[0], from, u);
    return store(result[to], mpfr_set(result[to], source[0], roundings[round]), to, round);
}

uint64_t float_divide(enum float_format f, uint64_t a, uint64_t b, unsigned round)
{
    prepare();
    load(source[0], f, a);
    load(source[1], f, b);
    return store(result[f], mpfr_div(result[f], source[0], source[1], roundings[round]), f, round);
}

uint64_t float_square_root(enum float_format f, uint64_t a, unsigned round)
{
    prepare();
    load(source[0], f, a);
    return store(result[f], mpfr_sqrt(result[f], source[0], roundings[round]), f, round);
}

uint64_t float_fma(enum float_format f, uint64_t a, uint64_t b, uint64_t c, unsigned round)
{
    prepare();
    load(source[0], f, a);
    load(source[1], f, b);
    load(source[2], f, c);
    return store(result[f], mpfr_fma(result[f], source[0], source[1], source[2], roundings[round]),
                 f, round);
}

/* ---- results of rows ---- */

/* The first NaN among the sources, quiet; *found says whether there is one. */
static uint64_t nan_of(const struct float_call *c, bool *found)
{
    for (unsigned i = 0; i < 3; i++)
        if (c->from[i] >= 0 && float_is_nan((enum float_format)c->from[i], c->source[i])) {
            *found = true;
            return float_convert_nan((enum float_format)c->from[i], (enum float_format)c->to,
                                     c->source[i]);
        }
    *found = false;
    return 0;
}

static void load_all(const struct float_call *c)
{
    for (unsigned i = 0; i < 3; i++)
        if (c->from[i] >= 0)
            load(source[i], c->from[i], c->source[i]);
}

#define R   result[c->to]
#define A   source[0]
#define B   source[1]
#define C   source[2]
#define RND roundings[c->round]

/* A row that is one operation of MPFR. */
#define ARITHMETIC(name, operation)                                                                \
    static uint64_t name(const struct float_call *c)                                               \
    {                                                                                              \
        bool found;                                                                                \
        uint64_t nan = nan_of(c, &found);                                                          \
        if (found)                                                                                 \
            return nan;                                                                            \
        load_all(c);                                                                               \
        int ternary = operation;                                                                   \
        return store(R, ternary, c->to, c->round);                                                 \
    }

ARITHMETIC(add, mpfr_add(R, A, B, RND))
ARITHMETIC(subtract, mpfr_sub(R, A, B, RND))
ARITHMETIC(subtract_reversed, mpfr_sub(R, B, A, RND))
ARITHMETIC(multiply, mpfr_mul(R, A, B, RND))
ARITHMETIC(fused, mpfr_fma(R, A, B, C, RND))
ARITHMETIC(convert, mpfr_set(R, A, RND))
ARITHMETIC(truncated, mpfr_trunc(R, A))
ARITHMETIC(ceiling, mpfr_ceil(R, A))
ARITHMETIC(floored, mpfr_floor(R, A))
ARITHMETIC(nearest, mpfr_rint(R, A, MPFR_RNDN))
ARITHMETIC(scaled,
           mpfr_mul_2si(R, A, c->to == FP16 ? (int16_t)c->source[1] : (int32_t)c->source[1], RND))
ARITHMETIC(mantissa, (mpfr_set(R, A, RND), mpfr_regular_p(R) ? mpfr_set_exp(R, 0) : 0))

static uint64_t multiply_legacy(const struct float_call *c)
{
    bool zero = is_zero(c->from[0], c->source[0]) || is_zero(c->from[1], c->source[1]);
    return zero ? 0 : multiply(c);
}

/* The product is rounded, and flushed, before the sum is. argument: 1, 2 which source is added, if
 * not the last; 3: a zero factor makes a zero product. */
static uint64_t multiply_add(const struct float_call *c)
{
    bool found;
    unsigned addend = c->row->argument == 1 ? 1 : 2, factor = addend == 1 ? 2 : 1;
    int f = c->to;
    uint64_t nan = nan_of(c, &found), product = 0;
    bool zero = is_zero(f, c->source[0]) || is_zero(f, c->source[factor]);
    if (c->row->argument == 3 && zero)
        found = float_is_nan((enum float_format)f, c->source[2]);
    if (found)
        return float_quiet((enum float_format)f, nan);
    load_all(c);
    if (c->row->argument != 3 || !zero) {
        int ternary = mpfr_mul(R, A, source[factor], RND);
        product = float_flush((enum float_format)f, store(R, ternary, f, c->round));
    }
    if (float_is_nan((enum float_format)f, product))
        return product;
    load(A, f, product);
    return store(R, mpfr_add(R, A, source[addend], RND), f, c->round);
}

/* argument: 1 maximum, -1 minimum. The listing of V_MIN_F32 in the Vega manual. */
static uint64_t extreme_of(const struct float_call *c, uint64_t a, uint64_t b, int which)
{
    enum float_format f = (enum float_format)c->to;
    double x = as_double(c->to, a), y = as_double(c->to, b);
    if (c->mode.ieee && signals(c->to, a))
        return float_quiet(f, a);
    if (c->mode.ieee && signals(c->to, b))
        return float_quiet(f, b);
    if (float_is_nan(f, a))
        return b;
    if (float_is_nan(f, b))
        return a;
    if (x == 0 && y == 0)
        return (a & sign_of(c->to)) == (which < 0 ? sign_of(c->to) : 0) ? a : b;
    return which < 0 ? (x < y ? a : b) : x > y ? a : b;
}

static uint64_t extreme(const struct float_call *c)
{
    return extreme_of(c, c->source[0], c->source[1], c->row->argument);
}

static uint64_t extreme_of_three(const struct float_call *c)
{
    int which = c->row->argument;
    return extreme_of(c, extreme_of(c, c->source[0], c->source[1], which), c->source[2], which);
}

static uint64_t median(const struct float_call *c)
{
    const uint64_t *s = c->source;
    enum float_format f = (enum float_format)c->to;
    if (float_is_nan(f, s[0]) || float_is_nan(f, s[1]) || float_is_nan(f, s[2]))
        return extreme_of(c, extreme_of(c, s[0], s[1], -1), s[2], -1);
    double largest = as_double(c->to, extreme_of(c, extreme_of(c, s[0], s[1], 1), s[2], 1));
    if (largest == as_double(c->to, s[0]))
        return extreme_of(c, s[1], s[2], 1);
    if (largest == as_double(c->to, s[1]))
        return extreme_of(c, s[0], s[2], 1);
    return extreme_of(c, s[0], s[1], 1);
}

static uint64_t fraction(const struct float_call *c)
{
    bool found;
    uint64_t nan = nan_of(c, &found), one = from_double(c->to, 1.0);
    if (found || is_infinite(c->to, c->source[0]))
        return found ? nan : default_nan(c->to);
    load_all(c);
    mpfr_floor(B, A);
    uint64_t u = store(R, mpfr_sub(R, A, B, RND), c->to, c->round);
    return u == one ? one - 1 : u;
}

static uint64_t exponent_of(const struct float_call *c)
{
    load_all(c);
    uint64_t all = c->row->signature[0] == 'H' ? 0xffff : 0xffffffff;
    return mpfr_regular_p(A) ? (uint64_t)mpfr_get_exp(A) & all : 0;
}

/* ---- integers ---- */

enum { TO_ZERO, TO_FLOOR, TO_NEAREST_UP, TO_EVEN };

/* NaN gives 0; what does not fit gives the nearest that does. */
static int64_t integer_of(mpfr_t x, int how, int64_t low, int64_t high)
{
    if (mpfr_nan_p(x))
        return 0;
    mpfr_set_prec(part, 128);
    mpfr_set(part, x, MPFR_RNDN);
    if (mpfr_cmp_si(x, low) <= 0)
        return how == TO_ZERO || mpfr_cmp_si(x, low) < 0 ? low : low;
    if (mpfr_cmp_si(x, high) >= 0)
        return high;
    if (how == TO_NEAREST_UP) {
        mpfr_set_prec(part, 2200);
        mpfr_add_d(part, x, 0.5, MPFR_RNDN);
    }
    mpfr_rint(part, part, how == TO_ZERO ? MPFR_RNDZ : how == TO_EVEN ? MPFR_RNDN : MPFR_RNDD);
    return mpfr_get_si(part, MPFR_RNDN);
}

/* argument: how. */
static uint64_t to_integer(const struct float_call *c)
{
    bool is_signed = strchr("WH", c->row->signature[0]);
    int bits = strchr("uH", c->row->signature[0]) ? 16 : 32;
    int64_t high = (INT64_C(1) << (bits - is_signed)) - 1, low = is_signed ? -high - 1 : 0;
    load_all(c);
    return (uint64_t)integer_of(A, c->row->argument, low, high) & ((UINT64_C(1) << bits) - 1);
}

/* argument: bits from which on, of how many, shifted left by 8. */
static uint64_t from_integer(const struct float_call *c)
{
    char type = c->row->signature[2];
    uint64_t u = c->source[0];
    int64_t value = type == 'W'   ? (int32_t)u
                    : type == 'H' ? (int16_t)u
                    : type == 'u' ? (int64_t)(u & 0xffff)
                                  : (int64_t)(u & 0xffffffff);
    return store(R, mpfr_set_si(R, value, RND), c->to, c->round);
}

static uint64_t from_byte(const struct float_call *c)
{
    return from_double(c->to, (double)(c->source[0] >> 8 * c->row->argument & 255));
}

static uint64_t from_nibble(const struct float_call *c)
{
    int value = (int)(c->source[0] & 15);
    return from_double(c->to, (value - (value & 8 ? 16 : 0)) / 16.0);
}

static uint64_t normalised(int f, uint64_t u, bool is_signed)
{
    double x = as_double(f, u), low = is_signed ? -1 : 0;
    mpfr_set_d(source[2], x < low ? low : x > 1 ? 1 : x, MPFR_RNDN);
    mpfr_set_prec(exact, 128);
    mpfr_mul_si(exact, source[2], is_signed ? 32767 : 65535, MPFR_RNDN);
    return (uint64_t)integer_of(exact, TO_EVEN, -65536, 65536) & 0xffff;
}

static uint64_t normal_integer(const struct float_call *c)
{
    return normalised(c->from[0], c->source[0], c->row->argument);
}

static uint64_t normal_integers(const struct float_call *c)
{
    return normalised(c->from[0], c->source[0], c->row->argument)
           | normalised(c->from[1], c->source[1], c->row->argument) << 16;
}

static uint64_t packed_byte(const struct float_call *c)
{
    unsigned shift = (c->source[1] & 3) * 8;
    load_all(c);
    uint64_t byte = (uint64_t)integer_of(A, TO_EVEN, 0, 255);
    return (c->source[2] & ~(UINT64_C(255) << shift) & 0xffffffff) | byte << shift;
}

static uint64_t packed_halves(const struct float_call *c)
{
    uint64_t low = float_round(FP32, FP16, c->source[0], 3);
    uint64_t high = float_round(FP32, FP16, c->source[1], 3);
    low = c->flush_out64 ? float_flush(FP16, low) : low;
    high = c->flush_out64 ? float_flush(FP16, high) : high;
    return low | high << 16;
}

/* ---- conditions ---- */

/* argument: bit 0 less, 1 equal, 2 greater, 3 unordered. */
static uint64_t compare(const struct float_call *c)
{
    double x = as_double(c->from[0], c->source[0]), y = as_double(c->from[1], c->source[1]);
    unsigned relation = x < y ? 0 : x == y ? 1 : x > y ? 2 : 3;
    return c->row->argument >> relation & 1;
}

static uint64_t is_of_class(const struct float_call *c)
{
    int f = float_format_of(c->row->signature[2] == 'n'   ? 'h'
                            : c->row->signature[2] == 'm' ? 'f'
                                                          : 'd');
    uint64_t u = c->source[0];
    bool negative = u & sign_of(f);
    int number = signals(f, u)                           ? 0
                 : float_is_nan((enum float_format)f, u) ? 1
                 : is_infinite(f, u)                     ? (negative ? 2 : 9)
                 : is_zero(f, u)                         ? (negative ? 5 : 6)
                 : is_denormal(f, u)                     ? (negative ? 4 : 7)
                 : negative                              ? 3
                                                         : 8;
    return c->source[1] >> number & 1;
}

/* ---- division ---- */

static uint64_t times_power(int f, uint64_t u, int power)
{
    load(A, f, u);
    return store(result[f], mpfr_mul_2si(result[f], A, power, MPFR_RNDN), f, 0);
}

/*
 * The listing of V_DIV_SCALE_F32 in the Vega manual, but for two cases. Where the reciprocal and
 * the quotient are denormal, the denominator goes down, which is what v_div_fmas needs; and a
 * quotient that rounds to zero is as one that is denormal.
 */
static uint64_t division_scale(const struct float_call *c)
{
    enum float_format f = (enum float_format)c->to;
    const uint64_t a = c->source[0], b = c->source[1], d = c->source[2];
    int steps = f == FP32 ? 64 : 128, far = f == FP32 ? 96 : 768, tiny = f == FP32 ? 23 : 53;
    bool found, *flag = c->carry;
    double x = as_double(f, a), y = as_double(f, b), z = as_double(f, d);
    uint64_t nan = nan_of(c, &found), one = from_double(f, 1.0), u = a;
    *flag = false;
    if (is_zero(f, b) || is_zero(f, d))
        return found ? nan : default_nan(f);
    bool inverse = !float_is_nan(f, b) && is_denormal(f, float_divide(f, one, b, 0));
    bool quotient =
        !float_is_nan(f, b) && !float_is_nan(f, d) && !exponent_field(f, float_divide(f, d, b, 0));
    if (exponent_field(f, d) - exponent_field(f, b) >= far) {
        *flag = true;
        u = x == y ? times_power(f, a, steps) : a;
    } else if (is_denormal(f, b)) {
        u = times_power(f, a, steps);
    } else if (inverse && quotient) {
        *flag = true;
        u = x == y ? times_power(f, a, -steps) : a;
    } else if (inverse) {
        u = times_power(f, a, -steps);
    } else if (quotient) {
        *flag = true;
        u = x == z ? times_power(f, a, steps) : a;
    } else if (exponent_field(f, d) <= tiny) {
        u = times_power(f, a, steps);
    }
    return float_is_nan(f, a) ? nan : u;
}

static uint64_t division_fmas(const struct float_call *c)
{
    bool found;
    int steps = c->to == FP32 ? 64 : 128, middle = c->to == FP32 ? 127 : 1023;
    int power = exponent_field(c->to, c->source[2]) > middle ? steps : -steps;
    uint64_t nan = nan_of(c, &found);
    if (found)
        return nan;
    load_all(c);
    if (c->bit) {
        mpfr_mul_2si(A, A, power, MPFR_RNDN);
        mpfr_mul_2si(C, C, power, MPFR_RNDN);
    }
    return store(R, mpfr_fma(R, A, B, C, RND), c->to, c->round);
}

/* The listing of V_DIV_FIXUP_F32 in the manuals; a quotient that became NaN has overflowed. */
static uint64_t division_fixup(const struct float_call *c)
{
    enum float_format f = (enum float_format)c->to;
    const uint64_t a = c->source[0], b = c->source[1], d = c->source[2];
    uint64_t sign = (b ^ d) & sign_of(f), infinity = infinity_of(f);
    int apart = exponent_field(f, d) - exponent_field(f, b);
    bool up = c->round == (sign ? 2 : 1);
    if (float_is_nan(f, d))
        return float_quiet(f, d);
    if (float_is_nan(f, b))
        return float_quiet(f, b);
    if ((is_zero(f, b) && is_zero(f, d)) || (is_infinite(f, b) && is_infinite(f, d)))
        return sign_of(f) | default_nan(f);
    if (is_zero(f, b) || is_infinite(f, d))
        return sign | infinity;
    if (is_infinite(f, b) || is_zero(f, d))
        return sign;
    if (f != FP16 && apart < (f == FP32 ? -150 : -1075))
        return sign | up;
    return sign | (float_is_nan(f, a) ? infinity : magnitude_of(f, a));
}

static uint64_t trigonometric_part(const struct float_call *c)
{
    int field = exponent_field(FP64, c->source[0]), shift = (int)(c->source[1] & 31) * 53;
    shift += field > 1077 ? field - 1077 : 0;
    mpfr_t bits;
    mpfr_init2(bits, 4096);
    mpfr_const_pi(bits, MPFR_RNDN);
    mpfr_ui_div(bits, 2, bits, MPFR_RNDN);
    mpfr_mul_2si(bits, bits, 1201, MPFR_RNDN); /* the manual has so many bits */
    mpfr_trunc(bits, bits);
    mpfr_mul_2si(bits, bits, shift - 1201, MPFR_RNDN);
    mpfr_frac(bits, bits, MPFR_RNDN);
    mpfr_mul_2si(bits, bits, 53, MPFR_RNDN);
    mpfr_trunc(bits, bits);
    mpfr_mul_2si(bits, bits, -53 - shift + (field >= 1968 ? 128 : 0), MPFR_RNDN);
    int ternary = mpfr_set(R, bits, RND);
    mpfr_clear(bits);
    return store(R, ternary, FP64, c->round);
}

/* Two fused steps, from the low halves up; denormal halves are kept. */
static uint64_t dot_product(const struct float_call *c)
{
    uint64_t sum = c->source[2];
    for (unsigned i = 0; i < 2; i++) {
        uint64_t a = c->source[0] >> 16 * i & 0xffff, b = c->source[1] >> 16 * i & 0xffff;
        if (float_is_nan(FP32, sum))
            return float_quiet(FP32, sum);
        load(A, FP16, a);
        load(B, FP16, b);
        load(C, FP32, sum);
        sum = store(R, mpfr_fma(R, A, B, C, RND), FP32, c->round);
    }
    return sum;
}

/* ---- approximations ---- */

enum { EXP, LOG, RCP, RSQ, SQRT, SIN, COS };

static void evaluate(int function, const mpfr_t x)
{
    mpfr_set_prec(exact, 96);
    bool outside = mpfr_cmpabs_ui(x, 256) > 0;
    switch (function) {
    case EXP:
        mpfr_exp2(exact, x, MPFR_RNDN);
        break;
    case LOG:
        mpfr_log2(exact, x, MPFR_RNDN);
        break;
    case RCP:
        mpfr_ui_div(exact, 1, x, MPFR_RNDN);
        break;
    case RSQ: /* of -0: -infinity, by the manual */
        mpfr_rec_sqrt(exact, x, MPFR_RNDN);
        if (mpfr_zero_p(x))
            mpfr_set_inf(exact, mpfr_signbit(x) ? -1 : 1);
        break;
    case SQRT:
        mpfr_sqrt(exact, x, MPFR_RNDN);
        break;
    case SIN:
        mpfr_sinu(exact, x, 1, MPFR_RNDN);
        if (outside && !mpfr_inf_p(x))
            mpfr_set_zero(exact, 1);
        break;
    default:
        mpfr_cosu(exact, x, 1, MPFR_RNDN);
        if (outside && !mpfr_inf_p(x))
            mpfr_set_ui(exact, 1, MPFR_RNDN);
        break;
    }
}

static uint64_t approximate(const struct float_call *c)
{
    bool found;
    uint64_t nan = nan_of(c, &found);
    if (found)
        return nan;
    load_all(c);
    evaluate(c->row->argument, A);
    return store(R, mpfr_set(R, exact, MPFR_RNDN), c->to, 0);
}

bool float_row_accepts(struct float_call *c, uint64_t actual)
{
    uint64_t expected = float_row_result(c, NULL);
    int f = c->to, function = c->row->argument;
    if (actual == expected)
        return true;
    if (float_is_nan((enum float_format)f, expected) || float_is_nan((enum float_format)f, actual))
        return false;
    if (function == SIN && is_zero(f, expected) && is_zero(f, actual))
        return true;
    load(A, c->from[0], c->source[0]);
    evaluate(function, A);
    if (mpfr_inf_p(exact) || mpfr_zero_p(exact) || is_infinite(f, actual)
        || is_infinite(f, expected))
        return false;
    bool flushes = f == FP32 ? c->flush_out32 : c->flush_out64;
    mpfr_exp_t unit = mpfr_get_exp(exact) - formats[f].precision;
    if (flushes && is_zero(f, actual)) /* unless it rounds up to a normal number */
        return mpfr_get_exp(exact) <= formats[f].least + formats[f].precision - 1;
    unit = unit < formats[f].least - 1 ? formats[f].least - 1 : unit;
    if (function == SIN || function == COS)
        unit = unit < -40 ? -40 : unit;
    load(B, f, actual);
    mpfr_sub(exact, exact, B, MPFR_RNDN);
    mpfr_abs(exact, exact, MPFR_RNDN);
    mpfr_mul_2si(exact, exact, -unit, MPFR_RNDN);
    return mpfr_cmp_d(exact, c->row->ulps) <= 0;
}

/* ---- whole rows ---- */

struct float_mode float_mode_of(uint32_t mode)
{
    return (struct float_mode){.round32 = mode & 3,
                               .round64 = mode >> 2 & 3,
                               .keep32_in = mode >> 4 & 1,
                               .keep32_out = mode >> 5 & 1,
                               .keep64_in = mode >> 6 & 1,
                               .keep64_out = mode >> 7 & 1,
                               .dx10 = mode >> 8 & 1,
                               .ieee = mode >> 9 & 1};
}

int float_format_of(char type)
{
    return type == 'h' ? FP16 : type == 'f' ? FP32 : type == 'd' ? FP64 : -1;
}

uint64_t float_row_result(struct float_call *c, bool *carry)
{
    const char *signature = c->row->signature;
    bool sources_stay = c->row->flags & ROW_SOURCES;
    bool always = c->row->flags & ROW_FLUSHES, never = (c->row->flags & ROW_MINIMUM) && c->gfx8;
    prepare();
    c->to = float_format_of(signature[0]);
    c->carry = carry;
    c->round = c->to == FP32 ? c->mode.round32 : c->mode.round64;
    c->flush_in32 = always || (!never && !sources_stay && !c->mode.keep32_in);
    c->flush_out32 = always || (!never && !c->mode.keep32_out);
    c->flush_in64 = always || (!never && !sources_stay && !c->mode.keep64_in);
    c->flush_out64 = always || (!never && !c->mode.keep64_out);
    size_t sources = strlen(signature) - 2;
    for (size_t i = 0; i < 3; i++) {
        c->from[i] = i < sources ? float_format_of(signature[2 + i]) : -1;
        bool flush = c->from[i] == FP32 ? c->flush_in32 : c->flush_in64;
        if (c->from[i] >= 0 && flush)
            c->source[i] = float_flush((enum float_format)c->from[i], c->source[i]);
    }
    uint64_t u = c->row->result(c);
    if (c->to < 0)
        return u;
    bool flush = c->to == FP32 ? c->flush_out32 : c->flush_out64;
    return flush ? float_flush((enum float_format)c->to, u) : u;
}

uint64_t float_output(enum float_format f, uint64_t u, const struct float_mode *mode, unsigned omod,
                      bool clamp)
{
    static const int powers[4] = {0, 1, 2, -1};
    bool keeps = f == FP32 ? mode->keep32_out : mode->keep64_out;
    prepare();
    if (float_is_nan(f, u))
        return clamp && mode->dx10 ? 0 : u;
    if (omod && !mode->ieee && !keeps) {
        u = float_flush(f, times_power(f, float_flush(f, u), powers[omod]));
        u = is_zero(f, u) ? 0 : u;
    }
    if (!clamp)
        return u;
    uint64_t one = from_double(f, 1.0);
    return u & sign_of(f) ? 0 : u > one ? one : u;
}

#define ROW(mnemonic, signature, flags, function, argument, ulps)                                  \
    {#mnemonic, signature, flags, function, argument, ulps},
const struct float_row float_rows[] = {
#include "float_rows.tab"
};
const size_t float_row_count = sizeof float_rows / sizeof *float_rows;
