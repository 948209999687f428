/*
 * opencl_build.c - compiles OpenCL C by heddle's compiler: opencl_build TARGET OPTIONS FILE
 * [OUTPUT].
 *
 * Writes the log, and the code object if an output is named. Status 1: the build failed.
 */
#include "components/opencl/compiler/opencl_compiler.h"

#include <stdio.h>
#include <stdlib.h>

static char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *bytes = malloc(1 << 24);
    *size = file && bytes ? fread(bytes, 1, 1 << 24, file) : 0;
    if (!file) {
        perror(path);
        exit(2);
    }
    fclose(file);
    return bytes;
}

int main(int count, char **arguments)
{
    if (count < 4) {
        fprintf(stderr, "usage: opencl_build TARGET OPTIONS FILE [OUTPUT]\n");
        return 2;
    }
    struct opencl_text source = {0};
    struct opencl_built built;
    char *bytes = read_file(arguments[3], &source.size);
    source.bytes = bytes;
    enum opencl_build_status status =
        opencl_compile(&source, 1, NULL, 0, arguments[2], arguments[1], true, &built);
    fputs(built.log, stdout);
    FILE *out = status == OPENCL_BUILD_OK && count > 4 ? fopen(arguments[4], "wb") : NULL;
    if (out) {
        fwrite(built.bytes, 1, built.size, out);
        fclose(out);
    }
    opencl_built_release(&built);
    free(bytes);
    return status == OPENCL_BUILD_OK ? 0 : 1;
}
