/* Simulated DRAM; see memory.h. The reservation belongs to the process: it is released only to make
 * another. */
#include "memory.h"

#include <string.h>

#include "runtime/engine/bug.h"
#include "runtime/engine/arena.h"

struct memory memory;

void memory_outside(uint64_t physical, uint64_t bytes)
{
    bug("access to %llu bytes at physical address 0x%llx; the platform maps 0x%llx .. 0x%llx",
        (unsigned long long)bytes, (unsigned long long)physical, (unsigned long long)memory.first,
        (unsigned long long)(memory.first + memory.size));
}

void memory_read(uint64_t physical, void *to, size_t bytes)
{
    memcpy(to, memory_span(physical, bytes), bytes);
}

void memory_write(uint64_t physical, const void *from, size_t bytes)
{
    memcpy(memory_span(physical, bytes), from, bytes);
}

void memory_expect(uint64_t physical, uint64_t bytes)
{
    if (bytes)
        arena_expect(memory_span(physical, bytes), bytes);
}

void memory_reserve(uint64_t first, uint64_t size)
{
    arena_release(memory.bytes, memory.size);
    memory.first = first;
    memory.size = size;
    memory.bytes = size ? arena_reserve(size) : NULL;
}
