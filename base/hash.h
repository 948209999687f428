/* Hashing of numbers by one multiplication (Fibonacci hashing: Knuth, The Art of Computer
 * Programming 3, 6.4). The upper bits are the good ones: take those. */
#ifndef HEDDLE_BASE_HASH_H
#define HEDDLE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "number.h"

#define HASH_MULTIPLIER UINT64_C(0x9e3779b97f4a7c15) /* 2^64 divided by the golden ratio, odd */

static inline uint64_t hash_multiply(uint64_t number)
{
    return number * HASH_MULTIPLIER;
}

/* A prime near 2^32 divided by the golden ratio. */
#define HASH_MULTIPLIER_32 UINT32_C(0x9e3779b1)

static inline uint32_t hash_multiply_32(uint32_t number)
{
    return number * HASH_MULTIPLIER_32;
}

/* `sum` with a number after it. */
static inline uint64_t hash_add(uint64_t sum, uint64_t number)
{
    sum = hash_multiply(sum ^ number);
    return sum ^ sum >> 29;
}

/* `sum` with bytes after it, eight at a time; the last ones as if zeroes followed. It finds
 * damage and differences, not malice. */
static inline uint64_t hash_bytes(uint64_t sum, const void *bytes, size_t size)
{
    for (size_t at = 0; at < size; at += sizeof sum) {
        uint64_t word = 0;
        memcpy(&word, (const char *)bytes + at, min(size - at, sizeof word));
        sum = hash_add(sum, word);
    }
    return sum;
}

/* Groups of `bits` bits: the exclusive or of the lowest and the next four. Of a hashed address
 * space it is the number of the target, so that no stride of a power of two meets few of them. */
static inline uint64_t hash_fold(uint64_t number, unsigned bits)
{
    number ^= number >> bits ^ number >> 2 * bits ^ number >> 3 * bits ^ number >> 4 * bits;
    return number & (((uint64_t)1 << bits) - 1);
}

#endif
