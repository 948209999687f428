/* The lines that processes write for `heddle run`, and how it reads them. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/session/run_ledger.h"

static struct run_ledger_line next(int file, struct run_ledger_place *place)
{
    struct run_ledger_line line;
    cr_assert(run_ledger_next(file, place, &line));
    return line;
}

Test(run_ledger, processes_are_numbered_as_they_open)
{
    int file = run_ledger_begin();
    struct run_ledger_place place = {0};
    cr_assert_geq(file, 0);
    cr_expect_eq(run_ledger_owner(), getpid());
    for (unsigned i = 1; i <= 3; i++) {
        int status;
        pid_t pid = fork();
        if (pid == 0) {
            unsigned number = run_ledger_open();
            run_ledger_report(EXIT_CLEAN);
            if (i == 2)
                run_ledger_report(EXIT_STALL);
            run_ledger_close(i == 3);
            _exit((int)number);
        }
        cr_assert_eq(waitpid(pid, &status, 0), pid);
        cr_expect_eq(WEXITSTATUS(status), i);
        struct run_ledger_line line = next(file, &place);
        cr_expect_eq(line.kind, RUN_LEDGER_OPENED);
        cr_expect_eq(line.process, i);
        cr_expect_eq(line.pid, pid);
        cr_expect_str_eq(line.name, "test_run_ledger");
        if (i == 2) {
            line = next(file, &place);
            cr_expect_eq(line.kind, RUN_LEDGER_STATUS);
            cr_expect_eq(line.status, EXIT_STALL);
        }
        line = next(file, &place);
        cr_expect_eq(line.kind, i == 3 ? RUN_LEDGER_PARTIAL : RUN_LEDGER_DONE);
        cr_expect_eq(line.process, i);
    }
    struct run_ledger_line line;
    cr_expect_not(run_ledger_next(file, &place, &line));
    close(file);
}

Test(run_ledger, nobody_has_to_ask)
{
    unsetenv(RUN_LEDGER_ENV);
    cr_expect_eq(run_ledger_open(), 1);
    run_ledger_report(EXIT_STALL);
    run_ledger_close(false);
    cr_expect_eq(run_ledger_owner(), 0);
}

Test(run_ledger, lines_that_are_none_and_a_half_written_one_are_passed_over)
{
    int file = run_ledger_begin();
    struct run_ledger_place place = {0};
    struct run_ledger_line line;
    static const char text[] = "nonsense\n\nopen 7 a b\ndone";
    char long_line[1000];
    memset(long_line, 'x', sizeof long_line);
    long_line[sizeof long_line - 1] = '\n';
    cr_assert_eq(write(file, long_line, sizeof long_line), (ssize_t)sizeof long_line);
    cr_assert_eq(write(file, text, sizeof text - 1), (ssize_t)sizeof text - 1);
    line = next(file, &place);
    cr_expect_eq(line.pid, 7);
    cr_expect_str_eq(line.name, "a b");
    cr_expect_not(run_ledger_next(file, &place, &line));
    cr_assert_eq(write(file, " 1\n", 3), 3);
    line = next(file, &place);
    cr_expect_eq(line.kind, RUN_LEDGER_DONE);
    close(file);
}
