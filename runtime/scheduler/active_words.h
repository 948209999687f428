/* Words of bitmaps of which some have bits, as an edge deals with them: several at once where the
 * processor can (AVX2). Counts are multiples of ENGINE_WORDS, and words begin with a cache line. */
#ifndef HEDDLE_RUNTIME_SCHEDULER_ACTIVE_WORDS_H
#define HEDDLE_RUNTIME_SCHEDULER_ACTIVE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/engine/engine.h"

/* active |= next | near, and the latter two are cleared; `near` may be NULL. At most 64 words. Bit
 * w of the result: active[w] has bits. */
static inline uint64_t words_merge(uint64_t *restrict active, uint64_t *restrict next,
                                   uint64_t *restrict near, size_t count)
{
    uint64_t busy = 0;
    for (size_t w = 0; w < count; w++) {
        active[w] |= next[w] | (near ? near[w] : 0);
        next[w] = 0;
        if (near)
            near[w] = 0;
        busy |= (uint64_t)(active[w] != 0) << w;
    }
    return busy;
}

/* True if a word has bits. */
static inline bool words_any(const uint64_t *words, size_t count)
{
    uint64_t any = 0; /* the OR of all words, which the compiler computes with vectors */
    for (size_t w = 0; w < count; w++)
        any |= words[w];
    return any;
}

#ifdef __x86_64__
#include <immintrin.h>

#define WORDS_WIDE __attribute__((target("avx2")))

/* words_merge() for four words; bit i: the i-th of these has bits. */
WORDS_WIDE static inline uint64_t words_merge_four(uint64_t *restrict active,
                                                   uint64_t *restrict next, uint64_t *restrict near)
{
    const __m256i none = _mm256_setzero_si256();
    __m256i words = _mm256_or_si256(_mm256_load_si256((const void *)active),
                                    _mm256_load_si256((const void *)next));
    _mm256_store_si256((void *)next, none);
    if (near) {
        words = _mm256_or_si256(words, _mm256_load_si256((const void *)near));
        _mm256_store_si256((void *)near, none);
    }
    _mm256_store_si256((void *)active, words);
    __m256d empty = _mm256_castsi256_pd(_mm256_cmpeq_epi64(words, none));
    return (uint64_t)(unsigned)_mm256_movemask_pd(empty) ^ 15;
}

/* Loops count in numbers as wide as addresses, so that an index is all that moves. */
WORDS_WIDE static inline uint64_t words_merge_wide(uint64_t *restrict active,
                                                   uint64_t *restrict next, uint64_t *restrict near,
                                                   size_t count)
{
    uint64_t busy = 0;
    for (size_t w = 0; w < count; w += ENGINE_WORDS)
        busy |= (words_merge_four(active + w, next + w, near ? near + w : NULL)
                 | words_merge_four(active + w + 4, next + w + 4, near ? near + w + 4 : NULL) << 4)
                << w;
    return busy;
}

WORDS_WIDE static inline bool words_any_wide(const uint64_t *words, size_t count)
{
    __m256i any = _mm256_setzero_si256();
    for (size_t w = 0; w < count; w += ENGINE_WORDS) {
        any = _mm256_or_si256(any, _mm256_load_si256((const void *)(words + w)));
        any = _mm256_or_si256(any, _mm256_load_si256((const void *)(words + w + 4)));
    }
    return !_mm256_testz_si256(any, any);
}

static inline bool words_are_wide(void)
{
    return __builtin_cpu_supports("avx2");
}
#else
#define WORDS_WIDE
#define words_merge_wide words_merge
#define words_any_wide   words_any

static inline bool words_are_wide(void)
{
    return false;
}
#endif
#endif
