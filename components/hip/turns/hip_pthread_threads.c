/* Creation and end of threads, sleeps, yields, and the futexes of the C++ library, in front of the
 * C library's own: the dynamic linker finds these first, since programs name this library before
 * the C library. See hip_turns.h.
 *
 * Invariant: where no order applies (hip_turns_bypass) each does what the C library's does. */
#define _GNU_SOURCE
/* The functions that these headers declare and this file defines are exported. */
#pragma GCC visibility push(default)
#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>
#pragma GCC visibility pop

#include "hip_libc.h"
#include "hip_turns.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

void hip_find_libc(const char *name, void *function)
{
    void *symbol = dlsym(RTLD_NEXT, name);
    if (!symbol) {
        fprintf(stderr, "heddle: the C library has no function '%s'\n", name);
        abort();
    }
    memcpy(function, &symbol, sizeof symbol);
}

/* ---- threads ---- */

int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes,
                   void *(*start)(void *), void *restrict argument)
{
    return hip_turns_create(thread, attributes, start, argument, __builtin_return_address(0));
}

int pthread_join(pthread_t thread, void **result)
{
    bool ordered = !hip_turns_bypass();
    if (ordered)
        hip_turns_join(thread);
    int error = HIP_LIBC(pthread_join)(thread, result);
    if (ordered && error == 0)
        hip_turns_forget(thread, true);
    return error;
}

int pthread_detach(pthread_t thread)
{
    if (!hip_turns_bypass())
        hip_turns_forget(thread, false);
    return HIP_LIBC(pthread_detach)(thread);
}

int pthread_cancel(pthread_t thread)
{
    int error = HIP_LIBC(pthread_cancel)(thread);
    if (error == 0 && !hip_turns_bypass())
        hip_turns_interrupt(thread);
    return error;
}

/* ---- sleeps ---- */

struct sleep {
    clockid_t clock;
    int flags, error;
    const struct timespec *request;
    struct timespec *left;
};

static int run_sleep(void *argument)
{
    struct sleep *sleep = argument;
    return sleep->error =
               HIP_LIBC(clock_nanosleep)(sleep->clock, sleep->flags, sleep->request, sleep->left);
}

/* How long a sleep lasts, by the program's word; one until a time has no span of its own. */
static int pause_for(struct sleep *sleep)
{
    const struct timespec *span = sleep->request;
    uint64_t span_ns = 0;
    if (!(sleep->flags & TIMER_ABSTIME) && span->tv_sec >= 0) {
        span_ns = (uint64_t)span->tv_sec < UINT64_MAX / 2000000000
                      ? (uint64_t)span->tv_sec * 1000000000 + (uint64_t)span->tv_nsec
                      : UINT64_MAX;
    }
    hip_turns_pause(span_ns, run_sleep, sleep);
    return sleep->error;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *request,
                    struct timespec *left)
{
    struct sleep sleep = {clock, flags, 0, request, left};
    if (hip_turns_bypass())
        return run_sleep(&sleep);
    return pause_for(&sleep);
}

/* nanosleep() is measured on CLOCK_REALTIME but does not follow it when it is set: like this. */
int nanosleep(const struct timespec *request, struct timespec *left)
{
    struct sleep sleep = {CLOCK_MONOTONIC, 0, 0, request, left};
    if (hip_turns_bypass())
        return HIP_LIBC(nanosleep)(request, left);
    pause_for(&sleep);
    errno = sleep.error ? sleep.error : errno;
    return sleep.error ? -1 : 0;
}

int usleep(useconds_t microseconds)
{
    struct timespec request = {.tv_sec = microseconds / 1000000,
                               .tv_nsec = (long)(microseconds % 1000000) * 1000};
    return nanosleep(&request, NULL);
}

unsigned sleep(unsigned seconds)
{
    struct timespec request = {.tv_sec = (time_t)seconds}, left = {0};
    return nanosleep(&request, &left) == 0 ? 0 : (unsigned)left.tv_sec;
}

static int run_yield(void *argument)
{
    (void)argument;
    return HIP_LIBC(sched_yield)();
}

int sched_yield(void)
{
    return hip_turns_bypass() ? run_yield(NULL) : hip_turns_pause(0, run_yield, NULL);
}

/* ---- futexes: std::atomic::wait, std::future and others come here through syscall() ---- */

struct system_call {
    long number, arguments[6];
};

static long forward(const struct system_call *call)
{
    const long *a = call->arguments;
    return HIP_LIBC(syscall)(call->number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* A futex' deadline on CLOCK_MONOTONIC: FUTEX_WAIT has a span of time, FUTEX_WAIT_BITSET a time. */
static void futex_deadline(const struct timespec *given, int operation, struct timespec *deadline)
{
    if ((operation & FUTEX_CMD_MASK) == FUTEX_WAIT) {
        *deadline = hip_turns_later(given);
    } else {
        *deadline = hip_turns_deadline(
            operation & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC, given);
    }
}

static long futex_wait(const struct system_call *call)
{
    const int *word = (const int *)call->arguments[0];
    const struct timespec *given = (const struct timespec *)call->arguments[3];
    struct timespec deadline;
    if (given)
        futex_deadline(given, (int)call->arguments[1], &deadline);
    bool woken = true, differs;
    hip_turns_lock();
    /* Counted before the look at the word: a thread that changes the word later sees a waiter. */
    __atomic_fetch_add(&hip_turns_parked, 1, __ATOMIC_SEQ_CST);
    differs = __atomic_load_n(word, __ATOMIC_SEQ_CST) != (int)call->arguments[2];
    if (!differs)
        woken = hip_turns_wait(word, HIP_TURNS_SIGNAL, given ? &deadline : NULL);
    __atomic_fetch_sub(&hip_turns_parked, 1, __ATOMIC_SEQ_CST);
    hip_turns_unlock();
    if (differs || !woken) {
        errno = differs ? EAGAIN : ETIMEDOUT;
        return -1;
    }
    return 0;
}

static long futex_wake(const struct system_call *call)
{
    unsigned most = (unsigned)call->arguments[2];
    unsigned woken = hip_turns_wake((const void *)call->arguments[0], HIP_TURNS_SIGNAL, most);
    if (woken == most)
        return woken;
    struct system_call rest = *call;
    rest.arguments[2] = (long)(most - woken);
    long others = forward(&rest);
    return others < 0 ? others : others + (long)woken;
}

long syscall(long number, ...)
{
    struct system_call call = {.number = number};
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        call.arguments[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_futex && !hip_turns_bypass()) {
        switch (call.arguments[1] & FUTEX_CMD_MASK) {
        case FUTEX_WAIT:
        case FUTEX_WAIT_BITSET:
            return futex_wait(&call);
        case FUTEX_WAKE:
        case FUTEX_WAKE_BITSET:
            return futex_wake(&call);
        default:
            break;
        }
    }
    return forward(&call);
}
