/* The one file of this folder that calls the C allocator. */
#include "components/traces/instruction_trace/reader/itrace_memory.h"

#include "base/grow.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *checked(void *memory)
{
    return grow_checked(memory, "a trace of instructions");
}

void *itrace_allocate(size_t count, size_t size)
{
    return checked(calloc(count ? count : 1, size));
}

void *itrace_reserve(void *items, size_t need, size_t *capacity, size_t size)
{
    if (need <= *capacity)
        return items;
    size_t wanted = *capacity ? *capacity : 16;
    while (wanted < need)
        wanted *= 2;
    items = checked(wanted <= SIZE_MAX / size ? realloc(items, wanted * size) : NULL);
    *capacity = wanted;
    return items;
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
