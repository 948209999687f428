/* run_kernel FILE.ptx KERNEL BLOCKS THREADS: gives standard input to a kernel as its buffer, whose
 * address is its only parameter, and writes what the kernel has made of it to standard output. */
#include <stdio.h>
#include <stdlib.h>

#include "ptx_run.h"

enum { MOST = 1 << 22 };

static char *read_all(FILE *file, size_t *size)
{
    char *bytes = calloc(1, MOST + 1);
    *size = fread(bytes, 1, MOST, file);
    return bytes;
}

int main(int argc, char **argv)
{
    static struct ptx_run r;
    uint64_t buffer = PTX_RUN_BUFFER;
    size_t text_size, size;
    FILE *file = argc == 5 ? fopen(argv[1], "r") : NULL;
    if (!file) {
        fprintf(stderr, "usage: run_kernel FILE.ptx KERNEL BLOCKS THREADS < IN > OUT\n");
        return 2;
    }
    char *text = read_all(file, &text_size), *data = read_all(stdin, &size);
    if (!ptx_run_open(&r, argv[1], text, size)) {
        fputs(r.text, stderr);
        return 1;
    }
    for (size_t i = 0; i < size; i++)
        r.buffer[i] = (uint8_t)data[i];
    enum warp_end end =
        ptx_run_launch(&r, argv[2], (uint32_t)atoi(argv[3]), (uint32_t)atoi(argv[4]), 0, &buffer);
    if (end != WARP_DONE) {
        fprintf(stderr, "%s\n", end == WARP_FAULT ? r.fault.text : r.text);
        return 1;
    }
    fwrite(r.buffer, 1, size, stdout);
    ptx_run_close(&r);
    fclose(file);
    free(text);
    free(data);
    return 0;
}
