/* The entries of a TLB, by process and page. */
#include "translation_table.h"

#include "base/hash.h"
#include "base/likely.h"
#include "base/number.h"
#include "runtime/engine/arena.h"

/* Buckets of a table's first page. */
#define TRANSLATION_FIRST_BUCKETS 1024u

static inline uint32_t *translation_bucket(const struct translation_table *t, uint64_t key,
                                           uint32_t pid)
{
    uint64_t hash = hash_multiply((key >> TRANSLATION_SMALLEST_PAGE) ^ (uint64_t)pid << 40);
    return arena_at(uint32_t, t->buckets_at) + ((hash >> 32) & t->bucket_mask);
}

/* Twice as many buckets, into which each chain is divided. */
static OUT_OF_LINE void translation_widen(struct translation_table *t)
{
    uint32_t *buckets = arena_at(uint32_t, t->buckets_at), before = t->bucket_mask + 1;
    t->bucket_mask += before;
    for (uint32_t b = 0; b < before; b++) {
        uint32_t i = buckets[b];
        buckets[b] = 0;
        while (i) {
            struct translation_entry *e = translation_entry(t, i - 1);
            uint32_t *bucket = translation_bucket(t, e->key, e->pid), next = e->chain;
            e->chain = *bucket;
            *bucket = i;
            i = next;
        }
    }
}

static inline void translation_chain(struct translation_table *t, uint32_t i)
{
    if (unlikely((t->valid_count + index_pool_used(&t->free_pending)) * 2 > t->bucket_mask
                 && t->bucket_mask + 1 < t->bucket_most))
        translation_widen(t);
    struct translation_entry *e = translation_entry(t, i);
    uint32_t *bucket = translation_bucket(t, e->key, e->pid);
    e->chain = *bucket;
    *bucket = i + 1;
}

static inline void translation_unchain(struct translation_table *t, uint32_t i)
{
    struct translation_entry *e = translation_entry(t, i);
    uint32_t *at = translation_bucket(t, e->key, e->pid);
    while (*at != i + 1)
        at = &translation_entry(t, *at - 1)->chain;
    *at = e->chain;
    e->key = 0;
}

static inline void translation_table_init(struct translation_table *t, uint32_t sets, uint32_t ways,
                                          uint32_t pending, bool has_fragments)
{
    uint32_t total = sets * ways + pending, buckets = 16;
    while (buckets < total * 2)
        buckets *= 2;
    *t = (struct translation_table){.sets = sets, .ways = ways, .has_fragments = has_fragments};
    t->entries_at = arena_allocate((size_t)total * sizeof(struct translation_entry));
    t->sets_at = arena_allocate((size_t)sets * sizeof(struct translation_set));
    t->buckets_at = arena_allocate((size_t)buckets * sizeof(uint32_t));
    t->bucket_most = buckets;
    t->bucket_mask = min(buckets, TRANSLATION_FIRST_BUCKETS) - 1;
    t->page_bits = t->key_bits = TRANSLATION_SMALLEST_PAGE;
    t->last = TRANSLATION_NONE;
    index_pool_init(&t->free_pending, pending);
}

/* Makes an entry that is in no order of use the most recently used one of its set. */
static inline void translation_link(struct translation_table *t, struct translation_set *set,
                                    uint32_t i)
{
    struct translation_entry *e = translation_entry(t, i);
    e->newer = TRANSLATION_NONE;
    e->older = set->newest;
    translation_entry(t, set->newest)->newer = i;
    set->newest = i;
}

/* The least recently used entry of a set, which becomes the most recently used one; one that has
 * never been used is less recent than all others. */
static inline uint32_t translation_reuse_oldest(struct translation_table *t, uint32_t number)
{
    struct translation_set *set = arena_at(struct translation_set, t->sets_at) + number;
    if (set->used_ways == t->ways) {
        uint32_t i = set->oldest;
        translation_touch(t, i);
        return i;
    }
    uint32_t i = set->used_ways++ * t->sets + number;
    if (set->used_ways == 1) {
        set->newest = set->oldest = i;
        translation_entry(t, i)->newer = translation_entry(t, i)->older = TRANSLATION_NONE;
    } else {
        translation_link(t, set, i);
    }
    return i;
}

static inline uint32_t translation_find_key(struct translation_table *t, uint32_t pid, uint64_t key)
{
    for (uint32_t i = *translation_bucket(t, key, pid); i;) {
        const struct translation_entry *e = translation_entry(t, i - 1);
        if (e->key == key && e->pid == pid)
            return t->last = i - 1;
        i = e->chain;
    }
    return TRANSLATION_NONE;
}

/* The fragment that holds the address, the largest first: there are few of the others. */
static inline uint32_t translation_find_fragment(struct translation_table *t, uint32_t pid,
                                                 uint64_t address)
{
    for (uint32_t sizes = t->larger_sizes; sizes;) {
        unsigned bits = 31 - (unsigned)__builtin_clz(sizes);
        uint32_t i = translation_find_key(t, pid, translation_key_of(address, bits));
        if (i != TRANSLATION_NONE)
            return i;
        sizes ^= UINT32_C(1) << bits;
    }
    return TRANSLATION_NONE;
}

static inline uint32_t translation_find(struct translation_table *t, uint32_t pid, uint64_t address)
{
    uint64_t key = translation_key(t, address);
    if (t->last != TRANSLATION_NONE) {
        const struct translation_entry *e = translation_entry(t, t->last);
        if (e->pid == pid
            && e->key
                   == (t->has_fragments ? translation_key_of(address, translation_bits(e)) : key))
            return t->last;
    }
    if (t->larger_sizes) {
        uint32_t i = translation_find_fragment(t, pid, address);
        if (i != TRANSLATION_NONE)
            return i;
    }
    return translation_find_key(t, pid, key);
}

