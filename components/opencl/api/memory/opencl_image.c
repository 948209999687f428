/* Makes images, and answers what they are (see opencl_image.h). */
#include "opencl_image.h"

#include <stdlib.h>
#include <string.h>

#include "components/opencl/api/commands/opencl_driver_commands.h"

/* The image as kernels find it at the address of an argument: struct image of
 * compiler/opencl_functions.cl. */
struct image_words {
    uint64_t pixels, slice;
    uint32_t row, width, height, depth, bytes, order, type;
    uint8_t read[4], write[4];
    uint32_t is_opaque;
};

struct opencl_memory *opencl_image_find(cl_mem handle)
{
    struct opencl_memory *memory = opencl_memory_find(handle);
    return memory && memory->image ? memory : NULL;
}

int opencl_image_dimensions(const struct opencl_image *image)
{
    switch (image->type) {
    case CL_MEM_OBJECT_IMAGE1D:
    case CL_MEM_OBJECT_IMAGE1D_BUFFER:
        return 1;
    case CL_MEM_OBJECT_IMAGE1D_ARRAY:
    case CL_MEM_OBJECT_IMAGE2D:
        return 2;
    default:
        return 3;
    }
}

bool opencl_image_box(const struct opencl_image *image, const size_t *origin, const size_t *region,
                      struct opencl_box *box)
{
    for (int i = 0; i < 3; i++)
        if (!origin || !region || region[i] == 0 || region[i] > image->extent[i]
            || origin[i] > image->extent[i] - region[i])
            return false;
    *box = (struct opencl_box){origin[2] * image->slice + origin[1] * image->row
                                   + origin[0] * image->bytes,
                               {region[0] * image->bytes, region[1], region[2]},
                               image->row,
                               image->slice};
    return true;
}

/* ---- descriptions ---- */

cl_int opencl_image_description(struct opencl_memory *memory, int place, uint64_t *address)
{
    const struct opencl_image *image = memory->image;
    const struct opencl_device *device = memory->context->devices[place];
    uint64_t *described = &image->descriptions[place];
    struct image_words words = {
        .slice = image->slice,
        .row = (uint32_t)image->row,
        .width = (uint32_t)image->extent[0],
        .height = (uint32_t)image->extent[1],
        .depth = (uint32_t)image->extent[2],
        .bytes = (uint32_t)image->bytes,
        .order = image->order->hsa,
        .type = image->channel->hsa,
        .is_opaque = image->order->is_opaque,
    };
    *address = *described;
    if (*described)
        return CL_SUCCESS;
    memcpy(words.read, image->order->read, sizeof words.read);
    memcpy(words.write, image->order->write, sizeof words.write);
    cl_int error = opencl_memory_address(memory, place, &words.pixels);
    if (error == CL_SUCCESS)
        error = opencl_error_of(opencl_driver_allocate(device->number, sizeof words, described));
    if (error == CL_SUCCESS)
        error = opencl_driver_write_now(device->number, *described, &words, sizeof words);
    *address = *described;
    return error;
}

void opencl_image_end(struct opencl_memory *memory)
{
    struct opencl_image *image = memory->image;
    for (uint32_t i = 0; i < memory->context->device_count; i++)
        opencl_memory_end(image->descriptions[i]);
    opencl_drop(image->buffer ? &image->buffer->object : NULL);
    free(image->descriptions);
    free(image);
}

/* ---- making ---- */

struct request {
    struct opencl_context *context;
    cl_mem_flags flags;
    const cl_image_desc *description;
    void *pointer;
};

static bool is_within(size_t value, size_t most)
{
    return value > 0 && value <= most;
}

/* The size of the image, as the type asks for it; CL_INVALID_IMAGE_SIZE: there is no such. */
static cl_int set_extent(struct opencl_image *image, const cl_image_desc *description)
{
    const size_t wide = OPENCL_IMAGE_WIDTH_MAX, deep = OPENCL_IMAGE_DEPTH_MAX;
    static const size_t limits[][4] = {
        /* width, height, depth, images */
        [CL_MEM_OBJECT_IMAGE2D - CL_MEM_OBJECT_IMAGE2D] = {wide, wide, 0, 0},
        [CL_MEM_OBJECT_IMAGE3D - CL_MEM_OBJECT_IMAGE2D] = {deep, deep, deep, 0},
        [CL_MEM_OBJECT_IMAGE2D_ARRAY - CL_MEM_OBJECT_IMAGE2D] = {wide, wide, 0, deep},
        [CL_MEM_OBJECT_IMAGE1D - CL_MEM_OBJECT_IMAGE2D] = {wide, 0, 0, 0},
        [CL_MEM_OBJECT_IMAGE1D_ARRAY - CL_MEM_OBJECT_IMAGE2D] = {wide, 0, 0, deep},
        [CL_MEM_OBJECT_IMAGE1D_BUFFER - CL_MEM_OBJECT_IMAGE2D] = {OPENCL_IMAGE_BUFFER_MAX, 0, 0, 0},
    };
    const size_t given[4] = {description->image_width, description->image_height,
                             description->image_depth, description->image_array_size};
    if (description->image_type < CL_MEM_OBJECT_IMAGE2D
        || description->image_type > CL_MEM_OBJECT_IMAGE1D_BUFFER)
        return CL_INVALID_IMAGE_DESCRIPTOR;
    const size_t *most = limits[description->image_type - CL_MEM_OBJECT_IMAGE2D];
    int dimension = 0;
    image->type = description->image_type;
    for (int i = 0; i < 3; i++)
        image->extent[i] = 1;
    for (int i = 0; i < 4; i++) {
        if (most[i] == 0)
            continue;
        if (!is_within(given[i], most[i]))
            return CL_INVALID_IMAGE_SIZE;
        image->extent[dimension++] = given[i];
    }
    return CL_SUCCESS;
}

