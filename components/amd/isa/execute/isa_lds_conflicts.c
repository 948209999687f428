/* Counts the conflicts of 32 lanes at the banks of the LDS. Compiled once for each x86-64 level.
 *
 * In each round, all lanes that are left write their dword into a table of banks; each bank serves
 * the dword that stays there, to all lanes that ask for it. Without AVX2 nothing is counted
 * here. */
#include "isa_lds_conflicts.h"

#define PASTE2(a, b) a##b
#define PASTE(a, b)  PASTE2(a, b)
#define VARIANT(f)   PASTE(f, ISA_VARIANT)

#ifdef __AVX2__
#include <immintrin.h>

enum { LANES = 32, VECTORS = LANES / 8 };

unsigned VARIANT(isa_lds_conflicts_)(const uint32_t *address, uint32_t active)
{
    __m256i dwords[VECTORS], banks[VECTORS];
    uint32_t dword[LANES], bank[LANES], served[ISA_LDS_BANKS] = {0}, left = active;
    unsigned cycles = 0;
    for (unsigned i = 0; i < VECTORS; i++) {
        const __m256i *from = (const __m256i *)(const void *)address + i;
        dwords[i] = _mm256_srli_epi32(_mm256_loadu_si256(from), 2);
        banks[i] = _mm256_and_si256(dwords[i], _mm256_set1_epi32(ISA_LDS_BANKS - 1));
        _mm256_storeu_si256((__m256i *)(void *)dword + i, dwords[i]);
        _mm256_storeu_si256((__m256i *)(void *)bank + i, banks[i]);
    }
    while (left) {
        uint32_t done = 0;
        if (left == UINT32_MAX)
            for (unsigned lane = 0; lane < LANES; lane++)
                served[bank[lane]] = dword[lane];
        else
            for (uint32_t rest = left; rest; rest &= rest - 1)
                served[bank[__builtin_ctz(rest)]] = dword[__builtin_ctz(rest)];
        for (unsigned i = 0; i < VECTORS; i++) {
            __m256i own = _mm256_i32gather_epi32((const int *)served, banks[i], 4);
            __m256 same = _mm256_castsi256_ps(_mm256_cmpeq_epi32(own, dwords[i]));
            done |= (uint32_t)_mm256_movemask_ps(same) << 8 * i;
        }
        left &= ~done;
        cycles++;
    }
    return cycles ? cycles : 1;
}
#else
unsigned VARIANT(isa_lds_conflicts_)(const uint32_t *address, uint32_t active)
{
    (void)address;
    (void)active;
    return 0;
}
#endif
