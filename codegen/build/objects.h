/* The objects of a platform: one for each unit, and one for its tables. They come from the cache or
 * the toolkit when a key is there, and are compiled otherwise. */
#ifndef HEDDLE_CODEGEN_BUILD_OBJECTS_H
#define HEDDLE_CODEGEN_BUILD_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "codegen/emit/layout.h"

#include "build_flags.h"
#include "depend.h"
#include "site.h"

struct objects {
    struct words paths;   /* in link order */
    uint32_t compiled;    /* how many had to be made */
    struct depend depend; /* every file that they are made from */
};

/* Needs the generated files in the site's folder. False: message on stderr, the compiler's
 * included. */
bool objects_make(const struct site *site, const struct layout *layout, struct objects *objects);

#endif
