/* See sm_shared.h. */
#include "components/nvidia/streaming_multiprocessor/sm_shared.h"

/* Cycles of the words of `count` lanes, `words` each. */
static unsigned shared_part(const uint64_t *address, unsigned count, unsigned words, unsigned banks)
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

static unsigned shared_cycles(const uint64_t *address, uint32_t mask, unsigned width,
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
