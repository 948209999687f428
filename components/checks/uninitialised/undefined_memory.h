/* The bytes of memory that nothing has written: shadow memory of the check of uninitialised reads.
 * Memory that was never set is defined. Pure. */
#ifndef HEDDLE_COMPONENTS_CHECKS_UNINITIALISED_UNDEFINED_MEMORY_H
#define HEDDLE_COMPONENTS_CHECKS_UNINITIALISED_UNDEFINED_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash_table.h"

enum { UNDEFINED_PAGE_BITS = 12, UNDEFINED_WORDS = 1 << (UNDEFINED_PAGE_BITS - 6) };

struct undefined_page {
    uint64_t number;
    uint64_t *bits; /* NULL: all is defined */
};

struct undefined_memory {
    struct hash_table pages;
    struct undefined_page last; /* found last; its number + 1 */
};

/* Bytes become defined or undefined. */
void undefined_set(struct undefined_memory *m, uint64_t address, uint64_t bytes, bool undefined);
/* Bytes at `to` become as defined as those at `from` are. */
void undefined_copy(struct undefined_memory *m, uint64_t to, uint64_t from, uint64_t bytes);
/* True if all of these are undefined. A value of which a part is defined counts as defined: what is
 * between members of structs moves with them. At most 64 bytes. */
bool undefined_is(struct undefined_memory *m, uint64_t address, uint32_t bytes);
/* True if nothing in the page is undefined. */
bool undefined_is_page_defined(struct undefined_memory *m, uint64_t address);

#endif
