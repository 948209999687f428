/* The functions that the semantics column of the vector tables names. Private to
 * isa_valu.c and isa_rounding.c.
 *
 * Everything is branch-free where it can be, so that a loop over 64 lanes vectorises, and uses only
 * IEEE operations that are the same on every host: + - * / sqrt, conversions, integer arithmetic,
 * fma (correctly rounded in hardware or in libm). No libm function that may differ between hosts is
 * called.
 *
 * Accuracy of the approximate instructions (hardware: 1 ulp, 0.51 ulp in fp16, 2^29 ulp in fp64),
 * which do not follow MODE's rounding: rcp and sqrt are correctly rounded, in fp16 within 0.51 ulp;
 * rsq is within 1 ulp, in fp64 within 2; exp2 and log2 are evaluated in double (relative error
 * below 2^-40) and rounded once; sin and cos of x turns likewise, absolute error below 2^-40, for
 * |x| <= 256, else 0 (sin) and 1 (cos), as the GCN3 manual says of out-of-range inputs. Those of
 * fp32, but for sin and cos, flush denormals in any mode, as the manuals note of each. */
#ifndef HEDDLE_COMPONENTS_AMD_ISA_EXECUTE_ISA_MATH_H
#define HEDDLE_COMPONENTS_AMD_ISA_EXECUTE_ISA_MATH_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/likely.h"
#include "base/number.h"

static ALWAYS_INLINE uint32_t bits_f32(float x)
{
    uint32_t u;
    memcpy(&u, &x, 4);
    return u;
}
static ALWAYS_INLINE float f32_bits(uint32_t u)
{
    float x;
    memcpy(&x, &u, 4);
    return x;
}
static ALWAYS_INLINE uint64_t bits_f64(double x)
{
    uint64_t u;
    memcpy(&u, &x, 8);
    return u;
}
static ALWAYS_INLINE double f64_bits(uint64_t u)
{
    double x;
    memcpy(&x, &u, 8);
    return x;
}

/* ---- denormals ---- */

/* `keep` is 0xffffffff to keep them, 0x80000000 to flush to a zero of the same sign. */
static ALWAYS_INLINE uint32_t flush_bits(uint32_t u, uint32_t keep)
{
    return u & 0x7f800000 ? u : u & keep;
}
static ALWAYS_INLINE float flush_f32(float x, uint32_t keep)
{
    return f32_bits(flush_bits(bits_f32(x), keep));
}

/* Flushes a denormal for the functions that do so in any mode. */
static ALWAYS_INLINE float flushed_f32(float x)
{
    return flush_f32(x, 0x80000000);
}

static ALWAYS_INLINE float quiet_f32(float x)
{
    return f32_bits(bits_f32(x) | 0x400000);
}
static ALWAYS_INLINE double quiet_f64(double x)
{
    return f64_bits(bits_f64(x) | UINT64_C(0x8000000000000));
}

/* ---- half precision ---- */

static ALWAYS_INLINE float f32_f16(uint32_t half)
{
    uint32_t magnitude = half & 0x7fff;
    uint32_t scaled =
        bits_f32(f32_bits(magnitude << 13) * 0x1p112f); /* exact, denormals included */
    scaled |= magnitude >= 0x7c00 ? 0x7f800000u : 0u;
    return f32_bits(scaled | (half & 0x8000) << 16);
}

/* Round to nearest even; NaN is the caller's. */
static ALWAYS_INLINE uint32_t f16_f32(float x)
{
    uint32_t u = bits_f32(x), magnitude = u & 0x7fffffff;
    uint32_t normal = (magnitude + 0xfff + (magnitude >> 13 & 1) - 0x38000000) >> 13;
    normal = magnitude >= 0x47800000 || normal > 0x7c00 ? 0x7c00 : normal;
    float clipped = magnitude < 0x38800000 ? f32_bits(magnitude) : 0.0f;
    uint32_t denormal = (uint32_t)(int32_t)__builtin_rintf(clipped * 0x1p24f);
    return (u >> 16 & 0x8000) | (magnitude < 0x38800000 ? denormal : normal);
}

static ALWAYS_INLINE uint32_t f16_nan(float x)
{
    return (bits_f32(x) >> 16 & 0x8000) | 0x7e00 | (bits_f32(x) >> 13 & 0x3ff);
}

static ALWAYS_INLINE uint32_t f16_toward_zero(float x)
{
    uint32_t u = bits_f32(x), magnitude = u & 0x7fffffff;
    uint32_t normal = (magnitude - 0x38000000) >> 13;
    normal = magnitude >= 0x47800000 ? 0x7bff : normal;
    normal = magnitude == 0x7f800000 ? 0x7c00 : normal;
    float clipped = magnitude < 0x38800000 ? f32_bits(magnitude) : 0.0f;
    uint32_t denormal = (uint32_t)(int32_t)(clipped * 0x1p24f);
    uint32_t half = (u >> 16 & 0x8000) | (magnitude < 0x38800000 ? denormal : normal);
    return x != x ? f16_nan(x) : half;
}

/* A NaN that came from a half, as it is. */
static ALWAYS_INLINE uint32_t f16_nan_kept(float x)
{
    return (bits_f32(x) >> 16 & 0x8000) | 0x7c00 | (bits_f32(x) >> 13 & 0x3ff);
}

/* ---- fp8 (e4m3) and bf8 (e5m2) ---- */

/* As gfx942 has them: one zero, no infinities, one NaN (0x80); exponents are biased by 8 and 16
 * (OCP's formats have other ones). */

/* `up` brings exponent and fraction to their places in an f32, `scale` the bias to 127. */
static ALWAYS_INLINE float f32_fnuz(uint32_t byte, uint32_t up, float scale)
{
    uint32_t u = bits_f32(f32_bits((byte & 0x7f) << up) * scale) | (byte & 0x80) << 24;
    return f32_bits(byte == 0x80 ? 0x7fc00000 : u);
}

