/* Reading, writing, copying, filling and mapping images: boxes of their memory. */
#include "components/opencl/api/memory/opencl_image.h"

#include "opencl_fill.h"
#include "opencl_transfer.h"

#define HOW(command, blocks)                                                                       \
    &(struct opencl_enqueue)                                                                       \
    {                                                                                              \
        .queue = queue, .type = command, .wait_count = count, .waits = list, .event = event,       \
        .is_blocking = blocks                                                                      \
    }

static struct opencl_side side_of(struct opencl_memory *memory, void *pointer,
                                  const struct opencl_box *box)
{
    return (struct opencl_side){memory, pointer, box->offset, box->row, box->slice};
}

/* ---- reading and writing ---- */

/* The program's memory has rows and slices of its own; 0: as long as what lies in them. */
static bool set_host_pitches(const struct opencl_image *image, const struct opencl_box *box,
                             size_t row, size_t slice, struct opencl_side *side)
{
    bool is_array = image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    if ((row && row < box->region[0]) || (slice && opencl_image_dimensions(image) < 3 && !is_array))
        return false;
    side->row = row ? row : box->region[0];
    if (is_array && slice) {
        if (slice < side->row)
            return false;
        side->row = slice;
        slice = 0;
    }
    if (__builtin_mul_overflow(side->row, box->region[1], &side->slice)
        || (slice && slice < side->slice))
        return false;
    side->slice = slice ? slice : side->slice;
    return true;
}

static cl_int exchange_image(const struct opencl_enqueue *enqueue, cl_mem handle, bool writes,
                             const size_t *origin, const size_t *region, const size_t pitches[2],
                             void *pointer)
{
    struct opencl_memory *memory = opencl_image_find(handle);
    struct opencl_box box;
    struct opencl_side host = {.pointer = pointer};
    cl_int error = opencl_memory_check_enqueue(enqueue, memory);
    if (error == CL_SUCCESS)
        error = opencl_memory_check_host(memory, writes);
    if (error == CL_SUCCESS
        && (!pointer || !opencl_image_box(memory->image, origin, region, &box)
            || !set_host_pitches(memory->image, &box, pitches[0], pitches[1], &host)))
        error = CL_INVALID_VALUE;
    if (error != CL_SUCCESS)
        return error;
    struct opencl_side image = side_of(memory, NULL, &box);
    return opencl_enqueue(enqueue, &opencl_transfer_rectangle(writes ? image : host,
                                                              writes ? host : image, box.region)
                                        ->command);
}

OPENCL_CALL(clEnqueueReadImage,
            (cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t *origin,
             const size_t *region, size_t row, size_t slice, void *pointer, cl_uint count,
             const cl_event *list, cl_event *event),
            exchange_image(HOW(CL_COMMAND_READ_IMAGE, blocking), image, false, origin, region,
                           (const size_t[2]){row, slice}, pointer));
OPENCL_CALL(clEnqueueWriteImage,
            (cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t *origin,
             const size_t *region, size_t row, size_t slice, const void *pointer, cl_uint count,
             const cl_event *list, cl_event *event),
            exchange_image(HOW(CL_COMMAND_WRITE_IMAGE, blocking), image, true, origin, region,
                           (const size_t[2]){row, slice}, (void *)(uintptr_t)pointer));

/* ---- copying ---- */

static bool boxes_overlap(const size_t a[3], const size_t b[3], const size_t region[3])
{
    for (int i = 0; i < 3; i++)
        if ((a[i] < b[i] ? b[i] - a[i] : a[i] - b[i]) >= region[i])
            return false;
    return true;
}

static cl_int copy_image(const struct opencl_enqueue *enqueue, cl_mem from_handle, cl_mem to_handle,
                         const size_t *from_origin, const size_t *to_origin, const size_t *region)
{
    struct opencl_memory *from = opencl_image_find(from_handle), *to = opencl_image_find(to_handle);
    struct opencl_box from_box, to_box;
    cl_int error = opencl_memory_check_enqueue(enqueue, from);
    if (error == CL_SUCCESS)
        error = opencl_memory_check_enqueue(enqueue, to);
    if (error != CL_SUCCESS)
        return error;
    if (from->image->order != to->image->order || from->image->channel != to->image->channel)
        return CL_IMAGE_FORMAT_MISMATCH;
    if (!opencl_image_box(from->image, from_origin, region, &from_box)
        || !opencl_image_box(to->image, to_origin, region, &to_box))
        return CL_INVALID_VALUE;
    if (from == to && boxes_overlap(from_origin, to_origin, region))
        return CL_MEM_COPY_OVERLAP;
    return opencl_enqueue(enqueue,
                          &opencl_transfer_rectangle(side_of(to, NULL, &to_box),
                                                     side_of(from, NULL, &from_box), to_box.region)
                               ->command);
}

