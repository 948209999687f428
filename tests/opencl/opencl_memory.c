/* Memory objects against the words of the specification: sub-buffers, mappings that overlap,
 * rectangles, fills, migration, host pointers, shared virtual memory, destructors. */
#include <stdbool.h>

#include "opencl_check.h"

enum { SIZE = 4096 };

static cl_command_queue queue;
static unsigned char bytes[SIZE], got[SIZE];

static void read_back(cl_mem buffer)
{
    memset(got, 0xee, sizeof got);
    OK(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, SIZE, got, 0, NULL, NULL));
}

static void sub_buffers_are_ranges(void)
{
    cl_int error;
    cl_mem whole = make_buffer(SIZE, bytes);
    const cl_buffer_region region = {1024, 512}, crooked = {100, 512}, beyond = {3840, 512};
    cl_mem part = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    size_t offset = 0;
    cl_mem parent = NULL;
    OK(error);
    clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &crooked, &error);
    EXPECT(CL_MISALIGNED_SUB_BUFFER_OFFSET, error);
    clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &beyond, &error);
    EXPECT(CL_INVALID_VALUE, error);
    clCreateSubBuffer(part, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    EXPECT(CL_INVALID_MEM_OBJECT, error);
    OK(clGetMemObjectInfo(part, CL_MEM_OFFSET, sizeof offset, &offset, NULL));
    OK(clGetMemObjectInfo(part, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent, NULL));
    CHECK(offset == 1024 && parent == whole);
    OK(clReleaseMemObject(whole)); /* the part keeps it */
    OK(clEnqueueFillBuffer(queue, part, "\x77", 1, 0, 512, 0, NULL, NULL));
    EXPECT(CL_MEM_COPY_OVERLAP, clEnqueueCopyBuffer(queue, part, part, 0, 8, 64, 0, NULL, NULL));
    EXPECT(CL_INVALID_MEM_OBJECT, clReleaseMemObject(whole));
    OK(clEnqueueCopyBuffer(queue, parent, part, 0, 256, 64, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, part, CL_TRUE, 0, 512, got, 0, NULL, NULL));
    CHECK(got[0] == 0x77 && got[255] == 0x77 && memcmp(got + 256, bytes, 64) == 0
          && got[320] == 0x77);
    OK(clReleaseMemObject(part));
    EXPECT(CL_INVALID_MEM_OBJECT,
           clEnqueueCopyBuffer(queue, parent, part, 0, 256, 64, 0, NULL, NULL));
}

/* The queue keeps the context that the program has released, and gives it back. */
static void contexts_are_kept(void)
{
    cl_int error;
    cl_context own = clCreateContext(NULL, 1, &device, NULL, NULL, &error), kept = NULL;
    cl_command_queue in_own = clCreateCommandQueue(own, device, 0, &error);
    OK(error);
    OK(clReleaseContext(own));
    OK(clGetCommandQueueInfo(in_own, CL_QUEUE_CONTEXT, sizeof kept, &kept, NULL));
    CHECK(kept == own);
    OK(clRetainContext(kept));
    OK(clReleaseCommandQueue(in_own));
    OK(clReleaseContext(kept));
    EXPECT(CL_INVALID_CONTEXT, clReleaseContext(kept));
}

static void mappings_overlap(void)
{
    cl_int error;
    cl_uint count = 0;
    cl_mem buffer = make_buffer(SIZE, bytes);
    unsigned char *a =
        clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ, 0, 2048, 0, NULL, NULL, &error);
    OK(error);
    unsigned char *b =
        clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ, 1024, 2048, 0, NULL, NULL, &error);
    OK(error);
    CHECK(b - a == 1024 && memcmp(a, bytes, 2048) == 0 && memcmp(b, bytes + 1024, 2048) == 0);
    unsigned char *c =
        clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_WRITE, 3072, 1024, 0, NULL, NULL, &error);
    OK(error);
    OK(clGetMemObjectInfo(buffer, CL_MEM_MAP_COUNT, sizeof count, &count, NULL));
    CHECK(count == 3);
    memset(c, 9, 512); /* the rest keeps its contents */
    OK(clEnqueueUnmapMemObject(queue, buffer, c, 0, NULL, NULL));
    EXPECT(CL_INVALID_VALUE, clEnqueueUnmapMemObject(queue, buffer, c, 0, NULL, NULL));
    OK(clEnqueueUnmapMemObject(queue, buffer, a, 0, NULL, NULL));
    CHECK(memcmp(b, bytes + 1024, 2048) == 0);
    OK(clEnqueueUnmapMemObject(queue, buffer, b, 0, NULL, NULL));
    read_back(buffer);
    CHECK(memcmp(got, bytes, 3072) == 0 && got[3072] == 9 && got[3583] == 9
          && memcmp(got + 3584, bytes + 3584, 512) == 0);
    unsigned char *d = clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0,
                                          SIZE, 0, NULL, NULL, &error);
    memset(d, 5, SIZE);
    OK(clEnqueueUnmapMemObject(queue, buffer, d, 0, NULL, NULL));
    read_back(buffer);
    CHECK(got[0] == 5 && got[SIZE - 1] == 5);
    OK(clReleaseMemObject(buffer));
}

