/* Reading, writing and copying buffers. */
#include "opencl_transfer.h"

/* A buffer and host memory: reading and writing. */
static cl_int exchange_bytes(const struct opencl_enqueue *enqueue, cl_mem handle, bool writes,
                             size_t offset, size_t size, void *pointer)
{
    struct opencl_memory *memory = opencl_buffer_find(handle);
    cl_int error = opencl_memory_check_enqueue(enqueue, memory);
    if (error == CL_SUCCESS)
        error = opencl_memory_check_host(memory, writes);
    if (error == CL_SUCCESS && (!pointer || !opencl_memory_has(memory, offset, size) || size == 0))
        error = CL_INVALID_VALUE;
    if (error != CL_SUCCESS)
        return error;
    struct opencl_side buffer = {.memory = memory, .offset = offset}, host = {.pointer = pointer};
    struct opencl_transfer *copy =
        opencl_transfer_bytes(writes ? buffer : host, writes ? host : buffer, size);
    return opencl_enqueue(enqueue, &copy->command);
}

#define HOW(command, blocks)                                                                       \
    &(struct opencl_enqueue)                                                                       \
    {                                                                                              \
        .queue = queue, .type = command, .wait_count = count, .waits = list, .event = event,       \
        .is_blocking = blocks                                                                      \
    }

OPENCL_CALL(clEnqueueReadBuffer,
            (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
             void *pointer, cl_uint count, const cl_event *list, cl_event *event),
            exchange_bytes(HOW(CL_COMMAND_READ_BUFFER, blocking), buffer, false, offset, size,
                           pointer));
OPENCL_CALL(clEnqueueWriteBuffer,
            (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
             const void *pointer, cl_uint count, const cl_event *list, cl_event *event),
            exchange_bytes(HOW(CL_COMMAND_WRITE_BUFFER, blocking), buffer, true, offset, size,
                           (void *)(uintptr_t)pointer));

static bool ranges_overlap(size_t a, size_t b, size_t size)
{
    return a < b ? b - a < size : a - b < size;
}

static cl_int check_copy(const struct opencl_enqueue *enqueue, const struct opencl_memory *from,
                         const struct opencl_memory *to)
{
    cl_int error = opencl_memory_check_enqueue(enqueue, from);
    return error == CL_SUCCESS ? opencl_memory_check_enqueue(enqueue, to) : error;
}

static cl_int copy_buffer(const struct opencl_enqueue *enqueue, cl_mem from_handle,
                          cl_mem to_handle, size_t from_offset, size_t to_offset, size_t size)
{
    struct opencl_memory *from = opencl_buffer_find(from_handle);
    struct opencl_memory *to = opencl_buffer_find(to_handle);
    cl_int error = check_copy(enqueue, from, to);
    if (error != CL_SUCCESS)
        return error;
    if (size == 0 || !opencl_memory_has(from, from_offset, size)
        || !opencl_memory_has(to, to_offset, size))
        return CL_INVALID_VALUE;
    if (opencl_memory_owner(from) == opencl_memory_owner(to)
        && ranges_overlap(from->origin + from_offset, to->origin + to_offset, size))
        return CL_MEM_COPY_OVERLAP;
    struct opencl_transfer *transfer =
        opencl_transfer_bytes((struct opencl_side){.memory = to, .offset = to_offset},
                              (struct opencl_side){.memory = from, .offset = from_offset}, size);
    return opencl_enqueue(enqueue, &transfer->command);
}

OPENCL_CALL(clEnqueueCopyBuffer,
            (cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset,
             size_t size, cl_uint count, const cl_event *list, cl_event *event),
            copy_buffer(HOW(CL_COMMAND_COPY_BUFFER, false), from, to, from_offset, to_offset,
                        size));

/* ---- rectangles ---- */

/* A pitch of 0 means rows, or slices, without gaps. */
static bool set_pitches(struct opencl_side *side, const size_t origin[3], const size_t region[3],
                        size_t row, size_t slice)
{
    side->row = row ? row : region[0];
    side->slice = slice ? slice : side->row * region[1];
    side->offset = origin[2] * side->slice + origin[1] * side->row + origin[0];
    return side->row >= region[0] && side->slice >= side->row * region[1]
           && side->slice % side->row == 0;
}

/* Bytes from the first to the last; 0: more than can be. */
static size_t extent_of(const struct opencl_side *side, const size_t region[3])
{
    size_t bytes, more;
    return __builtin_mul_overflow(side->slice, region[2] - 1, &bytes)
                   || __builtin_mul_overflow(side->row, region[1] - 1, &more)
                   || __builtin_add_overflow(bytes, more, &bytes)
                   || __builtin_add_overflow(bytes, region[0], &bytes)
               ? 0
               : bytes;
}

static bool side_fits(const struct opencl_side *side, const size_t region[3])
{
    size_t extent = extent_of(side, region);
    return extent > 0 && opencl_memory_has(side->memory, side->offset, extent);
}

static bool is_region(const size_t *region)
{
    return region && region[0] > 0 && region[1] > 0 && region[2] > 0;
}

struct rectangle {
    const size_t *buffer_origin, *host_origin, *region;
    size_t buffer_row, buffer_slice, host_row, host_slice;
};

