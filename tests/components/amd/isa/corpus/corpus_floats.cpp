/* corpus_floats.cpp - floats of 16, 32 and 64 bits, bfloat16, and their conversions. Only what IEEE 754
 * defines exactly, on values whose results are no denormals. */
#include "corpus.h"

KERNEL(float_arithmetic)
{
    f32 a = real(x[0]), b = real(x[1] | 0x100), c = real(x[2]);
    y[0] = bits(a + b);
    y[1] = bits(a - b);
    y[2] = bits(a * b);
    y[3] = bits(a / b);
    y[4] = bits(__builtin_fmaf(a, b, c));
    y[5] = bits(a * b + c);
    y[6] = bits(-a - c * 2.0f);
    y[7] = bits(c / 3.0f);
}

KERNEL(float_rounding)
{
    f32 a = real(x[0]), b = real(x[1]);
    y[0] = bits(__builtin_floorf(a));
    y[1] = bits(__builtin_ceilf(a));
    y[2] = bits(__builtin_truncf(a));
    y[3] = bits(__builtin_rintf(a));
    y[4] = bits(__builtin_fabsf(a));
    y[5] = bits(__builtin_copysignf(a, b));
    y[6] = bits(__builtin_roundf(__builtin_fabsf(b)));
    y[7] = bits(a - __builtin_floorf(a));
}

KERNEL(float_comparisons)
{
    f32 a = real(x[0]), b = x[1] & 3 ? real(x[1]) : a, nan = __builtin_nanf("");
    f32 c = x[2] & 1 ? nan : b;
    y[0] = (u32)(a < b) | (u32)(a <= b) << 1 | (u32)(a > b) << 2 | (u32)(a >= b) << 3
           | (u32)(a == b) << 4 | (u32)(a != b) << 5;
    y[1] = (u32)(a < c) | (u32)(a <= c) << 1 | (u32)(a > c) << 2 | (u32)(a >= c) << 3
           | (u32)(a == c) << 4 | (u32)(a != c) << 5 | (u32)__builtin_isunordered(a, c) << 6;
    y[2] = bits(a < b ? a : b);
    y[3] = bits(a > b ? a : b);
    y[4] = bits(__builtin_fminf(a, c));
    y[5] = bits(__builtin_fmaxf(c, b));
    y[6] = (u32)__builtin_isnan(c) | (u32)__builtin_isinf(a) << 1 | (u32)__builtin_signbit(b) << 2;
    f32 low = a < b ? a : b, high = a < b ? b : a, m = real(x[3]);
    y[7] = bits(m < low ? low : m > high ? high : m);
}

KERNEL(float_conversions)
{
    f32 a = real(x[0]);
    y[0] = (u32)(i32)a;
    y[1] = (u32)(a < 0 ? -a : a);
    put_wide(y + 2, (u64)(i64)(a * 65536.0f));
    y[4] = bits((f32)(i32)x[1]);
    y[5] = bits((f32)x[1]);
    y[6] = bits((f32)(i64)wide(x + 2));
    y[7] = bits((f32)wide(x + 2));
}

KERNEL(float_bytes)
{
    f32 sum = 0;
    for (int k = 0; k < 32; k += 8)
        sum += (f32)(x[0] >> k & 255) * (f32)(i8)(x[1] >> k);
    y[0] = bits(sum);
    y[1] = bits((f32)(i16)x[2]);
    y[2] = bits((f32)(u16)x[2]);
    y[3] = (u32)(u8)(real(x[3] & 0xfffff));
    y[4] = (u32)(i32)(i16)(real(x[4]) / 2);
    f32 s = real(x[5]) / 64;
    y[5] = (u32)(s < 0 ? 0 : s > 255 ? 255 : s); /* saturated */
    y[6] = bits(real(x[6]) * 0.5f + real(x[7]) * 0.25f);
    y[7] = (u32)(i32)__builtin_rintf(real(x[7]));
}

