// Work-groups that meet in the middle of a kernel: grid sync of cooperative launches, and the global wave sync behind it.
// Relaxation by steps, sums that every group reads from all others, a semaphore by which some groups let others pass, a
// barrier that a kernel has set up, and two launches in two streams that each need all of the GPU's sync. What must be
// refused is asked for, too. Arguments: what is done: `all` (the default), `plain`, `short` (a barrier that expects one
// more than come: waits for ever), work-groups (8).
#include "check.hpp"

#include <hip/hip_cooperative_groups.h>

namespace cg = cooperative_groups;

enum { BLOCK = 128, STEPS = 5, ROUNDS = 3 };

// Each element becomes the mean of its neighbours, STEPS times; `a` and `b` in turns.
__global__ void relax(float *a, float *b, int n)
{
    cg::grid_group grid = cg::this_grid();
    int stride = gridDim.x * blockDim.x;
    for (int step = 0; step < STEPS; step++) {
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
            float left = i > 0 ? a[i - 1] : 0, right = i < n - 1 ? a[i + 1] : 0;
            b[i] = 0.5f * a[i] + 0.25f * (left + right);
        }
        float *other = a;
        a = b;
        b = other;
        grid.sync();
    }
}

// Every group adds up what all groups have found, in each of ROUNDS.
__global__ void sums(const int *in, int *parts, int *totals, int *valid, int n)
{
    cg::grid_group grid = cg::this_grid();
    int groups = gridDim.x, share = n / groups;
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *valid = grid.is_valid() && grid.size() == gridDim.x * blockDim.x;
    }
    for (int round = 0; round < ROUNDS; round++) {
        if (threadIdx.x == 0) {
            int sum = 0;
            for (int i = 0; i < share; i++) {
                sum += in[blockIdx.x * share + i] * (round + 1);
            }
            parts[blockIdx.x] = sum;
        }
        grid.sync();
        if (threadIdx.x == 0) {
            int sum = 0;
            for (int i = 0; i < groups; i++) {
                sum += parts[i];
            }
            totals[round * groups + blockIdx.x] = sum;
        }
        grid.sync();
    }
}

// Sets up a resource of the global wave sync.
__global__ void set_up(unsigned value)
{
    __builtin_amdgcn_ds_gws_init(value, 5);
}

// All groups meet at resource 5.
__global__ void meet(int *come, int *seen)
{
    if (threadIdx.x == 0) {
        atomicAdd(come, 1);
        __threadfence();
        __builtin_amdgcn_ds_gws_barrier(gridDim.x - 1, 5);
        seen[blockIdx.x] = atomicAdd(come, 0);
    }
}

// Group 0 lets all others pass, one of them by itself and the rest together, when it has written; they read.
__global__ void turnstile(int *written, int *read)
{
    if (threadIdx.x != 0) {
        return;
    }
    if (blockIdx.x == 0) {
        __builtin_amdgcn_s_sleep(100);
        atomicExch(written, 77);
        __threadfence();
        __builtin_amdgcn_ds_gws_sema_v(9);
        __builtin_amdgcn_ds_gws_sema_br(gridDim.x - 2, 9);
    } else {
        __builtin_amdgcn_ds_gws_sema_p(9);
        read[blockIdx.x] = atomicAdd(written, 0);
    }
}

template <typename... Arguments>
static hipError_t launch(void (*kernel)(Arguments...), unsigned groups, hipStream_t stream, Arguments... arguments)
{
    void *values[] = {&arguments...};
    return hipLaunchCooperativeKernel(reinterpret_cast<const void *>(kernel), dim3(groups), dim3(BLOCK), values, 0, stream);
}

// Numbers are small multiples of a power of two, so sums are exact.
static bool relaxes(unsigned groups)
{
    const int n = int(groups) * BLOCK * 2 + 13;
    random_source random;
    std::vector<float> host[2];
    for (int i = 0; i < n; i++) {
        host[0].push_back(float(random.next() % 1000));
    }
    host[1].resize(n);
    float *a = to_device(host[0]), *b = device_zeros<float>(n);
    HIP_MUST(launch(relax, groups, hipStream_t(nullptr), a, b, n));
    for (int step = 0; step < STEPS; step++) {
        const std::vector<float> &from = host[step % 2];
        for (int i = 0; i < n; i++) {
            float left = i > 0 ? from[i - 1] : 0, right = i < n - 1 ? from[i + 1] : 0;
            host[(step + 1) % 2][i] = 0.5f * from[i] + 0.25f * (left + right);
        }
    }
    std::vector<float> got(n);
    from_device(got, STEPS % 2 ? b : a);
    return same_or_report("grid_sync (relaxation)", got, host[STEPS % 2]);
}