/* Rows are as long as the program's. For an array of 1-D images, its slices are our rows. */
static cl_int set_pitches(struct opencl_image *image, const struct request *request)
{
    size_t row = request->description->image_row_pitch,
           slice = request->description->image_slice_pitch;
    size_t row_bytes = image->extent[0] * image->bytes;
    bool has_slices = opencl_image_dimensions(image) == 3;
    if ((row && (row < row_bytes || row % image->bytes != 0)) || row > UINT32_MAX
        || ((row || slice) && !request->pointer && !image->buffer))
        return CL_INVALID_IMAGE_DESCRIPTOR;
    row = row ? row : row_bytes;
    if (image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY && slice) {
        if (slice < row || slice % row != 0 || slice > UINT32_MAX)
            return CL_INVALID_IMAGE_DESCRIPTOR;
        row = slice;
    }
    image->row = row;
    image->slice = row * image->extent[1];
    if (has_slices && slice) {
        if (slice < image->slice || slice % row != 0)
            return CL_INVALID_IMAGE_DESCRIPTOR;
        image->slice = slice;
    }
    return CL_SUCCESS;
}

static cl_int set_buffer(struct opencl_image *image, const struct request *request)
{
    cl_mem handle = request->description->mem_object;
    bool is_allowed =
        image->type == CL_MEM_OBJECT_IMAGE1D_BUFFER || image->type == CL_MEM_OBJECT_IMAGE2D;
    if (!handle)
        return image->type == CL_MEM_OBJECT_IMAGE1D_BUFFER ? CL_INVALID_IMAGE_DESCRIPTOR
                                                           : CL_SUCCESS;
    image->buffer = opencl_buffer_find(handle);
    if (!image->buffer || !is_allowed || image->buffer->context != request->context)
        return CL_INVALID_IMAGE_DESCRIPTOR;
    return opencl_memory_allows_part(image->buffer, request->flags) ? CL_SUCCESS : CL_INVALID_VALUE;
}

static cl_int set_all(struct opencl_image *image, const struct request *request,
                      const cl_image_format *format)
{
    const cl_image_desc *description = request->description;
    cl_int flags = opencl_memory_check_flags(request->flags, request->pointer);
    if (flags == CL_INVALID_VALUE)
        return flags;
    cl_int error = opencl_image_set_format(image, format);
    if (error != CL_SUCCESS)
        return error;
    if (!description || description->num_mip_levels || description->num_samples)
        return CL_INVALID_IMAGE_DESCRIPTOR;
    error = set_extent(image, description);
    if (error == CL_SUCCESS)
        error = set_buffer(image, request);
    if (error == CL_SUCCESS)
        error = set_pitches(image, request);
    if (error == CL_SUCCESS && image->buffer && image->row * image->extent[1] > image->buffer->size)
        error = CL_INVALID_IMAGE_SIZE;
    return error == CL_SUCCESS ? flags : error;
}

static struct opencl_memory *make_image(const struct request *request,
                                        const struct opencl_image *image,
                                        const cl_mem_properties *properties, cl_int *error)
{
    size_t size;
    if (__builtin_mul_overflow(image->slice, image->extent[2], &size)) {
        *error = CL_INVALID_IMAGE_SIZE;
        return NULL;
    }
    if (!image->buffer)
        return opencl_memory_create(request->context, properties, request->flags, size,
                                    request->pointer, error);
    opencl_hold(&image->buffer->object);
    return opencl_memory_make_part(opencl_memory_owner(image->buffer),
                                   opencl_memory_part_flags(image->buffer, request->flags),
                                   image->buffer->parent ? image->buffer->origin : 0, size);
}

