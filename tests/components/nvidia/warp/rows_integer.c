/* Integer instructions in the manual's words, bit by bit where it says so. */
#include "rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
typedef uint64_t U;
#define W(name, value)                                                                             \
    static U name(U a, U b, U c)                                                                   \
    {                                                                                              \
        (void)a, (void)b, (void)c;                                                                 \
        return (U)(value);                                                                         \
    }
#define S32(x) ((int64_t)(int32_t)(uint32_t)(x))
#define S16(x) ((int64_t)(int16_t)(uint16_t)(x))
#define U32(x) ((U)(uint32_t)(x))

static U sum_of_products(U a, U b, U c, bool a_signed, bool b_signed, unsigned width, unsigned skip)
{
    int64_t d = S32(c);
    for (unsigned i = 0; i < 32 / width; i++) {
        int64_t x = (int64_t)(a >> width * i & ((1u << width) - 1)), y;
        y = (int64_t)(b >> (8 * i + skip) & 255);
        if (a_signed && x >> (width - 1))
            x -= 1 << width;
        if (b_signed && y >> 7)
            y -= 256;
        d += x * y;
    }
    return U32(d);
}
W(dp4a_ss, sum_of_products(a, b, c, true, true, 8, 0))
W(dp4a_us, sum_of_products(a, b, c, false, true, 8, 0))
W(dp4a_su, sum_of_products(a, b, c, true, false, 8, 0))
W(dp4a_uu, sum_of_products(a, b, c, false, false, 8, 0))
W(dp2a_lo_ss, sum_of_products(a, b, c, true, true, 16, 0))
W(dp2a_hi_su, sum_of_products(a, b, c, true, false, 16, 16))
W(dp2a_hi_us, sum_of_products(a, b, c, false, true, 16, 16))
W(dp2a_lo_uu, sum_of_products(a, b, c, false, false, 16, 0))

/* Video instructions by the manual's words: Va[i] and Vb[i] are parts of {b, a}, in the order of
 * the places, the lowest first. */
enum video_op { VADD, VSUB, VAVRG, VABSDIFF, VMIN, VMAX, VSETGT };
struct video {
    enum video_op op;
    int bits;
    bool s, sat, add;
    int va[4], vb[4];
    bool mask[4];
};
static U video(U a, U b, U c, struct video v)
{
    uint8_t bytes[8];
    uint32_t words[2] = {(uint32_t)a, (uint32_t)b};
    memcpy(bytes, words, 8);
    int64_t low = v.s ? -(1 << (v.bits - 1)) : 0, high = (1 << (v.bits - v.s)) - 1;
    uint32_t d = v.add ? (uint32_t)c : 0;
    for (int i = 0; i < 32 / v.bits; i++) {
        int64_t x, y, t;
        if (v.bits == 8) {
            x = v.s ? (int8_t)bytes[v.va[i]] : bytes[v.va[i]];
            y = v.s ? (int8_t)bytes[v.vb[i]] : bytes[v.vb[i]];
        } else {
            uint16_t p, q;
            memcpy(&p, bytes + 2 * v.va[i], 2);
            memcpy(&q, bytes + 2 * v.vb[i], 2);
            x = v.s ? (int16_t)p : p;
            y = v.s ? (int16_t)q : q;
        }
        int64_t average = x + y >= 0 ? (x + y + 1) >> 1 : (x + y) >> 1;
        const int64_t results[] = {x + y,         x - y,         average, llabs(x - y),
                                   x < y ? x : y, x < y ? y : x, x > y};
        t = results[v.op];
        if (v.sat)
            t = t < low ? low : t > high ? high : t;
        uint32_t where = (uint32_t)(((uint64_t)1 << v.bits) - 1) << v.bits * i;
        if (v.add)
            d += v.mask[i] ? (uint32_t)t : 0;
        else
            d |= (v.mask[i] ? (uint32_t)t << v.bits * i : (uint32_t)c) & where;
    }
    return d;
}
#define BYTES  {0, 1, 2, 3}, {4, 5, 6, 7}, {1, 1, 1, 1}
#define HALVES {0, 1}, {2, 3}, {1, 1}
#define V(name, ...)                                                                               \
    static U name(U a, U b, U c)                                                                   \
    {                                                                                              \
        return video(a, b, c, (struct video){__VA_ARGS__});                                        \
    }
V(vabsdiff4_add, VABSDIFF, 8, false, false, true, BYTES)
V(vabsdiff4_s, VABSDIFF, 8, true, false, false, BYTES)
V(vabsdiff2_add, VABSDIFF, 16, false, false, true, HALVES)
V(vabsdiff2_s_sat, VABSDIFF, 16, true, true, false, HALVES)
V(vadd4_sat, VADD, 8, false, true, false, BYTES)
V(vadd4_places, VADD, 8, true, false, false, {1, 3, 5, 7}, {6, 4, 2, 0}, {1, 0, 1, 0})
V(vsub2_s_sat, VSUB, 16, true, true, false, HALVES)
V(vavrg4_u, VAVRG, 8, false, false, false, BYTES)
V(vadd2_u, VADD, 16, false, false, false, HALVES)
V(vsub4_s_sat, VSUB, 8, true, true, false, BYTES)
V(vmin2_u, VMIN, 16, false, false, false, HALVES)
V(vmax4_s_add, VMAX, 8, true, false, true, BYTES)
V(vavrg2_s, VAVRG, 16, true, false, false, HALVES)
V(vmin4_s, VMIN, 8, true, false, false, BYTES)
V(vmax2_add, VMAX, 16, false, false, true, {3, 0}, {1, 2}, {0, 1})
V(vset4_gt, VSETGT, 8, true, false, true, BYTES)
V(vset2_gt, VSETGT, 16, false, false, false, HALVES)

