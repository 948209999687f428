/* `heddle run --stack rocm`: what makes a program find the simulated kernel driver. */
#ifndef HEDDLE_CODEGEN_COMMAND_RUN_ROCM_H
#define HEDDLE_CODEGEN_COMMAND_RUN_ROCM_H

#include "codegen/command/command.h"

/* Whether --stack says so. */
bool run_uses_rocm(const struct options *o);
/* Writes the files that the driver shows to a folder of this run. false: said on standard error.
 * Nothing is done without --stack rocm. */
bool run_rocm_begin(struct command *c);
/* Puts the library in front of the program's, and names the folder. */
void run_rocm_set_environment(struct command *c);
/* Removes the folder. */
void run_rocm_end(void);

#endif
