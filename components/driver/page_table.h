/* The page table: virtual to physical pages, for each process. A store: the driver writes it, MMUs
 * read it.
 *
 * A radix tree of four levels with 512 entries each, as in x86-64 and GCN, over the virtual page
 * number; so pages of 2^page_bits bytes (12 .. 21) cover virtual addresses below 2^48. Nodes are
 * numbers in one array that is reserved when the table is set up and costs host memory only where
 * it is used. Pages are mapped one by one; nodes are never given back, an unmapped page leaves an
 * empty entry. No other state, no pointers.
 *
 * Writes happen in host calls, between edges of the clock. A virtual page must not be mapped to
 * another physical page while TLBs may hold it: those inside caches forget on `invalidate`, shared
 * ones never do, so the driver hands out each virtual page once. */
#ifndef HEDDLE_COMPONENTS_PAGE_TABLE_H
#define HEDDLE_COMPONENTS_PAGE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/engine.h"

#define PAGE_TABLE_LEVELS      4
#define PAGE_TABLE_FANOUT_BITS 9
#define PAGE_TABLE_FANOUT      (1u << PAGE_TABLE_FANOUT_BITS)
#define PAGE_TABLE_PIDS        4096 /* processes 0 .. 4095 */
#define PAGE_TABLE_VALID       ((uint64_t)1)
#define PAGE_TABLE_WRITABLE    ((uint64_t)2)

struct page_table {
    uint32_t nodes; /* arena offset: uint64_t [capacity][PAGE_TABLE_FANOUT]; entry of an inner node:
                       number, 0 none */
    uint32_t node_count; /* in use; node 0 never is */
    uint32_t node_capacity;
    uint32_t page_bits;
    uint64_t pages;                  /* mapped now */
    uint32_t roots[PAGE_TABLE_PIDS]; /* node, 0: nothing mapped yet */
};

/* At start-up, by the writer: pages of 2^page_bits bytes, of which at most `max_pages` are mapped
 * at the same time. */
static inline void page_table_init(struct page_table *t, unsigned page_bits, uint64_t max_pages)
{
    /* Each run of mapped pages may begin and end inside a leaf: twice the dense need, and room for
     * small processes. */
    uint64_t nodes = max_pages / PAGE_TABLE_FANOUT * 2 + 16384;
    t->page_bits = page_bits;
    t->node_capacity = (uint32_t)nodes;
    t->node_count = 1;
    t->nodes = arena_allocate(nodes * PAGE_TABLE_FANOUT * sizeof(uint64_t));
}

static inline uint64_t *page_table_node(const struct page_table *t, uint64_t node)
{
    return arena_at(uint64_t, t->nodes) + node * PAGE_TABLE_FANOUT;
}

static inline bool page_table_covers(const struct page_table *t, uint32_t pid, uint64_t address)
{
    return pid < PAGE_TABLE_PIDS && address < (uint64_t)1 << 48
           && address >> t->page_bits < (uint64_t)1 << (PAGE_TABLE_LEVELS * PAGE_TABLE_FANOUT_BITS);
}

static inline unsigned page_table_index(const struct page_table *t, uint64_t address,
                                        unsigned level)
{
    return (unsigned)(address >> t->page_bits >> (level * PAGE_TABLE_FANOUT_BITS))
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
 * mapping. false: pid or address out of range, or the table is full. */
static inline bool page_table_map(struct page_table *t, uint32_t pid, uint64_t address,
                                  uint64_t physical, bool writable)
{
    if (!page_table_covers(t, pid, address))
        return false;
    if (!page_table_entry(t, pid, address) && t->node_capacity - t->node_count < PAGE_TABLE_LEVELS)
        return false;
    if (!t->roots[pid])
        t->roots[pid] = t->node_count++;
    uint64_t node = t->roots[pid];
    for (unsigned level = PAGE_TABLE_LEVELS - 1; level > 0; level--) {
        uint64_t *entry = &page_table_node(t, node)[page_table_index(t, address, level)];
        if (!*entry)
            *entry = t->node_count++;
        node = *entry;
    }
    uint64_t *entry = &page_table_node(t, node)[page_table_index(t, address, 0)];
    t->pages += !(*entry & PAGE_TABLE_VALID);
    *entry = (physical >> t->page_bits << t->page_bits) | PAGE_TABLE_VALID
             | (writable ? PAGE_TABLE_WRITABLE : 0);
    return true;
}

/* Nothing when the page is not mapped. */
static inline void page_table_unmap(struct page_table *t, uint32_t pid, uint64_t address)
{
    uint64_t *entry = page_table_entry(t, pid, address);
    if (!entry || !(*entry & PAGE_TABLE_VALID))
        return;
    *entry = 0;
    t->pages--;
}

/* false: not mapped. `physical` is that of the page's first byte. */
static inline bool page_table_find(const struct page_table *t, uint32_t pid, uint64_t address,
                                   uint64_t *physical, bool *writable)
{
    const uint64_t *entry = page_table_entry(t, pid, address);
    if (!entry || !(*entry & PAGE_TABLE_VALID))
        return false;
    *physical = *entry >> t->page_bits << t->page_bits;
    *writable = (*entry & PAGE_TABLE_WRITABLE) != 0;
    return true;
}

#endif
