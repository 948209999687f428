/* base/proc_stat.c: what Linux shows of threads that run, sleep, and have ended. */
#include <criterion/criterion.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/proc_stat.h"

enum { LOOKS = 600000 }; /* a millisecond apart: a busy machine may take long */

/* Starts a process that sleeps, with a name that looks like the end of a name. */
static pid_t start_sleeper(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_NAME, "a) R 1");
        for (;;)
            pause();
    }
    return pid;
}

Test(proc_stat, a_running_thread_does_not_sleep)
{
    struct proc_stat stat;
    cr_assert(proc_stat_read(getpid(), 0, &stat));
    cr_expect_eq(stat.state, 'R');
    cr_expect_eq(stat.parent, getppid());
    cr_expect_not(proc_thread_sleeps(getpid(), getpid()));
}

Test(proc_stat, a_sleeping_process_sleeps_whatever_its_name)
{
    struct proc_stat mine, stat;
    pid_t pid = start_sleeper();
    for (unsigned look = 0; look < LOOKS && !proc_thread_sleeps(pid, pid); look++)
        usleep(1000);
    cr_assert(proc_thread_sleeps(pid, pid));
    cr_assert(proc_stat_read(getpid(), 0, &mine));
    cr_assert(proc_stat_read(pid, 0, &stat));
    cr_expect_eq(stat.state, 'S');
    cr_expect_eq(stat.parent, getpid());
    cr_expect(stat.start >= mine.start);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

Test(proc_stat, a_process_that_has_gone_is_none)
{
    struct proc_stat stat = {.parent = 1};
    pid_t pid = start_sleeper();
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    cr_expect_not(proc_stat_read(pid, 0, &stat));
    cr_expect_eq(stat.parent, 0);
    cr_expect(proc_thread_sleeps(pid, pid));
}
