/* Writes a file under a temporary name and renames it when it is complete; see itrace_output.h. */
#include "itrace_output.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "components/traces/instruction_trace/reader/itrace_memory.h"
#include "runtime/engine/unfinished.h"

static void release_output(struct itrace_output *output)
{
    unfinished_forget(output->slot);
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
    output->slot = unfinished_add(output->temporary);
    output->file = fopen(output->temporary, "wbe");
    if (output->file)
        return true;
    int reason = errno;
    release_output(output);
    errno = reason;
    return false;
}

/* The reason why a write to a stream failed, which does not keep it: one more byte fails for the
 * same reason. */
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
    release_output(output);
    errno = reason;
    return reason == 0;
}

void itrace_output_abandon(struct itrace_output *output)
{
    if (!output->file)
        return;
    fclose(output->file);
    unlink(output->temporary);
    release_output(output);
}
