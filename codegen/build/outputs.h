/* Outputs of commands: objects and libraries for the cache. A command writes under another name;
 * the output gets its own when it is complete and has its checksum (seal.h). */
#ifndef HEDDLE_CODEGEN_BUILD_OUTPUTS_H
#define HEDDLE_CODEGEN_BUILD_OUTPUTS_H

#include <stdbool.h>

#include "base/region.h"

#include "build_flags.h"
#include "jobs.h"
#include "site.h"

struct outputs {
    VECTOR(struct job) jobs;
    VECTOR(const char *) paths; /* what each job makes */
};

/* The name that the command for `path` has to write to. */
const char *outputs_temporary(const struct site *site, const char *path);

/* Plans a command that makes `path`; `what` is its name for the user. */
void outputs_plan(const struct site *site, struct outputs *outputs, const char *what,
                  const struct words *argv, const char *path);

/* Runs the planned commands. The caller may withdraw `ok` of a job. */
void outputs_make(const struct site *site, struct outputs *outputs);

/* Keeps what the jobs that are `ok` have made, and removes the rest. False: an output is missing
 * (messages on stderr). */
bool outputs_keep(const struct site *site, struct outputs *outputs);

#endif
