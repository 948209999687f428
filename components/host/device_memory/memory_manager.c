/* Allocates, maps and frees device memory. Every function leaves the tables in step, or as they
 * were. */
#include "memory_manager.h"

#include <inttypes.h>

#include "base/number.h"
#include "runtime/engine/bug.h"

void memory_init(struct memory_manager *m, uint64_t page, uint64_t fragment)
{
    *m = (struct memory_manager){.page = page, .fragment = fragment};
}

enum memory_result memory_register_device(struct memory_manager *m, uint64_t base, uint64_t size)
{
    for (uint32_t i = 0; i < m->device_count; i++) {
        const struct memory_device *other = &m->device[i];
        if (base < other->base + other->size && other->base < base + size)
            return MEMORY_OVERLAP;
    }
    if (m->device_count == MEMORY_DEVICES)
        bug("memory manager: more than %d devices", MEMORY_DEVICES);
    struct memory_device *device = &m->device[m->device_count++];
    uint64_t first = divide_up(base, m->page), pages = (base + size) / m->page - first;
    uint32_t capacity = (uint32_t)(pages / 2 + 2); /* free extents do not touch */
    device->base = base;
    device->size = size;
    device->extents = arena_allocate(capacity * sizeof(struct page_extent));
    page_allocator_init(&device->pages, memory_extents(device), capacity, first, pages);
    return MEMORY_OK;
}

void memory_set_range(struct memory_manager *m, uint64_t start, uint64_t end)
{
    /* A fresh range ends at an allocation, at a retired range or at the end. */
    uint32_t capacity = PROGRAM_ALLOCATIONS_MAX + MEMORY_RETIRED + 2;
    m->start = round_up(start, m->page);
    m->end = end / m->page * m->page;
    m->fresh_extents = arena_allocate(capacity * sizeof(struct page_extent));
    m->retired_extents = arena_allocate(MEMORY_RETIRED * sizeof(struct page_extent));
    page_allocator_init(&m->fresh, arena_at(struct page_extent, m->fresh_extents), capacity,
                        m->start / m->page, m->end > m->start ? (m->end - m->start) / m->page : 0);
    page_allocator_init(&m->retired, arena_at(struct page_extent, m->retired_extents),
                        MEMORY_RETIRED, 0, 0);
}

/* ---- physical pages ---- */

bool memory_hold_page(struct memory_manager *m, uint32_t device, uint64_t *physical)
{
    uint64_t first;
    if (!page_allocator_allocate(&m->device[device].pages, memory_extents(&m->device[device]), 1,
                                 &first))
        return false;
    *physical = first * m->page;
    return true;
}

bool memory_give_page(struct memory_manager *m, uint64_t physical)
{
    uint32_t device = memory_device_of(m, physical);
    return device != UINT32_MAX
           && page_allocator_release(&m->device[device].pages, memory_extents(&m->device[device]),
                                     physical / m->page, 1);
}

/* ---- copies for reading ---- */

/* The page of `address`, which lies at `physical`, has no copies any more; their pages are free. */
static void drop_copies(struct memory_ref r, uint32_t pid, uint64_t address, uint64_t physical)
{
    uint64_t mapped, flags;
    struct page_copy copy;
    while (page_copies_remove(&r.pages->copies, physical, &copy))
        if (!memory_give_page(r.memory, copy.physical))
            bug("driver: copy 0x%" PRIx64 " is given back twice", copy.physical);
    if (page_table_look_up(r.pages, pid, address, &mapped, &flags) && mapped == physical)
        page_table_enter(r.pages, pid, address, physical, flags & ~PAGE_TABLE_COPIED);
}

/* ---- mappings ---- */

/* A mapping of the physical page has gone, or is about to. */
static void leave_page(struct memory_ref r, uint64_t physical, uint64_t flags)
{
    if (!(flags & PAGE_TABLE_BORROWED) && !memory_give_page(r.memory, physical))
        bug("driver: page 0x%" PRIx64 " is given back twice", physical);
}

