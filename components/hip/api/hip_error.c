/* HIP's errors: names and descriptions, one list in the order of their numbers; a thread's last
 * error; and what answers of the driver are as errors. */
#include "base/number.h"
#include "components/hip/api/process/hip_process.h"
#include "components/host/start/open_platform.h"
#include "runtime/session/run_ledger.h"

#include "hip_internal.h"

/* Names and numbers are those of hip_runtime_api.h; the words are ours. */
#define HIP_ERRORS(X)                                                                              \
    X(hipSuccess, "no error")                                                                      \
    X(hipErrorInvalidValue, "invalid argument")                                                    \
    X(hipErrorOutOfMemory, "out of memory")                                                        \
    X(hipErrorNotInitialized, "initialization error")                                              \
    X(hipErrorDeinitialized, "driver shutting down")                                               \
    X(hipErrorProfilerDisabled, "profiler disabled while using external profiling tool")           \
    X(hipErrorProfilerNotInitialized, "profiler is not initialized")                               \
    X(hipErrorProfilerAlreadyStarted, "profiler already started")                                  \
    X(hipErrorProfilerAlreadyStopped, "profiler already stopped")                                  \
    X(hipErrorInvalidConfiguration, "invalid configuration argument")                              \
    X(hipErrorInvalidPitchValue, "invalid pitch argument")                                         \
    X(hipErrorInvalidSymbol, "invalid device symbol")                                              \
    X(hipErrorInvalidDevicePointer, "invalid device pointer")                                      \
    X(hipErrorInvalidMemcpyDirection, "invalid copy direction for memcpy")                         \
    X(hipErrorInsufficientDriver, "driver version is insufficient for runtime version")            \
    X(hipErrorMissingConfiguration, "global function call is not configured")                      \
    X(hipErrorPriorLaunchFailure, "unspecified launch failure in prior launch")                    \
    X(hipErrorInvalidDeviceFunction, "invalid device function")                                    \
    X(hipErrorNoDevice, "no device is detected")                                                   \
    X(hipErrorInvalidDevice, "invalid device ordinal")                                             \
    X(hipErrorInvalidImage, "device kernel image is invalid")                                      \
    X(hipErrorInvalidContext, "invalid device context")                                            \
    X(hipErrorContextAlreadyCurrent, "context is already current context")                         \
    X(hipErrorMapFailed, "mapping of buffer object failed")                                        \
    X(hipErrorUnmapFailed, "unmapping of buffer object failed")                                    \
    X(hipErrorArrayIsMapped, "array is mapped")                                                    \
    X(hipErrorAlreadyMapped, "resource already mapped")                                            \
    X(hipErrorNoBinaryForGpu, "no kernel image is available for execution on the device")          \
    X(hipErrorAlreadyAcquired, "resource already acquired")                                        \
    X(hipErrorNotMapped, "resource not mapped")                                                    \
    X(hipErrorNotMappedAsArray, "resource not mapped as array")                                    \
    X(hipErrorNotMappedAsPointer, "resource not mapped as pointer")                                \
    X(hipErrorECCNotCorrectable, "uncorrectable ECC error encountered")                            \
    X(hipErrorUnsupportedLimit, "limit is not supported on this architecture")                     \
    X(hipErrorContextAlreadyInUse, "exclusive-thread device already in use")                       \
    X(hipErrorPeerAccessUnsupported, "peer access is not supported between these two devices")     \
    X(hipErrorInvalidKernelFile, "invalid kernel file")                                            \
    X(hipErrorInvalidGraphicsContext, "invalid graphics context")                                  \
    X(hipErrorInvalidSource, "device kernel image is invalid")                                     \
    X(hipErrorFileNotFound, "file not found")                                                      \
    X(hipErrorSharedObjectSymbolNotFound, "shared object symbol not found")                        \
    X(hipErrorSharedObjectInitFailed, "shared object initialization failed")                       \
    X(hipErrorOperatingSystem, "operating system call failed")                                     \
    X(hipErrorInvalidHandle, "invalid resource handle")                                            \
    X(hipErrorIllegalState, "operation cannot be performed in present state")                      \
    X(hipErrorNotFound, "named symbol not found")                                                  \
    X(hipErrorNotReady, "device not ready")                                                        \
    X(hipErrorIllegalAddress, "an illegal memory access was encountered")                          \
    X(hipErrorLaunchOutOfResources, "too many resources requested for launch")                     \
    X(hipErrorLaunchTimeOut, "the launch timed out and was terminated")                            \
    X(hipErrorPeerAccessAlreadyEnabled, "peer access is already enabled")                          \
    X(hipErrorPeerAccessNotEnabled, "peer access has not been enabled")                            \
    X(hipErrorSetOnActiveProcess, "cannot set while device is active in this process")             \
    X(hipErrorContextIsDestroyed, "context is destroyed")                                          \
    X(hipErrorAssert, "device-side assert triggered")                                              \
    X(hipErrorHostMemoryAlreadyRegistered,                                                         \
      "part or all of the requested memory range is already mapped")                               \
    X(hipErrorHostMemoryNotRegistered,                                                             \
      "pointer does not correspond to a registered memory region")                                 \
    X(hipErrorLaunchFailure, "unspecified launch failure")                                         \
    X(hipErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch")                  \
    X(hipErrorNotSupported, "operation not supported")                                             \
    X(hipErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing")        \
    X(hipErrorStreamCaptureInvalidated, "operation failed due to a previous error during capture") \
    X(hipErrorStreamCaptureMerge,                                                                  \
      "operation would result in a merge of separate capture sequences")                           \
    X(hipErrorStreamCaptureUnmatched, "capture was not ended in the same stream as it began")      \
    X(hipErrorStreamCaptureUnjoined, "capturing stream has unjoined work")                         \
    X(hipErrorStreamCaptureIsolation, "dependency created on uncaptured work in another stream")   \
    X(hipErrorStreamCaptureImplicit,                                                               \
      "operation would make the legacy stream depend on a capturing stream")                       \
    X(hipErrorCapturedEvent,                                                                       \
      "operation not permitted on an event last recorded in a capturing stream")                   \
    X(hipErrorStreamCaptureWrongThread,                                                            \
      "attempt to terminate a thread-local capture sequence from another thread")                  \
    X(hipErrorGraphExecUpdateFailure, "the graph update was not performed")                        \
    X(hipErrorUnknown, "unknown error")                                                            \
    X(hipErrorRuntimeMemory, "runtime memory call returned error")                                 \
    X(hipErrorRuntimeOther, "runtime call other than memory returned error")

