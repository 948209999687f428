// Host threads that each use a stream of their own, at the same time. Arguments: [threads] [elements].
#include "check.hpp"

#include <thread>

__global__ void add(int *data, int n, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        data[i] += value + i;
    }
}

static void work(int id, int n, bool *good)
{
    std::vector<int> data(n), want(n);
    hipStream_t stream;
    HIP_MUST(hipStreamCreate(&stream));
    int *device = to_device(data);
    for (int round = 0; round < 4; round++) {
        add<<<blocks_for(n, 64), 64, 0, stream>>>(device, n, id * 10 + round);
        HIP_MUST(hipGetLastError());
        HIP_MUST(hipStreamSynchronize(stream));
        for (int i = 0; i < n; i++) {
            want[i] += id * 10 + round + i;
        }
    }
    HIP_MUST(hipMemcpyAsync(data.data(), device, n * sizeof(int), hipMemcpyDeviceToHost, stream));
    HIP_MUST(hipStreamSynchronize(stream));
    HIP_MUST(hipStreamDestroy(stream));
    *good = same_or_report("threads", data, want);
}

int main(int argc, char **argv)
{
    int count = size_argument(argc, argv, 1, 4), n = size_argument(argc, argv, 2, 700);
    std::vector<std::thread> threads;
    bool good[64] = {};
    count = std::min(count, 64);
    for (int id = 0; id < count; id++) {
        threads.emplace_back(work, id, n, &good[id]);
    }
    bool all = true;
    for (int id = 0; id < count; id++) {
        threads[id].join();
        all &= good[id];
    }
    return all ? pass("threads") : 1;
}
