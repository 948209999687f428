/* Calls with wrong arguments: handles that are NULL, of other kinds or released, sizes and numbers
 * out of range, pointers that are not there. No call crashes or hangs, each returns an error of the
 * specification or succeeds, and one whose first handle is wrong returns the error of that handle.
 * Usage: opencl_wrong_calls CALLS SEED. */
#include <stdbool.h>

#include "opencl_check.h"

enum kind {
    CONTEXT,
    QUEUE,
    BUFFER,
    IMAGE,
    SAMPLER,
    PROGRAM,
    KERNEL,
    EVENT,
    DEVICE,
    PLATFORM,
    KINDS
};
enum { LIVING = 6, SIZE = 4096 };

static const cl_int errors[KINDS] = {
    CL_INVALID_CONTEXT, CL_INVALID_COMMAND_QUEUE, CL_INVALID_MEM_OBJECT, CL_INVALID_MEM_OBJECT,
    CL_INVALID_SAMPLER, CL_INVALID_PROGRAM,       CL_INVALID_KERNEL,     CL_INVALID_EVENT,
    CL_INVALID_DEVICE,  CL_INVALID_PLATFORM};
static void *living[KINDS][LIVING], *released[KINDS];
static unsigned char host[SIZE];
static unsigned long state;
static bool first_is_wrong;
static cl_int wanted;

static unsigned next(unsigned below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % below;
}

/* A handle of the kind, mostly. */
static void *any(enum kind kind, bool *wrong)
{
    unsigned how = next(10);
    void *handle = living[kind][next(LIVING)];
    *wrong = true;
    if (how == 0)
        return NULL;
    if (how == 1)
        return living[(kind + 1 + next(KINDS - 1)) % KINDS][0];
    if (how == 2 && released[kind])
        return released[kind];
    *wrong = false;
    return handle;
}

static void *first(enum kind kind)
{
    void *handle = any(kind, &first_is_wrong);
    wanted = errors[kind];
    return handle;
}

static void *other(enum kind kind)
{
    bool wrong;
    return any(kind, &wrong);
}

static size_t size(void)
{
    static const size_t sizes[] = {0,   1,    3,    4,    8,        64,       100,
                                   256, 1024, SIZE, 5000, SIZE_MAX, 1ul << 40};
    return sizes[next(sizeof sizes / sizeof sizes[0])];
}

/* Up to SIZE bytes are there. */
static size_t small(void)
{
    size_t chosen = size();
    return chosen > SIZE ? SIZE : chosen;
}

static void *pointer(void)
{
    return next(4) ? host : NULL;
}

static cl_uint number(void)
{
    static const cl_uint numbers[] = {0,       1,          2,      3,      4,     7,
                                      0x10000, UINT32_MAX, 0x1000, 0x1100, 0x1161};
    return next(2) ? numbers[next(sizeof numbers / sizeof numbers[0])] : 0x900 + next(0x900);
}

static cl_ulong flags(void)
{
    return next(3) ? 1ul << next(12) : 1ul << next(12) | 1ul << next(12);
}

/* A wait list: right, or with one of its parts wrong. */
static cl_event list[2];

static const cl_event *waits(cl_uint *count)
{
    for (int i = 0; i < 2; i++)
        list[i] = next(4) ? living[EVENT][next(LIVING)] : other(EVENT);
    *count = next(3);
    return next(6) ? *count ? list : NULL : *count ? NULL : list;
}

/* Events of calls that succeed are given back at once. */
static cl_event made_event;

static cl_event *event(void)
{
    return next(2) ? &made_event : NULL;
}

static cl_int drop(cl_int error)
{
    if (made_event)
        clReleaseEvent(made_event);
    made_event = NULL;
    return error;
}

static const size_t *sizes(void)
{
    static size_t triples[4][3];
    size_t *triple = triples[next(4)];
    for (int i = 0; i < 3; i++)
        triple[i] = next(3) ? next(40) : small();
    return next(8) ? triple : NULL;
}

#define INFO(name, kind) name(first(kind), number(), small(), pointer(), NULL)

