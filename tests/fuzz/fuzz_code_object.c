/* libFuzzer target of the code-object reader: any bytes are read or refused; what is read can be
 * loaded and its kernels' arguments laid out. */
#include <stdlib.h>

#include "components/amd/isa/object/code_object.h"
#include "components/amd/isa/object/kernarg.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void use_kernel(const struct code_object *object, const struct code_object_kernel *kernel)
{
    static const uint8_t packed[CODE_OBJECT_KERNARG_MAX];
    const struct kernarg_geometry geometry = {.grid = {100, 2, 1}, .block = {64, 1, 1}};
    uint8_t descriptor[64];
    uint8_t *buffer = malloc(kernarg_size(kernel));
    kernarg_make_descriptor(object, kernel, descriptor);
    kernarg_fill_packed(kernel, packed, sizeof packed, &geometry, buffer);
    free(buffer);
    if (kernel->entry_address >= object->span || !code_object_find_kernel(object, kernel->name))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct code_object object;
    if (code_object_image_size(bytes, size) > size)
        abort();
    if (code_object_read(&object, bytes, size)) {
        for (size_t i = 0; i < object.kernel_count && i < 16; i++)
            use_kernel(&object, &object.kernels[i]);
        if (object.span <= 1 << 20) { /* larger ones only take time */
            uint8_t *memory = malloc(object.span);
            code_object_load(&object, 0x10000, memory);
            free(memory);
        }
    } else if (object.error[0] == '\0') {
        abort(); /* a refusal says why */
    }
    code_object_release(&object);
    return 0;
}
