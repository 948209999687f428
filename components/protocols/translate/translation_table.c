/* See translation_table.h. */
#include "components/protocols/translate/translation_table.h"
#include "runtime/engine/hash.h"

static inline uint32_t *translation_bucket(const struct translation_table *t, uint64_t key,
                                           uint32_t pid)
{
    uint64_t hash = hash_multiply((key >> TRANSLATION_SMALLEST_PAGE) ^ (uint64_t)pid << 40);
    return arena_at(uint32_t, t->buckets) + ((hash >> 32) & t->bucket_mask);
}

static inline void translation_chain(struct translation_table *t, uint32_t i)
{
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
                                          uint32_t pending, bool fragments)
{
    uint32_t total = sets * ways + pending, buckets = 16;
    while (buckets < total * 2)
        buckets *= 2;
    *t = (struct translation_table){
        .sets = sets, .ways = ways, .pending_capacity = pending, .fragments = fragments};
    t->entries = arena_allocate((size_t)total * sizeof(struct translation_entry));
    t->order = arena_allocate((size_t)sets * sizeof(struct translation_set));
    t->buckets = arena_allocate((size_t)buckets * sizeof(uint32_t));
    t->bucket_mask = buckets - 1;
    t->page_bits = TRANSLATION_SMALLEST_PAGE;
    t->last = TRANSLATION_NONE;
    t->free_pending = pending ? sets * ways : TRANSLATION_NONE;
}

/* Most tables of a large machine are never used by a small program, and are not touched then. */
static __attribute__((noinline)) void translation_link(struct translation_table *t)
{
    uint32_t sets = t->sets, ways = t->ways, pending = t->pending_capacity;
    t->linked = true;
    for (uint32_t i = 0; i < sets * ways; i++) {
        struct translation_entry *e = translation_entry(t, i);
        uint32_t way = i % ways;
        e->newer = way ? i - 1 : TRANSLATION_NONE;
        e->older = way + 1 < ways ? i + 1 : TRANSLATION_NONE;
    }
    for (uint32_t s = 0; s < sets; s++)
        arena_at(struct translation_set, t->order)[s] =
            (struct translation_set){s * ways, s * ways + ways - 1};
    for (uint32_t i = 0; i < pending; i++)
        translation_entry(t, sets * ways + i)->chain =
            i + 1 < pending ? sets * ways + i + 1 : TRANSLATION_NONE;
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
    for (uint32_t sizes = t->larger; sizes;) {
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
            && e->key == (t->fragments ? translation_key_of(address, translation_bits(e)) : key))
            return t->last;
    }
    if (t->larger) {
        uint32_t i = translation_find_fragment(t, pid, address);
        if (i != TRANSLATION_NONE)
            return i;
    }
    return translation_find_key(t, pid, key);
}

static inline void translation_touch(struct translation_table *t, uint32_t i)
{
    struct translation_entry *e = translation_entry(t, i);
    if (e->newer == TRANSLATION_NONE)
        return;
    struct translation_set *set = arena_at(struct translation_set, t->order) + i / t->ways;
    translation_entry(t, e->newer)->older = e->older;
    if (e->older == TRANSLATION_NONE)
        set->oldest = e->newer;
    else
        translation_entry(t, e->older)->newer = e->newer;
    e->newer = TRANSLATION_NONE;
    e->older = set->newest;
    translation_entry(t, set->newest)->newer = i;
    set->newest = i;
}

static inline uint32_t translation_ask(struct translation_table *t, uint32_t pid, uint64_t address)
{
    if (engine_unlikely(!t->linked))
        translation_link(t);
    uint32_t i = t->free_pending;
    struct translation_entry *e = translation_entry(t, i);
    t->free_pending = e->chain;
    e->key = translation_key(t, address);
    e->pid = pid;
    translation_chain(t, i);
    t->pending_count++;
    return i - t->sets * t->ways;
}

static inline void translation_drop(struct translation_table *t, uint32_t i)
{
    translation_unchain(t, i);
    t->last = TRANSLATION_NONE;
}

static inline void translation_table_flush(struct translation_table *t)
{
    uint32_t entries = t->linked ? t->sets * t->ways : 0;
    for (uint32_t i = 0; i < entries; i++)
        if (translation_entry(t, i)->key)
            translation_unchain(t, i);
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
    uint32_t dropped = 0, entries = t->linked ? t->sets * t->ways : 0;
    for (uint32_t i = 0; i < entries; i++)
        if (translation_touches(t, i, pid, start, end)) {
            translation_unchain(t, i);
            dropped++;
        }
    t->last = TRANSLATION_NONE;
    return dropped;
}

static inline void translation_note_page_size(struct translation_table *t, unsigned page_bits)
{
    if (t->fragments) {
        t->larger |= page_bits > t->page_bits ? UINT32_C(1) << page_bits : 0;
        return;
    }
    if (t->page_known && page_bits >= t->page_bits)
        return;
    translation_table_flush(t);
    t->page_bits = page_bits;
    t->page_known = true;
}

static inline void translation_enter(struct translation_table *t, uint32_t pid, uint64_t address,
                                     uint64_t physical, unsigned page_bits, bool writable)
{
    if (engine_unlikely(!t->linked))
        translation_link(t);
    translation_note_page_size(t, page_bits);
    uint32_t i = translation_find(t, pid, address);
    if (i != TRANSLATION_NONE)
        return; /* asked for twice before the page size was known */
    unsigned bits = t->fragments ? page_bits : t->page_bits;
    uint64_t key = translation_key_of(address, bits);
    uint32_t set = (uint32_t)((key >> bits) % t->sets);
    i = arena_at(struct translation_set, t->order)[set].oldest;
    struct translation_entry *e = translation_entry(t, i);
    if (e->key)
        translation_unchain(t, i);
    e->key = key;
    e->pid = pid;
    e->writable = writable;
    /* The part of a larger page that this entry covers. */
    e->physical = physical + ((address & (((uint64_t)1 << page_bits) - 1)) >> bits << bits);
    translation_chain(t, i);
    translation_touch(t, i);
}

static inline void translation_fill(struct translation_table *t, uint32_t number, uint64_t physical,
                                    unsigned page_bits, bool writable, bool valid)
{
    uint32_t p = t->sets * t->ways + number;
    struct translation_entry *pending = translation_entry(t, p);
    uint32_t pid = pending->pid;
    uint64_t address = pending->key & ~(uint64_t)0xfff;
    translation_unchain(t, p);
    pending->chain = t->free_pending;
    t->free_pending = p;
    t->pending_count--;
    t->last = TRANSLATION_NONE;
    if (valid)
        translation_enter(t, pid, address, physical, page_bits, writable);
}
