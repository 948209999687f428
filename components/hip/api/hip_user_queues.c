/* User queues for HIP programs; see heddle_user_queues.h. */
#include "components/hip/api/record/hip_record.h"

#include "hip_internal.h"

#pragma GCC visibility push(default)
#include "heddle_user_queues.h"
#pragma GCC visibility pop

HIP_DEFINE_AS(int, hip.device_error, heddleUserQueues, (queues, device),
              const struct driver_queue_api **queues, uint32_t *device)
{
    if (!queues || !device)
        return hipErrorInvalidValue;
    hip_record_give_up("it writes to user queues, which is no call that could be noted");
    *queues = hip.api->user_queues;
    *device = hip.devices[hip_current_device()].number;
    return *queues ? hipSuccess : hipErrorNotSupported;
}

HIP_DEFINE_AS(int, hip.device_error, heddleKernelObject, (host_function, kernel),
              const void *host_function, struct heddle_kernel *kernel)
{
    const struct hip_function *function = NULL;
    if (!kernel || !hip.api->user_queues)
        return kernel ? hipErrorNotSupported : hipErrorInvalidValue;
    hipError_t error = hip_find_host_function(host_function, hip_current_device(), &function);
    if (error != hipSuccess)
        return error;
    *kernel = (struct heddle_kernel){
        .object = function->module->base + function->kernel->descriptor_address,
        .kernarg_bytes = function->kernel->kernarg_size,
        .kernarg_align = function->kernel->kernarg_align,
        .group_bytes = function->kernel->group_size,
        .private_bytes = code_object_private_bytes(function->kernel),
    };
    return hip_status(hip.api->user_queues->name_kernel(kernel->object, function->name));
}
