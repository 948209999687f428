/* Arrays, textures and surfaces.
 *
 * An array is pitched device memory. An object is the address of a struct texture_object in device
 * memory, which kernels get as they get pointers. Layers and the six faces of cubes are planes of a
 * volume. Mipmaps are not there. */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "components/protocols/texture/texture_object.h"

#include "cuda_internal.h"

enum {
    PITCH_ALIGN = 256,
    ARRAY_LAYERED = 1,
    ARRAY_SURFACE = 2,
    ARRAY_CUBE = 4,
    ARRAY_GATHER = 8,
    TEXELS_MAX = 1 << 28,
    INVALID_CHANNEL = 20
};

struct cuda_array {
    void *memory;
    size_t pitch, texel; /* bytes */
    hipExtent size;      /* texels; 0 in directions that there are not */
    struct cuda_channel channel;
    unsigned flags;
};

static size_t at_least_one(size_t size)
{
    return size ? size : 1;
}

/* Sets the object's format. False: no texture has it. */
static bool read_channel(const struct cuda_channel *c, struct texture_object *object)
{
    const int bits[4] = {c->x, c->y, c->z, c->w};
    unsigned count = 0;
    while (count < 4 && bits[count])
        count++;
    for (unsigned i = 0; i < 4; i++)
        if (bits[i] != (i < count ? c->x : 0))
            return false;
    bool is_float = c->kind == TEXTURE_FLOAT;
    if (count == 0 || count == 3 || c->kind < TEXTURE_SIGNED || c->kind > TEXTURE_FLOAT
        || (c->x != 8 && c->x != 16 && c->x != 32) || (is_float && c->x == 8))
        return false;
    object->channel_bytes = (uint8_t)(c->x / 8);
    object->channels = (uint8_t)count;
    object->kind = (uint8_t)c->kind;
    return true;
}

/* ---- arrays ---- */

hipError_t cuda_make_volume(struct cuda_array **result, const struct cuda_channel *channel,
                            hipExtent size, unsigned flags)
{
    struct texture_object format = {0};
    const bool is_layered = flags & ARRAY_LAYERED, is_cube = flags & ARRAY_CUBE;
    if (!result || !channel || size.width == 0 || (size.depth && !size.height && !is_layered)
        || (is_layered && !size.depth)
        || (is_cube
            && (size.width != size.height || (is_layered ? size.depth % 6 : size.depth != 6))))
        return hipErrorInvalidValue;
    if (!read_channel(channel, &format))
        return (hipError_t)INVALID_CHANNEL;
    const unsigned unknown =
        flags & ~(unsigned)(ARRAY_LAYERED | ARRAY_SURFACE | ARRAY_CUBE | ARRAY_GATHER);
    if (unknown) {
        cuda_services()->say("arrays with flags 0x%x (sparse ones, for instance) are not there",
                             unknown);
        return hipErrorNotSupported;
    }
    if (size.width > TEXELS_MAX || size.height > TEXELS_MAX || size.depth > TEXELS_MAX)
        return hipErrorInvalidValue;
    struct cuda_array *array = calloc(1, sizeof *array);
    if (!array)
        return hipErrorOutOfMemory;
    *array = (struct cuda_array){.size = size, .channel = *channel, .flags = flags};
    array->texel = (size_t)format.channel_bytes * format.channels;
    array->pitch = round_up(size.width * array->texel, PITCH_ALIGN);
    hipError_t error = hipMalloc(&array->memory, array->pitch * at_least_one(size.height)
                                                     * at_least_one(size.depth));
    if (error != hipSuccess)
        free(array);
    else
        *result = array;
    return error;
}

hipError_t cuda_make_array(struct cuda_array **result, const struct cuda_channel *channel,
                           size_t width, size_t height, unsigned flags)
{
    return cuda_make_volume(result, channel, (hipExtent){width, height, 0}, flags);
}

hipError_t cuda_free_array(struct cuda_array *array)
{
    hipError_t error = array ? hipFree(array->memory) : hipSuccess;
    if (error == hipSuccess)
        free(array);
    return error;
}

hipError_t cuda_array_info(struct cuda_channel *channel, hipExtent *size, unsigned *flags,
                           const struct cuda_array *array)
{
    if (!array)
        return hipErrorInvalidValue;
    if (channel)
        *channel = array->channel;
    if (size)
        *size = array->size;
    if (flags)
        *flags = array->flags;
    return hipSuccess;
}

void *cuda_array_at(const struct cuda_array *array, size_t x, size_t y)
{
    if (!array || x >= array->pitch || y >= at_least_one(array->size.height))
        return NULL;
    return (char *)array->memory + y * array->pitch + x;
}

/* Bytes of rows without gaps, from (x, y) on: the rest of a row, whole rows, and the
 * beginning of the last one. */
static hipError_t copy_run(const struct cuda_array *array, size_t x, size_t y, char *memory,
                           size_t count, hipMemcpyKind kind, bool writes_array)
{
    const size_t width = array ? array->size.width * array->texel : 0;
    hipError_t error = hipSuccess;
    if (!array || x >= width || y >= at_least_one(array->size.height)
        || count > (at_least_one(array->size.height) - y) * width - x)
        return hipErrorInvalidValue;
    while (count > 0 && error == hipSuccess) {
        size_t row = x > 0 || count < width ? width - x : width;
        row = min(row, count);
        size_t rows = row == width ? count / width : 1;
        void *start = cuda_array_at(array, x, y);
        error = writes_array ? hipMemcpy2D(start, array->pitch, memory, row, row, rows, kind)
                             : hipMemcpy2D(memory, row, start, array->pitch, row, rows, kind);
        memory += row * rows;
        count -= row * rows;
        y += rows;
        x = 0;
    }
    return error;
}

