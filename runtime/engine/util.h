/* The lesser and the greater of two numbers. */
#ifndef HEDDLE_RUNTIME_UTIL_H
#define HEDDLE_RUNTIME_UTIL_H

#include <stdint.h>

static inline uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t max_u64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

#endif
