/* Pages that come with a page that was faulted on, and pages that the program sends somewhere. All
 * are asked for after other requests; pages that come with another one move in the same pause. */
#include <inttypes.h>

#include "components/host/driver/prefetch_policy.h"
#include "components/host/driver/program/driver_program.h"

#include "driver_migration.h"

static uint64_t prefetch_start(uint64_t address)
{
    return address / PREFETCH_BYTES * PREFETCH_BYTES;
}

/* True if the page may come to the GPU. *here: it is there already. */
static bool prefetch_find(const struct driver *d, const struct driver_page_request *r, bool *here)
{
    uint64_t physical, flags;
    if (!migrate_find(d, r, &physical, &flags)
        || (flags & (PAGE_TABLE_REMOTE | PAGE_TABLE_READ_MOSTLY)))
        return false;
    *here = memory_device_of(&d->memory, physical) == r->gpu;
    return true;
}

static void prefetch_neighbours(struct driver *d, const struct driver_page_request *r)
{
    const struct prefetch_policy_ops *policy = driver_prefetch_ops(d);
    uint64_t page = driver_page_bytes(d), first = prefetch_start(r->address);
    struct prefetch_block b = {.pages = (uint32_t)(PREFETCH_BYTES / page),
                               .page_bytes = page,
                               .faulted = (uint32_t)((r->address - first) / page)};
    struct driver_page_request other = *r;
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

/* ---- what the program asks for ---- */

static enum driver_status call_prefetch(struct driver *d, uint32_t number, uint64_t address,
                                        uint64_t size)
{
    const struct program_allocation *a = program_find(driver_program(d), address);
    enum driver_status status =
        number == DRIVER_HOST_DEVICE ? run_usable() : handle_check(d, number);
    if (status != DRIVER_OK || !driver_evicts(d) || platform_mode() == PLATFORM_FUNCTIONAL)
        return status;
    if (!a || !size || size > a->end - address)
        return driver_fail(DRIVER_INVALID_ADDRESS,
                           "prefetch: [0x%" PRIx64 ", 0x%" PRIx64 ") is not in one allocation",
                           address, address + size);
    uint64_t page = driver_page_bytes(d);
    struct driver_page_request r = {
        .address = address / page * page,
        .pid = a->pid,
        .gpu = number == DRIVER_HOST_DEVICE ? d->gpu_count : driver_handle_at(d, number)->member[0],
        .port = DRIVER_NONE,
        .wish = PAGE_WISH_MOVE};
    for (; r.address < address + size && status == DRIVER_OK; r.address += page) {
        uint64_t physical, flags;
        if (migrate_find(d, &r, &physical, &flags)
            && memory_device_of(&d->memory, physical) != r.gpu)
            migrate_add(d, &r);
        if (d->migrate.count >= DRIVER_PAGE_REQUESTS / 2)
            status = await_migration(d);
    }
    return status;
}
