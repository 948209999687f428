/* Reads input files whole, and refuses those that are no file or too large. */
#include "input.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/region.h"

const char *input_mistake(const char *path, uint64_t most)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return strerror(errno);
    if (S_ISDIR(status.st_mode))
        return "it is a directory";
    if (!S_ISREG(status.st_mode))
        return "it is not a regular file";
    if ((uint64_t)status.st_size > most)
        return most == INPUT_SOURCE_BYTES ? "it is larger than 16 MiB" : "it is larger than 1 GiB";
    return access(path, R_OK) == 0 ? NULL : strerror(errno);
}

FILE *input_open(const char *subject, const char *path, uint64_t most)
{
    const char *mistake = input_mistake(path, most);
    FILE *file = !mistake ? fopen(path, "rb") : NULL;
    if (!file)
        fprintf(stderr, "heddle %s: cannot read '%s': %s\n", subject, path,
                mistake ? mistake : strerror(errno));
    return file;
}

char *input_read(struct region *region, const char *path, size_t *size)
{
    FILE *file = !input_mistake(path, INPUT_BYTES) ? fopen(path, "rb") : NULL;
    if (!file)
        return NULL;
    char *text = region_read(region, file, SIZE_MAX, size);
    bool failed = ferror(file) != 0;
    fclose(file);
    return failed ? NULL : text;
}
