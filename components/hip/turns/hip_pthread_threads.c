/* Creation and end of threads, sleeps, yields, and the futexes of the C++ library, in front of the
 * C library's own: the dynamic linker finds these first, since programs name this library before
 * the C library. See hip_turns.h.
 *
 * Invariant: where no order applies (hip_turns_are_bypassed) each does what the C library's does.
 */
#define _GNU_SOURCE
/* The functions that these headers declare and this file defines are exported. */
#pragma GCC visibility push(default)
#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>
#pragma GCC visibility pop

#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "hip_clock.h"
#include "hip_libc.h"
#include "hip_turns.h"

void hip_find_libc(const char *name, void *function)
{
    void *symbol = dlsym(RTLD_NEXT, name);
    if (!symbol)
        symbol = dlsym(RTLD_DEFAULT, name); /* this library is after the C library */
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
    bool is_ordered = !hip_turns_are_bypassed();
    if (is_ordered)
        hip_turns_join(thread);
    int error = HIP_LIBC(pthread_join)(thread, result);
    if (is_ordered && error == 0)
        hip_turns_release_thread(thread, true);
    return error;
}

int pthread_detach(pthread_t thread)
{
    if (!hip_turns_are_bypassed())
        hip_turns_release_thread(thread, false);
    return HIP_LIBC(pthread_detach)(thread);
}

int pthread_cancel(pthread_t thread)
{
    int error = HIP_LIBC(pthread_cancel)(thread);
    if (error == 0 && !hip_turns_are_bypassed())
        hip_turns_interrupt(thread);
    return error;
}

/* ---- sleeps ---- */

struct sleep {
    clockid_t clock;
    int flags, error;
    const struct timespec *request;
    struct timespec *left;
    uint64_t until_ps; /* by simulated clocks */
};

#define SECOND_NS UINT64_C(1000000000)

static int run_sleep(void *argument)
{
    struct sleep *sleep = argument;
    return sleep->error =
               HIP_LIBC(clock_nanosleep)(sleep->clock, sleep->flags, sleep->request, sleep->left);
}

/* Sleeps for the span that the program gives; a sleep until a time has none. */
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

/* A thread that is not ordered sleeps for real, too. */
static int run_simulated(void *argument)
{
    const struct sleep *sleep = argument;
    uint64_t now_ps = hip_clock_now_ps();
    if (!hip_turns_is_ordered() && now_ps < sleep->until_ps) {
        uint64_t rest_ns = (sleep->until_ps - now_ps) / 1000;
        struct timespec rest = {.tv_sec = (time_t)(rest_ns / SECOND_NS),
                                .tv_nsec = (long)(rest_ns % SECOND_NS)};
        HIP_LIBC(clock_nanosleep)(CLOCK_MONOTONIC, 0, &rest, NULL);
    }
    hip_clock_pass(sleep->until_ps);
    return 0;
}

/* A thread that polls may continue earlier than it asked for, and then has the rest pass. */
static int pause_simulated(struct sleep *sleep)
{
    const struct timespec *request = sleep->request;
    uint64_t now_ps = hip_clock_now_ps();
    if (request->tv_nsec < 0 || (uint64_t)request->tv_nsec >= SECOND_NS || request->tv_sec < 0)
        return sleep->error = EINVAL;
    sleep->until_ps = sleep->flags & TIMER_ABSTIME
                          ? hip_clock_ps_of(sleep->clock, request)
                          : now_ps + hip_clock_ps_of(CLOCK_THREAD_CPUTIME_ID, request);
    uint64_t span_ps = sleep->until_ps > now_ps ? sleep->until_ps - now_ps : 0;
    if (hip_turns_are_bypassed())
        return run_simulated(sleep);
    hip_turns_pause(span_ps / 1000, run_simulated, sleep);
    hip_clock_pass(sleep->until_ps);
    return 0;
}

/* True if the calling thread sleeps by simulated clocks. */
static bool sleeps_simulated(void)
{
    return hip_clock_is_simulated && __atomic_load_n(&hip_turns_depth, __ATOMIC_RELAXED) == 0;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *request,
                    struct timespec *left)
{
    struct sleep sleep = {.clock = clock, .flags = flags, .request = request, .left = left};
    if (sleeps_simulated())
        return pause_simulated(&sleep);
    return hip_turns_are_bypassed() ? run_sleep(&sleep) : pause_for(&sleep);
}

