/* posix_spawn and waitpid. Called by build.c. */
#include "codegen/build/jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

uint32_t jobs_processors(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : (uint32_t)count;
}

static bool start(const struct job *job, pid_t *pid)
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

static void show_progress(bool progress, uint32_t done, uint32_t count, const char *what)
{
    if (progress)
        fprintf(stderr, "\r\033[K[%u/%u] %s", done, count, what);
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

bool jobs_run(struct job *jobs, uint32_t count, uint32_t parallel, bool progress)
{
    pid_t *pids = calloc(count + 1, sizeof *pids);
    uint32_t started = 0, running = 0, done = 0;
    bool ok = pids != NULL;
    while ((ok && started < count) || running > 0) {
        if (ok && started < count && running < parallel) {
            show_progress(progress, done, count, jobs[started].what);
            ok = start(&jobs[started], &pids[started]);
            started += ok;
            running += ok;
            continue;
        }
        long ended = wait_for_one(jobs, pids, started);
        if (ended < 0)
            break;
        running--;
        done++;
        show_progress(progress, done, count, jobs[ended].what);
        if (progress)
            fprintf(stderr, "\r\033[K");
        show_output(&jobs[ended]);
        ok = ok && jobs[ended].ok;
    }
    free(pids);
    return ok && done == count;
}
