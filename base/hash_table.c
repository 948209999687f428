/* Open addressing with linear probing. The tags let a search pass other entries without a look at
 * them, and the table grow without hashing a key again. */
#include "hash_table.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "hash.h"

enum { FIRST_CAPACITY = 16 };

static uint32_t tag_of(const uint64_t *key, size_t bytes)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < bytes / sizeof *key; i++)
        hash = hash_add(hash, key[i]);
    return (uint32_t)(hash >> 32) | 1;
}

/* The place at which a search for the tag begins. The lowest bit is always set. */
static size_t home_of(const struct hash_table *t, uint32_t tag)
{
    return tag >> 1 & (t->capacity - 1);
}

static size_t after(const struct hash_table *t, size_t slot)
{
    return (slot + 1) & (t->capacity - 1);
}

static bool has_key(const char *entry, const uint64_t *key, size_t bytes)
{
    uint64_t word;
    memcpy(&word, entry, sizeof word);
    return word == *key && (bytes == sizeof word || memcmp(entry, key, bytes) == 0);
}

/* The slot of the key, or the free one where it belongs. */
static size_t find_slot(const struct hash_table *t, const struct hash_kind *kind, const void *key,
                        uint32_t tag)
{
    size_t slot = home_of(t, tag);
    while (t->tags[slot]
           && (t->tags[slot] != tag
               || !has_key(t->entries + slot * kind->entry_bytes, key, kind->key_bytes)))
        slot = after(t, slot);
    return slot;
}

static void *allocate(const struct hash_table *t, size_t size, const struct hash_kind *kind)
{
    if (t->region)
        return region_take_array(t->region, t->capacity, size);
    return grow_zeroed(t->capacity * size, kind->contents);
}

static void enlarge(struct hash_table *t, const struct hash_kind *kind)
{
    struct hash_table old = *t;
    t->capacity = old.capacity > 0 ? 2 * old.capacity : FIRST_CAPACITY;
    t->entries = allocate(t, kind->entry_bytes, kind);
    t->tags = allocate(t, sizeof *t->tags, kind);
    for (size_t i = 0; i < old.capacity; i++) {
        if (!old.tags[i])
            continue;
        size_t slot = home_of(t, old.tags[i]);
        while (t->tags[slot])
            slot = after(t, slot);
        t->tags[slot] = old.tags[i];
        memcpy(t->entries + slot * kind->entry_bytes, old.entries + i * kind->entry_bytes,
               kind->entry_bytes);
    }
    hash_table_release(&old);
}

void *hash_table_find(const struct hash_table *table, const struct hash_kind *kind, const void *key)
{
    if (table->count == 0)
        return NULL;
    size_t slot = find_slot(table, kind, key, tag_of(key, kind->key_bytes));
    return table->tags[slot] ? table->entries + slot * kind->entry_bytes : NULL;
}

void *hash_table_add(struct hash_table *table, const struct hash_kind *kind, const void *key)
{
    if (2 * table->count >= table->capacity)
        enlarge(table, kind);
    uint32_t tag = tag_of(key, kind->key_bytes);
    size_t slot = find_slot(table, kind, key, tag);
    char *entry = table->entries + slot * kind->entry_bytes;
    if (!table->tags[slot]) {
        table->tags[slot] = tag;
        table->count++;
        memcpy(entry, key, kind->key_bytes);
    }
    return entry;
}

/* Entries that were pushed past the removed one move back, so that no gap ends their search. */
void hash_table_remove(struct hash_table *table, const struct hash_kind *kind, void *entry)
{
    size_t size = kind->entry_bytes, gap = (size_t)((char *)entry - table->entries) / size;
    for (size_t slot = after(table, gap); table->tags[slot]; slot = after(table, slot)) {
        size_t pushed = (slot - home_of(table, table->tags[slot])) & (table->capacity - 1);
        if (pushed < ((slot - gap) & (table->capacity - 1)))
            continue;
        table->tags[gap] = table->tags[slot];
        memcpy(table->entries + gap * size, table->entries + slot * size, size);
        gap = slot;
    }
    table->tags[gap] = 0;
    memset(table->entries + gap * size, 0, size);
    table->count--;
}

void *hash_table_next(const struct hash_table *table, const struct hash_kind *kind, size_t *at)
{
    while (*at < table->capacity && !table->tags[*at])
        ++*at;
    return *at < table->capacity ? table->entries + (*at)++ * kind->entry_bytes : NULL;
}

void hash_table_release(struct hash_table *table)
{
    if (!table->region) {
        free(table->entries);
        free(table->tags);
    }
    *table = (struct hash_table){.region = table->region};
}
