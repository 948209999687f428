/* Finds which memory of the process can be read and written, so that a wrong pointer is an error
 * and not a crash: images of code come as a pointer without a size, and host memory of copies with
 * one that the program says. Called when code is loaded and when copies are checked. */
#define _GNU_SOURCE /* madvise */
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>

#include "base/number.h"
#include "components/hip/api/hip_internal.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif

enum { HOST_PAGE = 4096 };

/* Up to where memory from `address` on can be used; without a map of the process, nowhere. */
static uint64_t find_end(uint64_t address, bool is_written)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    if (!maps)
        return address;
    uint64_t end = address;
    char line[512], rights[8];
    uint64_t low = 0, high = 0;
    /* Lines come by ascending address; mappings that follow each other without a gap count as one.
     */
    while (fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", &low, &high, rights) != 3 || low > end
            || high <= end)
            continue;
        if (rights[0] != 'r' || (is_written && rights[1] != 'w'))
            break;
        end = high;
    }
    fclose(maps);
    return end;
}

size_t hip_readable_bytes(const void *start)
{
    return find_end((uintptr_t)start, false) - (uintptr_t)start;
}

/* The system is asked to make the pages ready, which a copy needs anyway. It refuses where memory
 * cannot be used, where it does not know the question, and for some devices: then the map says. */
bool hip_is_accessible(uint64_t address, uint64_t size, bool is_written, uint64_t *end)
{
    uint64_t first = address / HOST_PAGE * HOST_PAGE;
    uint64_t bytes = round_up(address - first + size, HOST_PAGE);
    if (madvise((void *)(uintptr_t)first, bytes,
                is_written ? MADV_POPULATE_WRITE : MADV_POPULATE_READ)
        == 0)
        return true;
    *end = find_end(address, is_written);
    return *end >= address + size;
}
