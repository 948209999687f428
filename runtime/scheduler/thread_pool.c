/* The threads that run shards. One is the caller of engine_run(), the leader; the workers are
 * started with the platform, do nothing but wait for the leader's word and run shards, and end with
 * the platform, whose code may be unloaded then.
 *
 * `window_published.number` goes up by one each time there is something to do. In such a round
 * every shard is claimed once: each thread begins with a shard of its own, the same in all rounds,
 * and goes on with shards that no other thread has begun. So no thread waits for a thread that has
 * no processor: other threads run its shards, and the leader waits only for shards that have been
 * begun. `finished` counts the shards that workers have run. A thread that waits spins, then gives
 * its processor away to whatever wants it, and at last sleeps in the system (a futex), so that a
 * machine with other things to do loses nothing to waiting threads. A thread that changes a counter
 * wakes the threads that have announced that they sleep on it.
 *
 * Invariants: a shard that is due is in `unclaimed` until a thread begins to run it, but for the
 * leader's first one, which never is. The next round begins when all have been run, so a worker
 * that comes late finds none left, or takes part in the round that has begun meanwhile. What the
 * leader wrote before a round is seen by the thread that claims a shard of it, and what workers
 * wrote is seen by the leader after it (release and acquire of `unclaimed` and `finished`). Which
 * thread runs a shard has no influence on any result. Called by run.c and open.c. */
#define _GNU_SOURCE /* processors of the process */
#include "thread_pool.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/likely.h"
#include "base/number.h"
#include "runtime/engine/bug.h"
#include "runtime/engine/disturbance.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/rank.h"
#include "runtime/engine/shard.h"
#include "runtime/observe/host_time.h"

#define SPINS  500u /* 10 to 50 ns each */
#define YIELDS 300u /* 300 ns each, when no other thread wants the processor */

static uint32_t thread_count = 1;             /* the leader and all workers */
static uint32_t threads_wanted;               /* on this platform */
static bool is_forked;                        /* in a child the workers are missing */
static bool is_closing;                       /* the next word to the workers is that they end */
static pthread_t workers[ENGINE_DOMAINS_MAX]; /* the first is that of the leader and unused */
struct window_plan window_plan;
struct window_round window_published;
static struct {
    _Alignas(64) struct futex_word word;
} finished;                                     /* shards, by workers */
static uint32_t own_shards[ENGINE_DOMAINS_MAX]; /* the shards of this rank */
static uint32_t own_shard_count;

static void futex(uint32_t *word, int operation, uint32_t value)
{
    syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

/* `sleeper_limit`: as many sleepers are woken at most. */
static void change(struct futex_word *word, uint32_t by, uint32_t sleeper_limit)
{
    __atomic_add_fetch(&word->value, by, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&word->sleepers, __ATOMIC_SEQ_CST))
        futex(&word->value, FUTEX_WAKE_PRIVATE, sleeper_limit);
}

static uint32_t value_of(const struct futex_word *word)
{
    return __atomic_load_n(&word->value, __ATOMIC_ACQUIRE);
}

/* Sleeps until the value is not `old` any more. */
static void sleep_until_change(struct futex_word *word, uint32_t old)
{
    while (value_of(word) == old) {
        __atomic_add_fetch(&word->sleepers, 1, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&word->value, __ATOMIC_SEQ_CST) == old)
            futex(&word->value, FUTEX_WAIT_PRIVATE, old);
        __atomic_sub_fetch(&word->sleepers, 1, __ATOMIC_SEQ_CST);
    }
}

/* Waits until the value is not `old` any more: first spinning, then asleep. */
static void wait_for_change(struct futex_word *word, uint32_t old)
{
    for (uint32_t looks = 0; value_of(word) == old; looks++)
        if (looks < SPINS)
            __builtin_ia32_pause();
        else if (looks < SPINS + YIELDS)
            sched_yield();
        else
            sleep_until_change(word, old);
}

