/* Handlers of warp_integer.def, at one x86-64 level. */
#include "base/number.h"

#include "warp_lanes.h"
#include "warp_variant.h"

/* Upper half of a product, by the width of the operands; the rest of the arguments is unused. */
#define high_of(a, b, unused)                                                                      \
    _Generic((a), s16                                                                              \
             : high_s16, s32                                                                       \
             : high_s32, s64                                                                       \
             : high_s64, u16                                                                       \
             : high_u16, u32                                                                       \
             : high_u32, u64                                                                       \
             : high_u64)(a, b)

static ALWAYS_INLINE u64 high_s16(s16 a, s16 b)
{
    return (u64)((s32)a * b >> 16);
}
static ALWAYS_INLINE u64 high_s32(s32 a, s32 b)
{
    return (u64)((s64)a * b >> 32);
}
static ALWAYS_INLINE u64 high_s64(s64 a, s64 b)
{
    return (u64)((__int128)a * b >> 64);
}
static ALWAYS_INLINE u64 high_u16(u16 a, u16 b)
{
    return (u32)a * b >> 16;
}
static ALWAYS_INLINE u64 high_u32(u32 a, u32 b)
{
    return (u64)a * b >> 32;
}
static ALWAYS_INLINE u64 high_u64(u64 a, u64 b)
{
    return (u64)((unsigned __int128)a * b >> 64);
}

static ALWAYS_INLINE s32 clamp_s32(s64 x)
{
    return (s32)(x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : x);
}

static ALWAYS_INLINE s32 low24_s(s32 x)
{
    return (s32)((u32)x << 8) >> 8;
}

/* Division by zero gives all ones, and its remainder is the dividend, as on cards; the manual
 * leaves both open. The most negative number by -1 overflows to itself. */
static ALWAYS_INLINE u32 divide_s32(s32 a, s32 b)
{
    f64 quotient = (f64)a / (f64)(b ? b : 1);
    return b == 0 ? UINT32_MAX : b == -1 ? 0 - (u32)a : (u32)(s32)quotient;
}

/* In double, which has room for the quotient of any two words and more, so that loops vectorise. */
static ALWAYS_INLINE u32 divide_u32(u32 a, u32 b)
{
    return b ? (u32)(s64)((f64)a / (f64)(b ? b : 1u)) : UINT32_MAX;
}

/* A divisor that does not trap: the quotients by 0 and -1 come without a division. */
static ALWAYS_INLINE s64 safe_divisor(s64 b)
{
    return b == 0 || b == -1 ? 1 : b;
}

static ALWAYS_INLINE s64 divide_s(s64 a, s64 b)
{
    return b == 0 ? -1 : b == -1 ? (s64)(0 - (u64)a) : a / safe_divisor(b);
}

static ALWAYS_INLINE s64 remainder_s(s64 a, s64 b)
{
    return b == 0 ? a : b == -1 ? 0 : a % safe_divisor(b);
}

static ALWAYS_INLINE u32 find_bit(u64 x)
{
    return x ? 63 - (u32)__builtin_clzll(x | !x) : UINT32_MAX;
}

static ALWAYS_INLINE u32 find_shift(u64 x, u32 top)
{
    return x ? top - find_bit(x) : UINT32_MAX;
}

static ALWAYS_INLINE u32 reverse32(u32 x)
{
    x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
    x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(x);
}

/* 9.7.1.20: the n-th set bit from `base`, upwards for n > 0, downwards for n < 0. */
static ALWAYS_INLINE u32 find_set(u32 mask, u32 base, s32 n)
{
    if (n == 0)
        return base < 32 && mask >> base & 1 ? base : UINT32_MAX;
    s32 step = n > 0 ? 1 : -1, count = n > 0 ? n : (s32)(0 - (u32)n);
    for (s64 at = base; at >= 0 && at < 32; at += step)
        if (mask >> at & 1 && --count == 0)
            return (u32)at;
    return UINT32_MAX;
}

/* 9.7.1.18: `length` bits from `from`; those beyond the operand are the sign, or 0. */
static ALWAYS_INLINE u64 extract_u(u64 x, u32 from, u32 length, u32 size)
{
    u64 field = from < size ? x >> from : 0;
    return length < 64 ? field & ((1ull << length) - 1) : field;
}

