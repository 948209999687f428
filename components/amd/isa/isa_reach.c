/*
 * isa_reach.c - how the lanes' addresses of a memory instruction lie, all lanes at once.
 * Compiled once for each x86-64 level (ISA_VARIANT is the suffix); isa_execute.c chooses.
 */
#include "isa_valu.h"

#define PASTE2(a, b) a##b
#define PASTE(a, b)  PASTE2(a, b)
#define VARIANT(f)   PASTE(f, ISA_VARIANT)

/* Of a full mask; so written that the compiler makes vectors of it. */
static void reach_of_all(const uint64_t *address, uint64_t start, unsigned bytes,
                         struct isa_reach *out)
{
    uint64_t room = ISA_REACH_LINE - bytes, wrong = 0, crossing = 0, low = start, high = start;
    for (unsigned lane = 0; lane < ISA_LANES; lane++) {
        uint64_t a = address[lane];
        wrong |= a ^ (start + (uint64_t)lane * bytes);
        crossing |= room - (a & (ISA_REACH_LINE - 1));
        low = a < low ? a : low;
        high = a > high ? a : high;
    }
    *out = (struct isa_reach){low, high, start, !wrong, !(crossing >> 63)};
}

/* Lanes that are not active stand for the first one that is. */
static void reach_of_some(const uint64_t *address, uint64_t mask, unsigned bytes,
                          struct isa_reach *out)
{
    unsigned first = (unsigned)__builtin_ctzll(mask);
    uint64_t some = address[first], start = some - (uint64_t)first * bytes;
    uint64_t room = ISA_REACH_LINE - bytes, wrong = 0, crossing = 0, low = some, high = some;
    for (unsigned lane = 0; lane < ISA_LANES; lane++) {
        uint64_t active = -(mask >> lane & 1), a = some ^ ((address[lane] ^ some) & active);
        wrong |= (a ^ (start + (uint64_t)lane * bytes)) & active;
        crossing |= room - (a & (ISA_REACH_LINE - 1));
        low = a < low ? a : low;
        high = a > high ? a : high;
    }
    *out = (struct isa_reach){low, high, start, !wrong, !(crossing >> 63)};
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

static inline __attribute__((always_inline)) void spans_of(const uint32_t *address, unsigned lanes,
                                                           uint32_t *dwords)
{
    for (unsigned group = 0; group < ISA_LANES / lanes; group++) {
        uint32_t low = UINT32_MAX, high = 0;
        for (unsigned lane = 0; lane < lanes; lane++) {
            uint32_t a = address[group * lanes + lane];
            low = a < low ? a : low;
            high = a > high ? a : high;
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
