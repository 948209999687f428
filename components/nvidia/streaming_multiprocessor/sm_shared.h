/* Bank conflicts of shared memory: banks of 4 bytes in turn. Accesses of 8 bytes are served half a
 * warp at a time, those of 16 bytes a quarter; each part takes as many cycles as its fullest bank
 * has different words (NVIDIA, "CUDA C++ Programming Guide", shared memory of compute
 * capability 5.x and later; Jia et al., "Dissecting the NVIDIA Volta GPU Architecture via
 * Microbenchmarking", 2018). */
#ifndef HEDDLE_SM_SHARED_H
#define HEDDLE_SM_SHARED_H

#include <stdint.h>

/* Cycles of the words of `count` lanes, `words` each. */
static inline unsigned shared_part(const uint64_t *address, unsigned count, unsigned words,
                                   unsigned banks)
{
    uint64_t seen[32][32];
    uint8_t used[32] = {0};
    unsigned most = 0;
    for (unsigned i = 0; i < count * words; i++) {
        uint64_t word = address[i / words] / 4 + i % words;
        unsigned bank = (unsigned)(word % banks), n = 0;
        while (n < used[bank] && seen[bank][n] != word)
            n++;
        if (n < used[bank] || n == 32)
            continue;
        seen[bank][n] = word;
        used[bank] = (uint8_t)(n + 1);
        most = n + 1 > most ? n + 1 : most;
    }
    return most;
}

/* Cycles of an instruction whose active lanes access `width` bytes each; *parts: without conflicts.
 * `mask` has a bit for each of the `address`es. */
static inline unsigned shared_cycles(const uint64_t *address, uint32_t mask, unsigned width,
                                     unsigned banks, unsigned *parts)
{
    unsigned words = width <= 4 ? 1 : width <= 8 ? 2 : 4, lanes = 32 / words, cycles = 0;
    *parts = 0;
    for (unsigned first = 0; first < 32; first += lanes) {
        uint32_t part = mask >> first & (uint32_t)(((uint64_t)1 << lanes) - 1);
        unsigned count = (unsigned)__builtin_popcount(part);
        if (!count)
            continue;
        cycles += shared_part(address, count, words, banks);
        address += count;
        (*parts)++;
    }
    return cycles;
}

#endif
