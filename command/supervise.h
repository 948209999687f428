/* Running a child that ends with us: `heddle run` has its program.
 *
 * A signal that is sent to us (kill, timeout) goes on to the child, and to processes of the child
 * that use HIP; signals of the terminal reach each process directly. A signal that is passed on
 * carries its number among the signals sent to us, so a process can tell that it gets the same
 * signal twice. A child whose parent is killed is killed, too. */
#ifndef HEDDLE_COMMAND_SUPERVISE_H
#define HEDDLE_COMMAND_SUPERVISE_H

#include <stdbool.h>

struct supervise {
    const char *program;    /* path */
    const char *name;       /* for messages */
    char *const *arguments; /* NULL-terminated */
    bool apart;    /* in a process group of its own, which gets SIGTERM when we die: so that
                      it can write its files when a launcher kills our group */
    int ledger;    /* ledger of its processes (runtime/session/run_ledger.h); -1: none */
    int simulator; /* a process that serves it; 0: none. It ends when `control` is closed */
    int control;
};

/* Returns the child's exit status, 128 + the signal that ended it, or EXIT_ERRORS when it cannot be
 * started; the latter two are reported. Processes of the ledger have ended then as well. */
int supervise(const struct supervise *child);

/* If the environment's HEDDLE_PARENT names the parent of this process, this process is killed when
 * the parent ends: for programs that start many runs, such as `heddle sweep`. */
void supervise_end_with_parent(void);

#endif
