/* The steps of `heddle run`: its options, the ways to run what was built, recordings that it
 * plays or makes, several processes, and the live page. */
#ifndef HEDDLE_COMMAND_RUN_RUN_H
#define HEDDLE_COMMAND_RUN_RUN_H

#include <stdbool.h>

#include "codegen/build/build.h"
#include "command/command.h"
#include "runtime/state/platform.h"

#include "hand_over.h"

/* Seen from the root folder, in the command's region; NULL for NULL. */
const char *run_absolute(struct command *c, const char *path);
/* The path of what process `number` of a run writes (options_number_path()), in the command's
 * region. */
const char *run_numbered_path(struct command *c, const char *path, unsigned number, bool folder);
/* Applies the options to the platform. OPTIONS_FINE, or an exit status: what is wrong was
 * said. */
struct handed;
int run_options(struct command *c, struct handed *handed);
/* False: two options contradict each other, or one lacks another, as was said. */
struct sampling;
bool run_keeps_rules(const struct options *o, const struct sampling *sampling);

bool run_is_functional(const struct options *o);
bool run_is_sampled(const struct options *o);
bool run_reports_limits(const struct options *o);
/* --profile instructions, or instructions=FILE. */
bool run_profiles_instructions(const struct options *o);
/* Whether the platform has what the options, `context`, need; says what is missing. */
bool run_accepts(const struct model *model, const void *context);

/* Path of the program as the shell would find it, or NULL after a message. */
const char *run_find_program(struct command *c, const char *name);
/* The processes of a program that have used HIP, in the order in which they have opened the
 * platform. The first one's files have the names that options give, the others' those of
 * options_number_path(). */
struct run_process {
    const char *name; /* the name of its program's file */
    bool is_closed,
        is_partial; /* its files are written, or what was known when it was interrupted */
};

struct run_outcome {
    VECTOR(struct run_process) processes;
    int status; /* how the simulation ended */
};

/* Puts our libraries in front of the program's. */
void run_put_libraries(struct command *c, const char *program);
/* Runs `program` with our HIP library in front. An exit status; what is missing was said. */
int run_program(struct command *c, const struct build_result *built, const struct handed *handed,
                const char *program, char **arguments, struct run_outcome *outcome);

/* NULL after a message. `*library` is for dlclose(). */
const struct heddle_platform *run_open_built(struct command *c, const struct build_result *built,
                                             void **library);
/* The platform plays traces of API calls itself (or cannot be opened, which was said). */
bool run_plays_itself(struct command *c, const struct build_result *built);
/* Runs a platform that drives itself, or plays a trace, in this process. An exit status. */
int run_platform(struct command *c, const struct build_result *built, const struct handed *handed);

/* `heddle run --play api`: recorded calls take the program's place. Checks the trace and names the
 * program that plays it, with its arguments. An exit status; EXIT_CLEAN: go on. */
int run_play_api(struct command *c, const char **program, char ***arguments);

/* `heddle run --record api` and `--record instructions`: the folders that receive a program's
 * calls, or what its kernels execute. */

enum { RUN_RECORD_CALLS, RUN_RECORD_STEPS, RUN_RECORDINGS };

/* Folders that appear whole or not at all: the program's HIP library, or the driver of the
 * platform, fills `part`, which gets its name when the program has ended and the trace is complete.
 */
struct run_recording {
    const char *folder[RUN_RECORDINGS], *part[RUN_RECORDINGS]; /* NULL: nothing is recorded */
};

/* False: the folder is there already, which was said. */
bool run_recording_allowed(const struct options *options);
/* Makes the folders and tells the program's library, or the platform, of them. False: said why not.
 */
bool run_recording_begin(struct command *c, struct handed *handed, struct run_recording *recording);
/* The folders get their names, or go; each process has one. Returns `status`, or EXIT_ERRORS when
 * only the recording has failed. */
int run_recording_end(struct command *c, const struct run_recording *recording,
                      const struct run_outcome *outcome, int status);

/* `mpirun -n N heddle run`: one simulation by N processes. The program runs once, at rank 0; the
 * others build the same platform and run their share of it (runtime/engine/rank.h). */

/* This process among those that the launcher has started. */
struct run_ranks {
    unsigned number, count; /* 1: alone */
    const char *library;    /* openmpi, mpich */
};

/* From the environment of the launcher. */
struct run_ranks run_ranks_of_launcher(void);
/* Functional mode has nothing that could be shared: rank 0 is alone then, and says so. False: this
 * is another rank, which has nothing to do. */
bool run_ranks_takes_part(struct run_ranks *launched, const struct options *options);
/* Chooses the module that connects ranks, for all platforms that are opened from now on. False:
 * there is none, or ranks cannot do what the options ask for; a message says so. */
bool run_ranks_announce(struct command *c, const struct run_ranks *launched);
/* The status of the run, at rank 0, when the program has ended with `status`. It is not 0 when the
 * program has left the other ranks waiting, so that the launcher ends them. */
int run_ranks_outcome(const struct run_outcome *outcome, const char *program, int status);
/* Runs a rank other than 0 until rank 0 has come to its end. Returns an exit status. */
int run_ranks_serve(struct command *c, const struct build_result *built,
                    const struct handed *handed);

/* The page of `heddle run --view`. A child in Python serves it (python/heddle/view) out of the
 * status page (runtime/engine/status_page.h), which is made here and written by the simulating
 * processes. */

/* Before the run; the place of the status page is handed over. Nothing without --view. False: said
 * on standard error. */
bool run_view_start(struct command *c, struct handed *handed);
/* Behind it: a page that is open gets the last state. */
void run_view_end(void);

#endif