/* Removes the mappings of a run of pages and gives the physical pages back. */
static void unmap_run(struct memory_ref r, uint32_t pid, uint64_t address, uint64_t pages)
{
    uint64_t physical, flags;
    for (uint64_t i = 0; i < pages; i++, address += r.memory->page) {
        if (!page_table_look_up(r.pages, pid, address, &physical, &flags))
            continue;
        if (flags & PAGE_TABLE_COPIED)
            drop_copies(r, pid, address, physical);
        page_table_unmap(r.pages, pid, address);
        leave_page(r, physical, flags);
    }
}

/* The largest fragment, in pages, that so many pages fill. */
static uint64_t fragment_of(const struct memory_manager *m, uint64_t pages)
{
    uint64_t most = m->fragment / m->page,
             fill = pages ? (uint64_t)1 << (63 - __builtin_clzll(pages)) : 1;
    return min(fill, most);
}

/* Takes up to `pages` neighbours of a device, all of them and aligned to a fragment where there are
 * such; how many. */
static uint64_t take_neighbours(const struct memory_manager *m, struct memory_device *device,
                                uint64_t pages, uint64_t *first)
{
    uint64_t align = fragment_of(m, pages);
    if (align > 1
        && page_allocator_allocate_run(&device->pages, memory_extents(device), pages, align, first))
        return pages;
    return page_allocator_allocate(&device->pages, memory_extents(device), pages, first);
}

/* Maps a run of pages to pages of one device, neighbours where there are. Some may be mapped when
 * it fails. */
static bool map_run(struct memory_ref r, const struct memory_request *q, uint32_t number,
                    uint64_t address, uint64_t pages)
{
    struct memory_device *device = &r.memory->device[number];
    uint64_t page = r.memory->page, first, count;
    for (uint64_t done = 0; done < pages; done += count) {
        count = take_neighbours(r.memory, device, pages - done, &first);
        for (uint64_t i = 0; i < count; i++) {
            if (page_table_enter(r.pages, q->pid, address + (done + i) * page, (first + i) * page,
                                 q->flags))
                continue;
            page_allocator_release(&device->pages, memory_extents(device), first + i, count - i);
            return false;
        }
    }
    return true;
}

/* A run of the pages of a request, cut off at their end. */
static uint64_t memory_run_of(const struct memory_request *q, uint64_t first, uint64_t pages,
                              uint32_t *place)
{
    uint64_t length = q->run ? q->run(q->of, first, pages, q->device_count, place)
                             : memory_share_at(first, pages, q->device_count, place);
    return min(length, pages - first);
}

uint64_t memory_count_of(const struct memory_request *q, uint64_t pages, uint32_t place)
{
    uint64_t sum = 0, length;
    uint32_t at;
    if (!q->run)
        return memory_share_of(pages, q->device_count, place);
    for (uint64_t first = 0; first < pages; first += length) {
        length = memory_run_of(q, first, pages, &at);
        sum += at == place ? length : 0;
    }
    return sum;
}

static bool has_pages(const struct memory_manager *m, const struct memory_request *q,
                      uint64_t pages)
{
    for (uint32_t i = 0; i < q->device_count; i++)
        if (m->device[q->device[i]].pages.free_pages < memory_count_of(q, pages, i))
            return false;
    return true;
}

/* ---- allocations ---- */

bool memory_is_foreign(const struct memory_manager *m, uint64_t start, uint64_t end)
{
    return end <= m->start || start >= m->end;
}

/* Virtual pages: those from q->fixed on, or the first free ones. */
static bool take_addresses(const struct memory_ref *r, const struct memory_request *q,
                           uint64_t pages, uint64_t *first)
{
    struct memory_manager *m = r->memory;
    struct page_extent *fresh = arena_at(struct page_extent, m->fresh_extents);
    *first = q->fixed / m->page;
    if (page_table_is_name(q->fixed))
        return q->fixed % m->page == 0;
    if (q->fixed && memory_is_foreign(m, q->fixed, q->fixed + pages * m->page))
        return q->fixed % m->page == 0
               && !program_overlap(r->program, q->fixed, q->fixed + pages * m->page);
    if (q->fixed)
        return q->fixed % m->page == 0
               && page_allocator_allocate_at(&m->fresh, fresh, *first, pages);
    uint64_t align = q->align > m->page ? q->align / m->page : 1, fragment = fragment_of(m, pages);
    if (fragment > align && page_allocator_allocate_run(&m->fresh, fresh, pages, fragment, first))
        return true;
    return page_allocator_allocate_run(&m->fresh, fresh, pages, align, first);
}

