/* Who owns which memory: virtual addresses, physical pages of all devices, the page table and the table of allocations,
 * kept in step. The driver's memory calls end here; driver_memory.h adds checks and messages.
 *
 * Virtual addresses come from one range that all processes share, so an address names its allocation, and its process,
 * whoever asks. They come in three kinds: fresh (may be handed out), in use, and retired (freed, but TLBs may still hold
 * them). Retired ones become fresh again all at once, by memory_recycle(), after a shoot-down of everything; that is seldom,
 * since the range is several times as large as all memory. Physical pages may be handed out again at once: nothing finds
 * them but through the page table.
 *
 * Invariants (memory_manager.h is tested against a model that knows only these):
 * - a physical page is free in its device's list, or held by one owner: a mapping, or a caller of memory_hold_page();
 * - pages of an allocation are mapped in its process unless they were removed; nothing else is mapped there, except
 *   allocations that are shared with the process;
 * - a call that fails leaves everything as it was.
 * An allocation needs no physical neighbours, so it fails for want of pages only when fewer are free than it needs. */
#ifndef HEDDLE_DRIVER_MEMORY_MANAGER_H
#define HEDDLE_DRIVER_MEMORY_MANAGER_H

#include "page_allocator.h"
#include "components/protocols/page_table/page_table.h"
#include "components/protocols/page_table/program_table.h"
#include "runtime/engine/bug.h"

enum {
    MEMORY_DEVICES = 64,
    MEMORY_RETIRED = PROGRAM_ALLOCATIONS,    /* ranges */
    MEMORY_RETIRED_MANY = MEMORY_RETIRED / 2 /* memory_recycle() is due at the next chance */
};

enum memory_result {
    MEMORY_OK,
    MEMORY_NO_PAGES,       /* a device has too few free pages */
    MEMORY_NO_ADDRESSES,   /* no free range of virtual addresses is long enough */
    MEMORY_RECYCLE_FIRST,  /* the same, but retired ones may help: shoot down, memory_recycle(), and call again */
    MEMORY_NO_ENTRY,       /* too many allocations */
    MEMORY_TABLE_FULL,     /* the page table has no room */
    MEMORY_NOT_MAPPED,     /* a page is not mapped in that process */
    MEMORY_NOT_ALLOCATED,  /* not the start of an allocation; or the address belongs to another process */
    MEMORY_OVERLAP         /* a device's physical addresses overlap another's */
};

struct memory_device {
    uint64_t base, size; /* physical, bytes */
    struct page_allocator pages;
    uint32_t extents;    /* arena: struct page_extent[] */
};

struct memory_manager {
    uint64_t page;       /* bytes */
    uint32_t device_count;
    bool removed;        /* a page of some allocation may be missing */
    struct memory_device device[MEMORY_DEVICES];
    uint64_t start, end; /* of the range of virtual addresses; 0, 0: not set yet */
    struct page_allocator fresh, retired;
    uint32_t fresh_extents, retired_extents; /* arena */
};

/* What the functions work on; the tables belong to others. */
struct memory_ref {
    struct memory_manager *memory;
    struct page_table *pages;
    struct program_table *program;
};

struct memory_request {
    uint32_t pid;
    uint32_t use;           /* enum program_use */
    uint32_t flags;         /* of the page table entries */
    uint64_t size, align;   /* bytes; align: power of two or 0 */
    uint64_t fixed;         /* where it is to begin; 0: anywhere */
    const uint32_t *device; /* the pages are spread over these, evenly and in consecutive runs */
    uint32_t device_count;
};

static inline struct page_extent *memory_extents(const struct memory_device *device)
{
    return arena_at(struct page_extent, device->extents);
}

static inline void memory_init(struct memory_manager *m, uint64_t page)
{
    *m = (struct memory_manager){.page = page};
}

/* Adds device number device_count, whose memory is [base, base + size). */
static inline enum memory_result memory_register_device(struct memory_manager *m, uint64_t base, uint64_t size)
{
    for (uint32_t i = 0; i < m->device_count; i++) {
        const struct memory_device *other = &m->device[i];
        if (base < other->base + other->size && other->base < base + size)
            return MEMORY_OVERLAP;
    }
    struct memory_device *device = &m->device[m->device_count++];
    uint64_t first = (base + m->page - 1) / m->page, pages = (base + size) / m->page - first;
    uint32_t capacity = (uint32_t)(pages / 2 + 2); /* free extents do not touch */
    device->base = base;
    device->size = size;
    device->extents = arena_allocate(capacity * sizeof(struct page_extent));
    page_allocator_init(&device->pages, memory_extents(device), capacity, first, pages);
    return MEMORY_OK;
}

