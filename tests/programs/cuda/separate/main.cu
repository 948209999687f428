// A program whose device code lies in two files. Prints PASS or FAIL.
#include "parts.cuh"

#include <cstdio>

__device__ int table[4] = {1, 2, 3, 4};
static __device__ int own = 30;
__device__ int (*chosen)(int) = twice;

__global__ void kernel(int *out)
{
    Box box;
    const Shape *shape = &box;
    int i = threadIdx.x;
    out[i] = chosen(i) + offset + helper(i) + (int)factor + own + 10000 * shape->corners();
}

int main()
{
    int *out, bad = 0, value = 60, before = 0;
    float f = 10;
    cudaMallocManaged(&out, 32 * sizeof(int));
    bad += cudaMemcpyToSymbol(factor, &f, sizeof f) != cudaSuccess;
    bad += cudaMemcpyFromSymbol(&before, own, sizeof before) != cudaSuccess || before != 30;
    bad += cudaMemcpyToSymbol(own, &value, sizeof value) != cudaSuccess;
    bad += set_own_of_parts(8);
    kernel<<<1, 32>>>(out);
    bad += cudaDeviceSynchronize() != cudaSuccess;
    for (int i = 0; i < 32; i++)
        bad += out[i] != 2 * i + 5 + (i % 4 + 1) * 100 + 10 + 60 + 40000;
    launch_other(out);
    bad += cudaDeviceSynchronize() != cudaSuccess;
    for (int i = 0; i < 32; i++)
        bad += out[i] != i + 8;
    printf("%d wrong\n%s\n", bad, bad ? "FAIL" : "PASS");
    return bad != 0;
}
