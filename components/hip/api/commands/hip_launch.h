/* Launches for the driver, and launches that are kept for later. All functions are called with
 * `hip.lock` held. */
#ifndef HEDDLE_COMPONENTS_HIP_API_COMMANDS_HIP_LAUNCH_H
#define HEDDLE_COMPONENTS_HIP_API_COMMANDS_HIP_LAUNCH_H

#include "components/hip/api/hip_internal.h"

/* Describes a launch for the driver; `grid` and `block` in work-items. */
struct driver_launch hip_describe_launch(const struct hip_function *function,
                                         const uint64_t grid[3], const uint64_t block[3],
                                         uint64_t dynamic_lds, const uint8_t *kernarg);
/* The driver refused the kernel before it began, as an instruction is missing. Nothing is broken,
 * but the run must not look like a good one to a program that ignores errors of launches. */
hipError_t hip_fail_launch(const struct hip_function *function);

/* A launch with arguments of its own. */
struct hip_kernel_call {
    const void *host_function; /* a function of the program, or */
    hipFunction_t function;    /* a function of a module */
    uint32_t blocks[3], block[3];
    size_t dynamic_lds;
    bool is_cooperative;
    uint16_t cluster; /* aql_of_cluster(); 0: as the kernel says */
    void *arguments;  /* as the kernel finds them */
    size_t size;
};

/* The calling thread's next launch is in such clusters of blocks, of a kernel of PTX. */
void hip_next_cluster(uint16_t cluster);

/* Keeps the arguments of a kernel of the current device. */
hipError_t hip_keep_call(struct hip_kernel_call *call, void **values, void **extra);
/* Pointers to its arguments, which hip_release() frees; NULL: the kernel is gone. */
void **hip_call_values(const struct hip_kernel_call *call);
hipError_t hip_make_call(const struct hip_kernel_call *call, hipStream_t stream);
void hip_release_call(struct hip_kernel_call *call);

#endif
