// Managed memory that may be larger than the card, in three patterns of access: `stream` reads and writes each element once a round, in
// order; `random` updates elements anywhere, of 64 neighbours at a time; `stencil` goes to and fro between two halves. The host changes and
// checks elements between rounds. Arguments: pattern [KiB] [rounds] [advice], the advice none, prefetch, remote, read or accessed.
#include <cstring>

#include "check.hpp"

constexpr int block = 64, groups = 32;

__global__ void stream(unsigned *data, unsigned n, unsigned round)
{
    for (unsigned i = blockIdx.x * block + threadIdx.x; i < n; i += groups * block) {
        data[i] = data[i] * 3 + round;
    }
}

__host__ __device__ static unsigned scatter(unsigned i, unsigned round)
{
    unsigned x = (i + round * 0x9e3779b9u) * 0x85ebca6bu;
    x ^= x >> 15;
    return x * 0xc2b2ae35u >> 8;
}

// One wavefront updates 64 neighbours, an eighth of all in a round.
__global__ void random_updates(unsigned *data, unsigned n, unsigned round)
{
    for (unsigned step = blockIdx.x; step < n / block / 8; step += groups) {
        unsigned at = scatter(step, round) % (n / block) * block + threadIdx.x;
        atomicAdd(&data[at], step * 7 + round);
    }
}

__global__ void stencil(const unsigned *from, unsigned *to, unsigned n)
{
    for (unsigned i = blockIdx.x * block + threadIdx.x; i < n; i += groups * block) {
        to[i] = from[i ? i - 1 : n - 1] + 2 * from[i] + from[i + 1 < n ? i + 1 : 0];
    }
}

static void expect_round(const char *pattern, std::vector<unsigned> &want, unsigned round)
{
    unsigned n = static_cast<unsigned>(want.size()), half = n / 2;
    if (!std::strcmp(pattern, "stream")) {
        for (unsigned &value : want) {
            value = value * 3 + round;
        }
    } else if (!std::strcmp(pattern, "random")) {
        for (unsigned step = 0; step < n / block / 8; step++) {
            for (unsigned i = 0; i < block; i++) {
                want[scatter(step, round) % (n / block) * block + i] += step * 7 + round;
            }
        }
    } else {
        const unsigned *from = want.data() + (round % 2 ? half : 0);
        unsigned *to = want.data() + (round % 2 ? 0 : half);
        for (unsigned i = 0; i < half; i++) {
            to[i] = from[i ? i - 1 : half - 1] + 2 * from[i] + from[i + 1 < half ? i + 1 : 0];
        }
    }
}

static void launch_round(const char *pattern, unsigned *data, unsigned n, unsigned round)
{
    if (!std::strcmp(pattern, "stream")) {
        stream<<<groups, block>>>(data, n, round);
    } else if (!std::strcmp(pattern, "random")) {
        random_updates<<<groups, block>>>(data, n, round);
    } else {
        unsigned half = n / 2;
        stencil<<<groups, block>>>(data + (round % 2 ? half : 0), data + (round % 2 ? 0 : half), half);
    }
    HIP_MUST(hipGetLastError());
}

static void advise(const char *advice, unsigned *data, size_t size)
{
    if (!std::strcmp(advice, "prefetch")) {
        HIP_MUST(hipMemPrefetchAsync(data, size, 0, nullptr));
    } else if (!std::strcmp(advice, "remote")) {
        HIP_MUST(hipMemAdvise(data, size, hipMemAdviseSetPreferredLocation, hipCpuDeviceId));
    } else if (!std::strcmp(advice, "read")) {
        HIP_MUST(hipMemAdvise(data, size, hipMemAdviseSetReadMostly, 0));
    } else if (!std::strcmp(advice, "accessed")) {
        HIP_MUST(hipMemAdvise(data, size, hipMemAdviseSetAccessedBy, 0));
    }
}

int main(int argc, char **argv)
{
    const char *pattern = argc > 1 ? argv[1] : "stream", *advice = argc > 4 ? argv[4] : "none";
    unsigned n = static_cast<unsigned>(size_argument(argc, argv, 2, 512)) * 256;
    unsigned rounds = static_cast<unsigned>(size_argument(argc, argv, 3, 3));
    unsigned *data = nullptr;
    int devices = 0;
    HIP_MUST(hipGetDeviceCount(&devices));
    hipError_t allocated = hipMallocManaged(reinterpret_cast<void **>(&data), n * sizeof(unsigned));
    if (allocated != hipSuccess) {
        std::printf("FAIL oversubscribe: %s\n", hipGetErrorName(allocated));
        return 1;
    }
    std::vector<unsigned> want(n);
    for (unsigned i = 0; i < n; i++) {
        data[i] = want[i] = i * 2654435761u;
    }
    advise(advice, data, n * sizeof(unsigned));
    for (unsigned round = 0; round < rounds; round++) {
        HIP_MUST(hipSetDevice(static_cast<int>(round) % devices));
        launch_round(pattern, data, n, round);
        HIP_MUST(hipDeviceSynchronize());
        expect_round(pattern, want, round);
        unsigned at = scatter(round, 77) % n;
        if (data[at] != want[at]) {
            std::printf("FAIL oversubscribe: round %u, element %u is %u, expected %u\n", round, at, data[at], want[at]);
            return 1;
        }
        data[at] = want[at] = round;
    }
    std::vector<unsigned> got(data, data + n);
    if (!same_or_report("oversubscribe", got, want)) {
        return 1;
    }
    HIP_MUST(hipFree(data));
    return pass("oversubscribe");
}
