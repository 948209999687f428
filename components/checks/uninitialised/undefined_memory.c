/* Keeps a bit for each byte, in pages that exist only while some of their bytes are undefined. */
#include "undefined_memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash_table.h"
#include "base/number.h"

enum { PAGE = 1 << UNDEFINED_PAGE_BITS };

static const struct hash_kind page_kind =
    HASH_KIND(struct undefined_page, number, "the check of uninitialised memory");

/* The bits of a page, NULL where all is defined. */
static uint64_t *find_page(struct undefined_memory *m, uint64_t number)
{
    if (m->last.number == number + 1)
        return m->last.bits;
    const struct undefined_page *p = hash_table_find(&m->pages, &page_kind, &number);
    m->last = (struct undefined_page){number + 1, p ? p->bits : NULL};
    return m->last.bits;
}

static void keep_page(struct undefined_memory *m, uint64_t number, uint64_t *bits)
{
    struct undefined_page *p = hash_table_add(&m->pages, &page_kind, &number);
    p->bits = bits;
    m->last = (struct undefined_page){number + 1, bits};
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
            if (!bits)
                bits = grow_zeroed(UNDEFINED_WORDS * sizeof *bits, page_kind.contents);
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
