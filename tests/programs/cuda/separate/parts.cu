#include "parts.cuh"

__device__ float factor = 1;
__constant__ int offset = 5;
static __device__ int own = 7;

__device__ int twice(int x)
{
    return 2 * x;
}

__device__ int helper(int i)
{
    return table[i % 4] * 100;
}

__device__ int Box::corners() const
{
    return 4;
}

__global__ void other(int *out)
{
    out[threadIdx.x] = threadIdx.x + own;
}

void launch_other(int *out)
{
    other<<<1, 32>>>(out);
}

int set_own_of_parts(int value)
{
    return cudaMemcpyToSymbol(own, &value, sizeof value);
}
