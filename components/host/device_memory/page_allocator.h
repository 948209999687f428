/* Pages of one device memory, or of the range of virtual addresses: a sorted list of free extents,
 * taken first fit, merged when released.
 *
 * Pure functions on an array that the caller provides. Invariant: extents are sorted, do not touch
 * and are not empty, and their pages sum up to free_pages. An allocation takes one extent where one
 * is long enough, and otherwise the first extents as they come: pages of one allocation need not be
 * neighbours. */
#ifndef HEDDLE_COMPONENTS_HOST_DEVICE_MEMORY_PAGE_ALLOCATOR_H
#define HEDDLE_COMPONENTS_HOST_DEVICE_MEMORY_PAGE_ALLOCATOR_H

#include <stdbool.h>
#include <stdint.h>

struct page_extent {
    uint64_t first; /* page number */
    uint64_t pages;
};

struct page_allocator {
    uint64_t free_pages;
    uint32_t count;
    uint32_t capacity; /* extents that the array holds */
};

void page_allocator_init(struct page_allocator *a, struct page_extent *extents, uint32_t capacity,
                         uint64_t first, uint64_t pages);

/* Allocates up to `pages` pages that are neighbours: all of them if some extent has them, else what
 * the first extent has. Returns how many; 0: nothing is free. */
uint64_t page_allocator_allocate(struct page_allocator *a, struct page_extent *extents,
                                 uint64_t pages, uint64_t *first);

/* Allocates just these pages. False: not all of them are free, or the list is full; nothing has
 * changed. */
bool page_allocator_allocate_at(struct page_allocator *a, struct page_extent *extents,
                                uint64_t first, uint64_t pages);

/* Allocates `pages` neighbours whose first number is a multiple of `align`, the lowest there are.
 * False: there are none, or the list is full; nothing has changed. */
bool page_allocator_allocate_run(struct page_allocator *a, struct page_extent *extents,
                                 uint64_t pages, uint64_t align, uint64_t *first);

/* Releases pages. False when they are (partly) free already or the list is full: nothing has
 * changed. */
bool page_allocator_release(struct page_allocator *a, struct page_extent *extents, uint64_t first,
                            uint64_t pages);

#endif
