/* Vectors: swizzles, shuffles, loads and stores, conversions with rounding and saturation. */
#include "prelude.h"

kernel void vectors_shuffled(global const uint4 *as, global const uint4 *masks, global uint4 *out)
{
    size_t i = get_global_id(0);
    uint4 a = as[i], mask = masks[i];
    uint8 wide = (uint8)(a, mask);
    uchar16 bytes = as_uchar16(a);
    int put = 0;
    PUT(shuffle(a, mask));
    PUT(shuffle2(a, a * 3, mask));
    PUT(shuffle(wide, mask));
    PUT(as_uint4(shuffle(bytes, as_uchar16(mask))));
    PUT(as_uint4(shuffle2(as_ushort8(a), as_ushort8(mask), as_ushort8(mask * 5))));
    PUT(wide.even + wide.odd);
    PUT((uint4)(wide.lo.hi, wide.hi.lo));
    uint4 moved = a;
    moved.zx = a.yw;
    moved.s3 += mask.s0;
    PUT(moved);
}

kernel void vectors_stored(global const uchar *in, global const int *wheres, global uchar *out)
{
    size_t i = get_global_id(0);
    int where = wheres[i] & 3;
    global const uchar *from = in + i * 64;
    global uchar *to = out + i * 128;
    vstore2(vload2(where, from + 1), 0, to);
    vstore3(vload3(where, from), 1, to);
    vstore4(vload4(where, from + 3), 2, to);
    vstore8(vload8(where, from + 5), 2, to);
    vstore16(vload16(where, from), 2, to);
    vstore3(vload3(where, (global const short *)from), 8, (global short *)to);
    vstore4(vload4(where, (global const short *)from), 8, (global short *)to);
    vstore2(vload2(where, (global const int *)from), 9, (global int *)to);
    vstore3(vload3(where, (global const int *)from), 7, (global int *)to);
    vstore2(vload2(where & 1, (global const long *)from), 6, (global long *)to);
    uchar3 last = vload3(20, from);
    vstore4((uchar4)(last, 9), 28, to);
}

/* NaN becomes 0 here, because the device library saturates it to the smallest number. */
#define TO_INTEGERS(name, type, source)                                                            \
    kernel void convert_##name(global const source *in, global type *out)                          \
    {                                                                                              \
        source a = isnan(in[get_global_id(0)]) ? 0 : in[get_global_id(0)];                         \
        int put = 0;                                                                               \
        PUT(convert_##type##_sat(a));                                                              \
        PUT(convert_##type##_sat_rte(a));                                                          \
        PUT(convert_##type##_sat_rtz(a));                                                          \
        PUT(convert_##type##_sat_rtp(a));                                                          \
        PUT(convert_##type##_sat_rtn(a));                                                          \
    }

TO_INTEGERS(float_char, char, float)
TO_INTEGERS(float_ushort, ushort, float)
TO_INTEGERS(float_int, int, float)
TO_INTEGERS(float_uint, uint, float)
TO_INTEGERS(float_long, long, float)
TO_INTEGERS(double_int, int, double)
TO_INTEGERS(double_ulong, ulong, double)
TO_INTEGERS(double_uchar, uchar, double)

kernel void convert_saturated(global const long *in, global long *out)
{
    long a = in[get_global_id(0)];
    int put = 0;
    PUT(convert_char_sat(a));
    PUT(convert_uchar_sat(a));
    PUT(convert_short_sat(a));
    PUT(convert_ushort_sat((int)a));
    PUT(convert_int_sat(a));
    PUT((long)convert_uint_sat(a));
    PUT((long)convert_ulong_sat(a));
    PUT(convert_long_sat((ulong)a));
    PUT(convert_int_sat((uint)a));
    PUT(as_long(convert_short4_sat(as_int4((long2)(a, ~a)))));
    PUT(as_long(convert_uchar8_sat(as_short8((long2)(a, a >> 3)))));
    PUT(convert_char(a) + convert_ushort(a));
}

kernel void convert_to_float(global const long *in, global const ulong *positives, global float *out)
{
    long a = in[get_global_id(0)];
    ulong b = positives[get_global_id(0)];
    int put = 0;
    PUT(convert_float((int)a));
    PUT(convert_float((uint)b));
    PUT(convert_float(a));
    PUT(convert_float(b));
    PUT(convert_float_rtz((int)a));
    PUT(convert_float_rtp((int)a));
    PUT(convert_float_rtn((int)a));
    PUT(convert_float_rtz((uint)b));
    PUT(convert_float_rtp(b));
    PUT(convert_float_rtn(a));
    PUT(convert_float((short)a));
    PUT(convert_float((uchar)b));
}

kernel void convert_to_double(global const long *in, global const float *floats, global double *out)
{
    long a = in[get_global_id(0)];
    float b = floats[get_global_id(0)];
    int put = 0;
    PUT(convert_double((int)a));
    PUT(convert_double((uint)a));
    PUT(convert_double(a));
    PUT(convert_double((ulong)a));
    PUT(convert_double_rtz(a));
    PUT(convert_double_rtp((ulong)a));
    PUT(convert_double_rtn(a));
    PUT(convert_double(b));
    PUT((double)(float)a);
}

kernel void convert_narrowed(global const double *in, global float *out)
{
    double a = in[get_global_id(0)];
    int put = 0;
    PUT(convert_float(a));
    PUT(convert_float_rtz(a));
    PUT(convert_float_rtp(a));
    PUT(convert_float_rtn(a));
}

kernel void convert_halves(global const float *in, global const ushort *halves, global ushort *out,
                           global float *floats)
{
    size_t i = get_global_id(0), n = get_global_size(0);
    float a = in[i];
    global half *to = (global half *)out;
    vstore_half(a, i, to);
    vstore_half_rtz(a, n + i, to);
    vstore_half_rtp(a, 2 * n + i, to);
    vstore_half_rtn(a, 3 * n + i, to);
    vstore_half2((float2)(a, -a), 2 * n + i, to);
    vstore_half4_rtz((float4)(a, -a, a * 3, 1), (6 * n) / 4 + i, to);
    vstore_half((double)a, 10 * n + i, to);
    floats[i] = vload_half(i, (const global half *)halves);
    float2 two = vload_half2(i / 2, (const global half *)halves);
    floats[n + i] = i & 1 ? two.y : two.x;
}
