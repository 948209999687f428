/* The threads of hip_turns.h: their creation and ends, and the lock. Invariant: a record lives from
 * the creation of its thread, or for threads that are not ordered from their first wait, until the
 * thread has ended and, if it was ordered, was joined or detached. */
#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "components/hip/common/hip_common.h"

#include "hip_turns_internal.h"

enum { EXIT_ROUNDS = 3 /* rounds of destructors that may run before the end of a thread counts */ };

static struct {
    pthread_once_t once;
    pthread_key_t key; /* its destructor tells the end of a thread */
    pthread_condattr_t clock;
    uint64_t created; /* ordered threads */
    bool is_child;    /* a process that was forked */
} ordered_threads = {.once = PTHREAD_ONCE_INIT};

static struct hip_turns_thread *find_thread(pthread_t handle)
{
    struct hip_turns_thread *thread = hip_turns.threads;
    while (thread && !(thread->has_handle && pthread_equal(thread->handle, handle)))
        thread = thread->next_created;
    return thread;
}

static void release_thread(struct hip_turns_thread *thread)
{
    struct hip_turns_thread **link = &hip_turns.threads;
    while (*link != thread)
        link = &(*link)->next_created;
    *link = thread->next_created;
    pthread_cond_destroy(&thread->wakeup);
    hip_release(thread);
}

static struct hip_turns_thread *add_thread(void)
{
    struct hip_turns_thread *thread = hip_allocate(sizeof *thread);
    pthread_cond_init(&thread->wakeup, &ordered_threads.clock);
    return thread;
}

/* ---- the lock, and the ends of threads ---- */

static void end_thread(void *record)
{
    struct hip_turns_thread *thread = record;
    if (++thread->exit_rounds < EXIT_ROUNDS) {
        pthread_setspecific(ordered_threads.key,
                            thread); /* destructors of the program may still wait */
        return;
    }
    hip_turns_lock();
    bool is_ordered = thread->is_ordered;
    thread->is_ordered = false;
    thread->state = HIP_TURNS_ENDED;
    hip_turns_wake_locked(thread, HIP_TURNS_OTHER, UINT32_MAX);
    if (is_ordered)
        hip_turns_give_up();
    if (thread->number == HIP_TURNS_NUMBER_NONE) {
        pthread_cond_destroy(&thread->wakeup);
        hip_release(thread);
    } else if (thread->is_detached) {
        release_thread(thread);
    }
    hip_turns_self = NULL;
    pthread_mutex_unlock(
        &hip_turns.lock); /* cancellation stays off; the depth keeps wrappers out */
}

/* Only the calling thread lives in the child, and it is the child's first: nothing to order. */
static void after_fork(void)
{
    ordered_threads.is_child = true;
    __atomic_store_n(&hip_turns_are_active, false, __ATOMIC_RELEASE);
}

static void prepare_threads(void)
{
    pthread_condattr_init(&ordered_threads.clock);
    pthread_condattr_setclock(&ordered_threads.clock, CLOCK_MONOTONIC);
    pthread_key_create(&ordered_threads.key, end_thread);
    pthread_atfork(NULL, NULL, after_fork);
}

static void set_place(void)
{
    hip_turns_self->task = (int)syscall(SYS_gettid);
    __atomic_store_n(&hip_turns_self->depth, &hip_turns_depth, __ATOMIC_RELEASE);
    pthread_setspecific(ordered_threads.key, hip_turns_self);
}

/* The calling thread has a record from its first wait on; without one it is not ordered. */
static void make_own_record(void)
{
    if (!hip_turns_self) {
        hip_turns_self = add_thread();
        hip_turns_self->handle = pthread_self();
        set_place();
    }
}

uint64_t hip_turns_number(void)
{
    return hip_turns_self ? hip_turns_self->number : HIP_TURNS_NUMBER_NONE;
}

bool hip_turns_is_ordered(void)
{
    static _Thread_local int task;
    if (__atomic_load_n(&hip_turns_are_active, __ATOMIC_ACQUIRE))
        return hip_turns_self && hip_turns_self->is_ordered;
    task = task ? task : (int)syscall(SYS_gettid);
    return task == getpid();
}

int hip_turns_task(void)
{
    return hip_turns_self ? hip_turns_self->task : (int)syscall(SYS_gettid);
}

bool hip_turns_is_ordered_task(int task)
{
    hip_turns_lock();
    const struct hip_turns_thread *thread = hip_turns.threads;
    while (thread && !(thread->is_ordered && thread->task == task))
        thread = thread->next_created;
    hip_turns_unlock();
    return thread != NULL;
}

static uint64_t count_threads(void)
{
    struct stat folder; /* it has a link for each thread, and two more */
    return stat("/proc/self/task", &folder) == 0 ? folder.st_nlink - 2 : UINT64_MAX;
}

bool hip_turns_others_wait(unsigned helpers)
{
    uint64_t others = count_threads() - helpers;
    bool is_ordered = false;
    if (!hip_turns_are_active)
        return others == 1;
    if (pthread_mutex_trylock(&hip_turns.lock) != 0)
        return false;
    for (struct hip_turns_thread *t = hip_turns.threads; t; t = t->next_created) {
        bool waits =
            t->state == HIP_TURNS_IN_HIP || (t->state == HIP_TURNS_PARKED && !t->has_deadline);
        is_ordered |= t->is_ordered && t == hip_turns_self;
        others -= t->is_ordered && (waits || t == hip_turns_self);
    }
    pthread_mutex_unlock(&hip_turns.lock);
    return others == !is_ordered;
}

bool hip_turns_are_all_ordered(void)
{
    uint64_t others = count_threads();
    for (struct hip_turns_thread *t = hip_turns.threads; t; t = t->next_created)
        others -= t->is_ordered && t->state != HIP_TURNS_ENDED;
    return others == 0;
}

