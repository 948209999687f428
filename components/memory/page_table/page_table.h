/* The page table: virtual to physical pages, for each process. A store: the driver writes it, MMUs
 * read it.
 *
 * A radix tree of four levels with 512 entries each, as in x86-64 and GCN, over the virtual page
 * number; so pages of 2^page_bits bytes (12 .. 21) cover virtual addresses below 2^48. Nodes are
 * numbers in one array that is reserved when the table is set up and costs host memory only where
 * it is used. Pages are mapped one by one; a node whose last entry is gone is given back, so nodes
 * are needed only for pages that are mapped now, however long a program allocates and frees. No
 * other state, no pointers.
 *
 * Writes happen in host calls, between edges of the clock, or at the end of a window. MMUs keep
 * nothing: a walk is answered with what is here when it ends. TLBs do keep entries: a unit that
 * changes or removes a mapping that a kernel may have used has to send a shoot-down afterwards (the
 * driver says when, in driver_memory.c). */
#ifndef HEDDLE_COMPONENTS_MEMORY_PAGE_TABLE_PAGE_TABLE_H
#define HEDDLE_COMPONENTS_MEMORY_PAGE_TABLE_PAGE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "components/protocols/mem/mem_types.h"
#include "runtime/engine/engine.h"

#include "page_copies.h"

#define PAGE_TABLE_LEVELS      4
#define PAGE_TABLE_FANOUT_BITS 9
#define PAGE_TABLE_FANOUT      (1u << PAGE_TABLE_FANOUT_BITS)
#define PAGE_TABLE_PIDS        4096 /* processes 0 .. 4095 */
#define PAGE_TABLE_VALID       ((uint64_t)1)
#define PAGE_TABLE_WRITABLE    ((uint64_t)2)
#define PAGE_TABLE_UNIFIED     ((uint64_t)4)  /* managed: the page may move to another device */
#define PAGE_TABLE_PLACED      ((uint64_t)8)  /* unified: a GPU has asked for the page */
#define PAGE_TABLE_COPIED      ((uint64_t)16) /* copied: read-only for all (page_copies.h) */
#define PAGE_TABLE_EVICTED     ((uint64_t)32) /* unified: it has left a GPU for the host's memory */
#define PAGE_TABLE_REMOTE      ((uint64_t)64) /* unified: accessed where it is, never waited for */
#define PAGE_TABLE_READ_MOSTLY ((uint64_t)128)  /* unified: a GPU that waits for it gets a copy */
#define PAGE_TABLE_BORROWED    ((uint64_t)256)  /* another mapping owns the physical page */
#define PAGE_TABLE_FINE        ((uint64_t)512)  /* fine-grained: MEM_FINE (mem_types.h) */
#define PAGE_TABLE_UNCACHED    ((uint64_t)1024) /* MEM_UNCACHED */
#define PAGE_TABLE_FLAGS       ((uint64_t)2047)

struct page_table {
    /* Arena offset: uint64_t [capacity][PAGE_TABLE_FANOUT]; entry of an inner node: number, 0
     * none. */
    uint32_t nodes_at;
    uint32_t used_at;    /* arena offset: uint16_t [capacity], entries in use of each node */
    uint32_t node_count; /* that have ever been in use; node 0 never is */
    uint32_t node_capacity;
    uint32_t free_node; /* list through the first entries of nodes given back, 0: empty */
    uint32_t free_count;
    uint32_t page_bits;
    uint32_t fragment_bits; /* log2 of the largest run of pages that is marked; page_bits: none */
    uint64_t pages;         /* mapped now */
    uint32_t roots[PAGE_TABLE_PIDS]; /* node, 0: nothing mapped yet */
    struct page_copies copies;
};

/* At start-up, by the writer: pages of 2^page_bits bytes, of which at most `max_pages` are mapped
 * at the same time. */
void page_table_init(struct page_table *t, unsigned page_bits, uint64_t max_pages);

static inline uint64_t *page_table_node(const struct page_table *t, uint64_t node)
{
    return arena_at(uint64_t, t->nodes_at) + node * PAGE_TABLE_FANOUT;
}

/* An address that several processes use has a name for each: bit 63, the process, and the address.
 * The driver's tables go by names; what kernels and TLBs see are addresses. */
