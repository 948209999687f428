/* Formats of images, and what the specification says of their elements, in doubles. */
#ifndef HEDDLE_TESTS_OPENCL_IMAGE_MODEL_H
#define HEDDLE_TESTS_OPENCL_IMAGE_MODEL_H

#include <math.h>

#include "opencl_check.h"

struct order {
    cl_channel_order name;
    int components;
    const char *letters; /* of the components in memory; X: all channels */
    double opaque;       /* the fourth channel of the border */
};
static const struct order orders[] = {
    {CL_R, 1, "r", 1},         {CL_Rx, 1, "r", 0},      {CL_A, 1, "a", 0},
    {CL_RG, 2, "rg", 1},       {CL_RGx, 2, "rg", 0},    {CL_RA, 2, "ra", 0},
    {CL_RGB, 3, "rgb", 1},     {CL_RGBx, 3, "rgb", 0},  {CL_RGBA, 4, "rgba", 0},
    {CL_BGRA, 4, "bgra", 0},   {CL_ARGB, 4, "argb", 0}, {CL_INTENSITY, 1, "X", 0},
    {CL_LUMINANCE, 1, "L", 1},
};

struct type {
    cl_channel_type name;
    char letter; /* normalized, signed normalized, packed, integer, unsigned, float */
    int bits;
};
static const struct type types[] = {
    {CL_SNORM_INT8, 's', 8},        {CL_SNORM_INT16, 's', 16},     {CL_UNORM_INT8, 'n', 8},
    {CL_UNORM_INT16, 'n', 16},      {CL_UNORM_SHORT_565, 'p', 16}, {CL_UNORM_SHORT_555, 'p', 16},
    {CL_UNORM_INT_101010, 'p', 32}, {CL_SIGNED_INT8, 'i', 8},      {CL_SIGNED_INT16, 'i', 16},
    {CL_SIGNED_INT32, 'i', 32},     {CL_UNSIGNED_INT8, 'u', 8},    {CL_UNSIGNED_INT16, 'u', 16},
    {CL_UNSIGNED_INT32, 'u', 32},   {CL_HALF_FLOAT, 'f', 16},      {CL_FLOAT, 'f', 32},
};

struct format {
    const struct order *order;
    const struct type *type;
    size_t bytes;
};

/* False: the test does not know it. */
static inline int find_format(const cl_image_format *wanted, struct format *format)
{
    *format = (struct format){0};
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++)
        if (orders[i].name == wanted->image_channel_order)
            format->order = &orders[i];
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (types[i].name == wanted->image_channel_data_type)
            format->type = &types[i];
    if (!format->order || !format->type)
        return 0;
    int bits = format->type->bits;
    format->bytes =
        (size_t)(format->type->letter == 'p' ? bits : bits * format->order->components) / 8;
    return 1;
}

static inline int is_integer(const struct format *format)
{
    return format->type->letter == 'i' || format->type->letter == 'u';
}

/* Bits of the components of packed formats. */
static inline int packed_bits(const struct type *type, int component)
{
    return type->bits == 32 ? 10 : type->name == CL_UNORM_SHORT_565 && component == 1 ? 6 : 5;
}

static inline uint32_t raw_component(const struct format *format, const uint8_t *element, int i)
{
    uint32_t whole = 0;
    const struct type *type = format->type;
    if (type->letter != 'p') {
        memcpy(&whole, element + i * type->bits / 8, (size_t)type->bits / 8);
        return whole;
    }
    int below = 0;
    memcpy(&whole, element, (size_t)type->bits / 8);
    for (int j = i + 1; j < 3; j++)
        below += packed_bits(type, j);
    return whole >> below & ((1u << packed_bits(type, i)) - 1);
}

static inline double half_value(uint32_t bits)
{
    int exponent = (int)(bits >> 10 & 31), fraction = (int)(bits & 1023);
    double value = exponent == 0    ? ldexp(fraction, -24)
                   : exponent == 31 ? (fraction ? NAN : INFINITY)
                                    : ldexp(1024 + fraction, exponent - 25);
    return bits & 0x8000 ? -value : value;
}

static inline double component_value(const struct format *format, uint32_t raw, int i)
{
    int bits = format->type->bits;
    double wide = raw, most = ldexp(1, bits) - 1;
    float real;
    switch (format->type->letter) {
    case 'p':
        return raw / (double)((1u << packed_bits(format->type, i)) - 1);
    case 'n':
        return wide / most;
    case 'u':
        return wide;
    case 'f':
        memcpy(&real, &raw, sizeof real);
        return bits == 16 ? half_value(raw) : (double)real;
    default:
        wide -= raw >> (bits - 1) ? most + 1 : 0;
        return format->type->letter == 'i' ? wide : fmax(-1, wide / floor(most / 2));
    }
}

/* The colour that kernels get of an element. */
static inline void decode(const struct format *format, const uint8_t *element, double colour[4])
{
    static const char channels[] = "rgba";
    colour[0] = colour[1] = colour[2] = 0;
    colour[3] = 1;
    for (int i = 0; i < format->order->components; i++) {
        double value = component_value(format, raw_component(format, element, i), i);
        char letter = format->order->letters[i];
        for (int c = 0; c < 4; c++)
            if (channels[c] == letter || letter == 'X' || (letter == 'L' && c < 3))
                colour[c] = value;
    }
}

static inline int is_near(double got, double wanted, double limit)
{
    return (isnan(got) && isnan(wanted)) || got == wanted || fabs(got - wanted) <= limit;
}

static inline double value_of(const struct format *format, uint32_t bits)
{
    float real;
    memcpy(&real, &bits, sizeof real);
    return format->type->letter == 'i' ? (int32_t)bits : is_integer(format) ? bits : (double)real;
}

#endif
