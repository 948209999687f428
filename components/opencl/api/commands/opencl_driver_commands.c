/* Each function makes a call of the driver, and records it (see opencl_driver_commands.h). */
#include "opencl_driver_commands.h"

#include "base/grow.h"
#include "components/amd/isa/object/kernarg.h"

/* Lanes' streams in the recording, by the driver's number of the queue. */
static struct {
    struct stream {
        uint32_t number; /* 0: none */
        int device;
    } * list;
    size_t capacity;
} streams;

/* Calls of HIP that make something are for the current device of the thread. */
static void record_device(int number)
{
    if (number != opencl.hip->current_device())
        opencl.hip->record_call(
            &(struct api_trace_call){.kind = API_TRACE_SET_DEVICE, .device = (uint32_t)number});
}

static void record_device_back(int number)
{
    if (number != opencl.hip->current_device())
        opencl.hip->record_call(&(struct api_trace_call){
            .kind = API_TRACE_SET_DEVICE, .device = (uint32_t)opencl.hip->current_device()});
}

static uint32_t stream_of(uint32_t lane)
{
    return lane < streams.capacity ? streams.list[lane].number : 0;
}

/* ---- memory and code ---- */

hipError_t opencl_driver_allocate(int number, uint64_t size, uint64_t *address)
{
    hipError_t error =
        opencl.hip->allocate_device(number, size, OPENCL_ALIGN, HIP_DEVICE_MEMORY, address);
    if (error == hipSuccess) {
        record_device(number);
        opencl.hip->record_call_to(
            *address, &(struct api_trace_call){.kind = API_TRACE_MALLOC, .size = size});
        record_device_back(number);
    }
    return error;
}

hipError_t opencl_driver_release(uint64_t address)
{
    opencl.hip->record_call_to(address, &(struct api_trace_call){.kind = API_TRACE_FREE});
    return opencl.hip->release_device(address);
}

void opencl_driver_unload(struct hip_module *module)
{
    struct hip_location location = opencl.hip->location_of(module->base);
    opencl.hip->record_call(&(struct api_trace_call){.kind = API_TRACE_MODULE_UNLOAD,
                                                     .module = location.allocation.number});
    opencl.hip->unload_module(module);
}

/* ---- lanes ---- */

static void record_lane(int number, uint32_t lane)
{
    grow_slots(streams.list, lane, streams.capacity, OPENCL_LIBRARY);
    streams.list[lane] = (struct stream){opencl.hip->stream_next_number(), number};
    record_device(number);
    opencl.hip->record_call(&(struct api_trace_call){
        .kind = API_TRACE_STREAM_CREATE, .stream = stream_of(lane), .flags = hipStreamNonBlocking});
    record_device_back(number);
}

cl_int opencl_driver_make_lane(int number, uint32_t *lane)
{
    cl_int error =
        opencl_status(opencl.api->queue_create(opencl.hip->device_number(number), 0, lane));
    if (error == CL_SUCCESS && opencl.hip->is_recording())
        record_lane(number, *lane);
    return error;
}

void opencl_driver_end_lane(uint32_t lane)
{
    opencl.hip->record_call(
        &(struct api_trace_call){.kind = API_TRACE_STREAM_DESTROY, .stream = stream_of(lane)});
    opencl.api->queue_destroy(lane);
}

/* ---- copies and fills ---- */

cl_int opencl_driver_copy(uint32_t lane, uint64_t to, uint64_t from, const struct hip_use uses[2],
                          uint64_t *ticket)
{
    const struct hip_use *target = &uses[OPENCL_TO], *source = &uses[OPENCL_FROM];
    bool writes_device = hip_location_on_device(&target->location);
    bool reads_device = hip_location_on_device(&source->location);
    void *host = (void *)(uintptr_t)(writes_device ? source : target)->memory;
    uint64_t size = target->size;
    const struct hip_recorded_copy copy = {.to = to,
                                           .from = from,
                                           .host = writes_device && reads_device ? NULL : host,
                                           .size = size,
                                           .writes_device = writes_device,
                                           .reads_device = reads_device,
                                           .is_pageable = true,
                                           .stream = stream_of(lane)};
    size_t line = opencl.hip->record_copy(&copy);
    if (writes_device && !reads_device)
        opencl.hip->host_memory_scan(to, host, size);
    cl_int error =
        opencl_status(writes_device && reads_device
                          ? opencl.api->copy(lane, target->memory, source->memory, size, ticket)
                      : writes_device ? opencl.api->write(lane, target->memory, host, size, ticket)
                                      : opencl.api->read(lane, host, source->memory, size, ticket));
    if (error == CL_SUCCESS)
        opencl.hip->record_copy_sent(line, &copy, *ticket);
    return error;
}

cl_int opencl_driver_move(uint32_t lane, uint64_t to, uint64_t from, uint64_t size,
                          uint64_t *ticket)
{
    opencl.hip->record_copy(&(struct hip_recorded_copy){.to = to,
                                                        .from = from,
                                                        .size = size,
                                                        .writes_device = true,
                                                        .reads_device = true,
                                                        .stream = stream_of(lane)});
    return opencl_status(opencl.api->copy(lane, to, from, size, ticket));
}

static cl_int write_bytes(uint32_t lane, uint64_t to, const void *bytes, uint64_t size, bool waits,
                          uint64_t *ticket)
{
    opencl.hip->record_copy(&(struct hip_recorded_copy){.to = to,
                                                        .host = (void *)(uintptr_t)bytes,
                                                        .size = size,
                                                        .writes_device = true,
                                                        .waits = waits,
                                                        .is_pageable = true,
                                                        .stream = stream_of(lane)});
    return opencl_status(opencl.api->write(lane, to, bytes, size, ticket));
}

