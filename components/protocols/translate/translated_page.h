/* A page as an answer of the protocol `translate` says it, for a table of translations
 * (translation_table.h) and for what fills one. */
#ifndef HEDDLE_COMPONENTS_TRANSLATED_PAGE_H
#define HEDDLE_COMPONENTS_TRANSLATED_PAGE_H

#include <stdbool.h>
#include <stdint.h>

struct translated_page {
    uint64_t physical;                /* first byte */
    uint8_t page_bits, fragment_bits; /* log2 of the bytes of the page, and of its fragment */
    bool writable;
};

#endif
