/* Access patterns of the spike's loaders, and what a word holds. */
#ifndef SPIKE_PATTERN_H
#define SPIKE_PATTERN_H

#include <stdint.h>

enum pattern {
    PATTERN_STRIDED,
    PATTERN_RANDOM,
    PATTERN_SHARED,
    PATTERN_LOCAL,
    PATTERN_STORES,
    PATTERN_COUNT
};

static inline uint64_t pattern_word(uint64_t address, uint32_t version)
{
    return (address + ((uint64_t)version << 40)) * 0x9e3779b97f4a7c15u ^ address >> 3;
}

#endif
