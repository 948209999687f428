/* Simulated DRAM: the bytes behind the physical addresses of the platform's mapped spaces, one
 * no-reserve reservation of the host, zero until written and committed when touched.
 *
 * Components that model timing (dram) read and write here when a request is served; the driver
 * copies here in zero time where that is asked for. Addresses for which memory_contains() is
 * false end the run with bug(). */
#ifndef HEDDLE_RUNTIME_STATE_MEMORY_H
#define HEDDLE_RUNTIME_STATE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/likely.h"

struct memory {
    char *bytes;
    uint64_t first; /* lowest physical address */
    uint64_t size;
};
extern struct memory memory __attribute__((visibility("hidden")));

static inline bool memory_contains(uint64_t physical, uint64_t bytes)
{
    uint64_t offset = physical - memory.first;
    return offset < memory.size && bytes <= memory.size - offset;
}

_Noreturn void memory_outside(uint64_t physical, uint64_t bytes);

/* The byte at `physical`. Bytes that follow it in memory follow it in the host's memory, too. */
static inline void *memory_at(uint64_t physical)
{
    if (unlikely(!memory_contains(physical, 1)))
        memory_outside(physical, 1);
    return memory.bytes + (physical - memory.first);
}

/* The host address of a physical one, with all of `bytes` checked. */
static inline void *memory_span(uint64_t physical, uint64_t bytes)
{
    if (unlikely(!memory_contains(physical, bytes)))
        memory_outside(physical, bytes);
    return memory.bytes + (physical - memory.first);
}

/* The bytes become those of a file without a name, so that parts of them can be seen elsewhere, by
 * other processes, too. Its size stays as it is. Before anything was written; returns the file's
 * descriptor, which stays the memory's, or -1: errno says why. */
int memory_make_file(void);
/* The offset of the byte in the file. */
uint64_t memory_file_offset(uint64_t physical);
/* `host`, whole pages, shows the same bytes from now on. Behind memory_make_file(). */
bool memory_alias(uint64_t physical, uint64_t bytes, void *host);
/* Whole pages become zeros. */
bool memory_clear(uint64_t physical, uint64_t bytes);

/* All of it is going to be written, which costs less when it is known before. */
void memory_expect(uint64_t physical, uint64_t bytes);

/* Made by platform_build(): reserves `size` bytes for addresses from `first`. */
void memory_reserve(uint64_t first, uint64_t size);

#endif
