/* Canonical layout of a description; compile_format() in compile.h is the way in. */
#ifndef HEDDLE_DSL_SYNTAX_FORMAT_H
#define HEDDLE_DSL_SYNTAX_FORMAT_H

#include "dsl/diagnostic.h"
#include "dsl/source.h"

/* The formatted text, in the region; NULL when the file has errors, which are then in `d`. */
const char *format_source(struct region *region, struct diagnostics *d,
                          const struct source_file *source, size_t *size);

#endif
