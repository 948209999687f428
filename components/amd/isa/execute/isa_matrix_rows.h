/* A few neighbouring results of a row of a matrix product, by each of the rules of isa_matrix.h.
 * Included by isa_matrix.c only.
 *
 * Each function reads C, adds the row's terms and writes D, for as many results as the host has in
 * one vector (loops over an array of constant size the compiler unrolls before it sees that they
 * could be vectors). A term has one value of A for all of them, or, `wide`, one for each: then the
 * "row" is a register of a product with many blocks. `wide` and other choices are constants where
 * the functions are called. */
#ifndef HEDDLE_COMPONENTS_AMD_ISA_EXECUTE_ISA_MATRIX_ROWS_H
#define HEDDLE_COMPONENTS_AMD_ISA_EXECUTE_ISA_MATRIX_ROWS_H

#include <immintrin.h>

#include "base/likely.h"

#include "isa_math.h"

/* Operations for which the host has one instruction, and the compiler makes several. */
#if defined(__AVX2__)
enum { MATRIX_ROW = 8 };
#define LOW_HALF(x)            __builtin_shufflevector(x, x, 0, 1, 2, 3)
#define HIGH_HALF(x)           __builtin_shufflevector(x, x, 4, 5, 6, 7)
#define BOTH_HALVES(low, high) __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7)
#define I64_OF_I32(x)          ((half_i64)_mm256_cvtepi32_epi64((__m128i)(x)))
#define F64_OF_I32(x)          ((half_f64)_mm256_cvtepi32_pd((__m128i)(x)))
#define F64_OF_F32(x)          ((half_f64)_mm256_cvtps_pd((__m128)(x)))
#define F32_OF_F64(x)          ((half_f32)_mm256_cvtpd_ps((__m256d)(x)))
#define MOST_I32(a, b)         ((row_i32)_mm256_max_epi32((__m256i)(a), (__m256i)(b)))
#define FLOOR_F64(x)           ((half_f64)_mm256_floor_pd((__m256d)(x)))
#else
enum { MATRIX_ROW = 4 };
#define LOW_HALF(x)            __builtin_shufflevector(x, x, 0, 1)
#define HIGH_HALF(x)           __builtin_shufflevector(x, x, 2, 3)
#define BOTH_HALVES(low, high) __builtin_shufflevector(low, high, 0, 1, 2, 3)
#define I64_OF_I32(x)          __builtin_convertvector(x, half_i64)
#define F64_OF_I32(x)          __builtin_convertvector(x, half_f64)
#define F64_OF_F32(x)          __builtin_convertvector(x, half_f64)
#define F32_OF_F64(x)          __builtin_convertvector(x, half_f32)
#define MOST_I32(a, b)         choose_i32((a) > (b), a, b)
#define FLOOR_F64(x)           ((half_f64)_mm_floor_pd((__m128d)(x)))
#endif

enum { MATRIX_TERMS = 64, MATRIX_ZERO_EXPONENT = -126, MATRIX_EXPONENT_NONE = -1000 };

typedef float row_f32 __attribute__((vector_size(4 * MATRIX_ROW)));
typedef int32_t row_i32 __attribute__((vector_size(4 * MATRIX_ROW)));
typedef uint32_t row_u32 __attribute__((vector_size(4 * MATRIX_ROW)));
/* Half of a row, where it is computed in f64. */
typedef float half_f32 __attribute__((vector_size(2 * MATRIX_ROW)));
typedef int32_t half_i32 __attribute__((vector_size(2 * MATRIX_ROW)));
typedef double half_f64 __attribute__((vector_size(4 * MATRIX_ROW)));
typedef int64_t half_i64 __attribute__((vector_size(4 * MATRIX_ROW)));

/* An operand as numbers: of term q, a column of A or a row of B, at [64 * q + ...] those of all
 * blocks. All distances are constants, which addresses of the host's instructions hold. */
struct unpacked {
    _Alignas(64) float value[MATRIX_TERMS * 64];
    int32_t exponent[MATRIX_TERMS * 64]; /* for the rules of CDNA3 */
};

