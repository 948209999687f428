/* Prepared loads and stores (components/isa/isa_ready.h) whose lanes lie in one window: addresses,
 * bounds and bytes without a struct isa_memory between. Included by access.c only.
 *
 * A lane's address is a 64-bit value that all active lanes share plus its own 32 bits. Either the
 * active lanes stand at one distance from each other (0: all read the same place; the size of an
 * access: one run of bytes), which two neighbours suggest and one pass over the lanes confirms; or
 * their lowest and highest bound them. What is neither (another window, addresses that differ in
 * their upper halves, apertures, which have no window) is left to the general way, which also finds
 * the faults. */
#ifndef HEDDLE_FUNCTIONAL_ACCESS_FAST_H
#define HEDDLE_FUNCTIONAL_ACCESS_FAST_H

#if defined __AVX2__
#include <immintrin.h>
#endif

#define INLINE static inline __attribute__((always_inline))

static const uint32_t lane_bits[32] __attribute__((aligned(64))) = {
    1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
    1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
    1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
    1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31};

struct span {
    uint64_t base;          /* that all active lanes share */
    uint32_t low, high;     /* lowest and highest part of an active lane */
    uint32_t step;          /* if regular: from one lane to the next */
    bool regular;
    unsigned first, last;   /* active lanes */
    const uint32_t *offset; /* of all lanes */
};

/* ---- vectors --------------------------------------------------------------------------------- */

#if defined __AVX512F__
#define VECTOR_LANES 16
#elif defined __AVX2__
#define VECTOR_LANES 8
#else
#define VECTOR_LANES 4
#endif
typedef uint32_t vector __attribute__((vector_size(VECTOR_LANES * 4), aligned(4), may_alias));

INLINE vector vector_of(const uint32_t *from)
{
    return *(const vector *)(const void *)from;
}

/* All ones for the active lanes of the VECTOR_LANES from `lane` on. */
INLINE vector active_lanes(uint64_t exec, unsigned lane)
{
    const vector own = vector_of(lane_bits);
    vector bits = (vector){0} + (uint32_t)(exec >> lane);
    return (vector)((bits & own) == own);
}

INLINE bool vector_is_zero(vector v)
{
    uint32_t word[VECTOR_LANES], any = 0;
    memcpy(word, &v, sizeof word);
    for (unsigned i = 0; i < VECTOR_LANES; i++)
        any |= word[i];
    return !any;
}

/* ---- the lanes' addresses -------------------------------------------------------------------- */

