/* First fit over sorted extents; see page_allocator.h. Called by the memory manager. */
#include "page_allocator.h"

#include <string.h>

#include "base/number.h"

void page_allocator_init(struct page_allocator *a, struct page_extent *extents, uint32_t capacity,
                         uint64_t first, uint64_t pages)
{
    *a = (struct page_allocator){.free_pages = pages, .count = pages ? 1 : 0, .capacity = capacity};
    if (pages)
        extents[0] = (struct page_extent){first, pages};
}

uint64_t page_allocator_allocate(struct page_allocator *a, struct page_extent *extents,
                                 uint64_t pages, uint64_t *first)
{
    uint32_t i = 0;
    while (i < a->count && extents[i].pages < pages)
        i++;
    if (i == a->count)
        i = 0;
    if (!a->count || !pages)
        return 0;
    uint64_t taken = min(extents[i].pages, pages);
    *first = extents[i].first;
    extents[i].first += taken;
    extents[i].pages -= taken;
    a->free_pages -= taken;
    if (!extents[i].pages)
        memmove(&extents[i], &extents[i + 1], (--a->count - i) * sizeof *extents);
    return taken;
}

/* Number of the first extent that begins after page `first`. */
static uint32_t first_behind(const struct page_allocator *a, const struct page_extent *extents,
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

bool page_allocator_allocate_at(struct page_allocator *a, struct page_extent *extents,
                                uint64_t first, uint64_t pages)
{
    uint32_t low = first_behind(a, extents, first);
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

bool page_allocator_allocate_run(struct page_allocator *a, struct page_extent *extents,
                                 uint64_t pages, uint64_t align, uint64_t *first)
{
    for (uint32_t i = 0; i < a->count; i++) {
        uint64_t start = round_up(extents[i].first, align);
        uint64_t skipped = start - extents[i].first;
        if (skipped >= extents[i].pages || pages > extents[i].pages - skipped)
            continue;
        *first = start;
        return page_allocator_allocate_at(a, extents, start, pages);
    }
    return false;
}

bool page_allocator_release(struct page_allocator *a, struct page_extent *extents, uint64_t first,
                            uint64_t pages)
{
    uint32_t low = first_behind(a, extents, first);
    struct page_extent *before = low ? &extents[low - 1] : NULL;
    struct page_extent *after = low < a->count ? &extents[low] : NULL;
    if ((before && before->first + before->pages > first)
        || (after && first + pages > after->first))
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
