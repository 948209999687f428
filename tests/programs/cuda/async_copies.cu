// Copies to shared memory that overlap with work: the primitives of cuda_pipeline.h in two stages,
// and a stencil whose tiles come with a halo. Prints PASS or FAIL.
#include <cuda_pipeline.h>
#include <cstdio>
#include <vector>

template <int BLOCK> __global__ void staged(const float *in, float *out, int tiles)
{
    alignas(16) __shared__ float buffer[2][BLOCK * 4];
    auto fetch = [&](int tile) {
        if (tile < tiles)
            __pipeline_memcpy_async(&buffer[tile % 2][threadIdx.x * 4],
                                    &in[(tile * BLOCK + threadIdx.x) * 4], 16);
        __pipeline_commit();
    };
    float sum = 0;
    fetch(0);
    for (int tile = 0; tile < tiles; tile++) {
        fetch(tile + 1);
        __pipeline_wait_prior(1);
        __syncthreads();
        const float *b = buffer[tile % 2];
        sum += b[threadIdx.x] + 2 * b[4 * BLOCK - 1 - threadIdx.x];
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}

__global__ void stencil(const int *in, int *out, int n)
{
    __shared__ int tile[64 + 2];
    int i = blockIdx.x * 64 + threadIdx.x;
    __pipeline_memcpy_async(&tile[threadIdx.x + 1], &in[i], sizeof(int));
    if (threadIdx.x == 0)
        __pipeline_memcpy_async(&tile[0], &in[(i + n - 1) % n], sizeof(int));
    if (threadIdx.x == 63)
        __pipeline_memcpy_async(&tile[65], &in[(i + 1) % n], sizeof(int), 0);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[i] = tile[threadIdx.x] - 2 * tile[threadIdx.x + 1] + tile[threadIdx.x + 2];
}

int main()
{
    const int block = 64, tiles = 5, n = 256;
    std::vector<float> h(block * 4 * tiles);
    for (size_t i = 0; i < h.size(); i++)
        h[i] = i % 23;
    float *in, *out, got[block];
    cudaMalloc(&in, h.size() * sizeof(float));
    cudaMalloc(&out, sizeof got);
    cudaMemcpy(in, h.data(), h.size() * sizeof(float), cudaMemcpyHostToDevice);
    staged<block><<<1, block>>>(in, out, tiles);
    cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
    int bad = 0;
    for (int t = 0; t < block; t++) {
        float want = 0;
        for (int k = 0; k < tiles; k++)
            want += h[k * block * 4 + t] + 2 * h[k * block * 4 + 4 * block - 1 - t];
        bad += want != got[t];
    }
    int *a;
    cudaMallocManaged(&a, 2 * n * sizeof(int));
    for (int i = 0; i < n; i++)
        a[i] = i * i % 71;
    stencil<<<n / 64, 64>>>(a, a + n, n);
    bad += cudaDeviceSynchronize() != cudaSuccess;
    for (int i = 0; i < n; i++)
        bad += a[n + i] != a[(i + n - 1) % n] - 2 * a[i] + a[(i + 1) % n];
    printf("%d wrong\n%s\n", bad, bad ? "FAIL" : "PASS");
    cudaFree(in);
    cudaFree(out);
    cudaFree(a);
    return bad != 0;
}
