/* Images of code come as a pointer without a size. The process' memory map bounds what may be read,
 * so that a truncated or wrong image is an error and not a crash. Called when binaries and modules
 * are loaded. */
#include "hip_internal.h"

#include <inttypes.h>
#include <stdio.h>

size_t hip_readable_bytes(const void *start)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    if (!maps) {
        return 0;
    }
    uint64_t address = (uintptr_t)start, end = address;
    char line[512], rights[8];
    uint64_t low = 0, high = 0;
    /* Lines come by ascending address; mappings that follow each other without a gap count as one.
     */
    while (fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", &low, &high, rights) != 3 || low > end
            || high <= end) {
            continue;
        }
        if (rights[0] != 'r') {
            break;
        }
        end = high;
    }
    fclose(maps);
    return end - address;
}
