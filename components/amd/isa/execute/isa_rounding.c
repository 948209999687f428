/* The rows of gcn_vop*.tab on floats, in the modes that isa_valu.c's kernels are not made for; see
 * isa_rounding.h.
 *
 * The kernels are those of isa_kernels.h once more. fp32 and fp64 operations round as the host's
 * MXCSR says. fp16 is computed in fp32, which rounds in the same direction before the result is
 * rounded to fp16: two roundings in one direction are one, and to nearest the first is innocuous.
 *
 * v_div_fmas scales its sum by a power of two before it rounds, once: a quotient may be denormal.
 * That is done with integers. */
#define ISA_ROUNDING

#include "isa_rounding.h"

#include <xmmintrin.h>

#include "base/likely.h"
#include "base/number.h"
#include "base/wide.h"

#include "isa_math.h"

/* ---- rounding and denormals of halves and doubles ---- */

static ALWAYS_INLINE uint32_t flush_half(uint32_t u, bool flush)
{
    return flush && !(u & 0x7c00) ? u & 0x8000 : u;
}

static ALWAYS_INLINE uint64_t flush_double(uint64_t u, bool flush)
{
    return flush && !(u & UINT64_C(0x7ff0000000000000)) ? u & (UINT64_C(1) << 63) : u;
}

static uint32_t f16_rounded(float x, unsigned round)
{
    uint32_t half = f16_toward_zero(x);
    if (!round)
        return f16_f32(x);
    bool away = x < 0 ? round == 2 : round == 1;
    return half + (away && f32_f16(half) != x);
}

uint32_t isa_rounding_half(float x, uint32_t mode)
{
    return f16_rounded(x, mode >> 2 & 3);
}

/* ---- scaled fused multiply-add ---- */

struct layout {
    int fraction, exponent; /* bits */
};

struct number {
    bool is_negative;
    int exponent;
    wide magnitude; /* times two to the exponent */
};

static struct number unpack(const struct layout *t, uint64_t u)
{
    uint64_t fraction = u & ((UINT64_C(1) << t->fraction) - 1), hidden = UINT64_C(1) << t->fraction;
    int field = (int)(u >> t->fraction) & ((1 << t->exponent) - 1);
    int bias = (1 << (t->exponent - 1)) - 1;
    return (struct number){.is_negative = u >> (t->fraction + t->exponent) & 1,
                           .exponent = (field ? field : 1) - bias - t->fraction,
                           .magnitude = field ? fraction | hidden : fraction};
}

static int top_bit(wide x)
{
    uint64_t high = (uint64_t)(x >> 64);
    return high ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll((uint64_t)x);
}

/* Bits that are shifted out set the lowest bit. */
static wide shift_down(wide x, int bits)
{
    if (bits <= 0)
        return x;
    if (bits > 126)
        return x != 0;
    return x >> bits | ((x & (((wide)1 << bits) - 1)) != 0);
}

/* Packs the number into the format, rounding once. The lowest bit of the magnitude may represent
 * more below it. */
static uint64_t pack(const struct layout *t, struct number x, unsigned round)
{
    int bias = (1 << (t->exponent - 1)) - 1;
    uint64_t sign = (uint64_t)x.is_negative << (t->fraction + t->exponent);
    uint64_t infinity = ((UINT64_C(1) << t->exponent) - 1) << t->fraction;
    if (!x.magnitude)
        return sign;
    int lift = 125 - top_bit(x.magnitude);
    int exponent = x.exponent - lift, unbiased = exponent + 125;
    int least = max(unbiased, 1 - bias); /* exponent of all denormal results */
    wide m = x.magnitude << lift;
    m = shift_down(m, least - t->fraction - 2 - exponent); /* with two bits more than needed */
    uint64_t value = (uint64_t)(m >> 2);
    unsigned rest = (unsigned)m & 3;
    bool away = round == 0   ? rest > 2 || (rest == 2 && (value & 1))
                : round == 3 ? false
                             : rest && x.is_negative == (round == 2);
    bool normal = value >> t->fraction;
    value += away;
    if (normal)
        value += (uint64_t)(least + bias - 1) << t->fraction; /* the hidden bit counts one */
    bool stays_finite = round == 3 || round == (x.is_negative ? 1u : 2u);
    if (unbiased > bias || value >= infinity)
        value = infinity - stays_finite;
    return sign | value;
}

