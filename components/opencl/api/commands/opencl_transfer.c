/* Copies rectangles of buffers and images. Rows that follow one another are one copy of the driver.
 */
#include "opencl_transfer.h"

#include <stdlib.h>
#include <string.h>

#include "opencl_driver_commands.h"

/* Both sides are the host's own memory: what is before the command is done first. */
static cl_int copy_on_host(uint32_t lane, uint64_t to, uint64_t from, size_t size)
{
    cl_int error = opencl_driver_drain(lane);
    if (error == CL_SUCCESS)
        memmove((void *)(uintptr_t)to, (const void *)(uintptr_t)from, size);
    return error;
}

static cl_int copy_row(uint32_t lane, uint64_t to, uint64_t from, size_t size, uint64_t *ticket)
{
    struct hip_use uses[2] = {
        [OPENCL_TO] = {.location = opencl.hip->location_of(to), .size = size, .is_written = true},
        [OPENCL_FROM] = {.location = opencl.hip->location_of(from), .size = size},
    };
    cl_int error = opencl_error_of(opencl.hip->host_memory_prepare(lane, uses, 2, false));
    if (error != CL_SUCCESS)
        return error;
    if (!hip_location_on_device(&uses[OPENCL_TO].location)
        && !hip_location_on_device(&uses[OPENCL_FROM].location))
        return copy_on_host(lane, to, from, size);
    error = opencl_driver_copy(lane, to, from, uses, ticket);
    if (error == CL_SUCCESS)
        opencl.hip->host_memory_add_writer(*ticket, &uses[OPENCL_TO]);
    return error;
}

/* Finds the place of the side's first byte; brings the contents of a buffer to the device. */
static cl_int place_side(const struct opencl_side *side, const struct opencl_event *event,
                         bool is_written, uint64_t *address)
{
    int device = event->queue->place;
    *address = (uintptr_t)side->pointer;
    cl_int error = CL_SUCCESS;
    if (side->memory)
        error = opencl_memory_use(side->memory, device, event->lane, is_written);
    if (side->memory && error == CL_SUCCESS)
        error = opencl_memory_address(side->memory, device, address);
    *address += side->offset;
    return error;
}

static cl_int issue_transfer(struct opencl_command *command, struct opencl_event *event)
{
    const struct opencl_transfer *copy = (const struct opencl_transfer *)command;
    uint64_t to = 0, from = 0;
    if (copy->width == 0)
        return CL_SUCCESS;
    cl_int error = place_side(&copy->from, event, false, &from);
    if (error == CL_SUCCESS)
        error = place_side(&copy->to, event, true, &to);
    for (size_t slice = 0; slice < copy->slices && error == CL_SUCCESS; slice++)
        for (size_t row = 0; row < copy->rows && error == CL_SUCCESS; row++)
            error = copy_row(event->lane, to + slice * copy->to.slice + row * copy->to.row,
                             from + slice * copy->from.slice + row * copy->from.row, copy->width,
                             &event->ticket);
    return error;
}

static void release_transfer(struct opencl_command *command)
{
    struct opencl_transfer *copy = (struct opencl_transfer *)command;
    opencl_drop(copy->to.memory ? &copy->to.memory->object : NULL);
    opencl_drop(copy->from.memory ? &copy->from.memory->object : NULL);
}

/* Rows that follow one another without a gap on both sides are one row; so are slices. */
static void merge_rows(struct opencl_transfer *copy)
{
    if (copy->to.row == copy->width && copy->from.row == copy->width
        && (copy->slices == 1
            || (copy->to.slice == copy->width * copy->rows
                && copy->from.slice == copy->width * copy->rows))) {
        copy->width *= copy->rows * copy->slices;
        copy->rows = copy->slices = 1;
    }
}

struct opencl_transfer *opencl_transfer_rectangle(struct opencl_side to, struct opencl_side from,
                                                  const size_t region[3])
{
    struct opencl_transfer *copy = opencl_allocate(sizeof *copy);
    *copy = (struct opencl_transfer){.command = {issue_transfer, release_transfer},
                                     .to = to,
                                     .from = from,
                                     .width = region[0],
                                     .rows = region[1],
                                     .slices = region[2]};
    opencl_hold(to.memory ? &to.memory->object : NULL);
    opencl_hold(from.memory ? &from.memory->object : NULL);
    merge_rows(copy);
    return copy;
}

struct opencl_transfer *opencl_transfer_bytes(struct opencl_side to, struct opencl_side from,
                                              size_t size)
{
    return opencl_transfer_rectangle(to, from, (const size_t[3]){size, 1, 1});
}
