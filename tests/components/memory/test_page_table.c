/* The page table's data structure, against an array. */
#include <criterion/criterion.h>

#include "components/memory/page_table/page_table.h"
#include "runtime/engine/arena.h"
#include "tests/components/harness.h"

static struct page_table *fresh(unsigned page_bits, uint64_t pages)
{
    arena_open();
    struct page_table *t = arena_at(struct page_table, arena_allocate(sizeof(struct page_table)));
    page_table_init(t, page_bits, pages);
    return t;
}

Test(page_table, finds_what_was_mapped_until_it_is_unmapped)
{
    enum { PAGES = 4096 };
    static uint64_t mapped[2][PAGES];
    for (unsigned bits = 12; bits <= 21; bits += 3) {
        struct page_table *t = fresh(bits, 2 * PAGES);
        uint64_t random = bits, base = (uint64_t)0x7f00 << 32;
        memset(mapped, 0, sizeof mapped);
        for (uint32_t i = 0; i < 20000; i++) {
            uint64_t r = harness_random(&random), page = r % PAGES, pid = r >> 20 & 1;
            uint64_t address = base + (page << bits) + (r >> 30) % (1u << bits), physical;
            bool writable;
            if (r >> 60 & 1) {
                mapped[pid][page] = 1 + (r >> 40 & 0xffff);
                cr_assert(page_table_map(t, (uint32_t)pid, address, (mapped[pid][page] - 1) << bits,
                                         r >> 61 & 1));
            } else if (r >> 59 & 1) {
                mapped[pid][page] = 0;
                page_table_unmap(t, (uint32_t)pid, address);
            }
            bool found = page_table_find(t, (uint32_t)pid, address, &physical, &writable);
            cr_assert_eq(found, mapped[pid][page] != 0);
            if (found)
                cr_assert_eq(physical, (mapped[pid][page] - 1) << bits);
        }
        uint64_t count = 0;
        for (uint32_t i = 0; i < PAGES; i++)
            count += (mapped[0][i] != 0) + (mapped[1][i] != 0);
        cr_expect_eq(t->pages, count);
    }
}

Test(page_table, refuses_what_it_cannot_hold)
{
    struct page_table *t = fresh(12, 16);
    uint64_t physical;
    bool writable;
    cr_expect_not(page_table_map(t, PAGE_TABLE_PIDS, 0x1000, 0, true));
    cr_expect_not(page_table_map(t, 1, (uint64_t)1 << 48, 0, true));
    cr_expect_not(page_table_find(t, 1, (uint64_t)1 << 60, &physical, &writable));
    bool full = false;
    for (uint64_t i = 0; i < 65536 && !full; i++)
        full = !page_table_map(t, 1, i << 30, 0, true);
    cr_expect(full, "a table of sparse pages is full some time, and says so");
}

Test(page_table, keeps_permissions)
{
    struct page_table *t = fresh(12, 16);
    uint64_t physical;
    bool writable;
    page_table_map(t, 3, 0x5000, 0x9000, false);
    cr_assert(page_table_find(t, 3, 0x5fff, &physical, &writable));
    cr_expect_eq(physical, 0x9000);
    cr_expect_not(writable);
}

/* Of page `page` of `count`, mapped to `to` with `flags`: by trying all sizes, the largest first.
 */
static unsigned fragment_of(const uint64_t *to, const uint64_t *flags, unsigned count,
                            unsigned page, unsigned most)
{
    for (unsigned bits = most; bits; bits--) {
        unsigned size = 1u << bits, first = page & ~(size - 1), i = 0;
        if (first + size > count || to[first] % size)
            continue;
        while (i < size && to[first] && to[first + i] == to[first] + i
               && flags[first + i] == flags[first])
            i++;
        if (i == size)
            return bits;
    }
    return 0;
}

Test(page_table, finds_the_largest_fragment_that_lies_side_by_side)
{
    enum { PAGES = 1024 };
    static uint64_t to[PAGES], flags[PAGES];
    uint64_t base = (uint64_t)0x7f00 << 32, random = 1;
    unsigned seen[10] = {0};
    for (unsigned round = 0; round < 40; round++) {
        struct page_table *t = fresh(12, PAGES);
        unsigned most = round % 10;
        t->fragment_bits = 12 + most;
        for (unsigned i = 0; i < PAGES; i++) {
            to[i] = 0x10000 + i;
            flags[i] = PAGE_TABLE_WRITABLE;
        }
        for (unsigned i = 0; i < round / 4;
             i++) { /* some lie elsewhere, are read-only or missing */
            uint64_t r = harness_random(&random), page = r % PAGES;
            to[page] = r >> 20 & 1 ? 0 : r >> 21 & 1 ? to[page] : 0x8000 + (r >> 30) % 4096;
            flags[page] = r >> 22 & 1 ? 0 : PAGE_TABLE_WRITABLE;
        }
        for (unsigned i = 0; i < PAGES; i++)
            if (to[i])
                cr_assert(page_table_enter(t, 1, base + (i << 12), to[i] << 12, flags[i]));
        for (unsigned i = 0; i < PAGES; i++) {
            uint64_t physical;
            if (!to[i])
                continue;
            unsigned bits = page_table_fragment(t, 1, base + (i << 12) + 5, &physical);
            cr_assert_eq(bits, 12 + fragment_of(to, flags, PAGES, i, most), "page %u of round %u",
                         i, round);
            cr_assert_eq(physical, to[i] << 12 >> bits << bits);
            seen[bits - 12]++;
        }
    }
    for (unsigned i = 0; i < 10; i++)
        cr_expect(seen[i], "no fragment of %u pages has been seen", 1u << i);
}

Test(page_table, unified_pages_are_no_fragment)
{
    struct page_table *t = fresh(12, 16);
    uint64_t physical;
    t->fragment_bits = 21;
    for (uint64_t i = 0; i < 4; i++)
        page_table_enter(t, 1, i << 12, i << 12, PAGE_TABLE_WRITABLE | PAGE_TABLE_UNIFIED);
    cr_expect_eq(page_table_fragment(t, 1, 0x2000, &physical), 12);
    cr_expect_eq(physical, 0x2000);
}
