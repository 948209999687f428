/* Launches the kernels of features.cl, which check what they see. Usage: opencl_features FILE */
#include <stdbool.h>

#include "opencl_check.h"

enum { NUMBERS = 256, ITEMS_MAX = 512 };

struct mixed {
    cl_char letter;
    cl_float4 four;
    cl_short number;
    cl_double wide;
    cl_uchar rest[3];
};

static struct launch {
    const char *kernel;
    cl_uint dimensions;
    size_t grid[3], group[3];
} launches[] = {
    {"collective_functions", 1, {144}, {48}},
    {"collective_functions", 2, {32, 6}, {16, 3}},
    {"collective_functions", 1, {256}, {256}},
    {"broadcasts_in_three_dimensions", 3, {8, 6, 4}, {4, 3, 2}},
    {"sub_groups", 1, {200}, {100}},
    {"sub_groups", 2, {16, 8}, {16, 8}},
    {"barriers_in_loops", 1, {128}, {64}},
    {"atomics_with_scopes", 1, {256}, {128}},
    {"last_group_sums", 1, {512}, {32}},
    {"compare_exchange", 1, {128}, {64}},
    {"variables_of_the_program", 1, {64}, {64}},
    {"variables_are_kept", 1, {64}, {64}},
    {"generic_pointers", 1, {128}, {64}},
    {"private_arrays", 1, {64}, {64}},
    {"asynchronous_copies", 1, {128}, {64}},
    {"halves_in_memory", 1, {64}, {64}},
    {"vectors", 1, {64}, {64}},
    {"integers", 1, {63}, {63}},
    {"structures_by_value", 1, {64}, {32}},
    {"several_local_arguments", 1, {120}, {60}},
    {"floats_keep_their_order", 1, {64}, {64}},
};

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 16);
    if (!file || fread(text, 1, (1 << 16) - 1, file) == 0)
        exit(2);
    fclose(file);
    return text;
}

static void set_further_arguments(cl_kernel kernel, const char *name)
{
    if (strcmp(name, "structures_by_value") == 0) {
        const struct mixed mixed = {'x', {{1, 2, 3, 4}}, -5, 0.25, {9, 10, 11}};
        const cl_char3 small = {{1, 2, 3}};
        const cl_half narrow = 0x3e00;
        cl_long8 many = {{0}};
        many.s[7] = 7ll << 33;
        OK(clSetKernelArg(kernel, 2, sizeof mixed, &mixed));
        OK(clSetKernelArg(kernel, 3, sizeof small, &small));
        OK(clSetKernelArg(kernel, 4, sizeof narrow, &narrow));
        OK(clSetKernelArg(kernel, 5, sizeof many, &many));
    } else if (strcmp(name, "several_local_arguments") == 0) {
        OK(clSetKernelArg(kernel, 2, 61, NULL));
        OK(clSetKernelArg(kernel, 3, 60 * sizeof(cl_double), NULL));
        OK(clSetKernelArg(kernel, 4, 60 * sizeof(cl_int4), NULL));
    }
}

static void launch(cl_command_queue queue, cl_program program, const struct launch *how, cl_mem out,
                   cl_mem in)
{
    static cl_uint wrong[ITEMS_MAX];
    size_t items = 1;
    cl_int error;
    cl_kernel kernel = clCreateKernel(program, how->kernel, &error);
    if (error == CL_INVALID_KERNEL_NAME) {
        printf("not on this device: %s\n", how->kernel);
        return;
    }
    OK(error);
    for (cl_uint i = 0; i < how->dimensions; i++)
        items *= how->grid[i];
    OK(clSetKernelArg(kernel, 0, sizeof out, &out));
    OK(clSetKernelArg(kernel, 1, sizeof in, &in));
    set_further_arguments(kernel, how->kernel);
    OK(clEnqueueFillBuffer(queue, out, &(cl_uint){UINT32_MAX}, sizeof(cl_uint), 0, sizeof wrong, 0,
                           NULL, NULL));
    OK(clEnqueueNDRangeKernel(queue, kernel, how->dimensions, NULL, how->grid, how->group, 0, NULL,
                              NULL));
    OK(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof wrong, wrong, 0, NULL, NULL));
    OK(clReleaseKernel(kernel));
    cl_uint all = 0;
    size_t first = items;
    for (size_t i = items; i-- > 0;) {
        first = wrong[i] ? i : first;
        all |= wrong[i];
    }
    if (all)
        printf("%s, %zu work-items: wrong %#x, first in %zu\n", how->kernel, items, all, first);
    CHECK(all == 0);
}

static cl_int native_called;

static void CL_CALLBACK native(void *arguments)
{
    (void)arguments;
    native_called++;
}

/* Functions of the host are kernels of devices that say so. */
static void native_kernels_are_as_the_device_says(cl_command_queue queue)
{
    cl_device_exec_capabilities can = 0;
    OK(clGetDeviceInfo(device, CL_DEVICE_EXECUTION_CAPABILITIES, sizeof can, &can, NULL));
    EXPECT(can & CL_EXEC_NATIVE_KERNEL ? CL_SUCCESS : CL_INVALID_OPERATION,
           clEnqueueNativeKernel(queue, native, NULL, 0, 0, NULL, NULL, 0, NULL, NULL));
    OK(clFinish(queue));
    CHECK(native_called == ((can & CL_EXEC_NATIVE_KERNEL) != 0));
}

int main(int argc, char **argv)
{
    cl_int numbers[NUMBERS];
    if (argc != 2)
        return 2;
    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = i;
    begin();
    cl_command_queue queue = make_queue(0);
    char *text = read_text(argv[1]);
    cl_device_fp_config floats = 0;
    OK(clGetDeviceInfo(device, CL_DEVICE_SINGLE_FP_CONFIG, sizeof floats, &floats, NULL));
    cl_program program = make_program(text, floats & CL_FP_DENORM ? "-cl-std=CL3.0 -DFLUSHES=0"
                                                                  : "-cl-std=CL3.0 -DFLUSHES=1");
    cl_mem in = make_buffer(sizeof numbers, numbers), out = make_buffer(ITEMS_MAX * 4, NULL);
    for (size_t i = 0; i < sizeof launches / sizeof launches[0]; i++)
        launch(queue, program, &launches[i], out, in);
    native_kernels_are_as_the_device_says(queue);
    free(text);
    OK(clReleaseMemObject(in));
    OK(clReleaseMemObject(out));
    OK(clReleaseProgram(program));
    OK(clReleaseCommandQueue(queue));
    return end();
}
