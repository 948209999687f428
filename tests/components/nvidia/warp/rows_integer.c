/* Integer instructions in the manual's words, bit by bit where it says so. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "rows.h"

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
#define X(part, s) selected(a, part, s)
#define Y(part, s) selected(b, part, s)
#define Z(s)       selected(c, "", s)
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
W(vmad_plain, U32(X("b0", false) * Y("h1", false) + Z(false)))
W(vmad_minus, saturated(X("h0", true) * Y("h0", false) - Z(true)))
W(vmad_product, U32(Z(true) - X("h0", true) * Y("h1", true)))
W(vmad_po, average_of(a, b, c, true))
W(vmad_scaled, scaled(a, b, c))
W(copysign_f32, (a & 0x80000000) | (b & 0x7fffffff))
W(copysign_f64, (a & 0x8000000000000000) | (b & 0x7fffffffffffffff))
W(minus_seven, a - 7)
static int64_t
    low24(U x, bool is_signed)
{
    x &= 0xffffff;
    return is_signed && x >> 23 ? (int64_t)x - (1 << 24) : (int64_t)x;
}
W(mul24_lo_s, U32(low24(a, true) * low24(b, true)))
W(mul24_hi_u, U32(low24(a, false) * low24(b, false) >> 16))
W(mul24_hi_s, U32(low24(a, true) * low24(b, true) >> 16))
W(mad24_hi_s, U32((low24(a, true) * low24(b, true) >> 16) + (int64_t)c))
W(mad24_hi_sat, saturated((low24(a, true) * low24(b, true) >> 16) + S32(c)))
W(mad24_lo_u, U32(low24(a, false) * low24(b, false) + (int64_t)c))
static U count(U x)
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
W(bfind_u64, U32(highest(a, (U)-1)))
W(bfind_shift_s64, (a >> 63 ? ~a : a) ? 63 - highest(a >> 63 ? ~a : a, 0) : 0xffffffff)
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
static U inserted64(U b, U position, U length)
{
    U d = b, a = 0x123456789abcdef;
    for (U i = 0; i < (length & 255) && (position & 255) + i < 64; i++) {
        U at = (position & 255) + i;
        d = (d & ~((U)1 << at)) | (a >> i & 1) << at;
    }
    return d;
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
static U table(U a, U b, U c, unsigned lut)
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
static U
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
W(wide_sum, a + b + c)
static U clamped_16(U x)
{
    int64_t y = S32(x);
    return (U)(y > 32767 ? 32767 : y < -32768 ? -32768 : y);
}
W(cvt_pack, (clamped_16(a) & 0xffff) << 16 | (clamped_16(b) & 0xffff))
static U limited(U x, unsigned bits, bool is_signed)
{
    int64_t most = ((int64_t)1 << (bits - is_signed)) - 1, least = is_signed ? -most - 1 : 0,
            y = S32(x);
    return (U)(y > most ? most : y < least ? least : y) & (((U)1 << bits) - 1);
}
#define PACKED(bits, s) U32(c << 2 * bits | limited(a, bits, s) << bits | limited(b, bits, s))
W(pack_u16, limited(a, 16, false) << 16 | limited(b, 16, false))
W(pack_s8, PACKED(8, true))
W(pack_u8, PACKED(8, false))
W(pack_s4, PACKED(4, true))
W(pack_u4, PACKED(4, false))
W(pack_s2, PACKED(2, true))
W(pack_u2, PACKED(2, false))
W(lop3_and, table(a, b, c, 0x80) != 0 && (a & 1))
W(bfi_b64, inserted64(a, b, c))
W(pack2, a | b << 32)
W(unpack_high, a >> 32)
W(pack_halves, (a & 0xffff) | (b << 16))
#define R "b32"
#define H "b16"
#define D "b64"
const struct row integer_rows[] = {
    {"add.s32 %d, %a, -7;", R, R, 0, 0, minus_seven},
    {"mul24.lo.s32 %d, %a, %b;", R, R, R, 0, mul24_lo_s},
    {"mul24.hi.u32 %d, %a, %b;", R, R, R, 0, mul24_hi_u},
    {"mul24.hi.s32 %d, %a, %b;", R, R, R, 0, mul24_hi_s},
    {"mad24.hi.s32 %d, %a, %b, %c;", R, R, R, R, mad24_hi_s},
    {"mad24.hi.sat.s32 %d, %a, %b, %c;", R, R, R, R, mad24_hi_sat},
    {"mad24.lo.u32 %d, %a, %b, %c;", R, R, R, R, mad24_lo_u},
    {"popc.b32 %d, %a;", R, R, 0, 0, popc},
    {"popc.b64 %d, %a;", R, D, 0, 0, popc},
    {"clz.b32 %d, %a;", R, R, 0, 0, clz32},
    {"clz.b64 %d, %a;", R, D, 0, 0, clz64},
    {"bfind.u32 %d, %a;", R, R, 0, 0, bfind_u32},
    {"bfind.s32 %d, %a;", R, R, 0, 0, bfind_s32},
    {"bfind.u64 %d, %a;", R, D, 0, 0, bfind_u64},
    {"bfind.shiftamt.s64 %d, %a;", R, D, 0, 0, bfind_shift_s64},
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
    {"copysign.f32 %d, %a, %b;", "f32", "f32", "f32", 0, copysign_f32},
    {"copysign.f64 %d, %a, %b;", "f64", "f64", "f64", 0, copysign_f64},
    {"vmad.u32.u32.u32 %d, %a.b0, %b.h1, %c;", R, R, R, R, vmad_plain},
    {"vmad.s32.s32.u32.sat %d, %a.h0, %b.h0, -%c;", R, R, R, R, vmad_minus},
    {"vmad.s32.s32.s32 %d, -%a.h0, %b.h1, %c;", R, R, R, R, vmad_product},
    {"vmad.u32.u32.u32.po.sat.shr7 %d, %a, %b, %c;", R, R, R, R, vmad_po},
    {"vmad.s32.s32.u32.sat.shr15 %d, %a, %b, -%c;", R, R, R, R, vmad_scaled},
    {"lop3.b32 %d, %a, %b, %c, 0x96;", R, R, R, R, lop3_96},
    {"lop3.b32 %d, %a, %b, %c, 0xe8;", R, R, R, R, lop3_e8},
    {"lop3.b32 %d, %a, %b, %c, 0x1d;", R, R, R, R, lop3_1d},
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
    {"{.reg .b32 l, h, x, y, z, w; mov.b64 {x, y}, %a; mov.b64 {z, w}, %b; add.cc.u32 l, x, z;"
     "addc.cc.u32 h, y, w; mov.b64 {x, y}, %c; add.cc.u32 l, l, x; addc.u32 h, h, y;"
     "mov.b64 %d, {l, h};}",
     D, D, D, D, wide_sum},
    {"{.reg .pred p, q; .reg .b32 t; setp.ne.u32 q, %a, %a;"
     " lop3.or.b32 t|p, %a, %b, %c, 0x80, q;selp.b32 %d, 1, 0, p;}",
     R, R, R, R, lop3_or},
    {"cvt.pack.sat.s16.s32 %d, %a, %b;", R, R, R, 0, cvt_pack},
    {"cvt.pack.sat.u16.s32 %d, %a, %b;", R, R, R, 0, pack_u16},
    {"cvt.pack.sat.s8.s32.b32 %d, %a, %b, %c;", R, R, R, R, pack_s8},
    {"cvt.pack.sat.u8.s32.b32 %d, %a, %b, %c;", R, R, R, R, pack_u8},
    {"cvt.pack.sat.s4.s32.b32 %d, %a, %b, %c;", R, R, R, R, pack_s4},
    {"cvt.pack.sat.u4.s32.b32 %d, %a, %b, %c;", R, R, R, R, pack_u4},
    {"cvt.pack.sat.s2.s32.b32 %d, %a, %b, %c;", R, R, R, R, pack_s2},
    {"cvt.pack.sat.u2.s32.b32 %d, %a, %b, %c;", R, R, R, R, pack_u2},
    {"bfi.b64 %d, 0x123456789abcdef, %a, %b, %c;", D, D, R, R, bfi_b64},
    {"{.reg .pred p, q; .reg .b32 t; and.b32 t, %a, 1; setp.ne.u32 q, t, 0;"
     " lop3.and.b32 t|p, %a, %b, %c, 0x80, q; selp.b32 %d, 1, 0, p;}",
     R, R, R, R, lop3_and},
    {"mov.b64 %d, {%a, %b};", D, R, R, 0, pack2},
    {"{.reg .b32 t; mov.b64 {t, %d}, %a;}", R, D, 0, 0, unpack_high},
    {"mov.b32 %d, {%a, %b};", R, H, H, 0, pack_halves},
};
const size_t integer_row_count = sizeof integer_rows / sizeof *integer_rows;
