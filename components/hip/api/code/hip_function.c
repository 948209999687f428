/* Questions of a program about a kernel: its attributes and its name. */
#include <string.h>

#include "components/hip/api/hip_internal.h"

hipError_t hip_find_function(const void *either, bool is_handle,
                             const struct hip_function **function)
{
    if (!is_handle)
        return hip_find_host_function(either, hip_current_device(), function);
    *function = hip_check_function((hipFunction_t)(uintptr_t)either);
    return *function ? hipSuccess : hipErrorInvalidHandle;
}

/* Bytes of dynamic LDS that a launch can have: as things are or, with `asked`, at most. */
static uint32_t dynamic_lds_limit(const struct hip_function *function, bool is_opted_in)
{
    const struct driver_device_info *info = &hip.devices[function->module->device].info;
    if (function->dynamic_lds_max > 0 && !is_opted_in)
        return function->dynamic_lds_max;
    uint32_t limit = is_opted_in ? info->lds_bytes_per_work_group : info->lds_bytes_unasked;
    uint32_t used = function->kernel->group_size;
    return limit > used ? limit - used : 0;
}

HIP_DEFINE(hipFuncGetAttributes, (attributes, host_function), hipFuncAttributes *attributes,
           const void *host_function)
{
    const struct hip_function *function = NULL;
    if (!attributes)
        return hipErrorInvalidValue;
    hipError_t error = hip_find_function(host_function, false, &function);
    if (error != hipSuccess)
        return error;
    const struct code_object_kernel *kernel = function->kernel;
    *attributes = (hipFuncAttributes){
        .binaryVersion = (int)function->module->object.version,
        .localSizeBytes = kernel->private_size,
        .maxDynamicSharedSizeBytes = (int)dynamic_lds_limit(function, false),
        .maxThreadsPerBlock = (int)hip_threads_limit(function),
        .numRegs = (int)kernel->registers.vgprs,
        .sharedSizeBytes = kernel->group_size,
    };
    return hipSuccess;
}

HIP_DEFINE(hipFuncGetAttribute, (value, attribute, handle), int *value,
           hipFunction_attribute attribute, hipFunction_t handle)
{
    const struct hip_function *function = hip_check_function(handle);
    if (!value || !function)
        return value ? hipErrorInvalidHandle : hipErrorInvalidValue;
    const struct code_object_kernel *kernel = function->kernel;
    switch (attribute) {
    case HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = (int)hip_threads_limit(function);
        return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = (int)kernel->group_size;
        return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = (int)kernel->private_size;
        return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_NUM_REGS:
        *value = (int)kernel->registers.vgprs;
        return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = (int)function->module->object.version;
        return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = (int)dynamic_lds_limit(function, false);
        return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    case HIP_FUNC_ATTRIBUTE_PTX_VERSION:
    case HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    case HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *value = 0;
        return hipSuccess;
    default:
        return hipErrorInvalidValue;
    }
}

/* AMD's devices give LDS without being asked; more than there is must not be promised. */
HIP_DEFINE(hipFuncSetAttribute, (host_function, attribute, value), const void *host_function,
           hipFuncAttribute attribute, int value)
{
    const struct hip_function *function = NULL;
    hipError_t error = hip_find_function(host_function, false, &function);
    if (error != hipSuccess)
        return error;
    switch (attribute) {
    case hipFuncAttributeMaxDynamicSharedMemorySize:
        if (value < 0 || (uint32_t)value > dynamic_lds_limit(function, true))
            return hipErrorInvalidValue;
        hip_set_dynamic_lds(function, (uint32_t)value);
        return hipSuccess;
    case hipFuncAttributePreferredSharedMemoryCarveout:
        return value >= -1 && value <= 100 ? hipSuccess : hipErrorInvalidValue;
    default:
        return hipErrorInvalidValue;
    }
}

HIP_DEFINE(hipFuncSetCacheConfig, (host_function, config), const void *host_function,
           hipFuncCache_t config)
{
    (void)host_function; /* a hint that no modelled architecture has a switch for */
    return (unsigned)config <= hipFuncCachePreferEqual ? hipSuccess : hipErrorInvalidValue;
}

HIP_DEFINE(hipFuncSetSharedMemConfig, (host_function, config), const void *host_function,
           hipSharedMemConfig config)
{
    (void)host_function;
    return (unsigned)config <= hipSharedMemBankSizeEightByte ? hipSuccess : hipErrorInvalidValue;
}

static const char *kernel_name(const void *either, bool is_handle)
{
    const struct hip_function *function = NULL;
    hipError_t error = hip_enter("hipKernelNameRef");
    if (error == hipSuccess)
        error = hip_find_function(either, is_handle, &function);
    const char *name = error == hipSuccess ? function->kernel->name : NULL;
    hip_leave(error);
    return name;
}

const char *hipKernelNameRef(const hipFunction_t function)
{
    hip_report_call(__func__);
    return kernel_name(function, true);
}

const char *hipKernelNameRefByPtr(const void *host_function, hipStream_t stream)
{
    (void)stream;
    hip_report_call(__func__);
    return kernel_name(host_function, false);
}
