/* The _spt names: the same functions for programs compiled with one default stream per host thread
 * (-fgpu-default-stream=per-thread): where others mean the null stream, these mean the calling
 * thread's. */
#include "components/hip/api/hip_internal.h"

#pragma GCC visibility push(default)
#include <hip/amd_detail/amd_hip_runtime_pt_api.h>
#pragma GCC visibility pop

static hipStream_t own(hipStream_t stream)
{
    return stream ? stream : hipStreamPerThread;
}

/* Waits for what was enqueued, as the functions without a stream do. */
static hipError_t then_wait(hipError_t error)
{
    return error == hipSuccess ? hipStreamSynchronize(hipStreamPerThread) : error;
}

#define PER_THREAD(name, parameters, ...)                                                          \
    hipError_t name parameters                                                                     \
    {                                                                                              \
        return __VA_ARGS__;                                                                        \
    }                                                                                              \
    hipError_t name parameters

PER_THREAD(hipMemcpy_spt, (void *to, const void *from, size_t size, hipMemcpyKind kind),
           hipMemcpyWithStream(to, from, size, kind, hipStreamPerThread));
PER_THREAD(hipMemcpyAsync_spt,
           (void *to, const void *from, size_t size, hipMemcpyKind kind, hipStream_t stream),
           hipMemcpyAsync(to, from, size, kind, own(stream)));
PER_THREAD(hipMemcpyToSymbol_spt,
           (const void *symbol, const void *from, size_t size, size_t offset, hipMemcpyKind kind),
           then_wait(hipMemcpyToSymbolAsync(symbol, from, size, offset, kind, hipStreamPerThread)));
PER_THREAD(hipMemcpyFromSymbol_spt,
           (void *to, const void *symbol, size_t size, size_t offset, hipMemcpyKind kind),
           then_wait(hipMemcpyFromSymbolAsync(to, symbol, size, offset, kind, hipStreamPerThread)));
PER_THREAD(hipMemcpy2D_spt,
           (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
            size_t height, hipMemcpyKind kind),
           then_wait(hipMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind,
                                      hipStreamPerThread)));
PER_THREAD(hipMemset_spt, (void *to, int value, size_t size),
           then_wait(hipMemsetAsync(to, value, size, hipStreamPerThread)));
PER_THREAD(hipMemset2D_spt, (void *to, size_t pitch, int value, size_t width, size_t height),
           then_wait(hipMemset2DAsync(to, pitch, value, width, height, hipStreamPerThread)));
PER_THREAD(hipStreamQuery_spt, (hipStream_t stream), hipStreamQuery(own(stream)));
PER_THREAD(hipStreamSynchronize_spt, (hipStream_t stream), hipStreamSynchronize(own(stream)));
PER_THREAD(hipStreamGetPriority_spt, (hipStream_t stream, int *priority),
           hipStreamGetPriority(own(stream), priority));
PER_THREAD(hipStreamGetFlags_spt, (hipStream_t stream, unsigned *flags),
           hipStreamGetFlags(own(stream), flags));
PER_THREAD(hipStreamWaitEvent_spt, (hipStream_t stream, hipEvent_t event, unsigned flags),
           hipStreamWaitEvent(own(stream), event, flags));
PER_THREAD(hipLaunchKernel_spt,
           (const void *host_function, dim3 grid, dim3 block, void **values, size_t dynamic_lds,
            hipStream_t stream),
           hipLaunchKernel(host_function, grid, block, values, dynamic_lds, own(stream)));
PER_THREAD(hipLaunchCooperativeKernel_spt,
           (const void *host_function, dim3 grid, dim3 block, void **values, uint32_t dynamic_lds,
            hipStream_t stream),
           hipLaunchCooperativeKernel(host_function, grid, block, values, dynamic_lds,
                                      own(stream)));
PER_THREAD(hipMemcpy3D_spt, (const struct hipMemcpy3DParms *p),
           then_wait(hipMemcpy3DAsync(p, hipStreamPerThread)));
PER_THREAD(hipMemset3D_spt, (hipPitchedPtr p, int value, hipExtent extent),
           then_wait(hipMemset3DAsync(p, value, extent, hipStreamPerThread)));