static cl_int ask(void)
{
    cl_uint count = 0;
    switch (next(15)) {
    case 0:
        return INFO(clGetContextInfo, CONTEXT);
    case 1:
        return INFO(clGetCommandQueueInfo, QUEUE);
    case 2:
        return clGetMemObjectInfo(other(BUFFER), number(), small(), pointer(), NULL);
    case 3:
        return INFO(clGetProgramInfo, PROGRAM);
    case 4:
        return INFO(clGetKernelInfo, KERNEL);
    case 5:
        return INFO(clGetEventInfo, EVENT);
    case 6:
        return INFO(clGetDeviceInfo, DEVICE);
    case 7:
        return clGetProgramBuildInfo(first(PROGRAM), other(DEVICE), 0x1181 + next(6), small(),
                                     pointer(), NULL);
    case 8:
        return clGetKernelWorkGroupInfo(first(KERNEL), other(DEVICE), 0x11b0 + next(6), small(),
                                        pointer(), NULL);
    case 9:
        return clGetKernelArgInfo(first(KERNEL), next(5), 0x1196 + next(6), small(), pointer(),
                                  NULL);
    case 10:
        return clGetEventProfilingInfo(first(EVENT), 0x1280 + next(6), small(), pointer(), NULL);
    case 11:
        return clGetDeviceIDs(living[PLATFORM][0], flags(), next(3), pointer(), &count);
    case 12:
        return INFO(clGetImageInfo, IMAGE);
    case 13:
        return INFO(clGetSamplerInfo, SAMPLER);
    default:
        return clGetSupportedImageFormats(first(CONTEXT), flags(), 0x10f0 + next(8), 0, NULL,
                                          &count);
    }
}

static cl_int set(void)
{
    switch (next(5)) {
    case 0:
        return clSetKernelArg(first(KERNEL), next(7), next(2) ? 8 : small(),
                              next(3) ? &living[BUFFER + next(3)][next(LIVING)] : pointer());
    case 1:
        return clSetUserEventStatus(first(EVENT), (cl_int)next(5) - 2);
    case 2:
        return clSetKernelExecInfo(first(KERNEL), 0x11b6 + next(3), small(), pointer());
    case 3:
        return clSetEventCallback(first(EVENT), (cl_int)next(6), NULL, NULL);
    default:
        return clSetKernelArgSVMPointer(first(KERNEL), next(5), NULL);
    }
}

static cl_int move(void)
{
    cl_uint count;
    const cl_event *wait = waits(&count);
    void *queue = first(QUEUE);
    cl_int error = CL_SUCCESS;
    void *view;
    switch (next(10)) {
    case 0:
        return clEnqueueReadBuffer(queue, other(BUFFER), next(2), size(), small(), pointer(), count,
                                   wait, event());
    case 1:
        return clEnqueueWriteBuffer(queue, other(BUFFER), next(2), size(), small(), pointer(),
                                    count, wait, event());
    case 2:
        return clEnqueueCopyBuffer(queue, other(BUFFER), other(BUFFER), size(), size(), size(),
                                   count, wait, event());
    case 3:
        return clEnqueueFillBuffer(queue, other(BUFFER), pointer(), small() % 200, size(), size(),
                                   count, wait, event());
    case 4:
        return clEnqueueCopyBufferRect(queue, other(BUFFER), other(BUFFER), sizes(), sizes(),
                                       sizes(), size(), size(), size(), size(), count, wait,
                                       event());
    case 5:
        return clEnqueueReadBufferRect(queue, other(BUFFER), next(2), sizes(), sizes(), NULL,
                                       size(), size(), size(), size(), host, count, wait, event());
    case 6:
        view = clEnqueueMapBuffer(queue, living[BUFFER][0], next(2), flags(), size(), small(),
                                  count, wait, event(), &error);
        if (view && error == CL_SUCCESS)
            clEnqueueUnmapMemObject(queue, living[BUFFER][0], view, 0, NULL, NULL);
        return error;
    case 7:
        return clEnqueueUnmapMemObject(queue, other(BUFFER), pointer(), count, wait, event());
    case 8:
        return clEnqueueMigrateMemObjects(queue, 1, (cl_mem[]){other(BUFFER)}, flags(), count, wait,
                                          event());
    default:
        return clEnqueueMarkerWithWaitList(queue, count, wait, event());
    }
}

