/* Hashing of numbers by one multiplication (Fibonacci hashing: Knuth, The Art of Computer
 * Programming 3, 6.4). The upper bits are the good ones: take those. */
#ifndef HEDDLE_RUNTIME_HASH_H
#define HEDDLE_RUNTIME_HASH_H

#include <stdint.h>

#define HASH_MULTIPLIER UINT64_C(0x9e3779b97f4a7c15) /* 2^64 divided by the golden ratio, odd */

static inline uint64_t hash_multiply(uint64_t number)
{
    return number * HASH_MULTIPLIER;
}

#endif
