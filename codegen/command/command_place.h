/* Placements on the command line: `heddle check --ranks`, and `heddle run` with several ranks. */
#ifndef HEDDLE_CODEGEN_COMMAND_PLACE_H
#define HEDDLE_CODEGEN_COMMAND_PLACE_H

#include "codegen/command/command.h"

/* Says what a placement of --ranks comes to, and writes it to -o. An exit status. */
int command_place_check(const struct command *c, const char *file, const struct model *model);
/* The rank of each partition of the platform that is run, "0,0,1,1", by --place or the best that is
 * found; NULL: it was said why. */
const char *command_place_run(const struct command *c, unsigned ranks);

#endif
