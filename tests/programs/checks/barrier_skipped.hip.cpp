// Work-items behind the end of the data return before the barrier, which is allowed. WRONG: a
// wavefront goes past the barrier instead.
// finds: skipped-barrier: s_barrier | flat_store
#include "../check.hpp"

__global__ void exchange(int *data, int size)
{
    __shared__ int kept[256];
    int i = threadIdx.x;
    kept[i] = i < size ? data[i] : 0;
#ifdef WRONG
    if (i < size) {
        __syncthreads();
    }
#else
    if (i >= size) {
        return;
    }
    __syncthreads();
#endif
    data[i] = kept[i ^ 64];
}

int main()
{
    std::vector<int> in(256, 1);
    int *data = to_device(in);
    exchange<<<1, 256>>>(data, 128);
    HIP_MUST(hipDeviceSynchronize());
    HIP_MUST(hipFree(data));
    return 0;
}
