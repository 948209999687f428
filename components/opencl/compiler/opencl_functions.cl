/* Functions that stand in for those of AMD's device library.
 *
 * Images by addresses: the library's image instructions (__ockl_image_*) are not modelled, so loads
 * and stores do what they do. opencl.bc has OpenCL's functions, which call these.
 *
 * An image argument is the address of a description, which the library of OpenCL has written
 * (api/memory/opencl_image.c). A sampler is its bits, as clang writes them for a literal, in
 * place of an address (opencl_prelude.c). Rules and conversions are those of OpenCL C, "Image
 * addressing and filtering" and "Conversion rules". */
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

/* An image argument, as the host writes it: struct image_words of api/memory/opencl_image.c. */
struct image {
    ulong pixels, slice; /* an address; bytes from slice to slice */
    uint row;            /* bytes from row to row */
    int width, height, depth; /* the last one that an array uses is the count of images */
    uint bytes;               /* size of an element */
    uint order, type;         /* as HSA counts them */
    uchar4 read;              /* where each channel comes from: a component, ZERO or ONE */
    uchar4 write;             /* where each component comes from: a channel */
    uint opaque;              /* the border's fourth channel is 1 */
};
typedef __constant struct image *image;
/* Inlined, the description lies in scalar registers, and a choice by it is a scalar branch. */
#define INLINE static __attribute__((always_inline))

enum { ZERO = 4, ONE = 5 };
enum {
    SNORM8, SNORM16, UNORM8, UNORM16, UNORM24, P555, P565, P101010, INT8, INT16, INT32,
    UINT8, UINT16, UINT32, HALF, FLOAT
};
enum { NORMALIZED = 1, MODE = 14, EDGE = 2, CLAMP = 4, REPEAT = 6, MIRRORED = 8, LINEAR = 32 };

/* ---- elements ---- */

/* c / most, correctly rounded, whatever division the program asked for. */
static float4 divide(float4 c, float most)
{
    float one = 1.0f / most;
    float4 q = c * one;
    return fma(fma(-q, (float4)most, c), (float4)one, q);
}

static __global uchar *address_of(image i, int4 at)
{
    return (__global uchar *)i->pixels + (ulong)(uint)at.z * i->slice
           + (ulong)(uint)at.y * i->row + (ulong)(uint)at.x * i->bytes;
}

static bool is_inside(image i, int4 at)
{
    return (uint)at.x < (uint)i->width && (uint)at.y < (uint)i->height
           && (uint)at.z < (uint)i->depth;
}

/* The components of an element as signed numbers of `bits` bits. */
static int4 split(uint4 raw, uint bits)
{
    if (bits == 32)
        return as_int4(raw);
    if (bits == 16)
        return convert_int4(as_short4(raw.xy));
    return convert_int4(as_char4(raw.x));
}

static uint4 decode(image i, uint4 raw)
{
    uint x = raw.x;
    uint4 packed;
    switch (i->type) {
    case SNORM8: return as_uint4(max(divide(convert_float4(split(raw, 8)), 127.0f), -1.0f));
    case SNORM16: return as_uint4(max(divide(convert_float4(split(raw, 16)), 32767.0f), -1.0f));
    case UNORM8: return as_uint4(divide(convert_float4(split(raw, 8) & 0xff), 255.0f));
    case UNORM16: return as_uint4(divide(convert_float4(split(raw, 16) & 0xffff), 65535.0f));
    case P555:
        packed = (uint4)(x >> 10, x >> 5, x, 0) & 31;
        return as_uint4(divide(convert_float4(packed), 31.0f));
    case P565:
        packed = (uint4)(x >> 11 & 31, x >> 5 & 63, x & 31, 0);
        float4 five = divide(convert_float4(packed), 31.0f);
        return as_uint4((float4)(five.x, divide(convert_float4(packed), 63.0f).y, five.z, 0));
    case P101010:
        packed = (uint4)(x >> 20, x >> 10, x, 0) & 1023;
        return as_uint4(divide(convert_float4(packed), 1023.0f));
    case INT8: return as_uint4(split(raw, 8));
    case INT16: return as_uint4(split(raw, 16));
    case UINT8: return as_uint4(split(raw, 8) & 0xff);
    case UINT16: return as_uint4(split(raw, 16) & 0xffff);
    case HALF: return as_uint4(convert_float4(as_half4(raw.xy)));
    default: return raw;
    }
}

static bool is_integer(image i)
{
    return i->type >= INT8 && i->type <= UINT32;
}

static uint choose(uint4 c, uint one, uint from)
{
    return from == 0   ? c.x
           : from == 1 ? c.y
           : from == 2 ? c.z
           : from == 3 ? c.w
           : from == 4 ? 0
                       : one;
}

/* Most images have all channels, in their order. */
static uint4 arrange(uint4 c, uint one, uchar4 from)
{
    if (as_uint(from) == 0x03020100)
        return c;
    return (uint4)(choose(c, one, from.x), choose(c, one, from.y), choose(c, one, from.z),
                   choose(c, one, from.w));
}