/* True if a process uses one of these addresses under a name. */
static bool is_named(const struct memory_ref r, uint64_t start, uint64_t end)
{
    const struct program_table *t = r.program;
    for (uint32_t i = t->allocation_count - t->named; i < t->allocation_count; i++)
        if (page_table_address(t->allocation[i].start) < end
            && start < page_table_address(t->allocation[i].end))
            return true;
    return false;
}

/* Takes a range for a request. Addresses that some process has under a name stay out of the range.
 */
static bool take_unnamed(struct memory_ref r, const struct memory_request *q, uint64_t pages,
                         uint64_t *first)
{
    while (take_addresses(&r, q, pages, first))
        if (q->fixed || !is_named(r, *first * r.memory->page, (*first + pages) * r.memory->page))
            return true;
    return false;
}

/* Gives back what take_unnamed() has taken. */
static void give_addresses(struct memory_manager *m, const struct memory_request *q, uint64_t first,
                           uint64_t pages)
{
    uint64_t start = first * m->page;
    if (!page_table_is_name(q->fixed) && !memory_is_foreign(m, start, start + pages * m->page))
        page_allocator_release(&m->fresh, arena_at(struct page_extent, m->fresh_extents), first,
                               pages);
}

/* Takes addresses for a request and maps its pages. */
static enum memory_result map_request(struct memory_ref r, const struct memory_request *q,
                                      uint64_t pages, uint64_t *first)
{
    struct memory_manager *m = r.memory;
    if (!has_pages(m, q, pages))
        return MEMORY_OUT_OF_PAGES;
    if (!take_unnamed(r, q, pages, first))
        return m->retired.count ? MEMORY_RECYCLE_FIRST : MEMORY_OUT_OF_ADDRESSES;
    uint64_t start = *first * m->page, count;
    for (uint64_t done = 0; done < pages; done += count) {
        uint32_t place;
        count = memory_run_of(q, done, pages, &place);
        if (!map_run(r, q, q->device[place], start + done * m->page, count)) {
            unmap_run(r, q->pid, start, pages);
            give_addresses(m, q, *first, pages);
            return MEMORY_TABLE_FULL;
        }
    }
    return MEMORY_OK;
}

/* Takes the pages of a small buffer from a block of its device. False: buffers of this kind have no
 * blocks, or there is no room for another one. */
static bool take_of_block(struct memory_ref r, const struct memory_request *q, uint64_t pages,
                          uint64_t *first)
{
    uint64_t whole = r.memory->fragment / r.memory->page, unused = r.memory->skip % whole;
    if (q->use != PROGRAM_BUFFER || q->flags & PAGE_TABLE_UNIFIED || q->device_count != 1
        || q->fixed || q->align > r.memory->page || pages >= whole - unused)
        return false;
    struct memory_block *b = &r.memory->device[q->device[0]].block;
    if (b->pid != q->pid || b->flags != q->flags || pages > b->left) {
        struct memory_request aligned = *q;
        aligned.align = r.memory->fragment;
        if (map_request(r, &aligned, whole, first) != MEMORY_OK)
            return false;
        *b = (struct memory_block){
            .end = *first + whole, .left = whole - unused, .pid = q->pid, .flags = q->flags};
    }
    *first = b->end - b->left;
    b->left -= pages;
    return true;
}

