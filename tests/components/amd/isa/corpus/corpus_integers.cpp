/* corpus_integers.cpp - arithmetic on integers of all widths, and tricks with their bits. */
#include "corpus.h"

/* ---- every width ---- */

#define EACH_TYPE(X)                                                                               \
    X(i8, u8, 8)                                                                                   \
    X(u8, u8, 8)                                                                                   \
    X(i16, u16, 16)                                                                                \
    X(u16, u16, 16)                                                                                \
    X(i32, u32, 32)                                                                                \
    X(u32, u32, 32)                                                                                \
    X(i64, u64, 64)                                                                                \
    X(u64, u64, 64)

#define DIVIDE(T, U, BITS)                                                                         \
    KERNEL(divide_##T)                                                                             \
    {                                                                                              \
        T a = (T)wide(x), b = (T)(wide(x + 2) >> (i % 3 * BITS / 4));                              \
        b = b == 0 || b == (T)-1 ? (T)3 : b;                                                       \
        put_wide(y, (u64)(a / b));                                                                 \
        put_wide(y + 2, (u64)(a % b));                                                             \
        put_wide(y + 4, (u64)(a / (T)7));                                                          \
        put_wide(y + 6, (u64)(a % (T)10));                                                         \
    }
#define SHIFT(T, U, BITS)                                                                          \
    KERNEL(shift_##T)                                                                              \
    {                                                                                              \
        T a = (T)wide(x);                                                                          \
        u32 n = x[2] % BITS, m = (BITS - n) % BITS;                                                \
        put_wide(y, (u64)(T)((U)a << n));                                                          \
        put_wide(y + 2, (u64)(T)(a >> n));                                                         \
        put_wide(y + 4, (u64)(U)((U)((U)a << n) | (U)((U)a >> m)));                                \
        put_wide(y + 6, (u64)(T)((a >> 3) ^ (T)((U)a << 2)));                                      \
    }
#define SATURATE(T, U, BITS)                                                                       \
    KERNEL(saturate_##T)                                                                           \
    {                                                                                              \
        T a = (T)wide(x), b = (T)wide(x + 2), c;                                                   \
        put_wide(y, (u64)(T)__builtin_elementwise_add_sat(a, b));                                  \
        put_wide(y + 2, (u64)(T)__builtin_elementwise_sub_sat(a, b));                              \
        y[4] = __builtin_add_overflow(a, b, &c) + 2 * __builtin_sub_overflow(a, b, &c);            \
        y[5] = (u32)(u64)c;                                                                        \
        y[6] = (u32)(u64)(T)__builtin_elementwise_max(a, b);                                       \
        y[7] = (u32)(u64)(T)__builtin_elementwise_min(a, b);                                       \
    }
#define MULTIPLY(T, U, BITS)                                                                       \
    KERNEL(multiply_##T)                                                                           \
    {                                                                                              \
        T a = (T)wide(x), b = (T)wide(x + 2), c = (T)wide(x + 4);                                  \
        put_wide(y, (u64)(T)((u64)a * (u64)b));                                                    \
        put_wide(y + 2, (u64)(T)((u64)a * (u64)b + (u64)c));                                       \
        put_wide(y + 4, (u64)(T)((u64)a * 10u - (u64)c));                                          \
        put_wide(y + 6, a < b ? (u64)(T)(a ^ c) : (u64)(T)~c);                                     \
    }
EACH_TYPE(DIVIDE)
EACH_TYPE(SHIFT)
EACH_TYPE(SATURATE)
EACH_TYPE(MULTIPLY)

/* ---- wider than a register ---- */

__extension__ typedef unsigned __int128 u128;

KERNEL(multiply_128)
{
    u128 product = (u128)wide(x) * wide(x + 2);
    put_wide(y, (u64)product);
    put_wide(y + 2, (u64)(product >> 64));
    __extension__ typedef __int128 i128;
    put_wide(y + 4, (u64)(((i128)(i64)wide(x) * (i64)wide(x + 4)) >> 64));
    y[6] = y[7] = 0;
}

KERNEL(shift_128)
{
    u128 v = (u128)wide(x) << 64 | wide(x + 2);
    u32 n = x[4] % 128;
    put_wide(y, (u64)(v << n));
    put_wide(y + 2, (u64)((v << n) >> 64));
    put_wide(y + 4, (u64)(v >> n));
    put_wide(y + 6, (u64)((v >> n) >> 64));
}

KERNEL(carries)
{
    u128 a = (u128)wide(x) << 64 | wide(x + 2), b = (u128)wide(x + 4) << 64 | wide(x + 6);
    u128 sum = a + b, difference = a - b;
    put_wide(y, (u64)sum);
    put_wide(y + 2, (u64)(sum >> 64));
    put_wide(y + 4, (u64)difference);
    put_wide(y + 6, (u64)(difference >> 64));
}

KERNEL(overflow_multiply)
{
    i32 a, c = (i32)x[0], d = (i32)x[1] >> 14;
    u64 b;
    i64 e;
    y[0] = __builtin_mul_overflow(c, d, &a);
    y[1] = (u32)a;
    y[2] = __builtin_mul_overflow(wide(x) >> 20, wide(x + 2) >> 30, &b);
    put_wide(y + 3, b);
    y[5] = __builtin_sub_overflow((i64)wide(x), (i64)wide(x + 4), &e);
    put_wide(y + 6, (u64)e);
}

/* ---- bits ---- */

KERNEL(counts)
{
    u64 v = wide(x);
    y[0] = __builtin_popcount(x[0]);
    y[1] = __builtin_popcountll(v);
    y[2] = x[0] ? __builtin_clz(x[0]) : 32;
    y[3] = v ? __builtin_clzll(v) : 64;
    y[4] = x[0] ? __builtin_ctz(x[0]) : 32;
    y[5] = v ? __builtin_ctzll(v) : 64;
    y[6] = __builtin_parity(x[0]) + 2 * __builtin_parityll(v);
    y[7] = __builtin_ffs((i32)x[0]) + 100 * __builtin_ffsll((i64)v);
}

KERNEL(reversals)
{
    y[0] = __builtin_bitreverse32(x[0]);
    put_wide(y + 1, __builtin_bitreverse64(wide(x)));
    y[3] = __builtin_bswap32(x[0]);
    put_wide(y + 4, __builtin_bswap64(wide(x)));
    y[6] = __builtin_bswap16((u16)x[0]) | (u32)__builtin_bitreverse16((u16)x[1]) << 16;
    y[7] = __builtin_bitreverse8((u8)x[0]);
}

KERNEL(rotations)
{
    y[0] = __builtin_rotateleft32(x[0], x[1]);
    y[1] = __builtin_rotateright32(x[0], x[1]);
    put_wide(y + 2, __builtin_rotateleft64(wide(x), x[2]));
    put_wide(y + 4, __builtin_rotateright64(wide(x), x[2]));
    y[6] = __builtin_rotateleft16((u16)x[0], (u16)x[1]);
    y[7] = __builtin_rotateright8((u8)x[0], (u8)x[1]);
}

KERNEL(fields)
{
    struct {
        u32 a : 3, b : 7, c : 11, d : 11;
        i32 e : 5, f : 13, g : 14;
        u64 h : 33, k : 31;
    } s = {};
    s.a = x[0], s.b = x[1], s.c = x[2], s.d = x[3];
    s.e = (i32)x[4], s.f = (i32)x[5], s.g = (i32)x[6];
    s.h = wide(x), s.k = x[7];
    s.c += s.b;
    s.f -= s.e;
    s.h *= 3;
    y[0] = s.a, y[1] = s.b, y[2] = s.c, y[3] = s.d;
    y[4] = (u32)s.e, y[5] = (u32)s.f, y[6] = (u32)s.g, y[7] = (u32)(s.h >> 20) ^ (u32)s.k;
}

KERNEL(interleave)
{
    u32 a = x[0] & 0xffff, b = x[1] & 0xffff;
    a = (a | a << 8) & 0xff00ff, a = (a | a << 4) & 0xf0f0f0f, a = (a | a << 2) & 0x33333333;
    b = (b | b << 8) & 0xff00ff, b = (b | b << 4) & 0xf0f0f0f, b = (b | b << 2) & 0x33333333;
    y[0] = ((a | a << 1) & 0x55555555) | ((b | b << 1) & 0x55555555) << 1;
    y[1] = x[2] ^ x[2] >> 1; /* Gray code */
    u32 g = y[1];
    for (u32 shift = 16; shift; shift >>= 1)
        g ^= g >> shift;
    y[2] = g;
    y[3] = (x[0] & x[1]) | (~x[0] & x[2]);
    y[4] = (x[0] & x[1]) ^ (x[0] & x[2]) ^ (x[1] & x[2]);
    y[5] = x[0] & -x[0];
    y[6] = (x[0] | x[1]) - ((x[0] ^ x[1]) >> 1);
    y[7] = ((x[3] >> 5) & 0x7f) | (x[4] << 3 & 0xf80);
}

/* An 8 x 8 matrix of bits, turned. */
KERNEL(bit_matrix)
{
    u64 v = wide(x), t;
    t = (v ^ v >> 7) & 0x00aa00aa00aa00aaull, v ^= t ^ t << 7;
    t = (v ^ v >> 14) & 0x0000cccc0000ccccull, v ^= t ^ t << 14;
    t = (v ^ v >> 28) & 0x00000000f0f0f0f0ull, v ^= t ^ t << 28;
    put_wide(y, v);
    u32 out[6] = {};
    for (int row = 0; row < 8; row++)
        for (int column = 0; column < 8; column++)
            out[row % 6] += (u32)(v >> (8 * row + column) & 1) << column;
    for (int k = 0; k < 6; k++)
        y[2 + k] = out[k];
}

/* ---- bytes and halves of words ---- */

typedef u8 u8x4 __attribute__((ext_vector_type(4)));
typedef i8 i8x4 __attribute__((ext_vector_type(4)));
typedef u16 u16x2 __attribute__((ext_vector_type(2)));
typedef i16 i16x2 __attribute__((ext_vector_type(2)));
typedef i16 i16x4 __attribute__((ext_vector_type(4)));

template <class T> FN T as(u32 v)
{
    T out;
    __builtin_memcpy(&out, &v, 4);
    return out;
}
template <class T> FN u32 word(T v)
{
    u32 out;
    __builtin_memcpy(&out, &v, 4);
    return out;
}

KERNEL(packed_bytes)
{
    u8x4 a = as<u8x4>(x[0]), b = as<u8x4>(x[1]);
    y[0] = word<u8x4>(a + b);
    y[1] = word<u8x4>(a - b);
    y[2] = word<u8x4>(a * b);
    y[3] = word<u8x4>(a >> (u8x4)3);
    y[4] = word<u8x4>(a ^ b.wzyx);
    y[5] = word<u8x4>(__builtin_elementwise_max(a, b));
    y[6] = word<u8x4>(__builtin_elementwise_add_sat(a, b));
    y[7] = word<i8x4>(__builtin_elementwise_sub_sat(as<i8x4>(x[0]), as<i8x4>(x[1])));
}

KERNEL(packed_halves)
{
    u16x2 a = as<u16x2>(x[0]), b = as<u16x2>(x[1]);
    i16x2 c = as<i16x2>(x[2]), d = as<i16x2>(x[3]);
    y[0] = word<u16x2>(a + b);
    y[1] = word<u16x2>(a * b + as<u16x2>(x[4]));
    y[2] = word<i16x2>(c - d.yx);
    y[3] = word<i16x2>(__builtin_elementwise_max(c, d));
    y[4] = word<u16x2>(__builtin_elementwise_min(a, b));
    y[5] = word<u16x2>(a << (b & (u16x2)15));
    y[6] = word<i16x2>(c >> (i16x2)(d & (i16x2)15));
    y[7] = word<u16x2>(__builtin_elementwise_add_sat(a, b));
}

KERNEL(packed_halves_of_signs)
{
    i16x4 v = {(i16)x[0], (i16)(x[0] >> 16), (i16)x[1], (i16)(x[1] >> 16)};
    i16x4 w = {(i16)x[2], (i16)(x[2] >> 16), (i16)x[3], (i16)(x[3] >> 16)};
    i16x4 s = __builtin_elementwise_add_sat(v, w), t = __builtin_elementwise_sub_sat(v, w);
    y[0] = (u16)s.x | (u32)(u16)s.y << 16;
    y[1] = (u16)s.z | (u32)(u16)s.w << 16;
    y[2] = (u16)t.x | (u32)(u16)t.w << 16;
    i16x4 m = v * (i16)3 - w;
    y[3] = (u16)m.y | (u32)(u16)m.z << 16;
    y[4] = (u32)(i32)(v.x > w.x ? v.x : w.w);
    y[5] = (u32)((i32)v.y * w.y + (i32)v.z * w.z);
    y[6] = (u32)__builtin_elementwise_abs(v.x) + (u32)__builtin_elementwise_abs((i32)x[5] | 1);
    y[7] = (u32)(v.x + w.x) >> 1;
}

/* Sums of products of parts, plain and clamped. */
template <class T, int WIDTH> FN i64 dot(u32 a, u32 b)
{
    i64 out = 0;
    for (int k = 0; k < 32; k += WIDTH)
        out += (i64)(T)((T)(a >> k << (32 - WIDTH)) >> (32 - WIDTH))
               * (T)((T)(b >> k << (32 - WIDTH)) >> (32 - WIDTH));
    return out;
}

KERNEL(dots)
{
    y[0] = (u32)dot<i32, 8>(x[0], x[1]) + x[2];
    y[1] = (u32)dot<u32, 8>(x[0], x[1]) + x[2];
    y[2] = (u32)dot<i32, 16>(x[0], x[1]) + x[2];
    y[3] = (u32)dot<u32, 16>(x[0], x[1]) + x[2];
    y[4] = (u32)dot<i32, 4>(x[0], x[1]) + x[2];
    y[5] = (u32)dot<u32, 4>(x[0], x[1]) + x[2];
    y[6] = (u32)(((i32)x[0] << 24 >> 24) * ((i32)x[1] << 24 >> 24));
    y[7] = (x[0] & 0xffffff) * (x[1] & 0xffffff) + x[3];
}

#if defined(__gfx906__) || defined(__gfx908__) || defined(__gfx90a__) || defined(__gfx942__)
#define HAS_DOTS 1
#else
FN i64 clamped(i64 v, i64 low, i64 high)
{
    return v < low ? low : v > high ? high : v;
}
#endif

KERNEL(dots_clamped)
{
#ifdef HAS_DOTS
    y[0] = (u32)__builtin_amdgcn_sdot4((i32)x[0], (i32)x[1], (i32)x[2], true);
    y[1] = __builtin_amdgcn_udot4(x[0], x[1], x[2], true);
    y[2] = (u32)__builtin_amdgcn_sdot8((i32)x[0], (i32)x[1], (i32)x[2], true);
    y[3] = __builtin_amdgcn_udot8(x[0], x[1], x[2], true);
    y[4] = (u32)__builtin_amdgcn_sdot2(as<i16x2>(x[0]), as<i16x2>(x[1]), (i32)x[2], true);
    y[5] = __builtin_amdgcn_udot2(as<u16x2>(x[0]), as<u16x2>(x[1]), x[2], true);
    y[6] = (u32)__builtin_amdgcn_sdot4((i32)x[0], (i32)x[1], (i32)x[2], false);
    y[7] = __builtin_amdgcn_udot8(x[0], x[1], x[2], false);
#else
    const i64 low = -0x80000000ll, high = 0x7fffffff, top = 0xffffffff;
    y[0] = (u32)clamped(dot<i32, 8>(x[0], x[1]) + (i32)x[2], low, high);
    y[1] = (u32)clamped(dot<u32, 8>(x[0], x[1]) + x[2], 0, top);
    y[2] = (u32)clamped(dot<i32, 4>(x[0], x[1]) + (i32)x[2], low, high);
    y[3] = (u32)clamped(dot<u32, 4>(x[0], x[1]) + x[2], 0, top);
    y[4] = (u32)clamped(dot<i32, 16>(x[0], x[1]) + (i32)x[2], low, high);
    y[5] = (u32)clamped(dot<u32, 16>(x[0], x[1]) + x[2], 0, top);
    y[6] = (u32)dot<i32, 8>(x[0], x[1]) + x[2];
    y[7] = (u32)dot<u32, 4>(x[0], x[1]) + x[2];
#endif
}

/* ---- instructions by name ---- */

KERNEL(builtins)
{
#ifdef __AMDGCN__
    y[0] = __builtin_amdgcn_perm(x[0], x[1], x[2] & 0x0c070707);
    y[1] = __builtin_amdgcn_alignbit(x[0], x[1], x[2]);
    y[2] = __builtin_amdgcn_alignbyte(x[0], x[1], x[2]);
    y[3] = __builtin_amdgcn_sad_u8(x[0], x[1], x[2]);
    y[4] = __builtin_amdgcn_ubfe(x[0], x[1] & 31, x[2] % 31 + 1);
    y[5] = (u32)__builtin_amdgcn_sbfe((i32)x[0], x[1] & 15, x[2] % 16 + 1);
    y[6] = __builtin_amdgcn_lerp(x[0], x[1], x[2]);
    y[7] = __builtin_amdgcn_sad_u16(x[0], x[1], x[2]);
#else
    u64 both = (u64)x[0] << 32 | x[1];
    u32 select = x[2] & 0x0c070707, out = 0, sad = x[2], sad16 = x[2], lerp = 0;
    for (int k = 0; k < 4; k++) {
        u32 s = select >> 8 * k & 15;
        u32 part = s < 8 ? (u32)(both >> 8 * s) & 255
                   : s < 12
                       ? (s == 8 ? x[1] << 16 : s == 9 ? x[1] : s == 10 ? x[0] << 16 : x[0]) >> 31
                             ? 255u
                             : 0u
                   : s == 12 ? 0
                             : 255;
        out |= part << 8 * k;
        u32 a = x[0] >> 8 * k & 255, b = x[1] >> 8 * k & 255;
        sad += a > b ? a - b : b - a;
        lerp |= (a + b + (x[2] >> 8 * k & 1)) / 2 << 8 * k;
    }
    for (int k = 0; k < 32; k += 16) {
        u32 a = x[0] >> k & 0xffff, b = x[1] >> k & 0xffff;
        sad16 += a > b ? a - b : b - a;
    }
    y[0] = out;
    y[1] = (u32)(both >> (x[2] & 31));
    y[2] = (u32)(both >> 8 * (x[2] & 3));
    y[3] = sad;
    u32 width = x[2] % 31 + 1;
    y[4] = x[0] >> (x[1] & 31) & ((1u << width) - 1);
    width = x[2] % 16 + 1;
    y[5] = (u32)((i32)(x[0] >> (x[1] & 15) << (32 - width)) >> (32 - width));
    y[6] = lerp;
    y[7] = sad16;
#endif
}

#ifdef __AMDGCN__
#define VECTOR(text, a, b, c)                                                                      \
    ({                                                                                             \
        u32 out;                                                                                   \
        asm(text : "=v"(out) : "v"(a), "v"(b), "v"(c));                                            \
        out;                                                                                       \
    })
#endif

KERNEL(assembly)
{
#ifdef __AMDGCN__
    y[0] = VECTOR("v_bfi_b32 %0, %1, %2, %3", x[0], x[1], x[2]);
    y[1] = VECTOR("v_mad_u32_u24 %0, %1, %2, %3", x[0], x[1], x[2]);
    y[2] = VECTOR("v_med3_i32 %0, %1, %2, %3", x[0], x[1], x[2]);
    y[3] = VECTOR("v_max3_u32 %0, %1, %2, %3", x[0], x[1], x[2]);
    y[4] = VECTOR("v_alignbit_b32 %0, %1, %2, %3", x[0], x[1], x[2]);
    y[5] = VECTOR("v_and_b32_sdwa %0, %1, %2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 "
                  "src1_sel:WORD_1",
                  x[0], x[1], x[2]);
    y[6] = VECTOR("v_mul_hi_u32 %0, %1, %2", x[0], x[1], x[2]);
    y[7] = VECTOR("v_bcnt_u32_b32 %0, %1, %2", x[0], x[1], x[2]);
#else
    i32 a = (i32)x[0], b = (i32)x[1], c = (i32)x[2];
    i32 low = a < b ? a : b, high = a < b ? b : a;
    u32 most = x[0] > x[1] ? x[0] : x[1];
    y[0] = (x[0] & x[1]) | (~x[0] & x[2]);
    y[1] = (x[0] & 0xffffff) * (x[1] & 0xffffff) + x[2];
    y[2] = (u32)(c < low ? low : c > high ? high : c);
    y[3] = most > x[2] ? most : x[2];
    y[4] = (u32)(((u64)x[0] << 32 | x[1]) >> (x[2] & 31));
    y[5] = (x[0] >> 8 & 255) & x[1] >> 16;
    y[6] = (u32)((u64)x[0] * x[1] >> 32);
    y[7] = __builtin_popcount(x[0]) + x[1];
#endif
}

/* Scalar registers hold what is the same in all lanes. */
KERNEL(scalars)
{
#ifdef __AMDGCN__
#define UNIFORM __builtin_amdgcn_readfirstlane((i & ~63u) + 7) /* also where nothing is kept */
    u32 seven = UNIFORM, out, twice;
    asm("s_lshl_b32 %0, %1, 3\n\ts_xor_b32 %0, %0, 0x12345678" : "=s"(out) : "s"(UNIFORM) : "scc");
    asm("s_bcnt1_i32_b32 %0, %1\n\ts_add_u32 %0, %0, %1"
        : "=&s"(twice)
        : "s"(UNIFORM)
        : "scc");
#else
    u32 seven = (i & ~63u) + 7, out = seven << 3 ^ 0x12345678;
    u32 twice = __builtin_popcount(seven) + seven;
#endif
    y[0] = out + x[0];
    y[1] = twice;
    u64 v = (u64)seven * 0x123456789abcdefull;
    put_wide(y + 2, v);
    put_wide(y + 4, v / (seven | 1));
    y[6] = (u32)(v >> 40) % 1000;
    y[7] = __builtin_ctzll(v | 1ull << 40) + __builtin_clzll(v | 1);
}
