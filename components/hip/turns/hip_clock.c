/* Wrappers of the C library's functions that read clocks (hip_clock.h). */
#define _GNU_SOURCE /* RTLD_NEXT, clocks of Linux */
/* The functions that these headers declare and this file defines are exported. */
#pragma GCC visibility push(default)
#include <sys/time.h>
#include <time.h>
#pragma GCC visibility pop

#include <errno.h>
#include <string.h>

#include "base/wide.h"
#include "components/hip/common/hip_common.h"
#include "runtime/engine/options.h"

#include "hip_clock.h"
#include "hip_libc.h"
#include "hip_turns.h"
#include "hip_turns_internal.h"

#define NS_OF_S  UINT64_C(1000000000)
#define PS_OF_NS UINT64_C(1000)
/* The first of January 2000, UTC: what programs print looks like a date, and no file is newer. */
#define REAL_S   UINT64_C(946684800)
/* Programs take 0 for a time that was not measured. */
#define BOOT_S   UINT64_C(1000)

bool hip_clock_is_simulated;

/* Time that has passed beside the simulation: for ordered threads, one of which runs at a time, and
 * for each other thread. */
static uint64_t ordered_ps;
static _Thread_local uint64_t aside_ps;

void hip_clock_host(clockid_t clock, struct timespec *time)
{
    HIP_LIBC(clock_gettime)(clock, time);
}

/* The time that a clock shows at the beginning. False: the clock is not simulated. The kernel gives
 * clocks of devices numbers that end in 3, and those of other threads and processes the rest of the
 * numbers below 0. */
static bool begins_at(clockid_t clock, uint64_t *seconds)
{
    enum { DEVICE = 3, KINDS = 7 };
    switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_TAI:
        *seconds = REAL_S;
        return true;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME:
        *seconds = BOOT_S;
        return true;
    case CLOCK_PROCESS_CPUTIME_ID:
    case CLOCK_THREAD_CPUTIME_ID:
        *seconds = 0;
        return true;
    default:
        *seconds = 0;
        return clock < 0 && (clock & KINDS) != DEVICE;
    }
}

/* True if the calling code sees simulated clocks. */
static bool is_simulated(void)
{
    return hip_clock_is_simulated && __atomic_load_n(&hip_turns_depth, __ATOMIC_RELAXED) == 0;
}

uint64_t hip_clock_now_ps(void)
{
    return hip_turns_engine.now_ps() + __atomic_load_n(&ordered_ps, __ATOMIC_RELAXED) + aside_ps;
}

static void add_ps(uint64_t span_ps)
{
    if (hip_turns_is_ordered())
        __atomic_fetch_add(&ordered_ps, span_ps, __ATOMIC_RELAXED);
    else
        aside_ps += span_ps;
}

static uint64_t read_ps(void)
{
    add_ps(HIP_CLOCK_READING_PS);
    return hip_clock_now_ps();
}

const struct timespec *hip_clock_host_time(clockid_t clock, const struct timespec *time,
                                           struct timespec *host_time)
{
    if (!time || !is_simulated())
        return time;
    uint64_t now_ps = hip_clock_now_ps(), until_ps = hip_clock_ps_of(clock, time);
    uint64_t span_ns = until_ps > now_ps ? (until_ps - now_ps) / PS_OF_NS : 0;
    hip_clock_host(clock, host_time);
    host_time->tv_sec += (time_t)(span_ns / NS_OF_S);
    host_time->tv_nsec += (long)(span_ns % NS_OF_S);
    host_time->tv_sec += host_time->tv_nsec >= (long)NS_OF_S;
    host_time->tv_nsec %= (long)NS_OF_S;
    return host_time;
}

uint64_t hip_clock_ps_of(clockid_t clock, const struct timespec *time)
{
    uint64_t begin_s = 0;
    begins_at(clock, &begin_s);
    if (time->tv_sec < 0 || (uint64_t)time->tv_sec < begin_s)
        return 0;
    uint64_t seconds = (uint64_t)time->tv_sec - begin_s;
    return seconds < UINT64_MAX / PS_PER_S / 2
               ? seconds * PS_PER_S + (uint64_t)time->tv_nsec * PS_OF_NS
               : UINT64_MAX / 2;
}

void hip_clock_pass(uint64_t until_ps)
{
    uint64_t now_ps = is_simulated() ? hip_clock_now_ps() : until_ps;
    if (now_ps >= until_ps)
        return;
    if (!hip_turns_is_ordered() || !hip_turns_engine.pass(until_ps - now_ps))
        add_ps(until_ps - now_ps);
}

int hip_clock_timed(int result, clockid_t clock, const struct timespec *time)
{
    int error = errno;
    if (is_simulated() && (result == ETIMEDOUT || (result == -1 && error == ETIMEDOUT)))
        hip_clock_pass(hip_clock_ps_of(clock, time));
    errno = error;
    return result;
}

/* ---- what the program calls ---- */

int clock_gettime(clockid_t clock, struct timespec *time)
{
    uint64_t begin_s;
    if (!is_simulated() || !begins_at(clock, &begin_s))
        return HIP_LIBC(clock_gettime)(clock, time);
    uint64_t ps = read_ps();
    time->tv_sec = (time_t)(begin_s + ps / PS_PER_S);
    time->tv_nsec = (long)(ps % PS_PER_S / PS_OF_NS);
    return 0;
}

/* The zone is obsolete, and that of UTC where a program asks for it. */
int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
    struct timespec clock_time;
    if (!is_simulated())
        return HIP_LIBC(gettimeofday)(time, zone);
    if (zone)
        memset(zone, 0, sizeof(struct timezone));
    clock_gettime(CLOCK_REALTIME, &clock_time);
    *time = (struct timeval){.tv_sec = clock_time.tv_sec, .tv_usec = clock_time.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *result)
{
    struct timespec clock_time;
    if (!is_simulated())
        return HIP_LIBC(time)(result);
    clock_gettime(CLOCK_REALTIME, &clock_time);
    if (result)
        *result = clock_time.tv_sec;
    return clock_time.tv_sec;
}

int timespec_get(struct timespec *result, int base)
{
    if (!is_simulated() || base != TIME_UTC)
        return HIP_LIBC(timespec_get)(result, base);
    clock_gettime(CLOCK_REALTIME, result);
    return base;
}

clock_t clock(void)
{
    return is_simulated() ? (clock_t)(read_ps() / (PS_PER_S / CLOCKS_PER_SEC)) : HIP_LIBC(clock)();
}

/* ---- the option ---- */

/* In the child of fork(), which has no simulation. */
static void show_host(void)
{
    hip_clock_is_simulated = false;
}

/* The platform is not open yet, and memory of the heap lies where it lies without the option. */
__attribute__((constructor)) static void choose_clock(void)
{
    struct timespec host_time;
    /* A handler of signals must not be the first to ask. */
    hip_clock_host(CLOCK_MONOTONIC, &host_time);
    if (!option_is_set_early("host-clock", "simulated"))
        return;
    if (!hip_turns_are_wanted()) {
        hip_say("'--host-clock simulated' needs host threads in order: without "
                "HEDDLE_HOST_THREADS=free and thread sanitizer; the program has the host's clocks");
        return;
    }
    hip_clock_is_simulated = true;
    pthread_atfork(NULL, NULL, show_host);
}