/* The terms of a row: places of its values of A and of B among those of each term. */
struct matrix_row {
    const struct unpacked *a, *b;
    size_t i, j;
    size_t terms;
};

static ALWAYS_INLINE row_f32 row_read(const float *from)
{
    row_f32 x;
    memcpy(&x, from, sizeof x);
    return x;
}

static ALWAYS_INLINE row_i32 row_read_i32(const int32_t *from)
{
    row_i32 x;
    memcpy(&x, from, sizeof x);
    return x;
}

static ALWAYS_INLINE row_f32 row_a(const struct matrix_row *row, size_t q, bool wide)
{
    const float *a = row->a->value + 64 * q;
    /* Minus, for x + 0 has no -0. */
    return wide ? row_read(a + row->j) : a[row->i] - (row_f32){0};
}

static ALWAYS_INLINE row_f32 row_b(const struct matrix_row *row, size_t q)
{
    return row_read(row->b->value + 64 * q + row->j);
}

static ALWAYS_INLINE row_i32 row_exponents(const struct matrix_row *row, size_t q, bool wide)
{
    const int32_t *a = row->a->exponent + 64 * q;
    row_i32 b = row_read_i32(row->b->exponent + 64 * q + row->j);
    return b + (wide ? row_read_i32(a + row->j) : (row_i32){0} + a[row->i]);
}

static ALWAYS_INLINE row_i32 choose_i32(row_i32 yes, row_i32 a, row_i32 b)
{
    return (yes & a) | (~yes & b);
}

static ALWAYS_INLINE row_f32 choose_f32(row_i32 yes, row_f32 a, row_f32 b)
{
    return (row_f32)choose_i32(yes, (row_i32)a, (row_i32)b);
}

static ALWAYS_INLINE row_i32 most_i32(row_i32 a, row_i32 b)
{
    return MOST_I32(a, b);
}

static ALWAYS_INLINE void row_write(float *d, row_f32 sum)
{
    const row_i32 quiet = (row_i32){0} + 0x7fc00000;
    row_f32 out = choose_f32(sum == sum, sum, (row_f32)quiet);
    memcpy(d, &out, sizeof out);
}

/* ---- f32: a chain ---- */

static ALWAYS_INLINE void row_chain(const struct matrix_row *row, const float *c, float *d,
                                    bool wide)
{
    row_f32 sum = row_read(c);
    for (size_t q = 0; q < row->terms; q++) {
        row_f32 a = row_a(row, q, wide), b = row_b(row, q), next = sum;
        for (unsigned j = 0; j < MATRIX_ROW; j++)
            next[j] = fma_f32(a[j], b[j], sum[j]);
        sum = next;
    }
    row_write(d, sum);
}

/* ---- f16 and bf16 of CDNA1 and CDNA2: groups of two or four, summed by halves ---- */

/* With the sign of the denormal, or, `plus`, without. */
static ALWAYS_INLINE row_f32 flushed(row_f32 x, bool flush, bool plus)
{
    row_i32 u = (row_i32)x, normal = (u & 0x7f800000) != 0, sign = u & INT32_MIN;
    if (plus)
        sign &= (u & INT32_MAX) == 0;
    return flush ? (row_f32)choose_i32(normal, u, sign) : x;
}

static ALWAYS_INLINE void row_tree(const struct matrix_row *row, const float *c, float *d,
                                   unsigned group, bool flush, bool wide)
{
    row_f32 sum = flushed(row_read(c), flush, true);
    for (size_t q = 0; q < row->terms; q += group) {
        row_f32 product[4] = {{0}};
        for (unsigned i = 0; i < group; i++)
            product[i] = flushed(row_a(row, q + i, wide) * row_b(row, q + i), flush, false);
        row_f32 all = flushed(product[0] + product[1], flush, false);
        if (group == 4)
            all = flushed(all + flushed(product[2] + product[3], flush, false), flush, false);
        sum = flushed(sum + all, flush, false);
    }
    row_write(d, sum);
}

/* ---- CDNA3 ---- */

static ALWAYS_INLINE half_f64 half_power(half_i32 exponent)
{
    return (half_f64)(I64_OF_I32(exponent + 1023) << 52);
}