static ALWAYS_INLINE s64 extract_s(u64 x, u32 from, u32 length, u32 size)
{
    if (!length)
        return 0;
    s64 wide = (s64)(x << (64 - size)) >> (64 - size), field = wide >> (from < size ? from : 63);
    u32 top = min(from + length - 1, size - 1);
    if (from >= size)
        return wide >> 63;
    u32 kept = top - from + 1;
    return (s64)((u64)field << (64 - kept)) >> (64 - kept);
}

static ALWAYS_INLINE u32 bit_mask(u32 from, u32 length)
{
    u64 ones = length < 32 ? (1ull << length) - 1 : UINT32_MAX;
    return from < 32 ? (u32)(ones << from) : 0;
}

static ALWAYS_INLINE s32 extend_s(u32 x, u32 bits)
{
    return bits ? (s32)(x << (32 - bits)) >> (32 - bits) : 0;
}

static ALWAYS_INLINE u32 dot4_ss(u32 a, u32 b, u32 c)
{
    for (unsigned k = 0; k < 32; k += 8)
        c += (u32)((s32)(s8)(a >> k) * (s8)(b >> k));
    return c;
}
static ALWAYS_INLINE u32 dot4_su(u32 a, u32 b, u32 c)
{
    for (unsigned k = 0; k < 32; k += 8)
        c += (u32)((s32)(s8)(a >> k) * (s32)(u8)(b >> k));
    return c;
}
static ALWAYS_INLINE u32 dot4_uu(u32 a, u32 b, u32 c)
{
    for (unsigned k = 0; k < 32; k += 8)
        c += (a >> k & 255) * (b >> k & 255);
    return c;
}

