/* The options of the compiler: those of every build, and those that a unit's sources ask for. */
#ifndef HEDDLE_CODEGEN_BUILD_BUILD_FLAGS_H
#define HEDDLE_CODEGEN_BUILD_BUILD_FLAGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/region.h"
#include "codegen/emit/layout.h"

struct words {
    const char **items;
    uint32_t count, capacity;
};

/* Adds the words of `text`, which may be NULL: blanks separate them. */
void words_add(struct region *region, struct words *list, const char *text);

/* The flags for the generated C of `unit`; NULL: for C of no unit. With `profile`, units count by
 * instruction. The user's flags (HEDDLE_CFLAGS) come behind those of every build. */
struct words build_flags(struct region *region, const struct layout_unit *unit, bool profile);

#endif
