/* The order of the program's host threads; see hip_turns.h.
 *
 * Invariants. Under `hip_turns.lock`: at most one ordered thread has the turn (`hip_turns.holder`);
 * each other is in the queue of those that can go on (QUEUED), waits for an address (PARKED), for
 * HIP (IN_HIP, POLLING_HIP), has paused in vain too often (IDLE), or has ended. A thread that gives
 * up the turn picks the next one at once, so without a holder the queue is empty. All lists are in
 * an order that follows from earlier turns. */
#include <errno.h>

#include "hip_clock.h"
#include "hip_turns_internal.h"

enum {
    TICK_NS = 100000000,   /* how often waiting threads look after the holder */
    OPERATIONS_MAX = 1000, /* in one turn */
    PAUSES_MAX = 10,       /* in a row; then a thread is taken to be polling */
};

bool hip_turns_are_active;
unsigned hip_turns_parked;
_Thread_local int hip_turns_depth __attribute__((tls_model("initial-exec")));
_Thread_local struct hip_turns_thread *hip_turns_self __attribute__((tls_model("initial-exec")));
struct hip_turns hip_turns = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- lists ---- */

static void list_append(struct hip_turns_thread **list, struct hip_turns_thread *thread)
{
    while (*list)
        list = &(*list)->next;
    thread->next = NULL;
    *list = thread;
}

static void list_remove(struct hip_turns_thread **list, struct hip_turns_thread *thread)
{
    while (*list != thread)
        list = &(*list)->next;
    *list = thread->next;
}

/* ---- handing on the turn ---- */

static void let_continue(struct hip_turns_thread *thread)
{
    thread->may_continue = true;
    pthread_cond_signal(&thread->wakeup);
}

static bool waits_in_hip(const struct hip_turns_thread *thread)
{
    return thread->state == HIP_TURNS_IN_HIP || thread->state == HIP_TURNS_POLLING_HIP;
}

static struct hip_turns_thread *first_in_hip(void)
{
    struct hip_turns_thread *thread = hip_turns.threads;
    while (thread && !waits_in_hip(thread))
        thread = thread->next_created;
    return thread;
}

/* Lets all go on that have paused in vain. False: there are none. */
static bool queue_idle(void)
{
    bool has_idle = false;
    for (struct hip_turns_thread *t = hip_turns.threads; t; t = t->next_created) {
        if (t->state == HIP_TURNS_IDLE) {
            t->state = HIP_TURNS_QUEUED;
            list_append(&hip_turns.queue, t);
            has_idle = true;
        }
    }
    return has_idle;
}

void hip_turns_give(struct hip_turns_thread *thread)
{
    hip_turns.holder = thread;
    hip_turns.turn++;
    thread->operations = 0;
    if (!thread->runs_engine)
        hip_turns_engine.leave();
    let_continue(thread);
}

void hip_turns_unpark(struct hip_turns_thread *thread)
{
    list_remove(&hip_turns.parked, thread);
    __atomic_fetch_sub(&hip_turns_parked, 1, __ATOMIC_SEQ_CST);
}

/* Called when nothing else can happen: the wait with the earliest deadline ends, or its thread is
 * told to sleep until then. */
static void end_timed_wait(void)
{
    struct hip_turns_thread *first = NULL;
    for (struct hip_turns_thread *t = hip_turns.parked; t; t = t->next)
        if (t->is_ordered && t->has_deadline
            && (!first || hip_turns_is_before(&t->deadline, &first->deadline)))
            first = t;
    if (first && hip_turns_has_passed(&first->deadline)) {
        hip_turns_unpark(first);
        first->has_timed_out = true;
        first->pauses = 0;
        first->state = HIP_TURNS_HOLDING;
        hip_turns_give(first);
    } else if (first) {
        pthread_cond_signal(&first->wakeup);
    }
}

/* The thread that gave up the turn calls this; hip_turns.holder is NULL. */
static void choose_thread(void)
{
    if (!hip_turns.queue && !first_in_hip())
        queue_idle();
    struct hip_turns_thread *next = hip_turns.queue;
    if (next) {
        hip_turns.queue = next->next;
        next->state = HIP_TURNS_HOLDING;
        hip_turns_give(next);
    } else if ((next = first_in_hip())) {
        next->runs_engine = true;
        hip_turns_give(next);
    } else {
        end_timed_wait();
    }
}

void hip_turns_give_up(void)
{
    hip_turns.holder = NULL;
    choose_thread();
}

void hip_turns_make_ready(struct hip_turns_thread *thread)
{
    if (!thread->is_ordered) {
        let_continue(thread);
        return;
    }
    thread->state = HIP_TURNS_QUEUED;
    list_append(&hip_turns.queue, thread);
    if (!hip_turns.holder)
        choose_thread();
}

