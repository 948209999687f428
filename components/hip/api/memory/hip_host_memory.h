/* Host memory that devices use, too: pinned (hipHostMalloc), registered (hipHostRegister) and
 * managed (hipMallocManaged). Host and devices use it at one address. The other files of the
 * library say which commands are about to use which memory; this module moves the contents to where
 * they are needed.
 *
 * Words of this module and of the two below it:
 *
 *   mapped    pinned or registered memory that kernels can use. From then on it has a second number
 *             (`mapped_number`), which names it as device memory in a recording.
 *   wanted    memory that is not mapped and whose address a kernel may have. It is mapped before
 * the next launch. A kernel may have an address that hipHostGetDevicePointer() returned, or that
 * went to the device as a word of an argument or of copied bytes. managed   memory whose contents
 * move between host and device in blocks (hip_managed_pages.h): what hipMallocManaged() returned,
 * and pinned memory that is mapped mirrored  registered memory that is mapped: the device has a
 * copy of it (hip_registered.h) stale     mirrored memory of which kernels may have changed bytes
 * since the host last got them prepare   to move contents to where a command needs them, before it
 * is enqueued send      to copy contents to the device fetch     to copy contents to the host bring
 * to let the host use a block, which is fetched if the device has it
 *
 * All functions are called with `hip.lock` held unless stated. They write a message for each error.
 */
#ifndef HEDDLE_COMPONENTS_HIP_API_MEMORY_HIP_HOST_MEMORY_H
#define HEDDLE_COMPONENTS_HIP_API_MEMORY_HIP_HOST_MEMORY_H

#include "components/hip/api/hip_internal.h"

#include "hip_location.h"

/* Before commands on `queue` that use memory are enqueued. `waits`: the call returns when they are
 * done, so a recording has the contents with those of other host memory. */
hipError_t hip_host_memory_prepare(uint32_t queue, struct hip_use *uses, size_t count, bool waits);
/* Before a kernel is enqueued, which may use all memory that it can have addresses of. */
hipError_t hip_host_memory_prepare_launch(uint32_t queue, const void *arguments, uint64_t size);
/* A command was enqueued that changes `target`; NULL: a kernel, which may change anything. */
void hip_host_memory_add_writer(uint64_t ticket, const struct hip_use *target);
/* Bytes go to the device address `to`. They may be addresses of pinned or registered memory. */
void hip_host_memory_scan(uint64_t to, const void *bytes, uint64_t size);

/* The calling thread knows since now that some command is done. */
void hip_host_memory_mark_waited(void);
/* At the end of a call. If the thread knows of commands that are done, it fetches bytes of
 * registered memory that kernels have changed. */
hipError_t hip_host_memory_fetch(void);

/* True if the memory at `address` moves between host and device. */
bool hip_is_managed(uint64_t address);
/* A fault at `address`, without the lock, in the thread that touched it. True: the access will now
 * succeed. */
bool hip_host_memory_fault(uint64_t address, bool is_write);

/* New managed memory on the current device or another: zero, at the host. The image of a module is
 * managed where it has managed variables, and is no call of the program. */
hipError_t hip_allocate_managed(uint64_t size, unsigned flags, uint64_t *address);
hipError_t hip_allocate_managed_on(int device, uint64_t size, uint64_t *address);
hipError_t hip_allocate_managed_image(int device, uint64_t size, uint64_t *address);
/* Before device memory at `address` is released, whose commands are done: closes it to the host if
 * it is managed. */
void hip_release_managed(uint64_t address);
/* Frees pinned memory when copies and kernels that may still use it are done. */
hipError_t hip_release_pinned(const struct hip_allocation *allocation);

#endif