static inline uint64_t page_table_name(uint32_t pid, uint64_t address)
{
    return (uint64_t)1 << 63 | (uint64_t)pid << 48 | address;
}

static inline bool page_table_is_name(uint64_t address)
{
    return address >> 63;
}

static inline uint64_t page_table_address(uint64_t name)
{
    return page_table_is_name(name) ? name & (((uint64_t)1 << 48) - 1) : name;
}

/* `address` may be the process' own name for one. */
static inline bool page_table_covers(const struct page_table *t, uint32_t pid, uint64_t address)
{
    if (page_table_is_name(address) && page_table_name(pid, page_table_address(address)) == address)
        address = page_table_address(address);
    return pid < PAGE_TABLE_PIDS && address < (uint64_t)1 << 48
           && address >> t->page_bits < (uint64_t)1 << (PAGE_TABLE_LEVELS * PAGE_TABLE_FANOUT_BITS);
}

static inline unsigned page_table_index(const struct page_table *t, uint64_t address,
                                        unsigned level)
{
    return (unsigned)(page_table_address(address) >> t->page_bits
                      >> (level * PAGE_TABLE_FANOUT_BITS))
           & (PAGE_TABLE_FANOUT - 1);
}

/* The entry of a page, or NULL when its leaf does not exist. */
static inline uint64_t *page_table_entry(const struct page_table *t, uint32_t pid, uint64_t address)
{
    if (!t->page_bits || !page_table_covers(t, pid, address))
        return NULL;
    uint64_t node = t->roots[pid];
    for (unsigned level = PAGE_TABLE_LEVELS - 1; node && level > 0; level--)
        node = page_table_node(t, node)[page_table_index(t, address, level)];
    return node ? &page_table_node(t, node)[page_table_index(t, address, 0)] : NULL;
}

/* Maps the page of `address` to the physical page that begins at `physical`, or changes its
 * mapping; `flags`: PAGE_TABLE_WRITABLE, PAGE_TABLE_UNIFIED and so on. False: pid or address are
 * out of range, or the table is full. */
bool page_table_enter(struct page_table *t, uint32_t pid, uint64_t address, uint64_t physical,
                      uint64_t flags);
bool page_table_map(struct page_table *t, uint32_t pid, uint64_t address, uint64_t physical,
                    bool writable);

/* Nothing when the page is not mapped. Nodes that are empty now are given back. */
void page_table_unmap(struct page_table *t, uint32_t pid, uint64_t address);

/* Finds the first byte of the page and its flags, as in page_table_enter(). False: it is not
 * mapped. */
static inline bool page_table_look_up(const struct page_table *t, uint32_t pid, uint64_t address,
                                      uint64_t *physical, uint64_t *flags)
{
    const uint64_t *entry = page_table_entry(t, pid, address);
    if (!entry || !(*entry & PAGE_TABLE_VALID))
        return false;
    *physical = *entry >> t->page_bits << t->page_bits;
    *flags = *entry & PAGE_TABLE_FLAGS & ~PAGE_TABLE_VALID;
    return true;
}

/* The fragment that the mapped page of `address` lies in: log2 of its size, and its physical first
 * byte in *physical. A fragment is an aligned run of pages of one leaf that lie side by side in
 * memory, too, aligned as much, with the same flags. That is what a driver marks in the entries; it
 * follows from them, so no mark is kept here that a change of one page would have to find. Pages of
 * unified memory move one by one and are none. */
unsigned page_table_fragment(const struct page_table *t, uint32_t pid, uint64_t address,
                             uint64_t *physical);

static inline enum mem_type page_table_type(uint64_t flags)
{
    return flags & PAGE_TABLE_UNCACHED ? MEM_UNCACHED
           : flags & PAGE_TABLE_FINE   ? MEM_FINE
                                       : MEM_COARSE;
}

static inline bool page_table_is_writable(uint64_t flags)
{
    return (flags & PAGE_TABLE_WRITABLE) && !(flags & PAGE_TABLE_COPIED);
}

/* Finds the first byte of the page. False: it is not mapped. */
static inline bool page_table_find(const struct page_table *t, uint32_t pid, uint64_t address,
                                   uint64_t *physical, bool *writable)
{
    uint64_t flags;
    if (!page_table_look_up(t, pid, address, physical, &flags))
        return false;
    *writable = page_table_is_writable(flags);
    return true;
}

#endif
