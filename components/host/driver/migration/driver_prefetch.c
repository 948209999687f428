/* Pages that come with one that was faulted on. They are asked for behind all other questions, so
 * they come in the same pause. */
#include "driver_prefetch.h"

#include "driver_read_copies.h"
#include "prefetch_policy.h"

static uint64_t prefetch_start(uint64_t address)
{
    return address / PREFETCH_BYTES * PREFETCH_BYTES;
}

/* May the page come to the GPU; *here: is it there? */
static bool prefetch_find(const struct driver *d, const struct driver_page_request *t, bool *here)
{
    uint64_t physical, flags;
    if (!migrate_find(d, t, &physical, &flags)
        || (flags & (PAGE_TABLE_REMOTE | PAGE_TABLE_READ_MOSTLY)))
        return false;
    *here = memory_device_of(&d->memory, physical) == t->gpu;
    return true;
}

static void prefetch_neighbours(struct driver *d, const struct driver_page_request *t)
{
    const struct prefetch_policy_ops *policy = driver_prefetch_ops(d);
    uint64_t page = driver_page_bytes(d), first = prefetch_start(t->address);
    struct prefetch_block b = {.pages = (uint32_t)(PREFETCH_BYTES / page),
                               .page_bytes = page,
                               .faulted = (uint32_t)((t->address - first) / page)};
    struct driver_page_request other = *t;
    other.port = DRIVER_NONE;
    other.wish = PAGE_WISH_MOVE;
    if (!policy)
        return;
    for (uint32_t i = 0; i < b.pages; i++) {
        other.address = first + i * page;
        prefetch_find(d, &other, &b.here[i]);
    }
    policy->choose(driver_prefetch(d), &b);
    for (uint32_t i = 0; i < b.pages && d->migrate.count < DRIVER_PAGE_REQUESTS / 2; i++) {
        bool here = false;
        other.address = first + i * page;
        if (!b.wanted[i] || !prefetch_find(d, &other, &here) || here)
            continue;
        migrate_add(d, &other);
    }
}
