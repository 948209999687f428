/* The _spt names: the same functions for programs compiled with one default stream per host thread
 * (-fgpu-default-stream=per-thread): where others mean the null stream, these mean the calling
 * thread's. */
#include "components/hip/api/hip_internal.h"

#pragma GCC visibility push(default)
#include <hip/amd_detail/amd_hip_runtime_pt_api.h>
#pragma GCC visibility pop

static hipStream_t resolve_stream(hipStream_t stream)
{
    return stream ? stream : hipStreamPerThread;
}

/* Waits for what was enqueued, as the functions without a stream do. */
static hipError_t wait_after(hipError_t error)
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
    return hipMemcpyAsync(to, from, size, kind, resolve_stream(stream));
}

hipError_t hipMemcpyToSymbol_spt(const void *symbol, const void *from, size_t size, size_t offset,
                                 hipMemcpyKind kind)
{
    return wait_after(hipMemcpyToSymbolAsync(symbol, from, size, offset, kind, hipStreamPerThread));
}

hipError_t hipMemcpyFromSymbol_spt(void *to, const void *symbol, size_t size, size_t offset,
                                   hipMemcpyKind kind)
{
    return wait_after(hipMemcpyFromSymbolAsync(to, symbol, size, offset, kind, hipStreamPerThread));
}

hipError_t hipMemcpy2D_spt(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                           size_t width, size_t height, hipMemcpyKind kind)
{
    return wait_after(
        hipMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, hipStreamPerThread));
}

hipError_t hipMemset_spt(void *to, int value, size_t size)
{
    return wait_after(hipMemsetAsync(to, value, size, hipStreamPerThread));
}

hipError_t hipMemset2D_spt(void *to, size_t pitch, int value, size_t width, size_t height)
{
    return wait_after(hipMemset2DAsync(to, pitch, value, width, height, hipStreamPerThread));
}

hipError_t hipStreamQuery_spt(hipStream_t stream)
{
    return hipStreamQuery(resolve_stream(stream));
}

hipError_t hipStreamSynchronize_spt(hipStream_t stream)
{
    return hipStreamSynchronize(resolve_stream(stream));
}

hipError_t hipStreamGetPriority_spt(hipStream_t stream, int *priority)
{
    return hipStreamGetPriority(resolve_stream(stream), priority);
}

hipError_t hipStreamGetFlags_spt(hipStream_t stream, unsigned *flags)
{
    return hipStreamGetFlags(resolve_stream(stream), flags);
}

hipError_t hipStreamWaitEvent_spt(hipStream_t stream, hipEvent_t event, unsigned flags)
{
    return hipStreamWaitEvent(resolve_stream(stream), event, flags);
}

hipError_t hipLaunchKernel_spt(const void *host_function, dim3 grid, dim3 block, void **values,
                               size_t dynamic_lds, hipStream_t stream)
{
    return hipLaunchKernel(host_function, grid, block, values, dynamic_lds, resolve_stream(stream));
}

hipError_t hipLaunchCooperativeKernel_spt(const void *host_function, dim3 grid, dim3 block,
                                          void **values, uint32_t dynamic_lds, hipStream_t stream)
{
    return hipLaunchCooperativeKernel(host_function, grid, block, values, dynamic_lds,
                                      resolve_stream(stream));
}

hipError_t hipMemcpy3D_spt(const struct hipMemcpy3DParms *p)
{
    return wait_after(hipMemcpy3DAsync(p, hipStreamPerThread));
}

hipError_t hipMemset3D_spt(hipPitchedPtr p, int value, hipExtent extent)
{
    return wait_after(hipMemset3DAsync(p, value, extent, hipStreamPerThread));
}
