/* The page table's data structure, against an array. */
#include <criterion/criterion.h>

#include "components/protocols/page_table/page_table.h"
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
