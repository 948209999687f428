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
    residency_begin(launch);
    must(residency_take(instance, address), "the first unit is not there");
    must(!residency_take(instance, address), "it is taken twice");
    residency_begin(launch - 1);
    must(!residency_take(instance, address), "it is there in another launch");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char text[64];
    must(ftruncate(file, 0) == 0 && pwrite(file, bytes, size, 0) == (ssize_t)size, "the input");
    dup2(quiet, STDERR_FILENO);
    bool good = residency_open(path, false);
    dup2(loud, STDERR_FILENO);
    snprintf(text, sizeof text, "%.*s", (int)(size < sizeof text ? size : sizeof text - 1),
             (const char *)bytes);
    if (good && size)
        take_first(text);
    return 0;
}
