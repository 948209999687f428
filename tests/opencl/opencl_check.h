/* What the OpenCL test programs share: the first device, checks that name their place, and programs
 * from source. */
#ifndef HEDDLE_TESTS_OPENCL_OPENCL_CHECK_H
#define HEDDLE_TESTS_OPENCL_OPENCL_CHECK_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cl_platform_id platform;
static cl_device_id device;
static cl_context context;
static unsigned checks, failures;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        checks++;                                                                                  \
        if (!(condition)) {                                                                        \
            failures++;                                                                            \
            printf("FAILED %s:%d: %s\n", __func__, __LINE__, #condition);                          \
        }                                                                                          \
    } while (0)
/* A call that returns CL_SUCCESS, or another result. */
#define EXPECT(wanted, call)                                                                       \
    do {                                                                                           \
        cl_int got_ = (call);                                                                      \
        checks++;                                                                                  \
        if (got_ != (wanted)) {                                                                    \
            failures++;                                                                            \
            printf("FAILED %s:%d: %s is %d, not %s\n", __func__, __LINE__, #call, got_, #wanted);  \
        }                                                                                          \
    } while (0)
#define OK(call) EXPECT(CL_SUCCESS, call)

static inline void begin(void)
{
    OK(clGetPlatformIDs(1, &platform, NULL));
    OK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
    cl_int error;
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    OK(error);
    if (!context)
        exit(1);
}

static inline int end(void)
{
    OK(clReleaseContext(context));
    printf("%s: %u checks, %u failures\n", failures ? "FAILED" : "PASSED", checks, failures);
    return failures != 0;
}

static inline cl_command_queue make_queue(cl_command_queue_properties flags)
{
    cl_int error;
    const cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, flags, 0};
    cl_command_queue queue =
        clCreateCommandQueueWithProperties(context, device, properties, &error);
    OK(error);
    return queue;
}

static inline cl_mem make_buffer(size_t size, const void *contents)
{
    cl_int error;
    cl_mem buffer =
        clCreateBuffer(context, CL_MEM_READ_WRITE | (contents ? CL_MEM_COPY_HOST_PTR : 0), size,
                       (void *)(uintptr_t)contents, &error);
    OK(error);
    return buffer;
}

static inline cl_program make_program(const char *source, const char *options)
{
    cl_int error;
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    OK(error);
    error = clBuildProgram(program, 1, &device, options, NULL, NULL);
    if (error != CL_SUCCESS) {
        static char log[65536];
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
        printf("%s\n", log);
    }
    OK(error);
    return program;
}

static inline cl_kernel make_kernel(cl_program program, const char *name)
{
    cl_int error;
    cl_kernel kernel = clCreateKernel(program, name, &error);
    OK(error);
    return kernel;
}

#endif
