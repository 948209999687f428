/* Starts threads for one call of the functional executor and waits for them; thread_team.h has the
 * terms. */
#include "thread_team.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "base/number.h"
#include "runtime/observe/host_time.h"

struct member {
    pthread_t thread;
    uint32_t number;
    uint64_t took_ns;
};

static void (*present)(uint32_t thread);

static void *run_member(void *argument)
{
    struct member *m = argument;
    present(m->number);
    m->took_ns = host_time_read(CLOCK_THREAD_CPUTIME_ID);
    return NULL;
}

void thread_team_run(void (*work)(uint32_t thread), uint32_t threads)
{
    struct member member[THREAD_TEAM_MAX];
    sigset_t all, before;
    uint32_t started = 1;
    threads = min(threads, THREAD_TEAM_MAX);
    present = work;
    sigfillset(&all); /* signals are for the program's own threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (; started < threads; started++) {
        member[started].number = started;
        if (pthread_create(&member[started].thread, NULL, run_member, &member[started]) != 0)
            break;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    work(0);
    for (uint32_t i = 1; i < started; i++) {
        pthread_join(member[i].thread, NULL);
        host_time_add(member[i].took_ns);
    }
}
