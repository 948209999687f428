/* Pages of one device memory, or of the range of virtual addresses: a sorted list of free extents, taken first fit, merged
 * when given back.
 *
 * Pure functions on an array that the caller provides. Invariant: extents are sorted, do not touch and are not empty, and
 * their pages sum up to free_pages. An allocation takes one extent where one is long enough, and otherwise the first
 * extents as they come: pages of one allocation need not be neighbours. */
#ifndef HEDDLE_DRIVER_PAGE_ALLOCATOR_H
#define HEDDLE_DRIVER_PAGE_ALLOCATOR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct page_extent {
    uint64_t first; /* page number */
    uint64_t pages;
};

struct page_allocator {
    uint64_t free_pages;
    uint32_t count;
    uint32_t capacity; /* extents that the array holds */
};

static inline void page_allocator_init(struct page_allocator *a, struct page_extent *extents,
                                       uint32_t capacity, uint64_t first, uint64_t pages)
{
    *a = (struct page_allocator){.free_pages = pages, .count = pages ? 1 : 0, .capacity = capacity};
    if (pages)
        extents[0] = (struct page_extent){first, pages};
}

/* Takes up to `pages` pages that are neighbours: all of them if some extent has them, else what the first extent has.
 * Returns how many; 0: nothing is free. */
static inline uint64_t page_allocator_take(struct page_allocator *a, struct page_extent *extents,
                                           uint64_t pages, uint64_t *first)
{
    uint32_t i = 0;
    while (i < a->count && extents[i].pages < pages)
        i++;
    if (i == a->count)
        i = 0;
    if (!a->count || !pages)
        return 0;
    uint64_t taken = extents[i].pages < pages ? extents[i].pages : pages;
    *first = extents[i].first;
    extents[i].first += taken;
    extents[i].pages -= taken;
    a->free_pages -= taken;
    if (!extents[i].pages)
        memmove(&extents[i], &extents[i + 1], (--a->count - i) * sizeof *extents);
    return taken;
}

/* Number of the first extent that begins behind page `first`. */
static inline uint32_t page_allocator_behind(const struct page_allocator *a, const struct page_extent *extents,
                                             uint64_t first)
{
    uint32_t low = 0, high = a->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (extents[middle].first <= first)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Takes just these pages. False: not all of them are free, or the list is full; nothing has changed. */
static inline bool page_allocator_take_at(struct page_allocator *a, struct page_extent *extents, uint64_t first,
                                          uint64_t pages)
{
    uint32_t low = page_allocator_behind(a, extents, first);
    struct page_extent *e = low ? &extents[low - 1] : NULL;
    if (!pages || !e || first - e->first >= e->pages || pages > e->pages - (first - e->first))
        return false;
    uint64_t before = first - e->first, behind = e->pages - before - pages;
    if (before && behind && a->count == a->capacity)
        return false;
    a->free_pages -= pages;
    if (before && behind) {
        memmove(&e[2], &e[1], (a->count++ - low) * sizeof *extents);
        e[1] = (struct page_extent){first + pages, behind};
    }
    if (before)
        e->pages = before;
    else if (behind)
        *e = (struct page_extent){first + pages, behind};
    else
        memmove(e, e + 1, (--a->count - (low - 1)) * sizeof *extents);
    return true;
}

/* Takes `pages` neighbours whose first number is a multiple of `align`, the lowest there are. False: there are none, or the
 * list is full; nothing has changed. */
static inline bool page_allocator_take_run(struct page_allocator *a, struct page_extent *extents, uint64_t pages,
                                           uint64_t align, uint64_t *first)
{
    for (uint32_t i = 0; i < a->count; i++) {
        uint64_t start = (extents[i].first + align - 1) / align * align;
        uint64_t skipped = start - extents[i].first;
        if (skipped >= extents[i].pages || pages > extents[i].pages - skipped)
            continue;
        *first = start;
        return page_allocator_take_at(a, extents, start, pages);
    }
    return false;
}

/* Gives back pages. False when they are (partly) free already or the list is full: nothing has changed. */
static inline bool page_allocator_give(struct page_allocator *a, struct page_extent *extents,
                                       uint64_t first, uint64_t pages)
{
    uint32_t low = page_allocator_behind(a, extents, first);
    struct page_extent *before = low ? &extents[low - 1] : NULL;
    struct page_extent *after = low < a->count ? &extents[low] : NULL;
    if ((before && before->first + before->pages > first) || (after && first + pages > after->first))
        return false;
    bool joins_before = before && before->first + before->pages == first;
    bool joins_after = after && first + pages == after->first;
    if (!joins_before && !joins_after && a->count == a->capacity)
        return false;
    a->free_pages += pages;
    if (joins_before && joins_after) {
        before->pages += pages + after->pages;
        memmove(after, after + 1, (--a->count - low) * sizeof *extents);
    } else if (joins_before) {
        before->pages += pages;
    } else if (joins_after) {
        after->first = first;
        after->pages += pages;
    } else {
        memmove(&extents[low + 1], &extents[low], (a->count++ - low) * sizeof *extents);
        extents[low] = (struct page_extent){first, pages};
    }
    return true;
}

#endif
