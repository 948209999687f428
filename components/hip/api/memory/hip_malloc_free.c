/* Device memory: hipMalloc and hipFree, in all their forms. */
#include "base/number.h"
#include "components/hip/api/hip_findings.h"
#include "components/hip/api/record/hip_record.h"

#include "hip_host_memory.h"

enum { DEVICE_MALLOC_UNCACHED = 3 /* hipDeviceMallocUncached of later versions */ };

hipError_t hip_allocate_device(int device, uint64_t size, uint64_t align,
                               enum hip_allocation_kind kind, uint64_t *address)
{
    bool is_unified = kind == HIP_MANAGED_MEMORY; /* to all devices, and perhaps larger than one */
    if (size > hip.devices[device].info.memory_bytes && (!is_unified || size > (uint64_t)1 << 46))
        return hipErrorOutOfMemory; /* more than there is, also sizes that would wrap around */
    uint32_t number = hip.devices[device].number;
    enum driver_status status = is_unified ? hip.api->allocate_unified(number, size, align, address)
                                           : hip.api->allocate(number, size, align, address);
    uint64_t available = 0, total;
    if (status == DRIVER_OUT_OF_MEMORY
        && (hip.api->memory_info(number, &available, &total) != DRIVER_OK || available < size))
        return hipErrorOutOfMemory; /* an answer that programs expect: no message */
    hipError_t error = hip_status_of(status, "allocating device memory");
    if (error == hipSuccess) {
        hip_add_allocation((struct hip_allocation){
            .address = *address, .size = size, .kind = kind, .device = device});
    }
    return error;
}

hipError_t hip_release_device(uint64_t address)
{
    const struct hip_allocation *allocation = hip_find_allocation(address);
    uint64_t name = address; /* the device's own, where several have the address */
    if (allocation && allocation->address == address) {
        name = hip.api->name(hip.devices[allocation->device].number, address);
        hip_remove_allocation(allocation);
    }
    /* The driver waits for queued work first, so the simulation may run. */
    const char *before = hip_set_step("releasing device memory");
    hip_wait_all_devices();
    hip_release_managed(address);
    hip_lock_pause();
    enum driver_status status = hip.api->release(name);
    hip_lock_resume();
    hipError_t error = hip_status(status);
    hip_set_step(before);
    return error;
}

void hip_release_memory_of(int device)
{
    const struct hip_allocation *last;
    while ((last = hip_last_allocation_of(device))) {
        uint64_t address = last->address;
        hip_release_managed(address);
        hip.api->release(hip.api->name(hip.devices[device].number, address));
        hip_remove_allocation(last);
    }
}

/* `flags`: those of hipExtMallocWithFlags, by which amdgpu types the memory. */
static hipError_t allocate_memory(void **pointer, size_t size, unsigned flags)
{
    enum { APART = 2 << 20 /* a fragment has one type, so no other buffer shares these pages */ };
    if (!pointer)
        return hipErrorInvalidValue;
    *pointer = NULL;
    if (size == 0)
        return hipSuccess;
    uint64_t address = 0;
    hipError_t error =
        hip_allocate_device(hip_current_device(), size, flags ? APART : HIP_ALLOCATION_ALIGN,
                            HIP_DEVICE_MEMORY, &address);
    if (error == hipSuccess && flags) {
        error = hip_status(hip.api->advise(
            address, size,
            flags == DEVICE_MALLOC_UNCACHED ? DRIVER_ADVICE_UNCACHED : DRIVER_ADVICE_FINE, true));
        if (error != hipSuccess)
            hip_release_device(address);
    }
    if (error == hipSuccess) {
        hip_record_call(&(struct api_trace_call){.kind = API_TRACE_MALLOC,
                                                 .to.allocation = hip_allocation_number(address),
                                                 .size = size,
                                                 .flags = flags});
        *pointer = (void *)(uintptr_t)address;
    }
    return error;
}

hipError_t hip_allocate_for_program(void **pointer, size_t size)
{
    return allocate_memory(pointer, size, hipDeviceMallocDefault);
}

/* Only whole allocations that the program made are freed. */
static hipError_t check_release(const struct hip_location *location)
{
    void *pointer = (void *)(uintptr_t)location->address;
    bool is_inside = location->allocation.number > 0;
    if (!is_inside || location->allocation.address != location->address) {
        hip_say_call("%p is %s", pointer,
                     is_inside ? "inside of an allocation, not its start"
                     : hip_location_on_device(location)
                         ? "device memory that is not, or no longer, allocated"
                         : "host memory that HIP has not allocated");
        if (is_inside)
            hip_report_inside(location->address, &location->allocation);
        else
            hip_report_address(location->address, true);
        return hipErrorInvalidValue;
    }
    enum hip_allocation_kind kind = location->allocation.kind;
    return kind == HIP_PINNED_MEMORY || kind == HIP_DEVICE_MEMORY || kind == HIP_MANAGED_MEMORY
               ? hipSuccess
               : hipErrorInvalidValue;
}

static hipError_t release_memory(void *pointer)
{
    if (!pointer)
        return hipSuccess;
    struct hip_location location = hip_location_of((uintptr_t)pointer);
    hipError_t error = check_release(&location);
    if (error != hipSuccess)
        return error;
    if (location.kind == HIP_LOCATION_PINNED)
        return hip_release_pinned(&location.allocation);
    hip_record_call(&(struct api_trace_call){.kind = API_TRACE_FREE,
                                             .to.allocation = location.allocation.number});
    return hip_release_device(location.address);
}

HIP_DEFINE(hipMalloc, (pointer, size), void **pointer, size_t size)
{
    return hip_allocate_for_program(pointer, size);
}

HIP_DEFINE(hipExtMallocWithFlags, (pointer, size, flags), void **pointer, size_t size,
           unsigned flags)
{
    return flags > DEVICE_MALLOC_UNCACHED ? hipErrorInvalidValue
                                          : allocate_memory(pointer, size, flags);
}

HIP_DEFINE_ALWAYS(hipFree, (pointer), void *pointer)
{
    return release_memory(pointer);
}

HIP_DEFINE_ALWAYS(hipFreeAsync, (pointer, stream), void *pointer, hipStream_t stream)
{
    (void)stream;
    return release_memory(pointer);
}

HIP_DEFINE_ALWAYS(hipHostFree, (pointer), void *pointer)
{
    return release_memory(pointer);
}

HIP_DEFINE_ALWAYS(hipFreeHost, (pointer), void *pointer)
{
    return release_memory(pointer);
}

/* Rows begin at multiples of 256 bytes, as device properties say (texturePitchAlignment). */
hipError_t hip_allocate_pitch(void **pointer, size_t *pitch, size_t width, size_t rows)
{
    if (!pitch || width > SIZE_MAX - 255 || (rows > 0 && round_up(width, 256) > SIZE_MAX / rows))
        return hipErrorInvalidValue;
    *pitch = round_up(width, 256);
    return hip_allocate_for_program(pointer, *pitch * rows);
}

HIP_DEFINE(hipMallocPitch, (pointer, pitch, width, height), void **pointer, size_t *pitch,
           size_t width, size_t height)
{
    return hip_allocate_pitch(pointer, pitch, width, height);
}

HIP_DEFINE(hipMemAllocPitch, (pointer, pitch, width, height, element), hipDeviceptr_t *pointer,
           size_t *pitch, size_t width, size_t height, unsigned element)
{
    bool is_size = element == 4 || element == 8 || element == 16;
    return is_size ? hip_allocate_pitch((void **)pointer, pitch, width, height)
                   : hipErrorInvalidValue;
}
