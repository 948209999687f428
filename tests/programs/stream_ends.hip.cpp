// Streams that are destroyed while handlers of theirs are still to be called: `stream_ends ROUNDS`.
// Two threads make streams, put kernels, callbacks into them, and destroy them at
// once. Each must be called once.
#include "check.hpp"

#include <atomic>
#include <thread>

static __global__ void add(int *sum)
{
    atomicAdd(sum, 1);
}

static std::atomic<int> called;

static void take(hipStream_t, hipError_t, void *count)
{
    static_cast<std::atomic<int> *>(count)->fetch_add(1);
}

static void run(int rounds, int *sum)
{
    for (int i = 0; i < rounds; i++) {
        hipStream_t stream;
        HIP_MUST(hipStreamCreate(&stream));
        add<<<1, 1, 0, stream>>>(sum);
        HIP_MUST(hipStreamAddCallback(stream, take, &called, 0));
        add<<<1, 1, 0, stream>>>(sum);
        HIP_MUST(hipStreamAddCallback(stream, take, &called, 0));
        HIP_MUST(hipStreamDestroy(stream));
    }
}

int main(int argc, char **argv)
{
    const int rounds = size_argument(argc, argv, 1, 20);
    std::vector<int> sum(1, 0);
    int *device = to_device(sum);
    std::thread other(run, rounds, device);
    run(rounds, device);
    other.join();
    HIP_MUST(hipDeviceSynchronize());
    HIP_MUST(hipMemcpy(sum.data(), device, sizeof(int), hipMemcpyDeviceToHost));
    if (sum[0] != 4 * rounds || called != 4 * rounds) {
        std::printf("FAIL stream_ends: %d sums, %d calls of %d\n", sum[0], called.load(),
                    4 * rounds);
        return 1;
    }
    return pass("stream_ends");
}
