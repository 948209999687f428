/* What a log tells of compilers that run. The clock is the test's: it goes on when a job ends. */
#define _GNU_SOURCE /* syscall() */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "codegen/build/jobs.h"

static time_t step_s, passed_s; /* 0: the system's clock */

int clock_gettime(clockid_t clock, struct timespec *time)
{
    if (!step_s)
        return (int)syscall(SYS_clock_gettime, clock, time);
    *time = (struct timespec){.tv_sec = 1000 + passed_s};
    passed_s += step_s;
    return 0;
}

static void run(enum jobs_progress progress, time_t each_s, const char *says)
{
    static const char *const argv[] = {"true", NULL};
    char output[] = "/tmp/heddle-jobs-XXXXXX"; /* removed by each job, one after another */
    struct job jobs[5];
    int file = mkstemp(output);
    cr_assert(file >= 0);
    close(file);
    for (int i = 0; i < 5; i++)
        jobs[i] = (struct job){.what = "unit", .argv = argv, .output = output};
    cr_redirect_stderr();
    step_s = each_s;
    bool good = jobs_run(jobs, 5, 1, progress);
    step_s = 0;
    cr_assert(good);
    cr_assert(access(output, F_OK) != 0);
    fflush(stderr);
    cr_assert_stderr_eq_str(says);
}

Test(jobs, a_log_tells_every_ten_seconds_how_far_they_are)
{
    run(JOBS_LINES, 6,
        "heddle: compiled 2 of 5 units in 12 s; about 18 s left\n"
        "heddle: compiled 4 of 5 units in 24 s; about 6 s left\n");
}

Test(jobs, a_log_tells_nothing_of_what_is_over_soon)
{
    run(JOBS_LINES, 1, "");
}

Test(jobs, nothing_is_told_where_nothing_is_wanted)
{
    run(JOBS_QUIET, 60, "");
}
