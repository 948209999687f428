/* The ledger of one `heddle run`, a file without a name to which its processes write line by line:
 * which process has opened the platform, how its simulation ended, and whether its files are
 * written.
 *
 * A program may be a script that starts several programs, and each process that uses HIP simulates
 * a platform of its own. Such processes are numbered from 1 in the order in which they open the
 * platform, and process N writes files of its own (option_file()). docs/reference/outputs.md is the
 * contract.
 *
 * The file is a memfd of `heddle run`, which processes reach through its path in /proc
 * (HEDDLE_STATUS): it is gone with `heddle run`, whatever ends that. A line is one write() at the
 * file's end, so lines of several processes do not mix. Without HEDDLE_STATUS nothing is
 * written. */
#ifndef HEDDLE_RUNTIME_SESSION_RUN_LEDGER_H
#define HEDDLE_RUNTIME_SESSION_RUN_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "exit_status.h"

#define RUN_LEDGER_ENV  "HEDDLE_STATUS"
#define RUN_LEDGER_NAME 64

/* ---- for processes that open the platform ---- */

/* The calling process opens the platform, once. Returns its number. */
unsigned run_ledger_open(void);
/* Reports the status with which a simulation ended; the first one that is not EXIT_CLEAN counts. */
void run_ledger_report(enum exit_status status);
/* All of its files are written, or `is_partial`: what was known when it was interrupted. Only
 * system calls: also in signal handlers. */
void run_ledger_close(bool is_partial);
/* The process of `heddle run`; 0: there is none, or it has ended. */
long run_ledger_owner(void);

/* ---- for `heddle run` ---- */

/* Makes an empty one and names it in the environment. -1: errno says why. */
int run_ledger_begin(void);

enum run_ledger_kind { RUN_LEDGER_OPENED, RUN_LEDGER_STATUS, RUN_LEDGER_DONE, RUN_LEDGER_PARTIAL };

struct run_ledger_line {
    enum run_ledger_kind kind;
    unsigned process;           /* its number, from 1; 0: one that has not opened the platform */
    long pid;                   /* OPENED */
    char name[RUN_LEDGER_NAME]; /* OPENED: of its program's file */
    int status;                 /* STATUS: enum exit_status */
};

/* The place of the reader of lines; zeros at the beginning. */
struct run_ledger_place {
    int64_t offset;
    unsigned opened;
};
/* The next line. False: there is none yet. */
bool run_ledger_next(int fd, struct run_ledger_place *place, struct run_ledger_line *line);

#endif
