/* OpenCL C with errors is a build that fails, with a log: opencl_fuzz COUNT SEED FILE...
 *
 * Each of COUNT sources is one of the files, damaged: cut off, with bytes changed, pieces taken out
 * or repeated, or tokens put in. Options are damaged now and then. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "components/opencl/compiler/opencl_compiler.h"

enum { SIZE_BYTES_MAX = 1 << 18 };

static uint64_t state;

static size_t any(size_t below) /* splitmix64 */
{
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return below ? (z ^ z >> 31) % below : 0;
}

static size_t read_file(const char *path, char *bytes)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(2);
    }
    size_t size = fread(bytes, 1, SIZE_BYTES_MAX / 2, file);
    fclose(file);
    return size;
}

static size_t insert(char *bytes, size_t size, size_t at, const char *text, size_t length)
{
    if (size + length > SIZE_BYTES_MAX)
        return size;
    memmove(bytes + at + length, bytes + at, size - at);
    memcpy(bytes + at, text, length);
    return size + length;
}

static size_t damage(char *bytes, size_t size)
{
    static const char *const tokens[] = {"{",
                                         "}",
                                         "(",
                                         ")",
                                         "/*",
                                         "\"",
                                         "#if 1\n",
                                         "#define X X X\n",
                                         "#include <x.h>\n",
                                         "__kernel ",
                                         "image2d_t ",
                                         "\\",
                                         "%",
                                         "0x",
                                         "__attribute__((",
                                         "__local ",
                                         "goto x;",
                                         "for(;;)",
                                         "\xff",
                                         "asm(\"s_endpgm\");",
                                         "_Pragma(\"",
                                         "half16 ",
                                         "constant "};
    size_t at = any(size + 1), length = any(200);
    char piece[200];
    length = length > size - at ? size - at : length;
    switch (any(7)) {
    case 0:
        return at;
    case 1:
        bytes[at < size ? at : 0] = (char)any(256);
        return size;
    case 2:
        memmove(bytes + at, bytes + at + length, size - at - length);
        return size - length;
    case 3:
        memcpy(piece, bytes + at, length);
        return insert(bytes, size, any(size + 1), piece, length);
    case 4:
        for (size_t i = 0; i < length; i++)
            bytes[at + i] = (char)any(256);
        return size;
    default: {
        const char *token = tokens[any(sizeof tokens / sizeof tokens[0])];
        return insert(bytes, size, at, token, strlen(token));
    }
    }
}

static void check(const struct opencl_text *source, const char *options, bool link)
{
    struct opencl_built built;
    struct opencl_facts facts;
    char error[320];
    const struct opencl_job job = {.sources = source,
                                   .source_count = 1,
                                   .options = options,
                                   .target = "gfx906",
                                   .links = link};
    enum opencl_build_status status = opencl_compile(&job, &built);
    bool good =
        status == OPENCL_BUILD_OK ? built.bytes != NULL : !built.bytes && built.log[0] != '\0';
    if (good && status == OPENCL_BUILD_OK && link) {
        good = opencl_facts_read(&facts, built.bytes, built.size, error);
        if (good)
            opencl_facts_release(&facts);
    }
    if (!good || status == OPENCL_BUILD_COMPILER_MISSING) {
        printf("FAIL opencl_fuzz: status %d, options '%s', log: %s\n", (int)status, options,
               built.log);
        fwrite(source->bytes, 1, source->size, stdout);
        exit(1);
    }
    opencl_built_release(&built);
}

int main(int count, char **words)
{
    static const char *const options[] = {"-cl-std=CL2.0 -w",
                                          "-cl-std=CL3.0",
                                          "-w -cl-opt-disable",
                                          "-cl-fast-relaxed-math",
                                          "-D",
                                          "-D X=\"",
                                          "-I",
                                          "-cl-",
                                          "-Wx"};
    if (count < 4)
        return 2;
    unsigned rounds = (unsigned)strtoul(words[1], NULL, 10);
    char *bytes = malloc(SIZE_BYTES_MAX);
    state = strtoull(words[2], NULL, 10);
    for (unsigned i = 0; i < rounds; i++) {
        size_t size = read_file(words[3 + any((size_t)count - 3)], bytes);
        for (size_t times = any(4) + 1; times > 0; times--)
            size = damage(bytes, size);
        const struct opencl_text source = {NULL, bytes, size};
        check(&source, options[any(i % 4 ? 4 : sizeof options / sizeof options[0])], i % 8 == 0);
    }
    free(bytes);
    printf("PASS opencl_fuzz: %u sources\n", rounds);
    return 0;
}