OPENCL_CALL(clEnqueueCopyImage,
            (cl_command_queue queue, cl_mem from, cl_mem to, const size_t *from_origin,
             const size_t *to_origin, const size_t *region, cl_uint count, const cl_event *list,
             cl_event *event),
            copy_image(HOW(CL_COMMAND_COPY_IMAGE, false), from, to, from_origin, to_origin,
                       region));

/* Between an image and a buffer, in which rows and slices have no gaps. */
static cl_int copy_buffer(const struct opencl_enqueue *enqueue, cl_mem image_handle,
                          cl_mem buffer_handle, bool writes_buffer, const size_t *origin,
                          const size_t *region, size_t offset)
{
    struct opencl_memory *memory = opencl_image_find(image_handle);
    struct opencl_memory *buffer = opencl_buffer_find(buffer_handle);
    struct opencl_box box;
    cl_int error = opencl_memory_check_enqueue(enqueue, memory);
    if (error == CL_SUCCESS)
        error = opencl_memory_check_enqueue(enqueue, buffer);
    if (error != CL_SUCCESS)
        return error;
    if (!opencl_image_box(memory->image, origin, region, &box))
        return CL_INVALID_VALUE;
    size_t slice = box.region[0] * box.region[1];
    if (!opencl_memory_has(buffer, offset, slice * box.region[2]))
        return CL_INVALID_VALUE;
    if (!opencl_memory_is_aligned(buffer))
        return CL_MISALIGNED_SUB_BUFFER_OFFSET;
    struct opencl_side image = side_of(memory, NULL, &box);
    struct opencl_side buffer_side = {buffer, NULL, offset, box.region[0], slice};
    return opencl_enqueue(enqueue, &opencl_transfer_rectangle(writes_buffer ? buffer_side : image,
                                                              writes_buffer ? image : buffer_side,
                                                              box.region)
                                        ->command);
}

OPENCL_CALL(clEnqueueCopyImageToBuffer,
            (cl_command_queue queue, cl_mem from, cl_mem to, const size_t *origin,
             const size_t *region, size_t offset, cl_uint count, const cl_event *list,
             cl_event *event),
            copy_buffer(HOW(CL_COMMAND_COPY_IMAGE_TO_BUFFER, false), from, to, true, origin, region,
                        offset));
OPENCL_CALL(clEnqueueCopyBufferToImage,
            (cl_command_queue queue, cl_mem from, cl_mem to, size_t offset, const size_t *origin,
             const size_t *region, cl_uint count, const cl_event *list, cl_event *event),
            copy_buffer(HOW(CL_COMMAND_COPY_BUFFER_TO_IMAGE, false), to, from, false, origin,
                        region, offset));

/* ---- filling and mapping ---- */

static cl_int fill_image(const struct opencl_enqueue *enqueue, cl_mem handle, const void *colour,
                         const size_t *origin, const size_t *region)
{
    struct opencl_memory *memory = opencl_image_find(handle);
    uint8_t element[OPENCL_ELEMENT_MAX];
    struct opencl_box box;
    cl_int error = opencl_memory_check_enqueue(enqueue, memory);
    if (error != CL_SUCCESS)
        return error;
    if (!colour || !opencl_image_box(memory->image, origin, region, &box))
        return CL_INVALID_VALUE;
    opencl_image_encode(memory->image, colour, element);
    return opencl_enqueue(enqueue,
                          opencl_fill_create(memory, NULL, box, element, memory->image->bytes));
}

OPENCL_CALL(clEnqueueFillImage,
            (cl_command_queue queue, cl_mem image, const void *colour, const size_t *origin,
             const size_t *region, cl_uint count, const cl_event *list, cl_event *event),
            fill_image(HOW(CL_COMMAND_FILL_IMAGE, false), image, colour, origin, region));

static void *map_image(const struct opencl_enqueue *enqueue, cl_mem handle, cl_map_flags flags,
                       const size_t *origin, const size_t *region, size_t *row, size_t *slice,
                       cl_int *error)
{
    struct opencl_memory *memory = opencl_image_find(handle);
    struct opencl_box box = {0};
    bool fits = memory && opencl_image_box(memory->image, origin, region, &box) && row;
    int dimensions = memory ? opencl_image_dimensions(memory->image) : 0;
    bool has_slices =
        dimensions == 3 || (memory && memory->image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY);
    void *pointer =
        opencl_memory_map(enqueue, memory, flags, box, fits && (slice || !has_slices), error);
    if (pointer)
        *row = memory->image->row;
    if (pointer && slice)
        *slice = dimensions == 3 ? memory->image->slice : has_slices ? memory->image->row : 0;
    return pointer;
}

OPENCL_CREATE(void *, clEnqueueMapImage,
              (cl_command_queue queue, cl_mem image, cl_bool blocking, cl_map_flags flags,
               const size_t *origin, const size_t *region, size_t *row, size_t *slice,
               cl_uint count, const cl_event *list, cl_event *event, cl_int *errcode_ret),
              map_image(HOW(CL_COMMAND_MAP_IMAGE, blocking), image, flags, origin, region, row,
                        slice, &error));