static const struct {
    int number;
    const char *name, *text;
} names[] = {
#define X(name, text) {name, #name, text},
    HIP_ERRORS(X)
#undef X
};

const char *hipGetErrorName(hipError_t error)
{
    hip_report_call(__func__);
    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        if (names[i].number == (int)error)
            return names[i].name;
    return "hipErrorUnknown";
}

const char *hipGetErrorString(hipError_t error)
{
    hip_report_call(__func__);
    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        if (names[i].number == (int)error)
            return names[i].text;
    return "unknown error";
}

static _Thread_local hipError_t last_error;

void hip_set_last_error(hipError_t error)
{
    last_error = error;
}

hipError_t hipGetLastError(void)
{
    hip_report_call(__func__);
    hipError_t error = last_error;
    hip.has_unseen_error = false;
    last_error = hipSuccess;
    return error;
}

hipError_t hipPeekAtLastError(void)
{
    hip_report_call(__func__);
    hip.has_unseen_error = false;
    return last_error;
}

/* Numbers of cudaError that HIP has no name for. */
enum { CUDA_ERROR_ILLEGAL_INSTRUCTION = 715, CUDA_ERROR_MISALIGNED_ADDRESS = 716 };

/* The error of a kernel by which the device is lost. */
static hipError_t fault_error(void)
{
    static const int errors[] = {
        [DRIVER_PTX_FAULT_NONE] = hipErrorLaunchFailure, /* the machine is at fault */
        [DRIVER_PTX_ADDRESS] = hipErrorIllegalAddress,
        [DRIVER_PTX_MISALIGNED] = CUDA_ERROR_MISALIGNED_ADDRESS,
        [DRIVER_PTX_TRAP] = hipErrorLaunchFailure,
        [DRIVER_PTX_ASSERT] = hipErrorAssert,
        [DRIVER_PTX_STACK] = hipErrorIllegalAddress,
        [DRIVER_PTX_INSTRUCTION] = CUDA_ERROR_ILLEGAL_INSTRUCTION,
    };
    return hip.executes_ptx ? (hipError_t)errors[hip.api->ptx_fault()] : hipErrorIllegalAddress;
}

hipError_t hip_fail(hipError_t error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    hip_say_call_list(format, arguments);
    va_end(arguments);
    return error;
}

hipError_t hip_status(enum driver_status status)
{
    static const hipError_t errors[] = {
        [DRIVER_OK] = hipSuccess,
        [DRIVER_NOT_READY] = hipErrorNotReady,
        [DRIVER_OUT_OF_MEMORY] = hipErrorOutOfMemory,
        [DRIVER_INVALID_DEVICE] = hipErrorInvalidDevice,
        [DRIVER_INVALID_ADDRESS] = hipErrorInvalidValue,
        [DRIVER_INVALID_VALUE] = hipErrorInvalidValue,
        [DRIVER_TOO_LARGE] = hipErrorLaunchOutOfResources,
        [DRIVER_DEADLOCK] = hipErrorLaunchFailure,
        [DRIVER_STALL] = hipErrorIllegalState,
        [DRIVER_LIMIT] = hipErrorLaunchTimeOut,
    };
    if (status == DRIVER_OK || status == DRIVER_NOT_READY)
        return errors[status];
    if ((unsigned)status >= ARRAY_COUNT(errors))
        return hip_fail(hipErrorUnknown, "the driver answered with the unknown status %u",
                        (unsigned)status);
    const hipError_t error = status == DRIVER_FAULT ? fault_error() : errors[status];
    const char *text = hip.api->error_text();
    bool breaks_device = status == DRIVER_FAULT || status == DRIVER_DEADLOCK
                         || status == DRIVER_STALL || status == DRIVER_LIMIT;
    if (breaks_device)
        hip_process_park();
    if (!breaks_device)
        hip_say_call("%s", text);
    else if (hip.device_error == hipSuccess)
        hip_say_lost(text);
    if (breaks_device && hip.device_error == hipSuccess) {
        hip.device_error = error;
        run_ledger_report(exit_status_of(status));
    }
    return error;
}

hipError_t hip_status_of(enum driver_status status, const char *step)
{
    const char *before = hip_set_step(step);
    hipError_t error = hip_status(status);
    hip_set_step(before);
    return error;
}
