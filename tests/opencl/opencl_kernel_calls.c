/* Programs and kernels against the words of the specification: sizes and offsets of grids, local
 * memory, arguments that stay as they were when a kernel was enqueued, clones, binaries, compiling
 * and linking, questions, printf. */
#include <stdbool.h>

#include "opencl_check.h"

static const char source[] =
    "__kernel void where(__global int *out, int width)\n"
    "{\n"
    "    size_t at = (get_global_id(1) - get_global_offset(1)) * width\n"
    "                + get_global_id(0) - get_global_offset(0);\n"
    "    out[at] = (int)(get_global_id(0) + 1000 * get_global_id(1)\n"
    "                    + 1000000 * get_local_size(0));\n"
    "}\n"
    "__kernel void turn(__global int *out, __local int *a, __local long *b, char3 more)\n"
    "{\n"
    "    size_t i = get_local_id(0), n = get_local_size(0);\n"
    "    a[i] = (int)i;\n"
    "    b[i] = (long)(100 * i);\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    out[get_global_id(0)] = a[n - 1 - i] + (int)b[n - 1 - i] + more.s0 + more.s2;\n"
    "}\n"
    "__kernel __attribute__((reqd_work_group_size(32, 2, 1))) void fixed(__global int *out)\n"
    "{\n"
    "    out[get_group_id(0)] = (int)get_local_size(0);\n"
    "}\n";

static cl_command_queue queue;
static cl_program program;
static int got[4096];

static void read_back(cl_mem buffer, size_t count)
{
    OK(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, count * sizeof(int), got, 0, NULL, NULL));
}

static void grids_have_offsets(void)
{
    cl_mem out = make_buffer(sizeof got, NULL);
    cl_kernel kernel = make_kernel(program, "where");
    const size_t offset[] = {5, 7}, global[] = {48, 6}, local[] = {16, 2}, odd[] = {47, 6};
    int width = 48;
    bool right = true;
    OK(clSetKernelArg(kernel, 0, sizeof out, &out));
    EXPECT(CL_INVALID_KERNEL_ARGS,
           clEnqueueNDRangeKernel(queue, kernel, 2, offset, global, local, 0, NULL, NULL));
    OK(clSetKernelArg(kernel, 1, sizeof width, &width));
    OK(clEnqueueNDRangeKernel(queue, kernel, 2, offset, global, local, 0, NULL, NULL));
    read_back(out, 48 * 6);
    for (int y = 0; y < 6; y++)
        for (int x = 0; x < 48; x++)
            right &= got[y * 48 + x] == x + 5 + 1000 * (y + 7) + 16000000;
    CHECK(right);
    EXPECT(CL_INVALID_WORK_GROUP_SIZE,
           clEnqueueNDRangeKernel(queue, kernel, 2, offset, odd, local, 0, NULL, NULL));
    EXPECT(CL_INVALID_WORK_GROUP_SIZE, clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global,
                                                              (size_t[2]){48, 6}, 0, NULL, NULL));
    EXPECT(CL_INVALID_WORK_ITEM_SIZE,
           clEnqueueNDRangeKernel(queue, kernel, 1, NULL, (size_t[1]){4096}, (size_t[1]){4096}, 0,
                                  NULL, NULL));
    EXPECT(CL_INVALID_WORK_DIMENSION,
           clEnqueueNDRangeKernel(queue, kernel, 4, NULL, global, NULL, 0, NULL, NULL));
    EXPECT(CL_INVALID_GLOBAL_WORK_SIZE,
           clEnqueueNDRangeKernel(queue, kernel, 2, NULL, NULL, NULL, 0, NULL, NULL));
    OK(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, odd, NULL, 0, NULL, NULL));
    read_back(out, 48 * 6);
    CHECK(got[46] % 1000 == 46);
    OK(clReleaseKernel(kernel));
    OK(clReleaseMemObject(out));
}

