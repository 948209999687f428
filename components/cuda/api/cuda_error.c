/* Names and descriptions of CUDA's errors: one list, in the order of their numbers, which are those
 * of the manual (cudaError). The words are those that programs and their tests expect. */
#include "cuda_internal.h"

#define CUDA_ERRORS(X)                                                                             \
    X(0, Success, "no error")                                                                      \
    X(1, ErrorInvalidValue, "invalid argument")                                                    \
    X(2, ErrorMemoryAllocation, "out of memory")                                                   \
    X(3, ErrorInitializationError, "initialization error")                                         \
    X(4, ErrorCudartUnloading, "driver shutting down")                                             \
    X(5, ErrorProfilerDisabled, "profiler disabled while using external profiling tool")           \
    X(6, ErrorProfilerNotInitialized, "profiler not initialized: call cudaProfilerInitialize()")   \
    X(7, ErrorProfilerAlreadyStarted, "profiler already started")                                  \
    X(8, ErrorProfilerAlreadyStopped, "profiler already stopped")                                  \
    X(9, ErrorInvalidConfiguration, "invalid configuration argument")                              \
    X(12, ErrorInvalidPitchValue, "invalid pitch argument")                                        \
    X(13, ErrorInvalidSymbol, "invalid device symbol")                                             \
    X(16, ErrorInvalidHostPointer, "invalid host pointer")                                         \
    X(17, ErrorInvalidDevicePointer, "invalid device pointer")                                     \
    X(18, ErrorInvalidTexture, "invalid texture reference")                                        \
    X(19, ErrorInvalidTextureBinding, "texture is not bound to a pointer")                         \
    X(20, ErrorInvalidChannelDescriptor, "invalid channel descriptor")                             \
    X(21, ErrorInvalidMemcpyDirection, "invalid copy direction for memcpy")                        \
    X(22, ErrorAddressOfConstant, "invalid address of constant")                                   \
    X(23, ErrorTextureFetchFailed, "texture fetch failed")                                         \
    X(24, ErrorTextureNotBound, "cannot fetch from a texture that is not bound")                   \
    X(25, ErrorSynchronizationError, "incorrect use of __syncthreads()")                           \
    X(26, ErrorInvalidFilterSetting, "linear filtering not supported for non-float type")          \
    X(27, ErrorInvalidNormSetting, "read as normalized float not supported for 32-bit non float")  \
    X(28, ErrorMixedDeviceExecution, "mixing of device and device emulation code")                 \
    X(31, ErrorNotYetImplemented, "feature not yet implemented")                                   \
    X(32, ErrorMemoryValueTooLarge, "memory value too large")                                      \
    X(34, ErrorStubLibrary, "CUDA driver is a stub library")                                       \
    X(35, ErrorInsufficientDriver, "CUDA driver version is insufficient for CUDA runtime version") \
    X(36, ErrorCallRequiresNewerDriver, "API call is not supported in the installed CUDA driver")  \
    X(37, ErrorInvalidSurface, "invalid surface reference")                                        \
    X(43, ErrorDuplicateVariableName, "duplicate global variable looked up by string name")        \
    X(44, ErrorDuplicateTextureName, "duplicate texture looked up by string name")                 \
    X(45, ErrorDuplicateSurfaceName, "duplicate surface looked up by string name")                 \
    X(46, ErrorDevicesUnavailable, "all CUDA-capable devices are busy or unavailable")             \
    X(49, ErrorIncompatibleDriverContext, "incompatible driver context")                           \
    X(52, ErrorMissingConfiguration, "__global__ function call is not configured")                 \
    X(53, ErrorPriorLaunchFailure, "unspecified launch failure in prior launch")                   \
    X(65, ErrorLaunchMaxDepthExceeded, "launch would exceed maximum depth of nested launches")     \
    X(66, ErrorLaunchFileScopedTex, "launch failed because kernel uses file-scoped textures")      \
    X(67, ErrorLaunchFileScopedSurf, "launch failed because kernel uses file-scoped surfaces")     \
    X(68, ErrorSyncDepthExceeded,                                                                  \
      "cudaDeviceSynchronize failed because caller's grid depth "                                  \
      "exceeds cudaLimitDevRuntimeSyncDepth")                                                      \
    X(69, ErrorLaunchPendingCountExceeded,                                                         \
      "launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount")           \
    X(98, ErrorInvalidDeviceFunction, "invalid device function")                                   \
    X(100, ErrorNoDevice, "no CUDA-capable device is detected")                                    \
    X(101, ErrorInvalidDevice, "invalid device ordinal")                                           \
    X(102, ErrorDeviceNotLicensed, "device doesn't have valid Grid license")                       \
    X(103, ErrorSoftwareValidityNotEstablished, "integrity checks failed")                         \
    X(127, ErrorStartupFailure, "startup failure in cuda runtime")                                 \
    X(200, ErrorInvalidKernelImage, "device kernel image is invalid")                              \
    X(201, ErrorDeviceUninitialized, "invalid device context")                                     \
    X(205, ErrorMapBufferObjectFailed, "mapping of buffer object failed")                          \
    X(206, ErrorUnmapBufferObjectFailed, "unmapping of buffer object failed")                      \
    X(207, ErrorArrayIsMapped, "array is mapped")                                                  \
    X(208, ErrorAlreadyMapped, "resource already mapped")                                          \
    X(209, ErrorNoKernelImageForDevice,                                                            \
      "no kernel image is available for execution on the device")                                  \
    X(210, ErrorAlreadyAcquired, "resource already acquired")                                      \
    X(211, ErrorNotMapped, "resource not mapped")                                                  \
    X(212, ErrorNotMappedAsArray, "resource not mapped as array")                                  \
    X(213, ErrorNotMappedAsPointer, "resource not mapped as pointer")                              \
    X(214, ErrorECCUncorrectable, "uncorrectable ECC error encountered")                           \
    X(215, ErrorUnsupportedLimit, "limit is not supported on this architecture")                   \
    X(216, ErrorDeviceAlreadyInUse,                                                                \
      "exclusive-thread device already in use by a different thread")                              \
    X(217, ErrorPeerAccessUnsupported, "peer access is not supported between these two devices")   \
    X(218, ErrorInvalidPtx, "a PTX JIT compilation failed")                                        \
    X(219, ErrorInvalidGraphicsContext, "invalid OpenGL or DirectX context")                       \
    X(220, ErrorNvlinkUncorrectable, "uncorrectable NVLink error detected during the execution")   \
    X(221, ErrorJitCompilerNotFound, "PTX JIT compiler library not found")                         \
    X(222, ErrorUnsupportedPtxVersion,                                                             \
      "the provided PTX was compiled with an unsupported toolchain.")                              \
    X(223, ErrorJitCompilationDisabled, "PTX JIT compilation was disabled")                        \
    X(224, ErrorUnsupportedExecAffinity, "the provided execution affinity is not supported")       \
    X(300, ErrorInvalidSource, "device kernel image is invalid")                                   \
    X(301, ErrorFileNotFound, "file not found")                                                    \
    X(302, ErrorSharedObjectSymbolNotFound, "shared object symbol not found")                      \
    X(303, ErrorSharedObjectInitFailed, "shared object initialization failed")                     \
    X(304, ErrorOperatingSystem, "OS call failed or operation not supported on this OS")           \
    X(400, ErrorInvalidResourceHandle, "invalid resource handle")                                  \
    X(401, ErrorIllegalState, "the operation cannot be performed in the present state")            \
    X(500, ErrorSymbolNotFound, "named symbol not found")                                          \
    X(600, ErrorNotReady, "device not ready")                                                      \
    X(700, ErrorIllegalAddress, "an illegal memory access was encountered")                        \
    X(701, ErrorLaunchOutOfResources, "too many resources requested for launch")                   \
    X(702, ErrorLaunchTimeout, "the launch timed out and was terminated")                          \
    X(703, ErrorLaunchIncompatibleTexturing, "launch uses incompatible texturing mode")            \
    X(704, ErrorPeerAccessAlreadyEnabled, "peer access is already enabled")                        \
    X(705, ErrorPeerAccessNotEnabled, "peer access has not been enabled")                          \
    X(708, ErrorSetOnActiveProcess, "cannot set while device is active in this process")           \
    X(709, ErrorContextIsDestroyed, "context is destroyed")                                        \
    X(710, ErrorAssert, "device-side assert triggered")                                            \
    X(711, ErrorTooManyPeers, "peer mapping resources exhausted")                                  \
    X(712, ErrorHostMemoryAlreadyRegistered,                                                       \
      "part or all of the requested memory range is already mapped")                               \
    X(713, ErrorHostMemoryNotRegistered,                                                           \
      "pointer does not correspond to a registered memory region")                                 \
    X(714, ErrorHardwareStackError, "hardware stack error")                                        \
    X(715, ErrorIllegalInstruction, "an illegal instruction was encountered")                      \
    X(716, ErrorMisalignedAddress, "misaligned address")                                           \
    X(717, ErrorInvalidAddressSpace, "operation not supported on global/shared address space")     \
    X(718, ErrorInvalidPc, "invalid program counter")                                              \
    X(719, ErrorLaunchFailure, "unspecified launch failure")                                       \
    X(720, ErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch")                \
    X(800, ErrorNotPermitted, "operation not permitted")                                           \
    X(801, ErrorNotSupported, "operation not supported")                                           \
    X(802, ErrorSystemNotReady, "system not yet initialized")                                      \
    X(803, ErrorSystemDriverMismatch,                                                              \
      "system has unsupported display driver / cuda driver "                                       \
      "combination")                                                                               \
    X(804, ErrorCompatNotSupportedOnDevice,                                                        \
      "forward compatibility was attempted on non supported "                                      \
      "HW")                                                                                        \
    X(900, ErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing")      \
    X(901, ErrorStreamCaptureInvalidated,                                                          \
      "operation failed due to a previous error during capture")                                   \
    X(902, ErrorStreamCaptureMerge,                                                                \
      "operation would result in a merge of separate capture sequences")                           \
    X(903, ErrorStreamCaptureUnmatched, "capture was not ended in the same stream as it began")    \
    X(904, ErrorStreamCaptureUnjoined, "capturing stream has unjoined work")                       \
    X(905, ErrorStreamCaptureIsolation, "dependency created on uncaptured work in another stream") \
    X(906, ErrorStreamCaptureImplicit,                                                             \
      "operation would make the legacy stream depend on a capturing blocking stream")              \
    X(907, ErrorCapturedEvent,                                                                     \
      "operation not permitted on an event last recorded in a capturing stream")                   \
    X(908, ErrorStreamCaptureWrongThread,                                                          \
      "attempt to terminate a thread-local capture sequence from another thread")                  \
    X(909, ErrorTimeout, "wait operation timed out")                                               \
    X(910, ErrorGraphExecUpdateFailure,                                                            \
      "the graph update was not performed because it included changes which violated "             \
      "constraints specific to instantiated graph update")                                         \
    X(911, ErrorExternalDevice, "an async error has occurred in external entity outside of CUDA")  \
    X(912, ErrorInvalidClusterSize,                                                                \
      "a kernel launch error has occurred due to cluster "                                         \
      "misconfiguration")                                                                          \
    X(913, ErrorFunctionNotLoaded,                                                                 \
      "the function handle is not loaded when calling an API that "                                \
      "requires a loaded function")                                                                \
    X(914, ErrorInvalidResourceType, "the resource type is not valid for the operation")           \
    X(915, ErrorInvalidResourceConfiguration, "the resource configuration is not valid")           \
    X(999, ErrorUnknown, "unknown error")

static const struct {
    int number;
    const char *name, *text;
} errors[] = {
#define X(number, name, text) {number, "cuda" #name, text},
    CUDA_ERRORS(X)
#undef X
};

const char *cuda_error_name(int error)
{
    cuda_face()->called("cudaGetErrorName");
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].number == error)
            return errors[i].name;
    return "unrecognized error code";
}

const char *cuda_error_text(int error)
{
    cuda_face()->called("cudaGetErrorString");
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].number == error)
            return errors[i].text;
    return "unrecognized error code";
}
