/* Threads: each shard that is due is run once a round, by anybody, and nobody is in it twice. */
#define _GNU_SOURCE /* processors of the process */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <dirent.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "base/number.h"
#include "base/splitmix64.h"
#include "runtime/engine/engine.h"
#include "runtime/scheduler/thread_pool.h"
#include "tests/runtime/probe.h"

#define SHARDS 7

static uint64_t round_now;    /* written between rounds only */
static uint64_t runs[SHARDS]; /* not atomic: the rounds order them */
static uint64_t wrong;        /* a shard that was run in no round, or twice */
static uint64_t last[SHARDS]; /* round in which it was run */
static _Thread_local bool leads;
static uint64_t by_workers;
static uint32_t slow_shard = UINT32_MAX; /* a worker that has it takes its time */

static void build(uint32_t threads)
{
    build_start("threads");
    uint32_t core = build_domain("core", 1000000000);
    uint32_t protocol = probe_protocol(16, false);
    uint32_t a = probe_instance(core, "a", PROBE_SOURCE, 0, 0, false);
    for (uint32_t i = 1; i < SHARDS; i++) {
        uint32_t b = probe_instance(core, "b", PROBE_SINK, 0, 1, false);
        build_partition(b, i);
        build_connect((struct build_end){a, PROBE_OUT, i - 1}, (struct build_end){b, PROBE_IN, 0},
                      probe_wire(protocol, 4, 1, 5));
    }
    cr_assert(platform_build_threads(build_finish(), SHARDS));
    cr_assert_eq(engine.shard_count, SHARDS);
    leads = true;
    thread_pool_open(threads);
}

static void work(uint32_t shard)
{
    if (last[shard] == round_now)
        __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
    last[shard] = round_now;
    runs[shard]++;
    if (leads)
        return;
    __atomic_add_fetch(&by_workers, 1, __ATOMIC_RELAXED);
    if (shard == slow_shard)
        nanosleep(&(struct timespec){0, 3000000}, NULL);
}

struct pool_case {
    uint32_t threads;
    bool delays;
    uint32_t rounds;
};

ParameterizedTestParameters(thread_pool, a_round_runs_what_is_due_once)
{
    static struct pool_case cases[] = {
        {1, false, 2000}, {2, false, 5000}, {4, false, 3000}, {7, false, 1000}, {3, true, 200},
    };
    return cr_make_param_array(struct pool_case, cases, ARRAY_COUNT(cases));
}

ParameterizedTest(struct pool_case *k, thread_pool, a_round_runs_what_is_due_once)
{
    uint64_t expected[SHARDS] = {0};
    uint64_t state = 9;
    unsetenv("HEDDLE_THREAD_DELAYS");
    if (k->delays)
        setenv("HEDDLE_THREAD_DELAYS", "3", 1);
    build(k->threads);
    for (uint32_t i = 0; i < k->rounds; i++) {
        uint64_t due = splitmix64(&state) >> 40 & ((1u << SHARDS) - 1);
        round_now = i + 1;
        thread_pool_run(work, due);
        for (uint32_t shard = 0; shard < SHARDS; shard++) {
            expected[shard] += due >> shard & 1;
            cr_assert_eq(runs[shard], expected[shard], "shard %u in round %u", shard, i);
        }
        if (i % 97 == 0) /* long enough to fall asleep */
            nanosleep(&(struct timespec){0, 500000}, NULL);
    }
    cr_assert_eq(wrong, 0);
    if (k->threads == 1)
        cr_assert_eq(by_workers, 0);
    if (k->delays)
        cr_assert(by_workers > 0);
}

/* A worker that takes long over one shard holds up nothing but the end of the round. */
Test(thread_pool, shards_of_a_thread_that_is_late_are_run_by_others)
{
    setenv("HEDDLE_THREAD_DELAYS", "8", 1);
    build(2);
    for (slow_shard = 0; slow_shard < SHARDS; slow_shard++) {
        for (uint32_t i = 0; i < 20; i++) {
            round_now++;
            thread_pool_run(work, (1u << SHARDS) - 1);
        }
    }
    cr_assert_eq(wrong, 0);
    for (uint32_t shard = 0; shard < SHARDS; shard++)
        cr_assert_eq(runs[shard], 20 * SHARDS);
}

static unsigned threads_of_process(void)
{
    unsigned count = 0;
    DIR *folder = opendir("/proc/self/task");
    for (const struct dirent *one; (one = readdir(folder));)
        count += one->d_name[0] != '.';
    closedir(folder);
    return count;
}

/* A thread that has ended and was joined may stand in the folder for a moment. */
static bool becomes_alone(unsigned alone)
{
    for (int i = 0; i < 1000000 && threads_of_process() > alone; i++)
        sched_yield();
    return threads_of_process() == alone;
}

/* None is left when the code that they run is unloaded; another platform has its own. */
Test(thread_pool, workers_end_with_their_platform)
{
    unsigned alone = threads_of_process();
    for (uint32_t threads = 1; threads <= 5; threads++) {
        build(threads);
        cr_expect_eq(threads_of_process(), alone + threads - 1);
        for (uint32_t i = 0; i < 10; i++) {
            round_now++;
            thread_pool_run(work, (1u << SHARDS) - 1);
        }
        thread_pool_close();
        cr_expect(becomes_alone(alone));
    }
    cr_expect_eq(wrong, 0);
    for (uint32_t shard = 0; shard < SHARDS; shard++)
        cr_expect_eq(runs[shard], 50);
    thread_pool_close();
}

Test(thread_pool, processors_are_those_of_the_process)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    cr_assert_eq(sched_getaffinity(0, sizeof one, &one), 0);
    cr_assert_eq(thread_pool_processors(), (uint32_t)CPU_COUNT(&one));
    int first = 0;
    while (!CPU_ISSET(first, &one))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    cr_assert_eq(sched_setaffinity(0, sizeof one, &one), 0);
    cr_assert_eq(thread_pool_processors(), 1);
}
