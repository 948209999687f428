/* Pointers of the host. Memory that is only reserved, as device addresses are, does not count. */
#include "host_pointer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void describe_mapping(const char *path, char *text, size_t size)
{
    const char *slash = strrchr(path, '/');
    if (strncmp(path, "[stack", 6) == 0)
        snprintf(text, size, "a pointer of the host, to its stack");
    else if (strcmp(path, "[heap]") == 0)
        snprintf(text, size, "a pointer of the host, to its heap");
    else if (slash)
        snprintf(text, size, "a pointer of the host, to variables or code of '%.60s'", slash + 1);
    else
        snprintf(text, size,
                 "a pointer of the host, to a large block of its heap, or to the stack "
                 "of a thread");
}

bool host_pointer_describe(uint64_t address, char *text, size_t size)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512], path[256], rights[8];
    bool is_mapped = false;
    while (maps && !is_mapped && fgets(line, sizeof line, maps)) {
        uint64_t low, high;
        path[0] = '\0';
        is_mapped =
            sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*s %*s %*s %255s", &low, &high, rights, path)
                >= 3
            && low <= address && address < high && rights[0] == 'r';
    }
    if (maps)
        fclose(maps);
    if (is_mapped)
        describe_mapping(path, text, size);
    return is_mapped;
}
