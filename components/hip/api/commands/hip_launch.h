/* Launches that are kept for later. All functions are called with `hip.lock` held. */
#ifndef HEDDLE_HIP_LAUNCH_H
#define HEDDLE_HIP_LAUNCH_H

#include "components/hip/api/hip_internal.h"

/* A launch with arguments of its own. */
struct hip_kernel_call {
    const void *host_function; /* of the program, or */
    hipFunction_t function;    /* of a module */
    uint32_t blocks[3], block[3];
    size_t dynamic_lds;
    bool cooperative;
    void *arguments; /* as the kernel finds them */
    size_t size;
};

/* Keeps the arguments of a kernel of the current device. */
hipError_t hip_keep_call(struct hip_kernel_call *call, void **values, void **extra);
hipError_t hip_make_call(const struct hip_kernel_call *call, hipStream_t stream);
void hip_release_call(struct hip_kernel_call *call);

#endif