static bool claim(uint32_t shard)
{
    uint64_t bit = (uint64_t)1 << shard;
    return __atomic_load_n(&window_published.unclaimed, __ATOMIC_RELAXED) & bit
           && __atomic_fetch_and(&window_published.unclaimed, ~bit, __ATOMIC_ACQ_REL) & bit;
}

/* The shard that a thread looks at as the `i`-th: at first its own. There is one shard more than
 * there are threads, the main one, which often has little to do. It is the leader's, and so the
 * last one is taken by the leader first. */
static uint32_t nth_shard(uint32_t thread, uint32_t i)
{
    return own_shards[(thread % own_shard_count + own_shard_count - i) % own_shard_count];
}

/* Runs what is left to be claimed; returns how many shards that were. */
static uint32_t run_share(uint32_t thread)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < own_shard_count; i++) {
        uint32_t shard = nth_shard(thread, i);
        disturb(DISTURB_SHARD, thread, 0);
        if (!claim(shard))
            continue;
        window_published.work(shard);
        count++;
    }
    return count;
}

static void *worker(void *argument)
{
    uint32_t thread = (uint32_t)(uintptr_t)argument;
    uint32_t seen = 0;
    for (;;) {
        wait_for_change(&window_published.number, seen);
        seen = value_of(&window_published.number);
        if (__atomic_load_n(&is_closing, __ATOMIC_RELAXED))
            return NULL;
        uint32_t count = run_share(thread);
        if (count)
            change(&finished.word, count, 1);
    }
}

/* The first of the leader's turn that is due. */
static uint32_t first_of_leader(uint64_t due)
{
    uint32_t i = 0;
    while (!(due >> nth_shard(0, i) & 1))
        i++;
    return nth_shard(0, i);
}

void thread_pool_run(void (*work)(uint32_t shard), uint64_t due)
{
    uint32_t due_count = shards_in(due);
    if (threads_wanted < 2 || due_count < 2) {
        window_publish();
        for (; due; due &= due - 1)
            work((uint32_t)__builtin_ctzll(due));
        return;
    }
    if (is_forked)
        die("a process that was forked off a simulation on several threads cannot continue it");
    uint32_t first = first_of_leader(due);
    uint32_t done = value_of(&finished.word) + due_count - 1;
    window_published.work = work;
    window_publish();
    __atomic_store_n(&window_published.unclaimed, due & ~((uint64_t)1 << first), __ATOMIC_RELEASE);
    uint32_t threads = min(due_count, threads_wanted);
    change(&window_published.number, 1, heddle_disturb ? INT_MAX : threads - 1);
    disturb(DISTURB_SHARD, 0, 0);
    work(first);
    done -= run_share(0);
    for (uint32_t now = value_of(&finished.word); now != done; now = value_of(&finished.word))
        wait_for_change(&finished.word, now);
}

/* Signals are for the program's own threads. */
static void start_worker(uint32_t thread)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&workers[thread], NULL, worker, (void *)(uintptr_t)thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error)
        die("cannot start a thread: %s", strerror(error));
    host_time_add_worker(workers[thread]);
}

uint32_t thread_pool_processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (uint32_t)CPU_COUNT(&set) : UINT32_MAX;
}

static void after_fork(void)
{
    is_forked = true;
}

void thread_pool_open(uint32_t threads)
{
    static bool is_registered;
    if (!is_registered)
        pthread_atfork(NULL, NULL, after_fork);
    is_registered = true;
    threads_wanted = min(threads, ENGINE_DOMAINS_MAX); /* there are no more shards */
    own_shard_count = 0;
    for (uint32_t i = 0; i < engine.shard_count; i++)
        if (rank_has(i))
            own_shards[own_shard_count++] = i;
    for (; thread_count < threads_wanted; thread_count++)
        start_worker(thread_count);
}

void thread_pool_close(void)
{
    if (is_forked || thread_count == 1)
        return;
    __atomic_store_n(&is_closing, true,
                     __ATOMIC_RELAXED); /* read by one that is late for a round */
    change(&window_published.number, 1, INT_MAX);
    while (thread_count > 1)
        pthread_join(workers[--thread_count], NULL);
    is_closing = false;
}
