/* Rows of floating-point instructions, between their list (rows_float_list.c) and what MPFR says of
 * them (rows_float.c). */
#ifndef HEDDLE_TESTS_COMPONENTS_NVIDIA_WARP_ROWS_FLOAT_H
#define HEDDLE_TESTS_COMPONENTS_NVIDIA_WARP_ROWS_FLOAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum float_format { F16, BF16, F32, F64, TF32, E4M3, E5M2, E3M2, E2M3, E2M1, FORMATS };

struct float_format_of {
    const char *name, *reg;
    int bits, precision, exponent; /* numbers are below 2^exponent */
    int shift;                     /* in the register */
};
extern const struct float_format_of float_formats[FORMATS];

enum float_kind {
    ADD,
    SUB,
    MUL,
    MAD,
    FMA,
    DIV,
    SQRT,
    RCP,
    CONVERT,
    WHOLE, /* cvt.rni and its kind, to a float */
    FROM_INTEGER,
    TO_INTEGER,
    MIN,
    MAX,
    ABS,
    NEG,
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

/* Packed numbers are `parts` of a register; `crosses`: the upper one is made of a and the lower one
 * of b. */
struct float_row {
    char text[160];
    const char *d, *a, *b, *c;
    enum float_kind kind;
    enum float_format to, from[3];
    int rounding; /* nearest, to zero, down, up, 4: nearest, ties away from zero */
    int parts;
    int integer; /* bits of an integer, negative if it is signed */
    bool ftz, sat, relu, finite, nan, absolute, xorsign, crosses, upper;
};

size_t float_rows(struct float_row *rows, size_t most);
/* Is it what a row may give? Approximations have several. */
bool float_row_accepts(const struct float_row *row, uint64_t a, uint64_t b, uint64_t c,
                       uint64_t actual, uint64_t *expected);

#endif
