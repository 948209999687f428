/* One run of a program on a platform, for commands that compare several: `heddle run` as a child,
 * its statistics as JSON. */
#ifndef HEDDLE_CODEGEN_TRIAL_H
#define HEDDLE_CODEGEN_TRIAL_H

#include <jansson.h>

#include "codegen/command.h"

/* Runs the command's platform and program with further options of `heddle run` (NULL-terminated).
 * NULL: it failed, said on standard error. To be released with json_decref(). */
json_t *trial_run(struct command *c, const char *const *options);

/* The record of launch `number`, or NULL. */
json_t *trial_kernel(json_t *root, uint64_t number);
uint64_t trial_number(json_t *object, const char *key);
/* CPU seconds of the run. */
double trial_seconds(json_t *root);

#endif