static U saturated(int64_t x)
{
    return U32(x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x);
}
/* Scalar ones by the pseudocode of 9.7.18.1; selectors are texts. */
static int64_t selected(U x, const char *part, bool is_signed)
{
    uint8_t bytes[4];
    memcpy(bytes, &x, 4);
    int at = part[0] ? (part[1] - '0') * (part[0] == 'h' ? 2 : 1) : 0;
    if (part[0] == 'b')
        return is_signed ? (int8_t)bytes[at] : bytes[at];
    uint16_t half = (uint16_t)(bytes[at] | bytes[at + 1] << 8);
    if (part[0] == 'h')
        return is_signed ? (int16_t)half : half;
    return is_signed ? (int32_t)x : (int64_t)(uint32_t)x;
}
static double clamped(double x, const char *part, bool is_signed)
{
    double all = part[0] == 'b' ? 256 : part[0] == 'h' ? 65536 : 4294967296.;
    double least = is_signed ? -all / 2 : 0, most = (is_signed ? all / 2 : all) - 1;
    return x < least ? least : x > most ? most : x;
}
static U merged(int64_t t, U c, const char *part)
{
    uint32_t at = part[0] ? (uint32_t)(part[1] - '0') * (part[0] == 'h' ? 16 : 8) : 0;
    uint32_t where = (part[0] == 'b' ? 0xffu : part[0] == 'h' ? 0xffffu : 0xffffffffu) << at;
    return ((uint32_t)t << at & where) | ((uint32_t)c & ~where);
}
#define X(part, s) selected(a, part, s)
#define Y(part, s) selected(b, part, s)
#define Z(s)       selected(c, "", s)
#define SAT(x, part, s) ((int64_t)clamped((double)(x), part, s))
static U average_of(U a, U b, U c, bool sat)
{
    __int128 t = ((__int128)U32(a) * U32(b) + U32(c) + 1) >> 7;
    return sat && t > 0xffffffff ? 0xffffffff : U32(t);
}
static U scaled(U a, U b, U c)
{
    __int128 t = ((__int128)S32(a) * U32(b) - S32(c)) >> 15;
    return U32(t > INT32_MAX ? INT32_MAX : t < INT32_MIN ? INT32_MIN : t);
}
W(vadd_parts, U32(SAT(X("b0", false) + Y("h1", true), "", true)))
W(vadd_sat_u, U32(SAT(X("", true) + Y("", true), "", false)))
W(vsub_add, U32(X("", true) - Y("", true) + Z(true)))
W(vsub_merge, merged(SAT(X("", false) - Y("", false), "h1", true), c, "h1"))
W(vabsdiff_merge, merged(llabs(X("b1", true) - Y("b2", true)), c, "b0"))
W(vabsdiff_sat, merged(SAT(llabs(X("", true) - Y("", false)), "b3", false), c, "b3"))
W(vmin_mixed, U32(X("", true) < Y("", false) ? X("", true) : Y("", false)))
W(vmax_max, U32(fmax((double)(X("h0", true) > Y("h1", true) ? X("h0", true) : Y("h1", true)),
                     (double)Z(true))))
W(vmin_min_u, U32(X("", false) < Y("", false) ? (X("", false) < Z(false) ? a : c)
                                              : (Y("", false) < Z(false) ? b : c)))
W(vshl_clamp, b >= 32 ? 0 : U32(a << b))
W(vshl_sat, U32(SAT((double)X("", true) * exp2(b > 32 ? 32 : (double)b), "", true)))
W(vshr_wrap, U32(S32(a) >> ((b >> 16) & 31)))
W(vshr_add, U32((b > 31 ? 0 : a >> b) + c))
W(vmad_plain, U32(X("b0", false) * Y("h1", false) + Z(false)))
W(vmad_minus, saturated(X("h0", true) * Y("h0", false) - Z(true)))
W(vmad_product, U32(Z(true) - X("h0", true) * Y("h1", true)))
W(vmad_po, average_of(a, b, c, true))
W(vmad_scaled, scaled(a, b, c))
W(vset_lt, X("", true) < Y("", false))
W(vset_add, U32((X("b3", true) >= Y("b0", true)) + Z(false)))
W(vset_merge, merged(X("h0", true) != Y("h1", false), c, "h0"))

