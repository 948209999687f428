/* Images in kernels: elements of all formats and kinds are read and written, and read between
 * elements with all samplers. A model of the specification's words, in doubles, says what must come
 * out. */
#include "image_model.h"

enum { W = 13, H = 7, D = 5, MOST = W * H * D, PLACES = 256 };

static cl_command_queue queue;
static cl_program program;
static uint64_t state = 1;

static uint32_t any(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 32);
}

/* ---- kernels ---- */

static const char source[] =
    "#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable\n"
    "#define PLACE int4 p = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0); \\\n"
    "  size_t n = p.x + get_global_size(0) * (p.y + get_global_size(1) * p.z);\n"
    "#define X p.x\n"
    "#define XY p.xy\n"
    "#define XYZ p\n"
    "#define READ(kind, at, t) kernel void read_##kind##_##t(read_only kind##_t from, "
    "global uint4 *to) { PLACE to[n] = as_uint4(read_image##t(from, at)); }\n"
    "#define WRITE(kind, at, t, type) kernel void write_##kind##_##t(write_only kind##_t to, "
    "global uint4 *from) { PLACE write_image##t(to, at, as_##type##4(from[n])); }\n"
    "#define BOTH(kind, at) READ(kind, at, f) READ(kind, at, i) READ(kind, at, ui) "
    "WRITE(kind, at, f, float) WRITE(kind, at, i, int) WRITE(kind, at, ui, uint)\n"
    "BOTH(image1d, X) BOTH(image1d_array, XY) BOTH(image1d_buffer, X) BOTH(image2d, XY) "
    "BOTH(image2d_array, XYZ) BOTH(image3d, XYZ)\n"
    "#define SAMPLE(kind, of) kernel void sample_##kind(read_only kind##_t from, sampler_t s, "
    "global float4 *places, global float4 *to) { size_t n = get_global_id(0); "
    "float4 p = places[n]; to[n] = read_imagef(from, s, of); }\n"
    "SAMPLE(image1d, X) SAMPLE(image1d_array, XY) SAMPLE(image2d, XY) SAMPLE(image2d_array, XYZ) "
    "SAMPLE(image3d, XYZ)\n"
    "constant sampler_t mine = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_MIRRORED_REPEAT | "
    "CLK_FILTER_LINEAR;\n"
    "kernel void sample_literal(read_only image2d_t from, sampler_t s, global float4 *places, "
    "global float4 *to) { size_t n = get_global_id(0); "
    "to[n] = read_imagef(from, mine, places[n].xy); }\n"
    "#define FACTS(kind, h, d, a) kernel void facts_##kind(read_only kind##_t of, global int *to) "
    "{ to[0] = get_image_width(of); to[1] = h; to[2] = d; to[3] = a; "
    "to[4] = get_image_channel_order(of); to[5] = get_image_channel_data_type(of); }\n"
    "FACTS(image1d, 0, 0, 0) FACTS(image1d_array, 0, 0, get_image_array_size(of)) "
    "FACTS(image1d_buffer, 0, 0, 0) FACTS(image2d, get_image_dim(of).y, 0, 0) "
    "FACTS(image2d_array, get_image_height(of), 0, get_image_array_size(of)) "
    "FACTS(image3d, get_image_height(of), get_image_depth(of), 0)\n";

static uint8_t random_byte(const struct format *format, size_t place)
{
    uint32_t byte = any();
    /* Floats are neither denormal nor infinite: some targets flush the former. */
    size_t width = (size_t)format->type->bits / 8;
    if (format->type->letter == 'f' && place % width == width - 1)
        byte = (byte & 0x80) | (0x38 + byte % 4);
    return (uint8_t)byte;
}

/* ---- elements ---- */

struct kind {
    cl_mem_object_type type;
    const char *name;
    size_t size[3];
    int dimensions; /* that filters work in */
    int is_array;
};
static const struct kind kinds[] = {
    {CL_MEM_OBJECT_IMAGE1D, "image1d", {W, 1, 1}, 1, 0},
    {CL_MEM_OBJECT_IMAGE1D_ARRAY, "image1d_array", {W, H, 1}, 1, 1},
    {CL_MEM_OBJECT_IMAGE2D, "image2d", {W, H, 1}, 2, 0},
    {CL_MEM_OBJECT_IMAGE2D_ARRAY, "image2d_array", {W, H, D}, 2, 1},
    {CL_MEM_OBJECT_IMAGE3D, "image3d", {W, H, D}, 3, 0},
    {CL_MEM_OBJECT_IMAGE1D_BUFFER, "image1d_buffer", {W, 1, 1}, 1, 0},
};

static size_t count_of(const struct kind *kind)
{
    return kind->size[0] * kind->size[1] * kind->size[2];
}

