/* Reads compiled code objects from the folder that HEDDLE_TEST_OBJECTS names. */
#include "objects.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

unsigned char *objects_read(const char *name, size_t *size)
{
    const char *folder = getenv("HEDDLE_TEST_OBJECTS");
    if (!folder || !*folder) {
        fprintf(
            stderr,
            "SKIPPED: clang-15, ld.lld-15 or the device libraries are missing, no code objects\n");
        cr_skip_test("no compiler for code objects");
    }
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    cr_assert(file, "cannot open '%s'", path);
    unsigned char *bytes = malloc(1 << 20);
    *size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    cr_assert_gt(*size, 0);
    return realloc(bytes, *size); /* no room behind the end, so that reads there are seen */
}
