/* A table from texts to small numbers. */
#include "intern.h"

#include <string.h>

#include "base/hash.h"

static const struct hash_kind entry_kind = HASH_KIND(struct intern_entry, key, "a table of texts");

void intern_init(struct intern *table, struct region *region)
{
    *table = (struct intern){.entries = {.region = region}};
}

/* The key of a text is its hash, or the next number that no other text has. */
static struct intern_entry *find(const struct intern *table, const char *text, uint64_t *key)
{
    struct intern_entry *entry;
    *key = hash_bytes(0, text, strlen(text));
    while ((entry = hash_table_find(&table->entries, &entry_kind, key))
           && strcmp(entry->text, text) != 0)
        ++*key;
    return entry;
}

const struct intern_entry *intern_find(const struct intern *table, const char *text)
{
    uint64_t key;
    return find(table, text, &key);
}

void intern_add(struct intern *table, const char *text, uint32_t value)
{
    uint64_t key;
    find(table, text, &key);
    struct intern_entry *entry = hash_table_add(&table->entries, &entry_kind, &key);
    entry->text = text;
    entry->value = value;
}