void hip_turns_lock(void)
{
    int old;
    hip_turns_inside(1);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
    pthread_once(&ordered_threads.once, prepare_threads);
    pthread_mutex_lock(&hip_turns.lock);
    make_own_record();
    hip_turns_self->cancel_state = old;
}

void hip_turns_unlock(void)
{
    int old = hip_turns_self->cancel_state;
    pthread_mutex_unlock(&hip_turns.lock);
    pthread_setcancelstate(old, NULL);
    hip_turns_inside(-1);
}

/* ---- threads ---- */

static void count(struct hip_turns_thread *thread)
{
    thread->number = ++ordered_threads.created;
    thread->is_ordered = true;
    struct hip_turns_thread **link = &hip_turns.threads;
    while (*link)
        link = &(*link)->next_created;
    *link = thread;
}

/* The first thread of the order, as it creates another: it has the turn. */
static void start_order(void)
{
    count(hip_turns_self);
    hip_turns_self->has_handle = true;
    hip_turns_self->state = HIP_TURNS_HOLDING;
    hip_turns_give(hip_turns_self);
    hip_turns_self->may_continue = false;
    __atomic_store_n(&hip_turns_are_active, true, __ATOMIC_RELEASE);
}

static void *begin_thread(void *record)
{
    hip_turns_self = record;
    set_place();
    void *(*start)(void *) = hip_turns_self->start;
    void *argument = hip_turns_self->argument;
    hip_turns_lock();
    hip_turns_wait_to_continue();
    hip_turns_unlock();
    return start(argument);
}

/* A thread of this library or of the platform: never seen by wrappers. Its record is no memory of
 * the heap: freed by a thread that lives on, it would stay there, and the program would find its
 * own memory elsewhere with more threads. */
struct hidden {
    void *(*start)(void *);
    void *argument;
};

static void *begin_hidden(void *argument)
{
    struct hidden hidden = *(struct hidden *)argument;
    munmap(argument, sizeof hidden);
    hip_turns_inside(1);
    void *result = hidden.start(hidden.argument);
    hip_turns_inside(-1);
    return result;
}

static int create_hidden(pthread_t *thread, const pthread_attr_t *attributes,
                         void *(*start)(void *), void *argument)
{
    struct hidden *hidden =
        mmap(NULL, sizeof *hidden, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (hidden == MAP_FAILED)
        return errno;
    *hidden = (struct hidden){start, argument};
    int error = hip_turns_real_create(thread, attributes, begin_hidden, hidden);
    if (error)
        munmap(hidden, sizeof *hidden);
    return error;
}

int hip_turns_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                     void *argument, const void *caller)
{
    int detach_state = PTHREAD_CREATE_JOINABLE;
    if (hip_turns_depth > 0)
        return create_hidden(thread, attributes, start, argument);
    if (ordered_threads.is_child || !hip_turns_are_wanted() || !hip_turns_must_order(caller))
        return hip_turns_real_create(thread, attributes, start, argument);
    hip_turns_lock();
    if (!hip_turns_are_active)
        start_order();
    struct hip_turns_thread *child = add_thread();
    child->start = start;
    child->argument = argument;
    if (attributes)
        pthread_attr_getdetachstate(attributes, &detach_state);
    child->is_detached = detach_state == PTHREAD_CREATE_DETACHED;
    /* The new thread waits for the lock that we hold, so it finds its record complete. */
    int error = hip_turns_real_create(&child->handle, attributes, begin_thread, child);
    if (error) {
        pthread_cond_destroy(&child->wakeup);
        hip_release(child);
    } else {
        *thread = child->handle;
        child->has_handle = true;
        count(child);
        hip_turns_make_ready(child);
    }
    hip_turns_unlock();
    return error;
}

void hip_turns_join(pthread_t handle)
{
    hip_turns_lock();
    const struct hip_turns_thread *thread = find_thread(handle);
    while (thread && thread != hip_turns_self && thread->state != HIP_TURNS_ENDED) {
        hip_turns_wait(thread, HIP_TURNS_OTHER, NULL);
        thread = find_thread(handle);
    }
    hip_turns_unlock();
}

void hip_turns_release_thread(pthread_t handle, bool is_joined)
{
    hip_turns_lock();
    struct hip_turns_thread *thread = find_thread(handle);
    if (thread && (is_joined || thread->state == HIP_TURNS_ENDED))
        release_thread(thread);
    else if (thread)
        thread->is_detached = true;
    hip_turns_unlock();
}

void hip_turns_interrupt(pthread_t handle)
{
    hip_turns_lock();
    struct hip_turns_thread *thread = find_thread(handle);
    if (thread && thread->state == HIP_TURNS_PARKED && thread->kind == HIP_TURNS_SIGNAL) {
        hip_turns_unpark(thread);
        hip_turns_make_ready(thread);
    }
    hip_turns_unlock();
}

void hip_turns_check_caller(void)
{
    static _Thread_local bool is_known;
    static unsigned others;
    static bool has_warned;
    bool is_ordered = hip_turns_self && hip_turns_self->is_ordered;
    if (is_known)
        return;
    is_known = true;
    if (is_ordered)
        hip_turns_self->has_called_hip = true;
    bool is_in_order = is_ordered
                       || (__atomic_fetch_add(&others, 1, __ATOMIC_RELAXED) == 0
                           && !__atomic_load_n(&hip_turns_are_active, __ATOMIC_ACQUIRE));
    if (!is_in_order && !__atomic_exchange_n(&has_warned, true, __ATOMIC_RELAXED)) {
        hip_say("HIP is called by several host threads that heddle does not order (OpenMP's, or "
                "created by a library): cycle counts of this run may differ from others");
    }
}
