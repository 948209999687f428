/* Locks, condition variables, semaphores, barriers and pthread_once, in front of the C library's
 * own; see hip_turns.h.
 *
 * Locks keep their state in the C library: a waiter tries, waits in turn for an unlock when that
 * fails, and tries again. Waits for condition variables, barriers and pthread_once are known here
 * alone.
 *
 * Invariant: a waiter is counted in hip_turns_parked before its last try, and a thread that changes
 * the object looks at the count after the change, so no wake-up is lost. */
#define _GNU_SOURCE
/* The functions that these headers declare and this file defines are exported. */
#pragma GCC visibility push(default)
#include <pthread.h>
#include <semaphore.h>
#pragma GCC visibility pop

#include <errno.h>

#include "components/hip/common/hip_common.h"

#include "hip_clock.h"
#include "hip_libc.h"
#include "hip_turns.h"

/* Tries until it succeeds, fails for good, or the deadline has passed (ETIMEDOUT). `attempt`
 * answers EBUSY when it is worth waiting. */
static int acquire(void *object, int (*attempt)(void *object), const struct timespec *deadline)
{
    hip_turns_count_operation();
    int error = attempt(object);
    while (error == EBUSY) {
        bool is_in_time = true;
        hip_turns_lock();
        __atomic_fetch_add(&hip_turns_parked, 1, __ATOMIC_SEQ_CST);
        error = attempt(object);
        if (error == EBUSY)
            is_in_time = hip_turns_wait(object, HIP_TURNS_LOCK, deadline);
        __atomic_fetch_sub(&hip_turns_parked, 1, __ATOMIC_SEQ_CST);
        hip_turns_unlock();
        if (error == EBUSY)
            error = attempt(object);
        if (!is_in_time && error == EBUSY)
            return ETIMEDOUT;
    }
    return error;
}

static int acquire_until(void *object, int (*attempt)(void *object), clockid_t clock,
                         const struct timespec *time)
{
    struct timespec deadline = hip_turns_deadline(clock, time);
    return acquire(object, attempt, &deadline);
}

/* Makes an attempt of the program's own. If it fails, it may be one of many. */
static int attempt_once(void *object, int (*attempt)(void *object))
{
    hip_turns_count_operation();
    int error = attempt(object);
    if (error == EBUSY)
        hip_turns_pause(0, NULL, NULL);
    return error;
}

/* A function of the C library that takes `parameters` and is called with `arguments`, both in
 * parentheses. A thread that is not ordered calls the C library, others get the expression. */
#define ORDERED(name, parameters, arguments, ...)                                                  \
    int name parameters                                                                            \
    {                                                                                              \
        return hip_turns_are_bypassed() ? HIP_LIBC(name) arguments : (__VA_ARGS__);                \
    }                                                                                              \
    int name parameters
/* A function like that which waits until `clock` shows `time`. */
#define TIMED(name, parameters, arguments, clock, time, ...)                                       \
    int name parameters                                                                            \
    {                                                                                              \
        return hip_clock_timed(                                                                    \
            hip_turns_are_bypassed() ? HIP_LIBC(name) arguments : (__VA_ARGS__), clock, time);     \
    }                                                                                              \
    int name parameters
/* A function of the C library that gives an object back: wakes up to `count` threads that wait. */
#define WAKING(name, type, count)                                                                  \
    int name(type *object)                                                                         \
    {                                                                                              \
        bool is_ordered = !hip_turns_are_bypassed();                                               \
        int result = HIP_LIBC(name)(object);                                                       \
        if (is_ordered)                                                                            \
            hip_turns_wake((const void *)(uintptr_t)object, HIP_TURNS_LOCK, count);                \
        return result;                                                                             \
    }                                                                                              \
    int name(type *object)

/* ---- mutexes ---- */

static int try_mutex(void *object)
{
    return HIP_LIBC(pthread_mutex_trylock)(object);
}

