/* Work that may end its process is done in a child first, so that a mistake of the checker costs an
 * answer and not the server with everything the editor has open. What the child writes is lost:
 * work that survives is done again by the server itself. Called by server.c. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server.h"

/* Work that takes longer than this counts as endless. Checks of the largest platforms that come
 * with heddle take less than a hundredth of it. */
#define TRIAL_CPU_S 30

static _Noreturn void work_in_child(struct server *s, server_work *work, void *context)
{
    struct rlimit limit = {TRIAL_CPU_S, TRIAL_CPU_S};
    setrlimit(RLIMIT_CPU, &limit);
    s->out = fopen("/dev/null", "w");
    if (s->out)
        work(s, context);
    _exit(0);
}

const char *server_try(struct server *s, server_work *work, void *context)
{
    int status = 0;
    fflush(s->out);
    pid_t child = fork();
    if (child == 0)
        work_in_child(s, work, context);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (child < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) /* no child: no trial */
        return NULL;
    if (WIFEXITED(status))
        return region_printf(&s->scratch, "heddle gave up with status %d", WEXITSTATUS(status));
    int number = WTERMSIG(status);
    if (number == SIGXCPU || number == SIGKILL)
        return region_printf(&s->scratch, "heddle was ended after %d s of CPU time at most: \"%s\"",
                             TRIAL_CPU_S, strsignal(number));
    return region_printf(&s->scratch, "heddle crashed: \"%s\"", strsignal(number));
}
