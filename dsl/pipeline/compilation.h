/* The state of a compilation. For dsl/pipeline, and for dsl/service, which asks for declarations
 * without elaborating them. */
#ifndef HEDDLE_DSL_PIPELINE_COMPILATION_H
#define HEDDLE_DSL_PIPELINE_COMPILATION_H

#include <stdbool.h>

#include "dsl/compile.h"
#include "dsl/elaborate/elaborate.h"

struct compilation {
    struct region region;
    struct compile_options options;
    struct source_set sources;
    struct diagnostics diagnostics;
    struct program program;
    struct elaboration elaboration;
    VECTOR(const char *) platforms;
    bool is_used;
};

/* Reads a file and its imports and declares what is in them, however damaged; nothing is
 * elaborated. NULL: the file cannot be read. */
const struct program *compilation_load(struct compilation *c, const char *file);

#endif