/* An error-checking mutex that its owner locks again: the C library has the right answer. */
static bool is_mistake(const pthread_mutex_t *mutex)
{
    return (mutex->__data.__kind & 3) == PTHREAD_MUTEX_ERRORCHECK
           && mutex->__data.__owner == hip_turns_task();
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (hip_turns_are_bypassed() || is_mistake(mutex))
        return HIP_LIBC(pthread_mutex_lock)(mutex);
    /* A thread without a place in the order unlocks by itself: no turn depends on it. */
    hip_turns_count_operation();
    int error = try_mutex(mutex), owner = mutex->__data.__owner;
    if (error == EBUSY && owner != 0 && !hip_turns_is_ordered_task(owner))
        return HIP_LIBC(pthread_mutex_lock)(mutex);
    return error == EBUSY ? acquire(mutex, try_mutex, NULL) : error;
}

ORDERED(pthread_mutex_trylock, (pthread_mutex_t * mutex), (mutex), attempt_once(mutex, try_mutex));

/* A mistake is answered at once. */
static int timed_mutex(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *time)
{
    return is_mistake(mutex) ? HIP_LIBC(pthread_mutex_clocklock)(mutex, clock, time)
                             : acquire_until(mutex, try_mutex, clock, time);
}

TIMED(pthread_mutex_timedlock,
      (pthread_mutex_t *restrict mutex, const struct timespec *restrict time),
      (mutex, HIP_CLOCK_HOST_TIME(CLOCK_REALTIME, time)), CLOCK_REALTIME, time,
      timed_mutex(mutex, CLOCK_REALTIME, time));
TIMED(pthread_mutex_clocklock,
      (pthread_mutex_t *restrict mutex, clockid_t clock, const struct timespec *restrict time),
      (mutex, clock, HIP_CLOCK_HOST_TIME(clock, time)), clock, time,
      timed_mutex(mutex, clock, time));
WAKING(pthread_mutex_unlock, pthread_mutex_t, 1);

/* ---- spin locks ---- */

static int try_spin(void *object)
{
    return HIP_LIBC(pthread_spin_trylock)(object);
}

ORDERED(pthread_spin_lock, (pthread_spinlock_t * lock), (lock),
        acquire((void *)(uintptr_t)lock, try_spin, NULL));
ORDERED(pthread_spin_trylock, (pthread_spinlock_t * lock), (lock),
        attempt_once((void *)(uintptr_t)lock, try_spin));
WAKING(pthread_spin_unlock, pthread_spinlock_t, 1);

/* ---- read-write locks ---- */

static int try_read(void *object)
{
    return HIP_LIBC(pthread_rwlock_tryrdlock)(object);
}

static int try_write(void *object)
{
    return HIP_LIBC(pthread_rwlock_trywrlock)(object);
}

ORDERED(pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock), acquire(lock, try_read, NULL));
ORDERED(pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock), acquire(lock, try_write, NULL));
ORDERED(pthread_rwlock_tryrdlock, (pthread_rwlock_t * lock), (lock), attempt_once(lock, try_read));
ORDERED(pthread_rwlock_trywrlock, (pthread_rwlock_t * lock), (lock), attempt_once(lock, try_write));
TIMED(pthread_rwlock_timedrdlock,
      (pthread_rwlock_t *restrict lock, const struct timespec *restrict time),
      (lock, HIP_CLOCK_HOST_TIME(CLOCK_REALTIME, time)), CLOCK_REALTIME, time,
      acquire_until(lock, try_read, CLOCK_REALTIME, time));
TIMED(pthread_rwlock_timedwrlock,
      (pthread_rwlock_t *restrict lock, const struct timespec *restrict time),
      (lock, HIP_CLOCK_HOST_TIME(CLOCK_REALTIME, time)), CLOCK_REALTIME, time,
      acquire_until(lock, try_write, CLOCK_REALTIME, time));
TIMED(pthread_rwlock_clockrdlock,
      (pthread_rwlock_t *restrict lock, clockid_t clock, const struct timespec *restrict time),
      (lock, clock, HIP_CLOCK_HOST_TIME(clock, time)), clock, time,
      acquire_until(lock, try_read, clock, time));
TIMED(pthread_rwlock_clockwrlock,
      (pthread_rwlock_t *restrict lock, clockid_t clock, const struct timespec *restrict time),
      (lock, clock, HIP_CLOCK_HOST_TIME(clock, time)), clock, time,
      acquire_until(lock, try_write, clock, time));
WAKING(pthread_rwlock_unlock, pthread_rwlock_t, UINT32_MAX);

/* ---- semaphores: errors come in errno ---- */

