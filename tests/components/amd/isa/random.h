/* Numbers that are the same in each run (xorshift64*, Vigna 2016). */
#ifndef HEDDLE_TESTS_COMPONENTS_AMD_ISA_RANDOM_H
#define HEDDLE_TESTS_COMPONENTS_AMD_ISA_RANDOM_H

#include <stdint.h>

static uint64_t random_state = 0x9e3779b97f4a7c15u;

static inline uint64_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state * UINT64_C(0x2545f4914f6cdd1d);
}

static inline unsigned random_below(unsigned n)
{
    return (unsigned)((random_bits() >> 32) % n);
}

#endif