cl_int opencl_driver_write(uint32_t lane, uint64_t to, const void *bytes, uint64_t size,
                           uint64_t *ticket)
{
    return write_bytes(lane, to, bytes, size, false, ticket);
}

cl_int opencl_driver_write_now(int number, uint64_t to, const void *bytes, uint64_t size)
{
    uint64_t ticket = 0;
    record_device(number);
    cl_int error = write_bytes(opencl.hip->device_queue(number), to, bytes, size, true, &ticket);
    record_device_back(number);
    return error == CL_SUCCESS ? opencl_error_of(opencl.hip->wait_here(ticket)) : error;
}

cl_int opencl_driver_fill(uint32_t lane, uint64_t to, const void *pattern, uint32_t width,
                          uint64_t count, uint64_t *ticket)
{
    struct api_trace_call call = {.kind = API_TRACE_MEMSET,
                                  .is_async = true,
                                  .width = width,
                                  .size = count,
                                  .stream = stream_of(lane)};
    memcpy(&call.value, pattern, width);
    opencl.hip->record_call_to(to, &call);
    return opencl_status(opencl.api->fill(lane, to, pattern, width, count, ticket));
}

/* ---- launches ---- */

/* The property of a launch that HIP cannot express; NULL: it can be noted. */
static const char *find_unrecordable(const struct driver_launch *launch,
                                     const struct kernarg_geometry *geometry, bool prints)
{
    for (int i = 0; i < 3; i++) {
        if (geometry->offset[i] != 0)
            return "a launch begins at an offset, which no trace says";
        if (launch->grid[i] % launch->block[i] != 0)
            return "the last work-groups of a launch are smaller, which no trace says";
    }
    return prints ? "a kernel calls OpenCL's printf, which no trace says" : NULL;
}

enum driver_status opencl_driver_launch(uint32_t lane, const struct hip_function *function,
                                        const struct driver_launch *launch,
                                        const struct kernarg_geometry *geometry, bool prints,
                                        uint64_t *ticket)
{
    const char *reason = find_unrecordable(launch, geometry, prints);
    if (reason)
        opencl.hip->record_give_up(reason);
    struct api_trace_call call = {.kind = API_TRACE_LAUNCH,
                                  .shared_bytes = geometry->dynamic_lds_bytes,
                                  .stream = stream_of(lane)};
    for (int i = 0; i < 3; i++) {
        call.grid[i] = launch->grid[i] / launch->block[i];
        call.block[i] = launch->block[i];
    }
    size_t line = opencl.hip->record_launch(&call, function, launch->kernarg);
    enum driver_status status = opencl.api->launch(lane, launch, ticket);
    if (status != DRIVER_OK)
        opencl.hip->record_drop(line);
    return status;
}

/* ---- order ---- */

static uint32_t create_event(uint32_t lane)
{
    uint32_t number = opencl.hip->event_next_number();
    int device = lane < streams.capacity ? streams.list[lane].device : 0;
    record_device(device);
    opencl.hip->record_call(&(struct api_trace_call){
        .kind = API_TRACE_EVENT_CREATE, .event = number, .flags = hipEventDisableTiming});
    opencl.hip->record_call(&(struct api_trace_call){
        .kind = API_TRACE_EVENT_RECORD, .event = number, .stream = stream_of(lane)});
    record_device_back(device);
    return number;
}

static void end_event(uint32_t number)
{
    if (number != 0)
        opencl.hip->record_call(
            &(struct api_trace_call){.kind = API_TRACE_EVENT_DESTROY, .event = number});
}

/* A command whose event the program does not have is waited for with all that its lane has got. */
cl_int opencl_driver_order(uint32_t lane, uint32_t other_lane, uint32_t number, uint64_t ticket)
{
    if (opencl.hip->is_recording()) {
        uint32_t created = number == 0 ? create_event(other_lane) : 0;
        opencl.hip->record_call(&(struct api_trace_call){.kind = API_TRACE_STREAM_WAIT_EVENT,
                                                         .stream = stream_of(lane),
                                                         .event = number ? number : created});
        end_event(created);
    }
    return opencl_status(opencl.api->wait_for(lane, ticket));
}

cl_int opencl_driver_drain(uint32_t lane)
{
    uint64_t ticket = 0;
    enum driver_status status = opencl.api->last(lane, &ticket);
    if (status != DRIVER_OK || ticket == 0)
        return opencl_status(status);
    opencl.hip->record_call(
        &(struct api_trace_call){.kind = API_TRACE_STREAM_SYNCHRONIZE, .stream = stream_of(lane)});
    return opencl_error_of(opencl.hip->wait_here(ticket));
}

void opencl_driver_record_event(struct opencl_event *event)
{
    if (opencl.hip->is_recording() && event->is_named)
        event->recorded = create_event(event->lane);
}

void opencl_driver_record_wait(const struct opencl_event *event)
{
    if (event->recorded)
        opencl.hip->record_call(&(struct api_trace_call){.kind = API_TRACE_EVENT_SYNCHRONIZE,
                                                         .event = event->recorded});
    else
        opencl.hip->record_call(&(struct api_trace_call){.kind = API_TRACE_STREAM_SYNCHRONIZE,
                                                         .stream = stream_of(event->lane)});
}

void opencl_driver_record_query(const struct opencl_event *event, bool is_over)
{
    if (event->recorded)
        opencl.hip->record_call(&(struct api_trace_call){
            .kind = API_TRACE_EVENT_QUERY, .event = event->recorded, .value = is_over});
}

void opencl_driver_record_end(const struct opencl_event *event)
{
    end_event(event->recorded);
}