static int try_semaphore(void *object)
{
    int old = errno;
    if (HIP_LIBC(sem_trywait)(object) == 0)
        return 0;
    int error = errno == EAGAIN ? EBUSY : errno;
    errno = old;
    return error;
}

static int set_errno(int error)
{
    if (error)
        errno = error;
    return error ? -1 : 0;
}

ORDERED(sem_wait, (sem_t * semaphore), (semaphore),
        set_errno(acquire(semaphore, try_semaphore, NULL)));

int sem_trywait(sem_t *semaphore)
{
    if (hip_turns_are_bypassed())
        return HIP_LIBC(sem_trywait)(semaphore);
    int error = attempt_once(semaphore, try_semaphore);
    return set_errno(error == EBUSY ? EAGAIN : error);
}

TIMED(sem_timedwait, (sem_t *restrict semaphore, const struct timespec *restrict time),
      (semaphore, HIP_CLOCK_HOST_TIME(CLOCK_REALTIME, time)), CLOCK_REALTIME, time,
      set_errno(acquire_until(semaphore, try_semaphore, CLOCK_REALTIME, time)));
TIMED(sem_clockwait,
      (sem_t *restrict semaphore, clockid_t clock, const struct timespec *restrict time),
      (semaphore, clock, HIP_CLOCK_HOST_TIME(clock, time)), clock, time,
      set_errno(acquire_until(semaphore, try_semaphore, clock, time)));
WAKING(sem_post, sem_t, 1);

/* ---- condition variables ---- */

static int wait_signal(pthread_cond_t *condition, pthread_mutex_t *mutex,
                       const struct timespec *deadline)
{
    bool is_in_time = true;
    hip_turns_lock();
    __atomic_fetch_add(&hip_turns_parked, 1, __ATOMIC_SEQ_CST);
    int error = HIP_LIBC(pthread_mutex_unlock)(mutex);
    if (error == 0) {
        hip_turns_wake_locked(mutex, HIP_TURNS_LOCK, 1);
        is_in_time = hip_turns_wait(condition, HIP_TURNS_SIGNAL, deadline);
    }
    __atomic_fetch_sub(&hip_turns_parked, 1, __ATOMIC_SEQ_CST);
    hip_turns_unlock();
    if (error == 0) {
        error = pthread_mutex_lock(mutex);
        pthread_testcancel();
    }
    return error ? error : is_in_time ? 0 : ETIMEDOUT;
}

/* True if other processes may signal it, so that the C library has to wait. Bit 0 of the flags
 * (glibc, as below). */
static bool is_shared(const pthread_cond_t *condition)
{
    return (condition->__data.__wrefs & 1) != 0;
}

int pthread_cond_wait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex)
{
    return hip_turns_are_bypassed() || is_shared(condition)
               ? HIP_LIBC(pthread_cond_wait)(condition, mutex)
               : wait_signal(condition, mutex, NULL);
}

/* A condition that other processes may signal is waited for in the C library. */
static int wait_signal_until(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
                             const struct timespec *time)
{
    if (is_shared(condition))
        return HIP_LIBC(pthread_cond_clockwait)(condition, mutex, clock,
                                                HIP_CLOCK_HOST_TIME(clock, time));
    struct timespec deadline = hip_turns_deadline(clock, time);
    return wait_signal(condition, mutex, &deadline);
}

TIMED(pthread_cond_clockwait,
      (pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex, clockid_t clock,
       const struct timespec *restrict time),
      (condition, mutex, clock, HIP_CLOCK_HOST_TIME(clock, time)), clock, time,
      wait_signal_until(condition, mutex, clock, time));

/* Bit 1 of the flags says that pthread_condattr_setclock() chose CLOCK_MONOTONIC (glibc,
 * nptl/pthread_cond_init.c). */
static clockid_t clock_of(const pthread_cond_t *condition)
{
    return (condition->__data.__wrefs & 2) != 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict time)
{
    clockid_t clock = clock_of(condition); /* which may be gone when the wait is over */
    int error =
        hip_turns_are_bypassed()
            ? HIP_LIBC(pthread_cond_timedwait)(condition, mutex, HIP_CLOCK_HOST_TIME(clock, time))
            : wait_signal_until(condition, mutex, clock, time);
    return hip_clock_timed(error, clock, time);
}