enum memory_result memory_allocate(struct memory_ref r, const struct memory_request *q,
                                   uint64_t *address)
{
    struct memory_manager *m = r.memory;
    uint64_t pages = q->size / m->page + (q->size % m->page != 0), first;
    if (r.program->allocation_count == PROGRAM_ALLOCATIONS_MAX)
        return has_pages(m, q, pages) ? MEMORY_OUT_OF_ENTRIES : MEMORY_OUT_OF_PAGES;
    bool in_block = take_of_block(r, q, pages, &first);
    enum memory_result result = in_block ? MEMORY_OK : map_request(r, q, pages, &first);
    if (result != MEMORY_OK)
        return result;
    uint64_t start = first * m->page;
    const struct program_allocation added = {.start = start,
                                             .end = start + q->size,
                                             .device = q->device[0],
                                             .use = q->use,
                                             .pid = q->pid,
                                             .in_block = in_block};
    program_add_allocation(r.program, &added);
    *address = start;
    return MEMORY_OK;
}

/* True if no allocation is left in the block that begins at `start`. Then no more are taken from
 * it.
 */
static bool leave_block(struct memory_ref r, uint64_t start)
{
    struct memory_manager *m = r.memory;
    if (program_overlap(r.program, start, start + m->fragment))
        return false;
    for (uint32_t i = 0; i < m->device_count; i++)
        if (m->device[i].block.end * m->page == start + m->fragment)
            m->device[i].block.left = 0;
    return true;
}

enum memory_result memory_free(struct memory_ref r, uint64_t address)
{
    struct memory_manager *m = r.memory;
    const struct program_allocation *allocation = program_find(r.program, address);
    if (!allocation || allocation->start != address)
        return MEMORY_NOT_ALLOCATED;
    const struct program_allocation a = *allocation;
    uint64_t start = a.in_block ? address / m->fragment * m->fragment : address;
    uint64_t pages = a.in_block ? m->fragment / m->page : memory_pages_of(m, &a);
    program_remove_allocation(r.program, address);
    if (a.in_block && !leave_block(r, start))
        return MEMORY_OK;
    unmap_run(r, a.pid, start, pages);
    if (page_table_is_name(address) || memory_is_foreign(m, a.start, a.end))
        return MEMORY_OK;
    if (m->retired.count == MEMORY_RETIRED)
        return MEMORY_OK; /* the driver has not recycled them: these are not used again */
    if (!page_allocator_release(&m->retired, arena_at(struct page_extent, m->retired_extents),
                                start / m->page, pages))
        bug("driver: addresses from 0x%" PRIx64 " on are retired twice", address);
    return MEMORY_OK;
}

bool memory_retired_many(const struct memory_manager *m)
{
    return m->retired.count >= MEMORY_RETIRED_MANY;
}

void memory_recycle(struct memory_manager *m)
{
    const struct page_extent *retired = arena_at(struct page_extent, m->retired_extents);
    for (uint32_t i = 0; i < m->retired.count; i++) {
        if (!page_allocator_release(&m->fresh, arena_at(struct page_extent, m->fresh_extents),
                                    retired[i].first, retired[i].pages))
            bug("driver: retired addresses from page 0x%" PRIx64 " on are free already",
                retired[i].first);
    }
    m->retired.count = 0;
    m->retired.free_pages = 0;
}

/* ---- single pages ---- */

enum memory_result memory_swap_page(struct memory_ref r, uint32_t pid, uint64_t address,
                                    uint64_t to, uint64_t *from)
{
    uint64_t flags;
    if (!page_table_look_up(r.pages, pid, address, from, &flags))
        return MEMORY_NOT_MAPPED;
    page_table_enter(r.pages, pid, address, to, flags & ~PAGE_TABLE_BORROWED);
    r.program->version++; /* readers may have kept where it is */
    return MEMORY_OK;
}

enum memory_result memory_remap(struct memory_ref r, uint32_t pid, uint64_t address, uint64_t size,
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
        return MEMORY_OUT_OF_PAGES;
    for (uint64_t at = first; at <= last; at += m->page) {
        page_table_look_up(r.pages, pid, at, &physical, &flags);
        if (flags & PAGE_TABLE_COPIED)
            drop_copies(r, pid, at, physical);
        if (memory_device_of(m, physical) == device)
            continue;
        if (!memory_hold_page(m, device, &to))
            bug("driver: device %u has free pages and has none", device);
        memory_swap_page(r, pid, at, to, &physical);
        leave_page(r, physical, flags);
    }
    return MEMORY_OK;
}

