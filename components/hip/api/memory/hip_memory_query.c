/* Queries about memory: how much is free, and which memory a pointer points to. */
#include "hip_host_memory.h"

HIP_DEFINE_ALWAYS(hipMemGetInfo, (available, total), size_t *available, size_t *total)
{
    uint64_t available_bytes = 0, total_bytes = 0;
    hipError_t error = hip_status(hip.api->memory_info(hip.devices[hip_current_device()].number,
                                                       &available_bytes, &total_bytes));
    if (available)
        *available = available_bytes;
    if (total)
        *total = total_bytes;
    return error;
}

static hipError_t address_range(hipDeviceptr_t *base, size_t *size, hipDeviceptr_t pointer)
{
    const struct hip_allocation *allocation = hip_find_allocation((uintptr_t)pointer);
    if (!allocation)
        return hipErrorNotFound;
    if (base)
        *base = (hipDeviceptr_t)(uintptr_t)allocation->address;
    if (size)
        *size = allocation->size;
    return hipSuccess;
}

HIP_DEFINE_ALWAYS(hipMemGetAddressRange, (base, size, pointer), hipDeviceptr_t *base, size_t *size,
                  hipDeviceptr_t pointer)
{
    return address_range(base, size, pointer);
}

HIP_DEFINE_ALWAYS(hipMemPtrGetInfo, (pointer, size), void *pointer, size_t *size)
{
    return size ? address_range(NULL, size, pointer) : hipErrorInvalidValue;
}

HIP_DEFINE_ALWAYS(hipPointerGetAttributes, (attributes, pointer), hipPointerAttribute_t *attributes,
                  const void *pointer)
{
    struct hip_location location = hip_location_of((uintptr_t)pointer);
    if (!attributes || location.allocation.number == 0)
        return hipErrorInvalidValue;
    bool is_on_device = hip_location_on_device(&location);
    bool is_on_host = location.kind == HIP_LOCATION_MANAGED || !is_on_device;
    *attributes = (hipPointerAttribute_t){
        .memoryType = is_on_device ? hipMemoryTypeDevice : hipMemoryTypeHost,
        .device = location.allocation.device,
        .devicePointer = (void *)(uintptr_t)location.address,
        .hostPointer = (void *)(uintptr_t)(is_on_host ? location.address : 0),
        .isManaged = location.kind == HIP_LOCATION_MANAGED,
        .allocationFlags = location.allocation.flags,
    };
    return hipSuccess;
}
