/* `heddle run --play api` and `--play instructions`: recorded calls, or recorded instructions of an
 * AMD program, take the program's place. */
#ifndef HEDDLE_CODEGEN_COMMAND_RUN_PLAY_H
#define HEDDLE_CODEGEN_COMMAND_RUN_PLAY_H

#include <stdbool.h>

#include "codegen/command/command.h"

/* Each checks the trace and names the program that plays it, with its arguments. An exit status;
 * EXIT_CLEAN: go on. */
int run_play_api(struct command *c, const char **program, char ***arguments);
int run_play_instructions(struct command *c, const char **program, char ***arguments);

#endif
