/* Time of the host that a run takes. One thread at a time runs the engine, and only between runs,
 * or in the thread that is in one, is the sum asked for. */
#include "host_time.h"

#include "runtime/engine/engine.h"

static struct {
    bool is_wanted;
    bool is_running;
    bool is_unordered; /* atomic */
    uint64_t begun_ns; /* when this run began, on the clock of its thread */
    uint64_t ended_ns; /* sum over all runs that have ended */
    clockid_t workers[ENGINE_DOMAINS_MAX];
    uint32_t worker_count;
    uint64_t workers_ns; /* before host_time_open() */
} host;

uint64_t host_time_read(clockid_t clock)
{
    struct timespec t;
    if (clock_gettime(clock, &t) != 0)
        return 0; /* a worker that a forked child lacks */
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t read_workers(void)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < host.worker_count; i++)
        sum += host_time_read(host.workers[i]);
    return sum;
}

void host_time_open(bool is_wanted)
{
    host.is_wanted = is_wanted;
    host.is_running = false;
    host.ended_ns = 0;
    host.workers_ns = is_wanted ? read_workers() : 0;
}

void host_time_begin(void)
{
    if (!host.is_wanted)
        return;
    host.begun_ns = host_time_read(CLOCK_THREAD_CPUTIME_ID);
    host.is_running = true;
}

void host_time_end(void)
{
    if (!host.is_running)
        return;
    host.ended_ns += host_time_read(CLOCK_THREAD_CPUTIME_ID) - host.begun_ns;
    host.is_running = false;
}

void host_time_add_worker(pthread_t worker)
{
    if (host.worker_count < ENGINE_DOMAINS_MAX
        && pthread_getcpuclockid(worker, &host.workers[host.worker_count]) == 0)
        host.worker_count++;
}

void host_time_add(uint64_t ns)
{
    if (host.is_running)
        host.ended_ns += ns;
}

uint64_t host_time_simulation_ns(void)
{
    uint64_t open_ns =
        host.is_running ? host_time_read(CLOCK_THREAD_CPUTIME_ID) - host.begun_ns : 0;
    return host.ended_ns + open_ns + read_workers() - host.workers_ns;
}

void host_time_mark_unordered(void)
{
    __atomic_store_n(&host.is_unordered, true, __ATOMIC_RELAXED);
}

bool host_time_is_unordered(void)
{
    return __atomic_load_n(&host.is_unordered, __ATOMIC_RELAXED);
}
