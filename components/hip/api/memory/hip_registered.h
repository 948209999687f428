/* Registered memory that kernels use by its own address. It lies among other data of the program,
 * on the stack or on the heap, so its pages cannot be taken from the host while the device has
 * them, as those of managed memory are (hip_managed_pages.h). The device has a copy of the bytes
 * instead. Bytes that the host has changed go to the device before each launch; bytes that
 * kernels have changed go to the host when the program has waited for something. Only bytes that
 * differ are written, so host and kernels may change different bytes at the same time.
 *
 * Pages of the device hold a range of memory and its surroundings. Ranges that were registered
 * apart may share pages. Only hip_host_memory.c calls these functions. */
#ifndef HEDDLE_COMPONENTS_HIP_API_MEMORY_HIP_REGISTERED_H
#define HEDDLE_COMPONENTS_HIP_API_MEMORY_HIP_REGISTERED_H

#include "components/hip/api/hip_internal.h"

/* Makes registered memory usable by kernels, on the current device. */
hipError_t hip_registered_map(uint64_t start, uint64_t size);
/* No command uses the memory at `start` any more. */
void hip_registered_unmap(uint64_t start);
/* Before a launch: `queue` waits for the copy of changed bytes. */
hipError_t hip_registered_prepare_launch(uint32_t queue);
/* A kernel was launched, which may change the memory. */
void hip_registered_add_launch(uint64_t ticket);
/* True if kernels may have changed bytes that the host does not have yet. */
bool hip_registered_is_stale(void);
/* Brings to the host what kernels have changed that are done. */
hipError_t hip_registered_fetch(void);

#endif
