/* Several devices in one context: each writes its part of one buffer, with no event between them,
 * and what one has written another reads behind an event. */
#include "opencl_check.h"

enum { DEVICES = 8, PART = 256, ROUNDS = 3 };

static const char source[] = "__kernel void put(__global uint *a, uint value)\n"
                             "{ a[get_global_id(0)] = value; }\n"
                             "__kernel void add(__global const uint *a, __global uint *b)\n"
                             "{ b[get_global_id(0)] += a[get_global_id(0)]; }\n"
                             "__kernel void work(__global uint *a, uint steps)\n"
                             "{ uint x = 1;\n"
                             "  for (uint i = 0; i < steps; i++) x = x * 3 + (x >> 5) ^ i;\n"
                             "  a[get_global_id(0)] = x; }\n";

static cl_device_id devices[DEVICES];
static cl_uint count;
static cl_command_queue queues[DEVICES];
static cl_kernel put, add, work;

static void begin_all(void)
{
    cl_int error;
    OK(clGetPlatformIDs(1, &platform, NULL));
    OK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, DEVICES, devices, &count));
    CHECK(count > 1 && count <= DEVICES);
    context = clCreateContext(NULL, count, devices, NULL, NULL, &error);
    OK(error);
    for (cl_uint i = 0; i < count; i++) {
        queues[i] = clCreateCommandQueueWithProperties(context, devices[i], NULL, &error);
        OK(error);
    }
    const char *text = source;
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    OK(error);
    OK(clBuildProgram(program, 0, NULL, "", NULL, NULL));
    put = make_kernel(program, "put");
    add = make_kernel(program, "add");
    work = make_kernel(program, "work");
    OK(clReleaseProgram(program));
}

static void put_part(cl_mem part, cl_uint on, cl_uint value, cl_event *event)
{
    const size_t items = PART;
    OK(clSetKernelArg(put, 0, sizeof part, &part));
    OK(clSetKernelArg(put, 1, sizeof value, &value));
    OK(clEnqueueNDRangeKernel(queues[on], put, 1, NULL, &items, NULL, 0, NULL, event));
}

/* Parts that do not overlap, from all devices at once, round after round. */
static void write_parts(cl_mem whole)
{
    static cl_uint all[DEVICES * PART];
    cl_mem parts[DEVICES];
    cl_int error;
    for (cl_uint i = 0; i < count; i++) {
        const cl_buffer_region region = {i * PART * sizeof *all, PART * sizeof *all};
        parts[i] = clCreateSubBuffer(whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION,
                                     &region, &error);
        OK(error);
    }
    for (cl_uint round = 1; round <= ROUNDS; round++) {
        cl_event events[DEVICES];
        for (cl_uint i = 0; i < count; i++)
            put_part(parts[i], (i + round) % count, round * 100 + i, &events[i]);
        OK(clWaitForEvents(count, events));
        OK(clEnqueueReadBuffer(queues[0], whole, CL_TRUE, 0, count * PART * sizeof *all, all, 0,
                               NULL, NULL));
        for (cl_uint i = 0; i < count * PART; i++)
            CHECK(all[i] == round * 100 + i / PART);
        for (cl_uint i = 0; i < count; i++)
            OK(clReleaseEvent(events[i]));
    }
    for (cl_uint i = 0; i < count; i++)
        OK(clReleaseMemObject(parts[i]));
}

/* A chain through all devices: each adds the first buffer to the second one. */
static void pass_on(cl_mem from, cl_mem to)
{
    static cl_uint sum[PART];
    const size_t items = PART;
    cl_event before = NULL, event;
    put_part(to, 0, 5, &before);
    OK(clSetKernelArg(add, 0, sizeof from, &from));
    OK(clSetKernelArg(add, 1, sizeof to, &to));
    for (cl_uint i = 0; i < count; i++) {
        OK(clEnqueueNDRangeKernel(queues[i], add, 1, NULL, &items, NULL, 1, &before, &event));
        OK(clReleaseEvent(before));
        before = event;
    }
    OK(clEnqueueReadBuffer(queues[count - 1], to, CL_TRUE, 0, sizeof sum, sum, 1, &before, NULL));
    for (cl_uint i = 0; i < PART; i++)
        CHECK(sum[i] == 5 + count * ROUNDS * 100);
    OK(clReleaseEvent(before));
}

