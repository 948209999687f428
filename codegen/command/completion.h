/* Completion of the command line in shells: scripts made from the table of options, so that they
 * have what the command has. Paths of --set are asked of `heddle params --paths`. */
#ifndef HEDDLE_CODEGEN_COMPLETION_H
#define HEDDLE_CODEGEN_COMPLETION_H

#include <stdbool.h>
#include <stdio.h>

/* false: no such shell; there are bash, zsh and fish. */
bool completion_print(FILE *out, const char *shell);

#endif
