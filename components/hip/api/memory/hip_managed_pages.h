/* Memory whose contents move between host and device: managed memory, and mapped memory, which is
 * pinned memory that kernels use. hip_host_memory.c and hip_managed_memory.c call these functions.
 *
 * An allocation is divided into blocks. Each block is at the host, at the device, or the same at
 * both. A host access to a block that is at the device faults. The handler waits for all queued
 * work of the device and copies the block, and more blocks when the accesses continue upwards.
 * Before a launch, blocks that the host has written go to the device, and the host loses access to
 * everything, since the kernel may use any of it. So host and device must not use managed memory at
 * the same time, as on devices without concurrent managed access; device properties say so.
 *
 * The address is a device address whose pages the host may touch at times. System calls do not
 * fault but fail with EFAULT: a program that hands managed memory to read() or write() touches it
 * first. */
#ifndef HEDDLE_COMPONENTS_HIP_API_MEMORY_HIP_MANAGED_PAGES_H
#define HEDDLE_COMPONENTS_HIP_API_MEMORY_HIP_MANAGED_PAGES_H

#include "hip_host_memory.h"

/* All `size` bytes from `address` on are in one allocation. */
bool hip_managed_holds(uint64_t address, uint64_t size);

/* Before a kernel, or before a copy or fill of a range: enqueues the transfers of pages that the
 * command needs from the host, and makes its `queue` wait for them. Pages that the command may
 * change (`is_written`) are closed to the host. */
hipError_t hip_managed_prepare_launch(uint32_t queue);
hipError_t hip_managed_prepare_use(uint32_t queue, uint64_t address, uint64_t size,
                                   bool is_written);
/* A command is going to use mapped memory at the host: brings the contents there and sets
 * `use->memory`. */
hipError_t hip_managed_prepare_host_use(struct hip_use *use, bool waits);
/* A command was enqueued that writes mapped memory at the host: the next launch waits for it. */
void hip_managed_add_write(uint64_t ticket);

/* Maps pinned memory of `size` bytes at `start`, which begins with a page of the device, on the
 * current device. */
hipError_t hip_managed_map(uint64_t start, uint64_t size);
/* Mapped memory at `start`, whose commands are done, is plain host memory again. No effect on other
 * memory. */
void hip_managed_unmap(uint64_t start);

#endif