/* a * b + c, times two to the scale. All are finite. */
static uint64_t scaled_fma(const struct layout *t, uint64_t a, uint64_t b, uint64_t c, int scale,
                           unsigned round)
{
    struct number x = unpack(t, a), y = unpack(t, b), z = unpack(t, c);
    x.magnitude *= y.magnitude;
    x.exponent += y.exponent;
    x.is_negative ^= y.is_negative;
    if (!x.magnitude || !z.magnitude) {
        bool both = !x.magnitude && !z.magnitude;
        bool negative = both && x.is_negative != z.is_negative ? round == 2 : z.is_negative;
        struct number only = x.magnitude ? x : z;
        only.is_negative = both ? negative : only.is_negative;
        only.exponent += scale;
        return pack(t, only, round);
    }
    int up = 125 - top_bit(x.magnitude), up_z = 125 - top_bit(z.magnitude);
    x.magnitude <<= up, x.exponent -= up;
    z.magnitude <<= up_z, z.exponent -= up_z;
    struct number *low = x.exponent < z.exponent ? &x : &z, *high = low == &x ? &z : &x;
    low->magnitude = shift_down(low->magnitude, high->exponent - low->exponent);
    struct number sum = {.is_negative = high->is_negative, .exponent = high->exponent + scale};
    if (x.is_negative == z.is_negative) {
        sum.magnitude = shift_down(x.magnitude + z.magnitude, 1);
        sum.exponent++;
    } else if (x.magnitude == z.magnitude) {
        sum.is_negative = round == 2;
    } else {
        bool larger = high->magnitude > low->magnitude;
        sum.magnitude =
            larger ? high->magnitude - low->magnitude : low->magnitude - high->magnitude;
        sum.is_negative = larger ? high->is_negative : low->is_negative;
    }
    return pack(t, sum, round);
}

/* The flag says that v_div_scale moved one operand only; the size of the quotient estimate c says
 * which (v_div_fmas of the RDNA manuals; those of GCN leave the scale out). */
static float exact_div_fmas_f32(float a, float b, float c, uint32_t scaled, unsigned round)
{
    static const struct layout single = {.fraction = 23, .exponent = 8};
    float sum = fma_f32(a, b, c);
    bool finite = exponent_f32(a) < 255 && exponent_f32(b) < 255 && exponent_f32(c) < 255;
    if (!scaled || !finite)
        return sum;
    return f32_bits((uint32_t)scaled_fma(&single, bits_f32(a), bits_f32(b), bits_f32(c),
                                         exponent_f32(c) > 127 ? 64 : -64, round));
}

static double exact_div_fmas_f64(double a, double b, double c, uint32_t scaled, unsigned round)
{
    static const struct layout twice = {.fraction = 52, .exponent = 11};
    double sum = fma_f64(a, b, c);
    bool finite = exponent_f64(a) < 2047 && exponent_f64(b) < 2047 && exponent_f64(c) < 2047;
    if (!scaled || !finite)
        return sum;
    return f64_bits(scaled_fma(&twice, bits_f64(a), bits_f64(b), bits_f64(c),
                               exponent_f64(c) > 1023 ? 128 : -128, round));
}

/* ---- the rows ---- */

#include "components/amd/isa/tables/isa_table.h"

#include "isa_kernels.h"

typedef void exact_kernel(KERNEL_ARGUMENTS);

