/* Managed memory: one pointer for host and device. An allocation is divided into blocks; each is at
 * the host, at the device, or the same at both. A host access to a block that is at the device
 * faults: the handler waits for all queued work of the device and copies the block, and more of
 * them when the accesses go on upwards. Before a launch, what the host has written goes to the
 * device, and the host loses access to everything, since the kernel may use any of it. So host and
 * device must not use managed memory at the same time, as on devices without concurrent managed
 * access, which is what device properties say.
 *
 * The address is a device address whose pages the host may touch at times. System calls do not
 * fault but fail with EFAULT: a program that hands managed memory to read() or write() touches it
 * first.
 *
 * Mapped memory is pinned host memory that kernels use: the same from then on.
 *
 * The functions are called with `hip.lock` held unless stated. */
#ifndef HEDDLE_HIP_MANAGED_H
#define HEDDLE_HIP_MANAGED_H

#include "components/hip/api/hip_internal.h"

bool hip_is_managed(uint64_t address);
/* All `size` bytes from `address` on are in one managed or mapped allocation. */
bool hip_managed_holds(uint64_t address, uint64_t size);

/* New managed memory on the current device: zero, at the host. */
hipError_t hip_managed_allocate(uint64_t size, unsigned flags, uint64_t *address);

/* Enqueues what a kernel, or a copy or fill that touches a range, needs from the host, makes its
 * `queue` wait for that, and closes what it may change (`written`) to the host. */
hipError_t hip_managed_before_launch(uint32_t queue);
hipError_t hip_managed_before_use(uint32_t queue, uint64_t address, uint64_t size, bool written);

/* Pinned memory of `size` bytes at `start`, which begins with a page of the device, is mapped: on
 * the current device, at the same address. */
hipError_t hip_managed_map(uint64_t start, uint64_t size);
/* A command is going to read or, with `written`, write mapped memory at the host address `*memory`:
 * brings it to the host and changes `*memory` to where the command finds it. `waits`: the call
 * returns when the command is done, so a recording plays it with other host memory. An error was
 * said. */
hipError_t hip_managed_pinned(uint64_t *memory, uint64_t size, bool written, bool waits);
/* Mapped memory at `start`, which is not used any more, is plain host memory again; no effect on
 * other memory. */
hipError_t hip_managed_unmap(uint64_t start);
/* A command that writes host memory which kernels use, too: the next launch waits for it. */
void hip_managed_written(uint64_t ticket);

/* A fault at `address`, without the lock, in the thread that touched it: true when the access will
 * now succeed. */
bool hip_managed_fault(uint64_t address, bool write);

/* Closes the pages of an allocation that is about to be released, whose commands are done; no
 * effect on others. */
void hip_managed_forget(uint64_t address);

#endif
