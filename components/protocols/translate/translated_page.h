/* A page as an answer of the protocol `translate` says it, for a table of translations
 * (translation_table.h) and for what fills one. */
#ifndef HEDDLE_COMPONENTS_PROTOCOLS_TRANSLATE_TRANSLATED_PAGE_H
#define HEDDLE_COMPONENTS_PROTOCOLS_TRANSLATE_TRANSLATED_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "components/protocols/mem/mem_types.h"

/* In one byte whether a page may be written, and the type of its memory. */
static inline uint8_t page_traits(bool writable, enum mem_type type)
{
    return (uint8_t)(writable | (unsigned)type << 1);
}

static inline bool page_may_be_written(uint8_t traits)
{
    return traits & 1;
}

static inline uint8_t page_type(uint8_t traits)
{
    return traits >> 1;
}

struct translated_page {
    uint64_t physical;                /* first byte */
    uint8_t page_bits, fragment_bits; /* log2 of the bytes of the page, and of its fragment */
    uint8_t traits;                   /* page_traits() */
};

#endif
