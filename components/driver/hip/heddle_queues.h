/* What the HIP library offers beyond HIP: user queues (components/driver/queue_api.h), for programs
 * that write AQL packets themselves. Programs are linked against the distribution's library, which
 * lacks these: ask dlsym(RTLD_DEFAULT, name). Calls return a hipError_t. The calls of the table
 * return enum driver_status; host threads that use them must take turns by themselves. */
#ifndef HEDDLE_HIP_QUEUES_H
#define HEDDLE_HIP_QUEUES_H

#include <stdint.h>

#include "components/driver/queue_api.h"

/* What a dispatch packet needs to know of a kernel. */
struct heddle_kernel {
    uint64_t object; /* device address of the descriptor: kernel_object */
    uint32_t kernarg_bytes, kernarg_align;
    uint32_t group_bytes;   /* group_segment_size without dynamic LDS */
    uint32_t private_bytes; /* private_segment_size; a user queue takes only kernels with 0 */
};

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)
/* hipErrorNotSupported: the platform has no driver component of this version. */
int heddle_user_queues(const struct driver_queue_api **queues);
/* `host_function`: as for hipLaunchKernel(), for the current device. The kernel has its name in
 * statistics from now on. */
int heddle_kernel_object(const void *host_function, struct heddle_kernel *kernel);
#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