static inline uint32_t translation_find_pending(const struct translation_table *t, uint32_t pid,
                                                uint64_t address)
{
    bool has_sizes = t->has_fragments || t->key_bits != TRANSLATION_SMALLEST_PAGE;
    unsigned sizes[] = {TRANSLATION_SMALLEST_PAGE, t->key_bits};
    for (unsigned s = 0; index_pool_used(&t->free_pending) && has_sizes && s < 2; s++) {
        uint64_t key = translation_key_of(address, sizes[s]);
        for (uint32_t i = *translation_bucket(t, key, pid); i;) {
            const struct translation_entry *e = translation_entry(t, i - 1);
            if (e->key == key && e->pid == pid && translation_is_pending(t, i - 1))
                return i - 1;
            i = e->chain;
        }
    }
    return TRANSLATION_NONE;
}

static inline void translation_touch(struct translation_table *t, uint32_t i)
{
    struct translation_entry *e = translation_entry(t, i);
    if (e->newer == TRANSLATION_NONE)
        return;
    struct translation_set *set = arena_at(struct translation_set, t->sets_at) + i % t->sets;
    translation_entry(t, e->newer)->older = e->older;
    if (e->older == TRANSLATION_NONE)
        set->oldest = e->newer;
    else
        translation_entry(t, e->older)->newer = e->newer;
    translation_link(t, set, i);
}

static inline uint32_t translation_ask(struct translation_table *t, uint32_t pid, uint64_t address)
{
    uint32_t number = index_pool_acquire(&t->free_pending), i = t->sets * t->ways + number;
    struct translation_entry *e = translation_entry(t, i);
    e->key = translation_key(t, address);
    e->pid = pid;
    translation_chain(t, i);
    return number;
}

static inline void translation_drop(struct translation_table *t, uint32_t i)
{
    translation_unchain(t, i);
    t->valid_count--;
    t->last = TRANSLATION_NONE;
}

static inline void translation_table_flush(struct translation_table *t)
{
    for (uint32_t i = 0; t->valid_count; i++)
        if (translation_entry(t, i)->key)
            translation_drop(t, i);
    t->last = TRANSLATION_NONE;
}

static inline bool translation_touches(const struct translation_table *t, uint32_t i, uint32_t pid,
                                       uint64_t start, uint64_t end)
{
    const struct translation_entry *e = translation_entry(t, i);
    uint64_t page = e->key & ~(uint64_t)0xfff;
    return e->key && (pid == UINT32_MAX || e->pid == pid) && page < end
           && page + ((uint64_t)1 << (e->key & 0xfff)) > start;
}

static inline uint32_t translation_forget(struct translation_table *t, uint32_t pid, uint64_t start,
                                          uint64_t end)
{
    uint32_t before = t->valid_count, left = before;
    for (uint32_t i = 0; left; i++) {
        left -= translation_entry(t, i)->key != 0;
        if (translation_touches(t, i, pid, start, end))
            translation_drop(t, i);
    }
    t->last = TRANSLATION_NONE;
    return before - t->valid_count;
}

static inline bool translation_fits(const struct translation_table *t,
                                    const struct translated_page *page)
{
    return page->page_bits >= TRANSLATION_SMALLEST_PAGE && page->fragment_bits >= page->page_bits
           && page->fragment_bits < 32 && (!t->knows_page_bits || page->page_bits == t->page_bits);
}

static inline void translation_add_sizes(struct translation_table *t,
                                         const struct translated_page *page)
{
    t->page_bits = page->page_bits;
    t->knows_page_bits = true;
    if (!t->has_fragments)
        t->key_bits = page->page_bits;
    else if (page->fragment_bits > t->key_bits)
        t->larger_sizes |= UINT32_C(1) << page->fragment_bits;
}

static inline bool translation_enter(struct translation_table *t, uint32_t pid, uint64_t address,
                                     const struct translated_page *page)
{
    translation_add_sizes(t, page);
    uint32_t i = translation_find(t, pid, address);
    if (i != TRANSLATION_NONE)
        return false; /* asked for twice before the size of its fragment was known */
    unsigned bits = t->has_fragments ? page->fragment_bits : page->page_bits;
    uint64_t key = translation_key_of(address, bits), first = address >> page->page_bits;
    i = translation_reuse_oldest(t, (uint32_t)((key >> bits) % t->sets));
    struct translation_entry *e = translation_entry(t, i);
    if (e->key)
        translation_unchain(t, i);
    else
        t->valid_count++;
    e->key = key;
    e->pid = pid;
    e->traits = page->traits;
    e->physical = page->physical - ((first << page->page_bits) - (address >> bits << bits));
    translation_chain(t, i);
    return true;
}

static inline bool translation_fill(struct translation_table *t, uint32_t number,
                                    const struct translated_page *page, bool is_valid)
{
    uint32_t p = t->sets * t->ways + number;
    struct translation_entry *pending = translation_entry(t, p);
    uint32_t pid = pending->pid;
    uint64_t address = pending->key & ~(uint64_t)0xfff;
    translation_unchain(t, p);
    index_pool_release(&t->free_pending, number);
    t->last = TRANSLATION_NONE;
    return is_valid && translation_enter(t, pid, address, page);
}
