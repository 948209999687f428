/* Kernels that mean the same to a GPU and to the host: corpus_*.cpp are compiled for
 * both.
 *
 * KERNEL(name) is followed by the body of one work-item: x holds its 8 words of input, y is for its
 * 8 words of output, i is its number. GROUP(name) is followed by the body of a work-item that
 * works together with the others of its wavefront, on the device; HOST_GROUP(name) by what all 64
 * of them leave, on the host, where x and y hold 64 times 8 words. No library is used: what is
 * tested is code that a compiler makes by itself. */
#ifndef HEDDLE_TESTS_COMPONENTS_AMD_ISA_CORPUS_CORPUS_H
#define HEDDLE_TESTS_COMPONENTS_AMD_ISA_CORPUS_CORPUS_H

typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned u32;
typedef long long i64;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;
typedef _Float16 f16;

#ifdef __AMDGCN__
#define FN     static __attribute__((device))
#define TABLE  static __attribute__((device)) const
#define SHARED static __attribute__((shared))
#define LANE   (__builtin_amdgcn_workitem_id_x())
#define KERNEL(name)                                                                               \
    FN void name##_item(const u32 *x, u32 *y, u32 i);                                              \
    extern "C" __attribute__((global)) void name(const u32 *in, u32 *out)                          \
    {                                                                                              \
        u32 i = __builtin_amdgcn_workgroup_id_x() * 64 + LANE;                                     \
        name##_item(in + 8 * i, out + 8 * i, i);                                                   \
    }                                                                                              \
    FN void name##_item(const u32 *x, u32 *y, u32 i)
#define GROUP(name)                                                                                \
    FN void name##_lane(const u32 *x, u32 *y, u32 lane);                                           \
    extern "C" __attribute__((global)) void name(const u32 *in, u32 *out)                          \
    {                                                                                              \
        u32 first = __builtin_amdgcn_workgroup_id_x() * 64 * 8;                                    \
        name##_lane(in + first, out + first, LANE);                                                \
    }                                                                                              \
    FN void name##_lane(const u32 *x, u32 *y, u32 lane)
#else
#define FN    static
#define TABLE static const
#define KERNEL(name)                                                                               \
    FN void name##_item(const u32 *x, u32 *y, u32 i);                                              \
    extern "C" void name(const u32 *in, u32 *out, u32 items)                                       \
    {                                                                                              \
        for (u32 i = 0; i < items; i++)                                                            \
            name##_item(in + 8 * i, out + 8 * i, i);                                               \
    }                                                                                              \
    FN void name##_item(const u32 *x, u32 *y, u32 i)
#define HOST_GROUP(name)                                                                           \
    FN void name##_group(const u32 *x, u32 *y);                                                    \
    extern "C" void name(const u32 *in, u32 *out, u32 items)                                       \
    {                                                                                              \
        for (u32 first = 0; first < items; first += 64)                                            \
            name##_group(in + 8 * first, out + 8 * first);                                         \
    }                                                                                              \
    FN void name##_group(const u32 *x, u32 *y)
#endif

#define NOINLINE __attribute__((noinline))

/* Values of other types from words of input, and words from them. */
FN inline u64 wide(const u32 *x)
{
    return x[0] | (u64)x[1] << 32;
}
FN inline void put_wide(u32 *y, u64 v)
{
    y[0] = (u32)v;
    y[1] = (u32)(v >> 32);
}
FN inline u32 bits(f32 v)
{
    u32 out;
    __builtin_memcpy(&out, &v, 4);
    return out;
}
FN inline void put_double(u32 *y, f64 v)
{
    u64 out;
    __builtin_memcpy(&out, &v, 8);
    put_wide(y, out);
}
/* Within +-2^15, no denormals: gfx803 flushes those of 32 bits. */
FN inline f32 real(u32 x)
{
    return (f32)((i32)x >> 8) * 0.00390625f;
}
FN inline f64 real64(u32 x)
{
    return (f64)(i32)x * 0.0001220703125;
}
FN inline u32 half_bits(f16 v)
{
    u16 out;
    __builtin_memcpy(&out, &v, 2);
    return out;
}
FN inline f16 half(u32 x)
{
    return (f16)((f32)((i32)x >> 20) * 0.03125f);
}

#endif