/* The last work-groups are smaller, which OpenCL C 2.0 allows. */
static void work_groups_may_be_smaller(void)
{
    cl_program later = make_program(source, "-cl-std=CL2.0");
    cl_mem out = make_buffer(sizeof got, NULL);
    cl_kernel kernel = make_kernel(later, "where");
    const size_t global[] = {70, 3}, local[] = {64, 2};
    int width = 70;
    bool right = true;
    OK(clSetKernelArg(kernel, 0, sizeof out, &out));
    OK(clSetKernelArg(kernel, 1, sizeof width, &width));
    OK(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, local, 0, NULL, NULL));
    read_back(out, 210);
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 70; x++)
            right &= got[y * 70 + x] == x + 1000 * y + 1000000 * (x < 64 ? 64 : 6);
    CHECK(right);
    OK(clReleaseKernel(kernel));
    OK(clReleaseMemObject(out));
    OK(clReleaseProgram(later));
}

/* Arguments are those of the time when the kernel is enqueued; a clone has its own. */
static void arguments_are_kept(void)
{
    cl_int error;
    cl_mem out = make_buffer(sizeof got, NULL);
    cl_kernel kernel = make_kernel(program, "turn");
    cl_event user = clCreateUserEvent(context, &error);
    const size_t global = 128, local = 64;
    cl_char3 more = {{1, 2, 3}};
    bool right = true;
    OK(clSetKernelArg(kernel, 0, sizeof out, &out));
    OK(clSetKernelArg(kernel, 1, 64 * sizeof(int), NULL));
    OK(clSetKernelArg(kernel, 2, 64 * sizeof(cl_long), NULL));
    OK(clSetKernelArg(kernel, 3, sizeof more, &more));
    EXPECT(CL_INVALID_ARG_INDEX, clSetKernelArg(kernel, 4, sizeof more, &more));
    EXPECT(CL_INVALID_ARG_SIZE, clSetKernelArg(kernel, 3, 1, &more));
    EXPECT(CL_INVALID_ARG_VALUE, clSetKernelArg(kernel, 3, sizeof more, NULL));
    EXPECT(CL_INVALID_ARG_VALUE, clSetKernelArg(kernel, 1, 64, &more));
    EXPECT(CL_INVALID_ARG_SIZE, clSetKernelArg(kernel, 1, 0, NULL));
    EXPECT(CL_INVALID_MEM_OBJECT, clSetKernelArg(kernel, 0, sizeof kernel, &kernel));
    OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 1, &user, NULL));
    cl_kernel clone = clCloneKernel(kernel, &error);
    OK(error);
    more.s[0] = 100;
    OK(clSetKernelArg(kernel, 3, sizeof more, &more));
    OK(clSetUserEventStatus(user, CL_COMPLETE));
    read_back(out, 128);
    for (int i = 0; i < 128; i++)
        right &= got[i] == 101 * (63 - i % 64) + 4;
    CHECK(right);
    OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL));
    read_back(out, 1);
    CHECK(got[0] == 101 * 63 + 103);
    OK(clEnqueueNDRangeKernel(queue, clone, 1, NULL, &global, &local, 0, NULL, NULL));
    read_back(out, 1);
    CHECK(got[0] == 101 * 63 + 4);
    OK(clSetKernelArg(kernel, 1, 1 << 20, NULL));
    EXPECT(CL_OUT_OF_RESOURCES,
           clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL));
    OK(clReleaseEvent(user));
    OK(clReleaseKernel(clone));
    OK(clReleaseKernel(kernel));
    OK(clReleaseMemObject(out));
}

