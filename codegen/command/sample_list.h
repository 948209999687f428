/* `heddle sample` of a list of SASS traces (--play sass). */
#ifndef HEDDLE_CODEGEN_SAMPLE_LIST_H
#define HEDDLE_CODEGEN_SAMPLE_LIST_H

#include "codegen/command/command.h"

/* Groups and total to --output or standard output, --warmup is known to be well-formed. Returns an
 * exit status. */
int sample_list(struct command *c);

#endif
