/* Host memory that HIP knows: pinned (hipHostMalloc) and registered (hipHostRegister). Kernels use
 * either by its own address, once that address has gone to the device or was asked for: pinned
 * memory as hip_managed.h says, registered memory as hip_registered.h does. Addresses of pinned
 * memory come from a range of their own, one behind the other. */
#include "hip_managed.h"
#include "hip_registered.h"
#include "components/hip/api/hip_recorder.h"

#include <errno.h>
#include <sys/mman.h>

/* ---- pinned ---- */

static uint64_t whole_pages(uint64_t size)
{
    return (size + hip.page_bytes - 1) / hip.page_bytes * hip.page_bytes;
}

/* Addresses of which nothing is left: to touch them is an error. */
static void close_pages(uint64_t start, uint64_t pages)
{
    void *address = (void *)(uintptr_t)start;
    if (mmap(address, pages, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
             0)
        != address)
        hip_say("cannot give pinned memory back: %s", strerror(errno));
}

hipError_t hip_release_pinned(const struct hip_allocation *allocation)
{
    uint64_t start = allocation->address;
    uint32_t number = allocation->number;
    HIP_RECORD_STEP(host_free(start, allocation->device));
    /* Copies, and kernels on all devices if they use it, may still be under way. */
    hipError_t error =
        allocation->mapped ? hip_wait_all_devices() : hip_wait_device(allocation->device);
    allocation = hip_find_allocation(start);
    if (!allocation || allocation->number != number)
        return hipErrorInvalidValue; /* another thread has freed it meanwhile */
    HIP_RECORD_STEP(host_freed(start));
    if (allocation->mapped && hip.lost == hipSuccess)
        hip_managed_unmap(start);
    allocation = hip_find_allocation(start);
    if (!allocation->mapped)
        hip_unwatch_pointers();
    uint64_t pages = whole_pages(allocation->size);
    hip_remove_allocation(allocation);
    close_pages(start, pages);
    return error;
}

/* Zeroed memory that host code may use; 0: there is none. */
static uint64_t take_pages(uint64_t pages)
{
    static uint64_t next; /* behind all that were taken before */
    uint64_t end = hip.pinned_base + hip.pinned_size;
    uint64_t start = next > 0 ? next : hip.pinned_base;
    if (pages > end - start)
        start = hip_find_pinned_gap(pages);
    void *address = (void *)(uintptr_t)start;
    if (start == 0
        || mmap(address, pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                0)
               != address)
        return 0;
    next = start + pages > next ? start + pages : next;
    return start;
}

static hipError_t host_allocate(void **pointer, size_t size, unsigned flags)
{
    if (!pointer)
        return hipErrorInvalidValue;
    *pointer = NULL;
    if (size == 0)
        return hipSuccess;
    uint64_t address = size > hip.pinned_size ? 0 : take_pages(whole_pages(size));
    if (!address)
        return hipErrorOutOfMemory;
    hip_add_allocation((struct hip_allocation){.address = address,
                                               .size = size,
                                               .kind = HIP_PINNED_MEMORY,
                                               .device = hip_current_device(),
                                               .flags = flags});
    hip_watch_pointers(address, size);
    HIP_RECORD(.kind = API_TRACE_HOST_MALLOC,
               .place = {hip_allocation_number(address), API_TRACE_HOST, 0, NULL}, .size = size,
               .flags = flags);
    *pointer = (void *)(uintptr_t)address;
    return hipSuccess;
}

hipError_t hipHostMalloc(void **pointer, size_t size, unsigned flags)
{
    HIP_API(host_allocate(pointer, size, flags));
}

hipError_t hipHostAlloc(void **pointer, size_t size, unsigned flags)
{
    HIP_API(host_allocate(pointer, size, flags));
}

hipError_t hipMallocHost(void **pointer, size_t size)
{
    HIP_API(host_allocate(pointer, size, hipHostMallocDefault));
}

hipError_t hipMemAllocHost(void **pointer, size_t size)
{
    HIP_API(host_allocate(pointer, size, hipHostMallocDefault));
}

/* ---- registered ---- */

enum { HOST_REGISTER_READ_ONLY = 8 /* hipHostRegisterReadOnly of later versions */ };