static cl_int move_images(void)
{
    cl_uint count;
    const cl_event *wait = waits(&count);
    void *queue = first(QUEUE), *view;
    size_t row, slice;
    cl_int error = CL_SUCCESS;
    switch (next(7)) {
    case 0:
        return clEnqueueReadImage(queue, other(IMAGE), next(2), sizes(), sizes(), small(), small(),
                                  NULL, count, wait, event());
    case 1:
        return clEnqueueWriteImage(queue, other(IMAGE), next(2), sizes(), sizes(), next(64), 0,
                                   host, count, wait, event());
    case 2:
        return clEnqueueFillImage(queue, other(IMAGE), pointer(), sizes(), sizes(), count, wait,
                                  event());
    case 3:
        return clEnqueueCopyImage(queue, other(IMAGE), other(IMAGE), sizes(), sizes(), sizes(),
                                  count, wait, event());
    case 4:
        return clEnqueueCopyImageToBuffer(queue, other(IMAGE), other(BUFFER), sizes(), sizes(),
                                          size(), count, wait, event());
    case 5:
        return clEnqueueCopyBufferToImage(queue, other(BUFFER), other(IMAGE), size(), sizes(),
                                          sizes(), count, wait, event());
    default:
        view = clEnqueueMapImage(queue, living[IMAGE][0], next(2), flags(), sizes(), sizes(),
                                 next(4) ? &row : NULL, next(4) ? &slice : NULL, count, wait,
                                 event(), &error);
        if (view && error == CL_SUCCESS)
            clEnqueueUnmapMemObject(queue, living[IMAGE][0], view, 0, NULL, NULL);
        return error;
    }
}

static cl_int make_images(void)
{
    cl_int error = CL_SUCCESS;
    const cl_image_format format = {0x10b0 + next(20), 0x10d0 + next(18)};
    const cl_image_desc what = {.image_type = 0x10f0 + next(8),
                                .image_width = small(),
                                .image_height = next(9),
                                .image_depth = next(4),
                                .image_array_size = next(3),
                                .image_row_pitch = next(4) ? 0 : size(),
                                .image_slice_pitch = next(4) ? 0 : size(),
                                .num_samples = next(9) == 0,
                                .buffer = next(2) ? other(BUFFER) : NULL};
    if (next(3) == 0) {
        cl_sampler made =
            clCreateSampler(first(CONTEXT), next(3), 0x112f + next(7), 0x1140 + next(3), &error);
        return made ? clReleaseSampler(made) : error;
    }
    cl_mem made = clCreateImage(first(CONTEXT), flags(), next(9) ? &format : NULL,
                                next(9) ? &what : NULL, NULL, &error);
    return made ? clReleaseMemObject(made) : error;
}

static cl_int launch(void)
{
    cl_uint count;
    const cl_event *wait = waits(&count);
    void *queue = first(QUEUE);
    switch (next(3)) {
    case 0:
        return clEnqueueNDRangeKernel(queue, other(KERNEL), next(5), next(2) ? NULL : sizes(),
                                      sizes(), next(2) ? NULL : sizes(), count, wait, event());
    case 1:
        return clEnqueueTask(queue, other(KERNEL), count, wait, event());
    default:
        return clEnqueueBarrierWithWaitList(queue, count, wait, event());
    }
}

static cl_int make(void)
{
    cl_int error = CL_SUCCESS;
    cl_mem buffer = NULL;
    const cl_buffer_region region = {size(), size()};
    const char *text = next(2) ? "" : NULL;
    switch (next(5)) {
    case 0:
        buffer = clCreateBuffer(first(CONTEXT), flags(), small(), pointer(), &error);
        break;
    case 1:
        buffer = clCreateSubBuffer(first(BUFFER), flags(), 0x1220 + next(2), &region, &error);
        break;
    case 2: {
        cl_program made = clCreateProgramWithSource(first(CONTEXT), next(2), &text, NULL, &error);
        return made ? clReleaseProgram(made) : error;
    }
    case 3: {
        cl_kernel made = clCreateKernel(first(PROGRAM), next(2) ? "f" : "none", &error);
        return made ? clReleaseKernel(made) : error;
    }
    default: {
        cl_command_queue made =
            clCreateCommandQueue(first(CONTEXT), other(DEVICE), flags(), &error);
        return made ? clReleaseCommandQueue(made) : error;
    }
    }
    return buffer && error == CL_SUCCESS ? clReleaseMemObject(buffer) : error;
}

