/* The steps of `heddle run`: its options, and the two ways to run what was built. */
#ifndef HEDDLE_CODEGEN_COMMAND_RUN_H
#define HEDDLE_CODEGEN_COMMAND_RUN_H

#include "codegen/build/build.h"
#include "codegen/command/command.h"
#include "runtime/state/platform.h"

/* Seen from the root folder, in the command's arena; NULL for NULL. */
const char *run_absolute(struct command *c, const char *path);
/* The path of what process `number` of a run writes (options_number_path()), in the command's
 * arena. */
const char *run_numbered_path(struct command *c, const char *path, unsigned number, bool folder);
/* What the options come to for the platform. -1 to go on, or an exit status: what is wrong was
 * said. */
struct handed;
int run_options(struct command *c, struct handed *handed);
/* false: two options contradict each other, or one lacks another, as was said. */
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
    const char *name;     /* of its program's file */
    bool closed, partial; /* its files are written, or what was known when it was interrupted */
};

struct run_outcome {
    VECTOR(struct run_process) processes;
    int status; /* how the simulation ended */
};

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

#endif
