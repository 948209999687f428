// What programs ask of symbols, functions, devices and occupancy before they launch, with
// launches by cudaLaunchKernelEx. Prints PASS or FAIL.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime_api.h>

__constant__ float coefficients[32];
__device__ int counter = 41;
__device__ double matrix[4][4];
static __device__ unsigned flags[2] = {1, 2};

#define EXPECT(what)                                                                               \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            std::printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #what);                         \
            bad++;                                                                                 \
        }                                                                                          \
    } while (0)

template <typename T> __global__ void __launch_bounds__(128, 2) scale(T *data, int n, T by)
{
    __shared__ T tile[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < n ? data[i] : T(0);
    __syncthreads();
    if (i < n)
        data[i] = tile[threadIdx.x] * by + T(coefficients[threadIdx.x % 32]);
    if (i == 0)
        atomicAdd(&counter, 1 + (int)flags[0]);
}
__global__ void dynamic(int *out)
{
    extern __shared__ int room[];
    room[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = room[blockDim.x - 1 - threadIdx.x];
}

int main()
{
    int bad = 0, device = -1, value = 0, blocks = 0, grid = 0, block = 0, least, greatest;
    cudaDeviceProp prop;
    EXPECT(cudaGetDevice(&device) == cudaSuccess && device == 0);
    EXPECT(cudaGetDeviceProperties(&prop, 0) == cudaSuccess && prop.warpSize == 32
           && prop.major >= 8);
    EXPECT(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0) == cudaSuccess
           && value == prop.multiProcessorCount);
    EXPECT(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0) == cudaSuccess
           && (size_t)value == prop.sharedMemPerBlockOptin && value > 48 << 10);
    EXPECT(cudaDeviceGetAttribute(&value, cudaDevAttrConcurrentManagedAccess, 0) == cudaSuccess);
    EXPECT(cudaDeviceGetAttribute(&value, cudaDevAttrCooperativeLaunch, 0) == cudaSuccess && value);
    EXPECT(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMinor, 0) == cudaSuccess
           && value == prop.minor);
    EXPECT(cudaDeviceGetStreamPriorityRange(&least, &greatest) == cudaSuccess && greatest <= least);

    void *address = nullptr;
    size_t size = 0;
    EXPECT(cudaGetSymbolAddress(&address, counter) == cudaSuccess && address);
    EXPECT(cudaGetSymbolSize(&size, matrix) == cudaSuccess && size == sizeof matrix);
    EXPECT(cudaGetSymbolSize(&size, coefficients) == cudaSuccess && size == 128);
    EXPECT(cudaMemcpy(&value, address, sizeof value, cudaMemcpyDeviceToHost) == cudaSuccess
           && value == 41);
    value = 100;
    EXPECT(cudaMemcpyToSymbolAsync(counter, &value, sizeof value, 0, cudaMemcpyHostToDevice, 0)
           == cudaSuccess);
    double row[4] = {1, 2, 3, 4}, back[4] = {};
    EXPECT(cudaMemcpyToSymbol(matrix, row, sizeof row, 2 * sizeof row) == cudaSuccess);
    EXPECT(cudaMemcpyFromSymbol(back, matrix, sizeof back, 2 * sizeof row) == cudaSuccess
           && back[3] == 4);
    EXPECT(cudaMemcpyToSymbol(matrix, row, sizeof row, 4 * sizeof row) == cudaErrorInvalidValue);
    cudaGetLastError();
    cudaPointerAttributes where;
    EXPECT(cudaPointerGetAttributes(&where, address) == cudaSuccess
           && where.type == cudaMemoryTypeDevice);
    EXPECT(cudaPointerGetAttributes(&where, &bad) == cudaSuccess
           && where.type == cudaMemoryTypeUnregistered);

    cudaFuncAttributes facts;
    EXPECT(cudaFuncGetAttributes(&facts, scale<float>) == cudaSuccess
           && facts.sharedSizeBytes == 512 && facts.maxThreadsPerBlock == 128 && facts.numRegs > 0
           && facts.binaryVersion >= 80);
    EXPECT(cudaFuncGetAttributes(&facts, (const void *)dynamic) == cudaSuccess
           && facts.sharedSizeBytes == 0 && facts.maxThreadsPerBlock == 1024);
    EXPECT(cudaOccupancyMaxPotentialBlockSize(&grid, &block, scale<float>, 0, 0) == cudaSuccess
           && block == 128 && grid >= prop.multiProcessorCount);
    EXPECT(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale<float>, 128, 0)
               == cudaSuccess
           && blocks >= 2 && blocks <= prop.maxThreadsPerMultiProcessor / 128);
    EXPECT(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, dynamic, 64,
                                                         prop.sharedMemPerMultiprocessor / 2)
               == cudaSuccess
           && blocks <= 2);
    EXPECT(cudaOccupancyMaxPotentialBlockSizeVariableSMem(
               &grid, &block, dynamic, [](int threads) { return threads * sizeof(int); })
               == cudaSuccess
           && block % 32 == 0);
    EXPECT(cudaOccupancyAvailableDynamicSMemPerBlock(&size, dynamic, 2, 128) == cudaSuccess
           && size > 16 << 10);
    EXPECT(cudaFuncSetCacheConfig(dynamic, cudaFuncCachePreferL1) == cudaSuccess);
    EXPECT(cudaFuncSetAttribute(dynamic, cudaFuncAttributePreferredSharedMemoryCarveout, 50)
           == cudaSuccess);
    EXPECT(cudaDeviceSetLimit(cudaLimitStackSize, 2048) == cudaSuccess);
    EXPECT(cudaDeviceGetLimit(&size, cudaLimitStackSize) == cudaSuccess && size >= 2048);

    float h[32], *data;
    int *out;
    for (int i = 0; i < 32; i++)
        h[i] = 0.5f * i;
    EXPECT(cudaMemcpyToSymbol(coefficients, h, sizeof h) == cudaSuccess);
    EXPECT(cudaMallocManaged(&data, 256 * sizeof(float)) == cudaSuccess);
    EXPECT(cudaMallocManaged(&out, 64 * sizeof(int)) == cudaSuccess);
    for (int i = 0; i < 256; i++)
        data[i] = i;
    cudaStream_t stream;
    EXPECT(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest) == cudaSuccess);
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(2);
    config.blockDim = dim3(128);
    config.stream = stream;
    EXPECT(cudaLaunchKernelEx(&config, scale<float>, data, 256, 2.0f) == cudaSuccess);
    EXPECT(cudaStreamSynchronize(stream) == cudaSuccess);
    for (int i = 0; i < 256; i++)
        bad += data[i] != 2.0f * i + 0.5f * (i % 32);
    EXPECT(cudaMemcpyFromSymbol(&value, counter, sizeof value) == cudaSuccess && value == 102);
    config.gridDim = 1;
    config.blockDim = 64;
    config.dynamicSmemBytes = 64 * sizeof(int);
    EXPECT(cudaLaunchKernelEx(&config, dynamic, out) == cudaSuccess);
    EXPECT(cudaStreamSynchronize(stream) == cudaSuccess && out[0] == 63 && out[63] == 0);
    void *arguments[] = {&out};
    EXPECT(cudaLaunchCooperativeKernel((const void *)dynamic, dim3(1), dim3(64), arguments, 256,
                                       stream)
           == cudaSuccess);
    cudaError_t state = cudaStreamQuery(stream);
    EXPECT(state == cudaSuccess || state == cudaErrorNotReady);
    EXPECT(cudaStreamDestroy(stream) == cudaSuccess);
    size_t free_bytes, total_bytes;
    EXPECT(cudaMemGetInfo(&free_bytes, &total_bytes) == cudaSuccess && free_bytes < total_bytes);
    std::printf("%d wrong\n%s\n", bad, bad ? "FAIL" : "PASS");
    cudaFree(data);
    cudaFree(out);
    return bad != 0;
}
