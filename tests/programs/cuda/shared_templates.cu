// Dynamic shared memory behind templates, as NVIDIA's reductions have it: a wrapper specialised by
// type, block sizes as parameters of templates chosen by a switch, several arrays in one buffer,
// more than 48 KiB by attribute. Prints PASS or FAIL.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <vector>

template <class T> struct SharedMemory {
    __device__ inline operator T *()
    {
        extern __shared__ int __smem[];
        return (T *)__smem;
    }
    __device__ inline operator const T *() const
    {
        extern __shared__ int __smem[];
        return (T *)__smem;
    }
};
template <> struct SharedMemory<double> {
    __device__ inline operator double *()
    {
        extern __shared__ double __smem_d[];
        return (double *)__smem_d;
    }
};

struct Max {
    template <typename T> __host__ __device__ T operator()(T a, T b) const
    {
        return a > b ? a : b;
    }
};
struct Sum {
    template <typename T> __host__ __device__ T operator()(T a, T b) const
    {
        return a + b;
    }
};

template <typename T, typename Op, unsigned int blockSize, bool nIsPow2>
__global__ void reduce6(const T *g_idata, T *g_odata, unsigned int n, T identity, Op op)
{
    T *sdata = SharedMemory<T>();
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * blockSize * 2 + threadIdx.x;
    unsigned int gridSize = blockSize * 2 * gridDim.x;
    T mine = identity;
    while (i < n) {
        mine = op(mine, g_idata[i]);
        if (nIsPow2 || i + blockSize < n)
            mine = op(mine, g_idata[i + blockSize]);
        i += gridSize;
    }
    sdata[tid] = mine;
    __syncthreads();
#pragma unroll
    for (unsigned int half = blockSize / 2; half >= 32; half >>= 1) {
        if (tid < half)
            sdata[tid] = mine = op(mine, sdata[tid + half]);
        __syncthreads();
    }
    if (tid < 32)
        for (int offset = 16; offset > 0; offset /= 2)
            mine = op(mine, __shfl_down_sync(0xffffffffu, mine, offset));
    if (tid == 0)
        g_odata[blockIdx.x] = mine;
}

template <typename T, typename Op>
void launch(const T *in, T *out, unsigned n, int threads, int blocks, T identity, Op op)
{
    size_t smem = threads <= 32 ? 2 * threads * sizeof(T) : threads * sizeof(T);
    bool pow2 = (n & (n - 1)) == 0;
    switch (threads) {
#define CASE(size)                                                                                 \
    case size:                                                                                     \
        if (pow2)                                                                                  \
            reduce6<T, Op, size, true><<<blocks, size, smem>>>(in, out, n, identity, op);          \
        else                                                                                       \
            reduce6<T, Op, size, false><<<blocks, size, smem>>>(in, out, n, identity, op);         \
        break
        CASE(512);
        CASE(256);
        CASE(128);
        CASE(64);
    }
}

template <typename T> int check(unsigned n)
{
    std::vector<T> h(n);
    for (unsigned i = 0; i < n; i++)
        h[i] = (T)((i * 37u) % 1001u);
    T *in, *out, got[4];
    cudaMalloc((void **)&in, n * sizeof(T));
    cudaMalloc((void **)&out, sizeof got);
    cudaMemcpy(in, &h[0], n * sizeof(T), cudaMemcpyHostToDevice);
    int bad = 0;
    for (int threads : {64, 128, 256, 512}) {
        launch<T>(in, out, n, threads, 4, T(0), Sum());
        cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
        T want = 0;
        for (T v : h)
            want += v;
        bad += got[0] + got[1] + got[2] + got[3] != want;
        launch<T>(in, out, n, threads, 4, T(0), Max());
        cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
        bad += *std::max_element(got, got + 4) != *std::max_element(h.begin(), h.end());
    }
    cudaFree(in);
    cudaFree(out);
    return bad;
}

extern __shared__ unsigned char arena[];

__global__ void carve(int *out, int floats, int shorts)
{
    float *f = (float *)arena;
    short *s = (short *)(arena + floats * sizeof(float));
    for (int i = threadIdx.x; i < floats; i += blockDim.x)
        f[i] = i * 0.25f;
    for (int i = threadIdx.x; i < shorts; i += blockDim.x)
        s[i] = (short)(i * 3);
    __syncthreads();
    unsigned bytes;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
    out[threadIdx.x] = (int)f[floats - 1 - threadIdx.x] + s[shorts - 1 - threadIdx.x] + (int)bytes;
}

int main()
{
    int bad = check<int>(4096) + check<float>(3000) + check<double>(2048) + check<unsigned>(1000);
    const int floats = 12000, shorts = 8000, bytes = floats * 4 + shorts * 2;
    int *out;
    cudaMallocManaged(&out, 64 * sizeof(int));
    carve<<<1, 64, bytes>>>(out, floats, shorts);
    bad += cudaGetLastError() != cudaErrorInvalidValue;
    bad += cudaFuncSetAttribute(carve, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)
           != cudaSuccess;
    carve<<<1, 64, bytes>>>(out, floats, shorts);
    bad += cudaDeviceSynchronize() != cudaSuccess;
    for (int i = 0; i < 64; i++)
        bad += out[i] != (int)((floats - 1 - i) * 0.25f) + (shorts - 1 - i) * 3 + bytes;
    std::printf("%d wrong\n%s\n", bad, bad ? "FAIL" : "PASS");
    cudaFree(out);
    return bad != 0;
}
