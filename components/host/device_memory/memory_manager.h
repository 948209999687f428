/* The owners of device memory: virtual addresses, physical pages of all devices, the page table and
 * the table of allocations, kept in step. The driver's memory calls end here; the driver itself
 * adds checks and messages.
 *
 * Each process has an address space of its own. Addresses that the driver chooses come from one
 * range for all processes, so most name their allocation, and its process, in every call. A process
 * may also have memory at an address that another one uses. Here and in the program's table such an
 * allocation goes by a name, the process and the address (page_table_name()), which takes nothing
 * from the range.
 *
 * Addresses of the range come in three kinds: fresh (may be handed out), in use, and retired
 * (freed, but TLBs may still hold them). Retired ones become fresh again all at once, by
 * memory_recycle(), after a shoot-down of everything; that is seldom, since the range is several
 * times as large as all memory. Physical pages may be handed out again at once: nothing finds them
 * but through the page table.
 *
 * Invariants (the tests compare with a model that knows only these):
 * - a physical page is free in its device's list, or held by one owner: a mapping, or a caller of
 *   memory_hold_page(); other mappings may borrow it (memory_join());
 * - pages of an allocation are mapped in its process unless they were removed; nothing else is
 *   mapped there, except allocations that are shared with the process and the rest of blocks;
 * - a call that fails leaves everything as it was.
 *
 * An allocation needs no physical neighbours, so it fails for want of pages only when fewer are
 * free than it needs; pages of a block are not free for others. */
#ifndef HEDDLE_COMPONENTS_HOST_DEVICE_MEMORY_MEMORY_MANAGER_H
#define HEDDLE_COMPONENTS_HOST_DEVICE_MEMORY_MEMORY_MANAGER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/number.h"
#include "components/memory/page_table/page_table.h"
#include "components/memory/page_table/program_table.h"

#include "page_allocator.h"

enum {
    MEMORY_DEVICES = GPU_SET_MAX,
    MEMORY_RETIRED = PROGRAM_ALLOCATIONS_MAX, /* ranges */
    MEMORY_RETIRED_MANY = MEMORY_RETIRED / 2  /* memory_recycle() is due at the next chance */
};

enum memory_result {
    MEMORY_OK,
    MEMORY_OUT_OF_PAGES,     /* a device has too few free pages */
    MEMORY_OUT_OF_ADDRESSES, /* no free range of virtual addresses is long enough */
    /* No free range is long enough, but retired ones may help: shoot down, memory_recycle(), and
       call again. */
    MEMORY_RECYCLE_FIRST,
    MEMORY_OUT_OF_ENTRIES, /* too many allocations */
    MEMORY_TABLE_FULL,     /* the page table has no room */
    MEMORY_NOT_MAPPED,     /* a page is not mapped in that process */
    /* Not the start of an allocation; or the address belongs to another process. */
    MEMORY_NOT_ALLOCATED,
    MEMORY_OVERLAP /* a device's physical addresses overlap another's */
};

/* A fragment of the largest size, mapped as a whole, that small buffers of a process share: each
 * takes the pages behind the one before. It is given up with the last of them. AMD's runtime has
 * blocks of 2 MiB for allocations of local memory that are smaller (ROCr, MemoryRegion and
 * SimpleHeap). */
struct memory_block {
    uint64_t end, left; /* pages; left 0: none is free */
    uint32_t pid, flags;
};

struct memory_device {
    uint64_t base, size; /* physical, bytes */
    struct page_allocator pages;
    struct memory_block block; /* block that the next small buffer is taken from */
    uint32_t extents;          /* arena: struct page_extent[] */
};

struct memory_manager {
    uint64_t page;     /* bytes */
    uint64_t fragment; /* bytes: allocations that fill one are aligned to it; page: none are */
    uint64_t skip;     /* pages that stay unused at the beginning of each block */
    uint32_t device_count;
    bool has_removed_pages; /* a page of some allocation may be missing */
    struct memory_device device[MEMORY_DEVICES];
    uint64_t start, end; /* range of virtual addresses; 0, 0: not set yet */
    struct page_allocator fresh, retired;
    uint32_t fresh_extents, retired_extents; /* arena */
};

/* The allocator's state; the tables belong to others. */
struct memory_ref {
    struct memory_manager *memory;
    struct page_table *pages;
    struct program_table *program;
};

struct memory_request {
    uint32_t pid;
    uint32_t use;           /* enum program_use */
    uint32_t flags;         /* those of its page table entries */
    uint64_t size, align;   /* bytes; align: power of two or 0 */
    uint64_t fixed;         /* where it is to begin, an address or a name; 0: anywhere */
    const uint32_t *device; /* the pages are spread over these, in runs */
    uint32_t device_count;
    /* The run that begins at page `first` of `count`: its length, and the place of its device.
     * NULL: even shares, one after the other. */
    uint64_t (*run)(void *of, uint64_t first, uint64_t count, uint32_t devices, uint32_t *place);
    void *of;
};

static inline uint64_t memory_pages_of(const struct memory_manager *m,
                                       const struct program_allocation *a)
{
    return divide_up(a->end - a->start, m->page);
}

static inline struct page_extent *memory_extents(const struct memory_device *device)
{
    return arena_at(struct page_extent, device->extents);
}