enum memory_result memory_remove_page(struct memory_ref r, uint32_t pid, uint64_t address)
{
    uint64_t physical, flags;
    if (!page_table_look_up(r.pages, pid, address, &physical, &flags))
        return MEMORY_NOT_MAPPED;
    unmap_run(r, pid, address / r.memory->page * r.memory->page, 1);
    r.memory->has_removed_pages = true;
    r.program->version++;
    return MEMORY_OK;
}

enum memory_result memory_allocate_page_at(struct memory_ref r, uint32_t pid, uint32_t device,
                                           uint64_t address, uint64_t flags, uint64_t *physical)
{
    struct memory_manager *m = r.memory;
    uint64_t start = address / m->page * m->page, old = 0, had = 0;
    const struct program_allocation *a = program_overlap(r.program, start, start + m->page);
    if ((a && a->pid != pid) || page_table_address(start) < m->start
        || page_table_address(start) >= m->end)
        return MEMORY_NOT_ALLOCATED;
    if (!m->device[device].pages.free_pages)
        return MEMORY_OUT_OF_PAGES;
    if (!a && r.program->allocation_count == PROGRAM_ALLOCATIONS_MAX)
        return MEMORY_OUT_OF_ENTRIES;
    if (!a
        && !page_allocator_allocate_at(&m->fresh, arena_at(struct page_extent, m->fresh_extents),
                                       start / m->page, 1))
        return MEMORY_RECYCLE_FIRST;
    bool mapped = page_table_look_up(r.pages, pid, start, &old, &had);
    if (!memory_hold_page(m, device, physical))
        bug("driver: device %u has free pages and has none", device);
    if (!page_table_enter(r.pages, pid, start, *physical, flags)) {
        memory_give_page(m, *physical);
        if (!a)
            page_allocator_release(&m->fresh, arena_at(struct page_extent, m->fresh_extents),
                                   start / m->page, 1);
        return MEMORY_TABLE_FULL;
    }
    if (mapped && (had & PAGE_TABLE_COPIED))
        drop_copies(r, pid, start, old);
    if (mapped)
        leave_page(r, old, had);
    r.program->version++;
    const struct program_allocation added = {.start = start,
                                             .end = start + m->page,
                                             .device = device,
                                             .use = PROGRAM_BUFFER,
                                             .pid = pid};
    if (!a)
        program_add_allocation(r.program, &added);
    return MEMORY_OK;
}

static bool is_mapped(struct memory_ref r, uint32_t pid, uint64_t address, uint64_t size)
{
    uint64_t physical, flags;
    for (uint64_t at = 0; at < size; at += r.memory->page)
        if (!page_table_look_up(r.pages, pid, address + at, &physical, &flags)
            || flags & PAGE_TABLE_UNIFIED)
            return false;
    return true;
}

static void join_page(struct memory_ref r, uint32_t pid, uint64_t address, uint64_t from)
{
    uint64_t mine = 0, theirs = 0, flags = 0, their_flags = 0;
    page_table_look_up(r.pages, pid, address, &mine, &flags);
    page_table_look_up(r.pages, pid, from, &theirs, &their_flags);
    if (mine == theirs && !(flags & PAGE_TABLE_BORROWED))
        page_table_enter(r.pages, pid, from, theirs, their_flags & ~PAGE_TABLE_BORROWED);
    else if (mine != theirs)
        leave_page(r, mine, flags);
    page_table_enter(r.pages, pid, address, theirs, flags | PAGE_TABLE_BORROWED);
}

enum memory_result memory_join(struct memory_ref r, uint32_t pid, uint64_t address, uint64_t size,
                               uint64_t from)
{
    if (!is_mapped(r, pid, address, size) || !is_mapped(r, pid, from, size))
        return MEMORY_NOT_MAPPED;
    for (uint64_t at = 0; at < size; at += r.memory->page)
        join_page(r, pid, address + at, from + at);
    r.program->version++;
    return MEMORY_OK;
}
