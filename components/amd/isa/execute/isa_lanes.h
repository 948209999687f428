/* Moves bytes between 64 lanes' registers and memory of the host, a vector of lanes at a time. Used
 * for LDS (isa_lds.c) and by the functional executor (components/amd/functional).
 *
 * Each file that includes this header gets its own copy, compiled for the vectors of the file's
 * x86-64 level; all levels give the same bytes. A register is an array of 64 words at any address;
 * `exec` is the mask of active lanes and not 0. */
#ifndef HEDDLE_COMPONENTS_AMD_ISA_EXECUTE_ISA_LANES_H
#define HEDDLE_COMPONENTS_AMD_ISA_EXECUTE_ISA_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/likely.h"
#include "base/number.h"

#if defined __AVX2__
#include <immintrin.h>
#endif

/* ---- vectors ---- */

#if defined __AVX2__
enum { LANES_AT_ONCE = 8 };
#else
enum { LANES_AT_ONCE = 4 };
#endif
typedef uint32_t lanes_vector
    __attribute__((vector_size(LANES_AT_ONCE * 4), aligned(4), may_alias));

static ALWAYS_INLINE lanes_vector lanes_get(const uint32_t *from)
{
    return *(const lanes_vector *)(const void *)from;
}

static ALWAYS_INLINE void lanes_put(uint32_t *to, lanes_vector value)
{
    *(lanes_vector *)(void *)to = value;
}

/* A mask of LANES_AT_ONCE lanes from `lane` on: all ones in each active lane. */
static ALWAYS_INLINE lanes_vector lanes_active(uint64_t exec, unsigned lane)
{
    static const uint32_t bits[8] = {1, 2, 4, 8, 0x10, 0x20, 0x40, 0x80};
    const lanes_vector own = lanes_get(bits);
    lanes_vector all = (lanes_vector){0} + (uint32_t)(exec >> lane);
    return (lanes_vector)((all & own) == own);
}

static ALWAYS_INLINE bool lanes_are_zero(lanes_vector v)
{
#if defined __AVX2__
    return _mm256_testz_si256((__m256i)v, (__m256i)v);
#else
    uint64_t word[2];
    memcpy(word, &v, sizeof word);
    return !(word[0] | word[1]);
#endif
}

/* Sets the lanes of one register that exec names to the new value. */
static ALWAYS_INLINE void lanes_merge(uint32_t *to, unsigned lane, lanes_vector value,
                                      uint64_t exec)
{
    if (exec != UINT64_MAX) {
        lanes_vector active = lanes_active(exec, lane);
        value = (value & active) | (lanes_get(to + lane) & ~active);
    }
    lanes_put(to + lane, value);
}

/* ---- how the lanes' addresses lie ---- */

/* Active lanes lie at one distance from each other (`regular`), or their lowest and highest bound
 * them. Values are offsets from something that all lanes share. */
struct lanes_span {
    const uint32_t *offset; /* offset of each lane */
    uint32_t low, high;     /* lowest and highest of active lanes */
    uint32_t step;          /* if regular: from one lane to the next */
    uint32_t first;         /* active lane */
    bool is_regular;        /* then the first lane is the lowest */
};

