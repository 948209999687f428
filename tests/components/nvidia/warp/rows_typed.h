/* The types of rows_typed.c and rows_compare.c. */
#ifndef HEDDLE_TESTS_COMPONENTS_NVIDIA_WARP_ROWS_TYPED_H
#define HEDDLE_TESTS_COMPONENTS_NVIDIA_WARP_ROWS_TYPED_H

#include "rows_group.h"

typedef __int128 wide;

struct row_type {
    const char *name, *reg;
    unsigned bits;
    bool is_signed;
    int fraction, exponent; /* bits of a float */
};
extern const struct row_type row_types[];
enum { INTEGERS = 6, WITH_BYTES = 8, BITS = 8, FLOATS = 11, PAIRS = 15, TYPES = 17, F32 = 13 };

static inline uint64_t mask_of(unsigned bits)
{
    return ~(uint64_t)0 >> (64 - bits);
}

static inline wide value_of(const struct row_type *type, uint64_t bits)
{
    bits &= mask_of(type->bits);
    uint64_t sign = (uint64_t)1 << (type->bits - 1);
    return type->is_signed ? (wide)(int64_t)((bits ^ sign) - sign) : (wide)bits;
}

#endif
