/*
 * isa_lanes.h - bytes between 64 lanes' registers and memory of the host, a vector of lanes at a
 * time. Used for LDS (isa_lds.c) and by the functional executor (components/functional).
 *
 * Each file that includes this gets its own copy, with vectors as wide as the x86-64 level has that
 * it is compiled for; all levels give the same bytes. A register is an array of 64 words at any
 * address; `exec` is the mask of active lanes and not 0.
 */
#ifndef HEDDLE_ISA_LANES_H
#define HEDDLE_ISA_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined __AVX2__
#include <immintrin.h>
#endif

#define LANES_INLINE static inline __attribute__((always_inline, unused))

/* ---- vectors --------------------------------------------------------------------------------- */

#if defined __AVX512F__
enum { LANES_AT_ONCE = 16 };
#elif defined __AVX2__
enum { LANES_AT_ONCE = 8 };
#else
enum { LANES_AT_ONCE = 4 };
#endif
typedef uint32_t lanes_vector
    __attribute__((vector_size(LANES_AT_ONCE * 4), aligned(4), may_alias));

LANES_INLINE lanes_vector lanes_get(const uint32_t *from)
{
    return *(const lanes_vector *)(const void *)from;
}

LANES_INLINE void lanes_put(uint32_t *to, lanes_vector value)
{
    *(lanes_vector *)(void *)to = value;
}

/* All ones for those active of the LANES_AT_ONCE lanes from `lane` on. */
LANES_INLINE lanes_vector lanes_active(uint64_t exec, unsigned lane)
{
    static const uint32_t bits[16] = {1,     2,     4,      8,      0x10,   0x20,   0x40,   0x80,
                                      0x100, 0x200, 0x400,  0x800,  0x1000, 0x2000, 0x4000, 0x8000};
    const lanes_vector own = lanes_get(bits);
    lanes_vector all = (lanes_vector){0} + (uint32_t)(exec >> lane);
    return (lanes_vector)((all & own) == own);
}

LANES_INLINE bool lanes_are_zero(lanes_vector v)
{
    uint64_t word[LANES_AT_ONCE / 2], any = 0;
    memcpy(word, &v, sizeof word);
    for (unsigned i = 0; i < LANES_AT_ONCE / 2; i++)
        any |= word[i];
    return !any;
}

/* ---- how the lanes' addresses lie ------------------------------------------------------------ */

/* Active lanes stand at one distance from each other (`regular`), or their lowest and highest bound
 * them. Values are offsets from something that all lanes share. */
struct lanes_span {
    const uint32_t *offset; /* of each lane */
    uint32_t low, high;     /* of an active lane */
    uint32_t step;          /* if regular: from one lane to the next */
    uint32_t first;         /* active lane */
    bool regular;           /* then the first lane is the lowest */
};

