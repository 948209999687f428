// What clocks say: cycles of a load that misses, of one that hits, and of a loop that waits for the
// clock, with its nanoseconds. Prints them.
#include <cstdio>

static __device__ unsigned long long nanoseconds()
{
    unsigned long long t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    return t;
}

__global__ void measure(const int *data, long long span, long long *out)
{
    long long t0 = clock64();
    int v = data[threadIdx.x];
    long long t1 = clock64();
    v += data[threadIdx.x + v];
    long long t2 = clock64();
    unsigned long long from = nanoseconds();
    long long start = clock64(), now = start;
    while (now - start < span)
        now = clock64();
    unsigned long long to = nanoseconds();
    if (threadIdx.x == 0) {
        out[0] = t1 - t0;
        out[1] = t2 - t1;
        out[2] = now - start;
        out[3] = (long long)(to - from);
        out[4] = v;
    }
}

int main()
{
    long long *out, told[5];
    int *data;
    cudaMalloc(&out, sizeof told);
    cudaMalloc(&data, 4096);
    cudaMemset(data, 0, 4096);
    measure<<<1, 64>>>(data, 20000, out);
    cudaMemcpy(told, out, sizeof told, cudaMemcpyDeviceToHost);
    std::printf("miss %lld hit %lld loop %lld nanoseconds %lld\n", told[0], told[1], told[2], told[3]);
    cudaFree(out);
    cudaFree(data);
    return cudaGetLastError() != cudaSuccess;
}
