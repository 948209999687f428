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

/* What was enqueued is awaited, as the functions without a stream do. */
static hipError_t then_wait(hipError_t error)
{
    return error == hipSuccess ? hipStreamSynchronize(hipStreamPerThread) : error;
}

hipError_t hipMemcpy_spt(void *to, const void *from, size_t size, hipMemcpyKind kind)
{
    return hipMemcpyWithStream(to, from, size, kind, hipStreamPerThread);
}

hipError_t hipMemcpyAsync_spt(void *to, const void *from, size_t size, hipMemcpyKind kind,
                              hipStream_t stream)
{
    return hipMemcpyAsync(to, from, size, kind, own(stream));
}

hipError_t hipMemcpyToSymbol_spt(const void *symbol, const void *from, size_t size, size_t offset,
                                 hipMemcpyKind kind)
{
    return then_wait(hipMemcpyToSymbolAsync(symbol, from, size, offset, kind, hipStreamPerThread));
}

hipError_t hipMemcpyFromSymbol_spt(void *to, const void *symbol, size_t size, size_t offset,
                                   hipMemcpyKind kind)
{
    return then_wait(hipMemcpyFromSymbolAsync(to, symbol, size, offset, kind, hipStreamPerThread));
}

hipError_t hipMemcpy2D_spt(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                           size_t width, size_t height, hipMemcpyKind kind)
{
    return then_wait(
        hipMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, hipStreamPerThread));
}

hipError_t hipMemset_spt(void *to, int value, size_t size)
{
    return then_wait(hipMemsetAsync(to, value, size, hipStreamPerThread));
}

hipError_t hipMemset2D_spt(void *to, size_t pitch, int value, size_t width, size_t height)
{
    return then_wait(hipMemset2DAsync(to, pitch, value, width, height, hipStreamPerThread));
}

hipError_t hipStreamQuery_spt(hipStream_t stream)
{
    return hipStreamQuery(own(stream));
}

hipError_t hipStreamSynchronize_spt(hipStream_t stream)
{
    return hipStreamSynchronize(own(stream));
}

hipError_t hipStreamGetPriority_spt(hipStream_t stream, int *priority)
{
    return hipStreamGetPriority(own(stream), priority);
}

hipError_t hipStreamGetFlags_spt(hipStream_t stream, unsigned *flags)
{
    return hipStreamGetFlags(own(stream), flags);
}

hipError_t hipStreamWaitEvent_spt(hipStream_t stream, hipEvent_t event, unsigned flags)
{
    return hipStreamWaitEvent(own(stream), event, flags);
}

hipError_t hipLaunchKernel_spt(const void *host_function, dim3 grid, dim3 block, void **values,
                               size_t dynamic_lds, hipStream_t stream)
{
    return hipLaunchKernel(host_function, grid, block, values, dynamic_lds, own(stream));
}

hipError_t hipLaunchCooperativeKernel_spt(const void *host_function, dim3 grid, dim3 block,
                                          void **values, uint32_t dynamic_lds, hipStream_t stream)
{
    return hipLaunchCooperativeKernel(host_function, grid, block, values, dynamic_lds, own(stream));
}

hipError_t hipMemcpy3D_spt(const struct hipMemcpy3DParms *p)
{
    return then_wait(hipMemcpy3DAsync(p, hipStreamPerThread));
}

hipError_t hipMemset3D_spt(hipPitchedPtr p, int value, hipExtent extent)
{
    return then_wait(hipMemset3DAsync(p, value, extent, hipStreamPerThread));
}
