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
 * those who say that they sleep on it; rounds that the leader runs alone change nothing. A round
 * may also be a relay (relay.c), in which all take part until it is over.
 *
 * Invariants: a shard that is due is in `unclaimed` until somebody begins to run it, but for the
 * leader's first one, which never is. The next round begins when all have been run, so a worker
 * that comes late finds none left, or takes part in the round that has begun meanwhile. What the
 * leader wrote before a round is seen by whoever claims a shard of it, and what workers wrote is
 * seen by the leader after it (release and acquire of `unclaimed` and `finished`). Which thread
 * runs a shard has no influence on any result. Called by window.c, balance.c and open.c. */
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
#include "pace.h"
#include "relay.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/shard.h"
#include "runtime/observe/host_time.h"

#define MAX_THREADS ENGINE_MAX_DOMAINS
#define SPINS       500u /* of 10 to 50 ns */
#define YIELDS      300u /* of 300 ns, when nobody wants the processor */
#define ROUNDS      31u  /* that are timed */
#define PATIENCE_NS 20000u

static uint32_t thread_count = 1;
static bool forked; /* in a child the workers are missing */
static bool paced;
struct window_plan window_plan;
struct window_round window_told;
static struct {
    _Alignas(64) struct counter counter;
} finished;                                             /* shards, by workers */
static uint32_t turns[MAX_THREADS][ENGINE_MAX_DOMAINS]; /* the order in which a thread claims */
static uint64_t delay_seed;                             /* test aid: 0 none */
static uint64_t delays_of_leader;

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
static void sleep_until_change(struct counter *c, uint32_t old)
{
    while (value_of(c) == old) {
        __atomic_add_fetch(&c->sleepers, 1, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&c->value, __ATOMIC_SEQ_CST) == old)
            futex(&c->value, FUTEX_WAIT_PRIVATE, old);
        __atomic_sub_fetch(&c->sleepers, 1, __ATOMIC_SEQ_CST);
    }
}

uint32_t crew_news(const struct counter *c)
{
    return value_of(c);
}

void crew_tell(struct counter *c)
{
    change(c, 1, INT_MAX);
}

void crew_wait(struct counter *c, uint32_t news, uint32_t looks)
{
    if (looks < SPINS)
        __builtin_ia32_pause();
    else if (looks < SPINS + YIELDS)
        sched_yield();
    else
        sleep_until_change(c, news);
}

/* Likewise, with patience first. */
static void wait_for_change(struct counter *c, uint32_t old)
{
    for (uint32_t looks = 0; value_of(c) == old; looks++)
        crew_wait(c, old, looks);
}

bool crew_has_workers(void)
{
    return thread_count > 1;
}

/* For statistics of more threads than there are processors: shards are dealt out and counted for as
 * many as were asked for, and one thread runs them all. */
static bool only_counts(void)
{
    const char *counted = getenv("HEDDLE_THREADS_COUNTED");
    return counted && *counted;
}

/* For tests and measurements: "one", so that one thread always runs the shards of all, or "all".
 * Otherwise pace.c chooses. */
static bool always_run(const char *which)
{
    const char *run = getenv("HEDDLE_THREADS_RUN");
    return run && strcmp(run, which) == 0;
}

bool crew_is_paced(void)
{
    return paced;
}

/* Threads come and go at times of their own, which must change nothing. */
void crew_delay(uint64_t *state)
{
    struct timespec t = {0, 0};
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    if (*state >> 60)
        return; /* one time in sixteen */
    t.tv_nsec = (long)(*state >> 40 & 0xffff);
    nanosleep(&t, NULL);
}

static bool claim(uint32_t shard)
{
    uint64_t bit = (uint64_t)1 << shard;
    return __atomic_load_n(&window_told.unclaimed, __ATOMIC_RELAXED) & bit
           && __atomic_fetch_and(&window_told.unclaimed, ~bit, __ATOMIC_ACQ_REL) & bit;
}

/* Runs what is left to be claimed; returns how many shards that were. */
static uint32_t run_share(uint32_t thread, uint64_t *delays)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < engine.shard_count; i++) {
        uint32_t shard = __atomic_load_n(&turns[thread][i], __ATOMIC_RELAXED);
        if (engine_unlikely(*delays))
            crew_delay(delays);
        if (!claim(shard))
            continue;
        window_told.work(shard);
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
        wait_for_change(&window_told.number, seen);
        seen = value_of(&window_told.number);
        if (__atomic_load_n(&window_told.relays, __ATOMIC_RELAXED)) {
            relay_take_part(thread, &delays);
            continue;
        }
        uint32_t count = run_share(thread, &delays);
        if (count)
            change(&finished.counter, count, 1);
    }
    return NULL;
}

