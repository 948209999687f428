/* Running a child that ends with us: `heddle run` has its program.
 *
 * A signal that is sent to us (kill, timeout) goes on to the child, and to the processes that it
 * has started and that use HIP; what the terminal sends, each of them gets itself. Passed-on
 * signals carry a number that counts those that were sent to us, so a process that gets one
 * twice knows. A child whose parent is killed is killed, too. */
#ifndef HEDDLE_CODEGEN_SUPERVISE_H
#define HEDDLE_CODEGEN_SUPERVISE_H

#include <stdbool.h>

struct supervise {
    const char *program;    /* path */
    const char *name;       /* for messages */
    char *const *arguments; /* NULL-terminated */
    bool apart;    /* in a process group of its own, which gets SIGTERM when we die: so that
                      it can write its files when a launcher kills our group */
    int ledger;    /* of its processes (runtime/session/run_ledger.h); -1: none */
    int simulator; /* a process that serves it; 0: none. It ends when `control` is closed */
    int control;
};

/* Returns its exit status, 128 + the signal that ended it, which is said, or EXIT_ERRORS when it
 * cannot be started, which is said, too. Processes of the ledger have ended then as well. */
int supervise(const struct supervise *child);

/* When the environment's HEDDLE_PARENT is the process that started this one, this one is killed
 * when that ends: for programs that start many runs, such as `heddle sweep`. */
void supervise_end_with_parent(void);

#endif