/* Once: virtual addresses are taken from the whole pages of [start, end). */
static inline void memory_set_range(struct memory_manager *m, uint64_t start, uint64_t end)
{
    /* A fresh range ends at an allocation, at a retired range or at the end. */
    uint32_t capacity = PROGRAM_ALLOCATIONS + MEMORY_RETIRED + 2;
    m->start = (start + m->page - 1) / m->page * m->page;
    m->end = end / m->page * m->page;
    m->fresh_extents = arena_allocate(capacity * sizeof(struct page_extent));
    m->retired_extents = arena_allocate(MEMORY_RETIRED * sizeof(struct page_extent));
    page_allocator_init(&m->fresh, arena_at(struct page_extent, m->fresh_extents), capacity, m->start / m->page,
                        m->end > m->start ? (m->end - m->start) / m->page : 0);
    page_allocator_init(&m->retired, arena_at(struct page_extent, m->retired_extents), MEMORY_RETIRED, 0, 0);
}

/* The device whose memory holds the physical address, or UINT32_MAX. */
static inline uint32_t memory_device_of(const struct memory_manager *m, uint64_t physical)
{
    for (uint32_t i = 0; i < m->device_count; i++) {
        if (physical - m->device[i].base < m->device[i].size)
            return i;
    }
    return UINT32_MAX;
}

static inline uint64_t memory_count_pages(const struct memory_manager *m, const struct program_allocation *a)
{
    return (a->end - a->start + m->page - 1) / m->page;
}

/* How many of `count` things the device at place `i` of `devices` gets: the first count mod devices one more. */
static inline uint64_t memory_share_of(uint64_t count, uint32_t devices, uint32_t i)
{
    return count / devices + (i < count % devices);
}

/* ---- physical pages ---- */

/* Takes a free page of the device out of its list, for the caller to hold. */
static inline bool memory_hold_page(struct memory_manager *m, uint32_t device, uint64_t *physical)
{
    uint64_t first;
    if (!page_allocator_take(&m->device[device].pages, memory_extents(&m->device[device]), 1, &first))
        return false;
    *physical = first * m->page;
    return true;
}

/* Gives a page back that nothing is mapped to any more. False: it was free already. */
static inline bool memory_give_page(struct memory_manager *m, uint64_t physical)
{
    uint32_t device = memory_device_of(m, physical);
    return device != UINT32_MAX
           && page_allocator_give(&m->device[device].pages, memory_extents(&m->device[device]), physical / m->page, 1);
}

/* ---- copies for reading ---- */

/* The page of `address`, which lies at `physical`, has no copies any more; their pages are free. */
static inline void memory_drop_copies(struct memory_ref r, uint32_t pid, uint64_t address, uint64_t physical)
{
    uint64_t found, flags;
    struct page_copy copy;
    while (page_copies_take(&r.pages->copies, physical, &copy)) {
        if (!memory_give_page(r.memory, copy.physical))
            bug("driver: copy 0x%" PRIx64 " is given back twice", copy.physical);
    }
    if (page_table_look_up(r.pages, pid, address, &found, &flags) && found == physical)
        page_table_enter(r.pages, pid, address, physical, flags & ~PAGE_TABLE_COPIED);
}

/* ---- mappings ---- */

/* Removes the mappings of a run of pages and gives the physical pages back. */
static inline void memory_unmap_run(struct memory_ref r, uint32_t pid, uint64_t address, uint64_t pages)
{
    uint64_t physical, flags;
    for (uint64_t i = 0; i < pages; i++, address += r.memory->page) {
        if (!page_table_look_up(r.pages, pid, address, &physical, &flags))
            continue;
        if (flags & PAGE_TABLE_COPIED)
            memory_drop_copies(r, pid, address, physical);
        page_table_unmap(r.pages, pid, address);
        if (!memory_give_page(r.memory, physical))
            bug("driver: page 0x%" PRIx64 " is given back twice", physical);
    }
}

/* Maps a run of pages to pages of one device, neighbours where there are. Some may be mapped when it fails. */
static inline bool memory_map_run(struct memory_ref r, const struct memory_request *q, uint32_t number,
                                  uint64_t address, uint64_t pages)
{
    struct memory_device *device = &r.memory->device[number];
    uint64_t page = r.memory->page, first, count;
    for (uint64_t done = 0; done < pages; done += count) {
        count = page_allocator_take(&device->pages, memory_extents(device), pages - done, &first);
        for (uint64_t i = 0; i < count; i++) {
            if (page_table_enter(r.pages, q->pid, address + (done + i) * page, (first + i) * page, q->flags))
                continue;
            page_allocator_give(&device->pages, memory_extents(device), first + i, count - i);
            return false;
        }
    }
    return true;
}

