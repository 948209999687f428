/* A hidden argument is a number that the launch decides; hidden_value() has all of them in one
 * place. A value is written as many bytes wide as the metadata says, little endian. */
#include "kernarg.h"

#include <string.h>

#include "components/amd/isa/isa_target.h"

#include "code_object_internal.h"

static uint64_t hidden_value(enum code_object_value_kind kind,
                             const struct kernarg_geometry *geometry)
{
    const uint32_t *grid = geometry->grid, *block = geometry->block;
    switch (kind) {
    case CODE_OBJECT_VALUE_HIDDEN_BLOCK_COUNT_X:
    case CODE_OBJECT_VALUE_HIDDEN_BLOCK_COUNT_Y:
    case CODE_OBJECT_VALUE_HIDDEN_BLOCK_COUNT_Z: {
        unsigned dimension = kind - CODE_OBJECT_VALUE_HIDDEN_BLOCK_COUNT_X;
        return grid[dimension] / block[dimension]; /* whole ones; the rest is the remainder */
    }
    case CODE_OBJECT_VALUE_HIDDEN_GROUP_SIZE_X:
    case CODE_OBJECT_VALUE_HIDDEN_GROUP_SIZE_Y:
    case CODE_OBJECT_VALUE_HIDDEN_GROUP_SIZE_Z:
        return block[kind - CODE_OBJECT_VALUE_HIDDEN_GROUP_SIZE_X];
    case CODE_OBJECT_VALUE_HIDDEN_REMAINDER_X:
    case CODE_OBJECT_VALUE_HIDDEN_REMAINDER_Y:
    case CODE_OBJECT_VALUE_HIDDEN_REMAINDER_Z: {
        unsigned dimension = kind - CODE_OBJECT_VALUE_HIDDEN_REMAINDER_X;
        return grid[dimension] % block[dimension];
    }
    case CODE_OBJECT_VALUE_HIDDEN_GRID_DIMS:
        if (geometry->dimensions > 0)
            return geometry->dimensions;
        if (grid[2] > 1)
            return 3;
        return grid[1] > 1 ? 2 : 1;
    case CODE_OBJECT_VALUE_HIDDEN_GLOBAL_OFFSET_X:
    case CODE_OBJECT_VALUE_HIDDEN_GLOBAL_OFFSET_Y:
    case CODE_OBJECT_VALUE_HIDDEN_GLOBAL_OFFSET_Z:
        return geometry->offset[kind - CODE_OBJECT_VALUE_HIDDEN_GLOBAL_OFFSET_X];
    case CODE_OBJECT_VALUE_HIDDEN_PRINTF_BUFFER:
        return geometry->printf_buffer;
    case CODE_OBJECT_VALUE_HIDDEN_DYNAMIC_LDS_SIZE:
        return geometry->dynamic_lds_bytes;
    case CODE_OBJECT_VALUE_HIDDEN_SHARED_BASE:
        return geometry->shared_aperture >> 32;
    case CODE_OBJECT_VALUE_HIDDEN_PRIVATE_BASE:
        return geometry->private_aperture >> 32;
    case CODE_OBJECT_VALUE_HIDDEN_HOSTCALL_BUFFER:
        return geometry->hostcall_buffer;
    case CODE_OBJECT_VALUE_HIDDEN_QUEUE_PTR:
        return geometry->queue;
    case CODE_OBJECT_VALUE_HIDDEN_MULTIGRID_SYNC: /* not 0: grid_group::is_valid() */
        return geometry->meets;
    case CODE_OBJECT_VALUE_HIDDEN_HEAP_V1:
        return KERNARG_HEAP_NONE;
    case CODE_OBJECT_VALUE_HIDDEN_DEFAULT_QUEUE:
        return KERNARG_QUEUE_NONE;
    default:
        return 0; /* services that the host does not offer */
    }
}

static void fill_hidden(const struct code_object_kernel *kernel,
                        const struct kernarg_geometry *geometry, uint8_t *buffer)
{
    for (uint32_t i = kernel->explicit_argument_count; i < kernel->argument_count; i++) {
        const struct code_object_argument *argument = &kernel->arguments[i];
        uint64_t value = hidden_value(argument->kind, geometry);
        for (uint32_t byte = 0; byte < argument->size; byte++)
            buffer[argument->offset + byte] = byte < 8 ? (uint8_t)(value >> (8 * byte)) : 0;
    }
}

void kernarg_set_apertures(struct kernarg_geometry *geometry, const char *gfx)
{
    const struct isa_traits *traits = isa_traits_of(gfx);
    geometry->shared_aperture = traits ? (uint64_t)traits->shared_aperture << 32 : 0;
    geometry->private_aperture = traits ? (uint64_t)traits->private_aperture << 32 : 0;
}

uint32_t kernarg_size(const struct code_object_kernel *kernel)
{
    return kernel->kernarg_size > 0 ? kernel->kernarg_size : 1;
}

int kernarg_fill(const struct code_object_kernel *kernel, void *const *values,
                 const struct kernarg_geometry *geometry, uint8_t *buffer)
{
    memset(buffer, 0, kernarg_size(kernel));
    for (uint32_t i = 0; i < kernel->explicit_argument_count; i++) {
        const struct code_object_argument *argument = &kernel->arguments[i];
        if (!values || !values[i])
            return (int)i;
        memcpy(buffer + argument->offset, values[i], argument->size);
    }
    fill_hidden(kernel, geometry, buffer);
    return -1;
}

int kernarg_fill_packed(const struct code_object_kernel *kernel, const void *packed, size_t size,
                        const struct kernarg_geometry *geometry, uint8_t *buffer)
{
    memset(buffer, 0, kernarg_size(kernel));
    for (uint32_t i = 0; i < kernel->explicit_argument_count; i++) {
        const struct code_object_argument *argument = &kernel->arguments[i];
        if (!packed || size < argument->size || argument->offset > size - argument->size)
            return (int)i;
        memcpy(buffer + argument->offset, (const uint8_t *)packed + argument->offset,
               argument->size);
    }
    fill_hidden(kernel, geometry, buffer);
    return -1;
}

static void put_u32(uint8_t *at, uint32_t value)
{
    for (unsigned byte = 0; byte < 4; byte++)
        at[byte] = (uint8_t)(value >> (8 * byte));
}

void kernarg_make_descriptor(const struct code_object *object,
                             const struct code_object_kernel *kernel, uint8_t descriptor[64])
{
    const uint8_t *own = code_object_bytes_at(object, kernel->descriptor_address, 64);
    if (object->version > 2 && own) {
        memcpy(descriptor, own, 64);
        return;
    }
    uint64_t entry = kernel->entry_address - kernel->descriptor_address;
    enum { INITIAL_REGISTERS = 0x3ff, WAVE32 = 10, DYNAMIC_STACK = 11 };
    uint32_t properties = (kernel->words.properties & INITIAL_REGISTERS)
                          | (uint32_t)(kernel->wavefront_size == 32) << WAVE32
                          | (uint32_t)kernel->has_dynamic_stack << DYNAMIC_STACK;
    memset(descriptor, 0, 64);
    put_u32(descriptor + 0, kernel->group_size);
    put_u32(descriptor + 4, kernel->private_size);
    put_u32(descriptor + 8, kernel->kernarg_size);
    put_u32(descriptor + 16, (uint32_t)entry);
    put_u32(descriptor + 20, (uint32_t)(entry >> 32));
    put_u32(descriptor + 48, kernel->words.rsrc1);
    put_u32(descriptor + 52, kernel->words.rsrc2);
    put_u32(descriptor + 56, properties);
}
