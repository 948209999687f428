/* `heddle run --stack rocm`: what makes a program find the simulated kernel driver. */
#ifndef HEDDLE_COMMAND_RUN_RUN_ROCM_H
#define HEDDLE_COMMAND_RUN_RUN_ROCM_H

#include "command/command.h"

/* True if --stack says "rocm". */
bool run_uses_rocm(const struct options *o);
/* True if the machine is a process of its own, for all processes of the program. */
bool run_has_server(const struct options *o);
/* Gives a platform that can have memory of the host (`host_memory`) as much as it can have, where
 * the run does not say. Nothing is done without --stack rocm. */
void run_rocm_give_memory(struct command *c);
/* Makes the folder of the machine that is a process of its own, and with --stack rocm writes the
 * files that the driver shows there. False: said on standard error. */
bool run_rocm_begin(struct command *c);
struct supervise;
/* Starts the simulator, which waits for processes of the program, behind the environment that names
 * the platform, which then leads programs to it. `supervise` learns of it. False: said on standard
 * error. */
bool run_rocm_start(struct command *c, struct supervise *supervise);
/* The words that start a simulator in a program's place, for `heddle serve`. */
char **run_rocm_server(struct command *c);
/* Below which folder those of runs are, and how that of a server begins. */
const char *run_rocm_folders(void);
#define RUN_ROCM_SERVERS "heddle-serve-"
/* True if the folder of a machine has files of the kernel driver. */
bool run_rocm_has_files(struct command *c, const char *folder);
/* Leads programs to the machine whose folder this is: puts the library of the kernel driver in
 * front of the program's, or names the machine to heddle's HIP library. */
void run_rocm_set_environment(struct command *c, const char *folder);
/* Removes the folder. */
void run_rocm_end(void);

#endif
