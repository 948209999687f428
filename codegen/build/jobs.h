/* Child processes: several compilers at a time. */
#ifndef HEDDLE_CODEGEN_BUILD_JOBS_H
#define HEDDLE_CODEGEN_BUILD_JOBS_H

#include <stdbool.h>
#include <stdint.h>

struct job {
    const char *what;        /* for the progress line */
    const char *const *argv; /* NULL-terminated; argv[0] is searched in PATH */
    const char *output; /* file that takes its standard output and error, printed and removed when
                           it ends */
    bool ok;            /* result: ended with status 0 */
};

/* The form in which standard error tells that jobs end. */
enum jobs_progress {
    JOBS_QUIET,
    JOBS_LINE, /* one line of a terminal, drawn anew */
    JOBS_LINES /* for a log: a line when a job ends and ten seconds have passed */
};

/* Runs all jobs, at most `parallel` at a time. What they printed appears job by job on standard
 * error. false when one failed; then no further ones are started. */
bool jobs_run(struct job *jobs, uint32_t count, uint32_t parallel, enum jobs_progress progress);

/* Processors this process may use. */
uint32_t jobs_processors(void);

#endif