/* ---- waiting for the turn ---- */

/* The holder has been found to wait for nothing that we see: it goes on without a place. */
static void drop_holder(void)
{
    hip_turns.holder->is_ordered = false;
    hip_turns_give_up();
}

/* True if only a deadline, or a thread that is not ordered, can let a thread continue. */
static bool turn_is_stalled(void)
{
    return !hip_turns.holder;
}

/* After a wait that brought nothing: looks after the holder, deadlines, and locks that were
 * released out of our sight (by another process). */
static void check_progress(void)
{
    if (hip_turns.holder) {
        if (hip_turns_watch(hip_turns.holder, hip_turns.turn))
            drop_holder();
    } else if (hip_turns_self->state == HIP_TURNS_PARKED
               && hip_turns_self->kind == HIP_TURNS_LOCK) {
        hip_turns_unpark(hip_turns_self);
        hip_turns_make_ready(hip_turns_self);
    } else {
        choose_thread();
    }
}

void hip_turns_wait_to_continue(void)
{
    while (!hip_turns_self->may_continue) {
        struct timespec until = hip_turns_later(&(struct timespec){.tv_nsec = TICK_NS});
        bool waits_for_deadline = hip_turns_self->state == HIP_TURNS_PARKED
                                  && hip_turns_self->has_deadline
                                  && (!hip_turns_self->is_ordered || turn_is_stalled())
                                  && !hip_turns_has_passed(&hip_turns_self->deadline);
        if (waits_for_deadline && hip_turns_is_before(&hip_turns_self->deadline, &until))
            until = hip_turns_self->deadline;
        int error = pthread_cond_timedwait(&hip_turns_self->wakeup, &hip_turns.lock, &until);
        if (hip_turns_self->may_continue)
            break;
        if (!hip_turns_self->is_ordered && hip_turns_self->state == HIP_TURNS_PARKED
            && hip_turns_self->has_deadline && hip_turns_has_passed(&hip_turns_self->deadline)) {
            hip_turns_unpark(hip_turns_self);
            hip_turns_self->has_timed_out = true;
            break;
        }
        if (error == ETIMEDOUT)
            check_progress();
    }
    hip_turns_self->may_continue = false;
    hip_turns_self->state = HIP_TURNS_HOLDING;
}

bool hip_turns_wait(const void *address, enum hip_turns_kind kind, const struct timespec *deadline)
{
    hip_turns_self->address = address;
    hip_turns_self->kind = kind;
    hip_turns_self->has_timed_out = false;
    hip_turns_self->has_deadline = deadline != NULL;
    if (deadline)
        hip_turns_self->deadline = *deadline;
    hip_turns_self->state = HIP_TURNS_PARKED;
    list_append(&hip_turns.parked, hip_turns_self);
    __atomic_fetch_add(&hip_turns_parked, 1, __ATOMIC_SEQ_CST);
    if (hip_turns_self->is_ordered)
        hip_turns_give_up();
    hip_turns_wait_to_continue();
    hip_turns_self->pauses = 0;
    return !hip_turns_self->has_timed_out;
}

unsigned hip_turns_wake_locked(const void *address, enum hip_turns_kind kind, unsigned most)
{
    unsigned woken = 0;
    for (struct hip_turns_thread *t = hip_turns.parked, *next; t && woken < most; t = next) {
        next = t->next;
        if (t->address == address && t->kind == kind) {
            hip_turns_unpark(t);
            hip_turns_make_ready(t);
            woken++;
        }
    }
    return woken;
}

unsigned hip_turns_wake(const void *address, enum hip_turns_kind kind, unsigned most)
{
    if (__atomic_load_n(&hip_turns_parked, __ATOMIC_SEQ_CST) == 0)
        return 0;
    hip_turns_lock();
    unsigned woken = hip_turns_wake_locked(address, kind, most);
    hip_turns_unlock();
    return woken;
}

static int sleep_for_real(int (*run)(void *argument), void *argument)
{
    hip_turns_self->sleeps = true;
    hip_turns_unlock();
    int result = run ? run(argument) : 0;
    hip_turns_lock();
    hip_turns_self->sleeps = false;
    return result;
}

/* The thread goes on after all others that can. A sleep in simulated time is part of a turn. */
static int go_last(int (*run)(void *argument), void *argument)
{
    int result = 0;
    hip_turns_self->state = HIP_TURNS_QUEUED;
    list_append(&hip_turns.queue, hip_turns_self);
    hip_turns_give_up();
    if (!hip_clock_is_simulated)
        result = sleep_for_real(run, argument);
    hip_turns_wait_to_continue();
    if (hip_clock_is_simulated)
        result = sleep_for_real(run, argument);
    return result;
}

