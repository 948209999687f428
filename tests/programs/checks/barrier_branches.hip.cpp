// All wavefronts of a work-group meet. WRONG: at two barriers, one in each branch.
// finds: different-barriers: s_barrier | s_barrier
#include "../check.hpp"

__global__ void exchange(int *data)
{
    __shared__ int kept[256];
    kept[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    int other = kept[threadIdx.x ^ 64];
    if (threadIdx.x < 64) {
        data[threadIdx.x] = other;
#ifdef WRONG
        __syncthreads();
#endif
    } else {
        atomicAdd(&data[threadIdx.x], other);
#ifdef WRONG
        __syncthreads();
#endif
        other *= 3;
    }
#ifndef WRONG
    __syncthreads();
#endif
    kept[threadIdx.x] = other;
    data[threadIdx.x] += kept[threadIdx.x];
}

int main()
{
    std::vector<int> in(256, 1);
    int *data = to_device(in);
    exchange<<<1, 256>>>(data);
    HIP_MUST(hipDeviceSynchronize());
    HIP_MUST(hipFree(data));
    return 0;
}
