/* Running Graphviz' `dot`: source and picture pass through files in memory, so no pipe can fill up
 * and no folder has to be writable. */
#define _GNU_SOURCE /* memfd_create */
#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dot.h"

extern char **environ;

static bool copy_all(FILE *from, FILE *to)
{
    char buffer[65536];
    size_t n;
    rewind(from);
    while ((n = fread(buffer, 1, sizeof buffer, from)) > 0)
        if (fwrite(buffer, 1, n, to) != n)
            return false;
    return !ferror(from);
}

static int spawn_dot(const char *format, int in, int out, pid_t *child)
{
    char option[32];
    snprintf(option, sizeof option, "-T%s", format);
    char program[] = "dot";
    char *argv[] = {program, option, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    int failure = posix_spawnp(child, program, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return failure;
}

static bool run_dot(const char *format, FILE *source, FILE *picture, struct view_error *error)
{
    pid_t child;
    rewind(source);
    int failure = spawn_dot(format, fileno(source), fileno(picture), &child);
    if (failure == ENOENT) {
        snprintf(error->text, sizeof error->text,
                 "cannot lay out the diagram: program 'dot' is not on the PATH; install Graphviz, "
                 "or take the "
                 "Graphviz source that 'heddle dot' prints without --svg");
        return false;
    }
    int status = 0;
    if (!failure)
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            continue;
    if (failure || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        snprintf(error->text, sizeof error->text, "program 'dot' failed: %s",
                 failure ? strerror(failure) : "see its message above");
        return false;
    }
    return true;
}

FILE *dot_scratch(void)
{
    int file = memfd_create("heddle diagram", MFD_CLOEXEC);
    FILE *scratch = file < 0 ? NULL : fdopen(file, "w+");
    if (file >= 0 && !scratch)
        close(file);
    return scratch;
}

bool dot_layout(const char *format, FILE *source, FILE *out, struct view_error *error)
{
    FILE *picture = dot_scratch();
    if (!picture || fflush(source) != 0) {
        snprintf(error->text, sizeof error->text, "cannot write a temporary file: %s",
                 strerror(errno));
        if (picture)
            fclose(picture);
        return false;
    }
    bool ok = run_dot(format, source, picture, error);
    if (ok && !copy_all(picture, out)) {
        snprintf(error->text, sizeof error->text, "cannot write the diagram: %s", strerror(errno));
        ok = false;
    }
    fclose(picture);
    return ok;
}
