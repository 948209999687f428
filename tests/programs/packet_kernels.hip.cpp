// Kernels of traces of API calls (tests/system/api_calls/packets), as a code object of their own. `vecAdd` has the signature of the
// program that balar's example trace was made of, so its mangled name is the same.
#include <hip/hip_runtime.h>

__device__ int offsets[4];

__global__ void vecAdd(int *a, int *b, int *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

// Arguments of all sizes, so that each has to be where the code object wants it.
__global__ void mixed(long long *out, char c, long long k, float f, short s, double d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = k * i + c + s + (long long)(f * 4) + (long long)(d * 8) + offsets[i % 4];
}

// Takes its time: a chain of multiplications.
__global__ void slow(int *data, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = data[i];
    for (int r = 0; r < rounds; r++)
        x = x * 3 + 1;
    data[i] = x;
}
