/* Host threads take turns (components/hip/turns/hip_turns.h): whatever their host work takes, what
 * they do comes in the same order. Each scenario notes what happens, without a lock of its own, and
 * is run several times with random host work in between; the notes must be the same each time, and
 * where the rule gives them, the expected ones. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "hip_fixture.h"

enum { THREADS = 5, ROUNDS = 20, REPEATS = 8, NOTES_MAX = 4096 };

static struct {
    uint64_t list[NOTES_MAX];
    size_t count;
} notes;

static void note(uint64_t value)
{
    if (notes.count < NOTES_MAX)
        notes.list[notes.count++] = value;
}

/* Host work of random length, and a sleep of random length. */
static void dawdle(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    unsigned random = (unsigned)now.tv_nsec * 2654435761u >> 8;
    usleep(random % 16 == 0 ? random / 16 % 400 : 0);
    for (volatile unsigned work = random / 64 % 30000; work > 0;)
        work = work - 1;
}

static void *number(int i)
{
    return (void *)(intptr_t)i;
}

/* THREADS threads that are given their numbers, from 1 on. */
static void run_threads(void *(*body)(void *))
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        cr_assert_eq(pthread_create(&threads[i], NULL, body, number(i + 1)), 0);
        dawdle();
    }
    for (int i = 0; i < THREADS; i++) {
        void *result = NULL;
        cr_assert_eq(pthread_join(threads[i], &result), 0);
        note((uintptr_t)result);
    }
}

static void repeat(void (*scenario)(void))
{
    static uint64_t first[NOTES_MAX];
    size_t count = 0;
    for (int i = 0; i < REPEATS; i++) {
        notes.count = 0;
        scenario();
        cr_assert(notes.count > 0 && notes.count < NOTES_MAX);
        if (i == 0) {
            count = notes.count;
            memcpy(first, notes.list, sizeof first);
        }
        cr_assert_eq(notes.count, count, "%zu notes in run %d, %zu in the first", notes.count, i,
                     count);
        for (size_t n = 0; n < count; n++) {
            cr_assert_eq(notes.list[n], first[n], "note %zu of run %d is %#lx, was %#lx", n, i,
                         (unsigned long)notes.list[n], (unsigned long)first[n]);
        }
    }
}

/* ---- order of creation ---- */

static void *note_number(void *argument)
{
    if ((intptr_t)argument == 1)
        usleep(20000); /* the first has the most to do */
    dawdle();
    note((uintptr_t)argument);
    return argument;
}

static void creation(void)
{
    run_threads(note_number);
    for (int i = 0; i < THREADS; i++) {
        cr_assert_eq(notes.list[i], (uint64_t)i + 1);
        cr_assert_eq(notes.list[THREADS + i], (uint64_t)i + 1);
    }
}

Test(hip_turns, threads_that_do_not_wait_go_in_order_of_creation)
{
    repeat(creation);
}

/* ---- locks ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t permits;
static pthread_barrier_t barrier;
static pthread_once_t once;
static int in_mutex, in_table, in_spin, in_futex, shared_value;

/* In a lock whose holders are counted. */
static void alone(int *holders, void *argument)
{
    cr_assert_eq((*holders)++, 0);
    dawdle();
    sched_yield();
    note((uintptr_t)argument);
    (*holders)--;
}

static void prepare_once(void)
{
    usleep(1000);
    sched_yield();
    shared_value = 1;
    note(99);
}

static void *use_locks(void *argument)
{
    pthread_once(&once, prepare_once);
    cr_assert_eq(shared_value, 1);
    for (int round = 0; round < ROUNDS; round++) {
        dawdle();
        pthread_mutex_lock(&mutex);
        alone(&in_mutex, argument);
        pthread_mutex_unlock(&mutex);
        pthread_rwlock_rdlock(&table_lock);
        dawdle();
        pthread_rwlock_unlock(&table_lock);
        pthread_rwlock_wrlock(&table_lock);
        alone(&in_table, argument);
        pthread_rwlock_unlock(&table_lock);
        sem_wait(&permits);
        dawdle();
        note((uintptr_t)argument + 16);
        sem_post(&permits);
        while (pthread_spin_trylock(&spin) != 0)
            dawdle();
        alone(&in_spin, argument);
        pthread_spin_unlock(&spin);
        if (round % 8 == 0 && pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
            note((uintptr_t)argument + 32);
    }
    return argument;
}

static void locks(void)
{
    sem_init(&permits, 0, 2);
    pthread_spin_init(&spin, 0);
    pthread_barrier_init(&barrier, NULL, THREADS);
    once = PTHREAD_ONCE_INIT;
    shared_value = 0;
    run_threads(use_locks);
    pthread_barrier_destroy(&barrier);
    pthread_spin_destroy(&spin);
    sem_destroy(&permits);
}

Test(hip_turns, locks_semaphores_and_barriers_are_taken_in_the_same_order)
{
    repeat(locks);
}

Test(hip_turns, mistakes_with_locks_get_the_answer_of_the_c_library)
{
    pthread_mutexattr_t kind;
    pthread_mutex_t checked;
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, note_number, number(2)), 0);
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&checked, &kind);
    cr_assert_eq(pthread_mutex_lock(&checked), 0);
    cr_assert_eq(pthread_mutex_lock(&checked), EDEADLK);
    cr_assert_eq(pthread_mutex_trylock(&checked), EBUSY);
    cr_assert_eq(pthread_mutex_unlock(&checked), 0);
    cr_assert_eq(pthread_mutex_unlock(&checked), EPERM);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&checked, &kind);
    cr_assert_eq(pthread_mutex_lock(&checked), 0);
    cr_assert_eq(pthread_mutex_lock(&checked), 0);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    cr_assert_eq(pthread_join(pthread_self(), NULL), EDEADLK);
}