static void host_pointers_are_mapped(void)
{
    cl_int error;
    static unsigned char own[SIZE];
    memcpy(own, bytes, SIZE);
    cl_mem buffer = clCreateBuffer(context, CL_MEM_USE_HOST_PTR, SIZE, own, &error);
    OK(error);
    OK(clEnqueueFillBuffer(queue, buffer, "\1\2\3\4\5\6\7\10", 8, 64, 128, 0, NULL, NULL));
    unsigned char *view =
        clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ, 32, 256, 0, NULL, NULL, &error);
    CHECK(view == own + 32 && own[63] == bytes[63] && own[64] == 1 && own[191] == 8
          && own[192] == bytes[192]);
    OK(clEnqueueUnmapMemObject(queue, buffer, view, 0, NULL, NULL));
    OK(clReleaseMemObject(buffer));
    cl_mem hidden = clCreateBuffer(context, CL_MEM_HOST_NO_ACCESS, SIZE, NULL, &error);
    EXPECT(CL_INVALID_OPERATION,
           clEnqueueReadBuffer(queue, hidden, CL_TRUE, 0, 16, got, 0, NULL, NULL));
    clEnqueueMapBuffer(queue, hidden, CL_TRUE, CL_MAP_READ, 0, 16, 0, NULL, NULL, &error);
    EXPECT(CL_INVALID_OPERATION, error);
    OK(clReleaseMemObject(hidden));
}

/* A box of 8 x 4 x 3 bytes from a volume of 16 x 8 x 8 to one of 32 x 16 x 4. */
static void rectangles_are_copied(void)
{
    const size_t from[3] = {2, 1, 3}, to[3] = {5, 7, 1}, zero[3] = {0}, region[3] = {8, 4, 3};
    const size_t shifted[3] = {4, 2, 4}, beside[3] = {10, 1, 3};
    unsigned char box[8 * 4 * 3];
    bool right = true;
    cl_mem a = make_buffer(SIZE, bytes), b = make_buffer(SIZE, NULL);
    OK(clEnqueueFillBuffer(queue, b, "\0", 1, 0, SIZE, 0, NULL, NULL));
    OK(clEnqueueCopyBufferRect(queue, a, b, from, to, region, 16, 128, 32, 512, 0, NULL, NULL));
    read_back(b);
    for (size_t z = 0; z < 3; z++)
        for (size_t y = 0; y < 4; y++)
            right &= memcmp(got + (z + 1) * 512 + (y + 7) * 32 + 5,
                            bytes + (z + 3) * 128 + (y + 1) * 16 + 2, 8)
                     == 0;
    CHECK(right && got[512 + 7 * 32 + 4] == 0 && got[512 + 7 * 32 + 13] == 0);
    OK(clEnqueueReadBufferRect(queue, b, CL_TRUE, to, zero, region, 32, 512, 0, 0, box, 0, NULL,
                               NULL));
    CHECK(memcmp(box, bytes + 3 * 128 + 16 + 2, 8) == 0
          && memcmp(box + 88, bytes + 5 * 128 + 4 * 16 + 2, 8) == 0);
    memset(box, 0x42, sizeof box);
    OK(clEnqueueWriteBufferRect(queue, a, CL_TRUE, from, zero, region, 16, 128, 0, 0, box, 0, NULL,
                                NULL));
    read_back(a);
    CHECK(got[3 * 128 + 16 + 1] == bytes[3 * 128 + 16 + 1] && got[3 * 128 + 16 + 2] == 0x42
          && got[5 * 128 + 4 * 16 + 9] == 0x42);
    EXPECT(CL_MEM_COPY_OVERLAP, clEnqueueCopyBufferRect(queue, a, a, from, shifted, region, 16, 128,
                                                        16, 128, 0, NULL, NULL));
    OK(clEnqueueCopyBufferRect(queue, a, a, from, beside, (const size_t[3]){6, 4, 3}, 16, 128, 16,
                               128, 0, NULL, NULL));
    EXPECT(CL_INVALID_VALUE,
           clEnqueueCopyBufferRect(queue, a, b, from, to, region, 7, 128, 32, 512, 0, NULL, NULL));
    EXPECT(CL_INVALID_VALUE,
           clEnqueueCopyBufferRect(queue, a, b, from, to, region, 16, 100, 32, 512, 0, NULL, NULL));
    OK(clReleaseMemObject(a));
    OK(clReleaseMemObject(b));
}