static cl_mem make_image(const struct kind *kind, const cl_image_format *format, const void *bytes,
                         size_t element)
{
    cl_int error;
    cl_mem buffer = NULL;
    cl_image_desc what = {.image_type = kind->type, .image_width = kind->size[0]};
    what.image_height = kind->type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? 0 : kind->size[1];
    what.image_depth = kind->size[2];
    what.image_array_size = kind->size[kind->dimensions < 3 ? kind->dimensions : 2];
    if (kind->type == CL_MEM_OBJECT_IMAGE1D_BUFFER)
        what.buffer = buffer = make_buffer(count_of(kind) * element, bytes);
    cl_mem image = clCreateImage(context, CL_MEM_READ_WRITE | (buffer ? 0 : CL_MEM_COPY_HOST_PTR),
                                 format, &what, buffer ? NULL : (void *)(uintptr_t)bytes, &error);
    OK(error);
    if (buffer)
        OK(clReleaseMemObject(buffer));
    return image;
}

static cl_kernel kernel_of(const char *action, const struct kind *kind, const char *suffix)
{
    char name[64];
    snprintf(name, sizeof name, "%s_%s%s", action, kind->name, suffix);
    return make_kernel(program, name);
}

static void execute(cl_kernel kernel, cl_mem image, cl_mem buffer, const size_t size[3])
{
    OK(clSetKernelArg(kernel, 0, sizeof image, &image));
    OK(clSetKernelArg(kernel, 1, sizeof buffer, &buffer));
    OK(clEnqueueNDRangeKernel(queue, kernel, 3, NULL, size, NULL, 0, NULL, NULL));
    OK(clReleaseKernel(kernel));
}

static const char *suffix_of(const struct format *format)
{
    return format->type->letter == 'i' ? "_i" : format->type->letter == 'u' ? "_ui" : "_f";
}

static void check_reads(const struct kind *kind, const cl_image_format *name,
                        const struct format *format)
{
    static uint8_t bytes[MOST * 16];
    static uint32_t got[MOST][4];
    size_t count = count_of(kind), wrong = 0;
    for (size_t i = 0; i < count * format->bytes; i++)
        bytes[i] = random_byte(format, i);
    cl_mem image = make_image(kind, name, bytes, format->bytes);
    cl_mem buffer = make_buffer(sizeof got, NULL);
    execute(kernel_of("read", kind, suffix_of(format)), image, buffer, kind->size);
    OK(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, count * sizeof got[0], got, 0, NULL, NULL));
    for (size_t i = 0; i < count; i++) {
        double wanted[4];
        decode(format, bytes + i * format->bytes, wanted);
        for (int c = 0; c < 4; c++) {
            double value = value_of(format, got[i][c]);
            if (is_near(value, wanted[c], fabs(wanted[c]) * ldexp(3, -24)))
                continue;
            if (wrong++ == 0)
                printf("%s %x %x: element %zu channel %d is %g, not %g\n", kind->name,
                       name->image_channel_order, name->image_channel_data_type, i, c, value,
                       wanted[c]);
        }
    }
    CHECK(wrong == 0);
    OK(clReleaseMemObject(image));
    OK(clReleaseMemObject(buffer));
}

/* What is written is read back as bytes, and must be as near to the colour as an element can be. */
static int is_written(const struct format *format, const uint8_t *element, const uint32_t colour[4])
{
    static const char channels[] = "rgba";
    for (int i = 0; i < format->order->components; i++) {
        const char *at = strchr(channels, format->order->letters[i]);
        double wanted = value_of(format, colour[at ? at - channels : 0]), step = 0;
        int bits = format->type->letter == 'p' ? packed_bits(format->type, i) : format->type->bits;
        double most = ldexp(1, bits) - 1, half = ldexp(1, bits - 1);
        switch (format->type->letter) {
        case 'p':
        case 'n':
            wanted = fmin(fmax(wanted, 0), 1);
            step = 0.501 / most;
            break;
        case 's':
            wanted = fmin(fmax(wanted, -1), 1);
            step = 0.501 / (half - 1);
            break;
        case 'u':
            wanted = fmin(wanted, most);
            break;
        case 'i':
            wanted = fmin(fmax(wanted, -half), half - 1);
            break;
        default:
            step = bits == 16 ? fabs(wanted) * ldexp(1, -11) : 0;
        }
        double got = component_value(format, raw_component(format, element, i), i);
        if (!is_near(got, wanted, step))
            return 0;
    }
    return 1;
}

