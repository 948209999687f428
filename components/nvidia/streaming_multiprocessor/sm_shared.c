/* Counts the cycles of an access to shared memory, part by part of the warp. */
#include "sm_shared.h"

#include <string.h>

#include "base/number.h"

enum { SHARED_BANKS = 32, SHARED_WORDS = 128 /* most words of a warp, all in one bank */ };

/* Words that the instruction has fetched, by bank. */
struct shared_words {
    uint64_t word[SHARED_BANKS][SHARED_WORDS];
    uint8_t count[SHARED_BANKS];
};

/* Cycles of the words of `count` lanes, `words` each, that are not fetched yet. */
static unsigned shared_part(struct shared_words *seen, const uint64_t *address, unsigned count,
                            unsigned words, unsigned banks)
{
    uint8_t before[SHARED_BANKS];
    unsigned most = 0;
    memcpy(before, seen->count, sizeof before);
    for (unsigned i = 0; i < count * words; i++) {
        uint64_t word = address[i / words] / 4 + i % words;
        unsigned bank = (unsigned)(word % banks), n = 0, used = seen->count[bank];
        while (n < used && seen->word[bank][n] != word)
            n++;
        if (n < used)
            continue;
        seen->word[bank][used] = word;
        seen->count[bank]++;
        most = max(used + 1u - before[bank], most);
    }
    return most;
}

static unsigned shared_cycles(const uint64_t *address, uint32_t mask, unsigned width,
                              unsigned banks, unsigned *parts)
{
    struct shared_words seen;
    unsigned words = width <= 4 ? 1 : width <= 8 ? 2 : 4, lanes = 32 / words, cycles = 0;
    memset(seen.count, 0, sizeof seen.count);
    *parts = 0;
    for (unsigned first = 0; first < 32; first += lanes) {
        uint32_t part = mask >> first & (uint32_t)(((uint64_t)1 << lanes) - 1);
        unsigned count = (unsigned)__builtin_popcount(part);
        unsigned more = shared_part(&seen, address, count, words, banks);
        cycles += more;
        address += count;
        *parts += more != 0;
    }
    return cycles;
}