struct summed {
    int *in, *parts, *totals, *valid;
    std::vector<int> want;
};

static summed prepare_sums(unsigned groups, int n, uint32_t seed)
{
    random_source random;
    random.state += seed;
    std::vector<int> in;
    int sum = 0;
    for (int i = 0; i < n; i++) {
        in.push_back(int(random.next() % 1000));
        sum += in.back();
    }
    summed s = {to_device(in), device_zeros<int>(groups), device_zeros<int>(ROUNDS * groups), device_zeros<int>(1), {}};
    for (unsigned i = 0; i < ROUNDS * groups; i++) {
        s.want.push_back(sum * int(i / groups + 1));
    }
    return s;
}

static bool check_sums(const summed &s)
{
    std::vector<int> got(s.want.size()), valid(1);
    from_device(got, s.totals);
    from_device(valid, s.valid);
    return same_or_report("grid_sync (sums)", got, s.want)
           && same_or_report("grid_sync (is_valid)", valid, std::vector<int>{1});
}

// Two launches in two streams, either of which needs the sync for itself.
static bool sums_in_streams(unsigned groups)
{
    const int n = int(groups) * 40;
    summed one = prepare_sums(groups, n, 1), two = prepare_sums(groups, n, 2);
    hipStream_t streams[2];
    HIP_MUST(hipStreamCreate(&streams[0]));
    HIP_MUST(hipStreamCreate(&streams[1]));
    HIP_MUST(launch(sums, groups, streams[0], (const int *)one.in, one.parts, one.totals, one.valid, n));
    HIP_MUST(launch(sums, groups, streams[1], (const int *)two.in, two.parts, two.totals, two.valid, n));
    HIP_MUST(hipDeviceSynchronize());
    HIP_MUST(hipStreamDestroy(streams[0]));
    HIP_MUST(hipStreamDestroy(streams[1]));
    return check_sums(one) && check_sums(two);
}

static bool meets(unsigned groups, unsigned expected)
{
    int *come = device_zeros<int>(1), *seen = device_zeros<int>(groups);
    set_up<<<1, 1>>>(expected - 1);
    HIP_MUST(hipDeviceSynchronize());
    HIP_MUST(launch(meet, groups, hipStream_t(nullptr), come, seen));
    std::vector<int> got(groups);
    from_device(got, seen);
    return same_or_report("grid_sync (barrier)", got, std::vector<int>(groups, int(groups)));
}

static bool passes(unsigned groups)
{
    int *written = device_zeros<int>(1), *read = device_zeros<int>(groups);
    std::vector<int> want(groups, 77), got(groups);
    want[0] = 0;
    HIP_MUST(launch(turnstile, groups, hipStream_t(nullptr), written, read));
    from_device(got, read);
    return same_or_report("grid_sync (semaphore)", got, want);
}

// A launch that is not cooperative has no grid to sync.
static bool plain(unsigned groups)
{
    summed s = prepare_sums(groups, int(groups) * 40, 3);
    sums<<<groups, BLOCK>>>(s.in, s.parts, s.totals, s.valid, int(groups) * 40);
    hipError_t error = hipGetLastError();
    if (error != hipErrorLaunchFailure) {
        std::printf("FAIL grid_sync: a plain launch gave %s\n", hipGetErrorName(error));
    }
    return error == hipErrorLaunchFailure;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "all";
    unsigned groups = unsigned(size_argument(argc, argv, 2, 8));
    bool good;
    if (std::strcmp(what, "plain") == 0) {
        good = plain(groups);
    } else if (std::strcmp(what, "short") == 0) {
        good = meets(groups, groups + 1);
    } else {
        good = relaxes(groups) && sums_in_streams(groups) && meets(groups, groups) && passes(groups);
    }
    return good ? pass("grid_sync") : 1;
}
