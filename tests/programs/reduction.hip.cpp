// Sums integers: a tree in dynamic LDS in each work-group, then one atomic a group, and a second
// kernel that reduces per-group sums within one wavefront by shuffles. Arguments: [elements].
#include "check.hpp"

constexpr int group = 256;

__global__ void reduce_groups(const int *in, int *partial, int *total, int n)
{
    extern __shared__ int sums[];
    int thread = threadIdx.x;
    int sum = 0;
    for (int i = blockIdx.x * group + thread; i < n; i += gridDim.x * group) {
        sum += in[i];
    }
    sums[thread] = sum;
    __syncthreads();
    for (int half = group / 2; half > 0; half /= 2) {
        if (thread < half) {
            sums[thread] += sums[thread + half];
        }
        __syncthreads();
    }
    if (thread == 0) {
        partial[blockIdx.x] = sums[0];
        atomicAdd(total, sums[0]);
    }
}

__global__ void reduce_partials(const int *partial, int groups, int *total)
{
    int sum = static_cast<int>(threadIdx.x) < groups ? partial[threadIdx.x] : 0;
    for (int offset = wave / 2; offset > 0; offset /= 2) {
        sum += __shfl_down(sum, offset);
    }
    if (threadIdx.x == 0) {
        *total = sum;
    }
}

int main(int argc, char **argv)
{
    int n = size_argument(argc, argv, 1, 20000);
    int groups = 16;
    random_source random;
    std::vector<int> in(n), totals(2, 0), want(2, 0), partial(groups);
    for (int i = 0; i < n; i++) {
        in[i] = static_cast<int>(random.next() % 2001u) - 1000;
        want[0] += in[i];
    }
    want[1] = want[0];
    int *din = to_device(in), *dpartial = to_device(partial), *dtotals = to_device(totals);
    reduce_groups<<<groups, group, group * sizeof(int)>>>(din, dpartial, dtotals, n);
    reduce_partials<<<1, wave>>>(dpartial, groups, dtotals + 1);
    HIP_MUST(hipDeviceSynchronize());
    from_device(totals, dtotals);
    return same_or_report("reduction", totals, want) ? pass("reduction") : 1;
}