/* ---- condition variables and futexes ---- */

static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
static int stock, produced, word;

static void *produce_or_consume(void *argument)
{
    bool produces = (uintptr_t)argument % 2 == 1; /* 3 of 5 */
    for (int round = 0; round < 2 * ROUNDS; round++) {
        dawdle();
        pthread_mutex_lock(&mutex);
        if (produces && produced < 2 * 2 * ROUNDS) {
            produced++;
            while (stock == 3)
                pthread_cond_wait(&emptied, &mutex);
            stock++;
            pthread_cond_signal(&filled);
            note((uintptr_t)argument);
        } else if (!produces) {
            while (stock == 0)
                pthread_cond_wait(&filled, &mutex);
            stock--;
            pthread_cond_broadcast(&emptied);
            note((uintptr_t)argument + 16);
        }
        pthread_mutex_unlock(&mutex);
    }
    return argument;
}

static void conditions(void)
{
    stock = produced = 0;
    run_threads(produce_or_consume);
    cr_assert_eq(stock, 0);
}

Test(hip_turns, condition_variables_wake_the_same_threads)
{
    repeat(conditions);
}

/* A mutex of futexes: 0 free, 1 taken. */
static void *use_futex(void *argument)
{
    for (int round = 0; round < ROUNDS; round++) {
        dawdle();
        while (__atomic_exchange_n(&word, 1, __ATOMIC_SEQ_CST) == 1) {
            long result = syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
            cr_assert(result == 0 || errno == EAGAIN);
        }
        alone(&in_futex, argument);
        __atomic_store_n(&word, 0, __ATOMIC_SEQ_CST);
        syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    }
    return argument;
}

static void futexes(void)
{
    word = 0;
    run_threads(use_futex);
}

Test(hip_turns, futexes_are_seen)
{
    repeat(futexes);
}

static struct timespec in_ms(long milliseconds)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_nsec += milliseconds * 1000000;
    time.tv_sec += time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    return time;
}

/* Nobody signals: each deadline passes, but only when no other thread can go on. */
static void *wait_in_vain(void *argument)
{
    struct timespec soon = in_ms(5 * (long)(intptr_t)argument);
    pthread_mutex_lock(&mutex);
    int error = pthread_cond_timedwait(&filled, &mutex, &soon);
    pthread_mutex_unlock(&mutex);
    note((uintptr_t)argument + (error == ETIMEDOUT ? 0 : 100));
    soon = in_ms(20 * (long)(intptr_t)argument);
    note(sem_timedwait(&permits, &soon) == -1 && errno == ETIMEDOUT);
    note(pthread_mutex_timedlock(&mutex, &soon) == 0);
    usleep(
        30000); /* longer than others wait for the mutex: their time does not run out meanwhile */
    pthread_mutex_unlock(&mutex);
    return argument;
}

static void deadlines(void)
{
    sem_init(&permits, 0, 0);
    run_threads(wait_in_vain);
    sem_destroy(&permits);
}

/* When several deadlines pass, whose comes first is the host's matter. */
Test(hip_turns, deadlines_pass_when_nobody_else_can_go_on)
{
    deadlines();
    cr_assert_eq(notes.count, 4 * THREADS);
    for (size_t i = 0; i < notes.count; i++)
        cr_assert(notes.list[i] <= THREADS);
}

/* ---- ends of threads ---- */

static void *leave_by_exit(void *argument)
{
    if ((uintptr_t)argument == 3)
        pthread_detach(pthread_self());
    dawdle();
    note((uintptr_t)argument);
    pthread_exit(argument);
}

static void unlock(void *argument)
{
    pthread_mutex_unlock(argument);
}

static void *wait_for_cancellation(void *argument)
{
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(unlock, &mutex);
    note(50);
    for (;;)
        pthread_cond_wait(&filled, &mutex);
    pthread_cleanup_pop(1);
    return argument;
}

