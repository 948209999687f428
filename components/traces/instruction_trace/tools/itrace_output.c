/* A file without a name (Linux: O_TMPFILE) gets one when it is complete, so that nothing is left
 * even by SIGKILL. Where the file system has none, the names of unfinished files stand in a static
 * table, so that a signal handler may read it. A slot is taken before its file exists and given
 * back after it is gone. */
#define _GNU_SOURCE /* O_TMPFILE */
#include "components/traces/instruction_trace/tools/itrace_output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "components/traces/instruction_trace/reader/itrace_memory.h"

#define SLOTS 8

static struct {
    volatile sig_atomic_t used;
    char path[PATH_MAX];
} unfinished[SLOTS];

static void remove_unfinished(int signal_number)
{
    for (int i = 0; i < SLOTS; i++)
        if (unfinished[i].used)
            unlink(unfinished[i].path);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

void itrace_output_guard(void)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        struct sigaction old, action = {.sa_handler = remove_unfinished};
        /* What the shell ignores for a program in the background stays ignored. */
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_IGN)
            continue;
        sigemptyset(&action.sa_mask);
        sigaction(signals[i], &action, NULL);
    }
}

static int take_slot(const char *path)
{
    for (int i = 0; i < SLOTS; i++) {
        if (unfinished[i].used)
            continue;
        snprintf(unfinished[i].path, sizeof unfinished[i].path, "%s", path);
        unfinished[i].used = 1;
        return i;
    }
    return -1;
}

static void release(struct itrace_output *output)
{
    if (output->slot >= 0)
        unfinished[output->slot].used = 0;
    itrace_free(output->path);
    itrace_free(output->temporary);
    *output = (struct itrace_output){.slot = -1};
}

/* "PATH.SUFFIX" */
static char *with_suffix(const char *path, const char *suffix)
{
    size_t size = strlen(path) + strlen(suffix);
    char *name = itrace_allocate(size + 1, 1);
    snprintf(name, size + 1, "%s%s", path, suffix);
    return name;
}

/* A new file without a name in the folder of `path`; -1: there is no such thing here. */
static int open_nameless(const char *path, int flags)
{
    const char *slash = strrchr(path, '/');
    char *folder =
        slash ? itrace_copy_text(path, (size_t)(slash - path) + 1) : itrace_copy_text(".", 1);
    int fd = open(folder, O_TMPFILE | O_CLOEXEC | flags, 0666);
    itrace_free(folder);
    return fd;
}

/* Gives the file its name, in place of another file only by way of the temporary name. 0, or errno.
 */
static int name_it(const struct itrace_output *output)
{
    char link[40];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fileno(output->file));
    if (linkat(AT_FDCWD, link, AT_FDCWD, output->path, AT_SYMLINK_FOLLOW) == 0)
        return 0;
    unlink(output->temporary);
    if (linkat(AT_FDCWD, link, AT_FDCWD, output->temporary, AT_SYMLINK_FOLLOW) == 0
        && rename(output->temporary, output->path) == 0)
        return 0;
    return errno;
}

bool itrace_output_open(struct itrace_output *output, const char *path)
{
    char suffix[32];
    *output = (struct itrace_output){.slot = -1};
    if (strlen(path) > PATH_MAX - 32) {
        errno = ENAMETOOLONG;
        return false;
    }
    snprintf(suffix, sizeof suffix, ".unfinished-%ld", (long)getpid());
    output->path = itrace_copy_text(path, strlen(path));
    output->temporary = with_suffix(path, suffix);
    output->slot = take_slot(output->temporary);
    int fd = access("/proc/self/fd", X_OK) == 0 ? open_nameless(path, O_WRONLY) : -1;
    output->is_nameless = fd >= 0;
    if (fd < 0)
        fd = open(output->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    output->file = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (output->file)
        return true;
    int reason = errno;
    if (fd >= 0) {
        close(fd);
        unlink(output->temporary);
    }
    release(output);
    errno = reason;
    return false;
}

bool itrace_output_commit(struct itrace_output *output)
{
    int reason = ferror(output->file) ? EIO : 0;
    if (!reason && fflush(output->file) != 0)
        reason = errno;
    if (!reason && output->is_nameless)
        reason = name_it(output);
    if (fclose(output->file) != 0 && !reason)
        reason = errno;
    if (!reason && !output->is_nameless && rename(output->temporary, output->path) != 0)
        reason = errno;
    if (reason)
        unlink(output->temporary);
    release(output);
    errno = reason;
    return reason == 0;
}

void itrace_output_abandon(struct itrace_output *output)
{
    if (!output->file)
        return;
    fclose(output->file);
    unlink(output->temporary);
    release(output);
}

/* A file whose name is taken away at once; no signal comes in between. */
static int open_and_forget(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder =
        slash ? itrace_copy_text(path, (size_t)(slash - path) + 1) : itrace_copy_text("./", 2);
    char *name = with_suffix(folder, ".heddle-trace-XXXXXX");
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    int fd = mkstemp(name);
    if (fd >= 0)
        unlink(name);
    sigprocmask(SIG_SETMASK, &before, NULL);
    itrace_free(name);
    itrace_free(folder);
    return fd;
}

FILE *itrace_output_scratch(const char *path)
{
    int fd = open_nameless(path, O_RDWR);
    if (fd < 0)
        fd = open_and_forget(path);
    FILE *file = fd >= 0 ? fdopen(fd, "w+b") : NULL;
    if (fd >= 0 && !file)
        close(fd);
    return file;
}
