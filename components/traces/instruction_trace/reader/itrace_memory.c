/* The one file of this folder that calls the C allocator. */
#include "itrace_memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

void *itrace_allocate(size_t count, size_t size)
{
    return grow_zeroed(count <= SIZE_MAX / size ? count * size : SIZE_MAX, ITRACE_MEMORY);
}

char *itrace_copy_text(const char *text, size_t size)
{
    char *copy = itrace_allocate(size + 1, 1);
    memcpy(copy, text, size);
    return copy;
}

void itrace_free(void *items)
{
    free(items);
}