static void fills_have_patterns_of_all_sizes(void)
{
    cl_mem buffer = make_buffer(SIZE, NULL);
    for (size_t size = 1; size <= 128; size *= 2) {
        bool right = true;
        OK(clEnqueueFillBuffer(queue, buffer, bytes + 3, size, 0, SIZE, 0, NULL, NULL));
        read_back(buffer);
        for (size_t i = 0; i < SIZE; i++)
            right &= got[i] == bytes[3 + i % size];
        CHECK(right);
    }
    EXPECT(CL_INVALID_VALUE, clEnqueueFillBuffer(queue, buffer, bytes, 3, 0, 6, 0, NULL, NULL));
    EXPECT(CL_INVALID_VALUE, clEnqueueFillBuffer(queue, buffer, bytes, 256, 0, 512, 0, NULL, NULL));
    EXPECT(CL_INVALID_VALUE, clEnqueueFillBuffer(queue, buffer, bytes, 4, 2, 8, 0, NULL, NULL));
    OK(clEnqueueMigrateMemObjects(queue, 1, &buffer, CL_MIGRATE_MEM_OBJECT_HOST, 0, NULL, NULL));
    OK(clEnqueueMigrateMemObjects(queue, 1, &buffer, 0, 0, NULL, NULL));
    EXPECT(CL_INVALID_VALUE, clEnqueueMigrateMemObjects(queue, 1, &buffer, 8, 0, NULL, NULL));
    read_back(buffer);
    CHECK(got[5] == bytes[8]);
    OK(clReleaseMemObject(buffer));
}

static int order[4], called;

static void CL_CALLBACK note(cl_mem buffer, void *number)
{
    (void)buffer;
    order[called++] = *(int *)number;
}

static void destructors_run_backwards(void)
{
    int numbers[] = {1, 2, 3};
    cl_mem buffer = make_buffer(64, NULL);
    for (int i = 0; i < 3; i++)
        OK(clSetMemObjectDestructorCallback(buffer, note, &numbers[i]));
    OK(clRetainMemObject(buffer));
    OK(clReleaseMemObject(buffer));
    CHECK(called == 0);
    OK(clReleaseMemObject(buffer));
    CHECK(called == 3 && order[0] == 3 && order[1] == 2 && order[2] == 1);
    EXPECT(CL_INVALID_MEM_OBJECT, clReleaseMemObject(buffer));
}

static void CL_CALLBACK free_them(cl_command_queue at, cl_uint count, void *list[], void *data)
{
    (void)at;
    *(int *)data = (int)count;
    for (cl_uint i = 0; i < count; i++)
        clSVMFree(context, list[i]);
}

/* A list whose elements point at each other, and a free behind the kernel that uses it. */
static void shared_memory_has_one_address(void)
{
    static const char source[] =
        "struct node { __global struct node *next; int value; };\n"
        "__kernel void walk(__global struct node *first, __global int *sum)\n"
        "{\n"
        "    for (__global struct node *n = first; n; n = n->next) {\n"
        "        *sum += n->value;\n"
        "        n->value = -n->value;\n"
        "    }\n"
        "}\n";
    struct node {
        struct node *next;
        int value;
    } *nodes = clSVMAlloc(context, CL_MEM_READ_WRITE, 10 * sizeof *nodes, 0);
    int *sum = clSVMAlloc(context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, 64, 64);
    size_t one = 1;
    int freed = 0, copy[1] = {0};
    CHECK(nodes && sum);
    OK(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_WRITE, nodes, 10 * sizeof *nodes, 0, NULL, NULL));
    for (int i = 0; i < 10; i++)
        nodes[i] = (struct node){i < 9 ? &nodes[i + 1] : NULL, i};
    *sum = 0;
    OK(clEnqueueSVMUnmap(queue, nodes, 0, NULL, NULL));
    cl_program program = make_program(source, "-cl-std=CL2.0");
    cl_kernel kernel = make_kernel(program, "walk");
    OK(clSetKernelArgSVMPointer(kernel, 0, nodes));
    OK(clSetKernelArgSVMPointer(kernel, 1, sum));
    OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
    OK(clEnqueueSVMMemcpy(queue, CL_FALSE, copy, sum, sizeof copy, 0, NULL, NULL));
    OK(clFinish(queue));
    CHECK(*sum == 45 && copy[0] == 45 && nodes[9].value == -9);
    OK(clEnqueueSVMMemFill(queue, sum, "\1\0\0\0", 4, 64, 0, NULL, NULL));
    OK(clFinish(queue));
    CHECK(sum[15] == 1);
    OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
    OK(clEnqueueSVMFree(queue, 2, (void *[]){nodes, sum}, free_them, &freed, 0, NULL, NULL));
    OK(clFinish(queue));
    CHECK(freed == 2);
    CHECK(!clSVMAlloc(context, CL_MEM_READ_WRITE, 0, 0));
    CHECK(!clSVMAlloc(context, CL_MEM_READ_WRITE, 64, 3));
    OK(clReleaseKernel(kernel));
    OK(clReleaseProgram(program));
}

int main(void)
{
    begin();
    queue = make_queue(0);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (unsigned char)(i * 7 + i / 256);
    sub_buffers_are_ranges();
    contexts_are_kept();
    mappings_overlap();
    host_pointers_are_mapped();
    rectangles_are_copied();
    fills_have_patterns_of_all_sizes();
    destructors_run_backwards();
    shared_memory_has_one_address();
    OK(clReleaseCommandQueue(queue));
    return end();
}