/* Has each active lane the value start + lane * step? */
LANES_INLINE bool lanes_are_regular(const uint32_t *value, uint32_t start, uint32_t step,
                                    uint64_t exec)
{
    static const uint32_t numbers[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    lanes_vector wrong = {0}, expected = lanes_get(numbers) * step + start;
    const lanes_vector stride = (lanes_vector){0} + step * LANES_AT_ONCE;
    if (exec == UINT64_MAX) {
        for (unsigned lane = 0; lane < 64; lane += LANES_AT_ONCE, expected += stride)
            wrong |= lanes_get(value + lane) ^ expected;
    } else {
        for (unsigned lane = 0; lane < 64; lane += LANES_AT_ONCE, expected += stride)
            wrong |= (lanes_get(value + lane) ^ expected) & lanes_active(exec, lane);
    }
    return lanes_are_zero(wrong);
}

LANES_INLINE void lanes_find_bounds(struct lanes_span *s, uint64_t exec)
{
    lanes_vector low = (lanes_vector){0} + UINT32_MAX, high = {0};
    for (unsigned lane = 0; lane < 64; lane += LANES_AT_ONCE) {
        lanes_vector here = lanes_get(s->offset + lane), active = lanes_active(exec, lane);
        lanes_vector for_low = here | ~active, for_high = here & active;
        lanes_vector lower = (lanes_vector)(for_low < low), higher = (lanes_vector)(for_high > high);
        low = (for_low & lower) | (low & ~lower);
        high = (for_high & higher) | (high & ~higher);
    }
    s->low = UINT32_MAX;
    s->high = 0;
    for (unsigned i = 0; i < LANES_AT_ONCE; i++) {
        s->low = low[i] < s->low ? low[i] : s->low;
        s->high = high[i] > s->high ? high[i] : s->high;
    }
}

/* Two neighbours suggest the distance, one pass over the lanes confirms it. `usual`: the distance
 * to try where the first active lane has no active neighbour. */
LANES_INLINE struct lanes_span lanes_span_of(const uint32_t *offset, uint64_t exec, uint32_t usual)
{
    unsigned first = (unsigned)__builtin_ctzll(exec), last = 63 - (unsigned)__builtin_clzll(exec);
    bool pair = first < 63 && (exec >> first >> 1 & 1);
    uint32_t step = pair ? offset[first + 1] - offset[first] : usual;
    uint64_t end = offset[first] + (uint64_t)(last - first) * step;
    struct lanes_span s = {.offset = offset,
                           .low = offset[first],
                           .high = (uint32_t)end,
                           .step = step,
                           .first = first,
                           .regular = true};
    if (end > UINT32_MAX || !lanes_are_regular(offset, offset[first] - first * step, step, exec)) {
        s.regular = false;
        lanes_find_bounds(&s, exec);
    }
    return s;
}

/* ---- registers ------------------------------------------------------------------------------- */

LANES_INLINE void lanes_write(uint32_t *to, const uint32_t *from, uint64_t exec)
{
    for (unsigned lane = 0; lane < 64; lane += LANES_AT_ONCE) {
        lanes_vector active = lanes_active(exec, lane);
        lanes_put(to + lane, (lanes_get(from + lane) & active) | (lanes_get(to + lane) & ~active));
    }
}

/* The dwords at host + offset[lane] - low for active lanes; no offset is more than INT32_MAX above
 * `low`. */
LANES_INLINE void lanes_gather(uint32_t *to, const char *host, const uint32_t *offset, uint32_t low,
                               uint64_t exec)
{
#if defined __AVX2__
    const __m256i least = _mm256_set1_epi32((int)low);
    const int *base = (const int *)(const void *)host;
    for (unsigned lane = 0; lane < 64; lane += 8) {
        __m256i place = _mm256_loadu_si256((const __m256i *)(const void *)(offset + lane));
        __m256i *out = (__m256i *)(void *)(to + lane);
        place = _mm256_sub_epi32(place, least);
        if (exec == UINT64_MAX) {
            _mm256_storeu_si256(out, _mm256_i32gather_epi32(base, place, 1));
            continue;
        }
        const __m256i bits = _mm256_set_epi32(128, 64, 32, 16, 8, 4, 2, 1);
        __m256i mask = _mm256_set1_epi32((int)(exec >> lane & 255));
        mask = _mm256_cmpeq_epi32(_mm256_and_si256(mask, bits), bits);
        _mm256_storeu_si256(
            out, _mm256_mask_i32gather_epi32(_mm256_loadu_si256(out), base, place, mask, 1));
    }
#else
    for (uint64_t rest = exec; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        memcpy(&to[lane], host + (offset[lane] - low), 4);
    }
#endif
}

/* ---- loads ----------------------------------------------------------------------------------- */

/* The memory around an access that may be read, whatever lanes are active. */
struct lanes_memory {
    const char *begin, *end;
};

LANES_INLINE bool lanes_can_read(const struct lanes_memory *m, const char *from, size_t bytes)
{
    return from >= m->begin && from <= m->end && (size_t)(m->end - from) >= bytes;
}

LANES_INLINE uint32_t lanes_part(const char *from, unsigned bytes, bool is_signed)
{
    if (bytes == 1)
        return is_signed ? (uint32_t)(int32_t)(signed char)*from : (uint8_t)*from;
    uint16_t word;
    memcpy(&word, from, 2);
    return is_signed ? (uint32_t)(int32_t)(int16_t)word : word;
}

LANES_INLINE void lanes_load_parts(uint32_t *to, const char *host, const struct lanes_span *s,
                                   unsigned bytes, bool is_signed, const struct lanes_memory *m,
                                   uint64_t exec)
{
    uint32_t part[64] = {0};
    if (s->regular && s->step == bytes && exec == UINT64_MAX) {
        if (bytes == 1)
            for (unsigned lane = 0; lane < 64; lane++)
                part[lane] = (uint8_t)host[lane];
        else
            for (unsigned lane = 0; lane < 64; lane++)
                part[lane] = lanes_part(host + 2 * lane, 2, false);
    } else if (s->high - s->low <= INT32_MAX
               && lanes_can_read(m, host, (size_t)(s->high - s->low) + 4)) {
        lanes_gather(part, host, s->offset, s->low, exec);
    } else {
        for (uint64_t rest = exec; rest; rest &= rest - 1) {
            unsigned lane = (unsigned)__builtin_ctzll(rest);
            part[lane] = lanes_part(host + (s->offset[lane] - s->low), bytes, false);
        }
    }
    unsigned up = 32 - 8 * bytes;
    for (unsigned lane = 0; lane < 64; lane += LANES_AT_ONCE) {
        lanes_vector active = lanes_active(exec, lane), wide = lanes_get(part + lane) << up;
        typedef int32_t signed_vector __attribute__((vector_size(LANES_AT_ONCE * 4)));
        wide = is_signed ? (lanes_vector)((signed_vector)wide >> up) : wide >> up;
        lanes_put(to + lane, (wide & active) | (lanes_get(to + lane) & ~active));
    }
}

LANES_INLINE void lanes_load_uniform(uint32_t *to, const char *host, unsigned dwords, uint64_t exec)
{
    for (unsigned i = 0; i < dwords; i++, to += 64) {
        uint32_t value;
        memcpy(&value, host + 4 * i, 4);
        const lanes_vector all = (lanes_vector){0} + value;
        for (unsigned lane = 0; lane < 64; lane += LANES_AT_ONCE) {
            if (exec == UINT64_MAX) {
                lanes_put(to + lane, all);
                continue;
            }
            lanes_vector active = lanes_active(exec, lane);
            lanes_put(to + lane, (all & active) | (lanes_get(to + lane) & ~active));
        }
    }
}

LANES_INLINE void lanes_load_scattered(uint32_t *to, const char *host, const struct lanes_span *s,
                                       unsigned dwords, uint64_t exec)
{
    uint32_t kept[64];
    const uint32_t *offset = s->offset;
    if (dwords > 1) { /* the first register that is written may be the address */
        memcpy(kept, offset, sizeof kept);
        offset = kept;
    }
    for (unsigned i = 0; i < dwords; i++)
        lanes_gather(to + 64 * i, host + 4 * i, offset, s->low, exec);
}

/* `bytes` (1, 2, 4, 8, 12, 16) of each active lane from host + offset - low to registers, 1 and 2
 * extended. All of these bytes lie in *m, and s->high - s->low is at most INT32_MAX. */
LANES_INLINE void lanes_load(uint32_t *to, const char *host, const struct lanes_span *s,
                             unsigned bytes, bool is_signed, const struct lanes_memory *m,
                             uint64_t exec)
{
    if (s->regular && s->step == 4 && bytes == 4) {
        uint32_t loaded[64];
        const char *run = (const char *)((uintptr_t)host - (size_t)s->first * 4);
        if (exec == UINT64_MAX) {
            memcpy(to, host, sizeof loaded);
            return;
        }
        if (lanes_can_read(m, run, sizeof loaded)) {
            memcpy(loaded, run, sizeof loaded);
            lanes_write(to, loaded, exec);
            return;
        }
    }
    if (bytes < 4)
        lanes_load_parts(to, host, s, bytes, is_signed, m, exec);
    else if (s->low == s->high)
        lanes_load_uniform(to, host, bytes / 4, exec);
    else
        lanes_load_scattered(to, host, s, bytes / 4, exec);
}

/* ---- stores ---------------------------------------------------------------------------------- */

/* Dwords that follow each other, by runs of active lanes. */
LANES_INLINE void lanes_store_runs(char *host, const uint32_t *from, unsigned first, uint64_t exec)
{
    while (exec) {
        unsigned begin = (unsigned)__builtin_ctzll(exec);
        uint64_t others = ~(exec >> begin);
        unsigned count = others ? (unsigned)__builtin_ctzll(others) : 64;
        memcpy(host + (size_t)(begin - first) * 4, from + begin, (size_t)count * 4);
        exec = begin + count < 64 ? exec >> (begin + count) << (begin + count) : 0;
    }
}

LANES_INLINE void lanes_store_parts(char *host, const uint32_t *from, const struct lanes_span *s,
                                    unsigned bytes, uint64_t exec)
{
    for (uint64_t rest = exec; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        char *to = host + (s->offset[lane] - s->low);
        *to = (char)from[lane];
        if (bytes == 2)
            to[1] = (char)(from[lane] >> 8);
    }
}

/* Low bytes of registers to host + offset - low, in ascending order of lanes: the highest wins. */
LANES_INLINE void lanes_store(char *host, const uint32_t *from, const struct lanes_span *s,
                              unsigned bytes, uint64_t exec)
{
    if (s->regular && s->step == 4 && bytes == 4) {
        if (exec == UINT64_MAX)
            memcpy(host, from, 256);
        else
            lanes_store_runs(host, from, s->first, exec);
        return;
    }
    if (bytes < 4) {
        lanes_store_parts(host, from, s, bytes, exec);
        return;
    }
    if (exec == UINT64_MAX && bytes == 4) {
        for (unsigned lane = 0; lane < 64; lane++)
            memcpy(host + (s->offset[lane] - s->low), &from[lane], 4);
        return;
    }
    for (uint64_t rest = exec; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        char *to = host + (s->offset[lane] - s->low);
        for (unsigned i = 0; i < bytes / 4; i++)
            memcpy(to + 4 * i, &from[64 * i + lane], 4);
    }
}

#endif
