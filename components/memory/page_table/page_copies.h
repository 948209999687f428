/* Copies of pages for reading: which GPUs hold the contents of a physical page, the master, in one
 * of their own. Part of the page table, where entries of pages that have copies say so and are
 * read-only; the copies of one are found by the master's physical address and the GPU.
 *
 * Written as the page table is. Page migration controllers read it: they put the copy of their own
 * GPU in place of the master into what TLBs are told. */
#ifndef HEDDLE_COMPONENTS_MEMORY_PAGE_TABLE_PAGE_COPIES_H
#define HEDDLE_COMPONENTS_MEMORY_PAGE_TABLE_PAGE_COPIES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/index_pool.h"

enum { PAGE_COPIES_MAX = 1 << 16, PAGE_COPIES_BUCKETS = 1 << 16 };

struct page_copy {
    uint64_t master, physical; /* first bytes */
    uint32_t gpu;
    uint32_t next; /* next of the same bucket: 1 + number; 0: none */
};

struct page_copies {
    uint32_t entries_at; /* arena: struct page_copy[PAGE_COPIES_MAX] */
    uint32_t buckets_at; /* arena: uint32_t[PAGE_COPIES_BUCKETS], 1 + number, 0 none */
    struct index_pool free;
};

void page_copies_init(struct page_copies *t);

static inline uint32_t page_copies_count(const struct page_copies *t)
{
    return index_pool_used(&t->free);
}

static inline struct page_copy *page_copies_at(const struct page_copies *t, uint32_t i)
{
    return arena_at(struct page_copy, t->entries_at) + i;
}

static inline uint32_t *page_copies_bucket(const struct page_copies *t, uint64_t master)
{
    return arena_at(uint32_t, t->buckets_at)
           + (hash_multiply(master >> 12) >> 32) % PAGE_COPIES_BUCKETS;
}

/* The copy of the page `master` at GPU `gpu`, or NULL. */
static inline const struct page_copy *page_copies_find(const struct page_copies *t, uint64_t master,
                                                       uint32_t gpu)
{
    if (!page_copies_count(t))
        return NULL;
    for (uint32_t i = *page_copies_bucket(t, master); i; i = page_copies_at(t, i - 1)->next) {
        const struct page_copy *copy = page_copies_at(t, i - 1);
        if (copy->master == master && copy->gpu == gpu)
            return copy;
    }
    return NULL;
}

/* False: there are too many. */
bool page_copies_add(struct page_copies *t, uint64_t master, uint32_t gpu, uint64_t physical);

/* Removes one of the copies of `master`. False: there are none. */
bool page_copies_remove(struct page_copies *t, uint64_t master, struct page_copy *copy);

#endif
