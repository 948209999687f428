/* See vectors.h. */
#include "vectors.h"

#include <stdlib.h>

uint64_t vectors_of_a_row(uint64_t usual)
{
    const char *asked = getenv("HEDDLE_WARP_VECTORS");
    uint64_t n = asked ? strtoull(asked, NULL, 10) : usual;
    return (n + 255) / 256 * 256;
}

static uint64_t state = 0x123456789abcdef;
uint64_t random_bits(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

unsigned bits_of_type(const char *type)
{
    return (unsigned)atoi(type + 1);
}

uint64_t operand(const char *type)
{
    static const uint64_t edges[] = {0, 1, 2, 31, 32, 33, 63, 64, 127, 128, 255, 0x7fff, 0x8000};
    static const uint64_t halves[] = {0x0000, 0x8000, 0x0001, 0x03ff, 0x0400, 0x7bff, 0x7c00,
                                      0xfc00, 0x7e00, 0x3c00, 0x3bff, 0x3f80, 0x7f80, 0x0080};
    static const uint64_t floats[] = {0,          0x80000000, 1,          0x007fffff, 0x00800000,
                                      0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x3f800000,
                                      0xbf800000, 0x4f000000, 0xcf000000, 0x4b000001, 0x3f000000};
    static const uint64_t doubles[] = {0,
                                       0x8000000000000000,
                                       1,
                                       0x000fffffffffffff,
                                       0x0010000000000000,
                                       0x7fefffffffffffff,
                                       0x7ff0000000000000,
                                       0xfff0000000000000,
                                       0x7ff8000000000000,
                                       0x3ff0000000000000,
                                       0x43e0000000000000,
                                       0xc3e0000000000000,
                                       0x3fe0000000000000,
                                       0x36a0000000000000,
                                       0x47efffffe0000000,
                                       0x3f10000000000001};
    unsigned bits = bits_of_type(type);
    uint64_t mask = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1, r = random_bits();
#define PICK(list) list[(r >> 8) % (sizeof list / sizeof *list)]
    switch (r % 8) {
    case 0:
        return PICK(edges) & mask;
    case 1:
        return (0 - PICK(edges)) & mask;
    case 2:
        return (bits == 16 ? PICK(halves) : bits == 32 ? PICK(floats) : PICK(doubles)) & mask;
    case 3: { /* floats of middling size */
        uint64_t u = random_bits() & mask;
        return bits == 32   ? (u & 0x87ffffff) | 0x38000000
               : bits == 64 ? (u & 0x80ffffffffffffff) | 0x3f00000000000000
                            : (u & 0x87ff) | 0x3800;
    }
    case 4:
        return (random_bits() >> random_bits() % 64) & mask;
    default:
        return random_bits() & mask;
    }
#undef PICK
}
