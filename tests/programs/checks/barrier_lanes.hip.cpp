// Neighbours exchange through LDS. WRONG: half of a wavefront does not reach the barrier.
// finds: divergent-barrier: s_barrier | ds_read
#include "../check.hpp"

__global__ void exchange(int *data)
{
    __shared__ int kept[64];
    kept[threadIdx.x] = data[threadIdx.x];
#ifdef WRONG
    if (threadIdx.x < 32)
#endif
        __syncthreads();
    data[threadIdx.x] = kept[63 - threadIdx.x];
}

int main()
{
    std::vector<int> in(64, 1);
    int *data = to_device(in);
    exchange<<<1, 64>>>(data);
    HIP_MUST(hipDeviceSynchronize());
    HIP_MUST(hipFree(data));
    return 0;
}
