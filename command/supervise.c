/* Runs a child that ends with this process. Signals are blocked and waited for, so nothing happens
 * in handlers. */
#include "supervise.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/number.h"
#include "command/run/run_layout.h"
#include "runtime/session/exit_status.h"
#include "runtime/session/run_ledger.h"

#include "command_say.h"

enum {
    SAME_MS = 200, /* signals that come so soon after one another are one */
    LOOK_MS = 50   /* between two looks after processes that are no children of ours */
};

static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGQUIT, SIGUSR1, SIGUSR2};

struct signals {
    sigset_t awaited, before;
    int count; /* signals that were sent to us */
    int64_t last_ms;
};

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Blocks them, before there is a child that they could be for. */
static void hold_signals(struct signals *s)
{
    *s = (struct signals){0};
    signal(SIGCHLD, SIG_DFL);
    sigemptyset(&s->awaited);
    sigaddset(&s->awaited, SIGCHLD);
    for (size_t i = 0; i < ARRAY_COUNT(passed_on); i++)
        sigaddset(&s->awaited, passed_on[i]);
    sigprocmask(SIG_BLOCK, &s->awaited, &s->before);
}

/* To the child, and to the others that use HIP and still live. */
static void pass_on(struct signals *s, const struct supervise *child, pid_t pid,
                    const siginfo_t *info)
{
    struct run_ledger_place place = {0};
    struct run_ledger_line line;
    int64_t now = now_ms();
    s->count += s->count == 0 || now - s->last_ms > SAME_MS;
    s->last_ms = now;
    const union sigval number = {.sival_int = s->count};
    if (pid)
        sigqueue(pid, info->si_signo, number);
    while (child->ledger >= 0 && run_ledger_next(child->ledger, &place, &line))
        if (line.kind == RUN_LEDGER_OPENED && line.pid != pid)
            sigqueue((pid_t)line.pid, info->si_signo, number);
}

static void handle_signal(struct signals *s, const struct supervise *child, pid_t pid, int wait_ms)
{
    siginfo_t info;
    const struct timespec most = {.tv_nsec = wait_ms * 1000000L};
    int number =
        wait_ms ? sigtimedwait(&s->awaited, &info, &most) : sigwaitinfo(&s->awaited, &info);
    if (number > 0 && number != SIGCHLD && (child->apart || info.si_code != SI_KERNEL))
        pass_on(s, child, pid, &info);
}

/* True if a process of the ledger has not ended. A script may not wait for what it starts. */
static bool any_lives(const struct supervise *child)
{
    struct run_ledger_place place = {0};
    struct run_ledger_line line;
    while (child->ledger >= 0 && run_ledger_next(child->ledger, &place, &line)) {
        if (line.kind != RUN_LEDGER_OPENED)
            continue;
        waitpid((pid_t)line.pid, NULL, WNOHANG); /* orphans are ours */
        if (kill((pid_t)line.pid, 0) == 0)
            return true;
    }
    return false;
}

static int end_of(const struct supervise *child, int status)
{
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    command_say("'%s' was ended by signal %d (%s)", child->name, WTERMSIG(status),
                strsignal(WTERMSIG(status)));
    return EXIT_SIGNALLED + WTERMSIG(status);
}

/* The program has ended. EXIT_CLEAN, or how the simulator was ended, which is said. */
static int end_simulator(const struct supervise *child, struct signals *s)
{
    int status = 0;
    if (!child->simulator)
        return EXIT_CLEAN;
    close(child->control);
    while (waitpid(child->simulator, &status, WNOHANG) == 0)
        handle_signal(s, child, 0, LOOK_MS);
    if (!WIFSIGNALED(status))
        return EXIT_CLEAN;
    command_say("the simulator was ended by signal %d (%s)", WTERMSIG(status),
                strsignal(WTERMSIG(status)));
    return EXIT_GAVE_UP;
}

static int wait_for(const struct supervise *child, struct signals *s, pid_t pid)
{
    int status;
    pid_t got;
    while ((got = waitpid(pid, &status, WNOHANG)) == 0)
        handle_signal(s, child, pid, 0);
    if (got < 0) {
        command_say("cannot wait for '%s': %s", child->name, strerror(errno));
        return EXIT_ERRORS;
    }
    int simulated = end_simulator(child, s);
    while (any_lives(child))
        handle_signal(s, child, 0, LOOK_MS);
    int ended = end_of(child, status);
    return simulated != EXIT_CLEAN ? simulated : ended;
}

__attribute__((noreturn)) static void be_child(const struct supervise *child, pid_t parent,
                                               const sigset_t *mask)
{
    prctl(PR_SET_PDEATHSIG, child->apart ? SIGTERM : SIGKILL);
    if (child->apart)
        setpgid(0, 0);
    if (getppid() != parent)
        _exit(EXIT_ERRORS);
    sigprocmask(SIG_SETMASK, mask, NULL);
    run_fix_layout(child->arguments);
    execv(child->program, child->arguments);
    command_say("cannot start '%s': %s", child->name, strerror(errno));
    _exit(127);
}

int supervise(const struct supervise *child)
{
    struct signals signals;
    int status = EXIT_ERRORS;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    hold_signals(&signals);
    fflush(NULL);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        be_child(child, parent, &signals.before);
    if (pid < 0)
        command_say("cannot start '%s': %s", child->name, strerror(errno));
    else
        status = wait_for(child, &signals, pid);
    sigprocmask(SIG_SETMASK, &signals.before, NULL);
    return status;
}

void supervise_end_with_parent(void)
{
    const char *text = getenv("HEDDLE_PARENT");
    char *end = NULL;
    long parent = text ? strtol(text, &end, 10) : 0;
    unsetenv("HEDDLE_PARENT"); /* not for what we start */
    if (parent <= 1 || *end || getppid() != (pid_t)parent)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != (pid_t)parent)
        _exit(EXIT_ERRORS);
}
