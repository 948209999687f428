/* Keeps a bit for each byte, in pages that exist only while some of their bytes are undefined. */
#include "undefined_memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "base/number.h"

enum { PAGE = 1 << UNDEFINED_PAGE_BITS };

static void *zeros(uint64_t count, uint64_t size)
{
    return grow_checked(calloc(count, size), "the check of uninitialised memory");
}

static struct undefined_page *page_place(const struct undefined_memory *m, uint64_t number)
{
    uint32_t slot = (uint32_t)(hash_multiply(number) >> 32) & (m->room - 1);
    while (m->page[slot].number && m->page[slot].number != number + 1)
        slot = (slot + 1) & (m->room - 1);
    return &m->page[slot];
}

static void grow(struct undefined_memory *m)
{
    struct undefined_memory old = *m;
    m->room = old.room ? 2 * old.room : 1024;
    m->page = zeros(m->room, sizeof *m->page);
    for (uint32_t i = 0; i < old.room; i++)
        if (old.page[i].number)
            *page_place(m, old.page[i].number - 1) = old.page[i];
    free(old.page);
}

/* The bits of a page, NULL where all is defined. */
static uint64_t *find_page(struct undefined_memory *m, uint64_t number)
{
    if (m->last.number == number + 1)
        return m->last.bits;
    uint64_t *bits = m->room ? page_place(m, number)->bits : NULL;
    m->last = (struct undefined_page){number + 1, bits};
    return bits;
}

static void keep_page(struct undefined_memory *m, uint64_t number, uint64_t *bits)
{
    if (4 * (m->pages + 1) > 3 * m->room)
        grow(m);
    struct undefined_page *p = page_place(m, number);
    m->pages += !p->number;
    *p = m->last = (struct undefined_page){number + 1, bits};
}

static void set_part(uint64_t *bits, uint32_t from, uint32_t count, bool undefined)
{
    while (count) {
        uint32_t bit = from % 64, here = min(count, 64 - bit);
        uint64_t mask = (here == 64 ? UINT64_MAX : ((uint64_t)1 << here) - 1) << bit;
        bits[from / 64] = undefined ? bits[from / 64] | mask : bits[from / 64] & ~mask;
        from += here;
        count -= here;
    }
}

void undefined_set(struct undefined_memory *m, uint64_t address, uint64_t bytes, bool undefined)
{
    while (bytes) {
        uint64_t number = address >> UNDEFINED_PAGE_BITS;
        uint32_t from = (uint32_t)address % PAGE;
        uint32_t here = bytes < PAGE - from ? (uint32_t)bytes : PAGE - from;
        uint64_t *bits = find_page(m, number);
        if (here == PAGE && !undefined && bits) {
            free(bits);
            keep_page(m, number, NULL);
        } else if (bits || undefined) {
            bits = bits ? bits : zeros(UNDEFINED_WORDS, sizeof *bits);
            set_part(bits, from, here, undefined);
            keep_page(m, number, bits);
        }
        address += here;
        bytes -= here;
    }
}

bool undefined_is(struct undefined_memory *m, uint64_t address, uint32_t bytes)
{
    uint32_t left = bytes;
    while (left) {
        const uint64_t *bits = find_page(m, address >> UNDEFINED_PAGE_BITS);
        uint32_t at = (uint32_t)address % PAGE, bit = at % 64;
        uint32_t here = min(left, 64 - bit);
        uint64_t mask = here == 64 ? UINT64_MAX : (((uint64_t)1 << here) - 1) << bit;
        if (!bits || (bits[at / 64] & mask) != mask)
            return false;
        address += here;
        left -= here;
    }
    return bytes > 0;
}

bool undefined_is_page_defined(struct undefined_memory *m, uint64_t address)
{
    return !find_page(m, address >> UNDEFINED_PAGE_BITS);
}

void undefined_copy(struct undefined_memory *m, uint64_t to, uint64_t from, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes; i++)
        undefined_set(m, to + i, 1, undefined_is(m, from + i, 1));
}
