/* Formats of images: the tables of "Image format descriptor" in the specification, and colours as
 * its "Conversion rules" write them. */
#include <math.h>
#include <string.h>

#include "base/number.h"

#include "opencl_image.h"

enum { ZERO = 4, ONE = 5, NO = 4 };

static const struct opencl_channel_order orders[] = {
    {CL_R, 1, 1, {0, ZERO, ZERO, ONE}, {0, NO, NO, NO}, true},
    {CL_Rx, 2, 1, {0, ZERO, ZERO, ONE}, {0, NO, NO, NO}, false},
    {CL_A, 0, 1, {ZERO, ZERO, ZERO, 0}, {3, NO, NO, NO}, false},
    {CL_INTENSITY, 16, 1, {0, 0, 0, 0}, {0, NO, NO, NO}, false},
    {CL_LUMINANCE, 17, 1, {0, 0, 0, ONE}, {0, NO, NO, NO}, true},
    {CL_RG, 3, 2, {0, 1, ZERO, ONE}, {0, 1, NO, NO}, true},
    {CL_RGx, 4, 2, {0, 1, ZERO, ONE}, {0, 1, NO, NO}, false},
    {CL_RA, 5, 2, {0, ZERO, ZERO, 1}, {0, 3, NO, NO}, false},
    {CL_RGB, 6, 3, {0, 1, 2, ONE}, {0, 1, 2, NO}, true},
    {CL_RGBx, 7, 3, {0, 1, 2, ONE}, {0, 1, 2, NO}, false},
    {CL_RGBA, 8, 4, {0, 1, 2, 3}, {0, 1, 2, 3}, false},
    {CL_BGRA, 9, 4, {2, 1, 0, 3}, {2, 1, 0, 3}, false},
    {CL_ARGB, 10, 4, {1, 2, 3, 0}, {3, 0, 1, 2}, false},
};

static const struct opencl_channel_type types[] = {
    {CL_SNORM_INT8, 0, 1, false, false},      {CL_SNORM_INT16, 1, 2, false, false},
    {CL_UNORM_INT8, 2, 1, false, false},      {CL_UNORM_INT16, 3, 2, false, false},
    {CL_UNORM_SHORT_555, 5, 2, true, false},  {CL_UNORM_SHORT_565, 6, 2, true, false},
    {CL_UNORM_INT_101010, 7, 4, true, false}, {CL_SIGNED_INT8, 8, 1, false, true},
    {CL_SIGNED_INT16, 9, 2, false, true},     {CL_SIGNED_INT32, 10, 4, false, true},
    {CL_UNSIGNED_INT8, 11, 1, false, true},   {CL_UNSIGNED_INT16, 12, 2, false, true},
    {CL_UNSIGNED_INT32, 13, 4, false, true},  {CL_HALF_FLOAT, 14, 2, false, false},
    {CL_FLOAT, 15, 4, false, false},
};

enum { ORDERS = ARRAY_COUNT(orders), TYPES = ARRAY_COUNT(types) };

/* True if elements of the type exist with this order of channels. */
static bool order_fits_type(const struct opencl_channel_order *order,
                            const struct opencl_channel_type *type)
{
    switch (order->name) {
    case CL_RGB:
    case CL_RGBx:
        return type->is_packed;
    case CL_INTENSITY:
    case CL_LUMINANCE:
        return !type->is_packed && !type->is_integer;
    case CL_BGRA:
    case CL_ARGB:
        return type->bytes == 1;
    default:
        return !type->is_packed;
    }
}

cl_int opencl_image_set_format(struct opencl_image *image, const cl_image_format *format)
{
    bool is_known = format && format->image_channel_order >= CL_R
                    && format->image_channel_order <= CL_ABGR
                    && format->image_channel_data_type >= CL_SNORM_INT8
                    && format->image_channel_data_type <= CL_UNORM_INT_101010_2;
    if (!is_known)
        return CL_INVALID_IMAGE_FORMAT_DESCRIPTOR;
    for (int i = 0; i < ORDERS; i++)
        if (orders[i].name == format->image_channel_order)
            image->order = &orders[i];
    for (int i = 0; i < TYPES; i++)
        if (types[i].name == format->image_channel_data_type)
            image->channel = &types[i];
    if (!image->order || !image->channel)
        return CL_IMAGE_FORMAT_NOT_SUPPORTED;
    if (!order_fits_type(image->order, image->channel))
        return CL_INVALID_IMAGE_FORMAT_DESCRIPTOR;
    image->format = *format;
    image->bytes =
        image->channel->bytes * (image->channel->is_packed ? (size_t)1 : image->order->components);
    return CL_SUCCESS;
}

