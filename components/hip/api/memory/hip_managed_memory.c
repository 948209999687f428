/* Managed memory as programs ask for it: allocation, prefetches and advice. Its contents move in
 * hip_managed_pages.c. */
#include "components/hip/api/record/hip_record.h"
#include "components/hip/api/streams/hip_stream.h"

#include "hip_host_memory.h"
#include "hip_managed_pages.h"

HIP_DEFINE(hipMallocManaged, (pointer, size, flags), void **pointer, size_t size, unsigned flags)
{
    uint64_t address = 0;
    if (!pointer)
        return hipErrorInvalidValue;
    *pointer = NULL;
    hipError_t error = hip_allocate_managed(size, flags, &address);
    if (error == hipSuccess)
        *pointer = (void *)(uintptr_t)address;
    return error;
}

static hipError_t check_managed(const void *pointer, size_t size)
{
    return hip_managed_holds((uintptr_t)pointer, size) ? hipSuccess : hipErrorInvalidValue;
}

static hipError_t prefetch_to_host(const void *pointer, size_t size)
{
    if (hip.devices[0].info.pages_move)
        hip_record_give_up("it prefetches managed memory to the host, which no trace says");
    return hip_status(hip.api->prefetch(DRIVER_HOST_DEVICE, (uintptr_t)pointer, size));
}

/* A prefetch to a device copies what the host has written. Where the host has memory for managed
 * pages, these come to the device, or go back; elsewhere one to the host does nothing, as the host
 * fetches what it touches. */
HIP_DEFINE(hipMemPrefetchAsync, (pointer, size, device, stream), const void *pointer, size_t size,
           int device, hipStream_t stream)
{
    uint32_t queue = 0;
    int stream_device = 0;
    hipError_t error = check_managed(pointer, size);
    if (error == hipSuccess)
        error = hip_stream_queue(stream, &queue, &stream_device);
    if (error == hipSuccess && device == hipCpuDeviceId)
        return prefetch_to_host(pointer, size);
    if (error != hipSuccess)
        return error;
    if (!hip_is_device(device))
        return hipErrorInvalidDevice;
    error = hip_managed_prepare_use(queue, (uintptr_t)pointer, size, false);
    if (error == hipSuccess)
        error = hip_status(hip.api->prefetch(hip.devices[device].number, (uintptr_t)pointer, size));
    if (error == hipSuccess)
        hip_record_call_to((uintptr_t)pointer,
                           &(struct api_trace_call){.kind = API_TRACE_PREFETCH,
                                                    .is_async = true,
                                                    .size = size,
                                                    .device = (uint32_t)device,
                                                    .stream = hip_stream_number(stream)});
    return error;
}

/* Advice for one GPU holds for all. A preferred GPU is none that pages must go to. */
HIP_DEFINE(hipMemAdvise, (pointer, size, advice, device), const void *pointer, size_t size,
           hipMemoryAdvise advice, int device)
{
    hipError_t error = check_managed(pointer, size);
    enum driver_advice kind = DRIVER_ADVICE_REMOTE;
    bool is_on = false;
    if (error != hipSuccess)
        return error;
    switch (advice) {
    case hipMemAdviseSetReadMostly:
    case hipMemAdviseUnsetReadMostly:
        kind = DRIVER_ADVICE_READ_MOSTLY;
        is_on = advice == hipMemAdviseSetReadMostly;
        break;
    case hipMemAdviseSetPreferredLocation:
    case hipMemAdviseUnsetPreferredLocation:
        is_on = advice == hipMemAdviseSetPreferredLocation && device == hipCpuDeviceId;
        break;
    case hipMemAdviseSetAccessedBy:
    case hipMemAdviseUnsetAccessedBy:
        if (device == hipCpuDeviceId)
            return hipSuccess; /* the host may access everything */
        is_on = advice == hipMemAdviseSetAccessedBy;
        break;
    case hipMemAdviseSetCoarseGrain:
    case hipMemAdviseUnsetCoarseGrain:
        kind = DRIVER_ADVICE_FINE;
        is_on = advice == hipMemAdviseUnsetCoarseGrain;
        break;
    default:
        return hipSuccess;
    }
    if (device != hipCpuDeviceId && !hip_is_device(device))
        return hipErrorInvalidDevice;
    if (kind == DRIVER_ADVICE_FINE || hip.devices[0].info.pages_move)
        hip_record_give_up("it advises where managed memory lies, or how coherent it is, which no "
                           "trace says");
    return hip_status(hip.api->advise((uintptr_t)pointer, size, kind, is_on));
}

HIP_DEFINE(hipStreamAttachMemAsync, (stream, pointer, size, flags), hipStream_t stream,
           void *pointer, size_t size, unsigned flags)
{
    (void)stream, (void)flags;
    return check_managed(pointer, size ? size : 1);
}
