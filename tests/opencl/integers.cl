/*
 * Integer operators and built-in functions of every width: what they give is exact.
 *
 * The device library takes abs_diff of signed numbers for a difference that does not overflow, so
 * that clang 19 may take it for the distance from 0: it is given numbers that keep to that.
 */
#include "prelude.h"

#define INTEGERS(type, unsigned_type)                                                              \
    kernel void integers_##type(global const type *as, global const type *bs,                      \
                                global const type *cs, global type *out)                           \
    {                                                                                              \
        size_t i = get_global_id(0);                                                               \
        type a = as[i], b = bs[i], c = cs[i], low = min(b, c), high = max(b, c);                   \
        type divisor = b == (type)0 || b == (type)-1 ? (type)7 : b;                                \
        int put = 0;                                                                               \
        PUT((type)(a + b));                                                                        \
        PUT((type)(a - b));                                                                        \
        PUT((type)(a * b));                                                                        \
        PUT((type)(a / divisor));                                                                  \
        PUT((type)(a % divisor));                                                                  \
        PUT((type)(a << (b & (type)(sizeof(type) * 8 - 1))));                                      \
        PUT((type)(a >> (b & (type)(sizeof(type) * 8 - 1))));                                      \
        PUT((type)((a & b) | (~a ^ c)));                                                           \
        PUT((type)abs(a));                                                                         \
        PUT((type)abs_diff((type)(a >> 1), (type)(b >> 1)));                                       \
        PUT(add_sat(a, b));                                                                        \
        PUT(sub_sat(a, b));                                                                        \
        PUT(hadd(a, b));                                                                           \
        PUT(rhadd(a, b));                                                                          \
        PUT(clamp(a, low, high));                                                                  \
        PUT(clz(a));                                                                               \
        PUT(popcount(a));                                                                          \
        PUT(mul_hi(a, b));                                                                         \
        PUT(mad_hi(a, b, c));                                                                      \
        PUT(mad_sat(a, b, c));                                                                     \
        PUT(rotate(a, b));                                                                         \
        PUT(bitselect(a, b, c));                                                                   \
        PUT((type)(a < b) | (type)((a == b) << 1) | (type)((a >= c) << 2));                        \
        PUT(a > b ? (type)(a * c) : (type)(b - c));                                                \
    }

INTEGERS(char, uchar)
INTEGERS(uchar, uchar)
INTEGERS(short, ushort)
INTEGERS(ushort, ushort)
INTEGERS(int, uint)
INTEGERS(uint, uint)
INTEGERS(long, ulong)
INTEGERS(ulong, ulong)

kernel void integers_wide(global const int *as, global const uint *bs, global const short *cs,
                          global long *out)
{
    size_t i = get_global_id(0);
    int a = as[i], small = (a << 8) >> 8;
    uint b = bs[i];
    short c = cs[i];
    int put = 0;
    PUT(mul24(small, (int)c));
    PUT(mad24(small, (int)c, a));
    PUT(mul24(b & 0xffffff, (uint)(ushort)c));
    PUT(mad24(b & 0xffffff, (uint)(ushort)c, b));
    PUT((long)a * (int)b);
    PUT((long)((ulong)(uint)a * b));
    PUT(upsample(a, b));
    PUT(upsample(c, (ushort)b));
    PUT(upsample((char)a, (uchar)b));
    PUT((long)upsample(b, (uint)a));
    PUT((char)a + (short)b - c);
    PUT((uchar)a * (ushort)b);
    PUT((long)(((ulong)b << 32 | (uint)a) % ((ulong)(ushort)c + 1)));
    PUT((long)(((ulong)b << 32 | (uint)a) / ((ulong)(uint)(a | 1))));
    PUT(((long)a << 20 ^ b) / (c | 1));
    PUT(as_int(as_float(a)) ^ as_short2(b).x);
}

kernel void integers_vectors(global const int4 *as, global const uint4 *bs, global int4 *out)
{
    size_t i = get_global_id(0);
    int4 a = as[i];
    uint4 b = bs[i];
    int put = 0;
    PUT(a + as_int4(b));
    PUT(a * a.wzyx - convert_int4(b >> 3));
    PUT(as_int4(rotate(b, (uint4)(1, 31, 7, 16))));
    PUT(add_sat(a, a.yzwx));
    PUT(mul_hi(a, (int4)(77777777, -5, 1 << 30, 3)));
    PUT(as_int4(max(b, b.yxwz)));
    PUT(a < a.yzwx);
    PUT(select(a, as_int4(b), a > 0));
    PUT((int4)(any(a < 0), all(a < 0), any(as_int4(b)), all(as_int4(b) >= 0)));
    PUT(as_int4(as_uchar16(a).s84c0f3d29716ae5b));
    PUT(as_int4(hadd(as_short8(a), as_short8(b))));
    PUT(as_int4(abs_diff(as_char16(a), as_char16(b))));
    PUT(as_int4(sub_sat(as_uchar16(a), as_uchar16(b))));
    PUT(as_int4(as_ulong2(a) * as_ulong2(b)));
    PUT(as_int4(mul_hi(as_ulong2(a), as_ulong2(b))));
    PUT((int4)(popcount(a.xy), convert_int2(clz(b.zw))));
}