HIP_DEFINE(hipHostRegister, (pointer, size, flags), void *pointer, size_t size, unsigned flags)
{
    const unsigned known = hipHostRegisterPortable | hipHostRegisterMapped | hipHostRegisterIoMemory
                           | HOST_REGISTER_READ_ONLY;
    uint64_t address = (uintptr_t)pointer, end = 0;
    if (!pointer || size == 0 || hip_is_device_address(address) || size > UINT64_MAX - address
        || (flags & ~known) != 0)
        return hipErrorInvalidValue;
    if (hip_find_overlap(address, size))
        return hipErrorHostMemoryAlreadyRegistered;
    if (!hip_is_accessible(address, size, false, &end)) {
        hip_complain("of %zu bytes at %p only %llu can be read", size, pointer,
                     (unsigned long long)(end > address ? end - address : 0));
        return hipErrorInvalidValue;
    }
    hip_add_allocation((struct hip_allocation){.address = address,
                                               .size = size,
                                               .kind = HIP_REGISTERED_MEMORY,
                                               .device = hip_current_device(),
                                               .flags = flags});
    hip_watch_pointers(address, size);
    HIP_RECORD(.kind = API_TRACE_HOST_REGISTER,
               .place = {hip_allocation_number(address), API_TRACE_HOST, 0, NULL}, .size = size,
               .flags = flags);
    return hipSuccess;
}

/* By its start, as it was registered. */
HIP_DEFINE_ALWAYS(hipHostUnregister, (pointer), void *pointer)
{
    uint64_t start = (uintptr_t)pointer;
    const struct hip_allocation *allocation = hip_find_allocation(start);
    if (!allocation || allocation->kind != HIP_REGISTERED_MEMORY || allocation->address != start)
        return hipErrorHostMemoryNotRegistered;
    uint32_t number = allocation->number;
    hipError_t error = hipSuccess;
    if (allocation->mapped && hip.lost == hipSuccess) {
        error = hip_wait_all_devices();
        hip_registered_settle();
    }
    allocation = hip_find_allocation(start);
    if (!allocation || allocation->number != number)
        return hipErrorHostMemoryNotRegistered; /* another thread was faster */
    HIP_RECORD(.kind = API_TRACE_HOST_UNREGISTER, .place = {number, API_TRACE_HOST, 0, NULL});
    if (allocation->mapped && hip.lost == hipSuccess)
        hip_registered_unmap(start);
    else if (!allocation->mapped)
        hip_unwatch_pointers();
    hip_remove_allocation(hip_find_allocation(start));
    return error;
}

HIP_DEFINE_ALWAYS(hipHostGetFlags, (flags, pointer), unsigned *flags, void *pointer)
{
    const struct hip_allocation *allocation = hip_find_allocation((uintptr_t)pointer);
    if (!flags || !allocation || allocation->kind != HIP_PINNED_MEMORY)
        return hipErrorInvalidValue;
    *flags = allocation->flags;
    return hipSuccess;
}

/* ---- kernels ---- */

/* The memory is usable by kernels, at its own address. */
static hipError_t map(const struct hip_allocation *allocation)
{
    uint64_t start = allocation->address, size = allocation->size;
    uint32_t number = allocation->number;
    hipError_t error = hip_wait_all_devices();
    allocation = hip_find_allocation(start); /* the wait has released the lock */
    if (error != hipSuccess || !allocation || allocation->number != number || allocation->mapped)
        return error;
    struct api_trace_call call = {.kind = API_TRACE_HOST_MAP,
                                  .place = {number, API_TRACE_HOST, 0, NULL}};
    size_t line = hip.recording ? hip_recorder.call(&call) : 0;
    error = allocation->kind == HIP_PINNED_MEMORY ? hip_managed_map(start, size)
                                                  : hip_registered_map(start, size);
    if (error == hipSuccess) {
        hip_set_mapped(start);
        hip_unwatch_pointers();
        HIP_RECORD_STEP(at(line)->to.allocation = hip_find_allocation(start)->mapped);
    } else {
        HIP_RECORD_STEP(drop(line));
    }
    return error;
}

hipError_t hip_map_wanted(void)
{
    hipError_t error = hipSuccess;
    const struct hip_allocation *wanted;
    while (error == hipSuccess && (wanted = hip_find_wanted()))
        error = map(wanted);
    return error;
}

HIP_DEFINE(hipHostGetDevicePointer, (device, pointer, flags), void **device, void *pointer,
           unsigned flags)
{
    const struct hip_allocation *allocation = hip_find_allocation((uintptr_t)pointer);
    if (!device || flags != 0 || !allocation)
        return hipErrorInvalidValue;
    *device = NULL;
    hipError_t error = hipSuccess;
    if (allocation->kind == HIP_PINNED_MEMORY || allocation->kind == HIP_REGISTERED_MEMORY)
        error = allocation->mapped ? hipSuccess : map(allocation);
    else if (allocation->kind != HIP_MANAGED_MEMORY)
        error = hipErrorInvalidValue;
    *device = error == hipSuccess ? pointer : NULL;
    return error;
}
