// The kernels that module.c loads from a file: `scale`, and a device variable `offset` that it
// adds. Device code only: hipcc --cuda-device-only --no-gpu-bundle-output -c module_kernels.hip.cpp
// -o module_kernels.hsaco
#include <hip/hip_runtime.h>

__device__ int offset;

extern "C" __global__ void scale(const int *in, int *out, short factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = in[i] * factor + offset;
    }
}