/* Has each active lane the value start + lane * step? */
INLINE bool is_regular(const uint32_t *value, uint32_t start, uint32_t step, uint64_t exec)
{
    static const uint32_t numbers[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    vector wrong = {0}, expected = vector_of(numbers) * step + start;
    const vector stride = (vector){0} + step * VECTOR_LANES;
    if (exec == UINT64_MAX) {
        for (unsigned lane = 0; lane < 64; lane += VECTOR_LANES, expected += stride)
            wrong |= vector_of(value + lane) ^ expected;
    } else {
        for (unsigned lane = 0; lane < 64; lane += VECTOR_LANES, expected += stride)
            wrong |= (vector_of(value + lane) ^ expected) & active_lanes(exec, lane);
    }
    return vector_is_zero(wrong);
}

static void find_bounds(struct span *s, uint64_t exec)
{
    vector low = (vector){0} + UINT32_MAX, high = {0};
    for (unsigned lane = 0; lane < 64; lane += VECTOR_LANES) {
        vector here = vector_of(s->offset + lane), active = active_lanes(exec, lane);
        vector for_low = here | ~active, for_high = here & active;
        vector is_lower = (vector)(for_low < low), is_higher = (vector)(for_high > high);
        low = (for_low & is_lower) | (low & ~is_lower);
        high = (for_high & is_higher) | (high & ~is_higher);
    }
    s->low = UINT32_MAX;
    s->high = 0;
    for (unsigned i = 0; i < VECTOR_LANES; i++) {
        s->low = low[i] < s->low ? low[i] : s->low;
        s->high = high[i] > s->high ? high[i] : s->high;
    }
}

/* exec is not 0. False: upper halves differ. */
INLINE bool find_span(const struct isa_context *context, const struct isa_wave *wave,
                      const struct isa_ready *ready, uint64_t exec, struct span *s)
{
    const uint32_t *offset = context->vgpr + ready->address;
    unsigned first = (unsigned)__builtin_ctzll(exec), last = 63 - (unsigned)__builtin_clzll(exec);
    s->first = first;
    s->last = last;
    s->offset = offset;
    if (ready->base != ISA_NO_OPERAND) {
        s->base = isa_wave_pair(wave, ready->base) + (uint64_t)ready->offset;
    } else {
        const uint32_t *upper = offset + 64;
        if (!is_regular(upper, upper[first], 0, exec))
            return false;
        s->base = ((uint64_t)upper[first] << 32) + (uint64_t)ready->offset;
    }
    bool pair = first < 63 && (exec >> first >> 1 & 1);
    s->step = pair ? offset[first + 1] - offset[first] : ready->bytes;
    uint64_t end = offset[first] + (uint64_t)(last - first) * s->step;
    s->regular = end <= UINT32_MAX
                 && is_regular(offset, offset[first] - first * s->step, s->step, exec);
    if (s->regular) {
        s->low = offset[first];
        s->high = (uint32_t)end;
    } else {
        find_bounds(s, exec);
    }
    return true;
}

/* ---- registers ------------------------------------------------------------------------------- */

INLINE void write_registers(uint32_t *to, const uint32_t *from, uint64_t exec)
{
    for (unsigned lane = 0; lane < 64; lane += VECTOR_LANES) {
        vector active = active_lanes(exec, lane);
        *(vector *)(void *)(to + lane) =
            (vector_of(from + lane) & active) | (vector_of(to + lane) & ~active);
    }
}

/* The dword at host + offset[lane] - low, for the active lanes; offsets are at most INT32_MAX above
 * `low`. */
INLINE void gather(uint32_t *to, const char *host, const uint32_t *offset, uint32_t low,
                   uint64_t exec)
{
#if defined __AVX2__
    const __m256i least = _mm256_set1_epi32((int)low);
    for (unsigned lane = 0; lane < 64; lane += 8) {
        __m256i place = _mm256_loadu_si256((const __m256i *)(const void *)(offset + lane));
        place = _mm256_sub_epi32(place, least);
        __m256i *out = (__m256i *)(void *)(to + lane);
        if (exec == UINT64_MAX) {
            _mm256_storeu_si256(out, _mm256_i32gather_epi32((const int *)(const void *)host, place, 1));
            continue;
        }
        const __m256i bits = _mm256_set_epi32(128, 64, 32, 16, 8, 4, 2, 1);
        __m256i mask = _mm256_set1_epi32((int)(exec >> lane & 255));
        mask = _mm256_cmpeq_epi32(_mm256_and_si256(mask, bits), bits);
        _mm256_storeu_si256(out, _mm256_mask_i32gather_epi32(_mm256_loadu_si256(out),
                                                             (const int *)(const void *)host, place,
                                                             mask, 1));
    }
#else
    for (uint64_t rest = exec; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        memcpy(&to[lane], host + (offset[lane] - low), 4);
    }
#endif
}

/* ---- loads ----------------------------------------------------------------------------------- */

INLINE uint32_t load_part(const char *from, unsigned bytes, bool is_signed)
{
    if (bytes == 1)
        return is_signed ? (uint32_t)(int32_t)(signed char)*from : (uint8_t)*from;
    uint16_t word;
    memcpy(&word, from, 2);
    return is_signed ? (uint32_t)(int32_t)(int16_t)word : word;
}

/* Bytes and words, `host` is of offset s->low. */
INLINE void load_parts(uint32_t *to, const char *host, const struct span *s, unsigned bytes,
                       bool is_signed, uint64_t exec)
{
    if (s->regular && s->step == bytes && exec == UINT64_MAX) {
        for (unsigned lane = 0; lane < 64; lane++)
            to[lane] = load_part(host + (size_t)lane * bytes, bytes, is_signed);
        return;
    }
    for (uint64_t rest = exec; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        to[lane] = load_part(host + (s->offset[lane] - s->low), bytes, is_signed);
    }
}

static void load_uniform(uint32_t *to, const char *host, unsigned dwords, uint64_t exec)
{
    for (unsigned i = 0; i < dwords; i++, to += 64) {
        uint32_t value;
        memcpy(&value, host + 4 * i, 4);
        for (unsigned lane = 0; lane < 64; lane += VECTOR_LANES) {
            vector active = active_lanes(exec, lane);
            *(vector *)(void *)(to + lane) = (active & value) | (vector_of(to + lane) & ~active);
        }
    }
}

static void load_gathered(uint32_t *to, const char *host, const struct span *s, unsigned dwords,
                          uint64_t exec)
{
    uint32_t kept[64];
    const uint32_t *offset = s->offset;
    if (dwords > 1) { /* the first register that is written may be the address */
        memcpy(kept, offset, sizeof kept);
        offset = kept;
    }
    for (unsigned i = 0; i < dwords; i++)
        gather(to + 64 * i, host + 4 * i, offset, s->low, exec);
}

/* ---- stores ---------------------------------------------------------------------------------- */

/* Dwords that follow each other, by runs of active lanes. */
static void store_runs(char *host, const uint32_t *from, unsigned first, uint64_t exec)
{
    while (exec) {
        unsigned begin = (unsigned)__builtin_ctzll(exec);
        uint64_t others = ~(exec >> begin);
        unsigned count = others ? (unsigned)__builtin_ctzll(others) : 64;
        memcpy(host + (size_t)(begin - first) * 4, from + begin, (size_t)count * 4);
        exec = begin + count < 64 ? exec >> (begin + count) << (begin + count) : 0;
    }
}

INLINE void store_part(char *to, uint32_t value, unsigned bytes)
{
    *to = (char)value;
    if (bytes == 2)
        to[1] = (char)(value >> 8);
}

static void store_parts(char *host, const uint32_t *from, const struct span *s, unsigned bytes,
                        uint64_t exec)
{
    if (s->regular && s->step == bytes && exec == UINT64_MAX) {
        uint16_t words[64];
        uint8_t octets[64];
        for (unsigned lane = 0; lane < 64; lane++) {
            words[lane] = (uint16_t)from[lane];
            octets[lane] = (uint8_t)from[lane];
        }
        memcpy(host, bytes == 1 ? (const void *)octets : words, 64 * (size_t)bytes);
        return;
    }
    for (uint64_t rest = exec; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        store_part(host + (s->offset[lane] - s->low), from[lane], bytes);
    }
}

/* In ascending order of lanes: the highest wins. */
static void store_scattered(char *host, const uint32_t *from, const struct span *s, unsigned dwords,
                            uint64_t exec)
{
    if (exec == UINT64_MAX && dwords == 1) {
        for (unsigned lane = 0; lane < 64; lane++)
            memcpy(host + (s->offset[lane] - s->low), &from[lane], 4);
        return;
    }
    for (uint64_t rest = exec; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        char *to = host + (s->offset[lane] - s->low);
        for (unsigned i = 0; i < dwords; i++)
            memcpy(to + 4 * i, &from[64 * i + lane], 4);
    }
}

/* ---- instructions ---------------------------------------------------------------------------- */

/* Does the window hold the run of all 64 lanes, active or not? *host: of lane 0. */
static bool whole_run(const struct window *w, const struct span *s, char **host)
{
    uint64_t start = s->base + s->low - (uint64_t)s->first * 4;
    *host = (char *)((uintptr_t)w->host + (start - w->start));
    return window_holds(w, start, 256);
}

INLINE void move_span(uint32_t *registers, const struct window *w, const struct span *s,
                      const struct isa_ready *ready, uint64_t exec)
{
    char *host = w->host + (s->base + s->low - w->start), *run;
    unsigned bytes = ready->bytes, dwords = bytes / 4;
    bool linear = s->regular && s->step == bytes && bytes == 4;
    if (ready->memory == ISA_READY_STORE) {
        if (linear && exec == UINT64_MAX)
            memcpy(host, registers, 256);
        else if (linear)
            store_runs(host, registers, s->first, exec);
        else if (bytes < 4)
            store_parts(host, registers, s, bytes, exec);
        else
            store_scattered(host, registers, s, dwords, exec);
    } else if (linear && exec == UINT64_MAX) {
        memcpy(registers, host, 256);
    } else if (linear && whole_run(w, s, &run)) {
        uint32_t loaded[64];
        memcpy(loaded, run, sizeof loaded);
        write_registers(registers, loaded, exec);
    } else if (bytes < 4) {
        load_parts(registers, host, s, bytes, ready->memory == ISA_READY_LOAD_SIGNED, exec);
    } else if (s->low == s->high) {
        load_uniform(registers, host, dwords, exec);
    } else {
        load_gathered(registers, host, s, dwords, exec);
    }
}

/* False: nothing has been done. */
INLINE bool access_fast_vector(struct window_table *t, struct isa_context *context,
                               struct isa_wave *wave, const struct isa_ready *ready, uint8_t *hint)
{
    struct span s;
    uint64_t exec = isa_wave_exec(wave);
    if (ready->memory == ISA_READY_OTHER || !exec || !find_span(context, wave, ready, exec, &s)
        || s.high - s.low > INT32_MAX)
        return false;
    const struct window *w =
        window_of(t, s.base + s.low, (uint64_t)(s.high - s.low) + ready->bytes, hint);
    if (!w)
        return false;
    move_span(context->vgpr + ready->data, w, &s, ready, exec);
    return true;
}

INLINE bool access_fast_scalar(struct window_table *t, struct isa_wave *wave,
                               const struct isa_ready *ready, uint8_t *hint)
{
    if (ready->memory != ISA_READY_SCALAR_LOAD)
        return false;
    uint64_t address = (isa_wave_pair(wave, ready->base) & ~UINT64_C(3)) + (uint64_t)ready->offset;
    uint64_t bytes = 4u * ready->dwords;
    const struct window *w = window_of(t, address, bytes, hint);
    if (!w)
        return false;
    const char *from = w->host + (address - w->start);
    uint32_t *to = &wave->sgpr[ready->dst];
    for (unsigned i = 0; i < ready->dwords; i++)
        memcpy(&to[i], from + 4 * i, 4);
    return true;
}

#endif
