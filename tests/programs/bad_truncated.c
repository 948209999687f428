/* Loads ever shorter beginnings of a code object from memory. Each must be refused as an invalid
 * image (or load, when only unneeded bytes at the end are gone), and none may crash. Arguments:
 * [code object file]. */
#include <hip/hip_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char *read_file(const char *name, size_t *size)
{
    FILE *file = fopen(name, "rb");
    if (!file)
        return NULL;
    unsigned char *bytes = calloc(1, 1 << 20);
    *size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "module_kernels.hsaco";
    size_t size = 0;
    unsigned char *bytes = read_file(name, &size);
    if (!bytes) {
        printf("FAIL bad_truncated: cannot read '%s'\n", name);
        return 1;
    }
    int refused = 0;
    for (size_t length = 0; length < size; length += 64) {
        /* A loader is given no length: what is cut off reads as zero. */
        unsigned char *cut = calloc(1, 1 << 20);
        memcpy(cut, bytes, length);
        hipModule_t module;
        hipError_t error = hipModuleLoadData(&module, cut);
        if (error == hipSuccess) {
            hipModuleUnload(module);
        } else if (error == hipErrorInvalidImage) {
            refused++;
        } else {
            printf("FAIL bad_truncated: at %zu bytes: %s\n", length, hipGetErrorName(error));
            return 1;
        }
        free(cut);
    }
    free(bytes);
    if (refused == 0) {
        printf("FAIL bad_truncated: nothing was refused\n");
        return 1;
    }
    printf("PASS bad_truncated\n");
    return 0;
}
