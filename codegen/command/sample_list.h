/* Does it pay to sample a list of SASS traces (--play sass)? */
#ifndef HEDDLE_CODEGEN_SAMPLE_LIST_H
#define HEDDLE_CODEGEN_SAMPLE_LIST_H

#include "codegen/command/command.h"

/* NULL: yes. Else why everything is to be simulated, in words. *good becomes false after a message
 * about the list. */
const char *sample_list_why_not(struct command *c, bool *good);

#endif
