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
/* For whoever opens a platform from now on: which module takes ranks to each other. false: there is
 * none, or they cannot do what the options ask for, as was said. */
bool run_ranks_announce(struct command *c, const struct run_ranks *launched);
/* Of rank 0, when the program has ended with `status`: the status of the run. When the program has
 * left the other ranks waiting, it is not 0, so that the launcher ends them. */
int run_ranks_outcome(const struct run_outcome *outcome, const char *program, int status);
/* Of a rank but 0: takes part until rank 0 has come to its end. An exit status. */
int run_ranks_serve(struct command *c, const struct build_result *built,
                    const struct handed *handed);

#endif