static unsigned exponent_of(U a)
{
    return (unsigned)(a >> 23 & 255);
}
W(copysign_f32, (a & 0x80000000) | (b & 0x7fffffff))
W(copysign_f64, (a & 0x8000000000000000) | (b & 0x7fffffffffffffff))
W(testp_finite, exponent_of(a) != 255)
W(testp_infinite, (a & 0x7fffffff) == 0x7f800000)
W(testp_number, (a & 0x7fffffff) <= 0x7f800000)
W(testp_nan, (a & 0x7fffffff) > 0x7f800000)
W(testp_normal, exponent_of(a) != 255 && exponent_of(a) != 0)
W(testp_subnormal, exponent_of(a) == 0 && (a & 0x7fffff))
W(madc_hi, U32((a * b >> 32) + c + ((U32(a * b) + c) >> 32)))
W(minus_seven, a - 7)
W(add_s32, a + b)
W(sub_s32, a - b)
W(add_u64, a + b)
W(sub_u64, a - b)
W(add_sat, saturated(S32(a) + S32(b)))
W(sub_sat, saturated(S32(a) - S32(b)))
W(mul_lo, a *b)
W(mad_lo, a *b + c)
W(mul_hi_s32, U32(S32(a) * S32(b) >> 32))
W(mul_hi_u32, a *b >> 32)
W(mul_hi_u64, ((unsigned __int128)a * b) >> 64)
W(mul_hi_s64, ((__int128)(int64_t)a * (int64_t)b) >> 64)
W(mul_hi_s16, (S16(a) * S16(b) >> 16) & 0xffff)
W(mul_hi_u16, a *b >> 16)
W(mad_hi_s32, U32((S32(a) * S32(b) >> 32) + S32(c)))
W(mad_hi_sat, saturated((S32(a) * S32(b) >> 32) + S32(c)))
W(mul_wide_s32, S32(a) * S32(b))
W(mul_wide_u32, a *b)
W(mul_wide_s16, U32(S16(a) * S16(b)))
W(mad_wide_s32, (U)(S32(a) * S32(b)) + c)
W(mad_wide_u16, U32(a *b + c)) static int64_t
    low24(U x, bool is_signed)
{
    x &= 0xffffff;
    return is_signed && x >> 23 ? (int64_t)x - (1 << 24) : (int64_t)x;
}
W(mul24_lo_s, U32(low24(a, true) * low24(b, true)))
W(mul24_hi_u, U32(low24(a, false) * low24(b, false) >> 16))
W(mul24_hi_s, U32(low24(a, true) * low24(b, true) >> 16))
W(mad24_lo_u, U32(low24(a, false) * low24(b, false) + (int64_t)c))
W(sad_s32, U32(c + (U)(S32(a) < S32(b) ? S32(b) - S32(a) : S32(a) - S32(b))))
W(sad_u16, (c + (a < b ? b - a : a - b)) & 0xffff)
W(div_s32, b ? (b == 0xffffffff ? U32(0 - a) : U32(S32(a) / S32(b))) : 0xffffffff)
W(div_u32, b ? a / b : 0xffffffff)
W(rem_u32, b ? a % b : a)
W(rem_s32, b ? (b == 0xffffffff ? 0 : U32(S32(a) % S32(b))) : a)
W(div_s64, b ? (b == UINT64_MAX ? 0 - a : (U)((int64_t)a / (int64_t)b)) : UINT64_MAX)
W(rem_u64, b ? a % b : a)
W(div_u16, b ? a / b : 0xffff)
W(abs_s32, U32(S32(a) < 0 ? -S32(a) : S32(a)))
W(neg_s32, U32(0 - a))
W(neg_s16, (0 - a) & 0xffff)
W(min_s32, S32(a) < S32(b) ? a : b)
W(max_u32, a > b ? a : b)
W(min_u16, a < b ? a : b)
W(max_s64, (int64_t)a > (int64_t)b ? a : b)
W(max_s16, S16(a) > S16(b) ? a : b) static U count(U x)
{
    U n = 0;
    for (; x; x >>= 1)
        n += x & 1;
    return n;
}
static U highest(U x, U none)
{
    for (int i = 63; i >= 0; i--)
        if (x >> i & 1)
            return (U)i;
    return none;
}
W(popc, count(a))
W(clz32, 31 - highest(a, (U)-1))
W(clz64, 63 - highest(a, (U)-1))
W(bfind_u32, U32(highest(a, (U)-1)))
W(bfind_s32, U32(highest(a >> 31 ? U32(~a) : a, (U)-1)))
W(bfind_s64, U32(highest(a >> 63 ? ~a : a, (U)-1)))
W(bfind_shift, a ? 31 - highest(a, 0) : 0xffffffff) static U
    reversed(U x, unsigned bits)
{
    U d = 0;
    for (unsigned i = 0; i < bits; i++)
        d |= (x >> i & 1) << (bits - 1 - i);
    return d;
}
W(brev32, reversed(a, 32))
W(brev64, reversed(a, 64))
    /* 9.7.1.18, the pseudocode of bfe */
    static U field(U a, U b, U c, unsigned size, bool is_signed)
{
    unsigned position = b & 255, length = c & 255, top = size - 1;
    U sign = 0, d = 0;
    if (is_signed && length) {
        unsigned at = position + length - 1 < top ? position + length - 1 : top;
        sign = a >> at & 1;
    }
    for (unsigned i = 0; i <= top; i++) {
        U bit = i < length && position + i <= top ? a >> (position + i) & 1 : sign;
        d |= bit << i;
    }
    return d;
}
W(bfe_u32, field(a, b, c, 32, false))
W(bfe_s32, field(a, b, c, 32, true))
W(bfe_u64, field(a, b, c, 64, false))
W(bfe_s64, field(a, b, c, 64, true))
    /* bfi with b = 0x12345678 */
    static U inserted(U a, U f, U c, U d)
{
    unsigned position = c & 255, length = d & 255;
    for (unsigned i = 0; i < length && position + i <= 31; i++)
        f = (f & ~((U)1 << (position + i))) | (a >> i & 1) << (position + i);
    return f;
}
W(bfi_b32, inserted(a, 0x12345678, b, c))
static U nth_set(U mask, U base, int64_t n)
{
    if (n == 0)
        return base < 32 && mask >> base & 1 ? base : 0xffffffff;
    for (int64_t i = (int64_t)base; i >= 0 && i<32; i += n> 0 ? 1 : -1) {
        if (mask >> i & 1)
            n -= n > 0 ? 1 : -1;
        if (n == 0)
            return (U)i;
    }
    return 0xffffffff;
}
W(fns, nth_set(a, b & 31, S32(c) % 40))
W(bmsk_clamp, U32((b >= 32 ? 0xffffffffull : ((U)1 << b) - 1) << (a >= 32 ? 32 : a)))
W(bmsk_wrap, U32((((U)1 << (b & 31)) - 1) << (a & 31)))
static U extended(U a, U n, bool is_signed)
{
    U d = 0;
    for (unsigned i = 0; i < 32; i++)
        d |= (i < n ? a >> i & 1 : is_signed && n ? a >> (n - 1) & 1 : 0) << i;
    return d;
}
W(szext_clamp_s, extended(a, b > 32 ? 32 : b, true))
W(szext_wrap_u, extended(a, b & 31, false))
W(and_b32, a &b)
W(or_b64, a | b)
W(xor_b16, a ^ b)
W(not_b32, U32(~a))
W(cnot_b32, a == 0) static U table(U a, U b, U c, unsigned lut)
{
    U d = 0;
    for (unsigned i = 0; i < 32; i++)
        d |= (U)(lut >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1) << i;
    return d;
}
W(lop3_96, table(a, b, c, 0x96))
W(lop3_e8, table(a, b, c, 0xe8))
W(lop3_1d, table(a, b, c, 0x1d))
W(lop3_or, table(a, b, c, 0x80) != 0)
W(shl32, b >= 32 ? 0 : U32(a << b))
W(shl16, b >= 16 ? 0 : a << b & 0xffff)
W(shl64, b >= 64 ? 0 : a << b)
W(shr_u32, b >= 32 ? 0 : a >> b)
W(shr_u64, b >= 64 ? 0 : a >> b)
W(shr_s32, U32(S32(a) >> (b > 31 ? 31 : b)))
W(shr_s16, (U)(S16(a) >> (b > 15 ? 15 : b)) & 0xffff)
W(shr_s64, (int64_t)a >> (b > 63 ? 63 : b)) static U
    funnel(U a, U b, U n, bool left)
{
    U whole = b << 32 | a;
    return n >= 32 ? (left ? a : b) : left ? U32((whole << n) >> 32) : U32(whole >> n);
}
W(shf_l_clamp, funnel(a, b, c, true))
W(shf_r_clamp, funnel(a, b, c, false))
W(shf_l_wrap, funnel(a, b, c & 31, true))
W(shf_r_wrap, funnel(a, b, c & 31, false)) static U permuted(U a, U b, U selector)
{
    U d = 0, bytes[8];
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (i < 4 ? a >> 8 * i : b >> 8 * (i - 4)) & 255;
    for (unsigned i = 0; i < 4; i++) {
        U s = selector >> 4 * i & 15, byte = bytes[s & 7];
        d |= (s & 8 ? (byte & 128 ? 255 : 0) : byte) << 8 * i;
    }
    return d;
}
static U moded(U a, U b, U c, const unsigned *modes)
{
    return permuted(a, b, modes[c & 3]);
}
static const unsigned f4e[] = {0x3210, 0x4321, 0x5432, 0x6543},
                      b4e[] = {0x5670, 0x6701, 0x7012, 0x0123},
                      rc8[] = {0x0000, 0x1111, 0x2222, 0x3333},
                      ecl[] = {0x3210, 0x3211, 0x3222, 0x3333},
                      ecr[] = {0x0000, 0x1110, 0x2210, 0x3210},
                      rc16[] = {0x1010, 0x3232, 0x1010, 0x3232};