static void kernels_answer(void)
{
    char text[64] = "";
    size_t sizes[3] = {0}, limit = 0;
    cl_uint count = 0;
    cl_ulong local = 0;
    cl_mem out = make_buffer(64, NULL);
    cl_kernel kernel = make_kernel(program, "fixed"), turn = make_kernel(program, "turn");
    OK(clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof sizes,
                                sizes, NULL));
    CHECK(sizes[0] == 32 && sizes[1] == 2 && sizes[2] == 1);
    OK(clGetKernelInfo(kernel, CL_KERNEL_ATTRIBUTES, sizeof text, text, NULL));
    CHECK(strstr(text, "reqd_work_group_size(32,2,1)"));
    OK(clGetKernelWorkGroupInfo(turn, NULL, CL_KERNEL_WORK_GROUP_SIZE, sizeof limit, &limit, NULL));
    CHECK(limit == 256);
    OK(clSetKernelArg(turn, 1, 640, NULL));
    OK(clGetKernelWorkGroupInfo(turn, device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof local, &local,
                                NULL));
    CHECK(local == 640);
    OK(clGetKernelInfo(turn, CL_KERNEL_NUM_ARGS, sizeof count, &count, NULL));
    CHECK(count == 4);
    OK(clGetKernelArgInfo(turn, 3, CL_KERNEL_ARG_TYPE_NAME, sizeof text, text, NULL));
    CHECK(strcmp(text, "char3") == 0);
    OK(clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, sizeof text, text, NULL));
    CHECK(strstr(text, "where") && strstr(text, "turn") && strstr(text, "fixed"));
    EXPECT(CL_INVALID_VALUE, clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, 3, text, NULL));
    OK(clSetKernelArg(kernel, 0, sizeof out, &out));
    EXPECT(CL_INVALID_WORK_GROUP_SIZE,
           clEnqueueNDRangeKernel(queue, kernel, 2, NULL, (size_t[2]){64, 2}, (size_t[2]){64, 1}, 0,
                                  NULL, NULL));
    OK(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, (size_t[2]){64, 2}, NULL, 0, NULL, NULL));
    read_back(out, 2);
    CHECK(got[1] == 32);
    EXPECT(CL_INVALID_OPERATION, clBuildProgram(program, 0, NULL, NULL, NULL, NULL));
    OK(clReleaseKernel(kernel));
    OK(clReleaseKernel(turn));
    OK(clReleaseMemObject(out));
}

static int called;

static void CL_CALLBACK built(cl_program which, void *data)
{
    (void)which;
    called += *(int *)data;
}

static void binaries_are_programs(void)
{
    cl_int error, state = 99;
    size_t size = 0;
    int one = 1;
    OK(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL));
    unsigned char *bytes = malloc(size);
    OK(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, NULL));
    const unsigned char *list = bytes;
    cl_program copy = clCreateProgramWithBinary(context, 1, &device, &size, &list, &state, &error);
    OK(error);
    OK(state);
    clCreateKernel(copy, "turn", &error);
    EXPECT(CL_INVALID_PROGRAM_EXECUTABLE, error);
    OK(clBuildProgram(copy, 1, &device, NULL, built, &one));
    CHECK(called == 1);
    cl_kernel kernel = make_kernel(copy, "turn");
    clCreateKernel(copy, "none", &error);
    EXPECT(CL_INVALID_KERNEL_NAME, error);
    memset(bytes, 0, size < 64 ? size : 64);
    clCreateProgramWithBinary(context, 1, &device, &size, &list, &state, &error);
    EXPECT(CL_INVALID_BINARY, error);
    EXPECT(CL_INVALID_BINARY, state);
    free(bytes);
    OK(clReleaseKernel(kernel));
    OK(clReleaseProgram(copy));
}

static cl_program with_source(const char *text)
{
    cl_int error;
    cl_program made = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    OK(error);
    return made;
}

