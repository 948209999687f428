// Wavefronts exchange through LDS. WRONG: a store may be done behind the barrier.
// finds: early-barrier: ds_write_b32 | s_barrier
#include "hazard.hpp"

__global__ void exchange(int *data)
{
    __shared__ int kept[128];
    unsigned at = 4 * threadIdx.x;
    asm volatile("s_mov_b32 m0, -1\n"
                 "ds_write_b32 %0, %1\n" UNLESS_WRONG("s_waitcnt lgkmcnt(0)") "s_barrier\n"
                 "s_waitcnt lgkmcnt(0)"
                 :
                 : "v"(at), "v"(data[threadIdx.x]), "v"(kept)
                 : "m0", "memory");
    data[threadIdx.x] = kept[127 - threadIdx.x];
}

int main()
{
    std::vector<int> in(128, 1);
    int *data = to_device(in);
    exchange<<<1, 128>>>(data);
    HIP_MUST(hipDeviceSynchronize());
    HIP_MUST(hipFree(data));
    return 0;
}
