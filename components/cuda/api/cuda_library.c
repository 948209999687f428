/* The begin and end of generated functions, and handles of default streams. */
#include "cuda_internal.h"

const struct hip_services *cuda_services(void)
{
    return heddleServices();
}

const char *cuda_begin(const char *function)
{
    return heddleServices()->begin_outer_call(function);
}

hipError_t cuda_end(const char *before, hipError_t error)
{
    if (error != hipSuccess && error != hipErrorNotReady)
        heddleServices()->set_last_error(error);
    heddleServices()->end_outer_call(before);
    return error;
}

hipError_t cuda_fail_missing(const char *function)
{
    heddleServices()->say(
        "%s: not in this CUDA library; the program goes on with "
        "cudaErrorNotSupported (reference/cuda.md of './dev docs' lists what works)",
        function);
    heddleServices()->report_call(function);
    heddleServices()->set_last_error(hipErrorNotSupported);
    return hipErrorNotSupported;
}

hipError_t cuda_nothing(void)
{
    return hipSuccess;
}

static uintptr_t number_of(hipStream_t stream)
{
    return (uintptr_t)stream;
}

hipStream_t cuda_stream(hipStream_t stream)
{
    return number_of(stream) == CUDA_STREAM_LEGACY       ? NULL
           : number_of(stream) == CUDA_STREAM_PER_THREAD ? hipStreamPerThread
                                                         : stream;
}

hipStream_t cuda_stream_own(hipStream_t stream)
{
    return stream ? cuda_stream(stream) : hipStreamPerThread;
}
