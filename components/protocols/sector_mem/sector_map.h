/* The place to which a line of sectors belongs: its slice of the memory side, its place inside of
 * that slice, and its set in a cache. Used by everything that speaks `sector_mem`, so that a
 * crossbar that spreads lines over slices and the slices that number their lines agree.
 *
 * A hash takes a number and gives one below a count. `count` numbers in a row, the first of which
 * is a multiple of it, have different values; so a hash spreads evenly whatever lies above, and a
 * slice numbers its lines by dividing by the count. For powers of two:
 *
 * - plain: the low bits;
 * - folded: exclusive or of all groups of bits (Gonzalez, Valero, Topham, Parcerisa, ICS 1997:
 *   XOR-based placement);
 * - polynomial: the number as a polynomial over GF(2), modulo an irreducible one (Rau, ISCA 1991:
 *   pseudo-randomly interleaved memory). No power-of-two stride camps on one value.
 *
 * For other counts the remainder is moved on, around, by a multiplicative hash of the quotient
 * (Knuth, The Art of Computer Programming, 6.4). */
#ifndef HEDDLE_COMPONENTS_PROTOCOLS_SECTOR_MEM_SECTOR_MAP_H
#define HEDDLE_COMPONENTS_PROTOCOLS_SECTOR_MEM_SECTOR_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"

#define SECTOR_BYTES     32u
#define SECTOR_LINE      128u
#define SECTOR_ALL       15u
#define SECTOR_HASH_BITS 12u

/* In the order of the enums of the descriptions. */
enum sector_hash_kind { SECTOR_HASH_PLAIN, SECTOR_HASH_FOLDED, SECTOR_HASH_POLYNOMIAL };

/* For each bit of the result, the bits of the number of which it is the parity. */
struct sector_hash {
    uint64_t rows[SECTOR_HASH_BITS];
    uint64_t count;
    uint32_t bits;
    uint16_t kind;
    bool is_power_of_two; /* the count is a power of two */
};

/* Irreducible polynomials over GF(2) of degree 0 .. 12: bit i is the coefficient of x^i. */
static inline uint32_t sector_polynomial(unsigned degree)
{
    static const uint16_t polynomials[SECTOR_HASH_BITS + 1] = {
        0x1, 0x3, 0x7, 0xb, 0x13, 0x25, 0x43, 0x83, 0x11b, 0x211, 0x409, 0x805, 0x1053};
    return polynomials[degree];
}

/* For `count` values, at most 2^SECTOR_HASH_BITS; any number for plain. */
static inline void sector_hash_init(struct sector_hash *h, int64_t kind, int64_t count)
{
    *h = (struct sector_hash){.count = (uint64_t)count, .kind = (uint16_t)kind};
    h->is_power_of_two = (count & (count - 1)) == 0;
    if (kind == SECTOR_HASH_PLAIN || !h->is_power_of_two)
        return;
    h->bits = (uint32_t)__builtin_ctzll((uint64_t)count);
    uint32_t power = 1; /* what bit i of the number stands for: x^i, or the bit it is folded to */
    for (unsigned i = 0; i < 64 && h->bits; i++) {
        for (unsigned row = 0; row < h->bits; row++)
            h->rows[row] |= (uint64_t)(power >> row & 1) << i;
        power <<= 1;
        if (power >> h->bits & 1)
            power ^=
                kind == SECTOR_HASH_POLYNOMIAL ? sector_polynomial(h->bits) : (1u << h->bits | 1);
    }
}

static inline uint32_t sector_hash(const struct sector_hash *h, uint64_t number)
{
    if (h->kind == SECTOR_HASH_PLAIN)
        return (uint32_t)(h->is_power_of_two ? number & (h->count - 1) : number % h->count);
    if (!h->is_power_of_two) {
        uint64_t turn = hash_multiply(number / h->count) >> 32;
        return (uint32_t)((number + (turn * h->count >> 32)) % h->count);
    }
    uint32_t value = 0;
    for (unsigned row = 0; row < h->bits; row++)
        value |= (uint32_t)__builtin_parityll(number & h->rows[row]) << row;
    return value;
}

/* The sectors of a request, by its kind: fields are in the order of their sizes. */
#define SECTOR_OF_REQUEST(m)                                                                       \
    (unsigned)(message_kind(m) == SECTOR_MEM_ATOMIC ? (m)->atomic.sectors : (m)->load.sectors)

/* Bytes of the sectors that a message carries, for components that pass it on and know no protocol:
 * where the mask is among the fields of each kind, or none. sector_cache.c holds it against the
 * protocol. */
static inline uint32_t sector_carried_bytes(const uint8_t *fields, unsigned kind, bool reply)
{
    enum { LOAD, STORE, ATOMIC, FILL, NONE = 255 };
    static const uint8_t requests[] = {[LOAD] = NONE, [STORE] = 8, [ATOMIC] = 12, [FILL] = NONE};
    static const uint8_t replies[] = {0, NONE}; /* data, done */
    uint8_t at = reply ? replies[kind] : requests[kind];
    return at == NONE ? 0 : SECTOR_BYTES * (uint32_t)__builtin_popcount(fields[at]);
}

/* The address with what chose one of `slices` taken out: what a slice calls its lines, and its
 * memory its places. Every `interleave` bytes (a power of two) the next slice. */
static inline uint64_t sector_local(uint64_t address, int64_t interleave, int64_t slices)
{
    uint64_t chunk = (uint64_t)interleave;
    return address / chunk / (uint64_t)slices * chunk + address % chunk;
}

#endif
