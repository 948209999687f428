/* Rows of the tests of single instructions: PTX text, types, and what the manual says of it in C or
 * MPFR, which shares no code with the executor. */
#ifndef HEDDLE_TESTS_WARP_ROWS_H
#define HEDDLE_TESTS_WARP_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Types are PTX register types of %d, %a, %b, %c: b16, b32, b64, f32, f64; NULL: not there.
 * Sources hold `uint64_t`s cut to their type. */
struct row {
    const char *text;
    const char *d, *a, *b, *c;
    uint64_t (*expected)(uint64_t a, uint64_t b, uint64_t c);
};

extern const struct row integer_rows[];
extern const size_t integer_row_count;

/* Rows of floats are made of lists; `argument` says which. Accepts a result, too: approximations.
 */
struct float_row {
    char text[160];
    const char *d, *a, *b, *c;
    int kind, format, from, rounding;
    bool ftz, sat;
};
size_t float_rows(struct float_row *rows, size_t most);
bool float_row_accepts(const struct float_row *row, uint64_t a, uint64_t b, uint64_t c,
                       uint64_t actual, uint64_t *expected);

#endif