/* The exponent of a number as if there were no denormals. */
static ALWAYS_INLINE row_i32 row_exponent(row_f32 c)
{
    row_i32 exponent = ((row_i32)c >> 23 & 255) - 127,
            scaled = ((row_i32)(c * 0x1p64f) >> 23 & 255) - 191;
    row_i32 of_nonzero = choose_i32(exponent == -127, scaled, exponent);
    return choose_i32(c == 0.0f, (row_i32){0} + MATRIX_ZERO_EXPONENT, of_nonzero);
}

static ALWAYS_INLINE half_f32 half_join(half_i32 s, half_i32 e, half_f32 c, half_i32 m)
{
    half_f64 products = FLOOR_F64(F64_OF_I32(s) * half_power(7 + e - m));
    half_f64 rest = FLOOR_F64(F64_OF_F32(c) * half_power(24 - m)) * 128.0;
    return F32_OF_F64((products + rest) * half_power(m - 31));
}

/* Sums of products, of which each is sum * 2^(exponent - 24). */
struct row_sum {
    row_i32 sum, exponent;
};

/* The sum and C, of exponent `own`, rounded once. Of fp8, a small C is none. */
static ALWAYS_INLINE row_f32 row_join(struct row_sum s, row_f32 c, row_i32 exponent, bool fp8)
{
    row_i32 m = most_i32(s.exponent, exponent);
    row_f32 addend = fp8 ? (row_f32)((row_i32)c & ~(exponent < m - 25)) : c;
    half_f32 low = half_join(LOW_HALF(s.sum), LOW_HALF(s.exponent), LOW_HALF(addend), LOW_HALF(m));
    half_f32 high =
        half_join(HIGH_HALF(s.sum), HIGH_HALF(s.exponent), HIGH_HALF(addend), HIGH_HALF(m));
    return BOTH_HALVES(low, high);
}

/* row_join() for sums of row_add(), whose exponents are at least that of zero: so those of zero and
 * denormals make no difference here. */
static ALWAYS_INLINE row_f32 row_join_small(struct row_sum s, row_f32 c, bool fp8)
{
    return row_join(s, c, ((row_i32)c >> 23 & 255) - 127, fp8);
}

/* Terms q, q + step ... below q + `count`. Their exponents are so small that products and their
 * sums here are exact in f32 and i32. */
static ALWAYS_INLINE struct row_sum row_add(const struct matrix_row *row, size_t q, size_t count,
                                            size_t step, bool wide)
{
    struct row_sum s = {.exponent = (row_i32){0} + MATRIX_ZERO_EXPONENT};
#pragma GCC unroll 8
    for (size_t k = 0; k < count; k += step)
        s.exponent = most_i32(s.exponent, row_exponents(row, q + k, wide));
    /* If all are zero, the exponent is too small for its scale, and any scale will do. */
    row_i32 scale = 24 + 127 - most_i32(s.exponent, (row_i32){0} - 96);
#pragma GCC unroll 8
    for (size_t k = 0; k < count; k += step) {
        row_f32 product = row_a(row, q + k, wide) * row_b(row, q + k) * (row_f32)(scale << 23);
        s.sum += __builtin_convertvector(product, row_i32);
    }
    return s;
}

static ALWAYS_INLINE void row_dot(const struct matrix_row *row, const float *c, float *d,
                                  unsigned group, bool wide)
{
    row_f32 total = row_read(c);
    for (size_t q = 0; q < row->terms; q += group) {
        struct row_sum s = row_add(row, q, group, 1, wide);
        total = row_join_small(s, total, false);
    }
    row_write(d, total);
}

/* fp8: even and odd terms apart. */
static ALWAYS_INLINE void row_pair(const struct matrix_row *row, const float *c, float *d,
                                   bool wide)
{
    const row_i32 most_shift = (row_i32){0} + 31;
    row_f32 total = row_read(c);
    for (size_t q = 0; q < row->terms; q += 16) {
        struct row_sum even = row_add(row, q, 16, 2, wide);
        struct row_sum odd = row_add(row, q + 1, 15, 2, wide);
        row_i32 e = most_i32(even.exponent, odd.exponent);
        row_i32 down = e - even.exponent, down_odd = e - odd.exponent;
        struct row_sum both = {.exponent = e};
        both.sum = (even.sum >> choose_i32(down > 31, most_shift, down))
                   + (odd.sum >> choose_i32(down_odd > 31, most_shift, down_odd));
        total = row_join_small(both, total, true);
    }
    row_write(d, total);
}

