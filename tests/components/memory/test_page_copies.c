/* The table of copies of pages, against an array. */
#include <criterion/criterion.h>

#include "components/memory/page_table/page_copies.h"
#include "runtime/engine/arena.h"
#include "tests/components/harness.h"

static struct page_copies *fresh(void)
{
    arena_open();
    struct page_copies *t = arena_at(struct page_copies, arena_allocate(sizeof *t));
    page_copies_init(t);
    return t;
}

Test(page_copies, finds_what_was_added_until_it_is_taken)
{
    enum { MASTERS = 200, GPUS = 8 };
    static uint64_t there[MASTERS][GPUS];
    struct page_copies *t = fresh();
    uint64_t random = 7;
    uint32_t count = 0;
    memset(there, 0, sizeof there);
    for (uint32_t i = 0; i < 100000; i++) {
        uint64_t r = harness_random(&random), m = r % MASTERS, gpu = r >> 20 & 7;
        uint64_t master = m << 12 | (m & 1) << 40; /* many in a bucket */
        if (r >> 60 & 1) {
            if (!there[m][gpu]) {
                there[m][gpu] = (1 + (r >> 30 & 0xffff)) << 12;
                cr_assert(page_copies_add(t, master, (uint32_t)gpu, there[m][gpu]));
                count++;
            }
        } else if (!(r >> 56 & 15)) {
            struct page_copy copy;
            while (page_copies_remove(t, master, &copy)) {
                cr_assert_eq(copy.master, master);
                cr_assert_eq(copy.physical, there[m][copy.gpu]);
                there[m][copy.gpu] = 0;
                count--;
            }
            for (uint32_t g = 0; g < GPUS; g++)
                cr_assert_eq(there[m][g], 0, "all copies of a page are taken");
        }
        const struct page_copy *found = page_copies_find(t, master, (uint32_t)gpu);
        cr_assert_eq(found != NULL, there[m][gpu] != 0);
        cr_assert(!found || found->physical == there[m][gpu]);
        cr_assert_eq(page_copies_count(t), count);
    }
}

Test(page_copies, refuses_one_too_many)
{
    struct page_copies *t = fresh();
    struct page_copy copy;
    for (uint64_t i = 0; i < PAGE_COPIES_MAX; i++)
        cr_assert(page_copies_add(t, i << 12, 1, i << 13));
    cr_expect_not(page_copies_add(t, (uint64_t)PAGE_COPIES_MAX << 12, 1, 0));
    cr_expect(page_copies_remove(t, 5 << 12, &copy));
    cr_expect(page_copies_add(t, (uint64_t)PAGE_COPIES_MAX << 12, 1, 0));
}
