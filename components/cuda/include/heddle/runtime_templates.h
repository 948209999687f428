/* The part of CUDA's runtime for C++ only: typed pointers, kernels as functions, symbols by
 * reference.
 */
#ifndef HEDDLE_CUDA_RUNTIME_TEMPLATES_H
#define HEDDLE_CUDA_RUNTIME_TEMPLATES_H

#include "cuda_runtime_api.h"

#define HEDDLE_TEMPLATE template <typename T> static inline __host__ cudaError_t

HEDDLE_TEMPLATE cudaMalloc(T **pointer, size_t size)
{
    return ::cudaMalloc((void **)(void *)pointer, size);
}
HEDDLE_TEMPLATE cudaMallocHost(T **pointer, size_t size, unsigned int flags = 0)
{
    return ::cudaHostAlloc((void **)(void *)pointer, size, flags);
}
HEDDLE_TEMPLATE cudaHostAlloc(T **pointer, size_t size, unsigned int flags)
{
    return ::cudaHostAlloc((void **)(void *)pointer, size, flags);
}
HEDDLE_TEMPLATE cudaMallocManaged(T **pointer, size_t size,
                                  unsigned int flags = cudaMemAttachGlobal)
{
    return ::cudaMallocManaged((void **)(void *)pointer, size, flags);
}
HEDDLE_TEMPLATE cudaMallocPitch(T **pointer, size_t *pitch, size_t width, size_t height)
{
    return ::cudaMallocPitch((void **)(void *)pointer, pitch, width, height);
}
HEDDLE_TEMPLATE cudaMallocAsync(T **pointer, size_t size, cudaStream_t stream)
{
    return ::cudaMallocAsync((void **)(void *)pointer, size, stream);
}
HEDDLE_TEMPLATE cudaMallocAsync(T **pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream)
{
    return ::cudaMallocFromPoolAsync((void **)(void *)pointer, size, pool, stream);
}
HEDDLE_TEMPLATE cudaMallocFromPoolAsync(T **pointer, size_t size, cudaMemPool_t pool,
                                        cudaStream_t stream)
{
    return ::cudaMallocFromPoolAsync((void **)(void *)pointer, size, pool, stream);
}
HEDDLE_TEMPLATE cudaHostGetDevicePointer(T **pointer, void *host, unsigned int flags)
{
    return ::cudaHostGetDevicePointer((void **)(void *)pointer, host, flags);
}
static inline __host__ cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned int flags)
{
    return ::cudaEventCreateWithFlags(event, flags);
}

static inline __host__ cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
                                                        cudaGraphNode_t *, char *, size_t)
{
    return ::cudaGraphInstantiate(exec, graph, 0);
}

HEDDLE_TEMPLATE cudaMemcpyToSymbol(const T &symbol, const void *from, size_t size,
                                   size_t offset = 0,
                                   enum cudaMemcpyKind kind = cudaMemcpyHostToDevice)
{
    return ::cudaMemcpyToSymbol((const void *)&symbol, from, size, offset, kind);
}
HEDDLE_TEMPLATE cudaMemcpyToSymbolAsync(const T &symbol, const void *from, size_t size,
                                        size_t offset = 0,
                                        enum cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                        cudaStream_t stream = 0)
{
    return ::cudaMemcpyToSymbolAsync((const void *)&symbol, from, size, offset, kind, stream);
}
HEDDLE_TEMPLATE cudaMemcpyFromSymbol(void *to, const T &symbol, size_t size, size_t offset = 0,
                                     enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost)
{
    return ::cudaMemcpyFromSymbol(to, (const void *)&symbol, size, offset, kind);
}
HEDDLE_TEMPLATE cudaMemcpyFromSymbolAsync(void *to, const T &symbol, size_t size, size_t offset = 0,
                                          enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                          cudaStream_t stream = 0)
{
    return ::cudaMemcpyFromSymbolAsync(to, (const void *)&symbol, size, offset, kind, stream);
}
HEDDLE_TEMPLATE cudaGetSymbolAddress(void **pointer, const T &symbol)
{
    return ::cudaGetSymbolAddress(pointer, (const void *)&symbol);
}
HEDDLE_TEMPLATE cudaGetSymbolSize(size_t *size, const T &symbol)
{
    return ::cudaGetSymbolSize(size, (const void *)&symbol);
}

