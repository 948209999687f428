/* Contexts, as far as programs still use them: one per device, always there, never destroyed. A
 * context is the address of its device's state. */
#include "hip_internal.h"

static hipCtx_t context_of(int device)
{
    return (hipCtx_t)(void *)&hip.devices[device];
}

static int device_of(hipCtx_t context)
{
    for (int device = 0; device < hip.device_count; device++) {
        if (context_of(device) == context) {
            return device;
        }
    }
    return -1;
}

static hipError_t get_device_handle(hipDevice_t *handle, int ordinal)
{
    if (!handle || !hip_is_device(ordinal)) {
        return handle ? hipErrorInvalidDevice : hipErrorInvalidValue;
    }
    *handle = ordinal;
    return hipSuccess;
}

hipError_t hipDeviceGet(hipDevice_t *handle, int ordinal)
{
    HIP_API_ALWAYS(get_device_handle(handle, ordinal));
}

static hipError_t use_context(hipCtx_t *context, int device, bool make_current)
{
    if (!context || !hip_is_device(device)) {
        return context ? hipErrorInvalidDevice : hipErrorInvalidValue;
    }
    *context = context_of(device);
    return make_current ? hip_set_current_device(device) : hipSuccess;
}

hipError_t hipCtxCreate(hipCtx_t *context, unsigned flags, hipDevice_t device)
{
    (void)flags;
    HIP_API_ALWAYS(use_context(context, device, true));
}

hipError_t hipCtxDestroy(hipCtx_t context)
{
    HIP_API_ALWAYS(device_of(context) >= 0 ? hipSuccess : hipErrorInvalidContext);
}

hipError_t hipCtxSetCurrent(hipCtx_t context)
{
    HIP_API_ALWAYS(!context                  ? hipSuccess
                   : device_of(context) >= 0 ? hip_set_current_device(device_of(context))
                                             : hipErrorInvalidContext);
}

hipError_t hipCtxPushCurrent(hipCtx_t context)
{
    HIP_API_ALWAYS(device_of(context) >= 0 ? hip_set_current_device(device_of(context))
                                           : hipErrorInvalidContext);
}

hipError_t hipCtxPopCurrent(hipCtx_t *context)
{
    HIP_API_ALWAYS(context ? use_context(context, hip_current_device(), false) : hipSuccess);
}

hipError_t hipCtxGetCurrent(hipCtx_t *context)
{
    HIP_API_ALWAYS(use_context(context, hip_current_device(), false));
}

hipError_t hipCtxGetDevice(hipDevice_t *device)
{
    return hipGetDevice(device);
}

hipError_t hipCtxSynchronize(void)
{
    HIP_API(hip_synchronize_device("hipCtxSynchronize"));
}

hipError_t hipDevicePrimaryCtxRetain(hipCtx_t *context, hipDevice_t device)
{
    HIP_API_ALWAYS(use_context(context, device, false));
}

hipError_t hipDevicePrimaryCtxRelease(hipDevice_t device)
{
    HIP_API_ALWAYS(hip_is_device(device) ? hipSuccess : hipErrorInvalidDevice);
}
