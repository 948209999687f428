/* The addresses of a program's memory: the same addresses in every run, whatever the options of the
 * run, as far as the system allows. Kernels that use the program's own memory (hipHostRegister) see
 * these addresses. */
#ifndef HEDDLE_COMMAND_RUN_RUN_LAYOUT_H
#define HEDDLE_COMMAND_RUN_RUN_LAYOUT_H

/* In the process that is going to be the program, right before it is. */
void run_fix_layout(char *const *arguments);

#endif
