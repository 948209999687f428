// Host threads of very different work that share queues: each sleeps and computes for random times, allocates and frees,
// and hands buffers on through condition variables, a semaphore made of std::future, atomics and a barrier. Nothing of
// what the GPU sees depends on those times. Arguments: [items] [seed of the host's times, 0: the clock].
#include "check.hpp"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <random>
#include <shared_mutex>
#include <thread>

struct item {
    int *device = nullptr;
    int size = 0, sum = 0, number = 0;
};

static std::mutex queue_mutex, text_mutex;
static std::shared_mutex table_mutex;
static std::condition_variable filled, emptied;
static std::deque<item> queue;
static std::vector<long> table;
static std::atomic<int> next_number{0}, finished{0};
static bool closed, failed;
static pthread_barrier_t barrier;
static unsigned seed;

enum { PRODUCERS = 3, CONSUMERS = 3, ROOM = 2 };

// Random host time: a sleep, a computation, or nothing.
static void dawdle(std::mt19937 &random)
{
    switch (random() % 4) {
    case 0:
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
        break;
    case 1: {
        volatile unsigned work = random() % 300000;
        while (work) {
            work = work - 1;
        }
        break;
    }
    case 2:
        std::this_thread::yield();
        break;
    default:
        break;
    }
}

__global__ void fill(int *data, int n, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        data[i] = value + i;
    }
}

__global__ void sum(const int *data, int n, int *result)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(result, data[i]);
    }
}

static int expected_sum(const item &it)
{
    long total = 0;
    for (int i = 0; i < it.size; i++) {
        total += it.number * 3 + i;
    }
    return int(total);
}

static void produce(int id, int items)
{
    std::mt19937 random(seed + id);
    hipStream_t stream;
    dawdle(random);
    HIP_MUST(hipStreamCreate(&stream));
    pthread_barrier_wait(&barrier);
    for (;;) {
        item it;
        it.number = next_number++;
        if (it.number >= items) {
            break;
        }
        it.size = 100 + 37 * (it.number % 11);
        dawdle(random);
        HIP_MUST(hipMalloc(&it.device, it.size * sizeof(int)));
        fill<<<blocks_for(it.size, 64), 64, 0, stream>>>(it.device, it.size, it.number * 3);
        HIP_MUST(hipGetLastError());
        dawdle(random);
        HIP_MUST(hipStreamSynchronize(stream));
        std::unique_lock<std::mutex> lock(queue_mutex);
        emptied.wait(lock, [] { return queue.size() < ROOM; });
        queue.push_back(it);
        filled.notify_one();
    }
    HIP_MUST(hipStreamDestroy(stream));
    finished++;
}

static void consume(int id)
{
    std::mt19937 random(seed + 100 + id);
    hipStream_t stream;
    hipEvent_t done;
    int *result;
    pthread_barrier_wait(&barrier);
    HIP_MUST(hipStreamCreate(&stream));
    HIP_MUST(hipEventCreate(&done));
    for (;;) {
        item it;
        {
            std::unique_lock<std::mutex> lock(queue_mutex);
            filled.wait(lock, [] { return closed || !queue.empty(); });
            if (queue.empty()) {
                break;
            }
            it = queue.front();
            queue.pop_front();
            emptied.notify_one();
        }
        dawdle(random);
        HIP_MUST(hipMalloc(&result, sizeof(int)));
        HIP_MUST(hipMemsetAsync(result, 0, sizeof(int), stream));
        sum<<<blocks_for(it.size, 64), 64, 0, stream>>>(it.device, it.size, result);
        HIP_MUST(hipGetLastError());
        HIP_MUST(hipEventRecord(done, stream));
        while (id == 1 && hipEventQuery(done) == hipErrorNotReady) {
            dawdle(random);
        }
        HIP_MUST(hipEventSynchronize(done));
        HIP_MUST(hipMemcpy(&it.sum, result, sizeof(int), hipMemcpyDeviceToHost));
        dawdle(random);
        HIP_MUST(hipFree(it.device));
        HIP_MUST(hipFree(result));
        std::unique_lock<std::shared_mutex> lock(table_mutex);
        table[it.number] = it.sum;
        if (it.sum != expected_sum(it)) {
            std::lock_guard<std::mutex> text(text_mutex);
            std::printf("FAIL host_threads: item %d: %d, expected %d\n", it.number, it.sum, expected_sum(it));
            failed = true;
        }
    }
    HIP_MUST(hipEventDestroy(done));
    HIP_MUST(hipStreamDestroy(stream));
}

// Polls without HIP, with sleeps and reading locks; its number of rounds must not matter.
static long watch(int items)
{
    long seen = 0;
    while (finished < PRODUCERS) {
        std::shared_lock<std::shared_mutex> lock(table_mutex);
        seen = std::max(seen, long(table.size()));
        lock.unlock();
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    return seen - items;
}

int main(int argc, char **argv)
{
    int items = size_argument(argc, argv, 1, 24);
    seed = argc > 2 ? unsigned(std::atoi(argv[2])) : 0;
    if (seed == 0) {
        seed = unsigned(std::chrono::steady_clock::now().time_since_epoch().count());
    }
    table.resize(items);
    pthread_barrier_init(&barrier, nullptr, PRODUCERS + CONSUMERS + 1);
    std::vector<std::thread> producers, consumers;
    for (int id = 0; id < PRODUCERS; id++) {
        producers.emplace_back(produce, id, items);
    }
    for (int id = 0; id < CONSUMERS; id++) {
        consumers.emplace_back(consume, id);
    }
    std::future<long> watcher = std::async(std::launch::async, watch, items);
    pthread_barrier_wait(&barrier);
    for (std::thread &thread : producers) {
        thread.join();
    }
    {
        std::lock_guard<std::mutex> lock(queue_mutex);
        closed = true;
    }
    filled.notify_all();
    for (std::thread &thread : consumers) {
        thread.join();
    }
    if (watcher.get() != 0 || failed) {
        return 1;
    }
    pthread_barrier_destroy(&barrier);
    return pass("host_threads");
}
