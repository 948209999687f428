/* Queries of CUDA about streams that HIP lacks. */
#include <string.h>

#include "cuda_internal.h"

static hipError_t check_stream(hipStream_t stream)
{
    unsigned flags;
    return hipStreamGetFlags(stream, &flags);
}

hipError_t cuda_launch_host_function(hipStream_t stream, hipHostFn_t function, void *data)
{
    const struct hip_services *services = cuda_services();
    hipError_t error = services->enter("cudaLaunchHostFunc");
    if (error == hipSuccess && !function)
        error = hipErrorInvalidValue;
    if (error == hipSuccess)
        error = services->call_host(stream,
                                    (struct hip_host_action){.function = function, .data = data});
    return services->leave(error);
}

/* Handles are numbers that are given out once. */
hipError_t cuda_stream_id(hipStream_t stream, unsigned long long *id)
{
    hipError_t error = id ? check_stream(stream) : hipErrorInvalidValue;
    if (error == hipSuccess)
        *id = (uintptr_t)stream;
    return error;
}

hipError_t cuda_stream_device(hipStream_t stream, int *device)
{
    if (!device)
        return hipErrorInvalidValue;
    *device = hipGetStreamDeviceId(stream);
    return *device >= 0 ? hipSuccess : hipErrorInvalidHandle;
}

hipError_t cuda_set_stream_attribute(hipStream_t stream, int attribute, const void *value)
{
    return value && attribute > 0 ? check_stream(stream) : hipErrorInvalidValue;
}

hipError_t cuda_get_stream_attribute(hipStream_t stream, int attribute, void *value)
{
    hipError_t error = cuda_set_stream_attribute(stream, attribute, value);
    if (error == hipSuccess)
        memset(value, 0, sizeof((struct cuda_launch_attribute *)NULL)->value);
    return error;
}

hipError_t cuda_copy_stream_attributes(hipStream_t to, hipStream_t from)
{
    hipError_t error = check_stream(to);
    return error == hipSuccess ? check_stream(from) : error;
}

/* The mode says what a capture in one thread forbids in others. Nothing is forbidden here, so the
 * mode is only kept. */
hipError_t cuda_exchange_capture_mode(hipStreamCaptureMode *mode)
{
    static _Thread_local hipStreamCaptureMode thread_mode = hipStreamCaptureModeGlobal;
    if (!mode || (unsigned)*mode > hipStreamCaptureModeRelaxed)
        return hipErrorInvalidValue;
    const hipStreamCaptureMode old_mode = thread_mode;
    thread_mode = *mode;
    *mode = old_mode;
    return hipSuccess;
}

hipError_t cuda_capture_info(hipStream_t stream, hipStreamCaptureStatus *status,
                             unsigned long long *id, const void *graph, const void *dependencies)
{
    hipStreamCaptureStatus hip_status = hipStreamCaptureStatusNone;
    unsigned long long number = 0;
    hipError_t error =
        status ? hipStreamGetCaptureInfo(stream, &hip_status, &number) : hipErrorInvalidValue;
    if (error != hipSuccess)
        return error;
    if (hip_status != hipStreamCaptureStatusNone && (graph || dependencies))
        return cuda_fail_missing("cudaStreamGetCaptureInfo for the graph of a capture");
    *status = hip_status;
    if (id)
        *id = number;
    return hipSuccess;
}
