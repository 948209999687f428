/* Allocations of device and pinned memory, and what is known of a pointer.
 *
 * The map of allocations is an array sorted by address, with device memory, pinned host memory and
 * the images of modules: it answers hipPointerGetAttributes, checks every range before a command is
 * enqueued, and names allocations in messages. Invariant: entries do not overlap. */
#include "hip_hostcall.h"
#include "hip_managed.h"
#include "components/hip/record/hip_record.h"

#include <stdlib.h>
#include <string.h>

static struct {
    struct hip_allocation *list;
    size_t count, room;
    uint32_t last_number;
} map;

/* The number of entries that begin at or below `address`. */
static size_t count_below(uint64_t address)
{
    size_t low = 0, high = map.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (map.list[middle].address <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

const struct hip_allocation *hip_find_allocation(uint64_t address)
{
    size_t below = count_below(address);
    const struct hip_allocation *last = below > 0 ? &map.list[below - 1] : NULL;
    return last && address - last->address < last->size ? last : NULL;
}

const struct hip_allocation *hip_find_allocation_below(uint64_t address)
{
    size_t below = count_below(address);
    return below > 0 && hip_is_device_address(map.list[below - 1].address) ? &map.list[below - 1]
                                                                           : NULL;
}

bool hip_is_device_address(uint64_t address)
{
    return address >= hip.window_base && address - hip.window_base < hip.window_size;
}

static void map_add(struct hip_allocation allocation)
{
    if (map.count == map.room) {
        map.room = map.room ? map.room * 2 : 64;
        map.list = hip_grow(map.list, map.room * sizeof *map.list);
    }
    size_t at = count_below(allocation.address);
    memmove(&map.list[at + 1], &map.list[at], (map.count - at) * sizeof *map.list);
    map.list[at] = allocation;
    map.list[at].number = ++map.last_number;
    map.count++;
}

static void map_remove(const struct hip_allocation *allocation)
{
    size_t at = (size_t)(allocation - map.list);
    map.count--;
    memmove(&map.list[at], &map.list[at + 1], (map.count - at) * sizeof *map.list);
}

/* ---- device memory ---- */

hipError_t hip_allocate_device(int device, uint64_t size, uint64_t align,
                               enum hip_allocation_kind kind, uint64_t *address)
{
    if (size > hip.devices[device].info.memory_bytes) {
        return hipErrorOutOfMemory; /* more than there is, also sizes that would wrap around */
    }
    bool open = kind == HIP_MANAGED_MEMORY || kind == HIP_MAPPED_MEMORY; /* to all devices */
    uint32_t number = hip.devices[device].number;
    enum driver_status status = open ? hip.api->allocate_unified(number, size, align, address)
                                     : hip.api->allocate(number, size, align, address);
    if (status == DRIVER_OUT_OF_MEMORY) {
        return hipErrorOutOfMemory; /* an answer that programs expect: no message */
    }
    hipError_t error = hip_status(status, "allocating device memory");
    if (error == hipSuccess) {
        map_add((struct hip_allocation){
            .address = *address, .size = size, .kind = kind, .device = device});
    }
    return error;
}

hipError_t hip_release_device(uint64_t address)
{
    const struct hip_allocation *allocation = hip_find_allocation(address);
    if (allocation && allocation->address == address) {
        map_remove(allocation);
    }
    /* The driver waits for queued work first, so the simulation may run. */
    for (int device = 0; device < hip.device_count; device++) {
        if (!hip_is_device(device)) {
            continue;
        }
        hip_wait_device(device, "releasing device memory");
    }
    hip_managed_forget(address);
    pthread_mutex_unlock(&hip.lock);
    enum driver_status status = hip.api->release(address);
    pthread_mutex_lock(&hip.lock);
    return hip_status(status, "releasing device memory");
}

void hip_memory_forget(int device)
{
    for (size_t i = map.count; i-- > 0;) {
        const struct hip_allocation *a = &map.list[i];
        if (a->device == device && hip_is_device_address(a->address)) {
            hip_managed_forget(a->address);
            hip.api->release(a->address);
            map_remove(&map.list[i]);
        }
    }
}

static hipError_t allocate(void **pointer, size_t size)
{
    if (!pointer) {
        return hipErrorInvalidValue;
    }
    *pointer = NULL;
    if (size == 0) {
        return hipSuccess;
    }
    uint64_t address = 0;
    hipError_t error = hip_allocate_device(hip_current_device(), size, HIP_ALLOCATION_ALIGN,
                                           HIP_DEVICE_MEMORY, &address);
    if (error == hipSuccess) {
        HIP_RECORD(.kind = API_TRACE_MALLOC, .to.allocation = hip_record_number(address),
                   .size = size);
        *pointer = (void *)(uintptr_t)address;
    }
    return error;
}

static hipError_t release_pinned(const struct hip_allocation *allocation)
{
    void *memory = (void *)(uintptr_t)allocation->address;
    int device = allocation->device;
    hip_record_host_free((uintptr_t)memory, device);
    hipError_t error = hip_wait_device(device, "hipHostFree"); /* copies may still read it */
    allocation = hip_find_allocation((uintptr_t)memory);
    if (!allocation || allocation->kind != HIP_PINNED_MEMORY) {
        return hipErrorInvalidValue; /* another thread has freed it meanwhile */
    }
    hip_record_host_freed((uintptr_t)memory);
    hip_managed_unmap((uintptr_t)memory);
    map_remove(hip_find_allocation((uintptr_t)memory));
    hip_release(memory);
    return error;
}

static hipError_t release(void *pointer, const char *what)
{
    if (!pointer) {
        return hipSuccess;
    }
    uint64_t address = (uintptr_t)pointer;
    const struct hip_allocation *allocation = hip_find_allocation(address);
    if (!allocation || allocation->address != address) {
        hip_say("%s: %p is %s", what, pointer,
                allocation ? "inside of an allocation, not its start"
                : hip_is_device_address(address)
                    ? "device memory that is not, or no longer, allocated"
                    : "host memory that HIP has not allocated");
        return hipErrorInvalidValue;
    }
    if (allocation->kind == HIP_PINNED_MEMORY) {
        return release_pinned(allocation);
    }
    bool own = allocation->kind == HIP_DEVICE_MEMORY || allocation->kind == HIP_MANAGED_MEMORY;
    if (own) {
        HIP_RECORD(.kind = API_TRACE_FREE, .to.allocation = allocation->number);
    }
    return own ? hip_release_device(address) : hipErrorInvalidValue;
}

hipError_t hipMalloc(void **pointer, size_t size)
{
    HIP_API(allocate(pointer, size));
}

hipError_t hipExtMallocWithFlags(void **pointer, size_t size, unsigned flags)
{
    HIP_API(flags > hipMallocSignalMemory ? hipErrorInvalidValue : allocate(pointer, size));
}

hipError_t hipMallocAsync(void **pointer, size_t size, hipStream_t stream)
{
    (void)stream; /* memory that is there at once is there in the stream's order, too */
    HIP_API(allocate(pointer, size));
}

hipError_t hipFree(void *pointer)
{
    HIP_API_ALWAYS(release(pointer, "hipFree"));
}

hipError_t hipFreeAsync(void *pointer, hipStream_t stream)
{
    (void)stream;
    HIP_API_ALWAYS(release(pointer, "hipFreeAsync"));
}

/* Rows begin at multiples of 256 bytes, as device properties say (texturePitchAlignment). */
static hipError_t allocate_pitch(void **pointer, size_t *pitch, size_t width, size_t height)
{
    if (!pitch || width > SIZE_MAX - 255
        || (height > 0 && (width + 255) / 256 * 256 > SIZE_MAX / height)) {
        return hipErrorInvalidValue;
    }
    *pitch = (width + 255) / 256 * 256;
    return allocate(pointer, *pitch * height);
}

hipError_t hipMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height)
{
    HIP_API(allocate_pitch(pointer, pitch, width, height));
}

static hipError_t memory_info(size_t *available, size_t *total)
{
    uint64_t available_bytes = 0, total_bytes = 0;
    hipError_t error = hip_status(hip.api->memory_info(hip.devices[hip_current_device()].number,
                                                       &available_bytes, &total_bytes),
                                  "hipMemGetInfo");
    if (available) {
        *available = available_bytes;
    }
    if (total) {
        *total = total_bytes;
    }
    return error;
}

hipError_t hipMemGetInfo(size_t *available, size_t *total)
{
    HIP_API_ALWAYS(memory_info(available, total));
}

static hipError_t address_range(hipDeviceptr_t *base, size_t *size, hipDeviceptr_t pointer)
{
    const struct hip_allocation *allocation = hip_find_allocation((uintptr_t)pointer);
    if (!allocation) {
        return hipErrorNotFound;
    }
    if (base) {
        *base = (hipDeviceptr_t)(uintptr_t)allocation->address;
    }
    if (size) {
        *size = allocation->size;
    }
    return hipSuccess;
}

hipError_t hipMemGetAddressRange(hipDeviceptr_t *base, size_t *size, hipDeviceptr_t pointer)
{
    HIP_API_ALWAYS(address_range(base, size, pointer));
}

hipError_t hipMemPtrGetInfo(void *pointer, size_t *size)
{
    HIP_API_ALWAYS(size ? address_range(NULL, size, pointer) : hipErrorInvalidValue);
}

/* ---- pinned host memory ---- */

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
    map_add((struct hip_allocation){.address = (uintptr_t)memory,
                                    .size = size,
                                    .kind = HIP_PINNED_MEMORY,
                                    .device = hip_current_device(),
                                    .flags = flags});
    HIP_RECORD(.kind = API_TRACE_HOST_MALLOC,
               .place = {hip_record_number((uintptr_t)memory), API_TRACE_HOST, 0, NULL},
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

hipError_t hipHostFree(void *pointer)
{
    HIP_API_ALWAYS(release(pointer, "hipHostFree"));
}

hipError_t hipFreeHost(void *pointer)
{
    HIP_API_ALWAYS(release(pointer, "hipFreeHost"));
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
    map_add((struct hip_allocation){.address = address,
                                    .size = size,
                                    .kind = HIP_REGISTERED_MEMORY,
                                    .device = hip_current_device(),
                                    .flags = flags});
    HIP_RECORD(.kind = API_TRACE_HOST_REGISTER,
               .place = {hip_record_number(address), API_TRACE_HOST, 0, NULL}, .size = size,
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
    map_remove(allocation);
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
    bool records = hip_recording && hip_managed_device_side(host) == 0;
    struct api_trace_call call = {.kind = API_TRACE_HOST_MAP,
                                  .place = {allocation->number, API_TRACE_HOST, 0, NULL}};
    size_t line = records ? hip_record_add(&call) : 0;
    hipError_t error = hip_managed_map(start, size, host, address);
    if (records && error != hipSuccess) {
        hip_record_drop(line);
    } else if (records) {
        hip_record_at(line)->to.allocation = hip_record_number(*address);
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

/* ---- pointers ---- */

static hipError_t pointer_attributes(hipPointerAttribute_t *attributes, const void *pointer)
{
    if (!attributes) {
        return hipErrorInvalidValue;
    }
    const struct hip_allocation *allocation = hip_find_allocation((uintptr_t)pointer);
    if (!allocation) {
        return hipErrorInvalidValue;
    }
    bool on_device = hip_is_device_address((uintptr_t)pointer);
    uint64_t device_side =
                 on_device ? (uintptr_t)pointer : hip_managed_device_side((uintptr_t)pointer),
             host_side = on_device ? hip_managed_host_side((uintptr_t)pointer) : (uintptr_t)pointer;
    *attributes = (hipPointerAttribute_t){
        .memoryType = on_device ? hipMemoryTypeDevice : hipMemoryTypeHost,
        .device = allocation->device,
        .devicePointer = (void *)(uintptr_t)device_side,
        .hostPointer = (void *)(uintptr_t)host_side,
        .isManaged = allocation->kind == HIP_MANAGED_MEMORY,
        .allocationFlags = allocation->flags,
    };
    return hipSuccess;
}

hipError_t hipPointerGetAttributes(hipPointerAttribute_t *attributes, const void *pointer)
{
    HIP_API_ALWAYS(pointer_attributes(attributes, pointer));
}
