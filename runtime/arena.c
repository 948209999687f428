/* The arena: one no-reserve reservation that holds all state, handed out front to back, never given
 * back.
 *
 * Invariant: every byte behind `used` is zero (fresh pages of the kernel), so nothing handed out
 * needs clearing. Offset 0 is never handed out. Called by platform.c and the init functions of
 * components, and in a run by kernel.c, one thread at a time, and between windows. */
#include <stdio.h>
#include <sys/mman.h>

#include "bug.h"
#include "setup.h"

/* All that 32-bit offsets in units of 8 bytes can name. */
#define ARENA_MOST   ((size_t)32 << 30)
#define ARENA_LEAST  ((size_t)1 << 30)
#define DERIVED_MOST ((size_t)1 << 30)

static size_t used;
static size_t reserved;
static char *derived;
static size_t derived_used;

static void *try_reserve(size_t bytes)
{
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return base == MAP_FAILED ? NULL : base;
}

/* At ARENA_BASE, where nothing may be yet. Kernels and emulators that do not know
 * MAP_FIXED_NOREPLACE take the address as a wish. */
static void *try_reserve_at_base(size_t bytes)
{
    void *wish = (void *)ARENA_BASE;
    void *base = mmap(wish, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (base == wish)
        return base;
    if (base != MAP_FAILED)
        munmap(base, bytes);
    return NULL;
}

void *arena_reserve(size_t bytes)
{
    void *base = try_reserve(bytes);
    if (!base)
        die("cannot reserve %zu MiB of address space; raise the limit (ulimit -v)", bytes >> 20);
    return base;
}

void arena_release(void *base, size_t bytes)
{
    if (base)
        munmap(base, bytes);
}

/* Under an address-space limit, or under valgrind, what there is; at ARENA_BASE where that is
 * free. */
static char *reserve_most(void)
{
    for (reserved = ARENA_MOST; reserved >= ARENA_LEAST; reserved /= 2) {
        char *base = try_reserve_at_base(reserved);
        if (base)
            return base;
    }
    for (reserved = ARENA_MOST; reserved > ARENA_LEAST; reserved /= 2) {
        char *base = try_reserve(reserved);
        if (base)
            return base;
    }
    return arena_reserve(reserved);
}

void arena_close(void)
{
    arena_release(engine_base.arena, reserved);
    engine_base.arena = NULL;
    reserved = 0;
}

void arena_open(void)
{
    arena_release(engine_base.arena, reserved);
    engine_base.arena = reserve_most();
    used = ARENA_ALIGNMENT;
    arena_release(derived, DERIVED_MOST);
    derived = arena_reserve(DERIVED_MOST);
    derived_used = 0;
}

uint32_t arena_allocate(size_t bytes)
{
    size_t offset = used;
    if (!engine_base.arena)
        bug("arena_allocate() before platform_build()");
    if (bytes > reserved - used - ARENA_ALIGNMENT)
        die("the platform's state exceeds %zu GiB", reserved >> 30);
    used = (used + bytes + ARENA_ALIGNMENT - 1) & ~(size_t)(ARENA_ALIGNMENT - 1);
    return (uint32_t)(offset / ARENA_UNIT);
}

void *arena_derive(size_t bytes)
{
    char *here = derived + derived_used;
    if (bytes > DERIVED_MOST - derived_used - ARENA_ALIGNMENT)
        die("the platform's tables exceed %zu MiB", DERIVED_MOST >> 20);
    derived_used = (derived_used + bytes + ARENA_ALIGNMENT - 1) & ~(size_t)(ARENA_ALIGNMENT - 1);
    return here;
}

void arena_clear(void *base, size_t bytes)
{
    if (bytes && madvise(base, bytes, MADV_DONTNEED) != 0)
        bug("cannot clear %zu bytes", bytes);
}

size_t arena_most(void)
{
    return reserved - ARENA_ALIGNMENT;
}

size_t arena_used(void)
{
    return used;
}
