/* What the host does with images: reading, writing, copying, filling, mapping, queries, and errors.
 * Arrays of the host follow each step. */
#include "opencl_check.h"

enum { W = 9, H = 6, D = 4, BYTES = W * H * D * 4, PITCH = 48, SLICE = PITCH * 8 };

static cl_command_queue queue;
static const cl_image_format rgba = {CL_RGBA, CL_UNORM_INT8};

struct kind {
    cl_mem_object_type type;
    size_t size[3];
    int is_array;
};
static const struct kind kinds[] = {
    {CL_MEM_OBJECT_IMAGE1D, {W, 1, 1}, 0}, {CL_MEM_OBJECT_IMAGE1D_ARRAY, {W, H, 1}, 1},
    {CL_MEM_OBJECT_IMAGE2D, {W, H, 1}, 0}, {CL_MEM_OBJECT_IMAGE2D_ARRAY, {W, H, D}, 1},
    {CL_MEM_OBJECT_IMAGE3D, {W, H, D}, 0},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static cl_image_desc describe(const struct kind *kind)
{
    int last = kind->size[2] > 1 ? 2 : 1;
    cl_image_desc what = {.image_type = kind->type,
                          .image_width = kind->size[0],
                          .image_height =
                              kind->type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? 0 : kind->size[1],
                          .image_depth = kind->size[2],
                          .image_array_size = kind->is_array ? kind->size[last] : 0};
    return what;
}

static cl_mem make_image(const cl_image_desc *what, cl_mem_flags flags, void *bytes)
{
    cl_int error;
    cl_mem image = clCreateImage(context, flags, &rgba, what, bytes, &error);
    OK(error);
    return image;
}

static void fill_random(uint8_t *bytes, size_t size)
{
    static uint32_t state = 7;
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)((state = state * 1664525 + 1013904223) >> 24);
}

/* Copies a box of elements between arrays with pitches. */
static void move(uint8_t *to, size_t to_row, size_t to_slice, const uint8_t *from, size_t from_row,
                 size_t from_slice, const size_t region[3])
{
    for (size_t z = 0; z < region[2]; z++)
        for (size_t y = 0; y < region[1]; y++)
            memcpy(to + z * to_slice + y * to_row, from + z * from_slice + y * from_row,
                   region[0] * 4);
}

static uint8_t *at(uint8_t *bytes, const size_t origin[3])
{
    return bytes + ((origin[2] * H + origin[1]) * W + origin[0]) * 4;
}

/* Does the image hold that? */
static int holds(cl_mem image, const struct kind *kind, const uint8_t *wanted)
{
    uint8_t got[BYTES];
    const size_t origin[3] = {0};
    size_t size = kind->size[0] * kind->size[1] * kind->size[2] * 4;
    OK(clEnqueueReadImage(queue, image, CL_TRUE, origin, kind->size, 0, 0, got, 0, NULL, NULL));
    return memcmp(got, wanted, size) == 0;
}

/* A part of the image that leaves out its edges, where it has more than one element. */
static void choose_part(const struct kind *kind, size_t origin[3], size_t region[3])
{
    for (int i = 0; i < 3; i++) {
        origin[i] = kind->size[i] > 1;
        region[i] = kind->size[i] > 2 ? kind->size[i] - 2 : 1;
    }
}

