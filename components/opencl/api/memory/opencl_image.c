/* Images, samplers and pipes: no device has any (CL_DEVICE_IMAGE_SUPPORT is false). These functions
 * look at the object that they begin with and refuse, as the specification says for such devices.
 */
#include "opencl_memory.h"

static cl_int refuse_in_context(cl_context context)
{
    return opencl_find(OPENCL_CONTEXT, context) ? CL_INVALID_OPERATION : CL_INVALID_CONTEXT;
}

/* No handle is one of an image, so that the one that was given cannot be right. */
static cl_int refuse_in_queue(cl_command_queue queue)
{
    return opencl_find(OPENCL_QUEUE, queue) ? CL_INVALID_MEM_OBJECT : CL_INVALID_COMMAND_QUEUE;
}

/* The parameters but for the first do not matter. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define REFUSE_MAKING(type, name, parameters)                                                      \
    type CL_API_CALL name parameters                                                               \
    {                                                                                              \
        cl_int error = opencl_enter(#name);                                                        \
        error = opencl_leave(error == CL_SUCCESS ? refuse_in_context(context) : error);            \
        if (errcode_ret)                                                                           \
            *errcode_ret = error;                                                                  \
        return NULL;                                                                               \
    }                                                                                              \
    type CL_API_CALL name parameters

REFUSE_MAKING(cl_mem, clCreateImage,
              (cl_context context, cl_mem_flags flags, const cl_image_format *format,
               const cl_image_desc *what, void *pointer, cl_int *errcode_ret));
REFUSE_MAKING(cl_mem, clCreateImageWithProperties,
              (cl_context context, const cl_mem_properties *properties, cl_mem_flags flags,
               const cl_image_format *format, const cl_image_desc *what, void *pointer,
               cl_int *errcode_ret));
REFUSE_MAKING(cl_mem, clCreateImage2D,
              (cl_context context, cl_mem_flags flags, const cl_image_format *format, size_t width,
               size_t height, size_t row, void *pointer, cl_int *errcode_ret));
REFUSE_MAKING(cl_mem, clCreateImage3D,
              (cl_context context, cl_mem_flags flags, const cl_image_format *format, size_t width,
               size_t height, size_t depth, size_t row, size_t slice, void *pointer,
               cl_int *errcode_ret));
REFUSE_MAKING(cl_mem, clCreatePipe,
              (cl_context context, cl_mem_flags flags, cl_uint packet, cl_uint packets,
               const cl_pipe_properties *properties, cl_int *errcode_ret));
REFUSE_MAKING(cl_sampler, clCreateSampler,
              (cl_context context, cl_bool normalized, cl_addressing_mode addressing,
               cl_filter_mode filter, cl_int *errcode_ret));
REFUSE_MAKING(cl_sampler, clCreateSamplerWithProperties,
              (cl_context context, const cl_sampler_properties *properties, cl_int *errcode_ret));

/* A list of none. */
static cl_int get_formats(cl_context context, cl_mem_flags flags, cl_uint entries,
                          const cl_image_format *formats, cl_uint *count)
{
    (void)flags;
    if (!opencl_find(OPENCL_CONTEXT, context))
        return CL_INVALID_CONTEXT;
    if (entries == 0 && formats)
        return CL_INVALID_VALUE;
    if (count)
        *count = 0;
    return CL_SUCCESS;
}

cl_int CL_API_CALL clGetSupportedImageFormats(cl_context context, cl_mem_flags flags,
                                              cl_mem_object_type type, cl_uint entries,
                                              cl_image_format *formats, cl_uint *count)
{
    cl_int error = opencl_enter("clGetSupportedImageFormats");
    return opencl_leave(error == CL_SUCCESS ? get_formats(context, flags, entries, formats, count)
                                            : error);
}

OPENCL_CALL(clGetImageInfo,
            (cl_mem image, cl_image_info what, size_t room, void *value, size_t *needed),
            CL_INVALID_MEM_OBJECT);
OPENCL_CALL(clGetPipeInfo,
            (cl_mem pipe, cl_pipe_info what, size_t room, void *value, size_t *needed),
            CL_INVALID_MEM_OBJECT);
OPENCL_CALL(clRetainSampler, (cl_sampler sampler), CL_INVALID_SAMPLER);
OPENCL_CALL(clReleaseSampler, (cl_sampler sampler), CL_INVALID_SAMPLER);
OPENCL_CALL(clGetSamplerInfo,
            (cl_sampler sampler, cl_sampler_info what, size_t room, void *value, size_t *needed),
            CL_INVALID_SAMPLER);

/* ---- commands ---- */

OPENCL_CALL(clEnqueueReadImage,
            (cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t *origin,
             const size_t *region, size_t row, size_t slice, void *pointer, cl_uint count,
             const cl_event *list, cl_event *event),
            refuse_in_queue(queue));
OPENCL_CALL(clEnqueueWriteImage,
            (cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t *origin,
             const size_t *region, size_t row, size_t slice, const void *pointer, cl_uint count,
             const cl_event *list, cl_event *event),
            refuse_in_queue(queue));
OPENCL_CALL(clEnqueueFillImage,
            (cl_command_queue queue, cl_mem image, const void *colour, const size_t *origin,
             const size_t *region, cl_uint count, const cl_event *list, cl_event *event),
            refuse_in_queue(queue));
OPENCL_CALL(clEnqueueCopyImage,
            (cl_command_queue queue, cl_mem from, cl_mem to, const size_t *from_origin,
             const size_t *to_origin, const size_t *region, cl_uint count, const cl_event *list,
             cl_event *event),
            refuse_in_queue(queue));
OPENCL_CALL(clEnqueueCopyImageToBuffer,
            (cl_command_queue queue, cl_mem from, cl_mem to, const size_t *origin,
             const size_t *region, size_t offset, cl_uint count, const cl_event *list,
             cl_event *event),
            refuse_in_queue(queue));
OPENCL_CALL(clEnqueueCopyBufferToImage,
            (cl_command_queue queue, cl_mem from, cl_mem to, size_t offset, const size_t *origin,
             const size_t *region, cl_uint count, const cl_event *list, cl_event *event),
            refuse_in_queue(queue));

void *CL_API_CALL clEnqueueMapImage(cl_command_queue queue, cl_mem image, cl_bool blocking,
                                    cl_map_flags flags, const size_t *origin, const size_t *region,
                                    size_t *row, size_t *slice, cl_uint count, const cl_event *list,
                                    cl_event *event, cl_int *errcode_ret)
{
    cl_int error = opencl_enter("clEnqueueMapImage");
    error = opencl_leave(error == CL_SUCCESS ? refuse_in_queue(queue) : error);
    if (errcode_ret)
        *errcode_ret = error;
    return NULL;
}
