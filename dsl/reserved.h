/* Names that are taken in the C that is made of a description. Names of the description that are
 * words of C get a '_' there (codegen/emit/names.h); for what is made of several names this says
 * when it is the runtime's (dsl/elaborate/declare_names.c). */
#ifndef HEDDLE_DSL_RESERVED_H
#define HEDDLE_DSL_RESERVED_H

#include <stdbool.h>

#include "base/region.h"

/* A keyword, a macro of the standard headers or the runtime's, or the compiler's own: "__x", "_X".
 */
bool reserved_word(const char *name);
/* A structure or enumeration of the runtime. */
bool reserved_tag(const char *name);
/* A function or type of C or of the runtime, or a constant or macro of the runtime, with a '_' in
 * it. */
bool reserved_symbol(const char *name);

/* The name in C: with a '_' where it is, but for any '_' at its end, a word of C or one of `others`
 * (ends with NULL; may be NULL). Different names give different ones. */
const char *reserved_besides(struct region *region, const char *name, const char *const *others);

#endif