static void check_transfers(const struct kind *kind)
{
    uint8_t model[BYTES], host[SLICE * D], back[SLICE * D];
    size_t origin[3], region[3];
    const cl_image_desc what = describe(kind);
    int has_slices = kind->is_array || kind->size[2] > 1;
    size_t slice = kind->type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? PITCH : has_slices ? SLICE : 0;
    fill_random(model, sizeof model);
    fill_random(host, sizeof host);
    cl_mem image = make_image(&what, CL_MEM_COPY_HOST_PTR, model);
    CHECK(holds(image, kind, model));
    choose_part(kind, origin, region);
    OK(clEnqueueWriteImage(queue, image, CL_FALSE, origin, region, PITCH, slice, host, 0, NULL,
                           NULL));
    move(at(model, origin), W * 4, W * H * 4, host, PITCH, SLICE, region);
    CHECK(holds(image, kind, model));
    fill_random(back, sizeof back);
    memcpy(host, back, sizeof back);
    OK(clEnqueueReadImage(queue, image, CL_TRUE, origin, region, PITCH, slice, back, 0, NULL,
                          NULL));
    move(host, PITCH, SLICE, at(model, origin), W * 4, W * H * 4, region);
    CHECK(memcmp(back, host, sizeof back) == 0);
    OK(clReleaseMemObject(image));
}

static void check_copies(const struct kind *kind)
{
    uint8_t model[BYTES], other[BYTES], packed[BYTES + 4], got[BYTES + 4];
    size_t origin[3], region[3];
    const size_t zero[3] = {0};
    const cl_image_desc what = describe(kind);
    fill_random(model, sizeof model);
    fill_random(other, sizeof other);
    fill_random(packed, sizeof packed);
    cl_mem image = make_image(&what, CL_MEM_COPY_HOST_PTR, model);
    cl_mem second = make_image(&what, CL_MEM_COPY_HOST_PTR, other);
    cl_mem buffer = make_buffer(sizeof packed, packed);
    choose_part(kind, origin, region);
    size_t row = region[0] * 4, slice = row * region[1];
    OK(clEnqueueCopyImage(queue, image, second, origin, zero, region, 0, NULL, NULL));
    move(other, W * 4, W * H * 4, at(model, origin), W * 4, W * H * 4, region);
    CHECK(holds(second, kind, other));
    OK(clEnqueueCopyImageToBuffer(queue, image, buffer, origin, region, 4, 0, NULL, NULL));
    move(packed + 4, row, slice, at(model, origin), W * 4, W * H * 4, region);
    OK(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL));
    CHECK(memcmp(got, packed, sizeof got) == 0);
    OK(clEnqueueCopyBufferToImage(queue, buffer, second, 8, origin, region, 0, NULL, NULL));
    move(at(other, origin), W * 4, W * H * 4, packed + 8, row, slice, region);
    CHECK(holds(second, kind, other));
    OK(clReleaseMemObject(buffer));
    OK(clReleaseMemObject(second));
    OK(clReleaseMemObject(image));
}

static void check_fill_and_map(const struct kind *kind)
{
    uint8_t model[BYTES], colour[4] = {0, 128, 255, 51};
    const float real[4] = {-1, 0.5f, 7, 0.2f};
    size_t origin[3], region[3], row = 0, slice = 0;
    const cl_image_desc what = describe(kind);
    cl_int error;
    fill_random(model, sizeof model);
    cl_mem image = make_image(&what, CL_MEM_COPY_HOST_PTR, model);
    choose_part(kind, origin, region);
    OK(clEnqueueFillImage(queue, image, real, origin, region, 0, NULL, NULL));
    for (size_t z = 0; z < region[2]; z++)
        for (size_t y = 0; y < region[1]; y++)
            for (size_t x = 0; x < region[0]; x++)
                memcpy(at(model, (size_t[3]){origin[0] + x, origin[1] + y, origin[2] + z}), colour,
                       4);
    CHECK(holds(image, kind, model));
    uint8_t *mapped = clEnqueueMapImage(queue, image, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, origin,
                                        region, &row, &slice, 0, NULL, NULL, &error);
    OK(error);
    CHECK(row >= region[0] * 4 && (kind->size[2] == 1 || slice >= row * region[1]));
    for (size_t z = 0; z < region[2]; z++)
        for (size_t y = 0; y < region[1]; y++) {
            uint8_t *ours = at(model, (size_t[3]){origin[0], origin[1] + y, origin[2] + z});
            CHECK(memcmp(mapped + z * slice + y * row, ours, region[0] * 4) == 0);
            fill_random(ours, region[0] * 4);
            memcpy(mapped + z * slice + y * row, ours, region[0] * 4);
        }
    OK(clEnqueueUnmapMemObject(queue, image, mapped, 0, NULL, NULL));
    CHECK(holds(image, kind, model));
    OK(clReleaseMemObject(image));
}

