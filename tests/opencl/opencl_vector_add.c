/* A vector sum, as the first program of a user: from source, with profiling. */
#include "opencl_check.h"

static const char source[] = "__kernel void vector_add(__global const float *a, __global const "
                             "float *b, __global float *c,\n"
                             "                         uint count)\n"
                             "{\n"
                             "    size_t i = get_global_id(0);\n"
                             "    if (i < count)\n"
                             "        c[i] = a[i] + b[i];\n"
                             "}\n";

enum { COUNT = 10000, ROUNDED = 10240 };

int main(void)
{
    static float a[COUNT], b[COUNT], c[COUNT];
    cl_uint count = COUNT;
    size_t global = ROUNDED, local = 256;
    cl_ulong start = 0, stop = 0;
    cl_event event;
    begin();
    for (int i = 0; i < COUNT; i++) {
        a[i] = (float)i;
        b[i] = 2.5f * (float)i;
    }
    cl_command_queue queue = make_queue(CL_QUEUE_PROFILING_ENABLE);
    cl_program program = make_program(source, "");
    cl_kernel kernel = make_kernel(program, "vector_add");
    cl_mem buffers[] = {make_buffer(sizeof a, a), make_buffer(sizeof b, b),
                        make_buffer(sizeof c, NULL)};
    for (cl_uint i = 0; i < 3; i++)
        OK(clSetKernelArg(kernel, i, sizeof buffers[i], &buffers[i]));
    OK(clSetKernelArg(kernel, 3, sizeof count, &count));
    OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, &event));
    OK(clEnqueueReadBuffer(queue, buffers[2], CL_TRUE, 0, sizeof c, c, 0, NULL, NULL));
    for (int i = 0; i < COUNT; i++)
        CHECK(c[i] == 3.5f * (float)i);
    OK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL));
    OK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof stop, &stop, NULL));
    printf("kernel: %llu ns\n", (unsigned long long)(stop - start));
    OK(clReleaseEvent(event));
    for (int i = 0; i < 3; i++)
        OK(clReleaseMemObject(buffers[i]));
    OK(clReleaseKernel(kernel));
    OK(clReleaseProgram(program));
    OK(clReleaseCommandQueue(queue));
    return end();
}
