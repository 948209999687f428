/* Handlers of warp_float.def, at one x86-64 level. They round as the host's control word says: no
 * row has constants that a compiler could round itself. */
#include <math.h>

#include "warp_formats.h"
#include "warp_lanes.h"
#include "warp_variant.h"

#define NAN32      0x7fffffffu
#define SIGN64     0x8000000000000000ull
#define EXPONENT64 0x7ff0000000000000ull

static ALWAYS_INLINE bool is_nan32(u32 a)
{
    return (a & 0x7fffffff) > 0x7f800000;
}

/* An order of bits in which -0 is below +0. */
static ALWAYS_INLINE s32 order32(u32 a)
{
    return (s32)(a ^ ((u32)((s32)a >> 31) >> 1));
}

/* 9.7.3.11: if one source is NaN, the result is the other one. */
static ALWAYS_INLINE u32 least32(u32 a, u32 b)
{
    u32 d = order32(a) < order32(b) ? a : b;
    d = is_nan32(b) ? a : d;
    d = is_nan32(a) ? b : d;
    return is_nan32(d) ? NAN32 : d;
}

static ALWAYS_INLINE u32 most32(u32 a, u32 b)
{
    u32 d = order32(a) > order32(b) ? a : b;
    d = is_nan32(b) ? a : d;
    d = is_nan32(a) ? b : d;
    return is_nan32(d) ? NAN32 : d;
}

static ALWAYS_INLINE bool is_nan64(u64 a)
{
    return (a & ~SIGN64) > EXPONENT64;
}

static ALWAYS_INLINE s64 order64(u64 a)
{
    return (s64)(a ^ ((u64)((s64)a >> 63) >> 1));
}

static ALWAYS_INLINE u64 least64(u64 a, u64 b)
{
    return is_nan64(a) ? b : is_nan64(b) || order64(a) < order64(b) ? a : b;
}

static ALWAYS_INLINE u64 most64(u64 a, u64 b)
{
    return is_nan64(a) ? b : is_nan64(b) || order64(a) > order64(b) ? a : b;
}

/* Functions of the host's library are called for each active lane, in double. */
#define SCALAR(id, call)                                                                           \
    RUN(id)                                                                                        \
    {                                                                                              \
        f32 *to = warp_target(m, op);                                                              \
        const f32 *pa = warp_source(m, op, 1);                                                     \
        for (uint32_t left = mask; left; left &= left - 1) {                                       \
            unsigned i = (unsigned)__builtin_ctz(left);                                            \
            f64 a = (f64)pa[i];                                                                    \
            to[i] = canonical((f32)call(a));                                                       \
        }                                                                                          \
    }
SCALAR(SIN_F32, sin)
SCALAR(COS_F32, cos)
SCALAR(LG2_F32, log2)
SCALAR(EX2_F32, exp2)
SCALAR(TANH_F32, tanh)

#define HANDLER(id)
#include "warp_float.def"

/* From here on, a row of the table is an entry. */
#include "warp_enter.h"

void WARP_NAMED(warp_enter_float_)(warp_handler **table)
{
#include "warp_float.def"
}