/* ---- memory of the program and of buffers ---- */

static void check_host_memory(void)
{
    static uint8_t host[SLICE * D] __attribute__((aligned(64)));
    uint8_t model[BYTES];
    const struct kind *kind = &kinds[4];
    const size_t origin[3] = {1, 2, 3}, one[3] = {1, 1, 1}, zero[3] = {0};
    const uint32_t element = 0x01020304;
    size_t row, slice;
    cl_int error;
    cl_image_desc what = describe(kind);
    what.image_row_pitch = PITCH;
    what.image_slice_pitch = SLICE;
    fill_random(host, sizeof host);
    cl_mem image = make_image(&what, CL_MEM_USE_HOST_PTR, host);
    move(model, W * 4, W * H * 4, host, PITCH, SLICE, kind->size);
    CHECK(holds(image, kind, model));
    OK(clEnqueueWriteImage(queue, image, CL_TRUE, origin, one, 0, 0, &element, 0, NULL, NULL));
    uint8_t *mapped = clEnqueueMapImage(queue, image, CL_TRUE, CL_MAP_READ, zero, kind->size, &row,
                                        &slice, 0, NULL, NULL, &error);
    OK(error);
    CHECK(mapped == host && row == PITCH && slice == SLICE);
    CHECK(memcmp(host + 3 * SLICE + 2 * PITCH + 4, &element, 4) == 0);
    OK(clEnqueueUnmapMemObject(queue, image, mapped, 0, NULL, NULL));
    OK(clReleaseMemObject(image));
}

static void check_buffer_image(void)
{
    uint32_t bytes[64], got[2];
    const size_t origin[3] = {3, 0, 0}, region[3] = {2, 1, 1};
    cl_mem source = NULL;
    cl_int error;
    fill_random((uint8_t *)bytes, sizeof bytes);
    cl_mem buffer = make_buffer(sizeof bytes, bytes);
    cl_image_desc what = {
        .image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = 60, .buffer = buffer};
    cl_mem image = make_image(&what, CL_MEM_READ_WRITE, NULL);
    OK(clEnqueueReadImage(queue, image, CL_TRUE, origin, region, 0, 0, got, 0, NULL, NULL));
    CHECK(memcmp(got, bytes + 3, sizeof got) == 0);
    got[0] = 77;
    OK(clEnqueueWriteImage(queue, image, CL_TRUE, origin, region, 0, 0, got, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 12, 4, got, 0, NULL, NULL));
    CHECK(got[0] == 77);
    OK(clGetImageInfo(image, CL_IMAGE_BUFFER, sizeof source, &source, NULL));
    CHECK(source == buffer);
    what.image_width = 65;
    CHECK(!clCreateImage(context, CL_MEM_READ_WRITE, &rgba, &what, NULL, &error));
    EXPECT(CL_INVALID_IMAGE_SIZE, error);
    OK(clReleaseMemObject(buffer));
    OK(clReleaseMemObject(image));
}

/* ---- queries and errors ---- */