static cl_int keep(void)
{
    cl_event event;
    switch (next(8)) {
    case 0:
        return clFlush(first(QUEUE));
    case 1:
        return clFinish(first(QUEUE));
    case 2:
        event = first(EVENT);
        return clWaitForEvents(1, &event);
    case 3:
        return clBuildProgram(first(PROGRAM), next(2), NULL, "-x no", NULL, host);
    case 4:
        return clCompileProgram(first(PROGRAM), 0, NULL, NULL, 1, NULL, NULL, NULL, NULL);
    case 5:
        return clReleaseContext(released[CONTEXT]) == CL_SUCCESS;
    case 6:
        return clReleaseMemObject(released[BUFFER]) == CL_SUCCESS;
    default:
        return clReleaseEvent(released[EVENT]) == CL_SUCCESS;
    }
}

static void prepare(void)
{
    cl_int error;
    const cl_image_format format = {CL_RGBA, CL_UNORM_INT8};
    const cl_image_desc what = {
        .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 30, .image_height = 20};
    living[PLATFORM][0] = platform;
    cl_program program =
        make_program("__kernel void f(__global int *x, int n, __local int *l, "
                     "write_only image2d_t i, sampler_t s)\n"
                     "{ if (x && get_global_id(0) < 16) x[get_global_id(0)] = n; }\n",
                     NULL);
    for (int i = 0; i < LIVING; i++) {
        living[CONTEXT][i] = context;
        living[QUEUE][i] = make_queue(i % 2 ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 2);
        living[BUFFER][i] = make_buffer(SIZE, host);
        living[IMAGE][i] = clCreateImage(context, CL_MEM_READ_WRITE, &format, &what, NULL, &error);
        OK(error);
        living[SAMPLER][i] =
            clCreateSampler(context, CL_TRUE, CL_ADDRESS_REPEAT, CL_FILTER_LINEAR, &error);
        OK(error);
        living[PROGRAM][i] = program;
        living[KERNEL][i] = make_kernel(program, "f");
        living[EVENT][i] = clCreateUserEvent(context, &error);
        OK(clSetUserEventStatus(living[EVENT][i], i == 5 ? -3 : CL_COMPLETE));
        living[DEVICE][i] = device;
        living[PLATFORM][i] = platform;
    }
    released[CONTEXT] = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    OK(clReleaseContext(released[CONTEXT]));
    OK(clReleaseMemObject(released[BUFFER] = make_buffer(64, NULL)));
    OK(clReleaseCommandQueue(released[QUEUE] = make_queue(0)));
    OK(clReleaseKernel(released[KERNEL] = make_kernel(program, "f")));
    OK(clReleaseEvent(released[EVENT] = clCreateUserEvent(context, &error)));
}

int main(int argc, char **argv)
{
    static cl_int (*const calls[])(void) = {ask,  set,  move,        launch,
                                            make, keep, move_images, make_images};
    unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000, refused = 0;
    state = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
    begin();
    prepare();
    for (unsigned long i = 0; i < count; i++) {
        unsigned which = next(sizeof calls / sizeof calls[0]);
        first_is_wrong = false;
        cl_int error = drop(calls[which]());
        refused += error != CL_SUCCESS;
        CHECK(error == CL_SUCCESS || (error <= -1 && error >= -72));
        if (first_is_wrong && error != wanted) {
            failures++;
            printf("FAILED: call %lu (%u): %d, not %d for the first handle\n", i, which, error,
                   wanted);
        }
    }
    for (int i = 0; i < LIVING; i++)
        OK(clFinish(living[QUEUE][i]));
    printf("%lu calls, %lu refused\n", count, refused);
    return end();
}
