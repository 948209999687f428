/* Registered host memory that kernels use by its own address. It lies among other data of the
 * program, on the stack or on the heap, so its pages cannot be taken from the host while the device
 * has them, as managed memory is (hip_managed.h). The device has a copy of the bytes instead, and
 * what either side changes goes to the other: what the host has changed before each launch, what
 * kernels have changed when the program has waited for something. Only bytes that differ are
 * written, so host and kernels may change different bytes of it at the same time.
 *
 * Pages of the device hold a range of memory and what lies around it; ranges that were registered
 * apart may share pages. The functions are called with `hip.lock` held. */
#ifndef HEDDLE_HIP_REGISTERED_H
#define HEDDLE_HIP_REGISTERED_H

#include "components/hip/api/hip_internal.h"

/* Makes registered memory usable by kernels, on the current device. */
hipError_t hip_registered_map(uint64_t start, uint64_t size);
/* Nothing uses it any more. */
void hip_registered_unmap(uint64_t start);
/* Before a launch: `queue` waits for what the host has changed. */
hipError_t hip_registered_before_launch(uint32_t queue);
/* A kernel was launched that may change it. */
void hip_registered_launched(uint64_t ticket);
/* Some kernel may have changed it since it was looked at last. */
bool hip_registered_is_behind(void);
/* Brings what kernels have changed to the host. */
hipError_t hip_registered_settle(void);

#endif
