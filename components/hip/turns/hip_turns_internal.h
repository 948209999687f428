/* State that the files hip_turns*.c share: the records of threads, the turn, and functions of the
 * host. Included by them alone. */
#ifndef HEDDLE_COMPONENTS_HIP_TURNS_HIP_TURNS_INTERNAL_H
#define HEDDLE_COMPONENTS_HIP_TURNS_HIP_TURNS_INTERNAL_H

#include "hip_turns.h"

enum hip_turns_state {
    HIP_TURNS_HOLDING, /* and all threads that are not ordered while they run */
    HIP_TURNS_QUEUED,
    HIP_TURNS_PARKED,
    HIP_TURNS_IN_HIP,
    HIP_TURNS_POLLING_HIP,
    HIP_TURNS_IDLE,
    HIP_TURNS_ENDED
};

#define HIP_TURNS_NUMBER_NONE 0 /* a thread that was never ordered; others begin with 1 */

struct hip_turns_thread {
    uint64_t number; /* by creation */
    struct hip_turns_thread *next_created;
    struct hip_turns_thread *next; /* in the queue, or among the parked */
    pthread_t handle;
    pthread_cond_t wakeup;
    int task;   /* the system's number; 0: not started yet */
    int *depth; /* its hip_turns_depth; NULL: not started yet */
    int cancel_state;
    enum hip_turns_state state;
    enum hip_turns_kind kind;
    const void *address; /* the address that it waits for */
    struct timespec deadline;
    uint64_t ticket;
    uint64_t wake_ps; /* when an idle thread continues */
    unsigned operations, pauses, exit_rounds;
    bool has_handle;
    bool is_ordered;
    bool is_detached;
    bool may_continue; /* what hip_turns_wait_to_continue() waits for */
    bool has_deadline, has_timed_out;
    bool has_called_hip; /* others may depend on its calls */
    bool sleeps;         /* really, in a call that we forwarded */
    bool runs_engine;    /* it has the turn to run the engine for all that wait in HIP */
    bool is_wait_over;   /* in HIP */
    void *(*start)(void *);
    void *argument;
};

struct hip_turns {
    pthread_mutex_t lock;
    uint64_t turn;                           /* number of the current turn */
    struct hip_turns_thread *threads;        /* ordered ones, by number */
    struct hip_turns_thread *holder;         /* has the turn */
    struct hip_turns_thread *queue, *parked; /* first of each */
};
extern struct hip_turns hip_turns;

/* The calling thread; NULL before its first wait when it is not ordered. */
extern _Thread_local struct hip_turns_thread *hip_turns_self
    __attribute__((tls_model("initial-exec")));

/* ---- hip_turns.c; with the lock ---- */

/* Gives `thread` the turn, which no thread has. */
void hip_turns_give(struct hip_turns_thread *thread);
/* The holder's turn is over. */
void hip_turns_give_up(void);
/* The thread can go on: when its turn comes, or at once when it is not ordered. */
void hip_turns_make_ready(struct hip_turns_thread *thread);
/* Takes it from those that wait for an address. */
void hip_turns_unpark(struct hip_turns_thread *thread);
/* Waits until the calling thread may go on, its deadline has passed, or it is to run the engine. */
void hip_turns_wait_to_continue(void);

/* ---- hip_turns_watch.c ---- */

/* The program runs on a platform, and the order is not switched off, by HEDDLE_HOST_THREADS=free or
 * as thread sanitizer watches. */
bool hip_turns_are_wanted(void);

/* True if threads created by the code at `caller` are ordered: code of the program, of the C++
 * library, or of a library that uses HIP. */
bool hip_turns_must_order(const void *caller);

/* Looks at `holder`, which has turn number `turn`. True: it has used so much processor time, or has
 * been asleep for so long outside of what we see, that others should not wait for it. A warning was
 * written. */
bool hip_turns_watch(const struct hip_turns_thread *holder, uint64_t turn);

bool hip_turns_is_before(const struct timespec *a, const struct timespec *b);
bool hip_turns_has_passed(const struct timespec *deadline); /* on CLOCK_MONOTONIC */

#endif