W(prmt, permuted(a, b, c))
W(prmt_f4e, moded(a, b, c, f4e))
W(prmt_b4e, moded(a, b, c, b4e))
W(prmt_rc8, moded(a, b, c, rc8))
W(prmt_ecl, moded(a, b, c, ecl))
W(prmt_ecr, moded(a, b, c, ecr))
W(prmt_rc16, moded(a, b, c, rc16))
W(add_carry, a + b > 0xffffffff)
W( sub_borrow, U32(0 - (U)(a < b)))
W(mad_carry, ((unsigned __int128)U32(a * b) + c) >> 32)
W(wide_sum, a + b + c)
W(eq, a == b)
W(lt_s32, S32(a) < S32(b))
W(lo_u32, a < b)
W(ge_s64, (int64_t)a >= (int64_t)b)
W(hs_u16, a >= b)
W(le_s16, S16(a) <= S16(b))
W(gt_u64, a > b)
W(ne_b64, a != b)
W(and_not, !(a < b) && c > 5)
W( xor_lt, (a < b) != (c > 5))
W(selp, a < b ? a : c)
W(slct, S32(c) >= 0 ? a : b)
W(set_ones, a < b ? 0xffffffff : 0)
W(set_f32, a < b ? 0x3f800000 : 0)
W(cvt_s8, U32((int64_t)(int8_t)a))
W( cvt_u8_s32, S32(a) < 0 ? 0 : a > 255 ? 255 : a)
static U clamped_16(U x)
{
    int64_t y = S32(x);
    return (U)(y > 32767 ? 32767 : y < -32768 ? -32768 : y);
}
W(cvt_s16_sat, clamped_16(a) & 0xffff)
W(cvt_s64_s32, S32(a))
W(cvt_u64_u32, a)
W(cvt_u32_u64, U32(a))
W(cvt_u16_s8, (U)(int8_t)a & 0xffff)
W( cvt_s32_u64_sat, a > 0x7fffffff ? 0x7fffffff : a)
W(cvt_u64_s64_sat, (int64_t)a < 0 ? 0 : a)
W(cvt_pack, (clamped_16(a) & 0xffff) << 16 | (clamped_16(b) & 0xffff))
W(pack2, a | b << 32)
W(unpack_high, a >> 32)
W(pack_halves, (a & 0xffff) | (b << 16))
W(add_16x2, ((a + b) & 0xffff) | U32(((a >> 16) + (b >> 16)) << 16))
W(max_s16x2, ((U)(S16(a) > S16(b) ? a : b) & 0xffff)
                 | ((S16(a >> 16) > S16(b >> 16) ? a >> 16 : b >> 16) << 16))
