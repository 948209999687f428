// The clocks of the host: sleeps and waits end when their time has passed. With the argument `simulated`, for
// --host-clock simulated: they end then, kernels take as long as events say, and every reading is printed, the same in
// every run.
#include "check.hpp"

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <ctime>
#include <mutex>
#include <sys/time.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace std::chrono;

__global__ void work(float *values, int rounds)
{
    float x = values[threadIdx.x];
    for (int i = 0; i < rounds; i++) {
        x = x * 1.0001f + 0.5f;
    }
    values[threadIdx.x] = x;
}

static long long now(clockid_t clock)
{
    timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * 1000000000ll + time.tv_nsec;
}

static bool good = true, simulated = false;

// A span in nanoseconds, which must be at least `least` and less than `most`. The host may be busy with something else.
static void check(const char *what, long long span, long long least, long long most)
{
    bool fits = span >= least && (span < most || !simulated);
    if (simulated || !fits) {
        std::printf("%s: %lld ns\n", what, span);
    }
    good = good && fits;
}

static void read_all()
{
    static const clockid_t clocks[] = {CLOCK_REALTIME,        CLOCK_MONOTONIC, CLOCK_BOOTTIME,
                                       CLOCK_MONOTONIC_RAW,   CLOCK_MONOTONIC_COARSE,
                                       CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID};
    for (clockid_t clock : clocks) {
        std::printf("clock %d: %lld\n", static_cast<int>(clock), now(clock));
    }
    timeval day;
    timespec utc;
    gettimeofday(&day, nullptr);
    timespec_get(&utc, TIME_UTC);
    std::printf("%ld.%06ld %ld.%09ld %ld %ld\n", day.tv_sec, day.tv_usec, utc.tv_sec, utc.tv_nsec,
                static_cast<long>(time(nullptr)), static_cast<long>(clock()));
    std::printf("%lld %lld\n", static_cast<long long>(steady_clock::now().time_since_epoch().count()),
                static_cast<long long>(system_clock::now().time_since_epoch().count()));
}

// What the host measures around a kernel holds what events measure inside.
static void measure_kernel(float *values)
{
    hipEvent_t begin, end;
    float inside = 0;
    hipEventCreate(&begin);
    hipEventCreate(&end);
    hipDeviceSynchronize();
    auto start = steady_clock::now();
    hipEventRecord(begin, nullptr);
    work<<<1, 64>>>(values, 200);
    hipEventRecord(end, nullptr);
    hipEventSynchronize(end);
    long long span = duration_cast<nanoseconds>(steady_clock::now() - start).count();
    hipEventElapsedTime(&inside, begin, end);
    hipEventDestroy(begin);
    hipEventDestroy(end);
    long long inside_ns = static_cast<long long>(static_cast<double>(inside) * 1e6);
    check("kernel", span, simulated ? inside_ns : 0, 1000000000);
}

static void sleep_all(float *values)
{
    long long begin = now(CLOCK_MONOTONIC);
    usleep(1000);
    check("usleep", now(CLOCK_MONOTONIC) - begin, 1000000, 1100000);
    begin = now(CLOCK_REALTIME);
    work<<<1, 64>>>(values, 200);
    std::this_thread::sleep_for(milliseconds(5)); // the kernel ends meanwhile
    check("sleep_for", now(CLOCK_REALTIME) - begin, 5000000, 5500000);
    good = good && (hipStreamQuery(nullptr) == hipSuccess || !simulated);
    begin = now(CLOCK_MONOTONIC);
    std::this_thread::sleep_until(steady_clock::now() + seconds(2));
    check("sleep_until", now(CLOCK_MONOTONIC) - begin, 2000000000, 2100000000);
    begin = now(CLOCK_MONOTONIC);
    while (now(CLOCK_MONOTONIC) < begin + 100000) {
    }
    check("spinning", now(CLOCK_MONOTONIC) - begin, 100000, 200000);
}

// Waits that end by time, with another thread beside them.
static void wait_in_vain()
{
    std::mutex mutex;
    std::condition_variable never;
    std::unique_lock<std::mutex> lock(mutex);
    long long begin = now(CLOCK_MONOTONIC);
    std::thread sleeper([] {
        std::this_thread::sleep_for(milliseconds(1));
        if (simulated) {
            std::printf("thread: %lld\n", now(CLOCK_MONOTONIC));
        }
    });
    never.wait_for(lock, milliseconds(20), [] { return false; });
    check("wait_for", now(CLOCK_MONOTONIC) - begin, 20000000, 30000000);
    sleeper.join();
    std::timed_mutex timed;
    timed.lock();
    std::thread other([&timed] {
        long long start = now(CLOCK_MONOTONIC);
        good = good && !timed.try_lock_for(milliseconds(10));
        check("try_lock_for", now(CLOCK_MONOTONIC) - start, 10000000, 20000000);
    });
    other.join();
    timed.unlock();
}

// A child has no simulation.
static bool child_has_host_clock(time_t year_2010)
{
    int status = 1;
    pid_t child = fork();
    if (child == 0) {
        _exit(time(nullptr) < year_2010);
    }
    return waitpid(child, &status, 0) == child && status == 0;
}

int main(int argc, char **argv)
{
    constexpr time_t year_2010 = 1262304000;
    simulated = argc > 1 && std::strcmp(argv[1], "simulated") == 0;
    good = (time(nullptr) < year_2010) == simulated && child_has_host_clock(year_2010);
    if (simulated) {
        read_all();
    }
    long long begin = now(CLOCK_MONOTONIC);
    usleep(1500); // no platform is open yet
    check("early", now(CLOCK_MONOTONIC) - begin, 1500000, 1600000);
    float *values = device_zeros<float>(64);
    measure_kernel(values);
    sleep_all(values);
    wait_in_vain();
    if (simulated) {
        read_all();
    }
    if (!good) {
        std::printf("FAIL host_clocks: a span is too short or too long, or it is another year\n");
        return 1;
    }
    return pass("host_clocks");
}
