/* libFuzzer target of PTX: any text is a module with a layout and an image, or is refused with a
 * reason. */
#include <stdlib.h>
#include <string.h>

#include "components/nvidia/ptx/ptx.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Names and places of all instructions, as listings have them. */
static size_t list(const struct ptx_module *module)
{
    size_t letters = 0;
    for (uint32_t i = 0; i < module->function_count; i++) {
        const struct ptx_function *function = &module->functions[i];
        for (uint32_t j = 0; j < function->instruction_count; j++) {
            char text[200];
            letters += strlen(ptx_instruction_name(&function->instructions[j], text, sizeof text));
            letters += strlen(ptx_place(module, &function->instructions[j], text, sizeof text));
        }
    }
    return letters;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static struct ptx_error error;
    enum { IMAGE_MAX = 1 << 24 };
    struct ptx_module *module = ptx_parse("fuzz.ptx", (const char *)bytes, size, &error);
    if (!module) {
        if (error.text[0] == '\0' || error.count == 0)
            abort(); /* a refusal says why */
        return 0;
    }
    ptx_layout(module);
    size_t letters = list(module);
    if (module->image_bytes < IMAGE_MAX) {
        uint8_t *image = malloc(module->image_bytes + 1);
        ptx_image(module, 0x7f0000000000, image);
        letters += image[0];
        free(image);
    }
    ptx_free(module);
    return letters == SIZE_MAX;
}