static ALWAYS_INLINE float f32_fp8(uint32_t byte)
{
    return f32_fnuz(byte, 20, 0x1p119f);
}
static ALWAYS_INLINE float f32_bf8(uint32_t byte)
{
    return f32_fnuz(byte, 21, 0x1p111f);
}

static ALWAYS_INLINE uint64_t two_floats(float low, float high)
{
    return bits_f32(low) | (uint64_t)bits_f32(high) << 32;
}

/* An f32 without its lowest `drop` bits of fraction. `round`: 1 to nearest even, 0 toward zero.
 * A number that is too large becomes a NaN, or with `saturates` the largest number; infinities
 * become NaNs. */
static ALWAYS_INLINE uint32_t fnuz_f32(uint32_t u, uint32_t drop, uint32_t bias, uint32_t round,
                                       bool saturates)
{
    uint32_t magnitude = u & 0x7fffffff, exponent = magnitude >> 23, least = 128 - bias;
    bool denormal = exponent < least;
    uint32_t more = denormal ? least - exponent : 0;
    uint32_t shift = more > 24 - drop + 1 ? 25 : drop + more;
    uint32_t whole = denormal ? (magnitude & 0x7fffff) | (exponent ? 0x800000 : 0) : magnitude;
    uint32_t half = ((1u << shift) >> 1) - 1 + (whole >> shift & 1);
    uint32_t value = (whole + (half & (0u - round))) >> shift;
    value -= denormal ? 0 : (127 - bias) << (23 - drop);
    bool overflows = value > 0x7f;
    value = overflows ? 0x7f : value;
    bool nan = (magnitude >= 0x7f800000) | (overflows & !saturates);
    return nan ? 0x80 : value ? value | (u >> 24 & 0x80) : 0;
}

static ALWAYS_INLINE uint32_t fp8_f32(uint32_t u, bool saturates)
{
    return fnuz_f32(u, 20, 8, 1, saturates);
}
static ALWAYS_INLINE uint32_t bf8_f32(uint32_t u, bool saturates)
{
    return fnuz_f32(u, 21, 16, 1, saturates);
}

/* Random bits are added below the last bit that is kept, carries going up; then the rest is cut
 * off. For fp8 it is the upper 20 bits of the source, as in AMD's code for v_cvt_sr_fp8_f32 of
 * gfx1250 (ROCm, llvm-project, pull request 3275: shifted right by 12, added to the float's bits,
 * "matching the ISA's stochastic rounding"). That gfx942 does the same, and that bf8 takes the
 * upper 21, as many as are cut off, is assumed. */
static ALWAYS_INLINE uint32_t with_random(uint32_t u, uint32_t random)
{
    return (u & 0x7fffffff) >= 0x7f800000 ? u : u + random;
}
static ALWAYS_INLINE uint32_t fp8_random(uint32_t u, uint32_t random, bool saturates)
{
    return fnuz_f32(with_random(u, random >> 12), 20, 8, 0, saturates);
}
static ALWAYS_INLINE uint32_t bf8_random(uint32_t u, uint32_t random, bool saturates)
{
    return fnuz_f32(with_random(u, random >> 11), 21, 16, 0, saturates);
}

/* ---- fused multiply-add ---- */

static ALWAYS_INLINE float fma_f32(float a, float b, float c)
{
    return __builtin_fmaf(a, b, c);
}
static ALWAYS_INLINE double fma_f64(double a, double b, double c)
{
    return __builtin_fma(a, b, c);
}

/*
 * a * b + c of halves is exact in double unless c is below 2^-53 of the product, where it only
 * matters as a sticky bit, which it is. The sum is brought to float rounding to odd, so that the
 * final rounding to half is the only one.
 */
static ALWAYS_INLINE float fma_f16(float a, float b, float c)
{
    double sum = (double)a * (double)b + (double)c;
    float rounded = (float)sum;
    double back = (double)rounded;
    uint32_t u = bits_f32(rounded);
    double magnitude = __builtin_fabs(sum), back_magnitude = __builtin_fabs(back);
    u -= back_magnitude > magnitude ? 1u : 0u; /* now truncated */
    u |= back != sum && sum == sum ? 1u : 0u;
    return f32_bits(u);
}

/* ---- integers ---- */

