/* Contexts, to the extent that programs still use them: one per device, never destroyed. A context
 * is the address of its device's state. Each host thread has a stack of contexts. The one pushed
 * last is current until hipSetDevice() chooses another device, which leaves the stack as it is.
 * AMD's library does the same (clr, hip_context.cpp). */
#include "base/grow.h"
#include "components/hip/api/hip_internal.h"

enum { STACK_MAX = 65536 };

static _Thread_local struct {
    size_t depth, capacity;
    uint16_t *device;
} stack;
_Static_assert(HIP_DEVICES_MAX <= UINT16_MAX + 1, "device numbers fit the stack");

static hipCtx_t context_of(int device)
{
    return (hipCtx_t)(void *)&hip.devices[device];
}

static int device_of(hipCtx_t context)
{
    for (int device = 0; device < hip.device_count; device++)
        if (context_of(device) == context)
            return device;
    return -1;
}

HIP_DEFINE_ALWAYS(hipDeviceGet, (handle, ordinal), hipDevice_t *handle, int ordinal)
{
    if (!handle || !hip_is_device(ordinal))
        return handle ? hipErrorInvalidDevice : hipErrorInvalidValue;
    *handle = ordinal;
    return hipSuccess;
}

static hipError_t push(int device)
{
    if (stack.depth == STACK_MAX) {
        hip_say("more than %d contexts are on the stack of a thread: hipCtxPopCurrent is missing",
                STACK_MAX);
        return hipErrorOutOfMemory;
    }
    grow_list(stack.device, stack.depth + 1, stack.capacity, HIP_LIBRARY);
    hipError_t error = hip_set_current_device(device);
    if (error == hipSuccess)
        stack.device[stack.depth++] = (uint16_t)device;
    return error;
}

/* The context below becomes current. If there is none, the device stays. */
static hipError_t pop(void)
{
    if (!stack.depth)
        return hipErrorInvalidContext;
    stack.depth--;
    return stack.depth ? hip_set_current_device(stack.device[stack.depth - 1]) : hipSuccess;
}

static hipError_t return_context(hipCtx_t *context, int device)
{
    if (!context || !hip_is_device(device))
        return context ? hipErrorInvalidDevice : hipErrorInvalidValue;
    *context = context_of(device);
    return hipSuccess;
}

HIP_DEFINE_ALWAYS(hipCtxCreate, (context, flags, device), hipCtx_t *context, unsigned flags,
                  hipDevice_t device)
{
    (void)flags;
    hipError_t error = return_context(context, device);
    return error == hipSuccess ? push(device) : error;
}

HIP_DEFINE_ALWAYS(hipCtxDestroy, (context), hipCtx_t context)
{
    int device = device_of(context);
    if (device < 0)
        return hipErrorInvalidContext;
    return stack.depth && stack.device[stack.depth - 1] == device ? pop() : hipSuccess;
}

/* The context replaces the top of the stack; NULL removes the top. */
HIP_DEFINE_ALWAYS(hipCtxSetCurrent, (context), hipCtx_t context)
{
    int device = device_of(context);
    if (context && device < 0)
        return hipErrorInvalidContext;
    if (!context)
        return stack.depth ? pop() : hipSuccess;
    stack.depth -= stack.depth > 0;
    return push(device);
}

HIP_DEFINE_ALWAYS(hipCtxPushCurrent, (context), hipCtx_t context)
{
    return device_of(context) >= 0 ? push(device_of(context)) : hipErrorInvalidContext;
}

HIP_DEFINE_ALWAYS(hipCtxPopCurrent, (context), hipCtx_t *context)
{
    int top = stack.depth ? stack.device[stack.depth - 1] : -1;
    hipError_t error = pop();
    if (error == hipSuccess && context)
        *context = context_of(top);
    return error;
}

HIP_DEFINE_ALWAYS(hipCtxGetCurrent, (context), hipCtx_t *context)
{
    return return_context(context, hip_current_device());
}

hipError_t hipCtxGetDevice(hipDevice_t *device)
{
    return hipGetDevice(device);
}

HIP_DEFINE(hipCtxSynchronize, (), void)
{
    return hip_synchronize_device();
}

HIP_DEFINE_ALWAYS(hipDevicePrimaryCtxRetain, (context, device), hipCtx_t *context,
                  hipDevice_t device)
{
    return return_context(context, device);
}

HIP_DEFINE_ALWAYS(hipDevicePrimaryCtxRelease, (device), hipDevice_t device)
{
    return hip_is_device(device) ? hipSuccess : hipErrorInvalidDevice;
}

HIP_DEFINE(hipDevicePrimaryCtxReset, (device), hipDevice_t device)
{
    return hip_is_device(device) ? hipSuccess : hipErrorInvalidDevice;
}

HIP_DEFINE_ALWAYS(hipDevicePrimaryCtxSetFlags, (device, flags), hipDevice_t device, unsigned flags)
{
    (void)flags; /* how a host thread waits, as in hipSetDeviceFlags */
    return hip_is_device(device) ? hipSuccess : hipErrorInvalidDevice;
}

/* The primary context of a device is there as long as the device is. */
static hipError_t primary_state(hipDevice_t device, unsigned *flags, int *active)
{
    if (!hip_is_device(device))
        return hipErrorInvalidDevice;
    if (flags)
        *flags = hipDeviceScheduleAuto;
    if (active)
        *active = 1;
    return hipSuccess;
}

HIP_DEFINE_ALWAYS(hipDevicePrimaryCtxGetState, (device, flags, active), hipDevice_t device,
                  unsigned *flags, int *active)
{
    return primary_state(device, flags, active);
}

HIP_DEFINE_ALWAYS(hipCtxGetFlags, (flags), unsigned *flags)
{
    return flags ? primary_state(hip_current_device(), flags, NULL) : hipErrorInvalidValue;
}

HIP_DEFINE_ALWAYS(hipCtxGetApiVersion, (context, version), hipCtx_t context, int *version)
{
    if (!version || (context && device_of(context) < 0))
        return version ? hipErrorInvalidContext : hipErrorInvalidValue;
    *version = 4; /* the version of context calls in all versions of HIP */
    return hipSuccess;
}

hipError_t hipCtxGetCacheConfig(hipFuncCache_t *config)
{
    return hipDeviceGetCacheConfig(config);
}

hipError_t hipCtxSetCacheConfig(hipFuncCache_t config)
{
    return hipDeviceSetCacheConfig(config);
}

hipError_t hipCtxGetSharedMemConfig(hipSharedMemConfig *config)
{
    return hipDeviceGetSharedMemConfig(config);
}

hipError_t hipCtxSetSharedMemConfig(hipSharedMemConfig config)
{
    return hipDeviceSetSharedMemConfig(config);
}

hipError_t hipCtxEnablePeerAccess(hipCtx_t peer, unsigned flags)
{
    return hipDeviceEnablePeerAccess(device_of(peer), flags);
}

hipError_t hipCtxDisablePeerAccess(hipCtx_t peer)
{
    return hipDeviceDisablePeerAccess(device_of(peer));
}
