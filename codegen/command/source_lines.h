/* Lines of the source of GPU code, out of the debug information that `-g` leaves in a program, by
 * LLVM's symbolizer. */
#ifndef HEDDLE_CODEGEN_SOURCE_LINES_H
#define HEDDLE_CODEGEN_SOURCE_LINES_H

#include "codegen/command/command.h"
#include "codegen/command/profile_print.h"

/* Of the program at `path`; NULL: it has no debug information, or is no such program. */
const struct profile_source *source_lines_open(struct command *c, const char *path);

#endif
