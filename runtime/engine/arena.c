/* The arena: one no-reserve reservation that holds all state. Its front, on huge pages where the
 * system has them, holds what is touched all the time: what the runtime keeps of components, and
 * their arrays. Large ones are after it on small pages, as most are never filled (page tables,
 * tables for the worst case). Both are handed out front to back.
 *
 * With several ranks each has a slice of its own, with a front and a rear, so that no page holds
 * the state of two ranks. A slice is address space only: sizes need not be known.
 *
 * It lies far above 4 GiB, where no pointer that was cut to 32 bits leads, and far from what the
 * system places by itself, where no pointer to memory that was given back leads.
 *
 * Invariant: every byte that has not been handed out is zero (fresh pages of the system), so
 * nothing needs clearing. Offset 0 is never handed out. Called by platform.c and the init functions
 * of components, and in a run by kernel_stats.c, one thread at a time, and between windows. */
#define _GNU_SOURCE /* keys for pages */
#include "arena.h"

#include <stdio.h>
#include <sys/mman.h>

#include "base/number.h"

#include "bug.h"
#include "engine.h"

/* All that 32-bit offsets in units of 8 bytes can name. */
#define ARENA_MAX   ((size_t)32 << 30)
#define ARENA_LEAST ((size_t)1 << 30)
#define DERIVED_MAX ((size_t)1 << 30)

/* A place behind the guard, where Linux on x86-64 puts nothing by itself. Nothing depends on it. */
#define PREFERRED_ADDRESS ((void *)(UINT64_C(0x180000000000) - GUARD_BYTES))

/* Large enough for a device of 300 compute units. With 256 MiB, 64 devices held all of that on huge
 * pages, and used a fifth. */
#define FRONT_BYTES ((size_t)64 << 20)
/* Arrays up to here go to the front. Larger ones are mostly tables for the worst case, of which
 * programs use a few pages. */
#define SMALL_BYTES ((size_t)32 << 10)

#define HUGE_BYTES  ((size_t)2 << 20)
#define GUARD_BYTES HUGE_BYTES /* the guarded bytes may lie on huge pages */

struct extent { /* offsets */
    size_t used;
    size_t end;
};

struct slice {
    struct extent front, rear;
    size_t start[2]; /* each one's first byte */
};

#define SLICES_MAX 65 /* one for all ranks, and one for each */
#define SLICE_UNIT HUGE_BYTES

static struct slice slices[SLICES_MAX];
static struct slice *selected_slice = slices;
static struct slice *own_slice; /* NULL: not divided */
static size_t reserved;
/* The arena's pages have it for good; 0, which is the key of other memory: none yet. */
static int key;
static bool is_protected;
static char *derived;
static size_t derived_used;
static bool uses_small_pages;

/* An access that runs over the end of a neighbour's memory gets into the guards. */
static size_t guarded_bytes(size_t bytes)
{
    return round_up(bytes, ARENA_PAGE) + 2 * GUARD_BYTES;
}

