/* Mistakes of OpenCL programs, for tests of `heddle run --check`. Arguments: the file of kernels,
 * the case (a kernel, or `buffers`), and `right` or `wrong`. */
#include "opencl_check.h"

enum { ELEMENTS = 4096, GROUP = 256 };

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    static char text[1 << 16];
    CHECK(file && fread(text, 1, sizeof text - 1, file) > 0);
    if (file)
        fclose(file);
    return text;
}

/* Two queues use a buffer, the second one with or without an event of the first. */
static void run_queues(cl_kernel kernel, bool wrong)
{
    size_t global = GROUP, local = GROUP;
    cl_command_queue queues[] = {make_queue(0), make_queue(0)};
    cl_event event;
    OK(clEnqueueNDRangeKernel(queues[0], kernel, 1, NULL, &global, &local, 0, NULL, &event));
    OK(clFlush(queues[0]));
    OK(clEnqueueNDRangeKernel(queues[1], kernel, 1, NULL, &global, &local, wrong ? 0 : 1,
                              wrong ? NULL : &event, NULL));
    for (int i = 0; i < 2; i++) {
        OK(clFinish(queues[i]));
        OK(clReleaseCommandQueue(queues[i]));
    }
    OK(clReleaseEvent(event));
}

static void run_kernel(cl_kernel kernel)
{
    size_t global = 2 * GROUP, local = GROUP;
    cl_command_queue queue = make_queue(0);
    OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL));
    OK(clFinish(queue));
    OK(clReleaseCommandQueue(queue));
}

int main(int count, char **arguments)
{
    if (count != 4)
        return 2;
    const char *name = arguments[2];
    bool wrong = strcmp(arguments[3], "wrong") == 0, queues = strcmp(name, "queues") == 0;
    bool leaks = strcmp(name, "buffers") == 0;
    begin();
    cl_program program = make_program(read_file(arguments[1]), wrong ? "-g -DWRONG" : "-g");
    cl_kernel kernel = make_kernel(program, queues || leaks ? "add" : name);
    static const cl_int zeros[ELEMENTS];
    cl_mem data = make_buffer(sizeof zeros, queues || leaks ? zeros : NULL);
    OK(clSetKernelArg(kernel, 0, sizeof data, &data));
    OK(clSetKernelArg(kernel, 1, GROUP * sizeof(cl_int), NULL));
    if (queues)
        run_queues(kernel, wrong);
    else
        run_kernel(kernel);
    OK(clReleaseKernel(kernel));
    OK(clReleaseProgram(program));
    if (!leaks || !wrong)
        OK(clReleaseMemObject(data));
    return end();
}
