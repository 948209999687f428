/* Contexts. Each device has its primary context, always there, in which programs find themselves
 * without asking; hipCtxCreate() makes more, each a process of its own on the same GPU: its memory,
 * code and streams are its own, and a kernel that touches those of another faults. A context is the
 * address of the state of its device; a created one is a device like those of
 * heddleCreateContext(), under the number of its GPU wherever the program asks.
 *
 * Each thread has a stack of contexts, whose top is the current one (CUDA Driver API, "Context
 * Management"). An empty stack means the primary context of whatever hipSetDevice() said last.
 *
 * AMD's library knows primary contexts only: there hipCtxCreate() gives the device's own one, and
 * all of them see each other's memory. */
#include "hip_internal.h"

enum { STACK_MOST = 64 };

static _Thread_local int stack[STACK_MOST];
static _Thread_local int depth;

static hipCtx_t context_of(int device)
{
    return (hipCtx_t)(void *)&hip.devices[device];
}

/* The device of a context, or -1. */
static int device_of(hipCtx_t context)
{
    for (int device = 0; device < hip.device_count; device++) {
        if (context_of(device) == context && hip_is_device(device)) {
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

static hipError_t push(int device)
{
    if (depth == STACK_MOST) {
        return hipErrorOutOfMemory;
    }
    stack[depth++] = device;
    return hip_set_current_device(device);
}

/* The one below becomes current, or the primary context of the same GPU. */
static hipError_t pop(void)
{
    int left = hip_ordinal(stack[--depth]);
    return hip_set_current_device(depth > 0 && hip_is_device(stack[depth - 1]) ? stack[depth - 1]
                                                                               : left);
}

hipError_t hip_context_set_device(int device)
{
    if (!hip_is_device(device)) {
        return hipErrorInvalidDevice;
    }
    if (depth > 0) {
        stack[depth - 1] = device;
    }
    return hip_set_current_device(device);
}

static hipError_t create(hipCtx_t *context, int ordinal)
{
    int device = -1;
    if (!context || !hip_is_device(ordinal) || hip.devices[ordinal].context_of) {
        return context ? hipErrorInvalidDevice : hipErrorInvalidValue;
    }
    if (depth == STACK_MOST) {
        return hipErrorOutOfMemory;
    }
    hipError_t error = hip_create_context(&device, ordinal);
    if (error != hipSuccess) {
        return error;
    }
    hip.devices[device].context_of = ordinal + 1;
    *context = context_of(device);
    return push(device);
}

hipError_t hipCtxCreate(hipCtx_t *context, unsigned flags, hipDevice_t device)
{
    (void)flags;
    HIP_API(create(context, device));
}

/* Off this thread's stack, wherever it stands. */
static void forget(int device)
{
    int kept = 0;
    for (int i = 0; i < depth; i++) {
        if (stack[i] != device) {
            stack[kept++] = stack[i];
        }
    }
    depth = kept;
}

static hipError_t destroy(hipCtx_t context)
{
    int device = device_of(context);
    if (device < 0) {
        return hipErrorInvalidContext;
    }
    if (!hip.devices[device].context_of) {
        return hipSuccess; /* a primary one stays */
    }
    int ordinal = hip_ordinal(device);
    forget(device);
    if (hip_current_device() == device) {
        hipError_t error = hip_set_current_device(depth > 0 ? stack[depth - 1] : ordinal);
        if (error != hipSuccess) {
            return error;
        }
    }
    return hip_destroy_device(device);
}

hipError_t hipCtxDestroy(hipCtx_t context)
{
    HIP_API(destroy(context));
}

static hipError_t set_current(hipCtx_t context)
{
    int device = context ? device_of(context) : -1;
    if (!context) {
        return depth > 0 ? pop() : hipSuccess;
    }
    if (device < 0) {
        return hipErrorInvalidContext;
    }
    depth -= depth > 0;
    return push(device);
}

hipError_t hipCtxSetCurrent(hipCtx_t context)
{
    HIP_API_ALWAYS(set_current(context));
}

hipError_t hipCtxPushCurrent(hipCtx_t context)
{
    HIP_API_ALWAYS(device_of(context) >= 0 ? push(device_of(context)) : hipErrorInvalidContext);
}

static hipError_t pop_current(hipCtx_t *context)
{
    if (depth == 0) {
        return hipErrorInvalidContext;
    }
    if (context) {
        *context = context_of(stack[depth - 1]);
    }
    return pop();
}

hipError_t hipCtxPopCurrent(hipCtx_t *context)
{
    HIP_API_ALWAYS(pop_current(context));
}

static hipError_t get_context(hipCtx_t *context, int device)
{
    if (!context || !hip_is_device(device)) {
        return context ? hipErrorInvalidDevice : hipErrorInvalidValue;
    }
    *context = context_of(device);
    return hipSuccess;
}

hipError_t hipCtxGetCurrent(hipCtx_t *context)
{
    HIP_API_ALWAYS(get_context(context, hip_current_device()));
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
    HIP_API_ALWAYS(get_context(context, device));
}

hipError_t hipDevicePrimaryCtxRelease(hipDevice_t device)
{
    HIP_API_ALWAYS(hip_is_device(device) ? hipSuccess : hipErrorInvalidDevice);
}