static cl_mem create_image(cl_context handle, const cl_mem_properties *properties,
                           const cl_image_format *format, struct request request, cl_int *error)
{
    struct opencl_image image = {0};
    struct opencl_memory *memory = NULL;
    request.context = opencl_find(OPENCL_CONTEXT, handle);
    *error = !request.context              ? CL_INVALID_CONTEXT
             : properties && properties[0] ? CL_INVALID_PROPERTY
                                           : set_all(&image, &request, format);
    if (*error == CL_SUCCESS)
        memory = make_image(&request, &image, properties, error);
    if (!memory)
        return NULL;
    memory->image = opencl_allocate(sizeof *memory->image);
    *memory->image = image;
    memory->image->descriptions =
        opencl_allocate(request.context->device_count * sizeof *image.descriptions);
    return opencl_memory_begin(memory);
}

OPENCL_CREATE(cl_mem, clCreateImage,
              (cl_context context, cl_mem_flags flags, const cl_image_format *format,
               const cl_image_desc *description, void *pointer, cl_int *errcode_ret),
              create_image(context, NULL, format,
                           (struct request){
                               .flags = flags, .description = description, .pointer = pointer},
                           &error));
OPENCL_CREATE(cl_mem, clCreateImageWithProperties,
              (cl_context context, const cl_mem_properties *properties, cl_mem_flags flags,
               const cl_image_format *format, const cl_image_desc *description, void *pointer,
               cl_int *errcode_ret),
              create_image(context, properties, format,
                           (struct request){
                               .flags = flags, .description = description, .pointer = pointer},
                           &error));
OPENCL_CREATE(cl_mem, clCreateImage2D,
              (cl_context context, cl_mem_flags flags, const cl_image_format *format, size_t width,
               size_t height, size_t row, void *pointer, cl_int *errcode_ret),
              create_image(context, NULL, format,
                           (struct request){
                               .flags = flags,
                               .description = &(cl_image_desc){.image_type = CL_MEM_OBJECT_IMAGE2D,
                                                               .image_width = width,
                                                               .image_height = height,
                                                               .image_row_pitch = row},
                               .pointer = pointer},
                           &error));
OPENCL_CREATE(cl_mem, clCreateImage3D,
              (cl_context context, cl_mem_flags flags, const cl_image_format *format, size_t width,
               size_t height, size_t depth, size_t row, size_t slice, void *pointer,
               cl_int *errcode_ret),
              create_image(context, NULL, format,
                           (struct request){
                               .flags = flags,
                               .description = &(cl_image_desc){.image_type = CL_MEM_OBJECT_IMAGE3D,
                                                               .image_width = width,
                                                               .image_height = height,
                                                               .image_depth = depth,
                                                               .image_row_pitch = row,
                                                               .image_slice_pitch = slice},
                               .pointer = pointer},
                           &error));

/* ---- queries ---- */

static cl_int answer_size(const struct opencl_image *image, cl_image_info query,
                          struct opencl_answer to)
{
    int dimensions = opencl_image_dimensions(image);
    bool is_array =
        image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY || image->type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
    bool has_height = dimensions - is_array > 1, has_depth = dimensions - is_array > 2;
    size_t slice = dimensions == 3 ? image->slice : is_array ? image->row : 0;
    switch (query) {
    case CL_IMAGE_ELEMENT_SIZE:
        return OPENCL_ANSWER(to, size_t, image->bytes);
    case CL_IMAGE_ROW_PITCH:
        return OPENCL_ANSWER(to, size_t, image->row);
    case CL_IMAGE_SLICE_PITCH:
        return OPENCL_ANSWER(to, size_t, slice);
    case CL_IMAGE_WIDTH:
        return OPENCL_ANSWER(to, size_t, image->extent[0]);
    case CL_IMAGE_HEIGHT:
        return OPENCL_ANSWER(to, size_t, has_height ? image->extent[1] : 0);
    case CL_IMAGE_DEPTH:
        return OPENCL_ANSWER(to, size_t, has_depth ? image->extent[2] : 0);
    case CL_IMAGE_ARRAY_SIZE:
        return OPENCL_ANSWER(to, size_t, is_array ? image->extent[dimensions - 1] : 0);
    default:
        return CL_INVALID_VALUE;
    }
}

static cl_int get_image_info(cl_mem handle, cl_image_info query, struct opencl_answer to)
{
    const struct opencl_memory *memory = opencl_image_find(handle);
    if (!memory)
        return CL_INVALID_MEM_OBJECT;
    switch (query) {
    case CL_IMAGE_FORMAT:
        return opencl_answer(to, &memory->image->format, sizeof memory->image->format);
    case CL_IMAGE_BUFFER:
        return OPENCL_ANSWER(to, cl_mem, opencl_memory_source(memory));
    case CL_IMAGE_NUM_MIP_LEVELS:
    case CL_IMAGE_NUM_SAMPLES:
        return OPENCL_ANSWER(to, cl_uint, 0);
    default:
        return answer_size(memory->image, query, to);
    }
}

OPENCL_QUERY(clGetImageInfo, cl_mem, cl_image_info, get_image_info);