static void check_writes(const struct kind *kind, const cl_image_format *name,
                         const struct format *format)
{
    static uint8_t bytes[MOST * 16];
    static uint32_t colours[MOST][4];
    size_t count = count_of(kind), wrong = 0;
    const size_t origin[3] = {0};
    memset(bytes, 0, sizeof bytes);
    for (size_t i = 0; i < count * 4; i++) {
        float real = (float)((int32_t)any() / 1.5e9);
        memcpy(&colours[i / 4][i % 4], &real, sizeof real);
        if (is_integer(format))
            colours[i / 4][i % 4] = any() >> any() % 32;
    }
    cl_mem image = make_image(kind, name, bytes, format->bytes);
    cl_mem buffer = make_buffer(sizeof colours, colours);
    execute(kernel_of("write", kind, suffix_of(format)), image, buffer, kind->size);
    OK(clEnqueueReadImage(queue, image, CL_TRUE, origin, kind->size, 0, 0, bytes, 0, NULL, NULL));
    for (size_t i = 0; i < count; i++) {
        if (!is_written(format, bytes + i * format->bytes, colours[i]) && wrong++ == 0)
            printf("%s %x %x: element %zu is not as it was written\n", kind->name,
                   name->image_channel_order, name->image_channel_data_type, i);
    }
    CHECK(wrong == 0);
    OK(clReleaseMemObject(image));
    OK(clReleaseMemObject(buffer));
}

static void check_formats(void)
{
    cl_image_format list[256];
    cl_uint count, known = 0;
    OK(clGetSupportedImageFormats(context, CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE2D, 256, list,
                                  &count));
    for (cl_uint i = 0; i < count && i < 256; i++) {
        struct format format;
        if (!find_format(&list[i], &format))
            continue;
        known++;
        check_reads(&kinds[2], &list[i], &format);
        check_writes(&kinds[2], &list[i], &format);
    }
    CHECK(known >= 11); /* what OpenCL 1.2 asks for */
}

static void check_kinds(void)
{
    static const cl_image_format names[] = {
        {CL_RGBA, CL_UNORM_INT8}, {CL_RGBA, CL_SIGNED_INT16}, {CL_RGBA, CL_UNSIGNED_INT32}};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        for (int f = 0; f < 3; f++) {
            struct format format;
            find_format(&names[f], &format);
            check_reads(&kinds[k], &names[f], &format);
            check_writes(&kinds[k], &names[f], &format);
        }
}

static void check_facts(void)
{
    static const cl_image_format name = {CL_BGRA, CL_UNORM_INT8};
    static const uint8_t bytes[MOST * 4];
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        const struct kind *kind = &kinds[k];
        int got[6], array = kind->is_array ? (int)kind->size[kind->dimensions] : 0;
        cl_mem image = make_image(kind, &name, bytes, 4), buffer = make_buffer(sizeof got, NULL);
        execute(kernel_of("facts", kind, ""), image, buffer, (const size_t[3]){1, 1, 1});
        OK(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL));
        CHECK(got[0] == W && got[1] == (kind->dimensions > 1 ? H : 0)
              && got[2] == (kind->dimensions > 2 ? D : 0) && got[3] == array && got[4] == CL_BGRA
              && got[5] == CL_UNORM_INT8);
        OK(clReleaseMemObject(image));
        OK(clReleaseMemObject(buffer));
    }
}

/* ---- samplers ---- */

struct sampling {
    cl_bool normalized;
    cl_addressing_mode mode;
    cl_filter_mode filter;
};

/* The elements that a coordinate lies between, and how near the second is. */
static double locate(const struct sampling *how, double c, int n, int at[2])
{
    int linear = how->filter == CL_FILTER_LINEAR;
    double u = how->normalized ? c * n : c, near;
    if (how->mode == CL_ADDRESS_REPEAT)
        u = (c - floor(c)) * n;
    if (how->mode == CL_ADDRESS_MIRRORED_REPEAT)
        u = fabs(c - 2 * rint(0.5 * c)) * n;
    u -= linear ? 0.5 : 0;
    near = linear ? u - floor(u) : 0;
    at[0] = (int)floor(u);
    at[1] = at[0] + 1;
    for (int i = 0; i < 2; i++)
        if (how->mode == CL_ADDRESS_REPEAT)
            at[i] = (at[i] + n) % n;
        else if (how->mode != CL_ADDRESS_CLAMP)
            at[i] = at[i] < 0 ? 0 : at[i] > n - 1 ? n - 1 : at[i];
    return near;
}

