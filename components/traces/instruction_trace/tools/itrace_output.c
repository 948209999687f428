/* The names of unfinished files stand in a static table, so that a signal handler may read it. A
 * slot is taken before its file exists and given back after it is gone. */
#include "components/traces/instruction_trace/tools/itrace_output.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
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
    static const int signals[] = {SIGHUP, SIGINT, SIGTERM};
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
    output->file = fopen(output->temporary, "wbe");
    if (output->file)
        return true;
    int reason = errno;
    release(output);
    errno = reason;
    return false;
}

/* Why a write to a stream failed, which does not keep it: one more byte fails for the same reason.
 */
static int reason_of(FILE *file)
{
    char byte = 0;
    return write(fileno(file), &byte, 1) < 0 ? errno : EIO;
}

bool itrace_output_commit(struct itrace_output *output)
{
    int reason = ferror(output->file) ? reason_of(output->file) : 0;
    if (!reason && fflush(output->file) != 0)
        reason = errno;
    if (fclose(output->file) != 0 && !reason)
        reason = errno;
    if (!reason && rename(output->temporary, output->path) != 0)
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