hipError_t cuda_copy_to_array(struct cuda_array *array, size_t x, size_t y, const void *from,
                              size_t count, hipMemcpyKind kind)
{
    return copy_run(array, x, y, (char *)(uintptr_t)from, count, kind, true);
}

hipError_t cuda_copy_from_array(void *to, const struct cuda_array *array, size_t x, size_t y,
                                size_t count, hipMemcpyKind kind)
{
    return copy_run(array, x, y, to, count, kind, false);
}

size_t cuda_array_pitch(const struct cuda_array *array)
{
    return array ? array->pitch : 0;
}

static void strip_array(const struct cuda_array *array, hipPitchedPtr *pointer, hipPos *position)
{
    if (!array)
        return;
    *pointer = (hipPitchedPtr){array->memory, array->pitch, array->size.width * array->texel,
                               at_least_one(array->size.height)};
    position->x *= array->texel;
}

const hipMemcpy3DParms *cuda_copy_without_arrays(const hipMemcpy3DParms *copy,
                                                 hipMemcpy3DParms *converted)
{
    if (!copy || (!copy->srcArray && !copy->dstArray))
        return copy;
    const struct cuda_array *from = (const void *)copy->srcArray,
                            *to = (const void *)copy->dstArray;
    *converted = *copy;
    converted->srcArray = converted->dstArray = NULL;
    strip_array(from, &converted->srcPtr, &converted->srcPos);
    strip_array(to, &converted->dstPtr, &converted->dstPos);
    converted->extent.width *= (from ? from : to)->texel;
    return converted;
}

/* ---- objects ---- */

static hipError_t place_object(uint64_t *handle, struct texture_object *object)
{
    void *memory;
    object->magic = TEXTURE_MAGIC;
    hipError_t error = hipMalloc(&memory, sizeof *object);
    if (error == hipSuccess)
        error = hipMemcpy(memory, object, sizeof *object, hipMemcpyHostToDevice);
    if (error == hipSuccess)
        *handle = (uint64_t)(uintptr_t)memory;
    return error;
}

static hipError_t read_resource(const struct cuda_resource *from, struct texture_object *object)
{
    const struct cuda_array *array = from->kind == CUDA_RESOURCE_ARRAY ? from->array : NULL;
    if (from->kind < CUDA_RESOURCE_ARRAY || from->kind > CUDA_RESOURCE_PITCHED
        || (from->kind == CUDA_RESOURCE_ARRAY && !array))
        return hipErrorInvalidValue;
    if (from->kind == CUDA_RESOURCE_MIPMAPS) {
        cuda_services()->say("textures with mipmaps are not there");
        return hipErrorNotSupported;
    }
    if (!read_channel(array ? &array->channel : &from->memory.channel, object))
        return (hipError_t)INVALID_CHANNEL;
    size_t texel = (size_t)object->channel_bytes * object->channels;
    object->size[0] = object->size[1] = object->size[2] = 1;
    if (array) {
        object->base = (uint64_t)(uintptr_t)array->memory;
        object->pitch = (uint32_t)array->pitch;
        object->size[0] = (uint32_t)array->size.width;
        object->size[1] = (uint32_t)at_least_one(array->size.height);
        object->size[2] = (uint32_t)at_least_one(array->size.depth);
        object->is_cube = (array->flags & ARRAY_CUBE) != 0;
        return hipSuccess;
    }
    bool is_linear = from->kind == CUDA_RESOURCE_LINEAR;
    size_t width = is_linear ? from->memory.width / texel : from->memory.width;
    if (!from->memory.pointer || width == 0 || width > TEXELS_MAX
        || (!is_linear && (from->memory.height == 0 || from->memory.pitch < width * texel)))
        return hipErrorInvalidValue;
    object->base = (uint64_t)(uintptr_t)from->memory.pointer;
    object->is_linear = is_linear;
    object->size[0] = (uint32_t)width;
    object->size[1] = is_linear ? 1 : (uint32_t)from->memory.height;
    object->pitch = (uint32_t)(is_linear ? width * texel : from->memory.pitch);
    return hipSuccess;
}

hipError_t cuda_make_texture(uint64_t *handle, const struct cuda_resource *resource,
                             const struct cuda_texture *texture, const void *view)
{
    struct texture_object object = {0};
    if (!handle || !resource || !texture)
        return hipErrorInvalidValue;
    hipError_t error = read_resource(resource, &object);
    if (error != hipSuccess)
        return error;
    if (view || texture->srgb) {
        cuda_services()->say("views of resources and sRGB are not there");
        return hipErrorNotSupported;
    }
    bool reads_integers = object.kind != TEXTURE_FLOAT && !texture->normalised_read;
    if ((texture->normalised_read && object.channel_bytes == 4 && object.kind != TEXTURE_FLOAT)
        || (texture->interpolates && reads_integers))
        return hipErrorInvalidValue;
    for (unsigned i = 0; i < 3; i++)
        object.address[i] = (uint8_t)texture->address[i];
    object.interpolates = texture->interpolates != 0;
    object.normalised_read = texture->normalised_read != 0;
    object.normalised_coordinates = texture->normalised_coordinates != 0;
    memcpy(object.border, texture->border, sizeof object.border);
    return place_object(handle, &object);
}

hipError_t cuda_make_surface(uint64_t *handle, const struct cuda_resource *resource)
{
    struct texture_object object = {0};
    if (!handle || !resource || resource->kind != CUDA_RESOURCE_ARRAY)
        return hipErrorInvalidValue;
    hipError_t error = read_resource(resource, &object);
    return error == hipSuccess ? place_object(handle, &object) : error;
}

hipError_t cuda_free_object(uint64_t object)
{
    void *memory;
    memcpy(&memory, &object, sizeof memory);
    return hipFree(memory);
}