/* At `address`, guards included, where that is free; NULL: anywhere. */
static char *try_reserve(void *address, size_t bytes)
{
    char *base = mmap(address, guarded_bytes(bytes), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return NULL;
    mprotect(base, GUARD_BYTES, PROT_NONE);
    mprotect(base + guarded_bytes(bytes) - GUARD_BYTES, GUARD_BYTES, PROT_NONE);
    return base + GUARD_BYTES;
}

static _Noreturn void die_without_space(size_t bytes)
{
    die("cannot reserve %zu MiB of address space; raise the limit (ulimit -v)", bytes >> 20);
}

void *arena_reserve(size_t bytes)
{
    char *base = try_reserve(NULL, bytes);
    if (!base)
        die_without_space(bytes);
    return base;
}

void arena_release(void *base, size_t bytes)
{
    if (base)
        munmap((char *)base - GUARD_BYTES, guarded_bytes(bytes));
}

/* Reserves as much as a limit of address space, or valgrind, leaves. */
static char *reserve_most(void)
{
    for (reserved = ARENA_MAX; reserved >= ARENA_LEAST; reserved /= 2) {
        char *base = try_reserve(PREFERRED_ADDRESS, reserved);
        if (base)
            return base;
    }
    die_without_space(ARENA_LEAST);
}

/* The guards count: what gets there has gone past its own memory. */
static bool overlaps(const void *start, size_t bytes, const char *base, size_t size)
{
    uintptr_t first = (uintptr_t)start, guard = (uintptr_t)base - GUARD_BYTES;
    return base && first < guard + guarded_bytes(size) && first + bytes > guard;
}

bool arena_touches(const void *start, size_t bytes)
{
    return overlaps(start, bytes, engine_base.arena, reserved)
           || overlaps(start, bytes, derived, DERIVED_MAX);
}

/* Lets this thread touch pages with the key, or not. */
static void permit(bool may_touch)
{
    pkey_set(key, may_touch ? 0 : PKEY_DISABLE_ACCESS);
}

static bool protect_arena(void)
{
    if (key == 0)
        key = pkey_alloc(0, 0);
    if (key <= 0)
        return false;
    permit(true);
    return pkey_mprotect(engine_base.arena, reserved, PROT_READ | PROT_WRITE, key) == 0;
}

void arena_hide(void)
{
    if (is_protected)
        permit(false);
}

void arena_show(void)
{
    if (is_protected)
        permit(true);
}

void arena_close(void)
{
    arena_show();
    arena_release(engine_base.arena, reserved);
    engine_base.arena = NULL;
    reserved = 0;
    is_protected = false;
}

void arena_use_small_pages(bool small)
{
    uses_small_pages = small;
}

void arena_open(void)
{
    arena_close();
    engine_base.arena = reserve_most();
    is_protected = protect_arena();
    own_slice = NULL;
    selected_slice = slices;
    selected_slice->start[1] = FRONT_BYTES;
    selected_slice->front = (struct extent){ARENA_ALIGNMENT, FRONT_BYTES};
    selected_slice->rear = (struct extent){FRONT_BYTES, reserved - ARENA_ALIGNMENT};
    if (!uses_small_pages)
        madvise(engine_base.arena, FRONT_BYTES, MADV_HUGEPAGE); /* huge pages are only faster */
    arena_release(derived, DERIVED_MAX);
    derived = arena_reserve(DERIVED_MAX);
    derived_used = 0;
}

void arena_divide(uint32_t owners, uint32_t own_rank)
{
    size_t share = round_down((reserved - FRONT_BYTES) / (owners + 1), SLICE_UNIT);
    size_t front_bytes = min(round_down(share / 4, SLICE_UNIT), FRONT_BYTES);
    if (owners >= SLICES_MAX)
        bug("an arena of %u slices", owners);
    own_slice = &slices[own_rank + 1];
    slices[0].rear.end = FRONT_BYTES + share - ARENA_ALIGNMENT;
    for (uint32_t i = 0; i < owners; i++) {
        size_t start = FRONT_BYTES + (i + 1) * share;
        slices[i + 1] = (struct slice){{start, start + front_bytes},
                                       {start + front_bytes, start + share - ARENA_ALIGNMENT},
                                       {start, start + front_bytes}};
    }
    if (!uses_small_pages)
        madvise(engine_base.arena + own_slice->start[0], front_bytes, MADV_HUGEPAGE);
}

void arena_select(uint32_t owner)
{
    if (own_slice)
        selected_slice = owner == ARENA_COMMON ? slices : &slices[owner + 1];
}

void arena_slice(uint32_t owner, struct arena_run runs[2])
{
    const struct slice *s = &slices[owner + 1];
    runs[0] = (struct arena_run){s->start[0], s->front.used - s->start[0]};
    runs[1] = (struct arena_run){s->start[1], s->rear.used - s->start[1]};
}

static size_t hand_out(struct extent *r, size_t bytes)
{
    size_t offset = r->used;
    if (bytes > r->end - r->used)
        die("the platform's state exceeds %zu GiB; describe fewer or smaller components",
            reserved >> 30);
    r->used = round_up(r->used + bytes, ARENA_ALIGNMENT);
    return offset;
}

static uint32_t allocate(size_t bytes, bool prefers_front)
{
    struct extent *front = &selected_slice->front, *rear = &selected_slice->rear;
    bool fits = bytes <= front->end - front->used;
    if (!engine_base.arena)
        bug("arena_allocate() before platform_build()");
    return (uint32_t)(hand_out(prefers_front && fits ? front : rear, bytes) / ARENA_UNIT);
}

uint32_t arena_allocate(size_t bytes)
{
    return allocate(bytes, bytes <= SMALL_BYTES);
}

uint32_t arena_allocate_front(size_t bytes)
{
    return allocate(bytes, true);
}

uint32_t arena_allocate_rear(size_t bytes)
{
    return allocate(bytes, false);
}

void *arena_derive(size_t bytes)
{
    char *memory = derived + derived_used;
    if (bytes > DERIVED_MAX - derived_used - ARENA_ALIGNMENT)
        die("the platform's tables exceed %zu MiB; describe fewer components", DERIVED_MAX >> 20);
    derived_used = round_up(derived_used + bytes, ARENA_ALIGNMENT);
    return memory;
}

void arena_expect(void *start, size_t bytes)
{
    /* Where half of a huge page is expected it costs no more than small ones. */
    uintptr_t first = ((uintptr_t)start + HUGE_BYTES / 2) & ~(uintptr_t)(HUGE_BYTES - 1);
    uintptr_t end = ((uintptr_t)start + bytes + HUGE_BYTES / 2) & ~(uintptr_t)(HUGE_BYTES - 1);
    if (first < end) /* the system may refuse: it is only faster */
        madvise((void *)first, end - first, MADV_HUGEPAGE);
}

void arena_clear(void *base, size_t bytes)
{
    if (bytes && madvise(base, bytes, MADV_DONTNEED) != 0)
        bug("cannot clear %zu bytes", bytes);
}

struct arena_ends arena_ends(void)
{
    return (struct arena_ends){slices[0].front.used, slices[0].rear.used};
}

size_t arena_skip(size_t offset)
{
    return offset >= slices[0].front.used && offset < FRONT_BYTES ? FRONT_BYTES : offset;
}

static bool can_end_at(const struct extent *r, uint64_t end)
{
    return end <= r->end && end % ARENA_ALIGNMENT == 0;
}

static void extend(struct extent *r, uint64_t end)
{
    r->used = max(end, r->used);
}

bool arena_extend(struct arena_ends ends)
{
    if (!can_end_at(&slices[0].front, ends.front) || !can_end_at(&slices[0].rear, ends.rear))
        return false;
    extend(&slices[0].front, ends.front);
    extend(&slices[0].rear, ends.rear);
    return true;
}