/* ---- CDNA3, any values ---- */

/* One result's terms of a group. */
struct matrix_group {
    double product[16];
    int32_t exponent[16];
    unsigned terms;
    double all; /* sum without rules: of infinities */
    bool is_finite;
};

static ALWAYS_INLINE int32_t exponent_of(float x)
{
    return (int32_t)(bits_f64((double)x) >> 52 & 2047) - 1023;
}

static ALWAYS_INLINE void group_read(struct matrix_group *g, const struct matrix_row *row,
                                     size_t first, unsigned terms, unsigned j, bool wide)
{
    const float *left = row->a->value + 64 * first + (wide ? row->j + j : row->i);
    const float *right = row->b->value + 64 * first + row->j + j;
    g->terms = terms;
    g->is_finite = true;
    g->all = 0.0;
    for (unsigned i = 0; i < terms; i++) {
        float a = left[64 * i], b = right[64 * i];
        double product = (double)a * (double)b;
        if (__builtin_fabs(product) >= 0x1p128)
            product = product < 0.0 ? -__builtin_inf() : __builtin_inf();
        g->is_finite &= product - product == 0.0;
        g->all += product;
        g->product[i] = product;
        g->exponent[i] = product == 0.0 ? MATRIX_ZERO_EXPONENT : exponent_of(a) + exponent_of(b);
    }
}

static ALWAYS_INLINE double group_sum(const struct matrix_group *g, unsigned first, unsigned step,
                                      int32_t *e)
{
    double sum = 0.0;
    *e = g->exponent[first];
    for (unsigned i = first; i < g->terms; i += step)
        *e = max(*e, g->exponent[i]);
    for (unsigned i = first; i < g->terms; i += step)
        sum += __builtin_trunc(g->product[i] * power_of_two(24 - *e));
    return sum;
}

static ALWAYS_INLINE double group_pair(const struct matrix_group *g, int32_t *e)
{
    int32_t e_even, e_odd;
    double even = group_sum(g, 0, 2, &e_even), odd = group_sum(g, 1, 2, &e_odd);
    *e = max(e_even, e_odd);
    return __builtin_floor(even * power_of_two(e_even - *e))
           + __builtin_floor(odd * power_of_two(e_odd - *e));
}

/* Out of line, since inlined it has too few of the host's registers. */
static OUT_OF_LINE void row_any(const struct matrix_row *row, const float *c, float *d,
                                unsigned group, bool fp8, bool wide)
{
    row_f32 total = row_read(c);
    struct matrix_group g;
    for (size_t q = 0; q < row->terms; q += group) {
        struct row_sum s = {.sum = {0}};
        row_i32 finite = {0};
        row_f32 all = total;
        for (unsigned j = 0; j < MATRIX_ROW; j++) {
            int32_t e = 0;
            group_read(&g, row, q, group, j, wide);
            finite[j] = g.is_finite ? -1 : 0;
            all[j] = (float)((double)total[j] + g.all);
            if (g.is_finite)
                s.sum[j] = (int32_t)(fp8 ? group_pair(&g, &e) : group_sum(&g, 0, 1, &e));
            s.exponent[j] = e;
        }
        total = choose_f32(finite, row_join(s, total, row_exponent(total), fp8), all);
    }
    row_write(d, total);
}

/* ---- i8: products and their sums, which stay below 2^24, are exact in f32 ---- */

static ALWAYS_INLINE void row_integer(const struct matrix_row *row, const uint32_t *c, uint32_t *d,
                                      bool wide)
{
    row_f32 sum = {0};
    row_u32 total;
    memcpy(&total, c, sizeof total);
    for (size_t q = 0; q < row->terms; q++)
        sum += row_a(row, q, wide) * row_b(row, q);
    total += (row_u32) __builtin_convertvector(sum, row_i32);
    memcpy(d, &total, sizeof total);
}

#endif
