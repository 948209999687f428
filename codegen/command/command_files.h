/* The files that a command line names: whether they can be what the options say, found out before
 * anything is read, built or simulated. */
#ifndef HEDDLE_CODEGEN_COMMAND_FILES_H
#define HEDDLE_CODEGEN_COMMAND_FILES_H

#include <stdbool.h>

#include "codegen/command/options.h"

/* false: what is wrong was said on stderr. `heddle run` checks its program itself. */
bool command_files_check(const struct options *options);
/* One file, whether it is there already or would be made. Pipes and devices are never the same. */
bool command_files_are_same(const char *a, const char *b);

#endif
