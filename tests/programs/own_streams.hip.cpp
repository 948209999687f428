// Compiled with -fgpu-default-stream=per-thread: the default stream of each host thread is its own, so kernels of two threads
// run side by side, and copies, fills and waits without a stream belong to the thread that calls.
#include "check.hpp"

#include <thread>

__global__ void stay(unsigned long long *times, int *data, int n, int cycles)
{
    unsigned long long begin = clock64(), now = begin;
    while (now - begin < static_cast<unsigned long long>(cycles)) {
        now = clock64();
    }
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        data[i] = 2 * data[i] + 1;
    }
    times[0] = begin;
    times[1] = now;
}

struct result {
    std::vector<unsigned long long> times;
    std::vector<int> data, want;
};

static void work(result &r, int number)
{
    const int n = 300;
    int *data = nullptr, *zeros = nullptr;
    unsigned long long *times = nullptr;
    r.times.resize(2);
    r.data.resize(n);
    allocate(&data, n * sizeof(int));
    allocate(&zeros, n * sizeof(int));
    allocate(&times, 2 * sizeof *times);
    for (int i = 0; i < n; i++) {
        r.data[i] = i + number;
        r.want.push_back(2 * (i + number) + 1);
    }
    HIP_MUST(hipMemset(zeros, 0, n * sizeof(int)));
    HIP_MUST(hipMemcpy(data, r.data.data(), n * sizeof(int), hipMemcpyHostToDevice));
    stay<<<1, 64>>>(times, data, n, 60000);
    HIP_MUST(hipGetLastError());
    HIP_MUST(hipStreamSynchronize(nullptr));
    if (hipStreamQuery(nullptr) != hipSuccess) {
        std::printf("FAIL own_streams: not idle after synchronisation\n");
        std::exit(1);
    }
    HIP_MUST(hipMemcpyAsync(r.data.data(), data, n * sizeof(int), hipMemcpyDeviceToHost, nullptr));
    HIP_MUST(hipMemcpy(r.times.data(), times, 2 * sizeof *times, hipMemcpyDeviceToHost));
}

int main()
{
    result results[2];
    std::thread first([&] { work(results[0], 10); }), second([&] { work(results[1], 20); });
    first.join();
    second.join();
    for (const result &r : results) {
        if (!same_or_report("own_streams", r.data, r.want)) {
            return 1;
        }
    }
    if (results[0].times[0] > results[1].times[1] || results[1].times[0] > results[0].times[1]) {
        std::printf("FAIL own_streams: %llu to %llu and %llu to %llu\n", results[0].times[0], results[0].times[1],
                    results[1].times[0], results[1].times[1]);
        return 1;
    }
    return pass("own_streams");
}
