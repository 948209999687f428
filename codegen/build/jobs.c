/* posix_spawn and waitpid. Called by outputs.c. */
#include "jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/grow.h"

enum { LINES_S = 10 /* between two lines of a log, as between those of a run */ };

extern char **environ;

uint32_t jobs_processors(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : (uint32_t)count;
}

static bool start_job(const struct job *job, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, job->output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    /* The strings are constant to us, and posix_spawnp() does not change them either. */
    char *const *argv;
    memcpy(&argv, &job->argv, sizeof argv);
    int error = posix_spawnp(pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error == 0)
        return true;
    fprintf(stderr, "heddle: cannot run '%s': %s\n", argv[0], strerror(error));
    unlink(job->output);
    return false;
}

/* Shows what the job printed. A full disk may have taken that, too. */
static void show_output(const struct job *job)
{
    FILE *file = fopen(job->output, "r");
    char buffer[4096];
    size_t got, shown = 0;
    for (; file && (got = fread(buffer, 1, sizeof buffer, file)) > 0; shown += got)
        fwrite(buffer, 1, got, stderr);
    if (file)
        fclose(file);
    if (!job->ok && shown == 0)
        fprintf(stderr, "heddle: '%s' has failed on %s without a word\n", job->argv[0], job->what);
    unlink(job->output);
}

/* The progress of the jobs, and the time of the last line about it. */
struct progress {
    enum jobs_progress kind;
    uint32_t done, count;
    time_t began_s, printed_s;
};

static time_t now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

static void draw_line(const struct progress *p, const char *what)
{
    if (p->kind == JOBS_LINE)
        fprintf(stderr, "\r\033[K[%u/%u] %s", p->done, p->count, what);
}

/* The jobs that are left take as long each as those that are done. */
static void print_line(struct progress *p)
{
    time_t now = now_s(), spent = now - p->began_s;
    if (p->kind != JOBS_LINES || p->done == p->count || now - p->printed_s < LINES_S)
        return;
    p->printed_s = now;
    fprintf(stderr, "heddle: compiled %u of %u units in %lld s; about %lld s left\n", p->done,
            p->count, (long long)spent,
            (long long)(spent * (time_t)(p->count - p->done) / (time_t)p->done));
}

/* Waits for one of the running jobs; -1 when none is left. */
static long wait_for_one(struct job *jobs, const pid_t *pids, uint32_t started)
{
    for (;;) {
        int status;
        pid_t pid = wait(&status);
        if (pid < 0 && errno == EINTR)
            continue;
        if (pid < 0)
            return -1;
        for (uint32_t i = 0; i < started; i++)
            if (pids[i] == pid) {
                jobs[i].ok = WIFEXITED(status) && WEXITSTATUS(status) == 0;
                return i;
            }
    }
}

bool jobs_run(struct job *jobs, uint32_t count, uint32_t parallel, enum jobs_progress progress)
{
    pid_t *pids = grow_zeroed((count + 1) * sizeof *pids, "compilers");
    struct progress state = {.kind = progress, .count = count, .began_s = now_s()};
    uint32_t started = 0, running = 0;
    state.printed_s = state.began_s;
    bool ok = true;
    while ((ok && started < count) || running > 0) {
        if (ok && started < count && running < parallel) {
            draw_line(&state, jobs[started].what);
            ok = start_job(&jobs[started], &pids[started]);
            started += ok;
            running += ok;
            continue;
        }
        long ended = wait_for_one(jobs, pids, started);
        if (ended < 0)
            break;
        running--;
        state.done++;
        draw_line(&state, jobs[ended].what);
        if (progress == JOBS_LINE)
            fprintf(stderr, "\r\033[K");
        show_output(&jobs[ended]);
        ok = ok && jobs[ended].ok;
        print_line(&state);
    }
    free(pids);
    return ok && state.done == count;
}
