/* Turns: the order in which the program's host threads run, so that it does not depend on the host.
 * docs/design/host-threads.md, "Several host threads", has the rule and its reasons.
 *
 * From the program's first thread creation on, one ordered thread runs at a time. It has the turn
 * until it ends or waits in something that this library sees: HIP, locks, condition variables,
 * joins, barriers, semaphores, futex() of the C++ library, sleeps and yields. The next one is the
 * first in a queue of those that can run. When the queue is empty, the engine runs until something
 * that a thread waits for in HIP is done. Nothing here depends on how long host code takes.
 *
 * Threads are ordered if the program, or a library that uses HIP, creates them through
 * pthread_create (as std::thread does); so is the thread that creates the first of them. Others,
 * such as OpenMP's, run freely. They take part in waits but have no place in the order, and a HIP
 * call of one is reported.
 *
 * While a thread is inside of this library or of the platform (hip_turns_inside), wrappers only
 * call the C library. */
#ifndef HEDDLE_COMPONENTS_HIP_TURNS_HIP_TURNS_H
#define HEDDLE_COMPONENTS_HIP_TURNS_HIP_TURNS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum hip_turns_kind {
    HIP_TURNS_LOCK,   /* the caller tries again when it continues: mutexes, semaphores, ... */
    HIP_TURNS_SIGNAL, /* condition variables, futexes */
    HIP_TURNS_OTHER   /* joins, barriers, pthread_once */
};

struct hip_turns_thread;

/* True from the first ordered thread on. */
extern bool hip_turns_are_active;
extern _Thread_local int hip_turns_depth __attribute__((tls_model("initial-exec")));
/* Threads that wait for an address; a look without the lock may be late, never too early, when the
 * waiter looks again after it is counted. */
extern unsigned hip_turns_parked;

/* True if a wrapper has nothing to do but to call the C library. */
static inline bool hip_turns_are_bypassed(void)
{
    return !__atomic_load_n(&hip_turns_are_active, __ATOMIC_ACQUIRE)
           || __atomic_load_n(&hip_turns_depth, __ATOMIC_RELAXED) > 0;
}

/* Around code of this library and the platform; nests. */
static inline void hip_turns_inside(int step)
{
    __atomic_store_n(&hip_turns_depth, hip_turns_depth + step, __ATOMIC_RELAXED);
}

/* ---- for wrappers, without the lock ---- */

/* The lock of everything here. Cancellation is off while it is held. */
void hip_turns_lock(void);
void hip_turns_unlock(void);
/* A sleep or a yield; `run` does it for real, and its result is returned, or 0 when it was not run.
 * The thread keeps its turn, since host code takes no simulated time. One that has paused often in
 * a row polls: it gives up its turn, until `span_ns` of simulated time have passed while others
 * wait in HIP, and for real otherwise. */
int hip_turns_pause(uint64_t span_ns, int (*run)(void *argument), void *argument);
/* `time` of `clock`, and `span` from now, on CLOCK_MONOTONIC. */
struct timespec hip_turns_deadline(clockid_t clock, const struct timespec *time);
struct timespec hip_turns_later(const struct timespec *span);
/* True if the calling thread is ordered, or is the program's first one while none is ordered. */
bool hip_turns_is_ordered(void);
/* True if all threads of the process are ordered. With the lock. */
bool hip_turns_are_all_ordered(void);
/* While the engine runs for the calling thread: true if all other threads of the process, except
 * `helpers` of ours, are ordered and only wait for HIP or for each other. */
bool hip_turns_others_wait(unsigned helpers);
/* The system's number of the calling thread. */
int hip_turns_task(void);
/* True if the thread of that number is ordered. */
bool hip_turns_is_ordered_task(int task);
/* Counts an operation that does not wait; a long row of them ends the turn, since a thread may poll
 * with them. */
void hip_turns_count_operation(void);
/* Wakes up to `most` waiters of `address`; returns how many. Cheap when no thread waits. */
unsigned hip_turns_wake(const void *address, enum hip_turns_kind kind, unsigned most);

/* ---- for wrappers, with the lock ---- */

/* Waits until `address` is woken, releasing the lock meanwhile. False: the deadline (on
 * CLOCK_MONOTONIC; NULL: none) came first. An ordered thread's deadline only ends its wait when no
 * other can go on. */
bool hip_turns_wait(const void *address, enum hip_turns_kind kind, const struct timespec *deadline);
unsigned hip_turns_wake_locked(const void *address, enum hip_turns_kind kind, unsigned most);

/* ---- threads ---- */

/* Creates an ordered thread, or an ordinary one when `caller` is code that is not to be ordered. */
int hip_turns_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                     void *argument, const void *caller);
/* Waits until an ordered thread has ended; no effect on others. */
void hip_turns_join(pthread_t thread);
/* The thread was joined, or was detached and has ended. */
void hip_turns_release_thread(pthread_t thread, bool is_joined);
/* Ends a wait of `thread` that may be cancelled. */
void hip_turns_interrupt(pthread_t thread);

/* ---- for the API ---- */

/* Waits in turn until `ticket` is done or the simulation has failed; with `polls` at most until the
 * engine has run once. No effect, and false, for threads that are not ordered. Without `hip.lock`.
 */
bool hip_turns_wait_ticket(uint64_t ticket, bool polls);
/* The calling thread has given the device something to do: it does not poll. */
void hip_turns_progress(void);
/* The calling thread's place in the order of creation, from 1; 0: it has none. */
uint64_t hip_turns_number(void);
/* Warns once if the order of the calling thread is the host's. */
void hip_turns_check_caller(void);

/* pthread_create() of the C library, for a thread that is none of the program's. */
int hip_turns_real_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument);

/* The engine, as the room `api` offers it to this room. */
struct hip_turns_engine {
    bool (*is_done)(uint64_t ticket); /* also true if nothing will be done any more */
    uint64_t (*now_ps)(void);         /* simulated time */
    bool (*pass)(uint64_t span_ps);   /* Lets it pass. False: no simulation runs. */
    void (*step)(bool polls);         /* at most a poll when `polls` is set */
    void (*leave)(void);              /* code of the program runs from now on */
};
extern const struct hip_turns_engine hip_turns_engine;

#endif
