/* The same kernels from the same code object, launched by OpenCL or by HIP, with buffers of the
 * same sizes made in the same order: tests/system/opencl/test_opencl_programs.py compares the
 * cycles. Usage: opencl_same_code opencl|hip FILE; OpenCL writes the code object into FILE. */
#include <hip/hip_runtime_api.h>

#include "opencl_check.h"

enum { COUNT = 1 << 15, LAUNCHES = 3 };

static const char source[] =
    "kernel void scale(global float *to, global const float *from, float by)\n"
    "{ size_t i = get_global_id(0); to[i] = from[i] * by; }\n"
    "kernel void sums(global float *to, global const float *from, float by)\n"
    "{ local float part[256]; size_t l = get_local_id(0);\n"
    "  part[l] = from[get_global_id(0) * 5 % get_global_size(0)];\n"
    "  for (int step = 128; step > 0; step /= 2) { barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (l < step) part[l] += part[l + step]; }\n"
    "  if (l == 0) to[get_group_id(0)] = part[0] * sin(by); }\n";
static const char *const names[] = {"scale", "sums"};
static float numbers[COUNT];

#define HIP(call) CHECK((call) == hipSuccess)

static void write_code(cl_program program, const char *path)
{
    size_t size = 0;
    OK(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL));
    unsigned char *bytes = malloc(size);
    OK(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, NULL));
    FILE *file = fopen(path, "wb");
    CHECK(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
    free(bytes);
}

static void launch_by_opencl(const char *path)
{
    const size_t grid = COUNT, group = 256;
    const float by = 2;
    begin();
    cl_command_queue queue = make_queue(0);
    cl_program program = make_program(source, "");
    write_code(program, path);
    cl_mem to = make_buffer(sizeof numbers, NULL), from = make_buffer(sizeof numbers, NULL);
    OK(clEnqueueWriteBuffer(queue, from, CL_TRUE, 0, sizeof numbers, numbers, 0, NULL, NULL));
    for (int i = 0; i < 2 * LAUNCHES; i++) {
        cl_kernel kernel = make_kernel(program, names[i / LAUNCHES]);
        OK(clSetKernelArg(kernel, 0, sizeof to, &to));
        OK(clSetKernelArg(kernel, 1, sizeof from, &from));
        OK(clSetKernelArg(kernel, 2, sizeof by, &by));
        OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &grid, &group, 0, NULL, NULL));
        OK(clFinish(queue));
        OK(clReleaseKernel(kernel));
    }
}

static void launch_by_hip(const char *path)
{
    float by = 2;
    hipModule_t module;
    hipStream_t stream;
    void *to, *from, *arguments[] = {&to, &from, &by};
    HIP(hipStreamCreate(&stream));
    HIP(hipMalloc(&to, sizeof numbers));
    HIP(hipMalloc(&from, sizeof numbers));
    HIP(hipMemcpyHtoDAsync(from, numbers, sizeof numbers, stream));
    HIP(hipStreamSynchronize(stream));
    HIP(hipModuleLoad(&module, path));
    for (int i = 0; i < 2 * LAUNCHES; i++) {
        hipFunction_t function;
        HIP(hipModuleGetFunction(&function, module, names[i / LAUNCHES]));
        HIP(hipModuleLaunchKernel(function, COUNT / 256, 1, 1, 256, 1, 1, 0, stream, arguments,
                                  NULL));
        HIP(hipStreamSynchronize(stream));
    }
}

int main(int argc, char **argv)
{
    for (int i = 0; i < COUNT; i++)
        numbers[i] = (float)i;
    if (argc == 3 && strcmp(argv[1], "hip") == 0)
        launch_by_hip(argv[2]);
    else if (argc == 3)
        launch_by_opencl(argv[2]);
    printf("%s: %u checks, %u failures\n", failures ? "FAILED" : "PASSED", checks, failures);
    return failures != 0 || argc != 3;
}
