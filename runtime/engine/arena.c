/* The arena: one no-reserve reservation that holds all state, never given back. Its front, on huge
 * pages where the system has them, holds what is touched all the time: what the runtime keeps of
 * components, and their small arrays. Large ones stand behind it on small pages, as most are never
 * filled (registers, page tables, tables for the worst case). Both are handed out front to back.
 *
 * Invariant: every byte that has not been handed out is zero (fresh pages of the system), so
 * nothing needs clearing. Offset 0 is never handed out. Called by platform.c and the init functions
 * of components, and in a run by kernel_stats.c, one thread at a time, and between windows. */
#include <stdio.h>
#include <sys/mman.h>

#include "runtime/engine/bug.h"
#include "arena.h"
#include "engine.h"

/* All that 32-bit offsets in units of 8 bytes can name. */
#define ARENA_MOST   ((size_t)32 << 30)
#define ARENA_LEAST  ((size_t)1 << 30)
#define DERIVED_MOST ((size_t)1 << 30)

/* Large enough for 16 devices; what is larger only stands further behind. */
#define FRONT_BYTES ((size_t)256 << 20)
/* Arrays up to here go to the front: with more, memory grows faster than speed. On a platform of
 * many components, whose front is larger than the host's caches, only those of a few lines do. */
#define SMALL_BYTES ((size_t)32 << 10)
#define FULL_FRONT  ((size_t)32 << 20)
#define LEAST_BYTES ((size_t)2 << 10)

struct region { /* offsets */
    size_t used;
    size_t end;
};

static struct region front, rear;
static size_t reserved;
static char *derived;
static size_t derived_used;
static bool small_pages;

static void *try_reserve(size_t bytes)
{
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return base == MAP_FAILED ? NULL : base;
}

/* At ARENA_BASE, where nothing may be yet. Systems and emulators that do not know
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

static bool overlap(const void *start, size_t bytes, const char *base, size_t size)
{
    uintptr_t first = (uintptr_t)start, other = (uintptr_t)base;
    return base && first < other + size && first + bytes > other;
}

bool arena_touches(const void *start, size_t bytes)
{
    return overlap(start, bytes, engine_base.arena, reserved)
           || overlap(start, bytes, derived, DERIVED_MOST);
}

void arena_close(void)
{
    arena_release(engine_base.arena, reserved);
    engine_base.arena = NULL;
    reserved = 0;
}

void arena_use_small_pages(bool small)
{
    small_pages = small;
}

void arena_open(void)
{
    arena_release(engine_base.arena, reserved);
    engine_base.arena = reserve_most();
    front = (struct region){ARENA_ALIGNMENT, FRONT_BYTES};
    rear = (struct region){FRONT_BYTES, reserved - ARENA_ALIGNMENT};
    if (!small_pages)
        madvise(engine_base.arena, FRONT_BYTES, MADV_HUGEPAGE); /* or not: it is only faster */
    arena_release(derived, DERIVED_MOST);
    derived = arena_reserve(DERIVED_MOST);
    derived_used = 0;
}

static size_t hand_out(struct region *r, size_t bytes)
{
    size_t offset = r->used;
    if (bytes > r->end - r->used)
        die("the platform's state exceeds %zu GiB", reserved >> 30);
    r->used = (r->used + bytes + ARENA_ALIGNMENT - 1) & ~(size_t)(ARENA_ALIGNMENT - 1);
    return offset;
}

static uint32_t allocate(size_t bytes, bool in_front)
{
    if (!engine_base.arena)
        bug("arena_allocate() before platform_build()");
    bool fits = bytes <= front.end - front.used;
    return (uint32_t)(hand_out(in_front && fits ? &front : &rear, bytes) / ARENA_UNIT);
}

uint32_t arena_allocate(size_t bytes)
{
    return allocate(bytes, bytes <= (front.used < FULL_FRONT ? SMALL_BYTES : LEAST_BYTES));
}

uint32_t arena_allocate_front(size_t bytes)
{
    return allocate(bytes, true);
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

struct arena_ends arena_ends(void)
{
    return (struct arena_ends){front.used, rear.used};
}

bool arena_extend(struct arena_ends to)
{
    if (to.front > front.end || to.rear > rear.end || to.front % ARENA_ALIGNMENT
        || to.rear % ARENA_ALIGNMENT)
        return false;
    front.used = to.front > front.used ? to.front : front.used;
    rear.used = to.rear > rear.used ? to.rear : rear.used;
    return true;
}