/* Pages of `page` bytes. Allocations lie in fragments of up to `fragment` bytes, a multiple: begin
 * at a multiple of the largest power of two that they fill, and their physical pages side by side
 * at such a multiple, where there are such. Buffers that do not fill one share one (memory_block).
 */
void memory_init(struct memory_manager *m, uint64_t page, uint64_t fragment);

/* Adds device number device_count, whose memory is [base, base + size). */
enum memory_result memory_register_device(struct memory_manager *m, uint64_t base, uint64_t size);

/* Once: virtual addresses are taken from the whole pages of [start, end). */
void memory_set_range(struct memory_manager *m, uint64_t start, uint64_t end);

/* The device whose memory holds the physical address, or UINT32_MAX. */
static inline uint32_t memory_device_of(const struct memory_manager *m, uint64_t physical)
{
    uint32_t first = 0;
    if (m->device_count > 8) { /* most often all are of one size, one after the other */
        uint64_t guess = (physical - m->device[0].base) / m->device[0].size;
        first = guess < m->device_count ? (uint32_t)guess : 0;
    }
    for (uint32_t i = first; i < m->device_count; i++)
        if (physical - m->device[i].base < m->device[i].size)
            return i;
    for (uint32_t i = 0; i < first; i++)
        if (physical - m->device[i].base < m->device[i].size)
            return i;
    return UINT32_MAX;
}

/* The number of those of `count` things that the device at place `i` of `devices` gets: the first
 * count mod devices one more. */
static inline uint64_t memory_share_of(uint64_t count, uint32_t devices, uint32_t i)
{
    return count / devices + (i < count % devices);
}

/* The even share that begins at number `first` of `count`: its length, and its place. */
static inline uint64_t memory_share_at(uint64_t first, uint64_t count, uint32_t devices,
                                       uint32_t *place)
{
    uint64_t end = memory_share_of(count, devices, 0);
    for (*place = 0; end <= first;)
        end += memory_share_of(count, devices, ++*place);
    return end - first;
}

/* The number of pages, of so many, that the device at a place gets. */
uint64_t memory_count_of(const struct memory_request *q, uint64_t pages, uint32_t place);

/* ---- physical pages ---- */

/* Takes a free page of the device out of its list, for the caller to hold. */
bool memory_hold_page(struct memory_manager *m, uint32_t device, uint64_t *physical);

/* Gives a page back that nothing is mapped to any more. False: it was free already. */
bool memory_give_page(struct memory_manager *m, uint64_t physical);

/* ---- allocations ---- */

/* True if the range lies outside of the addresses of memory_set_range(): addresses of the host's
 * own memory, which can be asked for by `fixed`. They are not retired when they are freed, so a
 * shoot-down of them has to follow at once. */
bool memory_is_foreign(const struct memory_manager *m, uint64_t start, uint64_t end);

enum memory_result memory_allocate(struct memory_ref r, const struct memory_request *q,
                                   uint64_t *address);
enum memory_result memory_free(struct memory_ref r, uint64_t address);

/* True if it is time to recycle, as far as that can be done now. */
bool memory_retired_many(const struct memory_manager *m);

/* Makes retired addresses fresh. No TLB may hold any of them: shoot down everything first. */
void memory_recycle(struct memory_manager *m);

/* ---- single pages ---- */

/* Maps the page of `address`, which is mapped, to the physical page `to`, which the caller holds;
 * the caller then holds the one it was mapped to, *from. The flags stay. Data is not moved. */
enum memory_result memory_swap_page(struct memory_ref r, uint32_t pid, uint64_t address,
                                    uint64_t to, uint64_t *from);

/* Moves the mappings of all pages that touch [address, address + size) to `device`. Data is not
 * moved. */
enum memory_result memory_remap(struct memory_ref r, uint32_t pid, uint64_t address, uint64_t size,
                                uint32_t device);

/* Removes the mapping of one page; the physical page may be used again, the address stays with its
 * allocation. */
enum memory_result memory_remove_page(struct memory_ref r, uint32_t pid, uint64_t address);

/* A page on `device` at a given virtual address: in place of one that is mapped there or was
 * removed, whose physical page is given back; or at an address that is not in use, as an allocation
 * of one page. */
enum memory_result memory_allocate_page_at(struct memory_ref r, uint32_t pid, uint32_t device,
                                           uint64_t address, uint64_t flags, uint64_t *physical);

/* The pages of [address, address + size) become those that are mapped from `from` on, in the same
 * process: one memory at two addresses. The mapping that owned a page owns it still. Where it is
 * one memory already, what `address` owns passes to `from`, so that `address` can be freed. Before
 * an owner is freed or changed, it has to pass on what others borrow. */
enum memory_result memory_join(struct memory_ref r, uint32_t pid, uint64_t address, uint64_t size,
                               uint64_t from);

/* ---- processes ---- */

/* Maps an allocation of another process in `pid`, too: the same physical pages. False: the page
 * table is full. */
bool memory_share(struct memory_ref r, uint64_t address, uint32_t pid);

/* Ends memory_share(). */
void memory_unshare(struct memory_ref r, uint64_t address, uint32_t pid);

/* Frees all that the process has allocated. */
void memory_free_process(struct memory_ref r, uint32_t pid);

#endif
