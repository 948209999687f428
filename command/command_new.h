/* `heddle new KIND NAME [-o DIR]`. A component or a part (a replacement policy to start from):
 * NAME.heddle, NAME.c and NAME_test.heddle, a platform that drives itself and fails when they do
 * not work. A platform: NAME.heddle. */
#ifndef HEDDLE_COMMAND_COMMAND_NEW_H
#define HEDDLE_COMMAND_COMMAND_NEW_H

#include <stdbool.h>
#include <stdio.h>

struct view_error;

/* Writes the files of `kind` (component, part or platform) into `dir` (NULL: the current folder),
 * and on `out` what to try next. Nothing is overwritten: a file in the way is an error before
 * anything is written. False: failed, with `error`, or, where a file cannot be written, a line on
 * standard error and `error` empty. */
bool command_new_write(const char *kind, const char *name, const char *dir, FILE *out,
                       struct view_error *error);

#endif
