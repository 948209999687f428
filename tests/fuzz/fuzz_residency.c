/* libFuzzer target of the reader of what caches keep (components/sampling/residency.h): a file is
 * refused, or is one of which every unit can be taken once, in its launch only. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "components/sampling/residency.h"
#include "runtime/engine/version.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static int file, quiet, loud; /* the input, /dev/null, stderr */
static char path[64];

static void must(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "fuzz_residency: %s\n", what);
    abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    file = memfd_create("kept", 0);
    must(file >= 0, "a file");
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    quiet = open("/dev/null", O_WRONLY);
    loud = dup(STDERR_FILENO);
    return 0;
}

/* Takes the first unit of the first line, as sscanf() sees it. */
static void take_first(const char *text)
{
    unsigned long long launch, address, count;
    unsigned instance, bytes;
    if (sscanf(text, "%llu %u %u 0x%llx %llu", &launch, &instance, &bytes, &address, &count) != 5)
        return;
    must(!residency_begin(launch, 0), "the launch is not there");
    must(residency_take(instance, address), "the first unit is not there");
    must(!residency_take(instance, address), "it is taken twice");
    residency_begin(launch - 1, 0);
    must(!residency_take(instance, address), "it is there in another launch");
}

/* The head and the end of a file around the input, which is to be looked at behind the checksum. */
static void write_input(const uint8_t *bytes, size_t size)
{
    char head[256], tail[64];
    uint64_t sum = 0xcbf29ce484222325u;
    size_t lines = 0;
    int front = snprintf(head, sizeof head,
                         "heddle residency 1 of " HEDDLE_VERSION "\nmodel -\nprogram -\nunified -\n"
                         "launch 1 0x0\n");
    for (int i = 0; i < front; i++)
        sum = (sum ^ (unsigned char)head[i]) * 0x100000001b3u;
    for (size_t i = 0; i < size; i++) {
        sum = (sum ^ bytes[i]) * 0x100000001b3u;
        lines += bytes[i] == '\n';
    }
    int back = snprintf(tail, sizeof tail, "end %zu %016llx\n", lines + 1, (unsigned long long)sum);
    must(ftruncate(file, 0) == 0 && pwrite(file, head, (size_t)front, 0) == front
             && pwrite(file, bytes, size, front) == (ssize_t)size
             && pwrite(file, tail, (size_t)back, front + (off_t)size) == back,
         "the input");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const struct residency_identity nobody;
    char text[64];
    write_input(bytes, size);
    dup2(quiet, STDERR_FILENO);
    bool good = residency_open(path, false, &nobody);
    dup2(loud, STDERR_FILENO);
    snprintf(text, sizeof text, "%.*s", (int)(size < sizeof text ? size : sizeof text - 1),
             (const char *)bytes);
    if (good && size)
        take_first(text);
    return 0;
}