static void check_queries(void)
{
    static const cl_image_info sizes[] = {
        CL_IMAGE_ELEMENT_SIZE, CL_IMAGE_ROW_PITCH, CL_IMAGE_SLICE_PITCH, CL_IMAGE_WIDTH,
        CL_IMAGE_HEIGHT,       CL_IMAGE_DEPTH,     CL_IMAGE_ARRAY_SIZE};
    static const size_t wanted[KINDS][7] = {
        {4, W * 4, 0, W, 0, 0, 0},         {4, W * 4, W * 4, W, 0, 0, H},
        {4, W * 4, 0, W, H, 0, 0},         {4, W * 4, W * H * 4, W, H, 0, D},
        {4, W * 4, W * H * 4, W, H, D, 0},
    };
    for (int k = 0; k < KINDS; k++) {
        const cl_image_desc what = describe(&kinds[k]);
        cl_mem image = make_image(&what, CL_MEM_READ_WRITE, NULL);
        cl_image_format format;
        cl_mem_object_type type;
        for (int i = 0; i < 7; i++) {
            size_t got;
            OK(clGetImageInfo(image, sizes[i], sizeof got, &got, NULL));
            CHECK(got == wanted[k][i]
                  || ((i == 1 || i == 2) && wanted[k][i] && got > wanted[k][i]));
        }
        OK(clGetImageInfo(image, CL_IMAGE_FORMAT, sizeof format, &format, NULL));
        CHECK(memcmp(&format, &rgba, sizeof format) == 0);
        OK(clGetMemObjectInfo(image, CL_MEM_TYPE, sizeof type, &type, NULL));
        CHECK(type == kinds[k].type);
        OK(clReleaseMemObject(image));
    }
}

static void refuse(cl_int wanted, const cl_image_format *format, const cl_image_desc *what,
                   cl_mem_flags flags, void *pointer)
{
    cl_int error = CL_SUCCESS;
    CHECK(!clCreateImage(context, flags, format, what, pointer, &error));
    EXPECT(wanted, error);
}

static void check_refusals(void)
{
    uint8_t bytes[BYTES];
    const cl_image_format odd = {CL_RGB, CL_UNORM_INT8}, none = {0, 0};
    const cl_image_desc good = describe(&kinds[2]);
    cl_image_desc bad = good;
    refuse(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, NULL, &good, 0, NULL);
    refuse(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, &none, &good, 0, NULL);
    refuse(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, &odd, &good, 0, NULL);
    refuse(CL_INVALID_IMAGE_DESCRIPTOR, &rgba, NULL, 0, NULL);
    refuse(CL_INVALID_VALUE, &rgba, &good, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, NULL);
    refuse(CL_INVALID_HOST_PTR, &rgba, &good, CL_MEM_COPY_HOST_PTR, NULL);
    refuse(CL_INVALID_HOST_PTR, &rgba, &good, 0, bytes);
    bad.image_row_pitch = W * 4;
    refuse(CL_INVALID_IMAGE_DESCRIPTOR, &rgba, &bad, 0, NULL);
    bad.image_row_pitch = W * 4 - 4;
    refuse(CL_INVALID_IMAGE_DESCRIPTOR, &rgba, &bad, CL_MEM_COPY_HOST_PTR, bytes);
    bad = good;
    bad.image_type = CL_MEM_OBJECT_BUFFER;
    refuse(CL_INVALID_IMAGE_DESCRIPTOR, &rgba, &bad, 0, NULL);
    bad = good;
    bad.image_width = (size_t)1 << 40;
    refuse(CL_INVALID_IMAGE_SIZE, &rgba, &bad, 0, NULL);
}

