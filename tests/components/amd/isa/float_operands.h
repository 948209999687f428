/* Operands for tests of floats: edges, halfway cases, neighbours, and random. */
#ifndef HEDDLE_TESTS_COMPONENTS_AMD_ISA_FLOAT_OPERANDS_H
#define HEDDLE_TESTS_COMPONENTS_AMD_ISA_FLOAT_OPERANDS_H

#include <math.h>
#include <string.h>

#include "float_oracle.h"
#include "random.h"

static inline unsigned fraction_bits(enum float_format f)
{
    return f == FP16 ? 10 : f == FP32 ? 23 : 52;
}

static inline unsigned exponent_bits(enum float_format f)
{
    return f == FP16 ? 5 : f == FP32 ? 8 : 11;
}

enum { FLOAT_EDGES = 28 };

/* Edge i of a format, positive. */
static inline uint64_t edge_float(enum float_format f, unsigned i)
{
    unsigned n = fraction_bits(f), e = exponent_bits(f);
    uint64_t ulp = 1, hidden = UINT64_C(1) << n, infinity = ((UINT64_C(1) << e) - 1) << n;
    uint64_t one = ((UINT64_C(1) << (e - 1)) - 1) << n, quiet = hidden / 2;
    const uint64_t edges[FLOAT_EDGES] = {0,
                                         ulp,
                                         2 * ulp,
                                         3 * ulp,
                                         hidden / 2,
                                         hidden - 1,
                                         hidden,
                                         hidden + 1,
                                         2 * hidden,
                                         one,
                                         one + 1,
                                         one - 1,
                                         one + hidden,
                                         one + hidden / 2,
                                         one - hidden,
                                         one - hidden - 1,
                                         one + 15 * hidden,
                                         one + 16 * hidden - 1,
                                         one + 16 * hidden,
                                         infinity - 1,
                                         infinity - hidden,
                                         infinity,
                                         infinity | quiet,
                                         infinity | quiet | 5,
                                         infinity | 1,
                                         infinity | (quiet - 1),
                                         infinity | (quiet >> 1),
                                         infinity - 2};
    return edges[i];
}

static inline uint64_t random_sign(enum float_format f)
{
    return (random_bits() >> 63) << (fraction_bits(f) + exponent_bits(f));
}

/* Few bits set, or a run of equal ones below a place: products and conversions are then halfway
 * between two numbers, or next to that. */
static inline uint64_t random_fraction(enum float_format f)
{
    unsigned n = fraction_bits(f), place = random_below(n);
    uint64_t all = (UINT64_C(1) << n) - 1, r = random_bits() & all;
    uint64_t low = (UINT64_C(1) << place) - 1;
    switch (random_below(6)) {
    case 0:
        return r & ~low;
    case 1:
        return r | low;
    case 2:
        return (r & ~(2 * low + 1)) | (low + 1); /* halfway */
    case 3:
        return ((r & ~(2 * low + 1)) | (low + 1)) ^ 1;
    default:
        return r;
    }
}

static inline uint64_t random_float(enum float_format f)
{
    unsigned n = fraction_bits(f), e = exponent_bits(f);
    uint64_t bias = (UINT64_C(1) << (e - 1)) - 1, r = random_bits();
    uint64_t field = r & ((UINT64_C(1) << e) - 1);
    unsigned kind = random_below(16);
    if (kind < 4)
        return edge_float(f, random_below(FLOAT_EDGES)) | random_sign(f);
    if (kind < 10) /* near one, or near what integers hold */
        field = bias + random_below(n + 12) - n / 2;
    else if (kind < 12)
        field = random_below(4);
    return random_sign(f) | field << n | random_fraction(f);
}

static inline uint64_t random_integer(void)
{
    static const uint32_t edges[] = {0,      1,          2,          0xffffffff, 0x7fffffff,
                                     0x8000, 0x80000000, 0x7fff,     0xffff,     0xff7fffff,
                                     16,     24,         0xffffff80, 126,        0xffffff6a};
    uint64_t r = random_bits();
    switch (random_below(4)) {
    case 0:
        return edges[(r >> 8) % (sizeof edges / sizeof *edges)];
    case 1:
        return (uint32_t)((r >> 32) % 2400) - 1200;
    default:
        return (uint32_t)(r >> 32) >> random_below(24);
    }
}

/* Makes operands that belong together: a sum that cancels or is a tie, a quotient at an edge. */
static inline void relate_floats(enum float_format f, uint64_t *u, unsigned count)
{
    unsigned n = fraction_bits(f), e = exponent_bits(f);
    uint64_t fields = ((UINT64_C(1) << e) - 1) << n, one = UINT64_C(1) << n;
    uint64_t sign = UINT64_C(1) << (n + e);
    unsigned round = random_below(4);
    switch (random_below(8)) {
    case 0: /* neighbours of each other, or of the opposite */
        u[1] = (u[0] + random_below(5) - 2) ^ random_sign(f);
        break;
    case 1: /* about as far apart as the format is precise */
        u[1] = (u[0] & fields) > (n + 3) * one ? (u[0] - (n - 1 + random_below(4)) * one) : u[1];
        u[1] = (u[1] & ~(one - 1)) | random_fraction(f);
        break;
    case 2: /* the product cancels, or nearly */
        if (count > 2)
            u[2] = (float_fma(f, u[0], u[1], 0, round) + random_below(3) - 1) ^ sign;
        break;
    case 3: /* the product is a little more or less than half a unit of the sum */
        if (count > 2 && (u[0] & fields) && (u[1] & fields)) {
            u[2] = float_fma(f, u[0], u[1], 0, round);
            bool fits = (u[2] & fields) < fields - (n + 3) * one && (u[2] & fields);
            u[2] = fits ? u[2] + (n + random_below(3)) * one : u[2];
        }
        break;
    default:
        break;
    }
}

#endif
