/* See host_time.h. One thread at a time runs the engine, and only between runs, or in the thread
 * that is in one, is the sum asked for. */
#include "host_time.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/splitmix64.h"
#include "runtime/engine/util.h"

#include <string.h>

enum {
    CALLS_MEASURED = 128,
    CALLS_MEAN = 32, /* between two that are measured behind those */
    READINGS = 16    /* of which the least says what one takes */
};

static struct {
    bool wanted;
    bool running;
    uint64_t begun_ns; /* of this run, on the clock of its thread */
    uint64_t ended_ns; /* of all runs that have ended */
    clockid_t workers[ENGINE_MAX_DOMAINS];
    uint32_t worker_count;
    uint64_t workers_ns; /* before host_time_open() */
} host;

static struct {
    uint64_t count;      /* of calls that have ended */
    uint64_t next;       /* that is measured */
    uint64_t reading_ns; /* of the clock, which is in each measurement once */
    struct {
        uint64_t count, ns;
    } first, sampled; /* those measured */
} calls;

static _Thread_local struct {
    bool measured;
    uint64_t begun_ns;
    uint64_t simulated_ns; /* by this thread, since the beginning */
} call;

uint64_t host_time_read(clockid_t clock)
{
    struct timespec t;
    if (clock_gettime(clock, &t) != 0)
        return 0; /* a worker that a forked child lacks */
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static bool unordered; /* atomic */

static uint64_t read_workers(void)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < host.worker_count; i++)
        sum += host_time_read(host.workers[i]);
    return sum;
}

static uint64_t measure_reading(void)
{
    uint64_t least = UINT64_MAX, from = host_time_read(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < READINGS; i++) {
        uint64_t to = host_time_read(CLOCK_THREAD_CPUTIME_ID);
        least = to - from < least ? to - from : least;
        from = to;
    }
    return least;
}

void host_time_open(bool wanted)
{
    host.wanted = wanted;
    host.running = false;
    host.ended_ns = 0;
    host.workers_ns = wanted ? read_workers() : 0;
    memset(&calls, 0, sizeof calls);
    calls.reading_ns = wanted ? measure_reading() : 0;
    call.measured = false;
}

void host_time_begin(void)
{
    if (!host.wanted)
        return;
    host.begun_ns = host_time_read(CLOCK_THREAD_CPUTIME_ID);
    host.running = true;
}

void host_time_end(void)
{
    if (!host.running)
        return;
    uint64_t ran_ns = host_time_read(CLOCK_THREAD_CPUTIME_ID) - host.begun_ns;
    host.ended_ns += ran_ns;
    call.simulated_ns += ran_ns;
    host.running = false;
}

void host_time_add_worker(pthread_t worker)
{
    if (host.worker_count < ENGINE_MAX_DOMAINS
        && pthread_getcpuclockid(worker, &host.workers[host.worker_count]) == 0)
        host.worker_count++;
}

void host_time_add(uint64_t ns)
{
    if (host.running)
        host.ended_ns += ns;
}

uint64_t host_time_simulation_ns(void)
{
    uint64_t open_ns = host.running ? host_time_read(CLOCK_THREAD_CPUTIME_ID) - host.begun_ns : 0;
    return host.ended_ns + open_ns + read_workers() - host.workers_ns;
}

void host_time_enter_call(void)
{
    if (!host.wanted || calls.count < calls.next)
        return;
    call.measured = true;
    call.begun_ns = host_time_read(CLOCK_THREAD_CPUTIME_ID) - call.simulated_ns;
}

void host_time_leave_call(void)
{
    if (!host.wanted)
        return;
    if (call.measured) {
        bool first = calls.first.count < CALLS_MEASURED;
        uint64_t state = calls.count;
        uint64_t ran_ns =
            host_time_read(CLOCK_THREAD_CPUTIME_ID) - call.simulated_ns - call.begun_ns;
        ran_ns -= min_u64(ran_ns, calls.reading_ns);
        call.measured = false;
        calls.next = calls.count + 1 + (first ? 0 : splitmix64(&state) % (2 * CALLS_MEAN - 1));
        *(first ? &calls.first.count : &calls.sampled.count) += 1;
        *(first ? &calls.first.ns : &calls.sampled.ns) += ran_ns;
    }
    calls.count++;
}

void host_time_note_unordered(void)
{
    __atomic_store_n(&unordered, true, __ATOMIC_RELAXED);
}

bool host_time_is_unordered(void)
{
    return __atomic_load_n(&unordered, __ATOMIC_RELAXED);
}

uint64_t host_time_calls(void)
{
    return calls.count;
}

uint64_t host_time_calls_ns(void)
{
    double others = (double)(calls.count - calls.first.count);
    return calls.first.ns
           + (calls.sampled.count
                  ? (uint64_t)((double)calls.sampled.ns * others / (double)calls.sampled.count)
                  : 0);
}
