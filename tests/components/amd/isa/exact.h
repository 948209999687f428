/*
 * exact.h - numbers in fixed point, wide enough for any product of two f64, and their rounding: an
 * oracle for floating-point arithmetic that uses none.
 *
 * A value is a two's complement integer of EXACT_WORDS times 2^EXACT_LSB. Those who need only what
 * products of two f32 need set `exact_words` to EXACT_NARROW: then the lowest words are left out.
 */
#ifndef HEDDLE_TEST_EXACT_H
#define HEDDLE_TEST_EXACT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { EXACT_WORDS = 68, EXACT_NARROW = 11 };

struct exact {
    uint64_t word[EXACT_WORDS]; /* low first */
};

static unsigned exact_words = EXACT_WORDS;

/* Weight of the lowest bit: the middle of the range is 1. */
static inline int exact_lsb(void)
{
    return -(int)exact_words * 32;
}

/* (-1)^sign * significand * 2^exponent; no bit may be below the lowest. */
static inline struct exact exact_make(bool sign, unsigned __int128 significand, int exponent)
{
    struct exact x;
    memset(x.word, 0, 8 * exact_words);
    if (!significand)
        return x;
    unsigned at = (unsigned)(exponent - exact_lsb()), shift = at % 64, word = at / 64;
    uint64_t low = (uint64_t)significand, high = (uint64_t)(significand >> 64);
    x.word[word] = low << shift;
    x.word[word + 1] = high << shift | (shift ? low >> (64 - shift) : 0);
    if (word + 2 < exact_words)
        x.word[word + 2] = shift ? high >> (64 - shift) : 0;
    if (sign) {
        bool carry = true;
        for (unsigned i = 0; i < exact_words; i++) {
            x.word[i] = ~x.word[i] + carry;
            carry = carry && !x.word[i];
        }
    }
    return x;
}

static inline void exact_add(struct exact *x, const struct exact *y)
{
    unsigned carry = 0;
    for (unsigned i = 0; i < exact_words; i++) {
        unsigned __int128 sum = (unsigned __int128)x->word[i] + y->word[i] + carry;
        x->word[i] = (uint64_t)sum;
        carry = (unsigned)(sum >> 64);
    }
}

/* Toward minus infinity, to a multiple of 2^exponent. */
static inline void exact_floor(struct exact *x, int exponent)
{
    int below = exponent - exact_lsb();
    for (unsigned i = 0; below > 0 && i < exact_words; i++, below -= 64)
        x->word[i] = below >= 64 ? 0 : x->word[i] >> below << below;
}

static inline bool exact_is_negative(const struct exact *x)
{
    return x->word[exact_words - 1] >> 63;
}

/* The nearest (ties to even) f32 or f64 as bits, +0 for 0: `fraction` bits of a significand, and
 * `least`, the exponent of the smallest normal number, which is also -bias + 1. */
static inline uint64_t exact_round(const struct exact *from, int fraction, int least)
{
    struct exact x = *from;
    bool sign = exact_is_negative(&x), carry = sign;
    for (unsigned i = 0; sign && i < exact_words; i++) {
        x.word[i] = ~x.word[i] + carry;
        carry = carry && !x.word[i];
    }
    int top = (int)exact_words * 64 - 1;
    while (top >= 0 && !(x.word[top / 64] >> top % 64 & 1))
        top -= top % 64 == 63 && !x.word[top / 64] ? 64 : 1;
    uint64_t signs = (uint64_t)sign << (fraction == 23 ? 31 : 63);
    if (top < 0)
        return signs;
    int exponent = top + exact_lsb();
    int unit = (exponent < least ? least : exponent) - fraction; /* weight of the last bit kept */
    uint64_t kept = 0;
    int place = unit - exact_lsb();
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
    uint64_t infinite = fraction == 23 ? UINT64_C(0x7f800000) : UINT64_C(0x7ff0000000000000);
    return signs | (kept > infinite ? infinite : kept);
}

#endif
