/* Reach of the lanes' addresses of a memory instruction, all lanes at once. Compiled once for each
 * x86-64 level (ISA_VARIANT is the suffix); isa_execute.c chooses. */
#include "base/number.h"

#include "isa_valu.h"

#if defined __AVX2__
#include <immintrin.h>
#else
#include <string.h>

#include "base/likely.h"
#endif

#define PASTE2(a, b) a##b
#define PASTE(a, b)  PASTE2(a, b)
#define VARIANT(f)   PASTE(f, ISA_VARIANT)

/* The lowest and the highest of the addresses. */
static void bounds_of_all(const uint64_t *address, uint64_t *low, uint64_t *high)
{
#if defined __AVX2__ /* which compares signed numbers only */
    const __m256i sign = _mm256_set1_epi64x(INT64_MIN);
    const __m256i *from = (const __m256i *)(const void *)address;
    __m256i least = _mm256_xor_si256(_mm256_loadu_si256(from), sign), most = least;
    for (unsigned i = 1; i < ISA_LANES / 4; i++) {
        __m256i some = _mm256_xor_si256(_mm256_loadu_si256(from + i), sign);
        least = _mm256_blendv_epi8(least, some, _mm256_cmpgt_epi64(least, some));
        most = _mm256_blendv_epi8(most, some, _mm256_cmpgt_epi64(some, most));
    }
    uint64_t ends[2][4];
    _mm256_storeu_si256((__m256i *)ends[0], _mm256_xor_si256(least, sign));
    _mm256_storeu_si256((__m256i *)ends[1], _mm256_xor_si256(most, sign));
    *low = ends[0][0];
    *high = ends[1][0];
    for (unsigned i = 1; i < 4; i++) {
        *low = min(ends[0][i], *low);
        *high = max(ends[1][i], *high);
    }
#else
    uint64_t least = address[0], most = address[0];
    for (unsigned lane = 0; lane < ISA_LANES; lane++) {
        least = min(address[lane], least);
        most = max(address[lane], most);
    }
    *low = least;
    *high = most;
#endif
}

/* The reach under a full mask, written so that the compiler vectorises it. The ends of a linear
 * access follow from its beginning. */
static void reach_of_all(const uint64_t *address, uint64_t start, unsigned bytes,
                         struct isa_reach *out)
{
    uint64_t room = ISA_REACH_LINE - bytes, wrong = 0, crossing = 0;
    for (unsigned lane = 0; lane < ISA_LANES; lane++) {
        uint64_t a = address[lane];
        wrong |= a ^ (start + (uint64_t)lane * bytes);
        crossing |= room - (a & (ISA_REACH_LINE - 1));
    }
    uint64_t last = start + (uint64_t)(ISA_LANES - 1) * bytes;
    *out = (struct isa_reach){start, last, start, !wrong, !(crossing >> 63)};
    if (wrong || last < start)
        bounds_of_all(address, &out->low, &out->high);
}

/* The lowest and the highest address of active lanes; the others count as `some`, which is
 * active. */
static void bounds_of_some(const uint64_t *address, uint64_t mask, uint64_t some, uint64_t *low,
                           uint64_t *high)
{
    uint64_t active[ISA_LANES];
    for (uint64_t lane = 0; lane < ISA_LANES; lane++)
        active[lane] = some ^ ((address[lane] ^ some) & -(mask >> lane & 1));
    bounds_of_all(active, low, high);
}

/* The reach of active lanes. The ends of a linear access are its first and its last lane. */
static void reach_of_some(const uint64_t *address, uint64_t mask, unsigned bytes,
                          struct isa_reach *out)
{
    unsigned first = (unsigned)__builtin_ctzll(mask), end = ISA_LANES - 1;
    uint64_t low = address[first], high = address[end - (unsigned)__builtin_clzll(mask)];
    uint64_t start = low - (uint64_t)first * bytes;
    uint64_t room = ISA_REACH_LINE - bytes, wrong = 0, crossing = 0;
    for (uint64_t lane = 0; lane < ISA_LANES; lane++) {
        uint64_t a = address[lane], active = -(mask >> lane & 1);
        wrong |= (a ^ (start + lane * bytes)) & active;
        crossing |= (room - (a & (ISA_REACH_LINE - 1))) & active;
    }
    *out = (struct isa_reach){low, high, start, !wrong, !(crossing >> 63)};
    if (wrong || high < low)
        bounds_of_some(address, mask, low, &out->low, &out->high);
}

void VARIANT(isa_memory_reach_)(const struct isa_memory *m, struct isa_reach *out)
{
    if (m->mask == UINT64_MAX)
        reach_of_all(m->address, m->address[0], m->bytes, out);
    else
        reach_of_some(m->address, m->mask, m->bytes, out);
}