/* Bit (a << 2 | b << 1 | c) of the table, for each bit. */
static ALWAYS_INLINE u32 logic3(u32 a, u32 b, u32 c, u32 table)
{
    u32 d = 0;
    for (unsigned k = 0; k < 8; k++)
        d |= (0u - (table >> k & 1)) & (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
    return d;
}

/* 9.7.9.7: each nibble of the selector chooses a byte; its upper bit spreads the byte's sign. */
static ALWAYS_INLINE u32 permute(u64 bytes, u32 selector)
{
    u32 d = 0;
    for (unsigned k = 0; k < 4; k++) {
        u32 nibble = selector >> 4 * k & 15, byte = (u32)(bytes >> 8 * (nibble & 7)) & 255;
        d |= (nibble & 8 ? 255 * (byte >> 7) : byte) << 8 * k;
    }
    return d;
}

/* Selectors of the modes, by c's lower two bits. */
static ALWAYS_INLINE u32 backward4(u32 c)
{
    static const u16 selector[4] = {0x5670, 0x6701, 0x7012, 0x0123};
    return selector[c & 3];
}
static ALWAYS_INLINE u32 edge_left(u32 c)
{
    static const u16 selector[4] = {0x3210, 0x3211, 0x3222, 0x3333};
    return selector[c & 3];
}
static ALWAYS_INLINE u32 edge_right(u32 c)
{
    static const u16 selector[4] = {0x0000, 0x1110, 0x2210, 0x3210};
    return selector[c & 3];
}

static ALWAYS_INLINE u32 pair(u32 low, u32 high)
{
    return (low & 0xffff) | high << 16;
}

RUN(SELP_32)
{
    u32 chosen = warp_predicate(m, op, 3), *to = lanes_target(m, op, mask);
    const u32 *a = warp_source(m, op, 1), *b = warp_source(m, op, 2);
    LANES to[i] = chosen >> i & 1 ? a[i] : b[i];
    lanes_done(m, op, mask, sizeof *to);
}

RUN(SELP_64)
{
    u32 chosen = warp_predicate(m, op, 3);
    u64 *to = lanes_target(m, op, mask);
    const u64 *a = warp_source(m, op, 1), *b = warp_source(m, op, 2);
    LANES to[i] = (u64)chosen >> i & 1 ? a[i] : b[i];
    lanes_done(m, op, mask, sizeof *to);
}

/* 9.7.1.19: field a into b at position c, length from the fourth source. */
static ALWAYS_INLINE u64 insert(u64 a, u64 b, u32 from, u32 length, u32 size)
{
    if (from >= size || !length)
        return b;
    u64 ones = length < 64 ? (1ull << length) - 1 : UINT64_MAX, field = ones << from;
    return (b & ~field) | (a << from & field);
}

RUN(BFI_32)
{
    u32 *to = lanes_target(m, op, mask);
    const u32 *a = warp_source(m, op, 1), *b = warp_source(m, op, 2), *c = warp_source(m, op, 3),
              *d = warp_source(m, op, 4);
    LANES to[i] = (u32)insert(a[i], b[i], c[i] & 255, d[i] & 255, 32);
    lanes_done(m, op, mask, sizeof *to);
}

RUN(BFI_64)
{
    u64 *to = lanes_target(m, op, mask);
    const u64 *a = warp_source(m, op, 1), *b = warp_source(m, op, 2);
    const u32 *c = warp_source(m, op, 3), *d = warp_source(m, op, 4);
    LANES to[i] = insert(a[i], b[i], c[i] & 255, d[i] & 255, 64);
    lanes_done(m, op, mask, sizeof *to);
}

/* Part `place` of b and a. */
static ALWAYS_INLINE s32 video_part(u64 both, unsigned place, unsigned bits, bool is_signed)
{
    u32 part = (u32)(both >> place * bits) << (32 - bits);
    return is_signed ? (s32)part >> (32 - bits) : (s32)(part >> (32 - bits));
}

static bool video_compare(s64 x, s64 y, unsigned operation)
{
    switch (operation) {
    case 0:
        return x == y;
    case 1:
        return x != y;
    case 2:
        return x < y;
    case 3:
        return x <= y;
    case 4:
        return x > y;
    default:
        return x >= y;
    }
}

static s32 video_do(s32 x, s32 y, u64 operation)
{
    switch ((enum warp_video)(operation & WARP_VIDEO_WHICH)) {
    case WARP_VIDEO_ADD:
        return x + y;
    case WARP_VIDEO_SUB:
        return x - y;
    case WARP_VIDEO_AVERAGE:
        return (x + y + (x + y >= 0)) >> 1;
    case WARP_VIDEO_DIFFERENCE:
        return x > y ? x - y : y - x;
    case WARP_VIDEO_MIN:
        return min(x, y);
    case WARP_VIDEO_MAX:
        return max(x, y);
    default:
        return video_compare(x, y, operation >> WARP_VIDEO_COMPARE & 7);
    }
}

static u32 video(u32 a, u32 b, u32 c, u64 operation)
{
    unsigned bits = operation & WARP_VIDEO_HALVES ? 16 : 8;
    u32 part = (1u << bits) - 1, d = operation & WARP_VIDEO_ADDS ? c : 0;
    u64 both = (u64)b << 32 | a;
    s32 most = operation & WARP_VIDEO_SIGNED ? (s32)(part >> 1) : (s32)part,
        least = operation & WARP_VIDEO_SIGNED ? -most - 1 : 0;
    for (unsigned k = 0; k < 32 / bits; k++) {
        s32 x = video_part(both, operation >> (WARP_VIDEO_A + 4 * k) & 15, bits,
                           operation & WARP_VIDEO_SIGNED_A),
            y = video_part(both, operation >> (WARP_VIDEO_B + 4 * k) & 15, bits,
                           operation & WARP_VIDEO_SIGNED_B);
        s32 t = video_do(x, y, operation);
        if (operation & WARP_VIDEO_SATURATES)
            t = t > most ? most : t < least ? least : t;
        bool writes = operation >> (WARP_VIDEO_MASK + k) & 1;
        if (operation & WARP_VIDEO_ADDS)
            d += writes ? (u32)t : 0;
        else
            d |= writes ? ((u32)t & part) << bits * k : c & part << bits * k;
    }
    return d;
}

RUN(VIDEO)
{
    u32 *to = lanes_target(m, op, mask);
    const u32 *a = warp_source(m, op, 1), *b = warp_source(m, op, 2), *c = warp_source(m, op, 3);
    for (unsigned i = 0; i < WARP_LANES; i++)
        to[i] = video(a[i], b[i], c[i], op->value);
    lanes_done(m, op, mask, sizeof *to);
}

static unsigned place_bits(unsigned place)
{
    return place < WARP_PLACE_HALVES ? 8 : place < WARP_PLACE_ALL ? 16 : 32;
}

static unsigned place_shift(unsigned place)
{
    return place < WARP_PLACE_HALVES ? 8 * place
           : place < WARP_PLACE_ALL  ? 16 * (place - WARP_PLACE_HALVES)
                                     : 0;
}

static s64 scalar_part(u32 x, unsigned place, bool is_signed)
{
    u64 up = (u64)(x >> place_shift(place)) << (64 - place_bits(place));
    return is_signed ? (s64)up >> (64 - place_bits(place)) : (s64)(up >> (64 - place_bits(place)));
}

/* The product, negated as its complement and one. */
static __int128 scalar_mad(s64 x, s64 y, u32 c, struct warp_scalar operation)
{
    __int128 product = (__int128)x * y;
    u32 addend = operation.minus_c ? ~c : c;
    product = operation.minus_product ? ~product : product;
    product += (operation.signed_d ? (s32)addend : (s64)addend)
               + (operation.plus_one || operation.minus_product || operation.minus_c);
    return product >> operation.shift;
}

static __int128 scalar_do(s64 x, s64 y, u32 c, struct warp_scalar operation)
{
    u32 amount = operation.wraps ? (u32)y & 31 : min((u32)y, 32);
    switch ((enum warp_scalar_which)operation.which) {
    case WARP_SCALAR_ADD:
        return x + y;
    case WARP_SCALAR_SUB:
        return x - y;
    case WARP_SCALAR_DIFFERENCE:
        return x > y ? x - y : y - x;
    case WARP_SCALAR_MIN:
        return min(x, y);
    case WARP_SCALAR_MAX:
        return max(x, y);
    case WARP_SCALAR_SHL:
        return (__int128)x * ((__int128)1 << amount);
    case WARP_SCALAR_SHR:
        return x >> amount;
    case WARP_SCALAR_MAD:
        return scalar_mad(x, y, c, operation);
    default:
        return video_compare(x, y, operation.compare);
    }
}

static u32 scalar_video(u32 a, u32 b, u32 c, struct warp_scalar operation)
{
    __int128 t = scalar_do(scalar_part(a, operation.a, operation.signed_a),
                           scalar_part(b, operation.b, operation.signed_b), c, operation);
    unsigned bits = place_bits(operation.d), shift = place_shift(operation.d);
    __int128 most = ((__int128)1 << (bits - operation.signed_d)) - 1,
             least = operation.signed_d ? -most - 1 : 0;
    if (operation.saturates)
        t = t > most ? most : t < least ? least : t;
    s64 other = operation.signed_d ? (s32)c : (s64)c, x = (s64)(u64)t;
    if (operation.second == WARP_SECOND_ADD)
        x = (s64)((u64)x + (u64)other);
    else if (operation.second != WARP_SECOND_NONE)
        x = (operation.second == WARP_SECOND_MIN) == (x < other) ? x : other;
    u32 where = (u32)((((u64)1 << bits) - 1) << shift);
    return ((u32)x << shift & where) | (c & ~where);
}

RUN(VIDEO_SCALAR)
{
    u32 *to = lanes_target(m, op, mask);
    const u32 *a = warp_source(m, op, 1), *b = warp_source(m, op, 2), *c = warp_source(m, op, 3);
    struct warp_scalar operation;
    memcpy(&operation, &op->value, sizeof operation);
    for (unsigned i = 0; i < WARP_LANES; i++)
        to[i] = scalar_video(a[i], b[i], c[i], operation);
    lanes_done(m, op, mask, sizeof *to);
}

#define HANDLER(id)
#include "warp_integer.def"

/* From here on, a row of the table is an entry. */
#include "warp_enter.h"

void WARP_NAMED(warp_enter_integer_)(warp_handler **table)
{
#include "warp_integer.def"
}