static void ends(void)
{
    pthread_t threads[3], cancelled;
    pthread_attr_t detached;
    void *result = NULL;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    cr_assert_eq(pthread_create(&cancelled, NULL, wait_for_cancellation, NULL), 0);
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(
            pthread_create(&threads[i], i == 1 ? &detached : NULL, leave_by_exit, number(i + 1)),
            0);
    }
    cr_assert_eq(pthread_join(threads[0], &result), 0);
    note((uintptr_t)result);
    cr_assert_eq(pthread_cancel(cancelled), 0);
    cr_assert_eq(pthread_join(cancelled, &result), 0);
    cr_assert_eq(result, PTHREAD_CANCELED);
    cr_assert_eq(pthread_mutex_trylock(&mutex), 0, "the cleanup handler has unlocked it");
    pthread_mutex_unlock(&mutex);
    usleep(2000); /* the detached ones end */
}

Test(hip_turns, threads_may_exit_detach_and_be_cancelled)
{
    repeat(ends);
}

/* ---- HIP ---- */

static int *addresses[THREADS + 1];

static void *use_hip(void *argument)
{
    uintptr_t me = (uintptr_t)argument;
    int values[64], back[64];
    hipStream_t stream;
    hipEvent_t event;
    dawdle();
    expect(hipStreamCreate(&stream), hipSuccess);
    expect(hipEventCreate(&event), hipSuccess);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < 64; i++)
            values[i] = (int)me * 1000 + round * 64 + i;
        dawdle();
        expect(hipMalloc((void **)&addresses[me], 256 * me), hipSuccess);
        note((uintptr_t)addresses[me]);
        expect(hipMemcpyAsync(addresses[me], values, sizeof values, hipMemcpyHostToDevice, stream),
               hipSuccess);
        expect(hipEventRecord(event, stream), hipSuccess);
        while (me == 2 && hipEventQuery(event) == hipErrorNotReady)
            dawdle();
        expect(hipEventSynchronize(event), hipSuccess);
        expect(hipMemcpy(back, addresses[me], sizeof back, hipMemcpyDeviceToHost), hipSuccess);
        cr_assert_arr_eq(values, back, sizeof back);
        dawdle();
        expect(hipFree(addresses[me]), hipSuccess);
        note(me);
    }
    expect(hipStreamDestroy(stream), hipSuccess);
    expect(hipEventDestroy(event), hipSuccess);
    return argument;
}

/* Addresses are noted relative to the first: the mock platform hands each out only once. */
static void hip_calls(void)
{
    run_threads(use_hip);
    uint64_t base = notes.list[0];
    for (size_t i = 0; i < notes.count; i++)
        notes.list[i] -= notes.list[i] >= base ? base : 0;
}

Test(hip_turns, hip_calls_come_in_the_same_order)
{
    repeat(hip_calls);
    cr_assert(notes.count > 2 * THREADS * ROUNDS);
}

static int flag;

static void *poll_or_set(void *argument)
{
    if ((uintptr_t)argument == 1) {
        unsigned rounds = 0;
        while (!__atomic_load_n(&flag, __ATOMIC_ACQUIRE)) {
            usleep(100);
            rounds++;
        }
        note(rounds);
    } else {
        use_hip(argument);
        flag = 1;
    }
    return argument;
}

static void polls(void)
{
    flag = 0;
    run_threads(poll_or_set);
}

Test(hip_turns, a_thread_that_sleeps_and_polls_does_not_stop_the_simulation)
{
    polls();
    cr_assert_eq(flag, 1);
}

/* Nothing but a lock is seen of this thread's polling. */
static void *poll_locked_or_set(void *argument)
{
    bool seen = false;
    while ((uintptr_t)argument == 1 && !seen) {
        pthread_mutex_lock(&mutex);
        seen = flag != 0;
        pthread_mutex_unlock(&mutex);
    }
    if ((uintptr_t)argument == 2) {
        use_hip(argument);
        pthread_mutex_lock(&mutex);
        flag = 1;
        pthread_mutex_unlock(&mutex);
    }
    return argument;
}

static void locked_polls(void)
{
    flag = 0;
    run_threads(poll_locked_or_set);
    for (size_t i = 0; i < notes.count; i++)
        notes.list[i] = notes.list[i] > 100 ? 0 : notes.list[i]; /* addresses */
}

Test(hip_turns, a_thread_that_polls_under_a_lock_does_not_stop_the_others)
{
    repeat(locked_polls);
    cr_assert_eq(flag, 1);
}

static void *spin_or_set(void *argument)
{
    if ((uintptr_t)argument == 1) {
        while (!__atomic_load_n(&flag, __ATOMIC_ACQUIRE)) {
        }
    }
    __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
    return argument;
}

Test(hip_turns, a_thread_that_spins_loses_its_place)
{
    setenv("HEDDLE_HOST_PATIENCE", "1", 1);
    flag = 0;
    run_threads(spin_or_set);
    cr_assert_eq(flag, 1);
}
