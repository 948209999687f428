/* `heddle run --play instructions`: recorded instructions of an AMD program take the program's
 * place. */
#ifndef HEDDLE_CODEGEN_COMMAND_RUN_PLAY_H
#define HEDDLE_CODEGEN_COMMAND_RUN_PLAY_H

#include <stdbool.h>

#include "codegen/command/command.h"

/* Names the program that plays the trace, with its arguments. An exit status; EXIT_CLEAN: go on. */
int run_play_trace(struct command *c, const char **program, char ***arguments);

#endif