int pthread_cond_signal(pthread_cond_t *condition)
{
    bool has_woken =
        !hip_turns_are_bypassed() && hip_turns_wake(condition, HIP_TURNS_SIGNAL, 1) > 0;
    return has_woken ? 0 : HIP_LIBC(pthread_cond_signal)(condition);
}

int pthread_cond_broadcast(pthread_cond_t *condition)
{
    if (!hip_turns_are_bypassed())
        hip_turns_wake(condition, HIP_TURNS_SIGNAL, UINT32_MAX);
    return HIP_LIBC(pthread_cond_broadcast)(condition);
}

/* ---- barriers ---- */

struct barrier {
    struct barrier *next;
    const pthread_barrier_t *object;
    unsigned count, arrived;
};

static struct barrier *barriers; /* guarded by the lock of turns */

static struct barrier **find_barrier(const pthread_barrier_t *object)
{
    struct barrier **link = &barriers;
    while (*link && (*link)->object != object)
        link = &(*link)->next;
    return link;
}

/* The barrier is noted even before threads are ordered, as waits may come later. */
int pthread_barrier_init(pthread_barrier_t *restrict object,
                         const pthread_barrierattr_t *restrict attributes, unsigned count)
{
    int error = HIP_LIBC(pthread_barrier_init)(object, attributes, count), shared = 0;
    if (attributes)
        pthread_barrierattr_getpshared(attributes, &shared);
    if (error || hip_turns_depth > 0 || shared == PTHREAD_PROCESS_SHARED)
        return error;
    struct barrier *created = hip_allocate(sizeof *created);
    created->object = object;
    created->count = count;
    hip_turns_lock();
    struct barrier **old = find_barrier(object);
    if (*old) {
        hip_release(created);
        (*old)->count = count;
    } else {
        *old = created;
    }
    hip_turns_unlock();
    return 0;
}

int pthread_barrier_destroy(pthread_barrier_t *object)
{
    int error = HIP_LIBC(pthread_barrier_destroy)(object);
    if (error || hip_turns_depth > 0)
        return error;
    hip_turns_lock();
    struct barrier **link = find_barrier(object), *barrier = *link;
    if (barrier) {
        *link = barrier->next;
        hip_release(barrier);
    }
    hip_turns_unlock();
    return 0;
}

int pthread_barrier_wait(pthread_barrier_t *object)
{
    if (hip_turns_are_bypassed())
        return HIP_LIBC(pthread_barrier_wait)(object);
    int result = 0;
    hip_turns_lock();
    struct barrier *barrier = *find_barrier(object);
    if (!barrier) {
        hip_turns_unlock();
        return HIP_LIBC(pthread_barrier_wait)(object);
    }
    if (++barrier->arrived < barrier->count) {
        hip_turns_wait(object, HIP_TURNS_OTHER, NULL);
    } else {
        barrier->arrived = 0;
        hip_turns_wake_locked(object, HIP_TURNS_OTHER, UINT32_MAX);
        result = PTHREAD_BARRIER_SERIAL_THREAD;
    }
    hip_turns_unlock();
    return result;
}

/* ---- pthread_once: a routine may wait, and others must not wait for it out of our sight ---- */

struct once {
    struct once *next;
    const pthread_once_t *control;
};

static struct once *running; /* guarded by the lock of turns; entries lie on stacks */

static bool is_running(const pthread_once_t *control)
{
    const struct once *each = running;
    while (each && each->control != control)
        each = each->next;
    return each != NULL;
}

/* Runs even when the routine leaves by an exception. */
static void end_once(const struct once *once)
{
    hip_turns_lock();
    struct once **link = &running;
    while (*link != once)
        link = &(*link)->next;
    *link = once->next;
    hip_turns_wake_locked(once->control, HIP_TURNS_OTHER, UINT32_MAX);
    hip_turns_unlock();
}

int pthread_once(pthread_once_t *control, void (*routine)(void))
{
    if (hip_turns_are_bypassed())
        return HIP_LIBC(pthread_once)(control, routine);
    __attribute__((cleanup(end_once))) struct once once = {.control = control};
    hip_turns_lock();
    while (is_running(control))
        hip_turns_wait(control, HIP_TURNS_OTHER, NULL);
    once.next = running;
    running = &once;
    hip_turns_unlock();
    return HIP_LIBC(pthread_once)(control, routine);
}
