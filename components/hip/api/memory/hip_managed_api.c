/* hipMallocManaged and what programs may ask for managed memory; hip_managed.c moves it. */
#include "hip_managed.h"
#include "components/hip/api/hip_recorder.h"
#include "components/hip/api/streams/hip_stream.h"

HIP_DEFINE(hipMallocManaged, (pointer, size, flags), void **pointer, size_t size, unsigned flags)
{
    uint64_t address = 0;
    if (!pointer)
        return hipErrorInvalidValue;
    *pointer = NULL;
    hipError_t error = hip_managed_allocate(size, flags, &address);
    if (error == hipSuccess)
        *pointer = (void *)(uintptr_t)address;
    return error;
}

static hipError_t check(const void *pointer, size_t size)
{
    return hip_managed_holds((uintptr_t)pointer, size) ? hipSuccess : hipErrorInvalidValue;
}

/* To a device: what the host has written is copied. To the host: it fetches what it touches. */
HIP_DEFINE(hipMemPrefetchAsync, (pointer, size, device, stream), const void *pointer, size_t size,
           int device, hipStream_t stream)
{
    uint32_t queue = 0;
    int stream_device = 0;
    hipError_t error = check(pointer, size);
    if (error == hipSuccess)
        error = hip_stream_queue(stream, &queue, &stream_device);
    if (error != hipSuccess || device == hipCpuDeviceId)
        return error;
    if (!hip_is_device(device))
        return hipErrorInvalidDevice;
    error = hip_managed_before_use(queue, (uintptr_t)pointer, size, false);
    struct api_trace_call call = {.kind = API_TRACE_PREFETCH,
                                  .is_async = true,
                                  .size = size,
                                  .device = (uint32_t)device,
                                  .stream = hip_stream_number(stream)};
    if (error == hipSuccess)
        HIP_RECORD_STEP(call_to(&call, (uintptr_t)pointer));
    return error;
}

hipError_t hipMemAdvise(const void *pointer, size_t size, hipMemoryAdvise advice, int device)
{
    (void)advice,
        (void)device; /* hints for systems that hold several copies or map remote memory */
    HIP_API(check(pointer, size));
}

hipError_t hipStreamAttachMemAsync(hipStream_t stream, void *pointer, size_t size, unsigned flags)
{
    (void)stream, (void)flags;
    HIP_API(check(pointer, size ? size : 1));
}