#define IS_FLOAT(T)                                                                                \
    (TYPE_##T == TYPE_F16 || TYPE_##T == TYPE_PF16 || TYPE_##T == TYPE_F32 || TYPE_##T == TYPE_F64 \
     || TYPE_##T == TYPE_PF32 || TYPE_##T == TYPE_WF16)
#define INSTN(m, text, fmt, o8, o9, kind, D, A, B, C, timing, ...)                                 \
    [ISA_OP_##m - ISA_OP_VALU_FIRST] = IS_FLOAT(D) || IS_FLOAT(A) || IS_FLOAT(B) || IS_FLOAT(C)    \
                                           ? NAME_##kind(m, __VA_ARGS__)                           \
                                           : NULL,
#define INST(m, ...) INSTN(m, #m, __VA_ARGS__)
static exact_kernel *const kernels[] = {
#include "components/amd/isa/tables/gcn_vop.tab"
#include "components/amd/isa/tables/gcn_vop3p.tab"
#include "components/amd/isa/tables/gcn_vopc.tab"
};
#undef INST
#undef INSTN

bool isa_rounding_covers(unsigned row)
{
    return kernels[row] != NULL;
}

/* Rows that name a rounding, or approximate: the host stays as it is. All others with inexact
 * results follow MODE. */
static bool ignores_rounding(unsigned op)
{
    switch (op) {
    case ISA_OP_v_rndne_f16:
    case ISA_OP_v_rndne_f32:
    case ISA_OP_v_rndne_f64:
    case ISA_OP_v_cvt_rpi_i32_f32:
    case ISA_OP_v_cvt_norm_i16_f16:
    case ISA_OP_v_cvt_norm_u16_f16:
    case ISA_OP_v_cvt_pknorm_i16_f16:
    case ISA_OP_v_cvt_pknorm_u16_f16:
    case ISA_OP_v_cvt_pknorm_i16_f32:
    case ISA_OP_v_cvt_pknorm_u16_f32:
    case ISA_OP_v_cvt_pkrtz_f16_f32:
    case ISA_OP_v_cvt_pk_u8_f32:
    case ISA_OP_v_rcp_f16:
    case ISA_OP_v_rcp_f32:
    case ISA_OP_v_rcp_iflag_f32:
    case ISA_OP_v_rcp_f64:
    case ISA_OP_v_rsq_f16:
    case ISA_OP_v_rsq_f32:
    case ISA_OP_v_rsq_f64:
    case ISA_OP_v_sqrt_f16:
    case ISA_OP_v_sqrt_f32:
    case ISA_OP_v_sqrt_f64:
    case ISA_OP_v_exp_f16:
    case ISA_OP_v_exp_f32:
    case ISA_OP_v_exp_legacy_f32:
    case ISA_OP_v_log_f16:
    case ISA_OP_v_log_f32:
    case ISA_OP_v_log_legacy_f32:
    case ISA_OP_v_sin_f16:
    case ISA_OP_v_sin_f32:
    case ISA_OP_v_cos_f16:
    case ISA_OP_v_cos_f32:
    case ISA_OP_v_div_scale_f32:
    case ISA_OP_v_div_scale_f64:
        return true;
    default:
        return false;
    }
}

void isa_rounding_run(unsigned row, bool halves, uint32_t mode, uint32_t *to,
                      const uint32_t *const source[3], struct isa_environment *env)
{
    /* MODE: nearest, up, down, zero. MXCSR: nearest, down, up, zero. */
    static const uint32_t host_modes[4] = {0, 0x4000, 0x2000, 0x6000};
    unsigned round = halves ? mode >> 2 & 3 : mode & 3;
    bool ignores = ignores_rounding(row + ISA_OP_VALU_FIRST);
    uint32_t host = _mm_getcsr();
    env->round = (uint8_t)round;
    env->round_half = (uint8_t)(ignores ? 0 : mode >> 2 & 3);
    if (!ignores)
        _mm_setcsr((host & ~0x6000u) | host_modes[round]);
    kernels[row](to, source[0], source[1], source[2], env);
    _mm_setcsr(host);
}