static cl_int exchange_rectangle(const struct opencl_enqueue *enqueue, cl_mem handle, bool writes,
                                 const struct rectangle *r, void *pointer)
{
    struct opencl_memory *memory = opencl_buffer_find(handle);
    cl_int error = opencl_memory_check_enqueue(enqueue, memory);
    if (error == CL_SUCCESS)
        error = opencl_memory_check_host(memory, writes);
    if (error != CL_SUCCESS)
        return error;
    struct opencl_side buffer = {.memory = memory}, host = {.pointer = pointer};
    if (!pointer || !r->buffer_origin || !r->host_origin || !is_region(r->region)
        || !set_pitches(&buffer, r->buffer_origin, r->region, r->buffer_row, r->buffer_slice)
        || !set_pitches(&host, r->host_origin, r->region, r->host_row, r->host_slice)
        || !side_fits(&buffer, r->region))
        return CL_INVALID_VALUE;
    struct opencl_transfer *transfer =
        opencl_transfer_rectangle(writes ? buffer : host, writes ? host : buffer, r->region);
    return opencl_enqueue(enqueue, &transfer->command);
}

#define RECTANGLE                                                                                  \
    &(struct rectangle)                                                                            \
    {                                                                                              \
        buffer_origin, host_origin, region, buffer_row, buffer_slice, host_row, host_slice         \
    }

OPENCL_CALL(clEnqueueReadBufferRect,
            (cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t *buffer_origin,
             const size_t *host_origin, const size_t *region, size_t buffer_row,
             size_t buffer_slice, size_t host_row, size_t host_slice, void *pointer, cl_uint count,
             const cl_event *list, cl_event *event),
            exchange_rectangle(HOW(CL_COMMAND_READ_BUFFER_RECT, blocking), buffer, false, RECTANGLE,
                               pointer));
OPENCL_CALL(clEnqueueWriteBufferRect,
            (cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t *buffer_origin,
             const size_t *host_origin, const size_t *region, size_t buffer_row,
             size_t buffer_slice, size_t host_row, size_t host_slice, const void *pointer,
             cl_uint count, const cl_event *list, cl_event *event),
            exchange_rectangle(HOW(CL_COMMAND_WRITE_BUFFER_RECT, blocking), buffer, true, RECTANGLE,
                               (void *)(uintptr_t)pointer));

/* True if two rectangles of one buffer have bytes in common. As the specification's
 * check_copy_overlap(): with equal pitches by rows and columns. */
static bool rectangles_overlap(const size_t from[3], const size_t to[3], const size_t region[3],
                               size_t row, size_t slice)
{
    const size_t slice_bytes = (region[1] - 1) * row + region[0];
    const size_t block_bytes = (region[2] - 1) * slice + slice_bytes;
    const size_t from_first = from[2] * slice + from[1] * row + from[0];
    const size_t to_first = to[2] * slice + to[1] * row + to[0];
    bool overlaps_x = ranges_overlap(from[0], to[0], region[0]);
    bool overlaps_y = ranges_overlap(from[1], to[1], region[1]);
    bool overlaps_z = ranges_overlap(from[2], to[2], region[2]);
    if (overlaps_x && overlaps_y && overlaps_z)
        return true;
    /* A row that is wrapped around reaches into the next one. */
    bool wraps_x = from[0] + region[0] > row || to[0] + region[0] > row;
    bool wraps_y = from[1] * row + slice_bytes > slice || to[1] * row + slice_bytes > slice;
    return (wraps_x || wraps_y) && ranges_overlap(from_first, to_first, block_bytes);
}

static cl_int copy_rectangle(const struct opencl_enqueue *enqueue, cl_mem from_handle,
                             cl_mem to_handle, const size_t *from_origin, const size_t *to_origin,
                             const size_t *region, const size_t pitches[4])
{
    struct opencl_side from = {.memory = opencl_buffer_find(from_handle)};
    struct opencl_side to = {.memory = opencl_buffer_find(to_handle)};
    cl_int error = check_copy(enqueue, from.memory, to.memory);
    if (error != CL_SUCCESS)
        return error;
    if (!from_origin || !to_origin || !is_region(region)
        || !set_pitches(&from, from_origin, region, pitches[0], pitches[1])
        || !set_pitches(&to, to_origin, region, pitches[2], pitches[3]) || !side_fits(&from, region)
        || !side_fits(&to, region))
        return CL_INVALID_VALUE;
    bool is_same = from.memory == to.memory;
    if (is_same && (from.row != to.row || from.slice != to.slice))
        return CL_INVALID_VALUE;
    if (is_same && rectangles_overlap(from_origin, to_origin, region, from.row, from.slice))
        return CL_MEM_COPY_OVERLAP;
    struct opencl_transfer *transfer = opencl_transfer_rectangle(to, from, region);
    return opencl_enqueue(enqueue, &transfer->command);
}

OPENCL_CALL(clEnqueueCopyBufferRect,
            (cl_command_queue queue, cl_mem from, cl_mem to, const size_t *from_origin,
             const size_t *to_origin, const size_t *region, size_t from_row, size_t from_slice,
             size_t to_row, size_t to_slice, cl_uint count, const cl_event *list, cl_event *event),
            copy_rectangle(HOW(CL_COMMAND_COPY_BUFFER_RECT, false), from, to, from_origin,
                           to_origin, region,
                           (const size_t[4]){from_row, from_slice, to_row, to_slice}));
