// Host memory that kernels use: mapped and portable allocations, registered memory, a flag that the
// host waits for while the kernel runs, and system-wide atomics. Prints PASS or FAIL.
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void doubled(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 2 * in[i];
}

__global__ void produce(volatile int *data, volatile int *flag, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        data[i] = i * i;
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0)
        *flag = 1;
}

__global__ void count(int *total, unsigned long long *most)
{
    atomicAdd_system(total, (int)threadIdx.x);
    atomicMax_system(most, (unsigned long long)threadIdx.x << 33);
    atomicAdd_block(total + 1, 1);
}

int main()
{
    const int n = 500;
    int *in, *din, *dout, bad = 0;
    cudaDeviceProp properties;
    cudaGetDeviceProperties(&properties, 0);
    if (!properties.canMapHostMemory || !properties.unifiedAddressing)
        return puts("FAIL"), 1;
    cudaSetDeviceFlags(cudaDeviceMapHost | cudaDeviceScheduleBlockingSync);
    bad += cudaHostAlloc(&in, n * sizeof(int), cudaHostAllocMapped | cudaHostAllocPortable) != 0;
    int *out = (int *)aligned_alloc(4096, 4096);
    bad += cudaHostRegister(out, 4096, cudaHostRegisterMapped) != cudaSuccess;
    for (int i = 0; i < n; i++)
        in[i] = i - 250;
    bad += cudaHostGetDevicePointer((void **)&din, in, 0) != cudaSuccess;
    bad += cudaHostGetDevicePointer((void **)&dout, out, 0) != cudaSuccess;
    doubled<<<(n + 63) / 64, 64>>>(din, dout, n);
    bad += cudaDeviceSynchronize() != cudaSuccess;
    for (int i = 0; i < n; i++)
        bad += out[i] != 2 * (i - 250);
    unsigned flags = 0;
    cudaHostGetFlags(&flags, in);
    bad += !(flags & cudaHostAllocMapped);
    cudaPointerAttributes attributes;
    cudaPointerGetAttributes(&attributes, in);
    bad += attributes.type != cudaMemoryTypeHost || attributes.devicePointer != din;
    bad += cudaHostUnregister(out) != cudaSuccess;
    free(out);

    volatile int *shared;
    cudaHostAlloc((void **)&shared, 1024 * sizeof(int), cudaHostAllocMapped);
    memset((void *)shared, 0, 1024 * sizeof(int));
    produce<<<1, 64>>>(shared + 1, shared, 1000);
    while (*shared == 0)
        cudaStreamQuery(0);
    for (int i = 0; i < 1000; i++)
        bad += shared[1 + i] != i * i;
    cudaDeviceSynchronize();

    int *total;
    unsigned long long *most;
    cudaMallocManaged(&total, 2 * sizeof *total);
    cudaMallocManaged(&most, sizeof *most);
    *most = 0;
    total[0] = total[1] = 0;
    count<<<2, 64>>>(total, most);
    cudaDeviceSynchronize();
    bad += total[0] != 2 * 2016 || total[1] != 128 || *most != 63ULL << 33;
    cudaFreeHost(in);
    cudaFreeHost((void *)shared);
    printf("%d wrong, %s\n%s\n", bad, cudaGetErrorString(cudaGetLastError()),
           bad ? "FAIL" : "PASS");
    cudaFree(total);
    cudaFree(most);
    return bad != 0;
}