int hip_turns_pause(uint64_t span_ns, int (*run)(void *argument), void *argument)
{
    uint64_t now_ps = hip_turns_engine.now_ps();
    int result = 0;
    hip_turns_lock();
    if (!hip_turns_self->is_ordered || ++hip_turns_self->pauses <= PAUSES_MAX) {
        result = sleep_for_real(run, argument);
    } else if (first_in_hip()) {
        hip_turns_self->wake_ps =
            span_ns > UINT64_MAX / 2000 ? UINT64_MAX : now_ps + 1000 * span_ns;
        hip_turns_self->state = HIP_TURNS_IDLE;
        hip_turns_give_up();
        hip_turns_wait_to_continue();
    } else {
        result = go_last(run, argument);
    }
    hip_turns_unlock();
    return result;
}

void hip_turns_count_operation(void)
{
    if (hip_turns_self && hip_turns_self->is_ordered
        && ++hip_turns_self->operations > OPERATIONS_MAX) {
        hip_turns_self->pauses += PAUSES_MAX; /* it polls */
        hip_turns_pause(0, NULL, NULL);
    }
}

/* ---- waiting in HIP ---- */

/* The engine has run: threads whose wait is over, also by time, go on in the order of their
 * creation. */
static void queue_after_step(uint64_t now_ps)
{
    for (struct hip_turns_thread *t = hip_turns.threads; t; t = t->next_created) {
        if ((t->state == HIP_TURNS_IDLE && t->wake_ps <= now_ps)
            || (waits_in_hip(t) && t->is_wait_over)) {
            t->state = HIP_TURNS_QUEUED;
            list_append(&hip_turns.queue, t);
        }
    }
}

/* Notes which waits are over; with `has_stepped` those of polling threads are, too. Only the holder
 * of the turn changes what is read here, and that is the caller. True: at least one is over. */
static bool mark_finished_waits(bool has_stepped)
{
    bool has_finished = false;
    for (struct hip_turns_thread *t = hip_turns.threads; t; t = t->next_created) {
        if (waits_in_hip(t)) {
            uint64_t ticket = t->ticket;
            bool polls = has_stepped && t->state == HIP_TURNS_POLLING_HIP;
            pthread_mutex_unlock(&hip_turns.lock);
            bool is_done = hip_turns_engine.is_done(ticket);
            pthread_mutex_lock(&hip_turns.lock);
            t->is_wait_over = polls || is_done;
            has_finished |= t->is_wait_over;
        }
    }
    return has_finished;
}

/* The engine may have run meanwhile, inside of a call that has kept its turn (loading a module):
 * the threads that waited for what was done then go on first. */
static void run_engine(void)
{
    bool polls = false;
    for (struct hip_turns_thread *t = hip_turns.threads; t; t = t->next_created)
        polls |= t->state == HIP_TURNS_POLLING_HIP;
    hip_turns_self->runs_engine = false;
    bool has_finished = mark_finished_waits(false);
    pthread_mutex_unlock(&hip_turns.lock);
    if (!has_finished)
        hip_turns_engine.step(polls);
    uint64_t now_ps = hip_turns_engine.now_ps();
    pthread_mutex_lock(&hip_turns.lock);
    if (!has_finished)
        mark_finished_waits(true);
    queue_after_step(now_ps);
    hip_turns_give_up();
}

bool hip_turns_wait_ticket(uint64_t ticket, bool polls)
{
    if (!__atomic_load_n(&hip_turns_are_active, __ATOMIC_ACQUIRE))
        return false;
    bool is_done = hip_turns_engine.is_done(ticket);
    hip_turns_lock();
    bool is_ordered = hip_turns_self->is_ordered;
    if (is_done || !is_ordered) {
        hip_turns_unlock();
        return is_ordered;
    }
    hip_turns_self->ticket = ticket;
    hip_turns_self->is_wait_over = false;
    hip_turns_self->state = polls ? HIP_TURNS_POLLING_HIP : HIP_TURNS_IN_HIP;
    hip_turns_give_up();
    for (;;) {
        enum hip_turns_state state = hip_turns_self->state;
        hip_turns_wait_to_continue();
        if (!hip_turns_self->runs_engine)
            break;
        hip_turns_self->state = state;
        run_engine();
    }
    hip_turns_self->pauses = 0;
    hip_turns_unlock();
    return true;
}

void hip_turns_progress(void)
{
    if (hip_turns_self)
        hip_turns_self->pauses = 0;
}
