/* Rows of the tests of single instructions: PTX text, types, and what the manual says of it in C,
 * which shares no code with the executor. */
#ifndef HEDDLE_TESTS_COMPONENTS_NVIDIA_WARP_ROWS_H
#define HEDDLE_TESTS_COMPONENTS_NVIDIA_WARP_ROWS_H

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

#endif
