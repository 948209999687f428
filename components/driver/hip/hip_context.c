/* Contexts. Each device has its primary context, always there, never destroyed, in which programs
 * find themselves without asking. hipCtxCreate() makes more, each a process of its own on the same
 * GPU: memory, code and streams are its own, and a kernel that touches those of another faults
 * (CUDA Driver API, "Context Management"). AMD's library gives out the primary one instead, so what
 * runs there runs here unless contexts are to share memory. A context is the address of the state
 * of its device; a created one is a device like those of heddleCreateContext(), with the number of
 * its GPU wherever the program asks.
 *
 * Each host thread has a stack of contexts; the one that was put on top last is current until
 * hipSetDevice() chooses another device, which leaves the stack alone. So does AMD's library (clr,
 * hip_context.cpp). */
#include "hip_internal.h"

enum { STACK_MOST = 256 };

static _Thread_local struct {
    unsigned depth;
    uint8_t device[STACK_MOST];
} stack;
_Static_assert(HIP_DEVICES_MAX <= UINT8_MAX + 1, "device numbers fit the stack");

static hipCtx_t context_of(int device)
{
    return (hipCtx_t)(void *)&hip.devices[device];
}

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
    if (stack.depth == STACK_MOST) {
        return hipErrorOutOfMemory;
    }
    hipError_t error = hip_set_current_device(device);
    if (error == hipSuccess) {
        stack.device[stack.depth++] = (uint8_t)device;
    }
    return error;
}

/* What lies below becomes current; below the last one the primary context of its GPU. */
static hipError_t pop(void)
{
    if (!stack.depth) {
        return hipErrorInvalidContext;
    }
    int left = hip_ordinal(stack.device[--stack.depth]);
    return hip_set_current_device(stack.depth ? stack.device[stack.depth - 1] : left);
}

static hipError_t give_context(hipCtx_t *context, int device)
{
    if (!context || !hip_is_device(device)) {
        return context ? hipErrorInvalidDevice : hipErrorInvalidValue;
    }
    *context = context_of(device);
    return hipSuccess;
}

static hipError_t create(hipCtx_t *context, int ordinal)
{
    int device = -1;
    if (!context || !hip_is_device(ordinal) || hip.devices[ordinal].context_of) {
        return context ? hipErrorInvalidDevice : hipErrorInvalidValue;
    }
    if (stack.depth == STACK_MOST) {
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
    unsigned kept = 0;
    for (unsigned i = 0; i < stack.depth; i++) {
        if (stack.device[i] != device) {
            stack.device[kept++] = stack.device[i];
        }
    }
    stack.depth = kept;
}

/* On top of the stack it comes off; only created ones end. */
static hipError_t destroy(hipCtx_t context)
{
    int device = device_of(context);
    hipError_t error = device >= 0 ? hipSuccess : hipErrorInvalidContext;
    if (error == hipSuccess && stack.depth && stack.device[stack.depth - 1] == device) {
        error = pop();
    }
    if (error != hipSuccess || !hip.devices[device].context_of) {
        return error;
    }
    forget(device);
    if (hip_current_device() == device) {
        error = hip_set_current_device(hip_ordinal(device));
    }
    return error == hipSuccess ? hip_destroy_device(device) : error;
}

hipError_t hipCtxDestroy(hipCtx_t context)
{
    HIP_API(destroy(context));
}

/* Takes the place of the top; NULL takes the top away. */
static hipError_t set_current(hipCtx_t context)
{
    int device = device_of(context);
    if (context && device < 0) {
        return hipErrorInvalidContext;
    }
    if (!context) {
        return stack.depth ? pop() : hipSuccess;
    }
    stack.depth -= stack.depth > 0;
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
    int top = stack.depth ? stack.device[stack.depth - 1] : -1;
    hipError_t error = pop();
    if (error == hipSuccess && context) {
        *context = context_of(top);
    }
    return error;
}

hipError_t hipCtxPopCurrent(hipCtx_t *context)
{
    HIP_API_ALWAYS(pop_current(context));
}

hipError_t hipCtxGetCurrent(hipCtx_t *context)
{
    HIP_API_ALWAYS(give_context(context, hip_current_device()));
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
    HIP_API_ALWAYS(give_context(context, device));
}

hipError_t hipDevicePrimaryCtxRelease(hipDevice_t device)
{
    HIP_API_ALWAYS(hip_is_device(device) ? hipSuccess : hipErrorInvalidDevice);
}
