/* Adding and taking copies of pages; see page_copies.h. Called by the driver, which writes the page
 * table. */
#include "page_copies.h"

#include "runtime/engine/store_log.h"

void page_copies_init(struct page_copies *t)
{
    t->entries_at = arena_allocate(PAGE_COPIES_MAX * sizeof(struct page_copy));
    t->buckets_at = arena_allocate(PAGE_COPIES_BUCKETS * sizeof(uint32_t));
    index_pool_init(&t->free, PAGE_COPIES_MAX);
}

bool page_copies_add(struct page_copies *t, uint64_t master, uint32_t gpu, uint64_t physical)
{
    uint32_t *bucket = page_copies_bucket(t, master);
    if (!index_pool_has(&t->free))
        return false;
    uint32_t i = index_pool_acquire(&t->free);
    *page_copies_at(t, i) = (struct page_copy){master, physical, gpu, *bucket};
    *bucket = i + 1;
    store_wrote(page_copies_at(t, i), sizeof *page_copies_at(t, i));
    store_wrote(bucket, sizeof *bucket);
    store_wrote(t, sizeof *t);
    return true;
}

bool page_copies_remove(struct page_copies *t, uint64_t master, struct page_copy *copy)
{
    for (uint32_t *link = page_copies_bucket(t, master); *link;
         link = &page_copies_at(t, *link - 1)->next) {
        uint32_t i = *link - 1;
        *copy = *page_copies_at(t, i);
        if (copy->master != master)
            continue;
        *link = copy->next;
        index_pool_release(&t->free, i);
        store_wrote(link, sizeof *link);
        store_wrote(t, sizeof *t);
        return true;
    }
    return false;
}