void VARIANT(isa_memory_flat_)(const uint32_t *low, const uint32_t *high, uint64_t base,
                               uint64_t *address)
{
    if (high)
        for (unsigned lane = 0; lane < ISA_LANES; lane++)
            address[lane] = ((uint64_t)low[lane] | (uint64_t)high[lane] << 32) + base;
    else
        for (unsigned lane = 0; lane < ISA_LANES; lane++)
            address[lane] = base + low[lane];
}

static ALWAYS_INLINE void spans_of(const uint32_t *address, unsigned lanes, uint32_t *dwords)
{
    for (unsigned group = 0; group < ISA_LANES / lanes; group++) {
        uint32_t low = UINT32_MAX, high = 0;
        for (unsigned lane = 0; lane < lanes; lane++) {
            uint32_t a = address[group * lanes + lane];
            low = min(a, low);
            high = max(a, high);
        }
        dwords[group] = high / 4 - low / 4;
    }
}

void VARIANT(isa_lds_spans_)(const uint32_t *address, unsigned lanes, uint32_t *dwords)
{
    if (lanes == 32)
        spans_of(address, 32, dwords);
    else if (lanes == 16)
        spans_of(address, 16, dwords);
    else
        spans_of(address, 8, dwords);
}

_Static_assert(ISA_REACH_LINE == 1 << 6, "isa_memory_breaks() shifts addresses by that");
uint64_t VARIANT(isa_memory_breaks_)(const uint64_t *address)
{
    uint64_t breaks = 0;
#if defined __AVX2__
    for (unsigned next = 1; next < ISA_LANES; next += 4) {
        unsigned lane = min(next, ISA_LANES - 4); /* the last four twice */
        __m256i own = _mm256_loadu_si256((const __m256i *)(const void *)(address + lane));
        __m256i before = _mm256_loadu_si256((const __m256i *)(const void *)(address + lane - 1));
        __m256i other = _mm256_srli_epi64(_mm256_xor_si256(own, before), 6);
        __m256d same = _mm256_castsi256_pd(_mm256_cmpeq_epi64(other, _mm256_setzero_si256()));
        breaks |= (uint64_t)((unsigned)_mm256_movemask_pd(same) ^ 15u) << lane;
    }
#else
    for (unsigned lane = 1; lane < ISA_LANES; lane++)
        breaks |= (uint64_t)((address[lane] ^ address[lane - 1]) >= ISA_REACH_LINE) << lane;
#endif
    return breaks | 1;
}

void VARIANT(isa_memory_offsets_)(const uint64_t *address, uint8_t *offset)
{
    for (unsigned lane = 0; lane < ISA_LANES; lane++)
        offset[lane] = (uint8_t)(address[lane] % ISA_REACH_LINE);
}

bool VARIANT(isa_memory_words_)(const uint32_t *words, uint32_t one, uint32_t other)
{
    uint32_t found = 0;
    for (unsigned lane = 0; lane < ISA_LANES; lane++)
        found |= (words[lane] == one ? 1u : 0u) | (words[lane] == other ? 1u : 0u);
    return found;
}

#if defined __AVX2__
/* The dwords at byte offsets `at`, all multiples of 4, of a line. Two permutations take less time
 * than a gather, above all on processors that guard gathers (Intel, "Gather Data Sampling"). */
static inline __m256i pick_dwords(const uint8_t *line, __m256i at)
{
    __m256 low = _mm256_loadu_ps((const float *)(const void *)line);
    __m256 high = _mm256_loadu_ps((const float *)(const void *)(line + 32));
    __m256i dword = _mm256_srli_epi32(at, 2), in_high = _mm256_slli_epi32(at, 26);
    return _mm256_castps_si256(_mm256_blendv_ps(_mm256_permutevar8x32_ps(low, dword),
                                                _mm256_permutevar8x32_ps(high, dword),
                                                _mm256_castsi256_ps(in_high)));
}
#endif

void VARIANT(isa_memory_pick_)(const uint8_t *offset, uint64_t lanes, const uint8_t *line,
                               uint8_t *to)
{
#if defined __AVX2__
    const __m256i bit = _mm256_set_epi32(128, 64, 32, 16, 8, 4, 2, 1);
    for (unsigned lane = 0; lane < ISA_LANES; lane += 8) {
        unsigned group = lanes >> lane & 0xff;
        if (!group)
            continue;
        __m256i some = _mm256_and_si256(_mm256_set1_epi32((int)group), bit);
        some = _mm256_cmpeq_epi32(some, bit);
        __m256i at = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(offset + lane)));
        __m256i from = _mm256_testz_si256(_mm256_and_si256(at, some), _mm256_set1_epi32(3))
                           ? pick_dwords(line, at)
                           : _mm256_mask_i32gather_epi32(at, (const int *)line, at, some, 1);
        _mm256_maskstore_epi32((int *)(to + (size_t)lane * 4), some, from);
    }
#else
    for (; lanes; lanes &= lanes - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(lanes);
        memcpy(to + (size_t)lane * 4, line + offset[lane], 4);
    }
#endif
}
