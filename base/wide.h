/* 128-bit numbers: what the product of two 64-bit numbers needs, as times in picoseconds do. */
#ifndef HEDDLE_BASE_WIDE_H
#define HEDDLE_BASE_WIDE_H

#include <stdint.h>

#include "number.h"

#define PS_PER_S UINT64_C(1000000000000)

__extension__ typedef unsigned __int128 wide;
__extension__ typedef __int128 signed_wide;

/* a * b / by, rounded down. */
static inline uint64_t divide_wide(uint64_t a, uint64_t b, uint64_t by)
{
    return (uint64_t)((wide)a * b / by);
}

/* a * b / by, rounded up. */
static inline uint64_t divide_wide_up(uint64_t a, uint64_t b, uint64_t by)
{
    return (uint64_t)divide_up((wide)a * b, by);
}

#endif
