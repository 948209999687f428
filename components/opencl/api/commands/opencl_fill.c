/* See opencl_fill.h. The driver fills with 1, 2 or 4 bytes. A larger pattern is written once, and
 * what is filled is copied behind itself until all is. */
#include "opencl_fill.h"

#include "components/opencl/api/commands/opencl_transfer.h"
#include "components/opencl/api/devices/opencl_features.h"

#include <string.h>

struct fill {
    struct opencl_command command;
    struct opencl_memory *memory;
    uint64_t address; /* without a memory object */
    size_t offset, size, bytes;
    uint8_t pattern[OPENCL_PATTERN_MAX];
};

bool opencl_fill_is_sound(const void *pattern, size_t bytes, size_t offset, size_t size)
{
    return pattern && bytes > 0 && bytes <= OPENCL_PATTERN_MAX && (bytes & (bytes - 1)) == 0
           && offset % bytes == 0 && size % bytes == 0;
}

static cl_int fill_by_copies(const struct fill *fill, uint32_t lane, uint64_t address,
                             uint64_t *ticket)
{
    size_t done = fill->bytes;
    cl_int error =
        opencl_status(opencl.api->write(lane, address, fill->pattern, fill->bytes, ticket));
    while (done < fill->size && error == CL_SUCCESS) {
        size_t more = fill->size - done < done ? fill->size - done : done;
        error = opencl_status(opencl.api->copy(lane, address + done, address, more, ticket));
        done += more;
    }
    return error;
}

static cl_int issue(struct opencl_command *command, struct opencl_event *event)
{
    const struct fill *fill = (const struct fill *)command;
    uint64_t address = fill->address;
    cl_int error = CL_SUCCESS;
    if (fill->memory) {
        error = opencl_memory_use(fill->memory, event->queue->place, event->lane, true);
        if (error == CL_SUCCESS)
            error = opencl_memory_address(fill->memory, event->queue->place, &address);
    }
    address += fill->offset;
    struct hip_use use = {
        .location = opencl.face->location_of(address), .size = fill->size, .written = true};
    if (error == CL_SUCCESS)
        error = opencl_error_of(opencl.face->prepare(event->lane, &use, 1, false));
    if (error != CL_SUCCESS || fill->size == 0)
        return error;
    if (fill->bytes > 4)
        return fill_by_copies(fill, event->lane, address, &event->ticket);
    return opencl_status(opencl.api->fill(event->lane, address, fill->pattern,
                                          (uint32_t)fill->bytes, fill->size / fill->bytes,
                                          &event->ticket));
}

static void release(struct opencl_command *command)
{
    const struct fill *fill = (const struct fill *)command;
    opencl_drop(fill->memory ? &fill->memory->object : NULL);
}

struct opencl_command *opencl_fill_make(struct opencl_memory *memory, void *pointer, size_t offset,
                                        const void *pattern, size_t bytes, size_t size)
{
    struct fill *fill = opencl_allocate(sizeof *fill);
    *fill = (struct fill){.command = {issue, release},
                          .memory = memory,
                          .address = (uintptr_t)pointer,
                          .offset = offset,
                          .size = size,
                          .bytes = bytes};
    memcpy(fill->pattern, pattern, bytes);
    opencl_hold(memory ? &memory->object : NULL);
    return &fill->command;
}

static cl_int fill_buffer(const struct opencl_enqueue *how, cl_mem handle, const void *pattern,
                          size_t bytes, size_t offset, size_t size)
{
    struct opencl_memory *memory = opencl_memory_find(handle);
    cl_int error = opencl_memory_check_enqueue(how, memory);
    if (error != CL_SUCCESS)
        return error;
    if (!opencl_fill_is_sound(pattern, bytes, offset, size)
        || !opencl_memory_has(memory, offset, size) || size == 0)
        return CL_INVALID_VALUE;
    return opencl_enqueue(how, opencl_fill_make(memory, NULL, offset, pattern, bytes, size));
}

OPENCL_CALL(clEnqueueFillBuffer,
            (cl_command_queue queue, cl_mem buffer, const void *pattern, size_t bytes,
             size_t offset, size_t size, cl_uint count, const cl_event *list, cl_event *event),
            fill_buffer(&(struct opencl_enqueue){.queue = queue,
                                                 .type = CL_COMMAND_FILL_BUFFER,
                                                 .wait_count = count,
                                                 .waits = list,
                                                 .event = event},
                        buffer, pattern, bytes, offset, size));
