/* Hash tables: open addressing with linear probing, at most half full. All zero is an empty table.
 *
 * An entry is a struct of the caller that begins with its key, words of 64 bits without padding.
 * Entries move when one is added or removed. Their order is that of hashes: no result may follow
 * from it. Out of memory ends the program (base/grow.h). */
#ifndef HEDDLE_BASE_HASH_TABLE_H
#define HEDDLE_BASE_HASH_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "region.h"

/* The kind of a table's entries; each function on it takes the same one. */
struct hash_kind {
    size_t entry_bytes, key_bytes;
    const char *contents; /* for messages: "the check of races" */
};

/* Entries of type T, whose key is the members up to `last`. */
#define HASH_KIND(T, last, text)                                                                   \
    {                                                                                              \
        sizeof(T), offsetof(T, last) + sizeof((T *)0)->last, text                                  \
    }

struct hash_table {
    struct region *region; /* holds its memory; NULL: the heap does */
    char *entries;
    uint32_t *tags; /* by entry: half of the key's hash, which is never 0; 0: the entry is free */
    size_t capacity, count; /* capacity: a power of two, or 0 */
};

/* NULL: the table has no such key. */
void *hash_table_find(const struct hash_table *table, const struct hash_kind *kind,
                      const void *key);
/* The entry of the key; one that is new is zero after it. */
void *hash_table_add(struct hash_table *table, const struct hash_kind *kind, const void *key);
void hash_table_remove(struct hash_table *table, const struct hash_kind *kind, void *entry);
/* One entry after the other, then NULL. `*at` begins with 0. */
void *hash_table_next(const struct hash_table *table, const struct hash_kind *kind, size_t *at);
/* Frees what is on the heap. Afterwards the table is empty, and may be used again. */
void hash_table_release(struct hash_table *table);

#endif
