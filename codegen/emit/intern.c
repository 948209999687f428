/* Open addressing with linear probing, at most half full. Called by layout.c. */
#include "codegen/emit/intern.h"

#include <string.h>

#include "base/hash.h"

void intern_init(struct intern *table, struct region *region)
{
    *table = (struct intern){.region = region, .slot_count = 64};
    table->slots = region_take(region, table->slot_count * sizeof *table->slots);
}

static uint32_t find_slot(const struct intern *table, const char *key)
{
    uint32_t slot = (uint32_t)(hash_bytes(0, key, strlen(key)) >> 32) & (table->slot_count - 1);
    while (table->slots[slot] && strcmp(table->entries.items[table->slots[slot] - 1].key, key) != 0)
        slot = (slot + 1) & (table->slot_count - 1);
    return slot;
}

const struct intern_entry *intern_find(const struct intern *table, const char *key)
{
    uint32_t slot = find_slot(table, key);
    return table->slots[slot] ? &table->entries.items[table->slots[slot] - 1] : NULL;
}

void intern_add(struct intern *table, const char *key, uint32_t value)
{
    struct intern_entry entry = {key, value};
    vector_push(table->region, &table->entries, entry);
    if (table->entries.count * 2 <= table->slot_count) {
        table->slots[find_slot(table, key)] = table->entries.count;
        return;
    }
    table->slot_count *= 2;
    table->slots = region_take(table->region, table->slot_count * sizeof *table->slots);
    for (uint32_t i = 0; i < table->entries.count; i++)
        table->slots[find_slot(table, table->entries.items[i].key)] = i + 1;
}
