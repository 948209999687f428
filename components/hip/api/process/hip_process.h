/* The process and what it owns of a run: its number among the processes of `heddle run`, its files,
 * its end by a signal, and its children. docs/reference/outputs.md is the contract. */
#ifndef HEDDLE_COMPONENTS_HIP_API_PROCESS_HIP_PROCESS_H
#define HEDDLE_COMPONENTS_HIP_API_PROCESS_HIP_PROCESS_H

#include "components/hip/api/hip_internal.h"
#include "runtime/engine/options.h"
#include "runtime/state/platform.h"

/* Before the platform starts: numbers this process, and returns its options, with that number and
 * the program, as text for the platform. Prints why and returns NULL when it cannot. */
const char *hip_process_open(void);
/* The platform is open: from now on signals end the process with what is known written, and
 * children have no GPU. */
void hip_process_guard(const struct heddle_platform *platform);
/* The folder of this process for what `heddle run` has the first one record in `folder`; made when
 * it is another one. NULL: errno has the reason. */
const char *hip_process_folder(const char *folder);
/* The end of the process, all work done: the platform's files. Does not return when a signal has
 * come. */
void hip_process_close(void);
/* Returns only if no signal has interrupted the simulation: the program must not continue with
 * what is missing while its files are written. */
void hip_process_park(void);
/* True if the process was forked from the one that had opened the platform: by their numbers, also
 * where no handler of forks was called. */
bool hip_process_is_child(void);
/* Prints why a call that needs the GPU fails in such a child, and returns the error. */
hipError_t hip_fail_forked(void);

#endif