#ifdef __AMDGCN__
#define LDEXPF __builtin_amdgcn_ldexpf
#define LDEXP  __builtin_amdgcn_ldexp
#else
#define LDEXPF __builtin_ldexpf
#define LDEXP  __builtin_ldexp
#endif

KERNEL(float_exponents)
{
    f32 a = real(x[0] | 0x100);
    i32 exponent = 0;
    y[0] = bits(LDEXPF(a, (i32)(x[1] & 15) - 8));
    u32 raw = bits(a);
    exponent = (i32)(raw >> 23 & 255) - 126;
    y[1] = (u32)exponent;
    y[2] = (raw & 0x807fffff) | 126u << 23;
    f64 d = real64(x[2] | 1);
    put_double(y + 3, LDEXP(d, (i32)(x[3] & 31) - 16));
    y[5] = raw;
    y[6] = raw ^ 0x80000000u;
    y[7] = (u32)(raw << 1 > bits(real(x[4])) << 1);
}

KERNEL(double_arithmetic)
{
    f64 a = real64(x[0]), b = real64(x[1] | 1), c = real64(x[2]);
    put_double(y, a / b);
    put_double(y + 2, a * b - c);
    put_double(y + 4, __builtin_fma(a, b, c));
    put_double(y + 6, (a + b) * (a - c));
}

KERNEL(double_rounding)
{
    f64 a = real64(x[0]), b = real64(x[1]);
    put_double(y, __builtin_floor(a));
    put_double(y + 2, __builtin_rint(a) + __builtin_trunc(b));
    put_double(y + 4, a < b ? __builtin_ceil(a) : __builtin_fabs(b));
    put_double(y + 6, __builtin_fmin(a, b) - __builtin_copysign(b, a));
}

KERNEL(double_conversions)
{
    f64 a = real64(x[0]);
    y[0] = (u32)(i32)a;
    y[1] = bits((f32)a);
    put_wide(y + 2, (u64)(i64)(a * 1048576.0));
    put_double(y + 4, (f64)(i64)wide(x + 1));
    put_double(y + 6, (f64)wide(x + 3));
}

KERNEL(double_series)
{
    f64 v = real64(x[0] | 1) / 262144.0, term = 1, sum = 1; /* e^v */
    for (int k = 1; k < 18; k++)
        term *= v / k, sum += term;
    put_double(y, sum);
    f64 root = v < 0 ? -v : v, guess = 1;
    for (int k = 0; k < 12; k++)
        guess = 0.5 * (guess + root / guess);
    put_double(y + 2, guess);
    f64 total = 0, correction = 0; /* compensated */
    for (u32 k = 0; k < 24; k++) {
        f64 next = real64(x[k & 7]) / (k + 3) - correction, t = total + next;
        correction = (t - total) - next, total = t;
    }
    put_double(y + 4, total);
    put_double(y + 6, correction);
}

KERNEL(mandelbrot)
{
    f32 cr = real(x[0]) / 16384 - 0.5f, ci = real(x[1]) / 24576, zr = 0, zi = 0;
    u32 steps = 0;
    while (steps < 100 && zr * zr + zi * zi < 4.0f) {
        f32 t = zr * zr - zi * zi + cr;
        zi = 2.0f * zr * zi + ci;
        zr = __builtin_fabsf(t) < 1e-18f ? 0.0f : t;
        zi = __builtin_fabsf(zi) < 1e-18f ? 0.0f : zi;
        steps++;
    }
    y[0] = steps, y[1] = bits(zr), y[2] = bits(zi);
    f32 p = 0; /* Horner */
    for (u32 k = 0; k < 8; k++)
        p = p * 0.25f + real(x[k]);
    y[3] = bits(p);
    f32 m[4] = {real(x[2]), real(x[3]), real(x[4]), real(x[5])};
    y[4] = bits(m[0] * m[3] - m[1] * m[2]);
    y[5] = bits(m[x[6] & 3]);
    y[6] = bits(m[0] + (m[1] - m[0]) * 0.375f);
    y[7] = bits(m[0] > m[1] ? m[2] / 7.0f : -m[3]);
}