/* ---- colours ---- */

/* The nearest whole number, the even one of two, from `low` to `high`; NaN is 0. */
static int64_t round_to(double value, double low, double high)
{
    double near = isnan(value) ? 0 : rint(value);
    return (int64_t)(near < low ? low : near > high ? high : near);
}

static uint32_t encode_real(cl_channel_type type, int component, float value)
{
    uint32_t bits;
    _Float16 half = (_Float16)value;
    switch (type) {
    case CL_SNORM_INT8:
        return (uint32_t)round_to(value * 127.0f, -128, 127);
    case CL_SNORM_INT16:
        return (uint32_t)round_to(value * 32767.0f, -32768, 32767);
    case CL_UNORM_INT8:
        return (uint32_t)round_to(value * 255.0f, 0, 255);
    case CL_UNORM_INT16:
        return (uint32_t)round_to(value * 65535.0f, 0, 65535);
    case CL_UNORM_SHORT_555:
        return (uint32_t)round_to(value * 31.0f, 0, 31);
    case CL_UNORM_SHORT_565:
        return (uint32_t)(component == 1 ? round_to(value * 63.0f, 0, 63)
                                         : round_to(value * 31.0f, 0, 31));
    case CL_UNORM_INT_101010:
        return (uint32_t)round_to(value * 1023.0f, 0, 1023);
    case CL_HALF_FLOAT:
        bits = 0;
        memcpy(&bits, &half, sizeof half);
        return bits;
    default:
        memcpy(&bits, &value, sizeof bits);
        return bits;
    }
}

static uint32_t encode_integer(const struct opencl_channel_type *type, uint32_t bits)
{
    int wide = 8 * type->bytes;
    if (type->name >= CL_UNSIGNED_INT8)
        return (uint32_t)round_to(bits, 0, (double)(UINT32_MAX >> (32 - wide)));
    return (uint32_t)round_to((int32_t)bits, -(double)(1u << (wide - 1)),
                              (double)((1u << (wide - 1)) - 1));
}

void opencl_image_encode(const struct opencl_image *image, const void *colour,
                         uint8_t element[OPENCL_ELEMENT_MAX])
{
    const struct opencl_channel_type *type = image->channel;
    uint32_t packed = 0, bits;
    for (int i = 0; i < image->order->components; i++) {
        float real;
        const uint8_t *from = (const uint8_t *)colour + image->order->write[i] * sizeof bits;
        memcpy(&bits, from, sizeof bits);
        memcpy(&real, from, sizeof real);
        bits = type->is_integer ? encode_integer(type, bits) : encode_real(type->name, i, real);
        if (!type->is_packed)
            memcpy(element + (size_t)i * type->bytes, &bits, type->bytes); /* little-endian host */
        uint32_t width = type->name == CL_UNORM_INT_101010            ? 10
                         : type->name == CL_UNORM_SHORT_565 && i == 1 ? 6
                                                                      : 5;
        packed = packed << width | bits;
    }
    if (type->is_packed)
        memcpy(element, &packed, type->bytes);
}

/* ---- lists ---- */

static bool is_image_type(cl_mem_object_type type)
{
    return type >= CL_MEM_OBJECT_IMAGE2D && type <= CL_MEM_OBJECT_IMAGE1D_BUFFER;
}

/* All kinds of images have all formats. */
static cl_int get_formats(cl_context context, cl_mem_flags flags, cl_mem_object_type type,
                          cl_uint entries, cl_image_format *formats, cl_uint *count)
{
    cl_uint found = 0;
    flags &= ~(cl_mem_flags)CL_MEM_KERNEL_READ_AND_WRITE;
    if (!opencl_find(OPENCL_CONTEXT, context))
        return CL_INVALID_CONTEXT;
    if (opencl_memory_check_flags(flags, NULL) == CL_INVALID_VALUE || !is_image_type(type)
        || (entries == 0 && formats))
        return CL_INVALID_VALUE;
    for (int o = 0; o < ORDERS; o++)
        for (int t = 0; t < TYPES; t++) {
            if (!order_fits_type(&orders[o], &types[t]))
                continue;
            if (formats && found < entries)
                formats[found] = (cl_image_format){orders[o].name, types[t].name};
            found++;
        }
    if (count)
        *count = found;
    return CL_SUCCESS;
}

OPENCL_CALL(clGetSupportedImageFormats,
            (cl_context context, cl_mem_flags flags, cl_mem_object_type type, cl_uint entries,
             cl_image_format *formats, cl_uint *count),
            get_formats(context, flags, type, entries, formats, count));
