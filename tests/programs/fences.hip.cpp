// Work-groups of one kernel that see each other's memory: the last one to finish adds up all partial sums (fence and
// counter), a barrier across the grid, a lock around plain memory, and a producer whose consumer spins on a flag. All
// work-groups are resident together. Arguments: [rounds].
#include "check.hpp"

constexpr int groups = 8, block = 64;

__global__ void last_adds(const int *in, volatile int *partial, unsigned *done, int *total, int n)
{
    __shared__ int shared[block];
    __shared__ bool last;
    int sum = 0;
    for (int i = blockIdx.x * block + threadIdx.x; i < n; i += groups * block) {
        sum += in[i];
    }
    shared[threadIdx.x] = sum;
    for (int distance = block / 2; distance > 0; distance /= 2) {
        __syncthreads();
        if (static_cast<int>(threadIdx.x) < distance) {
            shared[threadIdx.x] += shared[threadIdx.x + distance];
        }
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = shared[0];
        __threadfence();
        last = atomicAdd(done, 1u) == groups - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int all = 0;
        for (int group = 0; group < groups; group++) {
            all += partial[group];
        }
        *total = all;
        *done = 0;
    }
}

// Each round every group writes its cell, waits for all, and reads its neighbour's.
__global__ void grid_barrier(volatile int *cells, unsigned *arrived, int *out, int rounds)
{
    int mine = blockIdx.x;
    for (int round = 1; round <= rounds; round++) {
        if (threadIdx.x == 0) {
            volatile int *row = cells + (round & 1) * groups;
            row[blockIdx.x] = mine;
            __threadfence();
            atomicAdd(arrived, 1u);
            while (atomicAdd(arrived, 0u) < static_cast<unsigned>(round * groups)) {
            }
            __threadfence();
            mine = 3 * row[(blockIdx.x + 1) % groups] + 1;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        out[blockIdx.x] = mine;
    }
}

__global__ void locked(int *lock, volatile int *shared, int rounds)
{
    for (int round = 0; round < rounds; round++) {
        if (threadIdx.x == 0) {
            while (atomicCAS(lock, 0, 1) != 0) {
            }
            __threadfence();
            int value = shared[0];
            shared[1] = value;
            shared[0] = value + 1;
            __threadfence();
            atomicExch(lock, 0);
        }
    }
}

__global__ void hand_over(volatile int *data, volatile int *flag, int *out, int n)
{
    if (blockIdx.x == 0) {
        for (int i = threadIdx.x; i < n; i += block) {
            data[i] = 7 * i + 1;
        }
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) {
            *flag = 1;
        }
    } else {
        while (*flag == 0) {
        }
        __threadfence();
        for (int i = threadIdx.x; i < n; i += block) {
            out[(blockIdx.x - 1) * n + i] = data[i] + blockIdx.x;
        }
    }
}

int main(int argc, char **argv)
{
    int rounds = size_argument(argc, argv, 1, 6), n = 500;
    random_source random;
    std::vector<int> in(5000), total(1), want_total(1);
    for (int &value : in) {
        value = random.next() % 10000;
        want_total[0] += value;
    }
    int *din = to_device(in), *dpartial = device_zeros<int>(groups), *dtotal = device_zeros<int>(1);
    unsigned *counter = device_zeros<unsigned>(1);
    for (int round = 0; round < rounds; round++) {
        HIP_MUST(hipMemset(dtotal, 0, sizeof(int)));
        last_adds<<<groups, block>>>(din, dpartial, counter, dtotal, in.size());
        from_device(total, dtotal);
        if (!same_or_report("fences: last group", total, want_total)) {
            return 1;
        }
    }

    std::vector<int> cells(groups), want(groups), got(groups);
    int *dcells = device_zeros<int>(2 * groups), *dgot = device_zeros<int>(groups);
    grid_barrier<<<groups, block>>>(dcells, counter, dgot, rounds);
    from_device(got, dgot);
    for (int group = 0; group < groups; group++) {
        want[group] = group;
    }
    for (int round = 0; round < rounds; round++) {
        cells = want;
        for (int group = 0; group < groups; group++) {
            want[group] = 3 * cells[(group + 1) % groups] + 1;
        }
    }
    if (!same_or_report("fences: barrier", got, want)) {
        return 1;
    }

    std::vector<int> shared(2), want_shared = {groups * rounds, groups * rounds - 1};
    int *lock = device_zeros<int>(1), *dshared = device_zeros<int>(2);
    locked<<<groups, block>>>(lock, dshared, rounds);
    from_device(shared, dshared);
    if (!same_or_report("fences: lock", shared, want_shared)) {
        return 1;
    }

    std::vector<int> out((groups - 1) * n), want_out((groups - 1) * n);
    for (size_t i = 0; i < out.size(); i++) {
        want_out[i] = 7 * (i % n) + 1 + i / n + 1;
    }
    int *data = device_zeros<int>(n), *flag = device_zeros<int>(1), *dout = device_zeros<int>(out.size());
    hand_over<<<groups, block>>>(data, flag, dout, n);
    from_device(out, dout);
    return same_or_report("fences: flag", out, want_out) ? pass("fences") : 1;
}
