/* User queues, which the HIP library offers beyond HIP (components/host/driver/user_queue_api.h),
 * for programs that write AQL packets themselves. The functions are weak, as those of heddle_hip.h,
 * and return a hipError_t; those of the table return enum driver_status. Host threads that use the
 * table must take turns by themselves. */
#ifndef HEDDLE_COMPONENTS_HIP_API_HEDDLE_USER_QUEUES_H
#define HEDDLE_COMPONENTS_HIP_API_HEDDLE_USER_QUEUES_H

#include <stdint.h>

#include "components/host/driver/user_queue_api.h"

/* The members of a dispatch packet that follow from the kernel. */
struct heddle_kernel {
    uint64_t object; /* device address of the descriptor: kernel_object */
    uint32_t kernarg_bytes, kernarg_align;
    uint32_t group_bytes;   /* group_segment_size without dynamic LDS */
    uint32_t private_bytes; /* private_segment_size; a user queue takes only kernels with 0 */
};

#ifdef __cplusplus
extern "C" {
#endif
/* The table, and what its calls name the current device. hipErrorNotSupported: the driver has none.
 */
__attribute__((weak)) int heddleUserQueues(const struct driver_queue_api **queues,
                                           uint32_t *device);
/* `host_function`: as for hipLaunchKernel(), for the current device. From now on statistics call
 * the kernel by its name. */
__attribute__((weak)) int heddleKernelObject(const void *host_function,
                                             struct heddle_kernel *kernel);
#ifdef __cplusplus
}
#endif

#endif
