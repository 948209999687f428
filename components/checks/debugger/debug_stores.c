/* Keeps stored lines in a table. To remove lines, the table is built again. */
#include "debug_stores.h"

#include "base/hash_table.h"

enum { LINE = 64 };

struct line {
    uint64_t number;
    uint64_t mask; /* bytes that were stored */
    uint8_t bytes[LINE];
};

static struct hash_table lines;
static const struct hash_kind line_kind = HASH_KIND(struct line, number, "a debugger");

void debug_stores_write(uint64_t address, const void *bytes, size_t size)
{
    const uint8_t *from = bytes;
    for (size_t i = 0; i < size; i++) {
        struct line *l = hash_table_add(&lines, &line_kind, &(uint64_t){(address + i) / LINE});
        l->mask |= (uint64_t)1 << (address + i) % LINE;
        l->bytes[(address + i) % LINE] = from[i];
    }
}

void debug_stores_read(uint64_t address, void *bytes, size_t size)
{
    uint8_t *to = bytes;
    for (size_t i = 0; i < size; i++) {
        const struct line *l =
            hash_table_find(&lines, &line_kind, &(uint64_t){(address + i) / LINE});
        if (l && l->mask >> (address + i) % LINE & 1)
            to[i] = l->bytes[(address + i) % LINE];
    }
}

void debug_stores_forget(uint64_t address, uint64_t size)
{
    struct line *l;
    for (size_t at = 0; (l = hash_table_next(&lines, &line_kind, &at));) {
        uint64_t start = l->number * LINE;
        if (start >= address + size || address >= start + LINE)
            continue;
        for (unsigned k = 0; k < LINE; k++)
            if (start + k - address < size)
                l->mask &= ~((uint64_t)1 << k);
    }
}

void debug_stores_settle(bool (*read)(uint64_t address, void *bytes, size_t size))
{
    uint8_t stored[LINE];
    struct hash_table kept = {0};
    struct line *l;
    for (size_t at = 0; (l = hash_table_next(&lines, &line_kind, &at));) {
        bool there = l->mask && read(l->number * LINE, stored, sizeof stored);
        for (unsigned k = 0; k < LINE; k++)
            if (!there || stored[k] == l->bytes[k])
                l->mask &= ~((uint64_t)1 << k);
        if (l->mask)
            *(struct line *)hash_table_add(&kept, &line_kind, &l->number) = *l;
    }
    hash_table_release(&lines);
    lines = kept;
}
