/* Conversions between the elements of typed buffers and the values of registers. */
#include "isa_buffer_format.h"

#include <string.h>

#include "base/number.h"

#include "isa_math.h"

enum number {
    NUMBER_UNORM,
    NUMBER_SNORM,
    NUMBER_USCALED,
    NUMBER_SSCALED,
    NUMBER_UINT,
    NUMBER_SINT,
    NUMBER_RESERVED,
    NUMBER_FLOAT
};

enum { FORMATS = 16 };

/* Bits of the components, the lowest first. The manuals' names begin with the highest. */
static const uint8_t widths[FORMATS][4] = {[1] = {8},
                                           [2] = {16},
                                           [3] = {8, 8},
                                           [4] = {32},
                                           [5] = {16, 16},
                                           [6] = {11, 11, 10},
                                           [7] = {10, 11, 11},
                                           [8] = {2, 10, 10, 10},
                                           [9] = {10, 10, 10, 2},
                                           [10] = {8, 8, 8, 8},
                                           [11] = {32, 32},
                                           [12] = {16, 16, 16, 16},
                                           [13] = {32, 32, 32},
                                           [14] = {32, 32, 32, 32}};

static bool has_floats(unsigned width)
{
    return width == 10 || width == 11 || width == 16 || width == 32;
}

unsigned isa_buffer_format_bytes(unsigned data, unsigned number)
{
    const uint8_t *width = widths[data & (FORMATS - 1)];
    unsigned bits = width[0] + width[1] + width[2] + width[3];
    bool four_tens = width[3] == 10 || width[3] == 2;
    if (number == NUMBER_RESERVED
        || (number == NUMBER_FLOAT && (!has_floats(width[0]) || four_tens)))
        return 0;
    return bits / 8;
}

bool isa_buffer_is_integer(unsigned number)
{
    return number == NUMBER_UINT || number == NUMBER_SINT;
}

uint32_t isa_buffer_one(unsigned number)
{
    return isa_buffer_is_integer(number) ? 1 : bits_f32(1.0f);
}

static uint32_t mask_of(unsigned width)
{
    return width == 32 ? UINT32_MAX : (1u << width) - 1;
}

static int32_t signed_of(uint32_t field, unsigned width)
{
    return (int32_t)(field << (32 - width)) >> (32 - width);
}

/* Floats of 10 and 11 bits have five bits of exponent, as those of 16, and no sign: they are halves
 * that have lost their lowest bits. */
static uint32_t unpack_float(uint32_t field, unsigned width)
{
    return width == 32 ? field : bits_f32(f32_f16(width == 16 ? field : field << (15 - width)));
}

static uint32_t unpack_component(uint32_t field, unsigned width, unsigned number)
{
    double limit = (double)(mask_of(width) >> (number == NUMBER_SNORM));
    switch (number) {
    case NUMBER_UNORM:
        return bits_f32((float)((double)field / limit));
    case NUMBER_SNORM: {
        double value = (double)signed_of(field, width) / limit;
        return bits_f32((float)max(-1.0, value));
    }
    case NUMBER_USCALED:
        return bits_f32((float)field);
    case NUMBER_SSCALED:
        return bits_f32((float)signed_of(field, width));
    case NUMBER_SINT:
        return (uint32_t)signed_of(field, width);
    case NUMBER_FLOAT:
        return unpack_float(field, width);
    default:
        return field;
    }
}

static double limited(double x, double least, double most)
{
    return x > least ? min(x, most) : least; /* NaN: least */
}

/* Converts to half and then to the remaining bits, rounding once, to nearest even. */
static uint32_t pack_float(uint32_t bits, unsigned width)
{
    if (width == 32)
        return bits;
    float x = f32_bits(bits);
    if (width == 16)
        return x != x ? f16_nan(x) : f16_f32(x);
    unsigned mantissa = width - 5;
    if (x != x)
        return mask_of(width);
    if (!(x > 0.0f))
        return 0;
    int32_t exponent = (int32_t)(bits >> 23) - 127;
    int32_t least = max(-14, exponent);
    double unit = power_of_two(least - (int32_t)mantissa), steps = __builtin_rint((double)x / unit);
    if ((double)x >= 0x1p17)
        return 31u << mantissa;
    uint32_t below = (uint32_t)(least + 14) << mantissa; /* what the exponent before it ends with */
    uint32_t value = below + (uint32_t)steps;
    return min(value, 31u << mantissa);
}

static uint32_t pack_component(uint32_t value, unsigned width, unsigned number)
{
    uint32_t most = mask_of(width), half = most >> 1;
    double x = (double)f32_bits(value), low = -(double)half - 1.0;
    int32_t whole = (int32_t)value;
    x = x != x ? 0.0 : x;
    switch (number) {
    case NUMBER_UNORM:
        return (uint32_t)__builtin_rint(limited(x, 0.0, 1.0) * (double)most);
    case NUMBER_SNORM:
        return (uint32_t)(int32_t)__builtin_rint(limited(x, -1.0, 1.0) * (double)half) & most;
    case NUMBER_USCALED:
        return (uint32_t)limited(x, 0.0, (double)most);
    case NUMBER_SSCALED:
        return (uint32_t)(int32_t)limited(x, low, (double)half) & most;
    case NUMBER_UINT:
        return min(value, most);
    case NUMBER_SINT:
        return (uint32_t)max(-(int32_t)half - 1, min(whole, (int32_t)half)) & most;
    default:
        return pack_float(value, width);
    }
}

/* The 32 bits at most from bit `bit` of the element on. */
static uint32_t get_bits(const uint8_t *bytes, unsigned bit, unsigned width)
{
    uint64_t value = 0;
    memcpy(&value, bytes + bit / 8, divide_up(bit % 8 + width, 8));
    return (uint32_t)(value >> bit % 8) & mask_of(width);
}

static void put_bits(uint8_t *bytes, unsigned bit, unsigned width, uint32_t field)
{
    uint64_t value = 0;
    unsigned touched = divide_up(bit % 8 + width, 8);
    memcpy(&value, bytes + bit / 8, touched);
    value |= (uint64_t)field << bit % 8;
    memcpy(bytes + bit / 8, &value, touched);
}

void isa_buffer_unpack(unsigned data, unsigned number, const void *bytes, uint32_t component[4])
{
    const uint8_t *width = widths[data & (FORMATS - 1)];
    unsigned bit = 0;
    for (unsigned i = 0; i < 4; bit += width[i++]) {
        component[i] = i == 3 ? isa_buffer_one(number) : 0;
        if (width[i])
            component[i] = unpack_component(get_bits(bytes, bit, width[i]), width[i], number);
    }
}

void isa_buffer_pack(unsigned data, unsigned number, const uint32_t component[4], void *bytes)
{
    const uint8_t *width = widths[data & (FORMATS - 1)];
    unsigned bit = 0;
    memset(bytes, 0, isa_buffer_format_bytes(data, number));
    for (unsigned i = 0; i < 4 && width[i]; bit += width[i++])
        put_bits(bytes, bit, width[i], pack_component(component[i], width[i], number));
}