static void sample(const struct kind *kind, const struct sampling *how, const float place[4],
                   const uint8_t *bytes, const struct format *format, double colour[4])
{
    int at[3][2] = {{0}};
    double near[3] = {0};
    for (int i = 0; i < 3; i++) {
        int n = (int)kind->size[i];
        double layer = fmin(fmax(rint(place[i]), 0), n - 1);
        if (i < kind->dimensions)
            near[i] = locate(how, place[i], n, at[i]);
        else if (i == kind->dimensions && kind->is_array)
            at[i][0] = at[i][1] = (int)layer;
    }
    colour[0] = colour[1] = colour[2] = colour[3] = 0;
    for (int corner = 0; corner < 8; corner++) {
        double weight = 1, element[4] = {0, 0, 0, format->order->opaque};
        size_t index = 0;
        int inside = 1;
        for (int i = 2; i >= 0; i--) {
            int second = corner >> i & 1, x = at[i][second], n = (int)kind->size[i];
            weight *= second ? near[i] : 1 - near[i];
            inside = inside && x >= 0 && x < n;
            index = index * (size_t)n + (size_t)x;
        }
        if (inside)
            decode(format, bytes + index * format->bytes, element);
        for (int c = 0; c < 4 && weight > 0; c++)
            colour[c] += weight * element[c];
    }
}

/* Sixteenths and not quite: no place is so near to an edge that a rounding decides. */
static void choose_places(const struct kind *kind, const struct sampling *how,
                          float places[PLACES][4])
{
    for (int p = 0; p < PLACES; p++)
        for (int i = 0; i < 4; i++) {
            double n = i < 3 ? (double)kind->size[i] : 1;
            double u = any() % 1024 / 1024.0 * (3 * n) - n;
            u = floor(u * 16) / 16 + 0.03;
            places[p][i] = (float)(how->normalized && i < kind->dimensions ? u / n : u);
        }
}

static void check_sampling(const struct kind *kind, const struct sampling *how,
                           const cl_image_format *name, const char *kernel_name)
{
    static uint8_t bytes[MOST * 16];
    float places[PLACES][4], got[PLACES][4];
    struct format format;
    cl_int error;
    size_t wrong = 0, count = PLACES;
    find_format(name, &format);
    for (size_t i = 0; i < count_of(kind) * format.bytes; i++)
        bytes[i] = random_byte(&format, i);
    choose_places(kind, how, places);
    cl_mem image = make_image(kind, name, bytes, format.bytes);
    cl_mem in = make_buffer(sizeof places, places), out = make_buffer(sizeof got, NULL);
    cl_sampler sampler = clCreateSampler(context, how->normalized, how->mode, how->filter, &error);
    OK(error);
    cl_kernel kernel =
        kernel_name ? make_kernel(program, kernel_name) : kernel_of("sample", kind, "");
    OK(clSetKernelArg(kernel, 0, sizeof image, &image));
    OK(clSetKernelArg(kernel, 1, sizeof sampler, &sampler));
    OK(clSetKernelArg(kernel, 2, sizeof in, &in));
    OK(clSetKernelArg(kernel, 3, sizeof out, &out));
    OK(clReleaseSampler(sampler));
    OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &count, NULL, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL));
    for (int p = 0; p < PLACES; p++) {
        double wanted[4];
        sample(kind, how, places[p], bytes, &format, wanted);
        for (int c = 0; c < 4; c++)
            if (!is_near(got[p][c], wanted[c], 1e-4) && wrong++ == 0)
                printf("%s mode %x filter %x normalized %u: (%g %g %g) channel %d is %g, not %g\n",
                       kind->name, how->mode, how->filter, how->normalized, places[p][0],
                       places[p][1], places[p][2], c, got[p][c], wanted[c]);
    }
    CHECK(wrong == 0);
    OK(clReleaseKernel(kernel));
    OK(clReleaseMemObject(image));
    OK(clReleaseMemObject(in));
    OK(clReleaseMemObject(out));
}

static void check_samplers(void)
{
    static const cl_addressing_mode modes[] = {CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_CLAMP,
                                               CL_ADDRESS_REPEAT, CL_ADDRESS_MIRRORED_REPEAT};
    static const cl_image_format names[] = {{CL_RGBA, CL_UNORM_INT8}, {CL_R, CL_FLOAT}};
    for (size_t k = 0; k + 1 < sizeof kinds / sizeof kinds[0]; k++)
        for (int mode = 0; mode < 4; mode++)
            for (int filter = 0; filter < 2; filter++)
                for (int normalized = mode > 1; normalized < 2; normalized++)
                    check_sampling(
                        &kinds[k],
                        &(struct sampling){(cl_bool)normalized, modes[mode],
                                           filter ? CL_FILTER_LINEAR : CL_FILTER_NEAREST},
                        &names[mode & 1], NULL);
    check_sampling(&kinds[2],
                   &(struct sampling){CL_TRUE, CL_ADDRESS_MIRRORED_REPEAT, CL_FILTER_LINEAR},
                   &names[0], "sample_literal");
}

int main(void)
{
    begin();
    queue = make_queue(0);
    program = make_program(source, "-cl-std=CL1.2");
    check_formats();
    check_kinds();
    check_facts();
    check_samplers();
    OK(clReleaseProgram(program));
    OK(clReleaseCommandQueue(queue));
    return end();
}