static void programs_are_compiled_and_linked(void)
{
    cl_int error;
    size_t one = 1;
    cl_program header = with_source("#define STEP 20\nint add(int a);\n");
    cl_program a = with_source("#include \"folder/add.h\"\nint add(int a) { return a + STEP; }\n");
    cl_program b = with_source("#include \"folder/add.h\"\n"
                               "__kernel void use(__global int *x) { *x = add(*x); }\n");
    const char *name = "folder/add.h";
    cl_program both[] = {a, b};
    OK(clCompileProgram(a, 1, &device, NULL, 1, &header, &name, NULL, NULL));
    OK(clCompileProgram(b, 1, &device, NULL, 1, &header, &name, NULL, NULL));
    cl_program linked = clLinkProgram(context, 1, &device, NULL, 2, both, NULL, NULL, &error);
    OK(error);
    cl_mem x = make_buffer(4, "\2\0\0\0");
    cl_kernel kernel = make_kernel(linked, "use");
    OK(clSetKernelArg(kernel, 0, sizeof x, &x));
    OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
    read_back(x, 1);
    CHECK(got[0] == 22);
    clLinkProgram(context, 1, &device, NULL, 1, &b, NULL, NULL, &error);
    EXPECT(CL_LINK_PROGRAM_FAILURE, error);
    cl_program wrong = with_source("__kernel void f(__global int *x) { *x = y; }\n");
    char log[4096] = "";
    EXPECT(CL_BUILD_PROGRAM_FAILURE, clBuildProgram(wrong, 0, NULL, NULL, NULL, NULL));
    OK(clGetProgramBuildInfo(wrong, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
    CHECK(strstr(log, "undeclared identifier 'y'"));
    EXPECT(CL_INVALID_BUILD_OPTIONS, clBuildProgram(wrong, 0, NULL, "-no-such", NULL, NULL));
    OK(clReleaseKernel(kernel));
    OK(clReleaseMemObject(x));
    OK(clReleaseProgram(wrong));
    OK(clReleaseProgram(linked));
    OK(clReleaseProgram(header));
    OK(clReleaseProgram(a));
    OK(clReleaseProgram(b));
}

static void kernels_print(void)
{
    size_t three = 3;
    cl_program printing =
        make_program("__kernel void say(float f)\n"
                     "{\n"
                     "    if (get_global_id(0) == 1)\n"
                     "        printf(\"%d %s %5.2f %v4d %c %%\\n\", -3, \"text\", f,\n"
                     "               (int4)(1, 2, 3, 4), 'z');\n"
                     "}\n",
                     "");
    cl_kernel kernel = make_kernel(printing, "say");
    float f = 2.5f;
    OK(clSetKernelArg(kernel, 0, sizeof f, &f));
    OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &three, NULL, 0, NULL, NULL));
    OK(clFinish(queue));
    OK(clReleaseKernel(kernel));
    OK(clReleaseProgram(printing));
}

static void variables_are_counted(void)
{
    size_t bytes = 0;
    cl_program own = make_program(
        "global int a[10]; global double d = 2; constant int t[5] = {1};\n"
        "kernel void k(global int *o) { a[o[0]] = o[1]; d += a[o[2]]; o[0] = d + t[o[3]]; }",
        "-cl-std=CL2.0");
    OK(clGetProgramBuildInfo(own, device, CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE, sizeof bytes,
                             &bytes, NULL));
    CHECK(bytes == 48);
    OK(clReleaseProgram(own));
}

/* The fourth half belongs to someone else. */
static void three_halves_are_three(void)
{
    const uint16_t before[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    const uint16_t wanted[8] = {1, 2, 3, 4, 0x3c00, 0xc000, 0x3555, 8};
    const float numbers[4] = {1, -2, 0.33333334f, 0};
    const size_t one = 1;
    uint16_t halves[8];
    float back[4];
    cl_program own = make_program(
        "kernel void h(global half *to, global float *from)\n"
        "{ vstorea_half3_rtz(vload3(0, from), 1, to); from[3] = vloada_half3(1, to).y; }",
        "");
    cl_kernel kernel = make_kernel(own, "h");
    cl_mem to = make_buffer(sizeof before, before), from = make_buffer(sizeof numbers, numbers);
    OK(clSetKernelArg(kernel, 0, sizeof to, &to));
    OK(clSetKernelArg(kernel, 1, sizeof from, &from));
    OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, to, CL_TRUE, 0, sizeof halves, halves, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, from, CL_TRUE, 0, sizeof back, back, 0, NULL, NULL));
    CHECK(memcmp(halves, wanted, sizeof wanted) == 0 && back[3] == -2);
    OK(clReleaseMemObject(from));
    OK(clReleaseMemObject(to));
    OK(clReleaseKernel(kernel));
    OK(clReleaseProgram(own));
}

int main(void)
{
    begin();
    queue = make_queue(0);
    program = make_program(source, "-cl-kernel-arg-info");
    grids_have_offsets();
    work_groups_may_be_smaller();
    arguments_are_kept();
    kernels_answer();
    binaries_are_programs();
    programs_are_compiled_and_linked();
    kernels_print();
    variables_are_counted();
    three_halves_are_three();
    OK(clReleaseProgram(program));
    OK(clReleaseCommandQueue(queue));
    return end();
}
