/* Fills buffers with patterns. The driver fills with 1, 2 or 4 bytes. A larger pattern is written
 * once, and what is filled is copied to after itself until all is. */
#include "opencl_fill.h"

#include <string.h>

#include "base/number.h"
#include "components/opencl/api/devices/opencl_features.h"

#include "opencl_driver_commands.h"
#include "opencl_transfer.h"

struct fill {
    struct opencl_command command;
    struct opencl_memory *memory;
    uint64_t address; /* without a memory object */
    struct opencl_box box;
    size_t bytes; /* size of the pattern */
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
    size_t filled = fill->bytes, size = fill->box.region[0];
    cl_int error = opencl_driver_write(lane, address, fill->pattern, fill->bytes, ticket);
    while (filled < size && error == CL_SUCCESS) {
        size_t more = min(size - filled, filled);
        error = opencl_driver_move(lane, address + filled, address, more, ticket);
        filled += more;
    }
    return error;
}

static cl_int fill_row(const struct fill *fill, uint32_t lane, uint64_t address, uint64_t *ticket)
{
    if (fill->bytes > 4)
        return fill_by_copies(fill, lane, address, ticket);
    return opencl_driver_fill(lane, address, fill->pattern, (uint32_t)fill->bytes,
                              fill->box.region[0] / fill->bytes, ticket);
}

/* Rows after the first are copies of it. */
static cl_int fill_rows(const struct fill *fill, uint32_t lane, uint64_t address, uint64_t *ticket)
{
    const struct opencl_box *box = &fill->box;
    cl_int error = fill_row(fill, lane, address, ticket);
    for (size_t slice = 0; slice < box->region[2]; slice++)
        for (size_t row = slice == 0; row < box->region[1] && error == CL_SUCCESS; row++)
            error = opencl_driver_move(lane, address + slice * box->slice + row * box->row, address,
                                       box->region[0], ticket);
    return error;
}

static cl_int issue_fill(struct opencl_command *command, struct opencl_event *event)
{
    const struct fill *fill = (const struct fill *)command;
    const struct opencl_box *box = &fill->box;
    uint64_t address = fill->address;
    cl_int error = CL_SUCCESS;
    if (fill->memory) {
        error = opencl_memory_use(fill->memory, event->queue->place, event->lane, true);
        if (error == CL_SUCCESS)
            error = opencl_memory_address(fill->memory, event->queue->place, &address);
    }
    address += box->offset;
    struct hip_use use = {.location = opencl.hip->location_of(address),
                          .size = (box->region[2] - 1) * box->slice
                                  + (box->region[1] - 1) * box->row + box->region[0],
                          .is_written = true};
    if (error == CL_SUCCESS)
        error = opencl_error_of(opencl.hip->host_memory_prepare(event->lane, &use, 1, false));
    if (error != CL_SUCCESS || box->region[0] == 0)
        return error;
    return fill_rows(fill, event->lane, address, &event->ticket);
}

static void release_fill(struct opencl_command *command)
{
    const struct fill *fill = (const struct fill *)command;
    opencl_drop(fill->memory ? &fill->memory->object : NULL);
}

struct opencl_command *opencl_fill_create(struct opencl_memory *memory, void *pointer,
                                          struct opencl_box box, const void *pattern, size_t bytes)
{
    struct fill *fill = opencl_allocate(sizeof *fill);
    *fill = (struct fill){.command = {issue_fill, release_fill},
                          .memory = memory,
                          .address = (uintptr_t)pointer,
                          .box = box,
                          .bytes = bytes};
    memcpy(fill->pattern, pattern, bytes);
    opencl_hold(memory ? &memory->object : NULL);
    return &fill->command;
}

static cl_int fill_buffer(const struct opencl_enqueue *enqueue, cl_mem handle, const void *pattern,
                          size_t bytes, size_t offset, size_t size)
{
    struct opencl_memory *memory = opencl_buffer_find(handle);
    cl_int error = opencl_memory_check_enqueue(enqueue, memory);
    if (error != CL_SUCCESS)
        return error;
    if (!opencl_fill_is_sound(pattern, bytes, offset, size)
        || !opencl_memory_has(memory, offset, size) || size == 0)
        return CL_INVALID_VALUE;
    return opencl_enqueue(
        enqueue, opencl_fill_create(memory, NULL, (struct opencl_box){offset, {size, 1, 1}, 0, 0},
                                    pattern, bytes));
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
