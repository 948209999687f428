/* Keeps stored lines in a table with open addressing. To remove lines, the table is built again. */
#include "debug_stores.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"

enum { LINE = 64 };

struct line {
    uint64_t number; /* + 1; 0: the entry is free */
    uint64_t mask;   /* bytes that were stored */
    uint8_t bytes[LINE];
};

static struct line *lines;
static uint64_t room, count;

/* The line's entry, or a free one for it. */
static struct line *entry_of(uint64_t number)
{
    uint64_t at = hash_multiply(number) >> 32 & (room - 1);
    while (lines[at].number && lines[at].number != number + 1)
        at = (at + 1) & (room - 1);
    return &lines[at];
}

static void make_room(uint64_t size)
{
    struct line *old = lines;
    uint64_t before = room;
    room = size;
    lines = grow_checked(calloc(room, sizeof *lines), "a debugger");
    count = 0;
    for (uint64_t i = 0; i < before; i++) {
        if (!old[i].number || !old[i].mask)
            continue;
        *entry_of(old[i].number - 1) = old[i];
        count++;
    }
    free(old);
}

void debug_stores_write(uint64_t address, const void *bytes, size_t size)
{
    const uint8_t *from = bytes;
    for (size_t i = 0; i < size; i++) {
        uint64_t number = (address + i) / LINE;
        if (2 * (count + 1) > room)
            make_room(room ? 2 * room : 1024);
        struct line *l = entry_of(number);
        count += !l->number;
        l->number = number + 1;
        l->mask |= (uint64_t)1 << (address + i) % LINE;
        l->bytes[(address + i) % LINE] = from[i];
    }
}

void debug_stores_read(uint64_t address, void *bytes, size_t size)
{
    uint8_t *to = bytes;
    for (size_t i = 0; count && i < size; i++) {
        const struct line *l = entry_of((address + i) / LINE);
        if (l->mask >> (address + i) % LINE & 1)
            to[i] = l->bytes[(address + i) % LINE];
    }
}

void debug_stores_forget(uint64_t address, uint64_t size)
{
    for (uint64_t i = 0; i < room; i++) {
        struct line *l = &lines[i];
        uint64_t start = (l->number - 1) * LINE;
        if (!l->number || start >= address + size || address >= start + LINE)
            continue;
        for (unsigned k = 0; k < LINE; k++)
            if (start + k - address < size)
                l->mask &= ~((uint64_t)1 << k);
    }
}

void debug_stores_settle(bool (*read)(uint64_t address, void *bytes, size_t size))
{
    uint8_t held[LINE];
    for (uint64_t i = 0; i < room; i++) {
        struct line *l = &lines[i];
        if (!l->mask)
            continue;
        bool there = read((l->number - 1) * LINE, held, sizeof held);
        for (unsigned k = 0; k < LINE; k++)
            if (!there || held[k] == l->bytes[k])
                l->mask &= ~((uint64_t)1 << k);
    }
    if (room)
        make_room(room);
}
