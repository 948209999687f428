/* Devices that the program makes: several GPUs as one, and GPUs in a process of their own
 * (heddle_hip.h). To the rest of the library they are devices like others; `number` is what the
 * driver calls them. */
#include <stdio.h>

#include "components/hip/api/code/hip_hostcall.h"
#include "components/hip/api/record/hip_record.h"
#include "components/hip/api/streams/hip_stream.h"

#pragma GCC visibility push(default)
#include "components/hip/api/heddle_hip.h"
#pragma GCC visibility pop

/* A slot for a further device; -1: all are taken. */
static int free_slot(void)
{
    int slot = 0;
    while (slot < hip.device_count && (slot < hip.platform_devices || hip.devices[slot].is_open))
        slot++;
    return slot < HIP_DEVICES_MAX ? slot : -1;
}

hipError_t hip_open_device(int slot, uint32_t number)
{
    struct hip_device *device = &hip.devices[slot];
    memset(device, 0, sizeof *device);
    hipError_t error =
        hip_status_of(hip.api->device_info(number, &device->info), "opening a device");
    if (error == hipSuccess)
        error = hip_status_of(hip.api->queue_create(number, 0, &device->queue), "opening a device");
    if (error != hipSuccess)
        return error;
    device->number = number;
    device->is_open = true;
    hip_set_features(device);
    if (slot >= hip.device_count)
        hip.device_count = slot + 1;
    return hipSuccess;
}

static hipError_t add_device(uint32_t number, int *device)
{
    int slot = free_slot();
    if (slot < 0)
        hip_say("more than %d devices, with those that the program has made", HIP_DEVICES_MAX);
    hipError_t error = slot >= 0 ? hip_open_device(slot, number) : hipErrorOutOfMemory;
    if (error == hipSuccess)
        *device = slot;
    else
        hip.api->context_destroy(number);
    return error;
}

static void record_unified(int device, const int *gpus, int count)
{
    enum { DIGITS = 12 };
    size_t list_bytes = (size_t)count * DIGITS, used = 0;
    char *list = hip_allocate(list_bytes);
    for (int i = 0; i < count; i++)
        used += (size_t)snprintf(list + used, list_bytes - used, "%s%d", i > 0 ? "+" : "", gpus[i]);
    hip_record_call(&(struct api_trace_call){
        .kind = API_TRACE_UNIFY, .device = (uint32_t)device, .name = list});
}

HIP_DEFINE_AS(int, hip.device_error, heddleUnifyDevices, (device, gpus, count), int *device,
              const int *gpus, int count)
{
    uint32_t numbers[HIP_DEVICES_MAX], number = 0;
    if (!device || !gpus || count < 1 || count > HIP_DEVICES_MAX)
        return hipErrorInvalidValue;
    for (int i = 0; i < count; i++)
        numbers[i] = gpus[i] < 0 ? UINT32_MAX : (uint32_t)gpus[i];
    hipError_t error = hip_status(hip.api->unify(numbers, (uint32_t)count, &number));
    error = error == hipSuccess ? add_device(number, device) : error;
    if (error == hipSuccess && hip_is_recording())
        record_unified(*device, gpus, count);
    return error;
}

HIP_DEFINE_AS(int, hip.device_error, heddleCreateContext, (device, like), int *device, int like)
{
    uint32_t number = 0;
    if (!device || !hip_is_device(like))
        return device ? hipErrorInvalidDevice : hipErrorInvalidValue;
    hipError_t error = hip_status(hip.api->context_create(hip.devices[like].number, 0, &number));
    error = error == hipSuccess ? add_device(number, device) : error;
    if (error == hipSuccess) {
        hip_record_call(&(struct api_trace_call){.kind = API_TRACE_CONTEXT_CREATE,
                                                 .device = (uint32_t)*device,
                                                 .value = (uint32_t)like});
    }
    return error;
}

HIP_DEFINE_AS(int, hip.device_error, heddleDestroyDevice, (device), int device)
{
    if (!hip_is_device(device) || device < hip.platform_devices || device == hip_current_device())
        return hipErrorInvalidDevice;
    hip_record_call(
        &(struct api_trace_call){.kind = API_TRACE_DEVICE_DESTROY, .device = (uint32_t)device});
    hipError_t error = hip_wait_device(device);
    if (error != hipSuccess)
        return error;
    hip_release_streams(device);
    hip_release_hostcalls(device);
    hip_unload_device(device);
    hip_release_memory_of(device);
    error = hip_status(hip.api->context_destroy(hip.devices[device].number));
    hip.devices[device].is_open = false;
    return error;
}

HIP_DEFINE_AS(int, hip.device_error, heddleRemap, (pointer, bytes, gpu), void *pointer,
              unsigned long bytes, int gpu)
{
    uint64_t address = (uintptr_t)pointer;
    uint64_t name = hip.api->name(hip.devices[hip_current_device()].number, address);
    uint32_t number = gpu < 0 ? UINT32_MAX : (uint32_t)gpu;
    hipError_t error = hip_status(hip.api->remap(name, bytes, number));
    if (error == hipSuccess)
        hip_record_call_to(address, &(struct api_trace_call){
                                        .kind = API_TRACE_REMAP, .size = bytes, .device = number});
    return error;
}

HIP_DEFINE_AS(int, hip.device_error, heddleAllocateAt, (pointer, size), void *pointer,
              unsigned long size)
{
    uint64_t address = (uintptr_t)pointer;
    int device = hip_current_device();
    const struct hip_allocation *same_address = hip_find_allocation(address);
    uint32_t number = hip.devices[device].number;
    hipError_t error = hip_status(hip.api->allocate_at(number, address, size, DRIVER_PLACE_DEVICE));
    if (error != hipSuccess)
        return error;
    struct hip_allocation allocation = {
        .address = address, .size = size, .kind = HIP_DEVICE_MEMORY, .device = device};
    if (same_address || hip.api->name(number, address) != address)
        hip_add_context_allocation(allocation);
    else
        hip_add_allocation(allocation);
    hip_record_call(&(struct api_trace_call){.kind = API_TRACE_MALLOC_AT,
                                             .to.allocation = hip_allocation_number(address),
                                             .size = size,
                                             .device_address = address});
    return hipSuccess;
}

HIP_DEFINE_AS(int, hip.device_error, heddlePageOwner, (gpu, pointer), int *gpu, const void *pointer)
{
    struct driver_page page;
    if (!gpu)
        return hipErrorInvalidValue;
    uint64_t name = hip.api->name(hip.devices[hip_current_device()].number, (uintptr_t)pointer);
    hipError_t error = hip_status(hip.api->page_info(name, &page));
    *gpu = error == hipSuccess ? (int)page.device : -1;
    return error;
}

/* "0,1,3": the GPUs of --unified. False: the mistake was written. */
static bool parse_gpus(const char *text, uint32_t *gpus, uint32_t *count)
{
    *count = 0;
    for (char *end; *text; text = *end == ',' ? end + 1 : end) {
        unsigned long number = strtoul(text, &end, 10);
        if (end == text || (*end != ',' && *end != 0) || *count == HIP_DEVICES_MAX) {
            hip_say("--unified: '%s' is no list of GPU numbers such as 0,1,2,3", text);
            return false;
        }
        gpus[(*count)++] = number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
    }
    return true;
}

bool hip_unify_all(const char *list)
{
    uint32_t gpus[HIP_DEVICES_MAX], count, number = 0;
    return parse_gpus(list, gpus, &count)
           && hip_status_of(hip.api->unify(gpus, count, &number), "--unified") == hipSuccess
           && hip_open_device(0, number) == hipSuccess;
}
