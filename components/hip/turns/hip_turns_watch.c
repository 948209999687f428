/* Looks at the host for hip_turns.c: which code creates threads, and whether the holder of the turn
 * runs. Nothing here reaches the simulation unless a thread holds up all others, which is warned
 * of. */
#define _GNU_SOURCE /* dladdr1, RTLD_NEXT */
#include <dlfcn.h>
#include <execinfo.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "base/proc_stat.h"
#include "components/hip/common/hip_common.h"
#include "components/host/driver/turn_limits.h"
#include "runtime/engine/options.h"

#include "hip_clock.h"
#include "hip_libc.h"
#include "hip_turns_internal.h"

enum { SECOND_NS = 1000000000 };

bool hip_turns_are_wanted(void)
{
    const char *platform = getenv(OPTIONS_ENV_PLATFORM), *order = getenv("HEDDLE_HOST_THREADS");
    /* Thread sanitizer is between the program and the wrappers: a thread would take its turn
     * before the sanitizer knows it. */
    return platform && *platform && !(order && strcmp(order, "free") == 0)
           && !dlsym(RTLD_DEFAULT, "__tsan_init");
}

/* ---- which code creates threads ---- */

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* The object names our library among those that it needs. */
static bool needs_hip(const struct link_map *object)
{
    const char *strings = NULL;
    for (const ElfW(Dyn) *entry = object->l_ld; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_STRTAB)
            strings = (const char *)(uintptr_t)entry->d_un.d_ptr;
    if (strings)
        for (const ElfW(Dyn) *entry = object->l_ld; entry->d_tag != DT_NULL; entry++)
            if (entry->d_tag == DT_NEEDED
                && (begins_with(strings + entry->d_un.d_val, "libamdhip64.so")
                    || begins_with(strings + entry->d_un.d_val, "libhiprtc.so")))
                return true;
    return false;
}

static const char *name_of(const struct link_map *object)
{
    const char *slash = strrchr(object->l_name, '/');
    return slash ? slash + 1 : object->l_name;
}

static struct link_map *object_of(const void *code)
{
    Dl_info info;
    struct link_map *object = NULL;
    return dladdr1(code, &info, (void **)&object, RTLD_DL_LINKMAP) ? object : NULL;
}

/* Libraries that create threads for their callers: this one, C++'s, and those of sanitizers. */
static bool is_carrier(const struct link_map *object)
{
    static const char *const carriers[] = {"libamdhip64.", "libhiprtc.", "libstdc++.",  "libc++.",
                                           "libtsan.",     "libasan.",   "libclang_rt."};
    for (size_t i = 0; i < ARRAY_COUNT(carriers); i++)
        if (begins_with(name_of(object), carriers[i]))
            return true;
    return false;
}

bool hip_turns_must_order(const void *caller)
{
    void *frames[16];
    const struct link_map *object = object_of(caller);
    if (object && is_carrier(object)) {
        int count = backtrace(frames, ARRAY_COUNT(frames));
        for (int i = 0; i < count && object && is_carrier(object); i++)
            object = object_of(frames[i]);
    }
    /* Without a name: the program itself. Without an object: code made at run time. */
    return !object || is_carrier(object) || *name_of(object) == '\0' || needs_hip(object);
}

int hip_turns_real_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument)
{
    return HIP_LIBC(pthread_create)(thread, attributes, start, argument);
}

/* ---- times ---- */