/* Outside of the image, whatever the sampler says, there is the border. */
INLINE float4 fetch(image i, int4 at)
{
    uint one = is_integer(i) ? 1 : as_uint(1.0f);
    uint4 raw = 0;
    if (!is_inside(i, at))
        return as_float4((uint4)(0, 0, 0, i->opaque ? one : 0));
    __global uchar *from = address_of(i, at);
    switch (i->bytes) {
    case 1: raw.x = *from; break;
    case 2: raw.x = *(__global ushort *)from; break;
    case 4: raw.x = *(__global uint *)from; break;
    case 8: raw.xy = *(__global uint2 *)from; break;
    default: raw = *(__global uint4 *)from;
    }
    return as_float4(arrange(decode(i, raw), one, i->read));
}

static uint join16(uint a, uint b)
{
    return (a & 0xffff) | b << 16;
}

static uint4 pack(uint4 c, uint bits)
{
    if (bits == 32)
        return c;
    if (bits == 16)
        return (uint4)(join16(c.x, c.y), join16(c.z, c.w), 0, 0);
    c &= 0xff;
    return (uint4)(c.x | c.y << 8 | c.z << 16 | c.w << 24, 0, 0, 0);
}

static uint4 encode(image i, uint4 c)
{
    float4 f = as_float4(c);
    uint4 p;
    switch (i->type) {
    case SNORM8: return pack(convert_uint4(convert_int4(convert_char4_sat_rte(f * 127.0f))), 8);
    case SNORM16:
        return pack(convert_uint4(convert_int4(convert_short4_sat_rte(f * 32767.0f))), 16);
    case UNORM8: return pack(convert_uint4(convert_uchar4_sat_rte(f * 255.0f)), 8);
    case UNORM16: return pack(convert_uint4(convert_ushort4_sat_rte(f * 65535.0f)), 16);
    case P555:
        p = min(convert_uint4(convert_ushort4_sat_rte(f * 31.0f)), 31u);
        return (uint4)(p.x << 10 | p.y << 5 | p.z, 0, 0, 0);
    case P565:
        p = min(convert_uint4(convert_ushort4_sat_rte(f * (float4)(31.0f, 63.0f, 31.0f, 0.0f))),
                (uint4)(31, 63, 31, 0));
        return (uint4)(p.x << 11 | p.y << 5 | p.z, 0, 0, 0);
    case P101010:
        p = min(convert_uint4(convert_ushort4_sat_rte(f * 1023.0f)), 1023u);
        return (uint4)(p.x << 20 | p.y << 10 | p.z, 0, 0, 0);
    case INT8: return pack(as_uint4(clamp(as_int4(c), -128, 127)), 8);
    case INT16: return pack(as_uint4(clamp(as_int4(c), -32768, 32767)), 16);
    case UINT8: return pack(min(c, 255u), 8);
    case UINT16: return pack(min(c, 65535u), 16);
    case HALF: return (uint4)(as_uint2(convert_half4_rte(f)), 0, 0);
    default: return c;
    }
}

INLINE void store(image i, int4 at, float4 colour)
{
    if (!is_inside(i, at))
        return;
    uint4 raw = encode(i, arrange(as_uint4(colour), 0, i->write));
    __global uchar *to = address_of(i, at);
    switch (i->bytes) {
    case 1: *to = (uchar)raw.x; break;
    case 2: *(__global ushort *)to = (ushort)raw.x; break;
    case 4: *(__global uint *)to = raw.x; break;
    case 8: *(__global uint2 *)to = raw.xy; break;
    default: *(__global uint4 *)to = raw;
    }
}

/* ---- samplers ---- */

/* The two elements that a coordinate lies between, and how near it is to the second. */
struct place {
    int a, b;
    float near;
};

/* Modes that are not named leave what is outside of the image there. */
static struct place locate(uint sampler, float c, int count)
{
    uint mode = sampler & MODE;
    bool linear = sampler & LINEAR;
    float n = (float)count, u = mode == REPEAT         ? (c - floor(c)) * n
                                : mode == MIRRORED     ? fabs(c - 2.0f * rint(0.5f * c)) * n
                                : sampler & NORMALIZED ? c * n
                                                       : c;
    u = clamp(linear ? u - 0.5f : u, -2.0f, n + 1.0f);
    float below = floor(u);
    int a = (int)below, b = a + 1;
    if (mode == REPEAT) {
        a = a < 0 ? a + count : a > count - 1 ? a - count : a;
        b = b > count - 1 ? b - count : b;
    } else if (mode == EDGE || mode == MIRRORED) {
        a = clamp(a, 0, count - 1);
        b = clamp(b, 0, count - 1);
    }
    return (struct place){a, b, u - below};
}

/* The image of an array that is meant is the nearest one that there is. */
static int layer_of(float c, int count)
{
    return (int)clamp(rint(c), 0.0f, (float)(count - 1));
}

