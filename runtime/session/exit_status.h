/* Exit statuses of `heddle` and of the programs that it runs, for the command, the runtime and the
 * program's runtime library. `heddle help run` lists them for users. */
#ifndef HEDDLE_RUNTIME_SESSION_EXIT_STATUS_H
#define HEDDLE_RUNTIME_SESSION_EXIT_STATUS_H

enum exit_status {
    EXIT_CLEAN = 0,
    EXIT_ERRORS = 1,
    EXIT_USAGE = 2,
    /* The simulation, not the program, failed (run_ledger_report()). */
    EXIT_GAVE_UP = 3, /* a component: bad address, missing instruction, ... */
    EXIT_DEADLOCK = 4,
    EXIT_STALL = 5,
    EXIT_LIMIT = 6,  /* --max-cycles, --max-instructions */
    EXIT_UNABLE = 7, /* the platform was not opened, or a file could not be written */
    /* An option asked for an event that never happened: no launch of a list, the end before
     * --checkpoint-at, a process that ended without its files. */
    EXIT_MISSED = 8,
    EXIT_FOUND = 9,      /* --check: the program has mistakes */
    EXIT_SIGNALLED = 128 /* + the signal: interrupted; what was known is written */
};

#endif
