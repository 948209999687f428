/* The threads that run shards. One is the caller of engine_run(), the leader; the workers are
 * started with the platform and do nothing but wait for the leader's word and run shards.
 *
 * `round` goes up by one each time there is something to do. In a round every shard is claimed
 * once, by whoever comes first: each thread begins with the shards it is to run (balance.c) and
 * goes on with those that the others have not begun. So nobody waits for a thread that the machine
 * has no processor for: its shards are run by others, and the leader waits only for shards that
 * have been begun. `finished` counts the shards that workers have run. Who waits spins, then gives
 * its processor away to whoever wants it, and at last sleeps in the system (a futex), so that a
 * machine with other things to do loses nothing to waiting threads. Whoever changes a counter wakes
 * those who say that they sleep on it; rounds that the leader runs alone change nothing.
 *
 * Invariants: a shard's claim is the last round that somebody has begun to run it in; a worker that
 * comes late finds all shards of its round claimed and touches nothing. What the leader wrote
 * before a round is seen by the workers in it, and what they wrote is seen by the leader after it
 * (release and acquire of the two counters). Which thread runs a shard has no influence on any
 * result. Called by window.c, balance.c and open.c. */
#define _GNU_SOURCE /* processors of the process */
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

#include "runtime/engine/bug.h"
#include "balance.h"
#include "crew.h"
#include "runtime/engine/engine.h"

#define MAX_THREADS ENGINE_MAX_DOMAINS
#define SPINS       500u /* of 10 to 50 ns */
#define YIELDS      300u /* of 300 ns, when nobody wants the processor */

struct counter {
    _Alignas(64) uint32_t value;
    uint32_t sleepers;
};

static uint32_t thread_count = 1;
static pid_t creator;
static struct counter round_number;
static struct counter finished;
static uint32_t claims[ENGINE_MAX_DOMAINS]; /* by shard: the last round it was begun in */
static uint32_t turns[MAX_THREADS][ENGINE_MAX_DOMAINS]; /* the order in which a thread claims */
static void (*shard_work)(uint32_t shard);
static uint64_t delay_seed; /* test aid: 0 none */

static void futex(uint32_t *word, int operation, uint32_t value)
{
    syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

/* `wanted`: as many sleepers are woken at most. */
static void change(struct counter *c, uint32_t by, uint32_t wanted)
{
    __atomic_add_fetch(&c->value, by, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&c->sleepers, __ATOMIC_SEQ_CST))
        futex(&c->value, FUTEX_WAKE_PRIVATE, wanted);
}

static uint32_t value_of(const struct counter *c)
{
    return __atomic_load_n(&c->value, __ATOMIC_ACQUIRE);
}

/* Until the counter is not `old` any more. */
static void wait_for_change(struct counter *c, uint32_t old)
{
    for (uint32_t i = 0; i < SPINS; i++) {
        if (value_of(c) != old)
            return;
        __builtin_ia32_pause();
    }
    for (uint32_t i = 0; i < YIELDS; i++) {
        if (value_of(c) != old)
            return;
        sched_yield();
    }
    while (value_of(c) == old) {
        __atomic_add_fetch(&c->sleepers, 1, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&c->value, __ATOMIC_SEQ_CST) == old)
            futex(&c->value, FUTEX_WAIT_PRIVATE, old);
        __atomic_sub_fetch(&c->sleepers, 1, __ATOMIC_SEQ_CST);
    }
}

/* Test aid: threads come and go at times of their own, which must change nothing. */
static void delay(uint64_t *state)
{
    struct timespec t = {0, 0};
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    if (*state >> 60)
        return; /* one time in sixteen */
    t.tv_nsec = (long)(*state >> 40 & 0xffff);
    nanosleep(&t, NULL);
}

/* Runs what is left to be claimed in `round`; returns how many shards that were. */
static uint32_t run_share(uint32_t thread, uint32_t round, uint64_t *delays)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < engine.shard_count; i++) {
        uint32_t shard = __atomic_load_n(&turns[thread][i], __ATOMIC_RELAXED);
        uint32_t before = round - 1;
        if (__atomic_load_n(&claims[shard], __ATOMIC_RELAXED) != before)
            continue;
        if (engine_unlikely(*delays))
            delay(delays);
        if (!__atomic_compare_exchange_n(&claims[shard], &before, round, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_RELAXED))
            continue;
        shard_work(shard);
        count++;
    }
    return count;
}

static void *worker(void *argument)
{
    uint32_t thread = (uint32_t)(uintptr_t)argument;
    uint64_t delays = delay_seed ? delay_seed + thread : 0;
    uint32_t seen = 0;
    for (;;) {
        wait_for_change(&round_number, seen);
        seen = value_of(&round_number);
        uint32_t count = run_share(thread, seen, &delays);
        if (count)
            change(&finished, count, 1);
    }
    return NULL;
}

/* Those that are not due are claimed before the round begins; returns how many are due. */
static uint32_t offer(uint64_t due, uint32_t round)
{
    uint32_t count = 0;
    for (uint32_t shard = 0; shard < engine.shard_count; shard++) {
        uint32_t is_due = due >> shard & 1;
        count += is_due;
        __atomic_store_n(&claims[shard], round - is_due, __ATOMIC_RELAXED);
    }
    return count;
}

void crew_run(void (*work)(uint32_t shard), uint64_t due, uint32_t threads)
{
    static uint64_t delays;
    if ((threads < 2 && !delay_seed) || thread_count == 1) {
        for (; due; due &= due - 1)
            work((uint32_t)__builtin_ctzll(due));
        return;
    }
    if (!delays && delay_seed)
        delays = delay_seed;
    if (getpid() != creator)
        die("a process that was forked off a simulation on several threads cannot continue it");
    shard_work = work;
    uint32_t round = value_of(&round_number) + 1;
    uint32_t done = value_of(&finished) + offer(due, round);
    change(&round_number, 1, delay_seed ? INT_MAX : threads - 1);
    done -= run_share(0, round, &delays);
    for (uint32_t now = value_of(&finished); now != done; now = value_of(&finished))
        wait_for_change(&finished, now);
}

void crew_take_turns(uint32_t (*chosen)[ENGINE_MAX_DOMAINS])
{
    for (uint32_t t = 0; t < thread_count; t++) {
        for (uint32_t i = 0; i < engine.shard_count; i++)
            __atomic_store_n(&turns[t][i], chosen[t][i], __ATOMIC_RELAXED);
    }
}

/* Signals are for the program's own threads. */
static void start_worker(uint32_t thread)
{
    pthread_t handle;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&handle, NULL, worker, (void *)(uintptr_t)thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error)
        die("cannot start a thread: %s", strerror(error));
    pthread_detach(handle);
}

static uint64_t chosen_delays(void)
{
    const char *delays = getenv("HEDDLE_THREAD_DELAYS");
    return delays ? strtoull(delays, NULL, 10) : 0;
}

/* For statistics of more threads than there are processors: shards are dealt out and counted for as
 * many as were asked for, and one thread runs them all. */
static bool only_counts(void)
{
    const char *counted = getenv("HEDDLE_THREADS_COUNTED");
    return counted && *counted;
}

uint32_t crew_most(void)
{
    cpu_set_t set;
    if (chosen_delays() || only_counts() || sched_getaffinity(0, sizeof set, &set) != 0)
        return MAX_THREADS;
    return (uint32_t)CPU_COUNT(&set);
}

void crew_open(uint32_t threads)
{
    delay_seed = chosen_delays();
    creator = getpid();
    for (; thread_count < threads && !only_counts(); thread_count++)
        start_worker(thread_count);
    balance_open(threads);
}
