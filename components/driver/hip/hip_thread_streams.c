/* The _spt names: the same functions for programs compiled with one null stream per host thread.
 * All null streams share one queue, so nothing differs. */
#include "hip_internal.h"

#pragma GCC visibility push(default)
#include <hip/amd_detail/amd_hip_runtime_pt_api.h>
#pragma GCC visibility pop

hipError_t hipMemcpy_spt(void *to, const void *from, size_t size, hipMemcpyKind kind)
{
    return hipMemcpy(to, from, size, kind);
}

hipError_t hipMemcpyAsync_spt(void *to, const void *from, size_t size, hipMemcpyKind kind,
                              hipStream_t stream)
{
    return hipMemcpyAsync(to, from, size, kind, stream);
}

hipError_t hipMemcpyToSymbol_spt(const void *symbol, const void *from, size_t size, size_t offset,
                                 hipMemcpyKind kind)
{
    return hipMemcpyToSymbol(symbol, from, size, offset, kind);
}

hipError_t hipMemcpyFromSymbol_spt(void *to, const void *symbol, size_t size, size_t offset,
                                   hipMemcpyKind kind)
{
    return hipMemcpyFromSymbol(to, symbol, size, offset, kind);
}

hipError_t hipMemcpy2D_spt(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                           size_t width, size_t height, hipMemcpyKind kind)
{
    return hipMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}

hipError_t hipMemset_spt(void *to, int value, size_t size)
{
    return hipMemset(to, value, size);
}

hipError_t hipMemset2D_spt(void *to, size_t pitch, int value, size_t width, size_t height)
{
    return hipMemset2D(to, pitch, value, width, height);
}

hipError_t hipStreamQuery_spt(hipStream_t stream)
{
    return hipStreamQuery(stream);
}

hipError_t hipStreamSynchronize_spt(hipStream_t stream)
{
    return hipStreamSynchronize(stream);
}

hipError_t hipStreamGetPriority_spt(hipStream_t stream, int *priority)
{
    return hipStreamGetPriority(stream, priority);
}

hipError_t hipStreamGetFlags_spt(hipStream_t stream, unsigned *flags)
{
    return hipStreamGetFlags(stream, flags);
}

hipError_t hipStreamWaitEvent_spt(hipStream_t stream, hipEvent_t event, unsigned flags)
{
    return hipStreamWaitEvent(stream, event, flags);
}

hipError_t hipLaunchKernel_spt(const void *host_function, dim3 grid, dim3 block, void **values,
                               size_t dynamic_lds, hipStream_t stream)
{
    return hipLaunchKernel(host_function, grid, block, values, dynamic_lds, stream);
}
