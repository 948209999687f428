/* A page table without a driver, for platforms that drive themselves. */
#include "identity_pages.gen.h"

#include "components/memory/page_table/page_table.h"

struct identity_pages {
    struct identity_pages_io io;
};

static void identity_pages_init(struct identity_pages *c)
{
    uint64_t page = identity_pages_params(c)->page, span = identity_pages_params(c)->span;
    struct page_table *table = identity_pages_page_table(c);
    page_table_init(table, (unsigned)__builtin_ctzll(page), span / page);
    for (uint64_t at = 0; at < span; at += page)
        page_table_map(table, 0, at, at, true);
}

static bool identity_pages_tick(struct identity_pages *c)
{
    (void)c;
    return false;
}

static unsigned identity_pages_outstanding(const struct identity_pages *c,
                                           struct hang_report *report)
{
    (void)c;
    (void)report;
    return 0;
}
