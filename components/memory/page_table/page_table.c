/* Changes of the page table; see page_table.h. Called by its writer, the driver; readers are inline
 * in the header. */
#include "page_table.h"

#include <stddef.h>

#include "runtime/engine/store_log.h"

void page_table_init(struct page_table *t, unsigned page_bits, uint64_t max_pages)
{
    /* Each run of mapped pages may begin and end inside a leaf: twice the dense need, and room for
     * small processes. */
    uint64_t nodes = max_pages / PAGE_TABLE_FANOUT * 2 + 16384;
    t->page_bits = page_bits;
    t->fragment_bits = page_bits;
    t->node_capacity = (uint32_t)nodes;
    t->node_count = 1;
    t->nodes_at = arena_allocate(nodes * PAGE_TABLE_FANOUT * sizeof(uint64_t));
    t->used_at = arena_allocate(nodes * sizeof(uint16_t));
    page_copies_init(&t->copies);
    store_offer(t);
}

/* The part of the table that readers see: all but the processes. */
static void wrote_head(const struct page_table *t)
{
    store_wrote(t, offsetof(struct page_table, roots));
}

/* An empty node; there must be one. */
static uint32_t pop_free_node(struct page_table *t)
{
    uint32_t node = t->free_node;
    if (!node)
        return t->node_count++;
    t->free_node = (uint32_t)page_table_node(t, node)[0];
    t->free_count--;
    page_table_node(t, node)[0] = 0;
    store_wrote(page_table_node(t, node), sizeof(uint64_t));
    return node;
}

static uint16_t *used_entries(const struct page_table *t, uint64_t node)
{
    return arena_at(uint16_t, t->used_at) + node;
}

bool page_table_enter(struct page_table *t, uint32_t pid, uint64_t address, uint64_t physical,
                      uint64_t flags)
{
    if (!page_table_covers(t, pid, address))
        return false;
    if (!page_table_entry(t, pid, address)
        && t->node_capacity - t->node_count + t->free_count < PAGE_TABLE_LEVELS)
        return false;
    if (!t->roots[pid]) {
        t->roots[pid] = pop_free_node(t);
        store_wrote(&t->roots[pid], sizeof t->roots[pid]);
    }
    uint64_t node = t->roots[pid];
    for (unsigned level = PAGE_TABLE_LEVELS - 1; level > 0; level--) {
        uint64_t *entry = &page_table_node(t, node)[page_table_index(t, address, level)];
        if (!*entry) {
            *entry = pop_free_node(t);
            store_wrote(entry, sizeof *entry);
            ++*used_entries(t, node);
        }
        node = *entry;
    }
    uint64_t *entry = &page_table_node(t, node)[page_table_index(t, address, 0)];
    if (!(*entry & PAGE_TABLE_VALID)) {
        t->pages++;
        ++*used_entries(t, node);
    }
    *entry =
        (physical >> t->page_bits << t->page_bits) | PAGE_TABLE_VALID | (flags & PAGE_TABLE_FLAGS);
    store_wrote(entry, sizeof *entry);
    wrote_head(t);
    return true;
}

/* True if `count` entries from `first` on lead to neighbours, the first of them to that of `first`.
 */
static bool is_run(const struct page_table *t, const uint64_t *leaf, unsigned first, unsigned count)
{
    for (unsigned i = 1; i < count; i++)
        if (leaf[first + i] != leaf[first] + ((uint64_t)i << t->page_bits))
            return false;
    return true;
}

unsigned page_table_fragment(const struct page_table *t, uint32_t pid, uint64_t address,
                             uint64_t *physical)
{
    const uint64_t *entry = page_table_entry(t, pid, address);
    unsigned place = page_table_index(t, address, 0), bits = t->page_bits;
    const uint64_t *leaf = entry - place;
    *physical = *entry >> t->page_bits << t->page_bits;
    if (*entry & (PAGE_TABLE_UNIFIED | PAGE_TABLE_COPIED))
        return bits;
    while (bits < t->fragment_bits && bits < t->page_bits + PAGE_TABLE_FANOUT_BITS) {
        unsigned half = 1u << (bits - t->page_bits), first = place & ~(2 * half - 1);
        uint64_t start = leaf[first] >> t->page_bits << t->page_bits;
        if (start & ((uint64_t)1 << bits) || !is_run(t, leaf, first, 2 * half))
            break;
        *physical = start;
        bits++;
    }
    return bits;
}

bool page_table_map(struct page_table *t, uint32_t pid, uint64_t address, uint64_t physical,
                    bool writable)
{
    return page_table_enter(t, pid, address, physical, writable ? PAGE_TABLE_WRITABLE : 0);
}

void page_table_unmap(struct page_table *t, uint32_t pid, uint64_t address)
{
    uint64_t *path[PAGE_TABLE_LEVELS]; /* the entry followed at each level */
    uint64_t nodes[PAGE_TABLE_LEVELS];
    if (!t->page_bits || !page_table_covers(t, pid, address) || !t->roots[pid])
        return;
    uint64_t node = t->roots[pid];
    for (unsigned level = PAGE_TABLE_LEVELS; level-- > 0; node = *path[level]) {
        nodes[level] = node;
        path[level] = &page_table_node(t, node)[page_table_index(t, address, level)];
        if (!*path[level])
            return;
    }
    t->pages--;
    for (unsigned level = 0; level < PAGE_TABLE_LEVELS; level++) {
        *path[level] = 0;
        store_wrote(path[level], sizeof *path[level]);
        if (--*used_entries(t, nodes[level]))
            return;
        page_table_node(t, nodes[level])[0] = t->free_node;
        store_wrote(page_table_node(t, nodes[level]), sizeof(uint64_t));
        t->free_node = (uint32_t)nodes[level];
        t->free_count++;
    }
    t->roots[pid] = 0;
    store_wrote(&t->roots[pid], sizeof t->roots[pid]);
}
