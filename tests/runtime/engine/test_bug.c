/* What a user reads when heddle cannot go on, and how the process ends. */
#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/engine/bug.h"
#include "runtime/engine/version.h"

/* Calls `end` in a child, and returns the child's status and what it has printed. */
static int run_child(void (*end)(void), char text[1024])
{
    int ends[2], status;
    ssize_t size;
    size_t used = 0;
    cr_assert(pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        end();
    }
    close(ends[1]);
    while ((size = read(ends[0], text + used, 1023 - used)) > 0)
        used += (size_t)size;
    text[used] = '\0';
    close(ends[0]);
    cr_assert(waitpid(child, &status, 0) == child);
    return status;
}

static void have_bug(void)
{
    bug("ring %u has no sender", 7u);
}

static void give_up(void)
{
    die("no memory for %s", "a copy");
}

Test(bug, names_heddle_and_its_version_and_aborts)
{
    char text[1024];
    int status = run_child(have_bug, text);
    cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    cr_assert(strstr(text, "heddle: bug: ring 7 has no sender\n") == text, "%s", text);
    cr_assert(strstr(text, "mistake of heddle " HEDDLE_VERSION), "%s", text);
    cr_assert(strstr(text, "report"), "%s", text);
}

Test(bug, die_says_why_and_exits_with_status_1)
{
    char text[1024];
    int status = run_child(give_up, text);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    cr_assert(strcmp(text, "heddle: no memory for a copy\n") == 0, "%s", text);
}