static inline bool memory_has_pages(const struct memory_manager *m, const struct memory_request *q, uint64_t pages)
{
    for (uint32_t i = 0; i < q->device_count; i++) {
        if (m->device[q->device[i]].pages.free_pages < memory_share_of(pages, q->device_count, i))
            return false;
    }
    return true;
}

/* ---- allocations ---- */

/* Virtual pages: those from q->fixed on, or the first free ones. */
static inline bool memory_take_addresses(struct memory_manager *m, const struct memory_request *q, uint64_t pages,
                                         uint64_t *first)
{
    struct page_extent *fresh = arena_at(struct page_extent, m->fresh_extents);
    *first = q->fixed / m->page;
    if (q->fixed)
        return q->fixed % m->page == 0 && page_allocator_take_at(&m->fresh, fresh, *first, pages);
    return page_allocator_take_run(&m->fresh, fresh, pages, q->align > m->page ? q->align / m->page : 1, first);
}

static inline enum memory_result memory_allocate(struct memory_ref r, const struct memory_request *q, uint64_t *address)
{
    struct memory_manager *m = r.memory;
    uint64_t pages = q->size / m->page + (q->size % m->page != 0), first;
    if (!memory_has_pages(m, q, pages))
        return MEMORY_NO_PAGES;
    if (r.program->allocation_count == PROGRAM_ALLOCATIONS)
        return MEMORY_NO_ENTRY;
    if (!memory_take_addresses(m, q, pages, &first))
        return m->retired.count ? MEMORY_RECYCLE_FIRST : MEMORY_NO_ADDRESSES;
    uint64_t start = first * m->page, at = start;
    for (uint32_t i = 0; i < q->device_count; i++) {
        uint64_t count = memory_share_of(pages, q->device_count, i);
        if (!memory_map_run(r, q, q->device[i], at, count)) {
            memory_unmap_run(r, q->pid, start, pages);
            page_allocator_give(&m->fresh, arena_at(struct page_extent, m->fresh_extents), first, pages);
            return MEMORY_TABLE_FULL;
        }
        at += count * m->page;
    }
    const struct program_allocation added = {
        .start = start, .end = start + q->size, .device = q->device[0], .use = q->use, .pid = q->pid};
    program_add(r.program, &added);
    *address = start;
    return MEMORY_OK;
}

static inline enum memory_result memory_free(struct memory_ref r, uint64_t address)
{
    struct memory_manager *m = r.memory;
    const struct program_allocation *a = program_find(r.program, address);
    if (!a || a->start != address)
        return MEMORY_NOT_ALLOCATED;
    uint64_t pages = memory_count_pages(m, a);
    memory_unmap_run(r, a->pid, address, pages);
    program_remove(r.program, address);
    if (!page_allocator_give(&m->retired, arena_at(struct page_extent, m->retired_extents), address / m->page, pages))
        bug("driver: addresses from 0x%" PRIx64 " on are retired twice, or too many are", address);
    return MEMORY_OK;
}

/* Is it time to recycle, if that can be done now? */
static inline bool memory_retired_many(const struct memory_manager *m)
{
    return m->retired.count >= MEMORY_RETIRED_MANY;
}

/* Makes retired addresses fresh. No TLB may hold any of them: shoot down everything first. */
static inline void memory_recycle(struct memory_manager *m)
{
    const struct page_extent *retired = arena_at(struct page_extent, m->retired_extents);
    for (uint32_t i = 0; i < m->retired.count; i++) {
        if (!page_allocator_give(&m->fresh, arena_at(struct page_extent, m->fresh_extents), retired[i].first,
                                 retired[i].pages))
            bug("driver: retired addresses from page 0x%" PRIx64 " on are free already", retired[i].first);
    }
    m->retired.count = 0;
    m->retired.free_pages = 0;
}

/* ---- single pages ---- */

/* Maps the page of `address`, which is mapped, to the physical page `to`, which the caller holds; the caller then holds the
 * one it was mapped to, *from. The flags stay. Data is not moved. */
static inline enum memory_result memory_swap_page(struct memory_ref r, uint32_t pid, uint64_t address, uint64_t to,
                                                  uint64_t *from)
{
    uint64_t flags;
    if (!page_table_look_up(r.pages, pid, address, from, &flags))
        return MEMORY_NOT_MAPPED;
    page_table_enter(r.pages, pid, address, to, flags);
    r.program->version++; /* readers may have kept where it is */
    return MEMORY_OK;
}

