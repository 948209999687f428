/* One run of a program, or of a list of SASS traces, on a platform, for commands that compare
 * several: `heddle run` as a child, its statistics as JSON. */
#ifndef HEDDLE_CODEGEN_TRIAL_H
#define HEDDLE_CODEGEN_TRIAL_H

#include <jansson.h>

#include "codegen/command/command.h"

/* Is there a program or a list of traces, and not both? false: said how to name one, with
 * `arguments` of the command in front. */
bool trial_has_subject(const struct options *options, const char *arguments);
/* What is run: the program or the list. */
const char *trial_subject(const struct options *options);

/* Runs the command's platform and program or list with further options of `heddle run`
 * (NULL-terminated). NULL: it failed, said on standard error. To be released with json_decref(). */
json_t *trial_run(struct command *c, const char *const *options);

#endif
