/* Host memory that HIP knows: pinned (hipHostMalloc), registered (hipHostRegister), and pinned
 * memory that is mapped, which has a device address, too. */
#include "hip_managed.h"
#include "hip_recorder.h"

#include <stdlib.h>
#include <string.h>

hipError_t hip_release_pinned(const struct hip_allocation *allocation)
{
    void *memory = (void *)(uintptr_t)allocation->address;
    int device = allocation->device;
    HIP_RECORD_STEP(host_free((uintptr_t)memory, device));
    hipError_t error = hip_wait_device(device, "hipHostFree"); /* copies may still read it */
    allocation = hip_find_allocation((uintptr_t)memory);
    if (!allocation || allocation->kind != HIP_PINNED_MEMORY) {
        return hipErrorInvalidValue; /* another thread has freed it meanwhile */
    }
    HIP_RECORD_STEP(host_freed((uintptr_t)memory));
    hip_managed_unmap((uintptr_t)memory);
    hip_remove_allocation(hip_find_allocation((uintptr_t)memory));
    hip_release(memory);
    return error;
}

static hipError_t host_allocate(void **pointer, size_t size, unsigned flags)
{
    if (!pointer) {
        return hipErrorInvalidValue;
    }
    *pointer = NULL;
    if (size == 0) {
        return hipSuccess;
    }
    size_t pages = size > SIZE_MAX - 4095 ? 0 : (size + 4095) / 4096 * 4096;
    void *memory = pages ? aligned_alloc(4096, pages) : NULL;
    if (!memory) {
        return hipErrorOutOfMemory;
    }
    memset(memory, 0, pages);
    hip_add_allocation((struct hip_allocation){.address = (uintptr_t)memory,
                                               .size = size,
                                               .kind = HIP_PINNED_MEMORY,
                                               .device = hip_current_device(),
                                               .flags = flags});
    HIP_RECORD(.kind = API_TRACE_HOST_MALLOC,
               .place = {hip_allocation_number((uintptr_t)memory), API_TRACE_HOST, 0, NULL},
               .size = size, .flags = flags);
    *pointer = memory;
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

static hipError_t host_register(void *pointer, size_t size, unsigned flags)
{
    uint64_t address = (uintptr_t)pointer;
    if (!pointer || size == 0 || hip_is_device_address(address) || size > UINT64_MAX - address) {
        return hipErrorInvalidValue;
    }
    if (hip_find_allocation(address) || hip_find_allocation(address + size - 1)) {
        return hipErrorHostMemoryAlreadyRegistered;
    }
    hip_add_allocation((struct hip_allocation){.address = address,
                                               .size = size,
                                               .kind = HIP_REGISTERED_MEMORY,
                                               .device = hip_current_device(),
                                               .flags = flags});
    HIP_RECORD(.kind = API_TRACE_HOST_REGISTER,
               .place = {hip_allocation_number(address), API_TRACE_HOST, 0, NULL}, .size = size,
               .flags = flags);
    return hipSuccess;
}

static hipError_t host_unregister(void *pointer)
{
    const struct hip_allocation *allocation = hip_find_allocation((uintptr_t)pointer);
    if (!allocation || allocation->kind != HIP_REGISTERED_MEMORY) {
        return hipErrorHostMemoryNotRegistered;
    }
    HIP_RECORD(.kind = API_TRACE_HOST_UNREGISTER,
               .place = {allocation->number, API_TRACE_HOST, 0, NULL});
    hip_remove_allocation(allocation);
    return hipSuccess;
}

hipError_t hipHostRegister(void *pointer, size_t size, unsigned flags)
{
    HIP_API(host_register(pointer, size, flags));
}

hipError_t hipHostUnregister(void *pointer)
{
    HIP_API_ALWAYS(host_unregister(pointer));
}

static hipError_t host_flags(unsigned *flags, void *pointer)
{
    const struct hip_allocation *allocation = hip_find_allocation((uintptr_t)pointer);
    if (!flags || !allocation || allocation->kind != HIP_PINNED_MEMORY) {
        return hipErrorInvalidValue;
    }
    *flags = allocation->flags;
    return hipSuccess;
}

hipError_t hipHostGetFlags(unsigned *flags, void *pointer)
{
    HIP_API_ALWAYS(host_flags(flags, pointer));
}

/* The device's address of the byte at `*address`, which lies in the allocation. */
static hipError_t map_pinned(const struct hip_allocation *allocation, uint64_t *address)
{
    uint64_t host = *address, start = allocation->address, size = allocation->size;
    bool records = hip.recording && hip_managed_device_side(host) == 0;
    struct api_trace_call call = {.kind = API_TRACE_HOST_MAP,
                                  .place = {allocation->number, API_TRACE_HOST, 0, NULL}};
    size_t line = records ? hip_recorder.call(&call) : 0;
    hipError_t error = hip_managed_map(start, size, host, address);
    if (records && error != hipSuccess) {
        hip_recorder.drop(line);
    } else if (records) {
        hip_recorder.at(line)->to.allocation = hip_allocation_number(*address);
    }
    return error;
}

/* Managed memory has one address. Registered memory shares its pages with other data. */
static hipError_t device_pointer(void **device, void *pointer, unsigned flags)
{
    const struct hip_allocation *allocation = hip_find_allocation((uintptr_t)pointer);
    uint64_t address = (uintptr_t)pointer;
    if (!device || flags != 0 || !allocation) {
        return hipErrorInvalidValue;
    }
    *device = NULL;
    if (allocation->kind == HIP_REGISTERED_MEMORY) {
        hip_say(
            "hipHostGetDevicePointer: %p was registered; memory that kernels use must come from "
            "hipHostMalloc or hipMallocManaged",
            pointer);
        return hipErrorNotSupported;
    }
    hipError_t error = hipSuccess;
    if (allocation->kind == HIP_PINNED_MEMORY) {
        error = map_pinned(allocation, &address);
    } else if (allocation->kind != HIP_MANAGED_MEMORY) {
        error = hipErrorInvalidValue;
    }
    *device = error == hipSuccess ? (void *)(uintptr_t)address : NULL;
    return error;
}

hipError_t hipHostGetDevicePointer(void **device, void *pointer, unsigned flags)
{
    HIP_API(device_pointer(device, pointer, flags));
}
