// Two wavefronts recurse. WRONG: one of them deeper than its private memory allows.
// finds: stack-overflow: buffer_store_dword
#include "../check.hpp"

__device__ __attribute__((noinline)) int depth(int n, volatile int *data)
{
    volatile int kept[64];
    kept[n & 63] = n;
    return n == 0 ? data[0] : depth(n - 1, data) + kept[n & 63];
}

__global__ void recurse(int *data, int n)
{
    data[threadIdx.x] = depth(threadIdx.x < 64 ? n : 1, data + 128);
}

int main()
{
    std::vector<int> in(256, 1);
    int *data = to_device(in);
#ifdef WRONG
    recurse<<<1, 128>>>(data, 70);
#else
    recurse<<<1, 128>>>(data, 7);
#endif
    HIP_MUST(hipDeviceSynchronize());
    HIP_MUST(hipFree(data));
    return 0;
}
