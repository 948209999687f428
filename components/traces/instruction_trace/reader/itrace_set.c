/* Sets of 64-bit numbers. */
#include "itrace_set.h"

#include "itrace_memory.h"

struct entry {
    uint64_t key, bits;
};

static const struct hash_kind entry_kind = HASH_KIND(struct entry, key, ITRACE_MEMORY);

uint64_t *itrace_set_add(struct itrace_set *set, uint64_t key)
{
    struct entry *entry = hash_table_add(&set->entries, &entry_kind, &key);
    return &entry->bits;
}

uint64_t itrace_set_get(const struct itrace_set *set, uint64_t key)
{
    const struct entry *entry = hash_table_find(&set->entries, &entry_kind, &key);
    return entry ? entry->bits : 0;
}

uint64_t itrace_set_common(const struct itrace_set *a, const struct itrace_set *b)
{
    uint64_t common = 0;
    const struct entry *entry;
    for (size_t at = 0; (entry = hash_table_next(&a->entries, &entry_kind, &at));)
        common += hash_table_find(&b->entries, &entry_kind, &entry->key) != NULL;
    return common;
}

uint64_t itrace_set_bits(const struct itrace_set *set)
{
    uint64_t count = 0;
    const struct entry *entry;
    for (size_t at = 0; (entry = hash_table_next(&set->entries, &entry_kind, &at));)
        count += (uint64_t)__builtin_popcountll(entry->bits);
    return count;
}

void itrace_set_release(struct itrace_set *set)
{
    hash_table_release(&set->entries);
}
