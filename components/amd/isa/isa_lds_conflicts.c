/*
 * isa_lds_conflicts.c - see isa_lds_conflicts.h. Compiled once for each x86-64 level.
 *
 * With AVX-512 an instruction compares all lanes of a vector with those before them. The lanes that
 * are the first to ask for their dword remain; then, again and again, each bank serves the first of
 * its lanes that is left, until none is. With AVX2 each bank serves the last of these, which is the
 * one that stays in a table of banks into which all write, and all that ask for the same dword.
 */
#include "isa_lds_conflicts.h"

#define PASTE2(a, b) a##b
#define PASTE(a, b)  PASTE2(a, b)
#define VARIANT(f)   PASTE(f, ISA_VARIANT)

#ifdef __AVX2__
#include <immintrin.h>
#endif

#ifdef __AVX512CD__

/* The lanes before each one that are equal to it, as masks: of `low` and `high` with lanes of the
 * same vector, and of `high` with those of `low`. */
struct equal_lanes {
    __m512i low, high, across;
};

static struct equal_lanes equal_lanes(__m512i low, __m512i high)
{
    struct equal_lanes e = {_mm512_conflict_epi32(low), _mm512_conflict_epi32(high),
                            _mm512_setzero_si512()};
    const __m512i one = _mm512_set1_epi32(1);
    __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    for (unsigned turn = 0; turn < 16; turn++) {
        __mmask16 same = _mm512_cmpeq_epi32_mask(high, _mm512_permutexvar_epi32(lane, low));
        e.across = _mm512_mask_or_epi32(e.across, same, e.across, _mm512_sllv_epi32(one, lane));
        lane = _mm512_and_si512(_mm512_add_epi32(lane, one), _mm512_set1_epi32(15));
    }
    return e;
}

/* Keeps in `low` and `high` the lanes that are equal to none of those lanes before them. */
static void first_lanes(const struct equal_lanes *e, __mmask16 *low, __mmask16 *high)
{
    __m512i of_low = _mm512_set1_epi32(*low), of_high = _mm512_set1_epi32(*high);
    *low = (__mmask16)(*low & ~_mm512_test_epi32_mask(e->low, of_low));
    *high = (__mmask16)(*high
                        & ~(_mm512_test_epi32_mask(e->high, of_high)
                            | _mm512_test_epi32_mask(e->across, of_low)));
}

unsigned VARIANT(isa_lds_conflicts_)(const uint32_t *address, uint32_t active)
{
    const __m512i bank = _mm512_set1_epi32(ISA_LDS_BANKS - 1);
    __m512i low = _mm512_srli_epi32(_mm512_loadu_si512(address), 2);
    __m512i high = _mm512_srli_epi32(_mm512_loadu_si512(address + 16), 2);
    __mmask16 left_low = (__mmask16)active, left_high = (__mmask16)(active >> 16);
    struct equal_lanes dwords = equal_lanes(low, high);
    struct equal_lanes banks =
        equal_lanes(_mm512_and_si512(low, bank), _mm512_and_si512(high, bank));
    unsigned cycles = 0;
    first_lanes(&dwords, &left_low, &left_high);
    while (left_low | left_high) {
        __mmask16 served_low = left_low, served_high = left_high;
        first_lanes(&banks, &served_low, &served_high);
        left_low ^= served_low;
        left_high ^= served_high;
        cycles++;
    }
    return cycles ? cycles : 1;
}
#elif defined __AVX2__
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
        for (unsigned lane = 0; left == UINT32_MAX && lane < LANES; lane++)
            served[bank[lane]] = dword[lane];
        for (uint32_t rest = left == UINT32_MAX ? 0 : left; rest; rest &= rest - 1)
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
