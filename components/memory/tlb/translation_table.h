/* The entries of a TLB: set-associative, PID-tagged, exact LRU, found through a hash table so that
 * 64 ways cost the same as one. Pages that have been asked for are in the same hash table, as
 * entries behind the real ones. The table grows with its entries, and entries stand way by way: of
 * a table for all pages of a device a program touches the part that its own pages need. The shared
 * TLB and the TLB inside a cache use the table and name translation_table.c among their files. The
 * table knows no timing.
 *
 * Invariant: an answer covers every lookup that waits for it. All pages are of one size, which the
 * answers say: before the first one pages are asked for by their 4 KiB. An entry covers a page.
 *
 * With `fragments` an entry covers the fragment that its answer names, of whatever size, and is
 * looked for by each size that has been seen. Pages are asked for by their 4 KiB, since the size of
 * the fragment comes with the answer; pages of one fragment that are asked for at the same time
 * become one entry. */
#ifndef HEDDLE_COMPONENTS_MEMORY_TLB_TRANSLATION_TABLE_H
#define HEDDLE_COMPONENTS_MEMORY_TLB_TRANSLATION_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "components/protocols/translate/translated_page.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/index_pool.h"

#define TRANSLATION_NONE          UINT32_MAX
#define TRANSLATION_SMALLEST_PAGE 12 /* bits */

struct translation_entry {
    uint64_t key;      /* first byte of the page, plus log2 of its size (< 4096); 0: not valid */
    uint64_t physical; /* first byte */
    uint32_t pid;
    uint32_t chain;        /* next of the same hash bucket */
    uint32_t newer, older; /* neighbours in the set's order of use, from its first use on */
    uint8_t traits;
};

struct translation_set {
    uint32_t newest, oldest; /* in order of use */
    uint32_t used_ways;      /* the first ways, which have been used; the others have never been */
};

struct translation_table {
    uint32_t entries_at; /* struct translation_entry [ways * sets + pending] */
    uint32_t sets_at;    /* struct translation_set [sets] */
    uint32_t buckets_at; /* uint32_t [bucket_most]: 1 + entry, 0 none */
    uint32_t bucket_most;
    uint32_t bucket_mask; /* mask of the buckets in use, the first ones */
    uint32_t sets, ways;
    uint32_t valid_count;
    struct index_pool free_pending; /* numbers of pages asked for */
    uint32_t page_bits;             /* log2 of a page's bytes; 12 before the first answer */
    uint32_t key_bits; /* log2 of what a key stands for: page_bits, or 12 with fragments */
    bool knows_page_bits;
    bool has_fragments;
    /* Bit b: an entry of 2^b bytes, more than key_bits, was made for a fragment. */
    uint32_t larger_sizes;
    uint32_t last; /* entry found last */
};

static inline struct translation_entry *translation_entry(const struct translation_table *t,
                                                          uint32_t i)
{
    return arena_at(struct translation_entry, t->entries_at) + i;
}

static inline uint64_t translation_key_of(uint64_t address, unsigned bits)
{
    return (address >> bits << bits) | bits;
}

static inline uint64_t translation_key(const struct translation_table *t, uint64_t address)
{
    return translation_key_of(address, t->key_bits);
}

/* log2 of what an entry covers. */
static inline unsigned translation_bits(const struct translation_entry *e)
{
    return (unsigned)(e->key & 0xfff);
}

static inline bool translation_is_pending(const struct translation_table *t, uint32_t entry)
{
    return entry != TRANSLATION_NONE && entry >= t->sets * t->ways;
}

static inline bool translation_can_ask(const struct translation_table *t)
{
    return index_pool_has(&t->free_pending);
}

static inline uint32_t translation_pending_number(const struct translation_table *t, uint32_t entry)
{
    return entry - t->sets * t->ways;
}

static void translation_table_init(struct translation_table *t, uint32_t sets, uint32_t ways,
                                   uint32_t pending, bool fragments);

/* The entry or pending entry of the page, or TRANSLATION_NONE. */
static uint32_t translation_find(struct translation_table *t, uint32_t pid, uint64_t address);

/* Makes the entry the most recently used of its set. */
static void translation_touch(struct translation_table *t, uint32_t i);

/* Makes the pending entry of a page that is being asked for; translation_can_ask() must be true.
 * Returns its number. */
static uint32_t translation_ask(struct translation_table *t, uint32_t pid, uint64_t address);

/* Forgets an entry that is not pending. */
static void translation_drop(struct translation_table *t, uint32_t i);
static void translation_table_flush(struct translation_table *t);

/* True if entry or pending entry `i` is about a page of the process (UINT32_MAX: of any) in [start,
 * end). */
static bool translation_touches(const struct translation_table *t, uint32_t i, uint32_t pid,
                                uint64_t start, uint64_t end);

/* Drops the entries of these pages; returns how many. Pending ones stay. */
static uint32_t translation_forget(struct translation_table *t, uint32_t pid, uint64_t start,
                                   uint64_t end);

/* The pending entry of a page for which lookups of `address` wait, although it may be here as a
 * part of what came meanwhile; or TRANSLATION_NONE. */
static uint32_t translation_find_pending(const struct translation_table *t, uint32_t pid,
                                         uint64_t address);

/* True if the page has the one size that all have. Others may neither be entered nor answered. */
static bool translation_fits(const struct translation_table *t, const struct translated_page *page);

/* Makes the most recent entry of the page that holds `address`, which is not pending. False: the
 * entry of its fragment is there already. */
static bool translation_enter(struct translation_table *t, uint32_t pid, uint64_t address,
                              const struct translated_page *page);

/* Enters the answer for pending page `number`, if it is `valid`. The number is free again. False:
 * no entry has been made. */
static bool translation_fill(struct translation_table *t, uint32_t number,
                             const struct translated_page *page, bool valid);

#endif
