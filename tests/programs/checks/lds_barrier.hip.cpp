// A work-group reverses its elements through LDS. WRONG: without a barrier between the wavefronts.
#include "../check.hpp"

__global__ void reverse(int *data)
{
    __shared__ int kept[256];
    kept[threadIdx.x] = data[threadIdx.x];
#ifndef WRONG
    __syncthreads();
#endif
    data[threadIdx.x] = kept[255 - threadIdx.x];
}

int main()
{
    std::vector<int> in(256, 1);
    int *data = to_device(in);
    reverse<<<1, 256>>>(data);
    return hipDeviceSynchronize() == hipSuccess ? 0 : 1;
}
