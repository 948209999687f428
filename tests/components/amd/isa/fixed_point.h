/* Numbers in fixed point, wide enough for any product of two f64, and their rounding: an oracle for
 * floating-point arithmetic that uses none.
 *
 * A value is a two's complement integer of FIXED_WORDS times 2^FIXED_LSB. Those who need only what
 * products of two f32 need set `fixed_words` to FIXED_NARROW: then the lowest words are left out.
 */
#ifndef HEDDLE_TESTS_COMPONENTS_AMD_ISA_FIXED_POINT_H
#define HEDDLE_TESTS_COMPONENTS_AMD_ISA_FIXED_POINT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { FIXED_WORDS = 68, FIXED_NARROW = 11 };

struct fixed {
    uint64_t word[FIXED_WORDS]; /* low first */
};

static unsigned fixed_words = FIXED_WORDS;

/* Weight of the lowest bit: the middle of the range is 1. */
static inline int fixed_lsb(void)
{
    return -(int)fixed_words * 32;
}

/* (-1)^sign * significand * 2^exponent; no bit may be below the lowest. */
static inline struct fixed fixed_make(bool sign, unsigned __int128 significand, int exponent)
{
    struct fixed x;
    memset(x.word, 0, 8 * fixed_words);
    if (!significand)
        return x;
    unsigned at = (unsigned)(exponent - fixed_lsb()), shift = at % 64, word = at / 64;
    uint64_t low = (uint64_t)significand, high = (uint64_t)(significand >> 64);
    x.word[word] = low << shift;
    x.word[word + 1] = high << shift | (shift ? low >> (64 - shift) : 0);
    if (word + 2 < fixed_words)
        x.word[word + 2] = shift ? high >> (64 - shift) : 0;
    if (sign) {
        bool carry = true;
        for (unsigned i = 0; i < fixed_words; i++) {
            x.word[i] = ~x.word[i] + carry;
            carry = carry && !x.word[i];
        }
    }
    return x;
}

static inline void fixed_add(struct fixed *x, const struct fixed *y)
{
    unsigned carry = 0;
    for (unsigned i = 0; i < fixed_words; i++) {
        unsigned __int128 sum = (unsigned __int128)x->word[i] + y->word[i] + carry;
        x->word[i] = (uint64_t)sum;
        carry = (unsigned)(sum >> 64);
    }
}

/* Toward minus infinity, to a multiple of 2^exponent. */
static inline void fixed_floor(struct fixed *x, int exponent)
{
    int below = exponent - fixed_lsb();
    for (unsigned i = 0; below > 0 && i < fixed_words; i++, below -= 64)
        x->word[i] = below >= 64 ? 0 : x->word[i] >> below << below;
}

static inline bool fixed_is_negative(const struct fixed *x)
{
    return x->word[fixed_words - 1] >> 63;
}

/* The nearest (ties to even) f64, f32, f16 or bf16 as bits, +0 for 0: `fraction` bits, and
 * `least`, the exponent of the smallest normal number, which is also -bias + 1. */
static inline uint64_t fixed_round(const struct fixed *from, int fraction, int least)
{
    struct fixed x = *from;
    bool sign = fixed_is_negative(&x), carry = sign;
    for (unsigned i = 0; sign && i < fixed_words; i++) {
        x.word[i] = ~x.word[i] + carry;
        carry = carry && !x.word[i];
    }
    int top = (int)fixed_words * 64 - 1;
    while (top >= 0 && !(x.word[top / 64] >> top % 64 & 1))
        top -= top % 64 == 63 && !x.word[top / 64] ? 64 : 1;
    bool wide = fraction == 52, single = fraction == 23;
    uint64_t signs = (uint64_t)sign << (wide ? 63 : single ? 31 : 15);
    if (top < 0)
        return signs;
    int exponent = top + fixed_lsb();
    int unit = (exponent < least ? least : exponent) - fraction; /* weight of the last bit kept */
    uint64_t kept = 0;
    int place = unit - fixed_lsb();
    for (int i = 0; i <= fraction; i++)
        if (place + i <= top && place + i >= 0)
            kept |= (x.word[(place + i) / 64] >> (place + i) % 64 & 1) << i;
    bool half = place > 0 && (x.word[(place - 1) / 64] >> (place - 1) % 64 & 1), below = false;
    for (int i = 0; i < (place - 1) / 64 && place > 1; i++)
        below |= x.word[i] != 0;
    if (place > 1 && (place - 1) % 64)
        below |= x.word[(place - 1) / 64] << (64 - (place - 1) % 64) != 0;
    kept += half && (below || (kept & 1));
    if (exponent >= least) /* the leading bit adds one to the exponent's field */
        kept += (uint64_t)(exponent - least) << fraction;
    uint64_t infinite = (uint64_t)(3 - 2 * least) << fraction; /* the field above the largest */
    return signs | (kept > infinite ? infinite : kept);
}

#endif
