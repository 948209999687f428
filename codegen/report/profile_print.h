/* What `heddle run --profile instructions` prints, from the file that the run has written
 * (runtime/observe/profile.h). */
#ifndef HEDDLE_CODEGEN_PROFILE_PRINT_H
#define HEDDLE_CODEGEN_PROFILE_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "dsl/arena.h"

/* A table for each kernel: its instructions in order, with what their wavefronts' cycles went to.
 * false: the file cannot be read, said on standard error. */
bool profile_print(struct arena *arena, const char *path, FILE *out);

#endif