INLINE float4 sample(image i, __constant uint *bits, float4 c, int dimensions, bool is_array)
{
    uint sampler = (uint)(ulong)bits;
    struct place x = locate(sampler, c.x, i->width), y = {0}, z = {0};
    if (dimensions > 1)
        y = locate(sampler, c.y, i->height);
    else if (is_array)
        y.a = y.b = layer_of(c.y, i->height);
    if (dimensions > 2)
        z = locate(sampler, c.z, i->depth);
    else if (dimensions > 1 && is_array)
        z.a = z.b = layer_of(c.z, i->depth);
    float4 sum = 0;
#pragma unroll 1
    for (int corner = 0; corner < 1 << dimensions; corner++) {
        bool right = corner & 1, lower = corner & 2, behind = corner & 4;
        float4 one =
            fetch(i, (int4)(right ? x.b : x.a, lower ? y.b : y.a, behind ? z.b : z.a, 0));
        if (!(sampler & LINEAR))
            return one;
        sum += one * (right ? x.near : 1.0f - x.near) * (lower ? y.near : 1.0f - y.near)
               * (behind ? z.near : 1.0f - z.near);
    }
    return sum;
}

/* ---- the device library's functions ---- */

#define WHOLE(c) ((int4)(c, 0, 0, 0))
#define PAIR(c)  ((int4)((c).x, (c).y, 0, 0))
#define ALL(c)   (c)
#define FLOAT_WHOLE(c) ((float4)(c, 0, 0, 0))
#define FLOAT_PAIR(c)  ((float4)((c).x, (c).y, 0, 0))

#define FACTS(kind)                                                                                \
    int __ockl_image_width_##kind(image i) { return i->width; }                                    \
    int __ockl_image_channel_order_##kind(image i) { return (int)i->order; }                       \
    int __ockl_image_channel_data_type_##kind(image i) { return (int)i->type; }
#define ACCESS(kind, place, widen)                                                                 \
    float4 __ockl_image_load_##kind(image i, place at) { return fetch(i, widen(at)); }             \
    half4 __ockl_image_loadh_##kind(image i, place at)                                             \
    {                                                                                              \
        return convert_half4(fetch(i, widen(at)));                                                 \
    }                                                                                              \
    void __ockl_image_store_##kind(image i, place at, float4 c) { store(i, widen(at), c); }        \
    void __ockl_image_storeh_##kind(image i, place at, half4 c)                                    \
    {                                                                                              \
        store(i, widen(at), convert_float4(c));                                                    \
    }                                                                                              \
    FACTS(kind)
#define SAMPLE(kind, place, widen, dimensions, is_array)                                           \
    float4 __ockl_image_sample_##kind(image i, __constant uint *s, place c)                        \
    {                                                                                              \
        return sample(i, s, widen(c), dimensions, is_array);                                       \
    }                                                                                              \
    half4 __ockl_image_sampleh_##kind(image i, __constant uint *s, place c)                        \
    {                                                                                              \
        return convert_half4(sample(i, s, widen(c), dimensions, is_array));                        \
    }

ACCESS(1D, int, WHOLE)
ACCESS(1Da, int2, PAIR)
ACCESS(1Db, int, WHOLE)
ACCESS(2D, int2, PAIR)
ACCESS(2Da, int4, ALL)
ACCESS(3D, int4, ALL)
SAMPLE(1D, float, FLOAT_WHOLE, 1, false)
SAMPLE(1Da, float2, FLOAT_PAIR, 1, true)
SAMPLE(2D, float2, FLOAT_PAIR, 2, false)
SAMPLE(2Da, float4, ALL, 2, true)
SAMPLE(3D, float4, ALL, 3, false)

int __ockl_image_height_2D(image i) { return i->height; }
int __ockl_image_height_2Da(image i) { return i->height; }
int __ockl_image_height_3D(image i) { return i->height; }
int __ockl_image_depth_3D(image i) { return i->depth; }
int __ockl_image_array_size_1Da(image i) { return i->height; }
int __ockl_image_array_size_2Da(image i) { return i->depth; }

/* ---- three halves ---- */

/* The device library loads and stores a fourth one, which may not be there. */
#define STORE(space, n, letter, type, length, rounding)                                            \
    void _Z##length##vstorea_half3##rounding##Dv3_##letter##mPU3AS##n##Dh(type##3 v, ulong i,      \
                                                                          space half *p)           \
    {                                                                                              \
        vstore_half3##rounding(v, 0, p + 4 * i);                                                   \
    }
#define STORES(space, n, letter, type)                                                             \
    STORE(space, n, letter, type, 13, )                                                            \
    STORE(space, n, letter, type, 17, _rte)                                                        \
    STORE(space, n, letter, type, 17, _rtz)                                                        \
    STORE(space, n, letter, type, 17, _rtp)                                                        \
    STORE(space, n, letter, type, 17, _rtn)
#define LOAD(space, n)                                                                             \
    float3 _Z12vloada_half3mPU3AS##n##KDh(ulong i, const space half *p)                            \
    {                                                                                              \
        return vload_half3(0, p + 4 * i);                                                          \
    }
#define ALL_OF(space, n) LOAD(space, n) STORES(space, n, f, float) STORES(space, n, d, double)

ALL_OF(__generic, 0)
ALL_OF(__global, 1)
ALL_OF(__local, 3)
ALL_OF(__private, 5)
LOAD(__constant, 4)
