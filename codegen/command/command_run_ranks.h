/* `mpirun -n N heddle run`: one simulation by N processes. The program runs once, at rank 0; the
 * others build the same platform and run their share of it (runtime/engine/rank.h). */
#ifndef HEDDLE_CODEGEN_COMMAND_RUN_RANKS_H
#define HEDDLE_CODEGEN_COMMAND_RUN_RANKS_H

#include <stdbool.h>

#include "codegen/build/build.h"
#include "codegen/command/command.h"
#include "codegen/command/command_run.h"
#include "codegen/command/hand_over.h"

/* What the launcher has started. */
struct run_ranks {
    unsigned number, count; /* 1: alone */
    const char *library;    /* openmpi, mpich */
};

/* From the environment of the launcher. */
struct run_ranks run_ranks_of_launcher(void);
/* Functional mode has nothing that could be shared: rank 0 is alone then, and says so. false: this
 * is another rank, which has nothing to do. */
bool run_ranks_takes_part(struct run_ranks *launched, const struct options *options);
/* Chooses the module that connects ranks, for all platforms that are opened from now on. false:
 * there is none, or ranks cannot do what the options ask for; a message says so. */
bool run_ranks_announce(struct command *c, const struct run_ranks *launched);
/* The status of the run, at rank 0, when the program has ended with `status`. It is not 0 when the
 * program has left the other ranks waiting, so that the launcher ends them. */
int run_ranks_outcome(const struct run_outcome *outcome, const char *program, int status);
/* Runs a rank other than 0 until rank 0 has come to its end. Returns an exit status. */
int run_ranks_serve(struct command *c, const struct build_result *built,
                    const struct handed *handed);

#endif