/* nanosleep() is measured on CLOCK_REALTIME but does not follow it when it is set: like this. */
int nanosleep(const struct timespec *request, struct timespec *left)
{
    int error = clock_nanosleep(CLOCK_MONOTONIC, 0, request, left);
    errno = error ? error : errno;
    return error ? -1 : 0;
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
    return hip_turns_are_bypassed() ? run_yield(NULL) : hip_turns_pause(0, run_yield, NULL);
}

/* ---- futexes: std::atomic::wait, std::future and others come here through syscall() ---- */

struct system_call {
    long number, arguments[6];
};

static long forward_call(const struct system_call *call)
{
    const long *a = call->arguments;
    return HIP_LIBC(syscall)(call->number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static clockid_t clock_of(int operation)
{
    return operation & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC;
}

/* A futex' deadline on CLOCK_MONOTONIC: FUTEX_WAIT has a span of time, FUTEX_WAIT_BITSET a time. */
static void futex_deadline(const struct timespec *timeout, int operation, struct timespec *deadline)
{
    *deadline = (operation & FUTEX_CMD_MASK) == FUTEX_WAIT
                    ? hip_turns_later(timeout)
                    : hip_turns_deadline(clock_of(operation), timeout);
}

static long futex_wait(const struct system_call *call)
{
    const int *word = (const int *)call->arguments[0];
    const struct timespec *timeout = (const struct timespec *)call->arguments[3];
    struct timespec deadline;
    if (timeout)
        futex_deadline(timeout, (int)call->arguments[1], &deadline);
    bool is_woken = true, differs;
    hip_turns_lock();
    /* Counted before the look at the word: a thread that changes the word later sees a waiter. */
    __atomic_fetch_add(&hip_turns_parked, 1, __ATOMIC_SEQ_CST);
    differs = __atomic_load_n(word, __ATOMIC_SEQ_CST) != (int)call->arguments[2];
    if (!differs)
        is_woken = hip_turns_wait(word, HIP_TURNS_SIGNAL, timeout ? &deadline : NULL);
    __atomic_fetch_sub(&hip_turns_parked, 1, __ATOMIC_SEQ_CST);
    hip_turns_unlock();
    if (differs || !is_woken) {
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
    long others = forward_call(&rest);
    return others < 0 ? others : others + (long)woken;
}

/* By simulated clocks, the end of a wait that ends by time; the host's are used in the kernel. */
static long futex_timed(struct system_call *call, long (*wait)(const struct system_call *call))
{
    int operation = (int)call->arguments[1];
    bool is_span = (operation & FUTEX_CMD_MASK) == FUTEX_WAIT;
    const struct timespec *sleep_time = (const struct timespec *)call->arguments[3];
    uint64_t until_ps = hip_clock_now_ps() + hip_clock_ps_of(CLOCK_THREAD_CPUTIME_ID, sleep_time);
    struct timespec room;
    if (wait == forward_call && !is_span)
        call->arguments[3] = (long)hip_clock_host_time(clock_of(operation), sleep_time, &room);
    long result = wait(call);
    int error = errno;
    if (result == -1 && error == ETIMEDOUT)
        hip_clock_pass(is_span ? until_ps : hip_clock_ps_of(clock_of(operation), sleep_time));
    errno = error;
    return result;
}

static long futex_call(struct system_call *call)
{
    bool is_simulated = sleeps_simulated() && call->arguments[3];
    switch (call->arguments[1] & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET: {
        long (*wait)(const struct system_call *) =
            hip_turns_are_bypassed() ? forward_call : futex_wait;
        return is_simulated ? futex_timed(call, wait) : wait(call);
    }
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET:
        return hip_turns_are_bypassed() ? forward_call(call) : futex_wake(call);
    default:
        return forward_call(call);
    }
}

long syscall(long number, ...)
{
    struct system_call call = {.number = number};
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        call.arguments[i] = va_arg(list, long);
    va_end(list);
    return number == SYS_futex ? futex_call(&call) : forward_call(&call);
}
