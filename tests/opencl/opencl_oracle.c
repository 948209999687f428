/* Executes the OpenCL cases on the host and writes their results.
 *
 * opencl_oracle FOLDER-OF-SOURCES RESULTS [CASE...]. PoCL is what Debian's OpenCL loader finds
 * there; any other device that computes in doubles would do. */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"

static cl_device_id device;
static cl_context context;
static cl_command_queue queue;

static void must(cl_int error, const char *what)
{
    if (error != CL_SUCCESS) {
        fprintf(stderr, "FAIL opencl_oracle: %s: error %d\n", what, error);
        exit(1);
    }
}

static void open_device(void)
{
    cl_platform_id platform;
    cl_int error;
    must(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    must(error, "clCreateContext");
    queue = clCreateCommandQueueWithProperties(context, device, NULL, &error);
    must(error, "clCreateCommandQueue");
}

static cl_program build_program(const char *folder, const char *file)
{
    char text[512], options[512];
    cl_int error;
    snprintf(text, sizeof text, "#include \"%s.cl\"\n", file);
    snprintf(options, sizeof options, "-DORACLE -cl-std=CL3.0 -w -I%s", folder);
    const char *source = text;
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    must(error, "clCreateProgramWithSource");
    error = clBuildProgram(program, 1, &device, options, NULL, NULL);
    if (error != CL_SUCCESS) {
        static char log[65536];
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
        fprintf(stderr, "%s\n", log);
    }
    must(error, file);
    return program;
}

static cl_mem set_argument(cl_kernel kernel, const struct opencl_case *c, unsigned number)
{
    const struct opencl_argument *argument = &c->arguments[number];
    size_t bytes = opencl_argument_bytes(argument, true);
    void *contents = opencl_argument_contents(c, number, true);
    cl_mem buffer = NULL;
    cl_int error = CL_SUCCESS;
    if (argument->way == WAY_VALUE || argument->way == WAY_LOCAL) {
        error = clSetKernelArg(kernel, number, bytes, contents);
    } else {
        buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, contents,
                                &error);
        must(error, "clCreateBuffer");
        error = clSetKernelArg(kernel, number, sizeof buffer, &buffer);
    }
    must(error, c->kernel);
    free(contents);
    return buffer;
}

static void write_result(cl_mem buffer, const struct opencl_argument *argument, FILE *to)
{
    size_t bytes = opencl_argument_bytes(argument, true);
    void *contents = malloc(bytes);
    must(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, contents, 0, NULL, NULL), "read");
    if (fwrite(contents, 1, bytes, to) != bytes) {
        perror("FAIL opencl_oracle");
        exit(1);
    }
    free(contents);
}

static void run_case(cl_program program, const struct opencl_case *c, FILE *to)
{
    cl_int error;
    cl_mem buffers[OPENCL_ARGUMENTS] = {0};
    cl_kernel kernel = clCreateKernel(program, c->kernel, &error);
    must(error, c->kernel);
    for (unsigned i = 0; i < OPENCL_ARGUMENTS && c->arguments[i].way; i++)
        buffers[i] = set_argument(kernel, c, i);
    size_t size[3] = {c->size[0], c->size[1], c->size[2]};
    size_t group[3] = {c->group[0], c->group[1], c->group[2]};
    must(clEnqueueNDRangeKernel(queue, kernel, 3, NULL, size, group, 0, NULL, NULL), c->kernel);
    must(clFinish(queue), c->kernel);
    for (unsigned i = 0; i < OPENCL_ARGUMENTS && c->arguments[i].way; i++) {
        if (opencl_is_compared(&c->arguments[i]))
            write_result(buffers[i], &c->arguments[i], to);
        if (buffers[i])
            clReleaseMemObject(buffers[i]);
    }
    clReleaseKernel(kernel);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: opencl_oracle FOLDER-OF-SOURCES RESULTS [CASE...]\n");
        return 2;
    }
    FILE *to = fopen(argv[2], "wb");
    if (!to) {
        perror(argv[2]);
        return 1;
    }
    open_device();
    cl_program program = NULL;
    const char *built = "";
    unsigned done = 0;
    for (unsigned i = 0; i < opencl_case_count; i++) {
        const struct opencl_case *c = &opencl_cases[i];
        if (!opencl_is_chosen(c, argv + 3, argc - 3))
            continue;
        if (strcmp(built, c->file) != 0) {
            program = build_program(argv[1], c->file);
            built = c->file;
        }
        run_case(program, c, to);
        done++;
    }
    if (fclose(to) != 0 || done == 0) {
        fprintf(stderr, "FAIL opencl_oracle: %s\n", done ? argv[2] : "no such case");
        return 1;
    }
    printf("PASS opencl_oracle: %u kernels\n", done);
    return 0;
}
