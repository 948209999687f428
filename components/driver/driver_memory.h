/* Device memory: virtual addresses from the window, physical pages from the device, both entered in the page table and in
 * the table of allocations. Included by driver.c.
 *
 * Whole pages, whatever the size. A virtual page is handed out once in a run: shared TLBs never forget. An allocation that
 * fails leaves everything as it was. */
#ifndef HEDDLE_DRIVER_MEMORY_H
#define HEDDLE_DRIVER_MEMORY_H

#include "driver_state.h"

static void memory_give_pages(struct driver *d, uint64_t address, uint64_t pages)
{
    uint64_t page = driver_page_bytes(d), physical;
    bool writable;
    for (uint64_t i = 0; i < pages; i++) {
        uint64_t at = address + i * page;
        if (!page_table_find(driver_page_table(d), DRIVER_PID, at, &physical, &writable))
            continue;
        page_table_unmap(driver_page_table(d), DRIVER_PID, at);
        for (uint32_t n = 0; n < d->device_count; n++) {
            struct driver_device *device = &d->device[n];
            if (physical - device->base < device->size
                && !page_allocator_give(&device->pages, driver_extents(device), physical / page, 1))
                bug("driver: page 0x%" PRIx64 " is given back twice", physical);
        }
    }
}

/* Maps `pages` pages from `address` on. False: everything is as before. */
static bool memory_map_pages(struct driver *d, struct driver_device *device, uint64_t address, uint64_t pages)
{
    uint64_t page = driver_page_bytes(d), done = 0;
    while (done < pages) {
        uint64_t first, count = page_allocator_take(&device->pages, driver_extents(device), pages - done, &first);
        for (uint64_t i = 0; i < count; i++) {
            if (page_table_map(driver_page_table(d), DRIVER_PID, address + (done + i) * page,
                               (first + i) * page, true))
                continue;
            page_allocator_give(&device->pages, driver_extents(device), first + i, count - i);
            memory_give_pages(d, address, done + i);
            return false;
        }
        done += count;
    }
    return true;
}

static enum driver_status memory_allocate(struct driver *d, uint32_t number, uint64_t size, uint64_t align,
                                          enum program_use use, uint64_t *address)
{
    struct driver_device *device = &d->device[number];
    uint64_t page = driver_page_bytes(d), pages = (size + page - 1) / page;
    if (align & (align - 1))
        return driver_fail(DRIVER_INVALID_VALUE, "alignment %" PRIu64 " is no power of two", align);
    if (!size)
        return driver_fail(DRIVER_INVALID_VALUE, "an allocation of 0 bytes");
    if (size > device->size || pages > device->pages.free_pages)
        return driver_fail(DRIVER_OUT_OF_MEMORY,
                           "device %u has %" PRIu64 " of %" PRIu64 " bytes free, %" PRIu64 " are asked for",
                           number, device->pages.free_pages * page, device->size, size);
    if (align < page)
        align = page;
    uint64_t start = (d->window_next + align - 1) & ~(align - 1);
    if (start < d->window_next || start >= d->window_end || pages * page > d->window_end - start)
        return driver_fail(DRIVER_OUT_OF_MEMORY, "all device addresses have been handed out");
    struct program_allocation allocation = {start, start + size, number, use};
    if (!program_add(driver_program(d), &allocation))
        return driver_fail(DRIVER_OUT_OF_MEMORY, "more than %d allocations at the same time",
                           PROGRAM_ALLOCATIONS);
    if (!memory_map_pages(d, device, start, pages)) {
        program_remove(driver_program(d), start);
        return driver_fail(DRIVER_OUT_OF_MEMORY, "the page table is full");
    }
    d->window_next = start + pages * page;
    *address = start;
    return DRIVER_OK;
}

static void memory_release(struct driver *d, uint64_t address)
{
    const struct program_allocation *a = program_find(driver_program(d), address);
    uint64_t page = driver_page_bytes(d), pages = (a->end - a->start + page - 1) / page;
    memory_give_pages(d, address, pages);
    program_remove(driver_program(d), address);
}

/* Is [address, address + size) inside one allocation of the program? `what` for the message. */
static enum driver_status memory_check(const struct driver *d, uint64_t address, uint64_t size,
                                       const char *what, uint32_t *device)
{
    const struct program_allocation *a = program_find(driver_program(d), address);
    char where[160];
    if (a && size <= a->end - address) {
        *device = a->device;
        return DRIVER_OK;
    }
    if (a)
        return driver_fail(DRIVER_INVALID_ADDRESS,
                           "%s of %" PRIu64 " bytes at 0x%" PRIx64 " leaves its allocation of %" PRIu64
                           " bytes at 0x%" PRIx64 " by %" PRIu64 " bytes",
                           what, size, address, a->end - a->start, a->start, address + size - a->end);
    program_describe(driver_program(d), address, where, sizeof where);
    return driver_fail(DRIVER_INVALID_ADDRESS, "%s of %" PRIu64 " bytes at 0x%" PRIx64 " is outside of any allocation: %s",
                       what, size, address, where);
}

/* Physical address, and how many bytes follow it on the same page. */
static uint64_t memory_physical(const struct driver *d, uint64_t address, uint64_t *rest)
{
    uint64_t page = driver_page_bytes(d), physical;
    bool writable;
    if (!page_table_find(driver_page_table(d), DRIVER_PID, address, &physical, &writable))
        bug("driver: 0x%" PRIx64 " is not mapped", address);
    *rest = page - address % page;
    return physical + address % page;
}

#endif
