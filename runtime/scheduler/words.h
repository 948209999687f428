/* Words of bitmaps of which some have bits, as an edge deals with them: several at once where the
 * processor can (AVX2). Counts are multiples of ENGINE_WORDS, and words begin with a cache line. */
#ifndef HEDDLE_RUNTIME_WORDS_H
#define HEDDLE_RUNTIME_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* active |= next | near, and the latter two are cleared; `near` may be NULL. Bit w % 64 of
 * busy[w / 64]: active[w] has bits. */
static inline void words_merge(uint64_t *restrict active, uint64_t *restrict next,
                               uint64_t *restrict near, uint32_t count, uint64_t *restrict busy)
{
    for (uint32_t w = 0; w < count; w++) {
        active[w] |= next[w] | (near ? near[w] : 0);
        next[w] = 0;
        if (near)
            near[w] = 0;
        uint64_t bit = (uint64_t)(active[w] != 0) << w % 64;
        busy[w / 64] = w % 64 ? busy[w / 64] | bit : bit;
    }
}

/* Has a word of `a` or `b` bits? */
static inline bool words_any(const uint64_t *a, const uint64_t *b, uint32_t count)
{
    uint64_t any = 0; /* of all words, so that the compiler makes vectors of them */
    for (uint32_t w = 0; w < count; w++)
        any |= a[w] | b[w];
    return any;
}

#ifdef __x86_64__
#include <immintrin.h>

#define WORDS_WIDE __attribute__((target("avx2")))

WORDS_WIDE static inline void words_merge_wide(uint64_t *restrict active, uint64_t *restrict next,
                                               uint64_t *restrict near, uint32_t count,
                                               uint64_t *restrict busy)
{
    const __m256i none = _mm256_setzero_si256();
    for (uint32_t from = 0; from < count; from += 64) {
        uint32_t end = count - from < 64 ? count : from + 64;
        uint64_t bits = 0;
        for (uint32_t w = from; w < end; w += 4) {
            __m256i words = _mm256_or_si256(_mm256_load_si256((const void *)(active + w)),
                                            _mm256_load_si256((const void *)(next + w)));
            _mm256_store_si256((void *)(next + w), none);
            if (near) {
                words = _mm256_or_si256(words, _mm256_load_si256((const void *)(near + w)));
                _mm256_store_si256((void *)(near + w), none);
            }
            _mm256_store_si256((void *)(active + w), words);
            __m256d empty = _mm256_castsi256_pd(_mm256_cmpeq_epi64(words, none));
            bits |= (uint64_t)((unsigned)_mm256_movemask_pd(empty) ^ 15u) << w % 64;
        }
        busy[from / 64] = bits;
    }
}

WORDS_WIDE static inline bool words_any_wide(const uint64_t *a, const uint64_t *b, uint32_t count)
{
    __m256i any = _mm256_setzero_si256();
    for (uint32_t w = 0; w < count; w += 4) {
        any = _mm256_or_si256(any, _mm256_load_si256((const void *)(a + w)));
        any = _mm256_or_si256(any, _mm256_load_si256((const void *)(b + w)));
    }
    return !_mm256_testz_si256(any, any);
}

static inline bool words_are_wide(void)
{
    return __builtin_cpu_supports("avx2");
}
#else
#define words_merge_wide words_merge
#define words_any_wide   words_any

static inline bool words_are_wide(void)
{
    return false;
}
#endif
#endif
