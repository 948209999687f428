/* Marks of the accesses of each thread, their comparison, and the copies that undo a launch. */
#include "footprint.h"

#include <string.h>

#include "base/number.h"
#include "runtime/engine/arena.h"

#define BLOCK_WORDS (((uint64_t)1 << FOOTPRINT_BLOCK_BITS) / 4 / 64)
#define BLOCK_PAGES ((uint64_t)1 << (FOOTPRINT_BLOCK_BITS - FOOTPRINT_PAGE_BITS))
#define PAGE_BYTES  ((size_t)1 << FOOTPRINT_PAGE_BITS)

uint8_t *footprint_pages;
static char *copies;      /* copies of pages, at their places in memory */
static uint64_t reserved; /* size of the memory that all of this is for */
static struct footprint footprints[FOOTPRINT_THREADS];
static bool sharing_failed; /* atomic */

void footprint_lose(void)
{
    __atomic_store_n(&sharing_failed, true, __ATOMIC_RELAXED);
}

bool footprint_is_lost(void)
{
    return __atomic_load_n(&sharing_failed, __ATOMIC_RELAXED);
}

struct footprint *footprint_of(uint32_t thread)
{
    return &footprints[thread];
}

/* ---- memory of marks and copies ---- */

static uint64_t blocks_in(uint64_t bytes)
{
    return (bytes >> FOOTPRINT_BLOCK_BITS) + 1;
}

static void release_marks(void)
{
    arena_release(footprint_pages, blocks_in(reserved) * BLOCK_PAGES);
    arena_release(copies, reserved);
    for (struct footprint *f = footprints; f < footprints + FOOTPRINT_THREADS; f++) {
        if (!f->blocks)
            continue;
        arena_release(f->blocks, blocks_in(reserved));
        for (unsigned kind = 0; kind < FOOTPRINT_KINDS; kind++)
            arena_release(f->mark[kind], blocks_in(reserved) * BLOCK_WORDS * sizeof *f->mark[kind]);
        *f = (struct footprint){.low = 0};
    }
}

void footprint_begin(uint32_t threads)
{
    if (reserved != memory.size) {
        if (reserved)
            release_marks();
        reserved = memory.size;
        footprint_pages = arena_reserve(blocks_in(reserved) * BLOCK_PAGES);
        copies = arena_reserve(reserved);
    }
    for (struct footprint *f = footprints; f < footprints + threads; f++) {
        f->low = UINT64_MAX;
        f->high = 0;
        if (f->blocks)
            continue;
        f->blocks = arena_reserve(blocks_in(reserved));
        for (unsigned kind = 0; kind < FOOTPRINT_KINDS; kind++)
            f->mark[kind] =
                arena_reserve(blocks_in(reserved) * BLOCK_WORDS * sizeof *f->mark[kind]);
    }
    __atomic_store_n(&sharing_failed, false, __ATOMIC_RELAXED);
}

/* ---- marks ---- */

void footprint_new_blocks(struct footprint *f, uint64_t from, uint64_t to, enum footprint_kind kind)
{
    uint64_t first = from >> FOOTPRINT_BLOCK_BITS, last = to >> FOOTPRINT_BLOCK_BITS;
    for (uint64_t block = first; block <= last; block++)
        f->blocks[block] |= (uint8_t)(1u << kind);
    f->low = min(first, f->low);
    f->high = max(last + 1, f->high);
}

static void keep_page(uint64_t page)
{
    uint8_t expected = FOOTPRINT_FREE;
    if (__atomic_compare_exchange_n(&footprint_pages[page], &expected, FOOTPRINT_COPYING, false,
                                    __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
        memcpy(copies + page * PAGE_BYTES, memory.bytes + page * PAGE_BYTES, PAGE_BYTES);
        __atomic_store_n(&footprint_pages[page], FOOTPRINT_KEPT, __ATOMIC_RELEASE);
    }
    while (!footprint_is_kept(&footprint_pages[page]))
        __builtin_ia32_pause();
}

void footprint_keep(uint64_t from, uint64_t to)
{
    for (uint64_t page = from >> FOOTPRINT_PAGE_BITS; page <= to >> FOOTPRINT_PAGE_BITS; page++)
        keep_page(page);
}

/* ---- when the threads have ended ---- */

enum { CHANGED = 1 << FOOTPRINT_WRITTEN | 1 << FOOTPRINT_UPDATED };

/* True if `a` has marked a dword of the block as `kind` which `b` has marked as `other`. */
static bool share_in(const struct footprint *a, enum footprint_kind kind, const struct footprint *b,
                     enum footprint_kind other, uint64_t block)
{
    const uint64_t *marks_of_a = a->mark[kind] + block * BLOCK_WORDS;
    const uint64_t *marks_of_b = b->mark[other] + block * BLOCK_WORDS;
    uint64_t both = 0;
    if (!(a->blocks[block] >> kind & 1) || !(b->blocks[block] >> other & 1))
        return false;
    for (unsigned i = 0; i < BLOCK_WORDS; i++)
        both |= marks_of_a[i] & marks_of_b[i];
    return both;
}

/* True if `a` has changed a dword of the block that `b` has accessed, unless both have updated
 * it. */
static bool depend_in(const struct footprint *a, const struct footprint *b, uint64_t block)
{
    return share_in(a, FOOTPRINT_WRITTEN, b, FOOTPRINT_READ, block)
           || share_in(a, FOOTPRINT_WRITTEN, b, FOOTPRINT_WRITTEN, block)
           || share_in(a, FOOTPRINT_WRITTEN, b, FOOTPRINT_UPDATED, block)
           || share_in(a, FOOTPRINT_UPDATED, b, FOOTPRINT_READ, block);
}

static bool any_depend(uint32_t threads)
{
    for (const struct footprint *a = footprints; a < footprints + threads; a++)
        for (uint64_t block = a->low; block < a->high; block++)
            for (const struct footprint *b = footprints;
                 a->blocks[block] & CHANGED && b < footprints + threads; b++)
                if (b != a && b->blocks[block] && depend_in(a, b, block))
                    return true;
    return false;
}

/* The pages of a block that has been changed: their copies go, or come back. */
static void release_pages(uint64_t block, bool restore)
{
    for (uint64_t page = block * BLOCK_PAGES; page < (block + 1) * BLOCK_PAGES; page++) {
        if (restore && footprint_pages[page] >= FOOTPRINT_KEPT)
            memcpy(memory.bytes + page * PAGE_BYTES, copies + page * PAGE_BYTES, PAGE_BYTES);
        footprint_pages[page] = FOOTPRINT_FREE;
    }
}

static void clear_marks(struct footprint *f, bool restore)
{
    for (uint64_t block = f->low; block < f->high; block++) {
        for (unsigned kind = 0; kind < FOOTPRINT_KINDS; kind++)
            if (f->blocks[block] >> kind & 1)
                memset(f->mark[kind] + block * BLOCK_WORDS, 0, BLOCK_WORDS * sizeof *f->mark[kind]);
        if (f->blocks[block] & CHANGED)
            release_pages(block, restore);
        f->blocks[block] = 0;
    }
}

bool footprint_end(uint32_t threads)
{
    bool independent = !footprint_is_lost() && !any_depend(threads);
    for (uint32_t i = 0; i < threads; i++)
        clear_marks(footprint_of(i), !independent);
    return independent;
}
