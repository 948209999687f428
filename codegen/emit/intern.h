/* A table from texts to small numbers. */
#ifndef HEDDLE_CODEGEN_EMIT_INTERN_H
#define HEDDLE_CODEGEN_EMIT_INTERN_H

#include <stdint.h>

#include "base/hash_table.h"

struct intern_entry {
    uint64_t key;
    const char *text;
    uint32_t value;
};

struct intern {
    struct hash_table entries;
};

void intern_init(struct intern *table, struct region *region);
/* The entry of `text`, or NULL. Valid until the next intern_add(). */
const struct intern_entry *intern_find(const struct intern *table, const char *text);
/* `text` must not be there yet; it is not copied. */
void intern_add(struct intern *table, const char *text, uint32_t value);

#endif
