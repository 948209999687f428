// The kernel of traces of API calls that name `vecAdd` (balar's example, and those of the tests), and a variable for their
// copies to and from symbols. Device code only, as module_kernels.hip.cpp.
#include <hip/hip_runtime.h>

__device__ int offsets[16];

__global__ void vecAdd(int *a, int *b, int *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        c[i] = a[i] + b[i] + offsets[i % 16];
    }
}