KERNEL(half_arithmetic)
{
    f16 a = half(x[0]), b = half(x[1]), c = half(x[2]);
    y[0] = half_bits(a + b);
    y[1] = half_bits(a - b);
    y[2] = half_bits(a * (f16)0.125f);
    y[3] = half_bits(a < b ? a : c);
    y[4] = bits((f32)a * (f32)b);
    y[5] = (u32)(i32)a;
    y[6] = half_bits((f16)(i16)(x[3] & 0x7ff)) | (u32)(a <= c) << 16 | (u32)(a != b) << 17;
    y[7] = half_bits(-a) | half_bits(b > c ? b : c) << 16;
}

typedef f16 f16x2 __attribute__((ext_vector_type(2)));

KERNEL(half_pairs)
{
    f16x2 a = {half(x[0]), half(x[1])}, b = {half(x[2]), half(x[3])};
    f16x2 sum = a + b, difference = a - b.yx, scaled = a * (f16x2)(f16)0.25f;
    y[0] = half_bits(sum.x) | half_bits(sum.y) << 16;
    y[1] = half_bits(difference.x) | half_bits(difference.y) << 16;
    y[2] = half_bits(scaled.x) | half_bits(scaled.y) << 16;
    f16x2 chosen = {a.x > b.x ? a.x : b.x, a.y > b.y ? b.y : a.y};
    y[3] = half_bits(chosen.x) | half_bits(chosen.y) << 16;
    y[4] = bits((f32)sum.x + (f32)scaled.y);
    f16 table[4] = {a.x, a.y, b.x, b.y};
    y[5] = half_bits(table[x[4] & 3]) | half_bits(table[x[5] & 3]) << 16;
    y[6] = half_bits((f16)real(x[6] & 0x7fffff));
    y[7] = half_bits((f16)(f32)(u8)x[7]);
}

/* bfloat16 by its definition: the upper half of a float, rounded to even. */
FN u16 to_bfloat(f32 v)
{
    u32 raw = bits(v);
    return (u16)((raw + 0x7fff + (raw >> 16 & 1)) >> 16);
}
FN f32 from_bfloat(u32 v)
{
    u32 raw = v << 16;
    f32 out;
    __builtin_memcpy(&out, &raw, 4);
    return out;
}

KERNEL(bfloat_arithmetic)
{
    f32 sum = 0;
    for (u32 k = 0; k < 8; k++) {
        u16 v = to_bfloat(real(x[k]));
        sum += from_bfloat(v) * from_bfloat(to_bfloat(real(x[7 - k])));
        y[k] = v | (u32)to_bfloat(sum) << 16;
    }
}

KERNEL(soft_floats)
{
    u32 a = bits(real(x[0] | 0x100)), b = bits(real(x[1] | 0x100)); /* a product by hand */
    u64 product = (u64)((a & 0x7fffff) | 0x800000) * ((b & 0x7fffff) | 0x800000);
    i32 exponent = (i32)(a >> 23 & 255) + (i32)(b >> 23 & 255) - 127;
    u32 shift = product >> 47 ? 24 : 23;
    exponent += shift == 24;
    u64 rest = product & ((1ull << shift) - 1), middle = 1ull << (shift - 1);
    u32 fraction = (u32)(product >> shift);
    fraction += rest > middle || (rest == middle && (fraction & 1));
    exponent += fraction >> 24, fraction >>= fraction >> 24;
    y[0] = ((a ^ b) & 0x80000000u) | (u32)exponent << 23 | (fraction & 0x7fffff);
    y[1] = bits(real(x[0] | 0x100) * real(x[1] | 0x100));
    y[2] = y[0] == y[1];
    for (u32 k = 3; k < 8; k++)
        y[k] = bits(real(x[k])) >> 3;
}
