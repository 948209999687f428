/* Exact integers, and scalar operands, of the models of scalar and vector instructions.
 *
 * Types are letters: w 32, h 16, q 64 bits unsigned; W H Q signed; m n o raw floats of 32, 16, 64.
 */
#ifndef HEDDLE_TESTS_COMPONENTS_AMD_ISA_EXACT_H
#define HEDDLE_TESTS_COMPONENTS_AMD_ISA_EXACT_H

#include "rows.h"

__extension__ typedef __int128 wide;

/* ---- exact arithmetic ---- */

static inline wide power(unsigned n)
{
    return (wide)1 << n;
}

/* Rounded down. */
static inline wide quotient(wide x, unsigned bits)
{
    wide below = x & (power(bits) - 1);
    return (x - below) / power(bits);
}

static inline unsigned bit_of(uint64_t x, unsigned i)
{
    return i < 64 ? (unsigned)(x >> i & 1) : 0;
}

static inline wide part(uint64_t x, unsigned from, unsigned width)
{
    return (wide)(from < 64 ? x >> from : 0) & (power(width) - 1);
}

static inline wide signed_part(uint64_t x, unsigned from, unsigned width)
{
    wide out = part(x, from, width);
    return width && bit_of(x, from + width - 1) ? out - power(width) : out;
}

static inline wide reversed(uint64_t x, unsigned width)
{
    wide out = 0;
    for (unsigned i = 0; i < width; i++)
        out = 2 * out + bit_of(x, i);
    return out;
}

/* How many bits lie above the highest that is `wanted`; all ones where none is. */
static inline wide from_top(uint64_t x, unsigned width, unsigned wanted)
{
    for (unsigned i = 0; i < width; i++)
        if (bit_of(x, width - 1 - i) == wanted)
            return i;
    return -1;
}

static inline wide from_bottom(uint64_t x, unsigned width, unsigned wanted)
{
    for (unsigned i = 0; i < width; i++)
        if (bit_of(x, i) == wanted)
            return i;
    return -1;
}

static inline wide ones_below(uint64_t x, unsigned width)
{
    wide out = 0;
    for (unsigned i = 0; i < width; i++)
        out += bit_of(x, i);
    return out;
}

/* Bit 4 a + 2 b + c of `table` for each three bits. */
static inline wide bitwise(uint64_t a, uint64_t b, uint64_t c, unsigned table)
{
    wide out = 0;
    for (unsigned i = 64; i-- > 0;)
        out = 2 * out + (table >> (4 * (a >> i & 1) + 2 * (b >> i & 1) + (c >> i & 1)) & 1);
    return out;
}

static inline wide within(wide x, wide low, wide high)
{
    return x < low ? low : x > high ? high : x;
}

/* The smallest, middle or largest. */
static inline wide ordered(wide a, wide b, wide c, unsigned place)
{
    wide x[3] = {a, b, c};
    for (unsigned i = 0; i < 3; i++)
        for (unsigned j = i + 1; j < 3; j++)
            if (x[j] < x[i]) {
                wide swap = x[i];
                x[i] = x[j];
                x[j] = swap;
            }
    return x[place];
}

static inline bool exact_is_wide(char type)
{
    return type == 'q' || type == 'Q' || type == 'o';
}

static inline unsigned exact_width(char type)
{
    return exact_is_wide(type) ? 64 : strchr("hHn", type) ? 16 : 32;
}

static inline wide exact_typed(uint64_t value, char type)
{
    return strchr("WHQ", type) ? signed_part(value, 0, exact_width(type)) : (wide)value;
}

/* The nearest value that the type holds. */
static inline wide exact_limit(wide value, char type)
{
    unsigned width = exact_width(type);
    return strchr("WHQ", type) ? within(value, -power(width - 1), power(width - 1) - 1)
                               : within(value, 0, power(width) - 1);
}

/* ---- scalar operands ---- */

static inline uint64_t inline_float(unsigned code, unsigned width)
{
    /* 0.5, 1, 2, 4 by their exponents, then 1 / 2 pi as each format rounds it. */
    static const uint64_t tenth[3] = {0x3118, 0x3e22f983, UINT64_C(0x3fc45f306dc9c882)};
    unsigned format = width == 16 ? 0 : width == 32 ? 1 : 2;
    static const unsigned mantissa[3] = {10, 23, 52}, bias[3] = {15, 127, 1023};
    if (code == 248)
        return tenth[format];
    uint64_t exponent = bias[format] - 1 + (code - 240) / 2;
    return (exponent << mantissa[format]) + ((uint64_t)(code % 2) << (width - 1));
}

static inline uint64_t special_value(const struct rows_machine *m, unsigned code, bool pair)
{
    uint64_t base = code < 237 ? m->ctx.shared_aperture : m->ctx.private_aperture;
    uint64_t value = code == 235 || code == 237   ? base
                     : code == 236 || code == 238 ? base + 0xffffffff
                                                  : 0;
    return pair ? value : (uint64_t)quotient((wide)value, 32);
}

/* A scalar source as a type reads it: registers, inline constants, a literal, apertures. */
static inline uint64_t exact_scalar(const struct rows_machine *m, unsigned code, char type,
                                    uint32_t literal)
{
    unsigned width = exact_width(type);
    if (code < 128)
        return m->wave.sgpr[code]
               + (width == 64 ? (uint64_t)(m->wave.sgpr[code + 1] * power(32)) : 0);
    if (code <= 192)
        return code - 128;
    if (code <= 208)
        return (uint64_t)0 - (code - 192);
    if (code >= 240 && code <= 248)
        return inline_float(code, width);
    switch (code) {
    case 251:
        return isa_wave_vcc(&m->wave) == 0;
    case 252:
        return isa_wave_exec(&m->wave) == 0;
    case 253:
        return m->wave.scc;
    case 255: /* of 64 bits: the upper half of a float, or extended */
        return type == 'o'   ? (uint64_t)(literal * power(32))
               : type == 'Q' ? (uint64_t)signed_part(literal, 0, 32)
                             : literal;
    default:
        return special_value(m, code, width == 64);
    }
}

#endif
