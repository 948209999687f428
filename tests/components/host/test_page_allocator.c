/* The page allocator under random use against a plain array of pages. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "components/host/device_memory/page_allocator.h"

enum { FIRST = 100, PAGES = 512, EXTENTS = PAGES / 2 + 2 };

static struct page_extent extents[EXTENTS];
static struct page_allocator allocator;

static void check_invariant(const bool *used)
{
    uint64_t pages = 0;
    for (uint32_t i = 0; i < allocator.count; i++) {
        cr_assert_gt(extents[i].pages, 0);
        if (i)
            cr_assert_gt(extents[i].first, extents[i - 1].first + extents[i - 1].pages,
                         "extents touch or are unsorted");
        for (uint64_t p = 0; p < extents[i].pages; p++)
            cr_assert_not(used[extents[i].first + p - FIRST], "a used page is free");
        pages += extents[i].pages;
    }
    cr_assert_eq(pages, allocator.free_pages);
}

Test(page_allocator, agrees_with_a_plain_array)
{
    bool used[PAGES] = {false};
    struct page_extent held[PAGES];
    unsigned held_count = 0;
    uint64_t free_pages = PAGES;
    page_allocator_init(&allocator, extents, EXTENTS, FIRST, PAGES);
    srand(11);
    for (unsigned step = 0; step < 20000; step++) {
        if (held_count && (rand() & 1)) {
            unsigned i = (unsigned)rand() % held_count;
            cr_assert(page_allocator_release(&allocator, extents, held[i].first, held[i].pages));
            for (uint64_t p = 0; p < held[i].pages; p++)
                used[held[i].first + p - FIRST] = false;
            free_pages += held[i].pages;
            held[i] = held[--held_count];
        } else {
            uint64_t first = 0, wanted = 1 + (unsigned)rand() % 40;
            uint64_t got = page_allocator_allocate(&allocator, extents, wanted, &first);
            cr_assert_leq(got, wanted);
            cr_assert_eq(got == 0, free_pages == 0);
            for (uint64_t p = 0; p < got; p++) {
                cr_assert_not(used[first + p - FIRST], "page handed out twice");
                used[first + p - FIRST] = true;
            }
            free_pages -= got;
            if (got)
                held[held_count++] = (struct page_extent){first, got};
        }
        cr_assert_eq(allocator.free_pages, free_pages);
        check_invariant(used);
    }
    while (held_count--)
        cr_assert(page_allocator_release(&allocator, extents, held[held_count].first,
                                         held[held_count].pages));
    cr_assert_eq(allocator.count, 1, "all pages are back, but in %u pieces", allocator.count);
}

Test(page_allocator, takes_the_first_extent_that_is_long_enough)
{
    uint64_t a, b, c;
    page_allocator_init(&allocator, extents, EXTENTS, FIRST, PAGES);
    cr_assert_eq(page_allocator_allocate(&allocator, extents, 10, &a), 10);
    cr_assert_eq(page_allocator_allocate(&allocator, extents, 10, &b), 10);
    cr_assert(page_allocator_release(&allocator, extents, a, 10));
    cr_assert_eq(page_allocator_allocate(&allocator, extents, 11, &c), 11);
    cr_assert_eq(c, FIRST + 20);
    cr_assert_eq(page_allocator_allocate(&allocator, extents, 4, &c), 4);
    cr_assert_eq(c, FIRST);
}

Test(page_allocator, refuses_pages_that_are_free)
{
    uint64_t first;
    page_allocator_init(&allocator, extents, EXTENTS, FIRST, PAGES);
    cr_assert_eq(page_allocator_allocate(&allocator, extents, 20, &first), 20);
    cr_assert(page_allocator_release(&allocator, extents, first + 5, 5));
    cr_assert_not(page_allocator_release(&allocator, extents, first + 5, 5));
    cr_assert_not(page_allocator_release(&allocator, extents, first, 6));
    cr_assert_not(page_allocator_release(&allocator, extents, first + 9, 3));
    cr_assert_eq(allocator.free_pages, PAGES - 15);
}
