/* Writes and reads the files of bitcode that programs get as binaries (see opencl_bitcode.h). */
#include "opencl_bitcode.h"

#include <string.h>

#include "components/amd/isa/object/code_object.h"
#include "components/clang/clang_process.h"

static const char magic[8] = {'h', 'e', 'd', 'd', 'l', 'e', 'C', 'L'};
static const char bitcode[4] = {'B', 'C', '\xc0', '\xde'};

struct header {
    char magic[8];
    uint32_t kind, math;
    char target[16];
    uint64_t module_count; /* sizes of 64 bits follow, then the modules */
};

uint8_t *opencl_object_write(const struct opencl_object *object, size_t *size)
{
    struct header header = {
        .kind = (uint32_t)object->kind, .math = object->math, .module_count = object->module_count};
    memcpy(header.magic, magic, sizeof magic);
    memcpy(header.target, object->target, sizeof header.target);
    *size = sizeof header + object->module_count * sizeof(uint64_t);
    for (uint32_t i = 0; i < object->module_count; i++)
        *size += object->modules[i].size;
    uint8_t *bytes = clang_allocate(*size), *next = bytes + sizeof header;
    memcpy(bytes, &header, sizeof header);
    for (uint32_t i = 0; i < object->module_count; i++, next += sizeof(uint64_t)) {
        uint64_t module_size = object->modules[i].size;
        memcpy(next, &module_size, sizeof module_size);
    }
    for (uint32_t i = 0; i < object->module_count; next += object->modules[i++].size)
        memcpy(next, object->modules[i].bytes, object->modules[i].size);
    return bytes;
}

static bool read_header(struct opencl_object *object, const char *bytes, size_t size)
{
    struct header header;
    if (size < sizeof header)
        return false;
    memcpy(&header, bytes, sizeof header);
    *object =
        (struct opencl_object){.kind = (enum opencl_binary_kind)header.kind, .math = header.math};
    memcpy(object->target, header.target, sizeof object->target);
    if (memcmp(header.magic, magic, sizeof magic) != 0 || header.target[15] != '\0'
        || (object->kind != OPENCL_BINARY_OBJECT && object->kind != OPENCL_BINARY_LIBRARY)
        || header.module_count == 0
        || header.module_count > (size - sizeof header) / sizeof(uint64_t))
        return false;
    object->module_count = (uint32_t)header.module_count;
    return true;
}

bool opencl_object_read(struct opencl_object *object, const void *bytes, size_t size)
{
    const char *next = bytes;
    *object = (struct opencl_object){0};
    if (!read_header(object, next, size))
        return false;
    const char *sizes = next + sizeof(struct header), *end = next + size;
    next = sizes + object->module_count * sizeof(uint64_t);
    object->modules = clang_allocate(object->module_count * sizeof *object->modules);
    for (uint32_t i = 0; i < object->module_count; i++) {
        uint64_t module_size;
        memcpy(&module_size, sizes + i * sizeof module_size, sizeof module_size);
        if (module_size < sizeof bitcode || module_size > (size_t)(end - next)
            || memcmp(next, bitcode, sizeof bitcode) != 0) {
            clang_release(object->modules);
            object->modules = NULL;
            return false;
        }
        object->modules[i] = (struct opencl_module){next, module_size};
        next += module_size;
    }
    return true;
}

enum opencl_binary_kind opencl_binary_kind(const void *bytes, size_t size)
{
    struct opencl_object object;
    if (code_object_recognise(bytes, size))
        return OPENCL_BINARY_EXECUTABLE;
    if (!opencl_object_read(&object, bytes, size))
        return OPENCL_BINARY_UNKNOWN;
    clang_release(object.modules);
    return object.kind;
}