/* Moves the mappings of all pages that touch [address, address + size) to `device`. Data is not moved. */
static inline enum memory_result memory_remap(struct memory_ref r, uint32_t pid, uint64_t address, uint64_t size,
                                              uint32_t device)
{
    struct memory_manager *m = r.memory;
    uint64_t first = address / m->page * m->page, last = (address + size - 1) / m->page * m->page;
    uint64_t physical, flags, needed = 0, to = 0;
    for (uint64_t at = first; at <= last; at += m->page) {
        if (!page_table_look_up(r.pages, pid, at, &physical, &flags))
            return MEMORY_NOT_MAPPED;
        needed += memory_device_of(m, physical) != device;
    }
    if (m->device[device].pages.free_pages < needed)
        return MEMORY_NO_PAGES;
    for (uint64_t at = first; at <= last; at += m->page) {
        page_table_look_up(r.pages, pid, at, &physical, &flags);
        if (flags & PAGE_TABLE_COPIED)
            memory_drop_copies(r, pid, at, physical);
        if (memory_device_of(m, physical) == device)
            continue;
        if (!memory_hold_page(m, device, &to))
            bug("driver: device %u has free pages and has none", device);
        memory_swap_page(r, pid, at, to, &physical);
        memory_give_page(m, physical);
    }
    return MEMORY_OK;
}

/* Removes the mapping of one page; the physical page may be used again, the address stays with its allocation. */
static inline enum memory_result memory_remove_page(struct memory_ref r, uint32_t pid, uint64_t address)
{
    uint64_t physical, flags;
    if (!page_table_look_up(r.pages, pid, address, &physical, &flags))
        return MEMORY_NOT_MAPPED;
    memory_unmap_run(r, pid, address / r.memory->page * r.memory->page, 1);
    r.memory->removed = true;
    r.program->version++;
    return MEMORY_OK;
}

/* A page on `device` at a given virtual address: in place of one that is mapped there or was removed, whose physical page
 * is given back; or at an address that is not in use, as an allocation of one page. */
static inline enum memory_result memory_allocate_page_at(struct memory_ref r, uint32_t pid, uint32_t device,
                                                         uint64_t address, uint64_t flags, uint64_t *physical)
{
    struct memory_manager *m = r.memory;
    uint64_t start = address / m->page * m->page, old = 0, had = 0;
    const struct program_allocation *a = program_overlap(r.program, start, start + m->page);
    if ((a && a->pid != pid) || start < m->start || start >= m->end)
        return MEMORY_NOT_ALLOCATED;
    if (!m->device[device].pages.free_pages)
        return MEMORY_NO_PAGES;
    if (!a && r.program->allocation_count == PROGRAM_ALLOCATIONS)
        return MEMORY_NO_ENTRY;
    if (!a
        && !page_allocator_take_at(&m->fresh, arena_at(struct page_extent, m->fresh_extents), start / m->page, 1))
        return MEMORY_RECYCLE_FIRST;
    bool mapped = page_table_look_up(r.pages, pid, start, &old, &had);
    if (!memory_hold_page(m, device, physical))
        bug("driver: device %u has free pages and has none", device);
    if (!page_table_enter(r.pages, pid, start, *physical, flags)) {
        memory_give_page(m, *physical);
        if (!a)
            page_allocator_give(&m->fresh, arena_at(struct page_extent, m->fresh_extents), start / m->page, 1);
        return MEMORY_TABLE_FULL;
    }
    if (mapped && (had & PAGE_TABLE_COPIED))
        memory_drop_copies(r, pid, start, old);
    if (mapped)
        memory_give_page(m, old);
    r.program->version++;
    const struct program_allocation added = {
        .start = start, .end = start + m->page, .device = device, .use = PROGRAM_BUFFER, .pid = pid};
    if (!a)
        program_add(r.program, &added);
    return MEMORY_OK;
}

/* ---- processes ---- */

/* Maps an allocation of another process in `pid`, too: the same physical pages. False: the page table is full. */
static inline bool memory_share(struct memory_ref r, uint64_t address, uint32_t pid)
{
    const struct program_allocation *a = program_find(r.program, address);
    uint64_t physical, flags;
    for (uint64_t i = 0, at = a->start; i < memory_count_pages(r.memory, a); i++, at += r.memory->page) {
        if (page_table_look_up(r.pages, a->pid, at, &physical, &flags)
            && !page_table_enter(r.pages, pid, at, physical, flags))
            return false;
    }
    return true;
}

/* Ends memory_share(). */
static inline void memory_unshare(struct memory_ref r, uint64_t address, uint32_t pid)
{
    const struct program_allocation *a = program_find(r.program, address);
    for (uint64_t i = 0, at = a->start; i < memory_count_pages(r.memory, a); i++, at += r.memory->page)
        page_table_unmap(r.pages, pid, at);
}

/* Frees all that the process has allocated. */
static inline void memory_free_process(struct memory_ref r, uint32_t pid)
{
    for (uint32_t i = r.program->allocation_count; i-- > 0;) {
        if (r.program->allocation[i].pid == pid)
            memory_free(r, r.program->allocation[i].start);
    }
}

#endif