HEDDLE_TEMPLATE cudaLaunchKernel(T *kernel, dim3 grid, dim3 block, void **values, size_t shared = 0,
                                 cudaStream_t stream = 0)
{
    return ::cudaLaunchKernel((const void *)kernel, grid, block, values, shared, stream);
}
HEDDLE_TEMPLATE cudaLaunchCooperativeKernel(T *kernel, dim3 grid, dim3 block, void **values,
                                            size_t shared = 0, cudaStream_t stream = 0)
{
    return ::cudaLaunchCooperativeKernel((const void *)kernel, grid, block, values, shared, stream);
}
template <typename... Parameters, typename... Values>
static inline __host__ cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config,
                                                      void (*kernel)(Parameters...),
                                                      Values &&...values)
{
    return [&](Parameters... converted) {
        void *pointers[] = {&converted..., nullptr};
        return ::cudaLaunchKernelExC(config, (const void *)kernel, pointers);
    }(static_cast<Values &&>(values)...);
}
HEDDLE_TEMPLATE cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, T *kernel)
{
    return ::cudaFuncGetAttributes(attributes, (const void *)kernel);
}
HEDDLE_TEMPLATE cudaFuncSetAttribute(T *kernel, enum cudaFuncAttribute attribute, int value)
{
    return ::cudaFuncSetAttribute((const void *)kernel, attribute, value);
}
HEDDLE_TEMPLATE cudaFuncSetCacheConfig(T *kernel, enum cudaFuncCache config)
{
    return ::cudaFuncSetCacheConfig((const void *)kernel, config);
}
HEDDLE_TEMPLATE cudaFuncSetSharedMemConfig(T *kernel, enum cudaSharedMemConfig config)
{
    return ::cudaFuncSetSharedMemConfig((const void *)kernel, config);
}
HEDDLE_TEMPLATE cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *count, T *kernel, int threads,
                                                              size_t shared)
{
    return ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(count, (const void *)kernel, threads,
                                                           shared);
}
HEDDLE_TEMPLATE cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *count, T *kernel,
                                                                       int threads, size_t shared,
                                                                       unsigned int flags)
{
    return ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(count, (const void *)kernel,
                                                                    threads, shared, flags);
}
HEDDLE_TEMPLATE cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, T *kernel, int blocks,
                                                          int threads)
{
    return ::cudaOccupancyAvailableDynamicSMemPerBlock(bytes, (const void *)kernel, blocks,
                                                       threads);
}
HEDDLE_TEMPLATE cudaOccupancyMaxActiveClusters(int *count, T *kernel,
                                               const cudaLaunchConfig_t *config)
{
    return ::cudaOccupancyMaxActiveClusters(count, (const void *)kernel, config);
}
HEDDLE_TEMPLATE cudaOccupancyMaxPotentialClusterSize(int *blocks, T *kernel,
                                                     const cudaLaunchConfig_t *config)
{
    return ::cudaOccupancyMaxPotentialClusterSize(blocks, (const void *)kernel, config);
}

/* The largest block of those that fill a multiprocessor best, and the grid that fills the device.
 */
template <typename T, typename Shared>
static inline __host__ cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(
    int *grid, int *block, T *kernel, Shared shared, int limit = 0)
{
    int device = 0, processors = 0, best = 0;
    struct cudaFuncAttributes attributes;
    cudaError_t error = ::cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = ::cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error = ::cudaFuncGetAttributes(&attributes, (const void *)kernel);
    if (error != cudaSuccess)
        return error;
    int most = attributes.maxThreadsPerBlock;
    if (limit > 0 && limit < most)
        most = limit;
    for (int threads = (most + 31) / 32 * 32; threads > 0; threads -= 32) {
        int count = 0, tried = threads < most ? threads : most;
        error = ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, (const void *)kernel, tried,
                                                                shared(tried));
        if (error != cudaSuccess)
            return error;
        if (count * tried > best) {
            best = count * tried;
            *block = tried;
            *grid = count * processors;
        }
    }
    return cudaSuccess;
}
HEDDLE_TEMPLATE cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, T *kernel,
                                                   size_t shared = 0, int limit = 0)
{
    return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
        grid, block, kernel, [shared](int) { return shared; }, limit);
}

template <typename T, typename Shared>
static inline __host__ cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
    int *grid, int *block, T *kernel, Shared shared, int limit = 0, unsigned int = 0)
{
    return cudaOccupancyMaxPotentialBlockSizeVariableSMem(grid, block, kernel, shared, limit);
}
HEDDLE_TEMPLATE cudaOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, T *kernel,
                                                            size_t shared = 0, int limit = 0,
                                                            unsigned int = 0)
{
    return cudaOccupancyMaxPotentialBlockSize(grid, block, kernel, shared, limit);
}

/* The format of texels of type T. */
template <typename T> inline __host__ struct cudaChannelFormatDesc cudaCreateChannelDesc();
#define HEDDLE_FORMAT(type, bits, y, z, w, kind)                                                   \
    template <> inline __host__ struct cudaChannelFormatDesc cudaCreateChannelDesc<type>() {       \
        return ::cudaCreateChannelDesc(bits, y, z, w, cudaChannelFormatKind##kind);                \
    }
#define HEDDLE_FORMATS(scalar, name, bits, kind)                                                   \
    HEDDLE_FORMAT(scalar, bits, 0, 0, 0, kind)                                                     \
    HEDDLE_FORMAT(name##1, bits, 0, 0, 0, kind)                                                    \
    HEDDLE_FORMAT(name##2, bits, bits, 0, 0, kind)                                                 \
    HEDDLE_FORMAT(name##4, bits, bits, bits, bits, kind)
HEDDLE_FORMATS(signed char, char, 8, Signed)
HEDDLE_FORMATS(unsigned char, uchar, 8, Unsigned)
HEDDLE_FORMATS(short, short, 16, Signed)
HEDDLE_FORMATS(unsigned short, ushort, 16, Unsigned)
HEDDLE_FORMATS(int, int, 32, Signed)
HEDDLE_FORMATS(unsigned int, uint, 32, Unsigned)
HEDDLE_FORMATS(float, float, 32, Float)
HEDDLE_FORMAT(char, 8, 0, 0, 0, Signed)
#undef HEDDLE_FORMATS
#undef HEDDLE_FORMAT

#undef HEDDLE_TEMPLATE

#endif