static void check_wrong_commands(void)
{
    uint8_t bytes[BYTES];
    const size_t zero[3] = {0}, beyond[3] = {W + 1, 1, 1}, one[3] = {1, 1, 1}, two[3] = {2, 2, 1};
    const cl_image_desc what = describe(&kinds[2]);
    const cl_image_format other_format = {CL_RGBA, CL_SIGNED_INT8};
    cl_int error;
    cl_mem image = make_image(&what, CL_MEM_HOST_READ_ONLY, NULL), buffer = make_buffer(64, NULL);
    cl_mem other = clCreateImage(context, 0, &other_format, &what, NULL, &error);
    OK(error);
    EXPECT(CL_INVALID_VALUE,
           clEnqueueReadImage(queue, image, CL_TRUE, zero, beyond, 0, 0, bytes, 0, NULL, NULL));
    EXPECT(CL_INVALID_VALUE,
           clEnqueueReadImage(queue, image, CL_TRUE, zero, one, 0, 0, NULL, 0, NULL, NULL));
    EXPECT(CL_INVALID_VALUE,
           clEnqueueReadImage(queue, image, CL_TRUE, zero, two, 4, 0, bytes, 0, NULL, NULL));
    EXPECT(CL_INVALID_OPERATION,
           clEnqueueWriteImage(queue, image, CL_TRUE, zero, one, 0, 0, bytes, 0, NULL, NULL));
    EXPECT(CL_INVALID_MEM_OBJECT,
           clEnqueueReadImage(queue, buffer, CL_TRUE, zero, one, 0, 0, bytes, 0, NULL, NULL));
    EXPECT(CL_INVALID_MEM_OBJECT,
           clEnqueueReadBuffer(queue, image, CL_TRUE, 0, 4, bytes, 0, NULL, NULL));
    EXPECT(CL_IMAGE_FORMAT_MISMATCH,
           clEnqueueCopyImage(queue, image, other, zero, zero, one, 0, NULL, NULL));
    EXPECT(CL_MEM_COPY_OVERLAP,
           clEnqueueCopyImage(queue, image, image, zero, zero, two, 0, NULL, NULL));
    EXPECT(CL_INVALID_VALUE,
           clEnqueueCopyImageToBuffer(queue, image, buffer, zero, two, 56, 0, NULL, NULL));
    OK(clReleaseMemObject(other));
    OK(clReleaseMemObject(buffer));
    OK(clReleaseMemObject(image));
}

static void check_arguments(void)
{
    const cl_image_desc flat = describe(&kinds[2]), deep = describe(&kinds[4]);
    cl_int error;
    cl_program program =
        make_program("kernel void k(write_only image2d_t a, sampler_t s, global int *b) {}", "");
    cl_kernel kernel = make_kernel(program, "k");
    cl_mem image = make_image(&flat, CL_MEM_READ_ONLY, NULL);
    cl_mem volume = make_image(&deep, CL_MEM_READ_WRITE, NULL), buffer = make_buffer(64, NULL);
    cl_sampler sampler =
        clCreateSampler(context, CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_LINEAR, &error);
    OK(error);
    EXPECT(CL_INVALID_ARG_VALUE, clSetKernelArg(kernel, 0, sizeof image, &image));
    EXPECT(CL_INVALID_ARG_VALUE, clSetKernelArg(kernel, 0, sizeof volume, &volume));
    EXPECT(CL_INVALID_MEM_OBJECT, clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
    EXPECT(CL_INVALID_MEM_OBJECT, clSetKernelArg(kernel, 2, sizeof image, &image));
    EXPECT(CL_INVALID_SAMPLER, clSetKernelArg(kernel, 1, sizeof image, &image));
    EXPECT(CL_INVALID_ARG_SIZE, clSetKernelArg(kernel, 1, 4, &sampler));
    OK(clSetKernelArg(kernel, 1, sizeof sampler, &sampler));
    CHECK(!clCreateSampler(context, CL_TRUE, 0, CL_FILTER_LINEAR, &error));
    EXPECT(CL_INVALID_VALUE, error);
    OK(clReleaseSampler(sampler));
    EXPECT(CL_INVALID_SAMPLER, clReleaseSampler(sampler));
    OK(clReleaseMemObject(buffer));
    OK(clReleaseMemObject(volume));
    OK(clReleaseMemObject(image));
    OK(clReleaseKernel(kernel));
    OK(clReleaseProgram(program));
}

int main(void)
{
    begin();
    queue = make_queue(0);
    for (int k = 0; k < KINDS; k++) {
        check_transfers(&kinds[k]);
        check_copies(&kinds[k]);
        check_fill_and_map(&kinds[k]);
    }
    check_host_memory();
    check_buffer_image();
    check_queries();
    check_refusals();
    check_wrong_commands();
    check_arguments();
    OK(clReleaseCommandQueue(queue));
    return end();
}