static uint64_t milliseconds(clockid_t clock)
{
    struct timespec time = {0};
    hip_clock_host(clock, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

bool hip_turns_is_before(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

bool hip_turns_has_passed(const struct timespec *deadline)
{
    struct timespec time;
    hip_clock_host(CLOCK_MONOTONIC, &time);
    return !hip_turns_is_before(&time, deadline);
}

struct timespec hip_turns_later(const struct timespec *span)
{
    struct timespec time;
    hip_clock_host(CLOCK_MONOTONIC, &time);
    time.tv_sec += span->tv_sec;
    time.tv_nsec += span->tv_nsec;
    time.tv_sec += time.tv_nsec / SECOND_NS;
    time.tv_nsec %= SECOND_NS;
    return time;
}

struct timespec hip_turns_deadline(clockid_t clock, const struct timespec *time)
{
    struct timespec clock_time;
    clock_gettime(clock, &clock_time); /* the program's */
    struct timespec span = {.tv_sec = time->tv_sec - clock_time.tv_sec,
                            .tv_nsec = time->tv_nsec - clock_time.tv_nsec};
    if (span.tv_nsec < 0) {
        span.tv_nsec += SECOND_NS;
        span.tv_sec--;
    }
    return span.tv_sec < 0 ? hip_turns_later(&(struct timespec){0}) : hip_turns_later(&span);
}

/* ---- the thread that has the turn ---- */

static struct {
    uint64_t turn, looked_ms;
    uint64_t first_cpu_ms, last_cpu_ms; /* processor time of the holder */
    uint64_t awake_ms;                  /* when it was last seen to do something */
} watched;

static uint64_t patience_ms(void)
{
    const char *text = getenv("HEDDLE_HOST_PATIENCE");
    char *end = NULL;
    unsigned long long seconds = text ? strtoull(text, &end, 10) : 0;
    return (seconds > 0 && *end == '\0' && seconds < 1000000 ? seconds : TURN_THREAD_SPENT_S)
           * 1000;
}

static uint64_t cpu_of(const struct hip_turns_thread *thread)
{
    clockid_t clock;
    return pthread_getcpuclockid(thread->handle, &clock) == 0 ? milliseconds(clock) : 0;
}

static void warn_dropped(const struct hip_turns_thread *thread, const char *reason, uint64_t ms)
{
    static bool has_warned;
    char name[32] = "";
    pthread_getname_np(thread->handle, name, sizeof name);
    if (!has_warned) {
        has_warned = true;
        hip_say("host thread %" PRIu64 " ('%s') %s for %" PRIu64 ".%" PRIu64
                " s without waiting for anything that heddle sees; the others go on without it, so "
                "cycle counts of this run may differ from others",
                thread->number, name, reason, ms / 1000, ms % 1000 / 100);
    }
}

bool hip_turns_watch(const struct hip_turns_thread *holder, uint64_t turn)
{
    uint64_t now_ms = milliseconds(CLOCK_MONOTONIC);
    const int *depth = __atomic_load_n(&holder->depth, __ATOMIC_ACQUIRE);
    if (holder->sleeps || !depth || __atomic_load_n(depth, __ATOMIC_RELAXED) > 0) {
        watched.turn = 0;
        return false;
    }
    uint64_t cpu = cpu_of(holder);
    if (watched.turn != turn) {
        watched.turn = turn;
        watched.first_cpu_ms = watched.last_cpu_ms = cpu;
        watched.looked_ms = watched.awake_ms = now_ms;
        return false;
    }
    if (now_ms - watched.looked_ms < TURN_THREAD_LOOK_MS)
        return false;
    watched.looked_ms = now_ms;
    if (cpu - watched.first_cpu_ms > patience_ms()) {
        warn_dropped(holder, "has run", cpu - watched.first_cpu_ms);
        return true;
    }
    if (cpu != watched.last_cpu_ms || !holder->task
        || !proc_thread_sleeps(getpid(), holder->task)) {
        watched.last_cpu_ms = cpu;
        watched.awake_ms = now_ms;
    }
    if (now_ms - watched.awake_ms
        > (holder->has_called_hip ? TURN_THREAD_ASLEEP_MS : TURN_HELPER_ASLEEP_MS)) {
        if (holder->has_called_hip)
            warn_dropped(holder, "has been asleep", now_ms - watched.awake_ms);
        return true;
    }
    return false;
}
