// Managed memory that the kernels of all GPUs use at the same time. First they take turns: each work-group has a part of every
// page, and waits until the same work-group on the GPU before has changed it, which says so in a page of its own; so every kernel
// runs until the last turn is over. Then all GPUs change words of the same lines at once, each its own. Arguments: [pages] [rounds].
#include "check.hpp"

constexpr int page = 1024, block = 128, groups = 4; // ints, threads, work-groups

__global__ void take_turns(volatile int *data, int n, unsigned *turn, int me, int count, int turns)
{
    turn += blockIdx.x;
    for (int now = me; now < turns; now += count) {
        if (threadIdx.x == 0) {
            while (atomicAdd_system(turn, 0u) != static_cast<unsigned>(now)) {
            }
            __threadfence_system();
        }
        __syncthreads();
        for (int i = blockIdx.x * block + threadIdx.x; i < n; i += groups * block) {
            data[i] = data[i] * 3 + me;
        }
        __threadfence_system();
        __syncthreads();
        if (threadIdx.x == 0) {
            atomicAdd_system(turn, 1u);
        }
    }
}

__global__ void change_own(volatile int *data, int n, int me, int count, int times)
{
    int threads = groups * block;
    for (int time = 0; time < times; time++) {
        for (int i = (blockIdx.x * block + threadIdx.x) * count + me; i < n; i += threads * count) {
            data[i] = data[i] * 5 + me;
        }
    }
}

static void step(int &value, int factor, int offset)
{
    value = static_cast<int>(static_cast<unsigned>(value) * factor + offset);
}

int main(int argc, char **argv)
{
    int pages = size_argument(argc, argv, 1, 2), rounds = size_argument(argc, argv, 2, 3), count = 0;
    int n = pages * page;
    int *data = nullptr;
    unsigned *turn = nullptr;
    std::vector<int> want(n), got(n);
    HIP_MUST(hipGetDeviceCount(&count));
    HIP_MUST(hipMallocManaged(reinterpret_cast<void **>(&data), n * sizeof(int)));
    HIP_MUST(hipMallocManaged(reinterpret_cast<void **>(&turn), page * sizeof(int)));
    for (int i = 0; i < n; i++) {
        data[i] = want[i] = i;
    }
    for (int group = 0; group < groups; group++) {
        turn[group] = 0;
    }
    for (int device = 0; device < count; device++) {
        HIP_MUST(hipSetDevice(device));
        take_turns<<<groups, block>>>(data, n, turn, device, count, rounds * count);
        HIP_MUST(hipGetLastError());
    }
    for (int device = 0; device < count; device++) {
        HIP_MUST(hipSetDevice(device));
        HIP_MUST(hipDeviceSynchronize());
    }
    for (int group = 0; group < groups; group++) {
        if (turn[group] != static_cast<unsigned>(rounds * count)) {
            std::printf("FAIL managed_both: %u turns were taken instead of %d\n", turn[group], rounds * count);
            return 1;
        }
    }
    for (int device = 0; device < count; device++) {
        HIP_MUST(hipSetDevice(device));
        change_own<<<groups, block>>>(data, n, device, count, rounds);
        HIP_MUST(hipGetLastError());
    }
    for (int device = 0; device < count; device++) {
        HIP_MUST(hipSetDevice(device));
        HIP_MUST(hipDeviceSynchronize());
    }
    for (int i = 0; i < n; i++) {
        for (int turn_taken = 0; turn_taken < rounds * count; turn_taken++) {
            step(want[i], 3, turn_taken % count);
        }
        for (int time = 0; time < rounds; time++) {
            step(want[i], 5, i % count);
        }
        got[i] = data[i];
    }
    HIP_MUST(hipFree(data));
    HIP_MUST(hipFree(turn));
    return same_or_report("managed_both", got, want) ? pass("managed_both") : 1;
}
