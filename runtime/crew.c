/* The threads that run lanes. One is the caller of engine_run(), the leader; the workers are
 * started with the platform and do nothing but wait for the leader's word, run their lanes, and say
 * that they are done.
 *
 * `round` goes up by one each time there is something to do; `busy` counts the workers that are not
 * done with it. Both are waited for in a short loop first, and then in the kernel (a futex), so
 * that a machine with other things to do loses nothing to waiting threads. Whoever changes a
 * counter wakes those who say that they sleep on it.
 *
 * Invariant: what the leader wrote before a round is seen by the workers in it, and what they wrote
 * is seen by the leader after it (release and acquire of the two counters). Which thread runs a
 * lane changes from time to time and has no influence on any result. Called by window.c and open.c.
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "bug.h"
#include "lane.h"

#define MAX_THREADS ENGINE_MAX_DOMAINS
#define SPINS       1000u /* of 20 to 50 ns */
/* When so many of LOOKED_AT rounds made the leader sleep, the machine has no processors to spare,
 * and waiting for each other costs more than can be gained: the leader goes on alone for a number
 * of rounds, twice as many each time. */
#define LOOKED_AT   64u
#define MANY_SLEEPS 4u
#define ALONE_FIRST 8192u
#define ALONE_MOST  1048576u

struct counter {
    _Alignas(64) uint32_t value;
    uint32_t sleepers;
};

static uint32_t thread_count = 1;
static pid_t creator;
static struct counter round_number;
static struct counter busy;
static void (*lane_work)(uint32_t lane);
static uint32_t thread_of[ENGINE_MAX_DOMAINS]; /* by lane */
static uint64_t delay_seed;                    /* test aid: 0 none */

static struct {
    uint32_t rounds; /* since the last look */
    uint32_t sleeps; /* of these, how many the leader slept in */
    uint32_t alone;  /* rounds that are still to be run by the leader alone */
    uint32_t next;   /* as many the next time */
} spare;

static void futex(uint32_t *word, int operation, uint32_t value)
{
    syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

static void change(struct counter *c, uint32_t by)
{
    __atomic_add_fetch(&c->value, by, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&c->sleepers, __ATOMIC_SEQ_CST))
        futex(&c->value, FUTEX_WAKE_PRIVATE, INT_MAX);
}

/* Until the counter is not `old` any more; returns what it is. `*slept`: set when that took long.
 */
static uint32_t wait_for_change(struct counter *c, uint32_t old, bool *slept)
{
    for (uint32_t i = 0; i < SPINS; i++) {
        uint32_t now = __atomic_load_n(&c->value, __ATOMIC_ACQUIRE);
        if (now != old)
            return now;
        __builtin_ia32_pause();
    }
    *slept = true;
    for (;;) {
        __atomic_add_fetch(&c->sleepers, 1, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&c->value, __ATOMIC_SEQ_CST) == old)
            futex(&c->value, FUTEX_WAIT_PRIVATE, old);
        __atomic_sub_fetch(&c->sleepers, 1, __ATOMIC_SEQ_CST);
        uint32_t now = __atomic_load_n(&c->value, __ATOMIC_ACQUIRE);
        if (now != old)
            return now;
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

static void run_share(uint32_t thread, uint64_t *delays)
{
    for (uint32_t lane = 0; lane < engine.lane_count; lane++) {
        if (__atomic_load_n(&thread_of[lane], __ATOMIC_RELAXED) != thread)
            continue;
        if (engine_unlikely(*delays))
            delay(delays);
        lane_work(lane);
    }
}

static void *worker(void *argument)
{
    uint32_t thread = (uint32_t)(uintptr_t)argument;
    uint64_t delays = delay_seed ? delay_seed + thread : 0;
    uint32_t seen = 0;
    bool slept;
    for (;;) {
        seen = wait_for_change(&round_number, seen, &slept);
        run_share(thread, &delays);
        change(&busy, (uint32_t)-1);
    }
    return NULL;
}

/* Are there processors for the workers? */
static void look_around(bool slept)
{
    spare.sleeps += slept;
    spare.rounds++;
    if (spare.sleeps >= MANY_SLEEPS) {
        spare.alone = spare.next;
        spare.next = spare.next < ALONE_MOST ? 2 * spare.next : ALONE_MOST;
    } else if (spare.rounds < LOOKED_AT) {
        return;
    } else {
        spare.next = ALONE_FIRST;
    }
    spare.rounds = 0;
    spare.sleeps = 0;
}

void crew_run(void (*work)(uint32_t lane), bool alone)
{
    static uint64_t delays;
    bool slept = false;
    if (!delay_seed && spare.alone) {
        spare.alone--;
        alone = true;
    }
    if ((alone && !delay_seed) || thread_count == 1) {
        for (uint32_t lane = 0; lane < engine.lane_count; lane++)
            work(lane);
        return;
    }
    if (!delays && delay_seed)
        delays = delay_seed;
    if (getpid() != creator)
        die("a process that was forked off a simulation on several threads cannot continue it");
    lane_work = work;
    __atomic_store_n(&busy.value, thread_count - 1, __ATOMIC_RELAXED);
    change(&round_number, 1);
    run_share(0, &delays);
    uint32_t left = __atomic_load_n(&busy.value, __ATOMIC_ACQUIRE);
    while (left)
        left = wait_for_change(&busy, left, &slept);
    look_around(slept);
}

/* Longest first, each to the thread with the least so far. */
void crew_balance(const uint64_t *ticks)
{
    uint64_t sums[MAX_THREADS] = {0};
    bool done[ENGINE_MAX_DOMAINS] = {false};
    for (uint32_t i = 0; i < engine.lane_count; i++) {
        uint32_t longest = UINT32_MAX;
        uint32_t least = 0;
        for (uint32_t lane = 0; lane < engine.lane_count; lane++) {
            if (!done[lane] && (longest == UINT32_MAX || ticks[lane] > ticks[longest]))
                longest = lane;
        }
        for (uint32_t t = 1; t < thread_count; t++)
            least = sums[t] < sums[least] ? t : least;
        done[longest] = true;
        sums[least] += ticks[longest];
        __atomic_store_n(&thread_of[longest], least, __ATOMIC_RELAXED);
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

void crew_open(uint32_t threads)
{
    const char *delays = getenv("HEDDLE_THREAD_DELAYS");
    delay_seed = delays ? strtoull(delays, NULL, 10) : 0;
    creator = getpid();
    spare.next = ALONE_FIRST;
    for (uint32_t lane = 0; lane < engine.lane_count; lane++)
        thread_of[lane] = lane % threads;
    for (; thread_count < threads; thread_count++)
        start_worker(thread_count);
}
