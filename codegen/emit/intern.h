/* A table from strings to small numbers, in order of first appearance. Iteration is never by hash,
 * so nothing that is written depends on it. */
#ifndef HEDDLE_CODEGEN_INTERN_H
#define HEDDLE_CODEGEN_INTERN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/region.h"

struct intern_entry {
    const char *key;
    uint32_t value;
};

struct intern {
    struct region *region;
    VECTOR(struct intern_entry) entries;
    uint32_t *slots;     /* 1 + index in entries, 0 empty */
    uint32_t slot_count; /* a power of two */
};

void intern_init(struct intern *table, struct region *region);
/* The entry of `key`, or NULL. Valid until the next intern_add(). */
const struct intern_entry *intern_find(const struct intern *table, const char *key);
/* `key` must not be there yet; it is not copied. */
void intern_add(struct intern *table, const char *key, uint32_t value);

#endif