static void refuse_forked(void)
{
    if (forked)
        die("a process that was forked off a simulation on several threads cannot continue it");
}

/* The first of the leader's turn that is due. */
static uint32_t first_of_leader(uint64_t due)
{
    uint32_t i = 0;
    while (!(due >> turns[0][i] & 1))
        i++;
    return turns[0][i];
}

void crew_relay(uint32_t threads)
{
    refuse_forked();
    if (thread_count > 1)
        change(&window_told.number, 1, delay_seed ? INT_MAX : threads - 1);
    relay_take_part(0, &delays_of_leader);
}

void crew_run(void (*work)(uint32_t shard), uint64_t due, uint32_t threads)
{
    if ((threads < 2 && !delay_seed) || thread_count == 1 || !due) {
        window_tell();
        for (; due; due &= due - 1)
            work((uint32_t)__builtin_ctzll(due));
        return;
    }
    refuse_forked();
    uint32_t first = first_of_leader(due);
    uint32_t done = value_of(&finished.counter) + shards_in(due) - 1;
    window_told.work = work;
    window_tell();
    __atomic_store_n(&window_told.unclaimed, due & ~((uint64_t)1 << first), __ATOMIC_RELEASE);
    change(&window_told.number, 1, delay_seed ? INT_MAX : threads - 1);
    if (engine_unlikely(delays_of_leader))
        crew_delay(&delays_of_leader);
    work(first);
    done -= run_share(0, &delays_of_leader);
    for (uint32_t now = value_of(&finished.counter); now != done; now = value_of(&finished.counter))
        wait_for_change(&finished.counter, now);
}

static void do_nothing(uint32_t shard)
{
    (void)shard;
}

/* A round that the leader leaves to a worker, unless none comes in time. */
static uint64_t time_round(void)
{
    uint32_t done = value_of(&finished.counter) + 1;
    uint64_t begun = host_time_read(CLOCK_MONOTONIC), now;
    window_told.work = do_nothing;
    __atomic_store_n(&window_told.unclaimed, 1, __ATOMIC_RELEASE);
    change(&window_told.number, 1, 1);
    do
        now = host_time_read(CLOCK_MONOTONIC);
    while (value_of(&finished.counter) != done && now - begun < PATIENCE_NS);
    if (value_of(&finished.counter) != done && !claim(0))
        wait_for_change(&finished.counter, done - 1);
    return now - begun;
}

uint64_t crew_round_ns(void)
{
    uint64_t times[ROUNDS] = {0};
    if (thread_count == 1 || delay_seed || forked)
        return 0;
    time_round(); /* wakes it up */
    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint64_t time = time_round();
        uint32_t at = i;
        for (; at && times[at - 1] > time; at--)
            times[at] = times[at - 1];
        times[at] = time;
    }
    return times[ROUNDS / 2];
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
    host_time_add_worker(handle);
    pthread_detach(handle);
}

static uint64_t chosen_delays(void)
{
    const char *delays = getenv("HEDDLE_THREAD_DELAYS");
    return delays ? strtoull(delays, NULL, 10) : 0;
}

uint32_t crew_most(void)
{
    cpu_set_t set;
    if (chosen_delays() || only_counts() || always_run("one")
        || sched_getaffinity(0, sizeof set, &set) != 0)
        return MAX_THREADS;
    return (uint32_t)CPU_COUNT(&set);
}

static void after_fork(void)
{
    forked = true;
}

void crew_open(uint32_t threads)
{
    delay_seed = delays_of_leader = chosen_delays();
    static bool told;
    if (!told)
        pthread_atfork(NULL, NULL, after_fork);
    told = true;
    bool one = always_run("one"), starts = !only_counts() && !one;
    for (; thread_count < threads && starts; thread_count++)
        start_worker(thread_count);
    paced = threads > 1 && !only_counts();
    balance_open(threads);
    if (one || always_run("all"))
        pace_open_fixed(one ? 1 : threads);
    else
        pace_open(threads, delay_seed);
}
