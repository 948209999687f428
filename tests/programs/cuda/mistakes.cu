// Mistakes, one a run, whose messages are in CUDA's words: `mistakes KIND`.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

template <typename T> __global__ void outside(T *to, long long n)
{
    to[n] = 1;
}

int main(int, char **argv)
{
    float *data;
    cudaError_t error = cudaMalloc(&data, 1024);
    if (!std::strcmp(argv[1], "outside")) {
        outside<float><<<1, 32>>>(data, 1ll << 44);
        error = cudaDeviceSynchronize();
    } else if (!std::strcmp(argv[1], "block")) {
        outside<float><<<1, 5000>>>(data, 0);
        error = cudaGetLastError();
    } else if (!std::strcmp(argv[1], "shared")) {
        outside<float><<<1, 32, 1 << 20>>>(data, 0);
        error = cudaGetLastError();
    } else if (!std::strcmp(argv[1], "free")) {
        error = cudaFree(&data);
    }
    std::puts(cudaGetErrorName(error));
    return 0;
}