W(min_u16x2, ((a & 0xffff) < (b & 0xffff) ? a & 0xffff : b & 0xffff)
                 | (a >> 16 < b >> 16 ? a >> 16 : b >> 16) << 16)

#define R "b32"
#define H "b16"
#define D "b64"
const struct row integer_rows[] = {
    {"add.s32 %d, %a, %b;", R, R, R, 0, add_s32},
    {"sub.s32 %d, %a, %b;", R, R, R, 0, sub_s32},
    {"add.u64 %d, %a, %b;", D, D, D, 0, add_u64},
    {"sub.s64 %d, %a, %b;", D, D, D, 0, sub_u64},
    {"add.u16 %d, %a, %b;", H, H, H, 0, add_s32},
    {"add.s32 %d, %a, -7;", R, R, 0, 0, minus_seven},
    {"add.sat.s32 %d, %a, %b;", R, R, R, 0, add_sat},
    {"sub.sat.s32 %d, %a, %b;", R, R, R, 0, sub_sat},
    {"mul.lo.s32 %d, %a, %b;", R, R, R, 0, mul_lo},
    {"mul.lo.u64 %d, %a, %b;", D, D, D, 0, mul_lo},
    {"mul.lo.u16 %d, %a, %b;", H, H, H, 0, mul_lo},
    {"mad.lo.s32 %d, %a, %b, %c;", R, R, R, R, mad_lo},
    {"mad.lo.s64 %d, %a, %b, %c;", D, D, D, D, mad_lo},
    {"mad.lo.u16 %d, %a, %b, %c;", H, H, H, H, mad_lo},
    {"mul.hi.s32 %d, %a, %b;", R, R, R, 0, mul_hi_s32},
    {"mul.hi.u32 %d, %a, %b;", R, R, R, 0, mul_hi_u32},
    {"mul.hi.u64 %d, %a, %b;", D, D, D, 0, mul_hi_u64},
    {"mul.hi.s64 %d, %a, %b;", D, D, D, 0, mul_hi_s64},
    {"mul.hi.s16 %d, %a, %b;", H, H, H, 0, mul_hi_s16},
    {"mul.hi.u16 %d, %a, %b;", H, H, H, 0, mul_hi_u16},
    {"mad.hi.s32 %d, %a, %b, %c;", R, R, R, R, mad_hi_s32},
    {"mad.hi.sat.s32 %d, %a, %b, %c;", R, R, R, R, mad_hi_sat},
    {"mul.wide.s32 %d, %a, %b;", D, R, R, 0, mul_wide_s32},
    {"mul.wide.u32 %d, %a, %b;", D, R, R, 0, mul_wide_u32},
    {"mul.wide.s16 %d, %a, %b;", R, H, H, 0, mul_wide_s16},
    {"mad.wide.s32 %d, %a, %b, %c;", D, R, R, D, mad_wide_s32},
    {"mad.wide.u16 %d, %a, %b, %c;", R, H, H, R, mad_wide_u16},
    {"mul24.lo.s32 %d, %a, %b;", R, R, R, 0, mul24_lo_s},
    {"mul24.hi.u32 %d, %a, %b;", R, R, R, 0, mul24_hi_u},
    {"mul24.hi.s32 %d, %a, %b;", R, R, R, 0, mul24_hi_s},
    {"mad24.lo.u32 %d, %a, %b, %c;", R, R, R, R, mad24_lo_u},
    {"sad.s32 %d, %a, %b, %c;", R, R, R, R, sad_s32},
    {"sad.u16 %d, %a, %b, %c;", H, H, H, H, sad_u16},
    {"div.s32 %d, %a, %b;", R, R, R, 0, div_s32},
    {"div.u32 %d, %a, %b;", R, R, R, 0, div_u32},
    {"div.s64 %d, %a, %b;", D, D, D, 0, div_s64},
    {"div.u16 %d, %a, %b;", H, H, H, 0, div_u16},
    {"rem.s32 %d, %a, %b;", R, R, R, 0, rem_s32},
    {"rem.u32 %d, %a, %b;", R, R, R, 0, rem_u32},
    {"rem.u64 %d, %a, %b;", D, D, D, 0, rem_u64},
    {"abs.s32 %d, %a;", R, R, 0, 0, abs_s32},
    {"neg.s32 %d, %a;", R, R, 0, 0, neg_s32},
    {"neg.s16 %d, %a;", H, H, 0, 0, neg_s16},
    {"min.s32 %d, %a, %b;", R, R, R, 0, min_s32},
    {"max.u32 %d, %a, %b;", R, R, R, 0, max_u32},
    {"min.u16 %d, %a, %b;", H, H, H, 0, min_u16},
    {"max.s64 %d, %a, %b;", D, D, D, 0, max_s64},
    {"max.s16 %d, %a, %b;", H, H, H, 0, max_s16},
    {"popc.b32 %d, %a;", R, R, 0, 0, popc},
    {"popc.b64 %d, %a;", R, D, 0, 0, popc},
    {"clz.b32 %d, %a;", R, R, 0, 0, clz32},
    {"clz.b64 %d, %a;", R, D, 0, 0, clz64},
    {"bfind.u32 %d, %a;", R, R, 0, 0, bfind_u32},
    {"bfind.s32 %d, %a;", R, R, 0, 0, bfind_s32},
    {"bfind.s64 %d, %a;", R, D, 0, 0, bfind_s64},
    {"bfind.shiftamt.u32 %d, %a;", R, R, 0, 0, bfind_shift},
    {"brev.b32 %d, %a;", R, R, 0, 0, brev32},
    {"brev.b64 %d, %a;", D, D, 0, 0, brev64},
    {"bfe.u32 %d, %a, %b, %c;", R, R, R, R, bfe_u32},
    {"bfe.s32 %d, %a, %b, %c;", R, R, R, R, bfe_s32},
    {"bfe.u64 %d, %a, %b, %c;", D, D, R, R, bfe_u64},
    {"bfe.s64 %d, %a, %b, %c;", D, D, R, R, bfe_s64},
    {"bfi.b32 %d, %a, 0x12345678, %b, %c;", R, R, R, R, bfi_b32},
    {"{.reg .b32 b, n; and.b32 b, %b, 31; rem.s32 n, %c, 40; fns.b32 %d, %a, b, n;}",
     R, R, R, R, fns},
    {"bmsk.clamp.b32 %d, %a, %b;", R, R, R, 0, bmsk_clamp},
    {"bmsk.wrap.b32 %d, %a, %b;", R, R, R, 0, bmsk_wrap},
    {"szext.clamp.s32 %d, %a, %b;", R, R, R, 0, szext_clamp_s},
    {"szext.wrap.u32 %d, %a, %b;", R, R, R, 0, szext_wrap_u},
    {"dp4a.s32.s32 %d, %a, %b, %c;", R, R, R, R, dp4a_ss},
    {"dp4a.u32.s32 %d, %a, %b, %c;", R, R, R, R, dp4a_us},
    {"dp4a.s32.u32 %d, %a, %b, %c;", R, R, R, R, dp4a_su},
    {"dp4a.u32.u32 %d, %a, %b, %c;", R, R, R, R, dp4a_uu},
    {"dp2a.lo.s32.s32 %d, %a, %b, %c;", R, R, R, R, dp2a_lo_ss},
    {"dp2a.hi.s32.u32 %d, %a, %b, %c;", R, R, R, R, dp2a_hi_su},
    {"dp2a.hi.u32.s32 %d, %a, %b, %c;", R, R, R, R, dp2a_hi_us},
    {"dp2a.lo.u32.u32 %d, %a, %b, %c;", R, R, R, R, dp2a_lo_uu},
    {"vabsdiff4.u32.u32.u32.add %d, %a, %b, %c;", R, R, R, R, vabsdiff4_add},
    {"vabsdiff4.u32.s32.s32 %d, %a, %b, %c;", R, R, R, R, vabsdiff4_s},
    {"vabsdiff2.u32.u32.u32.add %d, %a, %b, %c;", R, R, R, R, vabsdiff2_add},
    {"vabsdiff2.s32.s32.s32.sat %d, %a, %b, %c;", R, R, R, R, vabsdiff2_s_sat},
    {"vadd4.u32.u32.u32.sat %d, %a, %b, %c;", R, R, R, R, vadd4_sat},
    {"vadd4.s32.s32.s32 %d.b20, %a.b7531, %b.b0246, %c;", R, R, R, R, vadd4_places},
    {"vsub2.s32.s32.s32.sat %d, %a, %b, %c;", R, R, R, R, vsub2_s_sat},
    {"vavrg4.u32.u32.u32 %d, %a, %b, %c;", R, R, R, R, vavrg4_u},
    {"vmin4.s32.s32.s32 %d, %a, %b, %c;", R, R, R, R, vmin4_s},
    {"vmax2.u32.u32.u32.add %d.h1, %a.h03, %b.h21, %c;", R, R, R, R, vmax2_add},
    {"vset4.s32.s32.gt.add %d, %a, %b, %c;", R, R, R, R, vset4_gt},
    {"vset2.u32.u32.gt %d, %a, %b, %c;", R, R, R, R, vset2_gt},
    {"copysign.f32 %d, %a, %b;", "f32", "f32", "f32", 0, copysign_f32},
    {"copysign.f64 %d, %a, %b;", "f64", "f64", "f64", 0, copysign_f64},
    {"{.reg .pred p; testp.finite.f32 p, %a; selp.b32 %d, 1, 0, p;}", R, "f32", 0, 0, testp_finite},
    {"{.reg .pred p; testp.infinite.f32 p, %a; selp.b32 %d, 1, 0, p;}",
     R, "f32", 0, 0, testp_infinite},
    {"{.reg .pred p; testp.number.f32 p, %a; selp.b32 %d, 1, 0, p;}", R, "f32", 0, 0, testp_number},
    {"{.reg .pred p; testp.notanumber.f32 p, %a; selp.b32 %d, 1, 0, p;}",
     R, "f32", 0, 0, testp_nan},
    {"{.reg .pred p; testp.normal.f32 p, %a; selp.b32 %d, 1, 0, p;}", R, "f32", 0, 0, testp_normal},
    {"{.reg .pred p; testp.subnormal.f32 p, %a; selp.b32 %d, 1, 0, p;}",
     R, "f32", 0, 0, testp_subnormal},
    {"{.reg .b32 t; mad.lo.cc.u32 t, %a, %b, %c; madc.hi.u32 %d, %a, %b, %c;}",
     R, R, R, R, madc_hi},
    {"vadd2.u32.u32.u32 %d, %a, %b, %c;", R, R, R, R, vadd2_u},
    {"vsub4.s32.s32.s32.sat %d, %a, %b, %c;", R, R, R, R, vsub4_s_sat},
    {"vmin2.u32.u32.u32 %d, %a, %b, %c;", R, R, R, R, vmin2_u},
    {"vmax4.s32.s32.s32.add %d, %a, %b, %c;", R, R, R, R, vmax4_s_add},
    {"vavrg2.s32.s32.s32 %d, %a, %b, %c;", R, R, R, R, vavrg2_s},
    {"vadd.s32.u32.s32.sat %d, %a.b0, %b.h1;", R, R, R, 0, vadd_parts},
    {"vadd.u32.s32.s32.sat %d, %a, %b;", R, R, R, 0, vadd_sat_u},
    {"vsub.s32.s32.s32.add %d, %a, %b, %c;", R, R, R, R, vsub_add},
    {"vsub.s32.u32.u32.sat %d.h1, %a, %b, %c;", R, R, R, R, vsub_merge},
    {"vabsdiff.s32.s32.s32 %d.b0, %a.b1, %b.b2, %c;", R, R, R, R, vabsdiff_merge},
    {"vabsdiff.u32.s32.u32.sat %d.b3, %a, %b, %c;", R, R, R, R, vabsdiff_sat},
    {"vmin.u32.s32.u32 %d, %a, %b;", R, R, R, 0, vmin_mixed},
    {"vmax.s32.s32.s32.max %d, %a.h0, %b.h1, %c;", R, R, R, R, vmax_max},
    {"vmin.u32.u32.u32.min %d, %a, %b, %c;", R, R, R, R, vmin_min_u},
    {"vshl.u32.u32.u32.clamp %d, %a, %b;", R, R, R, 0, vshl_clamp},
    {"vshl.s32.s32.u32.sat.clamp %d, %a, %b;", R, R, R, 0, vshl_sat},
    {"vshr.s32.s32.u32.wrap %d, %a, %b.h1;", R, R, R, 0, vshr_wrap},
    {"vshr.u32.u32.u32.clamp.add %d, %a, %b, %c;", R, R, R, R, vshr_add},
    {"vmad.u32.u32.u32 %d, %a.b0, %b.h1, %c;", R, R, R, R, vmad_plain},
    {"vmad.s32.s32.u32.sat %d, %a.h0, %b.h0, -%c;", R, R, R, R, vmad_minus},
    {"vmad.s32.s32.s32 %d, -%a.h0, %b.h1, %c;", R, R, R, R, vmad_product},
    {"vmad.u32.u32.u32.po.sat.shr7 %d, %a, %b, %c;", R, R, R, R, vmad_po},
    {"vmad.s32.s32.u32.sat.shr15 %d, %a, %b, -%c;", R, R, R, R, vmad_scaled},
    {"vset.s32.u32.lt %d, %a, %b;", R, R, R, 0, vset_lt},
    {"vset.s32.s32.ge.add %d, %a.b3, %b.b0, %c;", R, R, R, R, vset_add},
    {"vset.s32.u32.ne %d.h0, %a.h0, %b.h1, %c;", R, R, R, R, vset_merge},
    {"and.b32 %d, %a, %b;", R, R, R, 0, and_b32},
    {"or.b64 %d, %a, %b;", D, D, D, 0, or_b64},
    {"xor.b16 %d, %a, %b;", H, H, H, 0, xor_b16},
    {"not.b32 %d, %a;", R, R, 0, 0, not_b32},
    {"cnot.b32 %d, %a;", R, R, 0, 0, cnot_b32},
    {"lop3.b32 %d, %a, %b, %c, 0x96;", R, R, R, R, lop3_96},
    {"lop3.b32 %d, %a, %b, %c, 0xe8;", R, R, R, R, lop3_e8},
    {"lop3.b32 %d, %a, %b, %c, 0x1d;", R, R, R, R, lop3_1d},
    {"shl.b32 %d, %a, %b;", R, R, R, 0, shl32},
    {"shl.b16 %d, %a, %b;", H, H, R, 0, shl16},
    {"shl.b64 %d, %a, %b;", D, D, R, 0, shl64},
    {"shr.u32 %d, %a, %b;", R, R, R, 0, shr_u32},
    {"shr.u64 %d, %a, %b;", D, D, R, 0, shr_u64},
    {"shr.s32 %d, %a, %b;", R, R, R, 0, shr_s32},
    {"shr.s16 %d, %a, %b;", H, H, R, 0, shr_s16},
    {"shr.s64 %d, %a, %b;", D, D, R, 0, shr_s64},
    {"shf.l.clamp.b32 %d, %a, %b, %c;", R, R, R, R, shf_l_clamp},
    {"shf.r.clamp.b32 %d, %a, %b, %c;", R, R, R, R, shf_r_clamp},
    {"shf.l.wrap.b32 %d, %a, %b, %c;", R, R, R, R, shf_l_wrap},
    {"shf.r.wrap.b32 %d, %a, %b, %c;", R, R, R, R, shf_r_wrap},
    {"prmt.b32 %d, %a, %b, %c;", R, R, R, R, prmt},
    {"prmt.b32.f4e %d, %a, %b, %c;", R, R, R, R, prmt_f4e},
    {"prmt.b32.b4e %d, %a, %b, %c;", R, R, R, R, prmt_b4e},
    {"prmt.b32.rc8 %d, %a, %b, %c;", R, R, R, R, prmt_rc8},
    {"prmt.b32.ecl %d, %a, %b, %c;", R, R, R, R, prmt_ecl},
    {"prmt.b32.ecr %d, %a, %b, %c;", R, R, R, R, prmt_ecr},
    {"prmt.b32.rc16 %d, %a, %b, %c;", R, R, R, R, prmt_rc16},
    {"{.reg .b32 t; add.cc.u32 t, %a, %b; addc.u32 %d, 0, 0;}", R, R, R, 0, add_carry},
    {"{.reg .b32 t; sub.cc.u32 t, %a, %b; subc.u32 %d, 0, 0;}", R, R, R, 0, sub_borrow},
    {"{.reg .b32 t; mad.lo.cc.u32 t, %a, %b, %c; addc.u32 %d, 0, 0;}", R, R, R, R, mad_carry},
    {"{.reg .b32 l, h, x, y, z, w; mov.b64 {x, y}, %a; mov.b64 {z, w}, %b; add.cc.u32 l, x, z;"
     "addc.cc.u32 h, y, w; mov.b64 {x, y}, %c; add.cc.u32 l, l, x; addc.u32 h, h, y;"
     "mov.b64 %d, {l, h};}",
     D, D, D, D, wide_sum},
    {"{.reg .pred p; setp.eq.b32 p, %a, %b; selp.b32 %d, 1, 0, p;}", R, R, R, 0, eq},
    {"{.reg .pred p; setp.lt.s32 p, %a, %b; selp.b32 %d, 1, 0, p;}", R, R, R, 0, lt_s32},
    {"{.reg .pred p; setp.lo.u32 p, %a, %b; selp.b32 %d, 1, 0, p;}", R, R, R, 0, lo_u32},
    {"{.reg .pred p; setp.ge.s64 p, %a, %b; selp.b32 %d, 1, 0, p;}", R, D, D, 0, ge_s64},
    {"{.reg .pred p; setp.hs.u16 p, %a, %b; selp.b32 %d, 1, 0, p;}", R, H, H, 0, hs_u16},
    {"{.reg .pred p; setp.le.s16 p, %a, %b; selp.b32 %d, 1, 0, p;}", R, H, H, 0, le_s16},
    {"{.reg .pred p; setp.gt.u64 p, %a, %b; selp.b32 %d, 1, 0, p;}", R, D, D, 0, gt_u64},
    {"{.reg .pred p; setp.ne.b64 p, %a, %b; selp.b32 %d, 1, 0, p;}", R, D, D, 0, ne_b64},
    {"{.reg .pred p, q, r; setp.gt.u32 r, %c, 5; setp.lt.and.u32 p|q, %a, %b, r;"
     "selp.b32 %d, 1, 0, q;}",
     R, R, R, R, and_not},
    {"{.reg .pred p, r; setp.gt.u32 r, %c, 5; setp.lt.xor.u32 p, %a, %b, r;"
     " selp.b32 %d, 1, 0, p;}",
     R, R, R, R, xor_lt},
    {"{.reg .pred p, r, s; setp.gt.u32 r, %c, 5; setp.lt.u32 s, %a, %b; xor.pred p, s, r;"
     "@!p mov.b32 %d, 0; @p mov.b32 %d, 1;}",
     R, R, R, R, xor_lt},
    {"{.reg .pred p; setp.lt.u32 p, %a, %b; selp.u32 %d, %a, %c, p;}", R, R, R, R, selp},
    {"slct.u32.s32 %d, %a, %b, %c;", R, R, R, R, slct},
    {"set.lt.u32.u32 %d, %a, %b;", R, R, R, 0, set_ones},
    {"set.lt.f32.u32 %d, %a, %b;", "f32", R, R, 0, set_f32},
    {"{.reg .pred p, q; .reg .b32 t; setp.ne.u32 q, %a, %a;"
     " lop3.or.b32 t|p, %a, %b, %c, 0x80, q;selp.b32 %d, 1, 0, p;}",
     R, R, R, R, lop3_or},
    {"cvt.s32.s8 %d, %a;", R, R, 0, 0, cvt_s8},
    {"cvt.sat.u8.s32 %d, %a;", R, R, 0, 0, cvt_u8_s32},
    {"cvt.sat.s16.s32 %d, %a;", H, R, 0, 0, cvt_s16_sat},
    {"cvt.s64.s32 %d, %a;", D, R, 0, 0, cvt_s64_s32},
    {"cvt.u64.u32 %d, %a;", D, R, 0, 0, cvt_u64_u32},
    {"cvt.u32.u64 %d, %a;", R, D, 0, 0, cvt_u32_u64},
    {"cvt.u16.s8 %d, %a;", H, H, 0, 0, cvt_u16_s8},
    {"cvt.sat.s32.u64 %d, %a;", R, D, 0, 0, cvt_s32_u64_sat},
    {"cvt.sat.u64.s64 %d, %a;", D, D, 0, 0, cvt_u64_s64_sat},
    {"cvt.pack.sat.s16.s32 %d, %a, %b;", R, R, R, 0, cvt_pack},
    {"mov.b64 %d, {%a, %b};", D, R, R, 0, pack2},
    {"{.reg .b32 t; mov.b64 {t, %d}, %a;}", R, D, 0, 0, unpack_high},
    {"mov.b32 %d, {%a, %b};", R, H, H, 0, pack_halves},
    {"add.u16x2 %d, %a, %b;", R, R, R, 0, add_16x2},
    {"max.s16x2 %d, %a, %b;", R, R, R, 0, max_s16x2},
    {"min.u16x2 %d, %a, %b;", R, R, R, 0, min_u16x2},
};
const size_t integer_row_count = sizeof integer_rows / sizeof *integer_rows;
