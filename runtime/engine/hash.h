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

/* Groups of `bits` bits: the exclusive or of the lowest and the next four. Of a hashed address
 * space it is the number of the target, so that no stride of a power of two meets few of them. */
static inline uint64_t hash_fold(uint64_t number, unsigned bits)
{
    number ^= number >> bits ^ number >> 2 * bits ^ number >> 3 * bits ^ number >> 4 * bits;
    return number & (((uint64_t)1 << bits) - 1);
}

#endif
