/* `heddle run --record api` and `--record instructions`: the folders that receive a program's
 * calls, or what its kernels execute. */
#ifndef HEDDLE_CODEGEN_COMMAND_RUN_RECORD_H
#define HEDDLE_CODEGEN_COMMAND_RUN_RECORD_H

#include <stdbool.h>

#include "codegen/command/command_run.h"
#include "runtime/state/platform.h"

enum { RUN_RECORD_CALLS, RUN_RECORD_STEPS, RUN_RECORDINGS };

/* Folders that appear whole or not at all: the program's HIP library, or the driver of the
 * platform, fills `part`, which gets its name when the program has ended and the trace is complete.
 */
struct run_recording {
    const char *folder[RUN_RECORDINGS], *part[RUN_RECORDINGS]; /* NULL: nothing is recorded */
};

/* false: the folder is there already, which was said. */
bool run_recording_allowed(const struct options *options);
/* Makes the folders and tells the program's library, or the platform, of them. false: said why not.
 */
bool run_recording_begin(struct command *c, struct handed *handed, struct run_recording *recording);
/* The folders get their names, or go; each process has one. Returns `status`, or EXIT_ERRORS when
 * only the recording has failed. */
int run_recording_end(struct command *c, const struct run_recording *recording,
                      const struct run_outcome *outcome, int status);

#endif