static ALWAYS_INLINE int32_t i24(int32_t x)
{
    return (int32_t)((uint32_t)x << 8) >> 8;
}
static ALWAYS_INLINE uint32_t absdiff(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

static ALWAYS_INLINE uint32_t popcount_u32(uint32_t x)
{
    x -= x >> 1 & 0x55555555;
    x = (x & 0x33333333) + (x >> 2 & 0x33333333);
    x = (x + (x >> 4)) & 0x0f0f0f0f;
    return (x * 0x01010101) >> 24;
}

static ALWAYS_INLINE uint32_t reverse_u32(uint32_t x)
{
    x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
    x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
    x = (x >> 8 & 0x00ff00ff) | (x & 0x00ff00ff) << 8;
    return x >> 16 | x << 16;
}

/* Number of zeros above the highest one; all ones for 0. */
static ALWAYS_INLINE uint32_t leading_zeros_u32(uint32_t x)
{
    uint32_t filled = x;
    filled |= filled >> 1;
    filled |= filled >> 2;
    filled |= filled >> 4;
    filled |= filled >> 8;
    filled |= filled >> 16;
    return x ? 32 - popcount_u32(filled) : 0xffffffff;
}

static ALWAYS_INLINE uint32_t trailing_zeros_u32(uint32_t x)
{
    return x ? popcount_u32(~x & (x - 1)) : 0xffffffff;
}

static ALWAYS_INLINE int32_t bfe_i32(int32_t a, uint32_t b, uint32_t c)
{
    uint32_t width = c & 31, field = (uint32_t)(a >> (b & 31));
    uint32_t up = (32 - width) & 31;
    return width ? (int32_t)(field << up) >> up : 0;
}

static ALWAYS_INLINE uint32_t below_low(uint32_t lane)
{
    return lane >= 32 ? 0xffffffff : (1u << (lane & 31)) - 1;
}
static ALWAYS_INLINE uint32_t below_high(uint32_t lane)
{
    return lane >= 32 ? (1u << (lane & 31)) - 1 : 0;
}

static ALWAYS_INLINE uint32_t sad_u8(uint32_t a, uint32_t b)
{
    return absdiff(a & 255, b & 255) + absdiff(a >> 8 & 255, b >> 8 & 255)
           + absdiff(a >> 16 & 255, b >> 16 & 255) + absdiff(a >> 24, b >> 24);
}

/* Bytes where the reference (b) is zero do not count. */
static ALWAYS_INLINE uint32_t msad_byte(uint32_t a, uint32_t b)
{
    return b ? absdiff(a, b) : 0;
}

static ALWAYS_INLINE uint32_t msad_u8(uint32_t a, uint32_t b)
{
    return msad_byte(a & 255, b & 255) + msad_byte(a >> 8 & 255, b >> 8 & 255)
           + msad_byte(a >> 16 & 255, b >> 16 & 255) + msad_byte(a >> 24, b >> 24);
}

/* Four sums of absolute differences at byte offsets 0 to 3 of a, each in 16 bits added to those of
 * c. */
static ALWAYS_INLINE uint64_t qsad_pk(uint64_t a, uint32_t b, uint64_t c)
{
    uint64_t out = 0;
    for (unsigned i = 0; i < 4; i++)
        out |= (uint64_t)((sad_u8((uint32_t)(a >> 8 * i), b) + (uint32_t)(c >> 16 * i & 0xffff))
                          & 0xffff)
               << 16 * i;
    return out;
}

static ALWAYS_INLINE uint64_t mqsad_pk(uint64_t a, uint32_t b, uint64_t c)
{
    uint64_t out = 0;
    for (unsigned i = 0; i < 4; i++)
        out |= (uint64_t)((msad_u8((uint32_t)(a >> 8 * i), b) + (uint32_t)(c >> 16 * i & 0xffff))
                          & 0xffff)
               << 16 * i;
    return out;
}

static ALWAYS_INLINE uint32_t lerp_u8(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t out = 0;
    for (unsigned shift = 0; shift < 32; shift += 8)
        out |= (((a >> shift & 255) + (b >> shift & 255) + (c >> shift & 1)) >> 1 & 255) << shift;
    return out;
}

static ALWAYS_INLINE uint32_t permute_byte(uint32_t a, uint32_t b, uint32_t select)
{
    uint64_t both = (uint64_t)a << 32 | b;
    uint32_t byte = (uint32_t)(both >> (select & 7) * 8) & 255;
    uint32_t sign = (uint32_t)(both >> ((select & 3) * 16 + 15)) & 1 ? 255 : 0;
    if (select >= 13)
        return 255;
    if (select == 12)
        return 0;
    return select >= 8 ? sign : byte;
}

static ALWAYS_INLINE uint32_t permute_bytes(uint32_t a, uint32_t b, uint32_t c)
{
    return permute_byte(a, b, c & 255) | permute_byte(a, b, c >> 8 & 255) << 8
           | permute_byte(a, b, c >> 16 & 255) << 16 | permute_byte(a, b, c >> 24) << 24;
}

static ALWAYS_INLINE uint32_t saturate_u8(int32_t x)
{
    return (uint32_t)max(0, min(255, x));
}
static ALWAYS_INLINE uint32_t saturate_i16(int32_t x)
{
    return (uint32_t)max(-32768, min(32767, x)) & 0xffff;
}

/* Carry out of a 64-bit signed multiply-add: the sum does not fit into 64 bits. */
static ALWAYS_INLINE uint32_t mad_i64_carry(int64_t product, int64_t c, int64_t r)
{
    return (uint32_t)((uint64_t)(~(product ^ c) & (product ^ r)) >> 63);
}

/* Dot products of the fields of two words, modulo 2^32. */
static ALWAYS_INLINE uint32_t dot_unsigned(uint32_t a, uint32_t b, uint32_t width)
{
    uint32_t sum = 0, mask = (1u << width) - 1;
    for (uint32_t shift = 0; shift < 32; shift += width)
        sum += (a >> shift & mask) * (b >> shift & mask);
    return sum;
}

static ALWAYS_INLINE uint32_t dot_signed(uint32_t a, uint32_t b, uint32_t width)
{
    uint32_t sum = 0;
    for (uint32_t up = 0; up < 32; up += width)
        sum += (uint32_t)((int32_t)(a << up) >> (32 - width))
               * (uint32_t)((int32_t)(b << up) >> (32 - width));
    return sum;
}

static ALWAYS_INLINE float dot2_f32_f16(uint32_t a, uint32_t b, float c)
{
    float low = fma_f32(f32_f16(a & 0xffff), f32_f16(b & 0xffff), c);
    return fma_f32(f32_f16(a >> 16), f32_f16(b >> 16), low);
}

/* ---- cube maps and screens ---- */

/* The major axis of a vector: 2 for z, which wins against equal ones, 1 for y, 0 for x. */
static ALWAYS_INLINE uint32_t cube_axis(float x, float y, float z)
{
    float ax = __builtin_fabsf(x), ay = __builtin_fabsf(y), az = __builtin_fabsf(z);
    return (az >= ax) & (az >= ay) ? 2 : ay >= ax ? 1 : 0;
}

static ALWAYS_INLINE float cube_id(float x, float y, float z)
{
    uint32_t axis = cube_axis(x, y, z);
    float major = axis == 2 ? z : axis == 1 ? y : x;
    return (float)(int32_t)(2 * axis + (major < 0.0f ? 1 : 0));
}

static ALWAYS_INLINE float cube_sc(float x, float y, float z)
{
    uint32_t axis = cube_axis(x, y, z);
    if (axis == 2)
        return z < 0.0f ? -x : x;
    if (axis == 1)
        return x;
    return x < 0.0f ? z : -z;
}

static ALWAYS_INLINE float cube_tc(float x, float y, float z)
{
    return cube_axis(x, y, z) == 1 ? (y < 0.0f ? -z : z) : -y;
}

static ALWAYS_INLINE float cube_ma(float x, float y, float z)
{
    uint32_t axis = cube_axis(x, y, z);
    return 2.0f * (axis == 2 ? z : axis == 1 ? y : x);
}

/* Those of four shader engines that a rectangle of tiles covers. The selector has two bits each of
 * the first and last tile: y, x of the first above y, x of the last. The engine of tile (x, y) is
 * (x[0] ^ y[1]) * 2 + (y[0] ^ x[1]); the table of the Vega ISA manual holds what follows from it.
 */
static ALWAYS_INLINE uint32_t screen_partition(uint32_t selector)
{
    uint32_t x0 = selector >> 6 & 3, y0 = selector >> 4 & 3, covered = 0;
    uint32_t columns = ((selector >> 2 & 3) - x0) & 3, rows = ((selector & 3) - y0) & 3;
    for (uint32_t i = 0; i < 16; i++) {
        uint32_t x = x0 + (i & 3), y = y0 + (i >> 2);
        uint32_t engine = ((x ^ y >> 1) & 1) << 1 | ((y ^ x >> 1) & 1);
        covered |= ((i & 3) <= columns) & (i >> 2 <= rows) ? 1u << engine : 0;
    }
    return covered;
}

/* ---- conversions: NaN gives 0, the rest saturates ---- */

static ALWAYS_INLINE int32_t i32_from_f32(float x)
{
    float inside = x > -2147483648.0f && x < 2147483648.0f ? x : 0.0f;
    int32_t value = (int32_t)inside;
    return x >= 2147483648.0f ? INT32_MAX : x <= -2147483648.0f ? INT32_MIN : value;
}

static ALWAYS_INLINE int32_t i32_from_f64(double x)
{
    double inside = x > -2147483649.0 && x < 2147483648.0 ? x : 0.0;
    int32_t value = (int32_t)inside;
    return x >= 2147483648.0 ? INT32_MAX : x <= -2147483649.0 ? INT32_MIN : value;
}

static ALWAYS_INLINE uint32_t u32_from_f64(double x)
{
    double inside = x > 0.0 && x < 4294967296.0 ? x : 0.0;
    double biased = __builtin_trunc(inside) - 2147483648.0;
    uint32_t value = (uint32_t)(int32_t)biased + 0x80000000u;
    return x >= 4294967296.0 ? 0xffffffff : value;
}

static ALWAYS_INLINE uint32_t u16_from_f32(float x)
{
    return (uint32_t)max(0, min(65535, i32_from_f32(x)));
}
static ALWAYS_INLINE int32_t i16_from_f32(float x)
{
    return max(-32768, min(32767, i32_from_f32(x)));
}

static ALWAYS_INLINE float clamp_f32(float x, float low, float high)
{
    return x < low ? low : x > high ? high : x;
}

/* Products are exact in double. */
static ALWAYS_INLINE uint32_t norm_i16(float x)
{
    double scaled = (double)clamp_f32(x, -1.0f, 1.0f) * 32767.0;
    return (uint32_t)i32_from_f64(__builtin_rint(scaled)) & 0xffff;
}

static ALWAYS_INLINE uint32_t norm_u16(float x)
{
    double scaled = (double)clamp_f32(x, 0.0f, 1.0f) * 65535.0;
    return (uint32_t)i32_from_f64(__builtin_rint(scaled)) & 0xffff;
}

static ALWAYS_INLINE uint32_t pack_u8(float a, uint32_t b, uint32_t c)
{
    uint32_t shift = (b & 3) * 8;
    uint32_t byte = (uint32_t)max(0, min(255, i32_from_f32(__builtin_rintf(a))));
    return (c & ~(255u << shift)) | byte << shift;
}

/* ---- minimum, maximum, median (Vega manual, V_MIN_F32, V_MED3_F32) ---- */

/* -0 < +0. A NaN loses against a number; of two NaNs the second results, as it is. With MODE's IEEE
 * bit, a signalling NaN results, quietened. Integer operations only: the host's treatment of
 * denormals does not matter. */

static ALWAYS_INLINE bool is_nan_f32(uint32_t x)
{
    return (x & 0x7fffffff) > 0x7f800000;
}
static ALWAYS_INLINE bool is_nan_f64(uint64_t x)
{
    return (x & INT64_MAX) > UINT64_C(0x7ff0000000000000);
}

/* Ordered as the floats are. */
static ALWAYS_INLINE int32_t order_f32(uint32_t x)
{
    return (int32_t)(x ^ (0 - (x >> 31)) >> 1);
}
static ALWAYS_INLINE int64_t order_f64(uint64_t x)
{
    return (int64_t)(x ^ (0 - (x >> 63)) >> 1);
}

/* x, the one of a and b that wins as numbers, unless one is a NaN. */
static ALWAYS_INLINE float unless_nan_f32(uint32_t x, uint32_t a, uint32_t b, bool ieee)
{
    const uint32_t quiet = 0x400000, signals = ieee ? quiet : 0;
    x = is_nan_f32(b) ? a : x;
    x = is_nan_f32(a) ? b : x;
    x = is_nan_f32(b) & ((~b & signals) != 0) ? b | quiet : x;
    return f32_bits(is_nan_f32(a) & ((~a & signals) != 0) ? a | quiet : x);
}

static ALWAYS_INLINE double unless_nan_f64(uint64_t x, uint64_t a, uint64_t b, bool ieee)
{
    const uint64_t quiet = UINT64_C(0x8000000000000), signals = ieee ? quiet : 0;
    x = is_nan_f64(b) ? a : x;
    x = is_nan_f64(a) ? b : x;
    x = is_nan_f64(b) & ((~b & signals) != 0) ? b | quiet : x;
    return f64_bits(is_nan_f64(a) & ((~a & signals) != 0) ? a | quiet : x);
}

static ALWAYS_INLINE float min_f32(float x, float y, bool ieee)
{
    uint32_t a = bits_f32(x), b = bits_f32(y);
    return unless_nan_f32(order_f32(a) < order_f32(b) ? a : b, a, b, ieee);
}
static ALWAYS_INLINE float max_f32(float x, float y, bool ieee)
{
    uint32_t a = bits_f32(x), b = bits_f32(y);
    return unless_nan_f32(order_f32(a) > order_f32(b) ? a : b, a, b, ieee);
}
static ALWAYS_INLINE double min_f64(double x, double y, bool ieee)
{
    uint64_t a = bits_f64(x), b = bits_f64(y);
    return unless_nan_f64(order_f64(a) < order_f64(b) ? a : b, a, b, ieee);
}
static ALWAYS_INLINE double max_f64(double x, double y, bool ieee)
{
    uint64_t a = bits_f64(x), b = bits_f64(y);
    return unless_nan_f64(order_f64(a) > order_f64(b) ? a : b, a, b, ieee);
}

static ALWAYS_INLINE float min3_f32(float a, float b, float c, bool ieee)
{
    return min_f32(min_f32(a, b, ieee), c, ieee);
}
static ALWAYS_INLINE float max3_f32(float a, float b, float c, bool ieee)
{
    return max_f32(max_f32(a, b, ieee), c, ieee);
}

static ALWAYS_INLINE bool equal_f32(float x, float y)
{
    uint32_t a = bits_f32(x), b = bits_f32(y);
    return (a == b) | !((a | b) << 1);
}

/* The larger of the two that are not the largest; with a NaN, the minimum of the three. */
static ALWAYS_INLINE float med3_f32(float a, float b, float c, bool ieee)
{
    float largest = max3_f32(a, b, c, ieee), left = equal_f32(largest, a) ? b : a;
    float right = equal_f32(largest, a) | equal_f32(largest, b) ? c : b;
    bool nan = is_nan_f32(bits_f32(a)) | is_nan_f32(bits_f32(b)) | is_nan_f32(bits_f32(c));
    return nan ? min3_f32(a, b, c, ieee) : max_f32(left, right, ieee);
}

/* ---- parts of floats ---- */

static ALWAYS_INLINE float fract_f32(float a)
{
    float part = a - __builtin_floorf(a);
    return part >= 1.0f ? 0x1.fffffep-1f : part;
}

static ALWAYS_INLINE float fract_f16(float a)
{
    float part = a - __builtin_floorf(a);
    return part >= 0x1.ffcp-1f ? 0x1.ffcp-1f : part;
}

static ALWAYS_INLINE double fract_f64(double a)
{
    double part = a - __builtin_floor(a);
    return part >= 1.0 ? 0x1.fffffffffffffp-1 : part;
}

/* Mantissa in [0.5, 1) and its exponent; zero, infinity and NaN have exponent 0 and are their own
 * mantissa. */
static ALWAYS_INLINE int32_t frexp_exp_f32(float a)
{
    uint32_t exponent = bits_f32(a) >> 23 & 255;
    uint32_t scaled = bits_f32(a * 0x1p64f) >> 23 & 255;
    int32_t value = exponent ? (int32_t)exponent - 126 : (int32_t)scaled - 126 - 64;
    return (a == 0.0f) | (exponent == 255) ? 0 : value;
}

static ALWAYS_INLINE float frexp_mant_f32(float a)
{
    uint32_t u = bits_f32(a), exponent = u >> 23 & 255;
    uint32_t scaled = exponent ? u : bits_f32(a * 0x1p64f);
    return (a == 0.0f) | (exponent == 255) ? a : f32_bits((scaled & 0x807fffff) | 126u << 23);
}

static ALWAYS_INLINE int32_t frexp_exp_f64(double a)
{
    uint32_t exponent = (uint32_t)(bits_f64(a) >> 52) & 2047;
    uint32_t scaled = (uint32_t)(bits_f64(a * 0x1p64) >> 52) & 2047;
    int32_t value = exponent ? (int32_t)exponent - 1022 : (int32_t)scaled - 1022 - 64;
    return (a == 0.0) | (exponent == 2047) ? 0 : value;
}

static ALWAYS_INLINE double frexp_mant_f64(double a)
{
    uint64_t u = bits_f64(a), exponent = u >> 52 & 2047;
    uint64_t scaled = exponent ? u : bits_f64(a * 0x1p64);
    return (a == 0.0) | (exponent == 2047)
               ? a
               : f64_bits((scaled & UINT64_C(0x800fffffffffffff)) | UINT64_C(1022) << 52);
}

static ALWAYS_INLINE double power_of_two(int32_t exponent)
{
    return f64_bits((uint64_t)(uint32_t)(exponent + 1023) << 52);
}

/* a * 2^b with one rounding: in double the product is exact for any float and clamped exponent. */
static ALWAYS_INLINE float ldexp_f32(float a, int32_t b)
{
    return (float)((double)a * power_of_two(max(-300, min(300, b))));
}

/* The product is exact in float; only the store rounds. */
static ALWAYS_INLINE float ldexp_f16(float a, int32_t b)
{
    int32_t exponent = max(-60, min(60, b));
    return a * f32_bits((uint32_t)(exponent + 127) << 23);
}

/* Three steps; for results in the denormal range the first two are exact, so that one rounding
 * remains. */
static ALWAYS_INLINE double ldexp_f64(double a, int32_t b)
{
    int32_t exponent = max(-2200, min(2200, b));
    uint32_t exponent_bits = (uint32_t)(bits_f64(a) >> 52) & 2047;
    int32_t lift = exponent_bits ? 0 : 64; /* normalise a denormal first */
    double normal = exponent_bits ? a : a * 0x1p64;
    int32_t stored = (int32_t)(bits_f64(normal) >> 52 & 2047), target = stored + exponent - lift;
    uint64_t body = bits_f64(normal) & UINT64_C(0x800fffffffffffff);
    int32_t inside = max(1, min(2046, target));
    double value = f64_bits(body | (uint64_t)(uint32_t)inside << 52);
    int32_t rest = target < 1 ? max(-1000, target - 1) : target > 2046 ? 1 : 0;
    double scaled = target > 2046 ? value * 0x1p1000 * 0x1p1000 : value * power_of_two(rest);
    return exponent_bits == 2047 || a == 0.0 ? a : scaled;
}

/* ---- classification ---- */

static ALWAYS_INLINE uint32_t class_bits(uint32_t negative, uint32_t nan, uint32_t quiet,
                                         uint32_t infinite, uint32_t zero, uint32_t denormal)
{
    if (nan)
        return 1u << quiet;
    if (infinite)
        return 1u << (negative ? 2 : 9);
    if (zero)
        return 1u << (negative ? 5 : 6);
    if (denormal)
        return 1u << (negative ? 4 : 7);
    return 1u << (negative ? 3 : 8);
}

static ALWAYS_INLINE int class_f32(uint32_t a, uint32_t mask)
{
    uint32_t m = a & 0x7fffffff;
    return (class_bits(a >> 31, m > 0x7f800000, m >> 22 & 1, m == 0x7f800000, m == 0, m < 0x800000)
            & mask)
           != 0;
}

static ALWAYS_INLINE int class_f16(uint32_t a, uint32_t mask)
{
    uint32_t m = a & 0x7fff;
    return (class_bits(a >> 15 & 1, m > 0x7c00, m >> 9 & 1, m == 0x7c00, m == 0, m < 0x400) & mask)
           != 0;
}

static ALWAYS_INLINE int class_f64(uint64_t a, uint32_t mask)
{
    uint64_t m = a & UINT64_C(0x7fffffffffffffff), infinity = UINT64_C(0x7ff0000000000000);
    return (class_bits((uint32_t)(a >> 63), m > infinity, (uint32_t)(m >> 51) & 1, m == infinity,
                       m == 0, m < UINT64_C(1) << 52)
            & mask)
           != 0;
}

/* ---- transcendental functions ---- */

static ALWAYS_INLINE float rsq_f32(float a)
{
    return (float)(1.0 / __builtin_sqrt((double)a));
}

/* 2^x: x = n + r, |r| <= 1/2; the series of e^(r ln 2) to r^11. */
static ALWAYS_INLINE float exp2_f32(float a)
{
    double x = (double)clamp_f32(a, -300.0f, 300.0f);
    x = a != a ? 0.0 : x;
    double n = __builtin_rint(x), t = (x - n) * 0x1.62e42fefa39efp-1;
    double p = 1.0 / 39916800;
    p = p * t + 1.0 / 3628800;
    p = p * t + 1.0 / 362880;
    p = p * t + 1.0 / 40320;
    p = p * t + 1.0 / 5040;
    p = p * t + 1.0 / 720;
    p = p * t + 1.0 / 120;
    p = p * t + 1.0 / 24;
    p = p * t + 1.0 / 6;
    p = p * t + 0.5;
    p = p * t + 1.0;
    p = p * t + 1.0;
    return a != a ? a : (float)(p * power_of_two((int32_t)n));
}

/* log2 of m * 2^e, sqrt(1/2) <= m < sqrt(2): e + 2/ln 2 * artanh((m-1)/(m+1)), the series to the
 * 21st power. */
static ALWAYS_INLINE float log2_f32(float a)
{
    double x = a > 0.0f && a < __builtin_inff() ? (double)a : 1.0;
    uint64_t u = bits_f64(x) + (UINT64_C(0x3ff0000000000000) - UINT64_C(0x3fe6a09e667f3bcd));
    int32_t exponent = (int32_t)(u >> 52) - 1023;
    double m = f64_bits((u & UINT64_C(0xfffffffffffff)) + UINT64_C(0x3fe6a09e667f3bcd));
    double f = (m - 1.0) / (m + 1.0), z = f * f;
    double p = 1.0 / 21;
    p = p * z + 1.0 / 19;
    p = p * z + 1.0 / 17;
    p = p * z + 1.0 / 15;
    p = p * z + 1.0 / 13;
    p = p * z + 1.0 / 11;
    p = p * z + 1.0 / 9;
    p = p * z + 1.0 / 7;
    p = p * z + 1.0 / 5;
    p = p * z + 1.0 / 3;
    p = p * z + 1.0;
    float result = (float)((double)exponent + f * p * 0x1.71547652b82fep+1);
    float special = a == 0.0f ? -__builtin_inff() : a < 0.0f ? __builtin_nanf("") : a;
    return a > 0.0f && a < __builtin_inff() ? result : special;
}

/* sin(2 pi r) for |r| <= 1/4 by its series to the 19th power. */
static ALWAYS_INLINE double sine_of_quarter(double r)
{
    double x = r * 0x1.921fb54442d18p+2, z = x * x;
    double p = -1.0 / 121645100408832000.0;
    p = p * z + 1.0 / 355687428096000.0;
    p = p * z - 1.0 / 1307674368000.0;
    p = p * z + 1.0 / 6227020800.0;
    p = p * z - 1.0 / 39916800.0;
    p = p * z + 1.0 / 362880.0;
    p = p * z - 1.0 / 5040.0;
    p = p * z + 1.0 / 120.0;
    p = p * z - 1.0 / 6.0;
    return x + x * z * p;
}

static ALWAYS_INLINE double fold_quarter(double turns)
{
    double r = turns - __builtin_rint(turns);
    return r > 0.25 ? 0.5 - r : r < -0.25 ? -0.5 - r : r;
}

static ALWAYS_INLINE float sin_turns_f32(float a)
{
    double x = __builtin_fabsf(a) <= 256.0f ? (double)a : 0.0;
    float result = (float)sine_of_quarter(fold_quarter(x));
    result = x == 0.0 ? (float)x : result;
    return __builtin_fabsf(a) < __builtin_inff() ? result : __builtin_nanf("");
}

static ALWAYS_INLINE float cos_turns_f32(float a)
{
    double x = __builtin_fabsf(a) <= 256.0f ? (double)a : 0.0;
    float result =
        (float)sine_of_quarter(fold_quarter(__builtin_fabs(x - __builtin_rint(x)) + 0.25));
    return __builtin_fabsf(a) < __builtin_inff() ? result : __builtin_nanf("");
}

/* ---- division helpers (sources: quotient or value, denominator, numerator) ---- */

/* A quotient estimate that overflowed leaves the iteration as NaN; with finite operands that means
 * overflow, as the manuals since RDNA3 spell out. The manual's listing of v_div_scale is followed
 * but for two cases in which quotients would be wrong. Where reciprocal and quotient are both
 * denormal, it scales the denominator up, which would overflow; here it goes down, as v_div_fmas,
 * which then divides, needs it. And a quotient that vanishes when rounded counts as denormal, too:
 * it may be half of the least one. */

static ALWAYS_INLINE int32_t exponent_f32(float x)
{
    return (int32_t)(bits_f32(x) >> 23 & 255);
}
static ALWAYS_INLINE int32_t exponent_f64(double x)
{
    return (int32_t)(bits_f64(x) >> 52 & 2047);
}
static ALWAYS_INLINE int denormal_f32(float x)
{
    return (x != 0.0f) & (__builtin_fabsf(x) < 0x1p-126f);
}
static ALWAYS_INLINE int denormal_f64(double x)
{
    return (x != 0.0) & (__builtin_fabs(x) < 0x1p-1022);
}

/* Below the least normal number: a quotient of numbers other than zero. */
static ALWAYS_INLINE int tiny_f32(float x)
{
    return __builtin_fabsf(x) < 0x1p-126f;
}
static ALWAYS_INLINE int tiny_f64(double x)
{
    return __builtin_fabs(x) < 0x1p-1022;
}

static ALWAYS_INLINE int div_scale_flag_f32(float b, float c)
{
    int valid = (b != 0.0f) & (c != 0.0f);
    int far_apart = exponent_f32(c) - exponent_f32(b) >= 96;
    int tiny = (1 - denormal_f32(b)) & tiny_f32(c / b);
    return valid & (far_apart | tiny);
}

static ALWAYS_INLINE float div_scale_f32(float a, float b, float c)
{
    float up = a * 0x1p64f, down = a * 0x1p-64f;
    int far_apart = exponent_f32(c) - exponent_f32(b) >= 96;
    int inverse_tiny = denormal_f32(1.0f / b), quotient_tiny = tiny_f32(c / b);
    int is_denominator = a == b, is_numerator = a == c;
    float rest = exponent_f32(c) <= 23 ? up : a;
    float numerator = is_numerator ? up : a, lowered = is_denominator ? down : a,
          raised = is_denominator ? up : a;
    rest = quotient_tiny ? numerator : rest;
    rest = inverse_tiny ? down : rest;
    rest = inverse_tiny & quotient_tiny ? lowered : rest;
    rest = denormal_f32(b) ? up : rest;
    rest = far_apart ? raised : rest;
    return (b == 0.0f) | (c == 0.0f) ? __builtin_nanf("") : rest;
}

static ALWAYS_INLINE int div_scale_flag_f64(double b, double c)
{
    int valid = (b != 0.0) & (c != 0.0);
    int far_apart = exponent_f64(c) - exponent_f64(b) >= 768;
    int tiny = (1 - denormal_f64(b)) & tiny_f64(c / b);
    return valid & (far_apart | tiny);
}

static ALWAYS_INLINE double div_scale_f64(double a, double b, double c)
{
    double up = a * 0x1p128, down = a * 0x1p-128;
    int far_apart = exponent_f64(c) - exponent_f64(b) >= 768;
    int inverse_tiny = denormal_f64(1.0 / b), quotient_tiny = tiny_f64(c / b);
    int is_denominator = a == b, is_numerator = a == c;
    double rest = exponent_f64(c) <= 53 ? up : a;
    double numerator = is_numerator ? up : a, lowered = is_denominator ? down : a,
           raised = is_denominator ? up : a;
    rest = quotient_tiny ? numerator : rest;
    rest = inverse_tiny ? down : rest;
    rest = inverse_tiny & quotient_tiny ? lowered : rest;
    rest = denormal_f64(b) ? up : rest;
    rest = far_apart ? raised : rest;
    return (b == 0.0) | (c == 0.0) ? __builtin_nan("") : rest;
}

/* The value of a quotient below half the least denormal number, by rounding mode. */
static ALWAYS_INLINE float underflow_f32(uint32_t sign, unsigned round)
{
    return f32_bits(round == (sign ? 2u : 1u) ? 1 : 0);
}
static ALWAYS_INLINE double underflow_f64(uint64_t sign, unsigned round)
{
    return f64_bits(round == (sign ? 2u : 1u) ? 1 : 0);
}

static ALWAYS_INLINE float div_fixup_f32(float a, float b, float c, unsigned round)
{
    uint32_t sign = (bits_f32(b) ^ bits_f32(c)) & 0x80000000;
    float infinity = __builtin_inff(), magnitude_b = __builtin_fabsf(b),
          magnitude_c = __builtin_fabsf(c);
    float estimate = a != a ? infinity : __builtin_fabsf(a);
    float result = exponent_f32(c) - exponent_f32(b) < -150 ? underflow_f32(sign, round) : estimate;
    result = (magnitude_b == infinity) | (c == 0.0f) ? 0.0f : result;
    result = (b == 0.0f) | (magnitude_c == infinity) ? infinity : result;
    result = f32_bits(bits_f32(result) | sign);
    int invalid =
        ((b == 0.0f) & (c == 0.0f)) | ((magnitude_b == infinity) & (magnitude_c == infinity));
    result = invalid ? f32_bits(0xffc00000) : result;
    result = b != b ? quiet_f32(b) : result;
    return c != c ? quiet_f32(c) : result;
}

static ALWAYS_INLINE double div_fixup_f64(double a, double b, double c, unsigned round)
{
    uint64_t sign = (bits_f64(b) ^ bits_f64(c)) & UINT64_C(0x8000000000000000);
    double magnitude_b = __builtin_fabs(b), magnitude_c = __builtin_fabs(c),
           infinity = __builtin_inf();
    double estimate = a != a ? infinity : __builtin_fabs(a);
    double result =
        exponent_f64(c) - exponent_f64(b) < -1075 ? underflow_f64(sign, round) : estimate;
    result = (magnitude_b == infinity) | (c == 0.0) ? 0.0 : result;
    result = (b == 0.0) | (magnitude_c == infinity) ? infinity : result;
    result = f64_bits(bits_f64(result) | sign);
    int invalid =
        ((b == 0.0) & (c == 0.0)) | ((magnitude_b == infinity) & (magnitude_c == infinity));
    result = invalid ? f64_bits(UINT64_C(0xfff8000000000000)) : result;
    result = b != b ? quiet_f64(b) : result;
    return c != c ? quiet_f64(c) : result;
}

static ALWAYS_INLINE float div_fixup_f16(float a, float b, float c)
{
    uint32_t sign = (bits_f32(b) ^ bits_f32(c)) & 0x80000000;
    float magnitude_b = __builtin_fabsf(b), magnitude_c = __builtin_fabsf(c),
          infinity = __builtin_inff();
    float estimate = a != a ? infinity : __builtin_fabsf(a);
    float result = (magnitude_b == infinity) | (c == 0.0f) ? 0.0f : estimate;
    result = (b == 0.0f) | (magnitude_c == infinity) ? infinity : result;
    result = f32_bits(bits_f32(result) | sign);
    int invalid =
        ((b == 0.0f) & (c == 0.0f)) | ((magnitude_b == infinity) & (magnitude_c == infinity));
    result = invalid ? f32_bits(0xffc00000) : result;
    result = b != b ? quiet_f32(b) : result;
    return c != c ? quiet_f32(c) : result;
}

/* ---- 2/pi for the reduction of large fp64 arguments ---- */

/* The first 1,201 bits of 2/pi after the binary point, as the manual's (2/PI)[1200:0]; computed
 * with Machin's formula. */
static const uint64_t two_over_pi[20]
    __attribute__((unused)) = {UINT64_C(0xa2f9836e4e441529), UINT64_C(0xfc2757d1f534ddc0),
                               UINT64_C(0xdb6295993c439041), UINT64_C(0xfe5163abdebbc561),
                               UINT64_C(0xb7246e3a424dd2e0), UINT64_C(0x06492eea09d1921c),
                               UINT64_C(0xfe1deb1cb129a73e), UINT64_C(0xe88235f52ebb4484),
                               UINT64_C(0xe99c7026b45f7e41), UINT64_C(0x3991d639835339f4),
                               UINT64_C(0x9c845f8bbdf9283b), UINT64_C(0x1ff897ffde05980f),
                               UINT64_C(0xef2f118b5a0a6d1f), UINT64_C(0x6d367ecf27cb09b7),
                               UINT64_C(0x4f463f669e5fea2d), UINT64_C(0x7527bac7ebe5f17b),
                               UINT64_C(0x3d0739f78a5292ea), UINT64_C(0x6bfb5fb11f8d5d08),
                               UINT64_C(0x56033046fc7b0000), 0};

/* Bits [shift, shift + 53) of 2/pi as a double of their weight, 128 binades up for exponents of
 * 1968 and above. */
static ALWAYS_INLINE double trig_preop_f64(double a, uint32_t b)
{
    int32_t exponent = exponent_f64(a), shift = (int32_t)(b & 31) * 53;
    shift += exponent > 1077 ? exponent - 1077 : 0;
    int32_t scale = -53 - shift + (exponent >= 1968 ? 128 : 0);
    if (shift >= 1216)
        return 0.0;
    uint64_t high = two_over_pi[shift / 64], low = two_over_pi[shift / 64 + 1];
    uint32_t offset = (uint32_t)shift % 64;
    uint64_t window = offset ? high << offset | low >> (64 - offset) : high;
    return ldexp_f64((double)(window >> 11), scale);
}

#endif