/* True if each active lane has the value start + lane * step. */
static ALWAYS_INLINE bool lanes_are_regular(const uint32_t *value, uint32_t start, uint32_t step,
                                            uint64_t exec)
{
    static const uint32_t numbers[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    lanes_vector wrong = {0}, expected = lanes_get(numbers) * step + start;
    const lanes_vector stride = (lanes_vector){0} + step * LANES_AT_ONCE;
    if (exec == UINT64_MAX)
        for (unsigned lane = 0; lane < 64; lane += LANES_AT_ONCE, expected += stride)
            wrong |= lanes_get(value + lane) ^ expected;
    else
        for (unsigned lane = 0; lane < 64; lane += LANES_AT_ONCE, expected += stride)
            wrong |= (lanes_get(value + lane) ^ expected) & lanes_active(exec, lane);
    return lanes_are_zero(wrong);
}

/* Gives inactive lanes the value of an active lane. */
static ALWAYS_INLINE void lanes_find_bounds(struct lanes_span *s, uint64_t exec)
{
    uint32_t low = s->low, high = s->low, saved[64];
    const uint32_t *offset = s->offset;
    if (exec != UINT64_MAX) {
        const lanes_vector first = (lanes_vector){0} + low;
        for (unsigned lane = 0; lane < 64; lane += LANES_AT_ONCE) {
            lanes_vector active = lanes_active(exec, lane);
            lanes_put(saved + lane, (lanes_get(offset + lane) & active) | (first & ~active));
        }
        offset = saved;
    }
    for (unsigned lane = 0; lane < 64; lane++) {
        low = min(offset[lane], low);
        high = max(offset[lane], high);
    }
    s->low = low;
    s->high = high;
}

/* Two neighbours suggest the distance, one pass over the lanes confirms it. `usual`: the distance
 * to try where the first active lane has no active neighbour. */
static ALWAYS_INLINE struct lanes_span lanes_span_of(const uint32_t *offset, uint64_t exec,
                                                     uint32_t usual)
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
                           .is_regular = true};
    if (end > UINT32_MAX || offset[last] != end
        || !lanes_are_regular(offset, offset[first] - first * step, step, exec)) {
        s.is_regular = false;
        lanes_find_bounds(&s, exec);
    }
    return s;
}

/* ---- registers ---- */

static ALWAYS_INLINE void lanes_write(uint32_t *to, const uint32_t *from, uint64_t exec)
{
    for (unsigned lane = 0; lane < 64; lane += LANES_AT_ONCE)
        lanes_merge(to, lane, lanes_get(from + lane), exec);
}

/* Distances of LANES_AT_ONCE lanes from the first of them, if their dwords follow each other. */
static ALWAYS_INLINE lanes_vector lanes_row(void)
{
    static const uint32_t row[8] = {0, 4, 8, 12, 16, 20, 24, 28};
    return lanes_get(row);
}

/* lanes_gather() of all lanes, for as long as vectors of lanes have one address or dwords that
 * follow each other, as the rows of a tile have. Result: the first lane that is left. */
static ALWAYS_INLINE unsigned lanes_gather_rows(uint32_t *to, const char *host,
                                                const uint32_t *offset, uint32_t low)
{
    for (unsigned lane = 0; lane < 64; lane += LANES_AT_ONCE) {
        const char *from = host + (offset[lane] - low);
        lanes_vector apart = lanes_get(offset + lane) - offset[lane];
        uint32_t value;
        if (lanes_are_zero(apart ^ lanes_row())) {
            memcpy(to + lane, from, sizeof apart);
        } else if (lanes_are_zero(apart)) {
            memcpy(&value, from, sizeof value);
            lanes_put(to + lane, (lanes_vector){0} + value);
        } else {
            return lane;
        }
    }
    return 64;
}

/* The dwords at host + offset[lane] - low for active lanes; no offset is more than INT32_MAX above
 * `low`. */