/* A queue has something else to do first. */
static void keep_busy(cl_uint on, cl_mem with)
{
    const size_t items = PART;
    const cl_uint steps = 3000;
    OK(clSetKernelArg(work, 0, sizeof with, &with));
    OK(clSetKernelArg(work, 1, sizeof steps, &steps));
    OK(clEnqueueNDRangeKernel(queues[on], work, 1, NULL, &items, NULL, 0, NULL, NULL));
}

/* One device writes; all others read behind its event, and know nothing of each other. */
static void read_everywhere(cl_mem from, cl_mem other)
{
    static cl_uint sum[PART], zeros[PART];
    const size_t items = PART;
    cl_mem to[DEVICES];
    cl_event written, read[DEVICES];
    keep_busy(0, other);
    put_part(from, count - 1, 77, &written);
    OK(clSetKernelArg(add, 0, sizeof from, &from));
    for (cl_uint i = 0; i < count; i++) {
        to[i] = make_buffer(sizeof zeros, zeros);
        OK(clSetKernelArg(add, 1, sizeof to[i], &to[i]));
        OK(clEnqueueNDRangeKernel(queues[i], add, 1, NULL, &items, NULL, 1, &written, &read[i]));
    }
    OK(clReleaseEvent(written));
    for (cl_uint i = 0; i < count; i++) {
        OK(clEnqueueReadBuffer(queues[i], to[i], CL_TRUE, 0, sizeof sum, sum, 1, &read[i], NULL));
        for (cl_uint k = 0; k < PART; k++)
            CHECK(sum[k] == 77);
        OK(clReleaseEvent(read[i]));
        OK(clReleaseMemObject(to[i]));
    }
}

/* Two queues of one device read what another device has written. The first one is busy, and it is
 * the one that has the buffer copied. */
static void read_by_two_queues(cl_mem from, cl_mem other)
{
    static cl_uint sum[PART], zeros[PART];
    const size_t items = PART;
    cl_int error;
    cl_mem to = make_buffer(sizeof zeros, zeros);
    cl_event written, read[2];
    cl_command_queue second = clCreateCommandQueueWithProperties(context, devices[1], NULL, &error);
    OK(error);
    put_part(from, 0, 99, &written);
    keep_busy(1, other);
    OK(clSetKernelArg(add, 0, sizeof from, &from));
    OK(clSetKernelArg(add, 1, sizeof other, &other));
    OK(clEnqueueNDRangeKernel(queues[1], add, 1, NULL, &items, NULL, 1, &written, &read[0]));
    OK(clSetKernelArg(add, 1, sizeof to, &to));
    OK(clEnqueueNDRangeKernel(second, add, 1, NULL, &items, NULL, 1, &written, &read[1]));
    OK(clEnqueueReadBuffer(second, to, CL_TRUE, 0, sizeof sum, sum, 1, &read[1], NULL));
    for (cl_uint k = 0; k < PART; k++)
        CHECK(sum[k] == 99);
    OK(clWaitForEvents(1, &read[0]));
    OK(clReleaseEvent(written));
    OK(clReleaseEvent(read[0]));
    OK(clReleaseEvent(read[1]));
    OK(clReleaseMemObject(to));
    OK(clReleaseCommandQueue(second));
}

/* More than all the memory, released while commands that use it are queued. */
static void release_early(void)
{
    static const cl_uint zero = 0;
    cl_ulong memory = 0;
    OK(clGetDeviceInfo(devices[0], CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory, &memory, NULL));
    for (int i = 0; i < 12; i++) {
        cl_mem large = make_buffer(memory / 8, NULL);
        OK(clEnqueueFillBuffer(queues[0], large, &zero, sizeof zero, 0, 4096, 0, NULL, NULL));
        OK(clReleaseMemObject(large));
    }
    OK(clFinish(queues[0]));
}

int main(void)
{
    begin_all();
    cl_mem whole = make_buffer(count * PART * sizeof(cl_uint), NULL);
    cl_mem other = make_buffer(PART * sizeof(cl_uint), NULL);
    write_parts(whole);
    pass_on(whole, other);
    read_everywhere(whole, other);
    read_by_two_queues(whole, other);
    release_early();
    OK(clReleaseMemObject(whole));
    OK(clReleaseMemObject(other));
    OK(clReleaseKernel(put));
    OK(clReleaseKernel(add));
    OK(clReleaseKernel(work));
    for (cl_uint i = 0; i < count; i++)
        OK(clReleaseCommandQueue(queues[i]));
    return end();
}
