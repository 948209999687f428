/* What `heddle run --profile instructions` prints, from the file that the run has written
 * (runtime/observe/profile.h). */
#ifndef HEDDLE_CODEGEN_PROFILE_PRINT_H
#define HEDDLE_CODEGEN_PROFILE_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "dsl/arena.h"

/* Where instructions come from: "file.cpp:12" of one of a kernel, "" when it is not known. */
struct profile_source {
    const char *(*line_of)(const struct profile_source *source, const char *symbol, int64_t offset);
};

/* A table for each kernel: its instructions in order, with what their wavefronts' cycles went to,
 * and the line of the source where `source` (NULL: none) knows it. false: the file cannot be read,
 * said on standard error. */
bool profile_print(struct arena *arena, const char *path, const struct profile_source *source,
                   FILE *out);

#endif