static ALWAYS_INLINE void lanes_gather(uint32_t *to, const char *host, const uint32_t *offset,
                                       uint32_t low, uint64_t exec)
{
    unsigned done = exec == UINT64_MAX ? lanes_gather_rows(to, host, offset, low) : 0;
    if (done == 64)
        return;
#if defined __AVX2__
    const __m256i least = _mm256_set1_epi32((int)low);
    const int *base = (const int *)(const void *)host;
    for (unsigned lane = done; lane < 64; lane += 8) {
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
    for (uint64_t rest = exec >> done << done; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        memcpy(&to[lane], host + (offset[lane] - low), 4);
    }
#endif
}

/* ---- loads ---- */

/* The memory around an access that may be read, whatever lanes are active. */
struct lanes_memory {
    const char *begin, *end;
};

static ALWAYS_INLINE bool lanes_can_read(const struct lanes_memory *m, const char *from,
                                         size_t bytes)
{
    return from >= m->begin && from <= m->end && (size_t)(m->end - from) >= bytes;
}

static ALWAYS_INLINE uint32_t lanes_part(const char *from, unsigned bytes)
{
    uint16_t word;
    if (bytes == 1)
        return (uint8_t)*from;
    memcpy(&word, from, 2);
    return word;
}

/* Bits above the lowest `bytes` are anything. */
static ALWAYS_INLINE void lanes_get_parts(uint32_t part[64], const char *host,
                                          const struct lanes_span *s, unsigned bytes,
                                          const struct lanes_memory *m, uint64_t exec)
{
    if (s->is_regular && s->step == bytes && exec == UINT64_MAX) {
        if (bytes == 1)
            for (unsigned lane = 0; lane < 64; lane++)
                part[lane] = (uint8_t)host[lane];
        else
            for (unsigned lane = 0; lane < 64; lane++)
                part[lane] = lanes_part(host + 2 * lane, 2);
    } else if (lanes_can_read(m, host, (size_t)(s->high - s->low) + 4)) {
        lanes_gather(part, host, s->offset, s->low, exec);
    } else {
        for (uint64_t rest = exec; rest; rest &= rest - 1) {
            unsigned lane = (unsigned)__builtin_ctzll(rest);
            part[lane] = lanes_part(host + (s->offset[lane] - s->low), bytes);
        }
    }
}

static ALWAYS_INLINE void lanes_load_parts(uint32_t *to, const char *host,
                                           const struct lanes_span *s, unsigned bytes,
                                           bool is_signed, const struct lanes_memory *m,
                                           uint64_t exec)
{
    typedef int32_t signed_vector __attribute__((vector_size(LANES_AT_ONCE * 4)));
    uint32_t part[64];
    unsigned up = 32 - 8 * bytes;
    if (exec != UINT64_MAX)
        memset(part, 0, sizeof part); /* inactive lanes are computed with, too */
    lanes_get_parts(part, host, s, bytes, m, exec);
    for (unsigned lane = 0; lane < 64; lane += LANES_AT_ONCE) {
        lanes_vector wide = lanes_get(part + lane) << up;
        wide = is_signed ? (lanes_vector)((signed_vector)wide >> up) : wide >> up;
        lanes_merge(to, lane, wide, exec);
    }
}

/* A dword of each lane from host + shift + offset[lane], as lanes_gather_rows() takes them; `size`
 * bytes may be read from `host` on. False: nothing has been done. */
static ALWAYS_INLINE bool lanes_load_rows(uint32_t *to, const char *host, uint64_t size,
                                          uint64_t shift, const uint32_t *offset)
{
    uint32_t loaded[64];
    for (unsigned lane = 0; lane < 64; lane += LANES_AT_ONCE) {
        uint64_t at = shift + offset[lane];
        lanes_vector apart = lanes_get(offset + lane) - offset[lane];
        bool is_row = lanes_are_zero(apart ^ lanes_row());
        if ((!is_row && !lanes_are_zero(apart)) || at >= size
            || size - at < (is_row ? sizeof apart : 4))
            return false;
        if (is_row) {
            memcpy(loaded + lane, host + at, sizeof apart);
        } else {
            uint32_t value;
            memcpy(&value, host + at, sizeof value);
            lanes_put(loaded + lane, (lanes_vector){0} + value);
        }
    }
    memcpy(to, loaded, sizeof loaded);
    return true;
}

static ALWAYS_INLINE void lanes_load_uniform(uint32_t *to, const char *host, unsigned dwords,
                                             uint64_t exec)
{
    for (unsigned i = 0; i < dwords; i++, to += 64) {
        uint32_t value;
        memcpy(&value, host + 4 * i, 4);
        const lanes_vector all = (lanes_vector){0} + value;
        for (unsigned lane = 0; lane < 64; lane += LANES_AT_ONCE)
            lanes_merge(to, lane, all, exec);
    }
}

static ALWAYS_INLINE void lanes_load_scattered(uint32_t *to, const char *host,
                                               const struct lanes_span *s, unsigned dwords,
                                               uint64_t exec)
{
    uint32_t saved[64];
    const uint32_t *offset = s->offset;
    if (dwords > 1) { /* the first register that is written may be the address */
        memcpy(saved, offset, sizeof saved);
        offset = saved;
    }
    for (unsigned i = 0; i < dwords; i++)
        lanes_gather(to + 64 * i, host + 4 * i, offset, s->low, exec);
}

/* lanes_load(), where the compiler may know that all lanes are active. */
static ALWAYS_INLINE void lanes_load_under(uint32_t *to, const char *host,
                                           const struct lanes_span *s, unsigned bytes,
                                           bool is_signed, const struct lanes_memory *m,
                                           uint64_t exec)
{
    if (s->is_regular && s->step == 4 && bytes == 4) {
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

/* `bytes` (1, 2, 4, 8, 12, 16) of each active lane from host + offset - low to registers, 1 and 2
 * extended. All of these bytes lie in *m, and s->high - s->low is at most INT32_MAX. */
static ALWAYS_INLINE void lanes_load(uint32_t *to, const char *host, const struct lanes_span *s,
                                     unsigned bytes, bool is_signed, const struct lanes_memory *m,
                                     uint64_t exec)
{
    if (exec == UINT64_MAX)
        lanes_load_under(to, host, s, bytes, is_signed, m, UINT64_MAX);
    else
        lanes_load_under(to, host, s, bytes, is_signed, m, exec);
}

/* ---- stores ---- */

/* Dwords that follow each other, by runs of active lanes. */
static ALWAYS_INLINE void lanes_store_runs(char *host, const uint32_t *from, unsigned first,
                                           uint64_t exec)
{
    while (exec) {
        unsigned begin = (unsigned)__builtin_ctzll(exec);
        uint64_t others = ~(exec >> begin);
        unsigned count = others ? (unsigned)__builtin_ctzll(others) : 64;
        memcpy(host + (size_t)(begin - first) * 4, from + begin, (size_t)count * 4);
        exec = begin + count < 64 ? exec >> (begin + count) << (begin + count) : 0;
    }
}

static ALWAYS_INLINE void lanes_store_parts(char *host, const uint32_t *from,
                                            const struct lanes_span *s, unsigned bytes,
                                            uint64_t exec)
{
    for (uint64_t rest = exec; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        char *to = host + (s->offset[lane] - s->low);
        *to = (char)from[lane];
        if (bytes == 2)
            to[1] = (char)(from[lane] >> 8);
    }
}

/* Stores a dword of each lane, for as long as vectors of lanes have dwords that follow each other.
 * Result: the first lane that is left. */
static ALWAYS_INLINE unsigned lanes_scatter_rows(char *host, const uint32_t *from,
                                                 const struct lanes_span *s)
{
    for (unsigned lane = 0; lane < 64; lane += LANES_AT_ONCE) {
        const uint32_t first = s->offset[lane];
        if (!lanes_are_zero((lanes_get(s->offset + lane) - first) ^ lanes_row()))
            return lane;
        memcpy(host + (first - s->low), from + lane, LANES_AT_ONCE * 4);
    }
    return 64;
}

/* Low bytes of registers to host + offset - low, in ascending order of lanes: the highest wins. */
static ALWAYS_INLINE void lanes_store(char *host, const uint32_t *from, const struct lanes_span *s,
                                      unsigned bytes, uint64_t exec)
{
    if (s->is_regular && s->step == 4 && bytes == 4) {
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
        for (unsigned lane = lanes_scatter_rows(host, from, s); lane < 64; lane++)
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
