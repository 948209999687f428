/* The rows of gcn_vop*.tab as C functions, one a row. Included by isa_valu.c, and by
 * isa_rounding.c, which defines ISA_ROUNDING: its kernels also flush fp16 and fp64 denormals and
 * round to fp16 as MODE says.
 *
 * A kernel computes all 64 lanes without regard to exec. It is put together from a reader for each
 * source type, the row's semantics, and a writer for the destination type; kinds with carries or
 * conditions also read and gather a mask. */
#ifndef HEDDLE_COMPONENTS_AMD_ISA_EXECUTE_ISA_KERNELS_H
#define HEDDLE_COMPONENTS_AMD_ISA_EXECUTE_ISA_KERNELS_H

#include "isa_math.h"
#include "isa_ready.h"

#define KERNEL_ARGUMENTS                                                                           \
    uint32_t *d, const uint32_t *s0, const uint32_t *s1, const uint32_t *s2,                       \
        struct isa_environment *env
#define UNUSED __attribute__((unused))

/* ---- sources: READ_type(name, array) declares and loads ---- */

#define PAIR(p) ((uint64_t)(p)[lane] | (uint64_t)(p)[64 + lane] << 32)
#define READ_NONE(x, p)
#define READ_U32(x, p)  UNUSED uint32_t x = (p)[lane];
#define READ_M32(x, p)  UNUSED uint32_t x = (p)[lane];
#define READ_I32(x, p)  UNUSED int32_t x = (int32_t)(p)[lane];
#define READ_U16(x, p)  UNUSED uint32_t x = (p)[lane] & 0xffff;
#define READ_M16(x, p)  UNUSED uint32_t x = (p)[lane] & 0xffff;
#define READ_P16(x, p)  UNUSED uint32_t x = (p)[lane] & 0xffff;
#define READ_I16(x, p)  UNUSED int32_t x = (int16_t)(p)[lane];
#define READ_U64(x, p)  UNUSED uint64_t x = PAIR(p);
#define READ_M64(x, p)  UNUSED uint64_t x = PAIR(p);
#define READ_I64(x, p)  UNUSED int64_t x = (int64_t)PAIR(p);
#define READ_F32(x, p)  UNUSED float x = f32_bits(flush_bits((p)[lane], keep_in));
#define READ_F16(x, p)  UNUSED float x = f32_f16(HALF_IN((p)[lane]));
#define READ_PF16(x, p) READ_F16(x, p)
#define READ_W16(x, p)  READ_U32(x, p)
#define READ_WF16(x, p) READ_U32(x, p)
#define READ_P32(x, p)  READ_U32(x, p)
#define READ_PF32(x, p) READ_F32(x, p)
#define READ_F64(x, p)  UNUSED double x = f64_bits(DOUBLE_IN(PAIR(p)));

#ifdef ISA_ROUNDING
#define HALF_IN(u)    flush_half(u, isa_flushes_in(env))
#define HALF_OUT(u)   flush_half(u, isa_flushes_out(env))
#define HALF(x)       HALF_OUT(f16_rounded(x, env->round_half))
#define DOUBLE_IN(u)  flush_double(u, isa_flushes_in(env))
#define DOUBLE_OUT(u) flush_double(u, isa_flushes_out(env))
#define ROUND         env->round
#define DIV_FMAS_F32  exact_div_fmas_f32
#define DIV_FMAS_F64  exact_div_fmas_f64
#else
#define HALF_IN(u)                        (u)
#define HALF_OUT(u)                       (u)
#define HALF(x)                           f16_f32(x)
#define DOUBLE_IN(u)                      (u)
#define DOUBLE_OUT(u)                     (u)
#define ROUND                             0
#define DIV_FMAS_F32(a, b, c, bit, round) fma_f32(a, b, c) /* lanes that are not scaled */
#define DIV_FMAS_F64(a, b, c, bit, round) fma_f64(a, b, c)
#endif

/* A product of halves on its way into a sum. */
#define ROUND_HALF(x) ((x) != (x) ? (x) : f32_f16(HALF(x)))

/* ---- NaN results ---- */

/* The chain c, b, a leaves the first NaN source. Rows that say themselves which NaN results, and
 * whether it signals, wrap their semantics in OWN_NAN. */

#define OWN_NAN(x) (own_nan = true, (x))

#define NAN32_NONE(x, n) n
#define NAN32_U32(x, n)  n
#define NAN32_I32(x, n)  n
#define NAN32_WF16(x, n) n
#define NAN32_F32(x, n)  ((x) != (x) ? bits_f32(x) | 0x400000 : (n))
#define NAN32_F16(x, n)  NAN32_F32(x, n)
#define NAN32_PF32(x, n) NAN32_F32(x, n)
#define NAN32_F64(x, n)  ((x) != (x) ? bits_f32((float)(x)) | 0x400000 : (n))
#define NAN16_NONE(x, n) n
#define NAN16_U16(x, n)  n
#define NAN16_I16(x, n)  n
#define NAN16_F16(x, n)  ((x) != (x) ? f16_nan(x) : (n))
#define NAN16_PF16(x, n) NAN16_F16(x, n)
#define NAN16_F32(x, n)  NAN16_F16(x, n)
#define NAN64_NONE(x, n) n
#define NAN64_U32(x, n)  n
#define NAN64_I32(x, n)  n
#define NAN64_F64(x, n)  ((x) != (x) ? bits_f64(x) | UINT64_C(0x8000000000000) : (n))
#define NAN64_F32(x, n)  ((x) != (x) ? bits_f64((double)(x)) | UINT64_C(0x8000000000000) : (n))

/* ---- results ---- */

#define RESULT_U32   uint32_t
#define RESULT_I32   int32_t
#define RESULT_U16   uint32_t
#define RESULT_P16   uint32_t
#define RESULT_I16   int32_t
#define RESULT_U64   uint64_t
#define RESULT_I64   int64_t
#define RESULT_F32   float
#define RESULT_F16   float
#define RESULT_PF16  float
#define RESULT_F64   double
#define RESULT_P32   uint32_t
#define RESULT_PF32  float
#define RESULT_F32X2 uint64_t

#define WRITE_U32(A, B, C)   d[lane] = r;
#define WRITE_I32(A, B, C)   d[lane] = (uint32_t)r;
#define WRITE_U16(A, B, C)   d[lane] = r & 0xffff;
#define WRITE_P16(A, B, C)   d[lane] = r & 0xffff;
#define WRITE_I16(A, B, C)   d[lane] = (uint32_t)r & 0xffff;
#define WRITE_U64(A, B, C)   d[lane] = (uint32_t)r, d[64 + lane] = (uint32_t)(r >> 32);
#define WRITE_F32X2(A, B, C) WRITE_U64(A, B, C)
#define WRITE_I64(A, B, C)   d[lane] = (uint32_t)r, d[64 + lane] = (uint32_t)((uint64_t)r >> 32);
#define WRITE_F32(A, B, C)                                                                         \
    uint32_t nan = NAN32_##A(a, NAN32_##B(b, NAN32_##C(c, 0x7fc00000u)));                          \
    nan = own_nan ? bits_f32(r) : nan;                                                             \
    d[lane] = r != r ? nan : flush_bits(bits_f32(r), keep_out);
#define WRITE_P32(A, B, C)  WRITE_U32(A, B, C)
#define WRITE_PF32(A, B, C) WRITE_F32(A, B, C)
#define WRITE_F16(A, B, C)                                                                         \
    uint32_t nan = NAN16_##A(a, NAN16_##B(b, NAN16_##C(c, 0x7e00u)));                              \
    nan = own_nan ? f16_nan_kept(r) : nan;                                                         \
    d[lane] = r != r ? nan : HALF(r);
#define WRITE_PF16(A, B, C) WRITE_F16(A, B, C)
#define WRITE_F64(A, B, C)                                                                         \
    uint64_t nan = NAN64_##A(a, NAN64_##B(b, NAN64_##C(c, UINT64_C(0x7ff8000000000000))));         \
    nan = own_nan ? bits_f64(r) : nan;                                                             \
    uint64_t value = r != r ? nan : DOUBLE_OUT(bits_f64(r));                                       \
    d[lane] = (uint32_t)value, d[64 + lane] = (uint32_t)(value >> 32);

/* Rows whose sources and result are fp32, for two cases: a wavefront flushes denormals of sources
 * and results, and the host treats denormal sources as zeros; or the wavefront keeps denormals, and
 * so does the host. In both, sources need no flushing, and multiplication by one flushes a result.
 * The value returned is not 0 if a result is NaN: the plain kernel then makes the right NaN.
 * isa_valu_ready.c decides which rows may be executed in this way. */
#ifdef ISA_ROUNDING
#define FAST_KERNEL(...)
#else
#define FAST_KERNEL(m, D, A, B, C, ...)                                                            \
    UNUSED static uint32_t fast_##m(uint32_t *d, const uint32_t *s0, const uint32_t *s1,           \
                                    const uint32_t *s2, float one)                                 \
    {                                                                                              \
        UNUSED const uint32_t keep_in = 0xffffffff, keep = keep_in;                                \
        UNUSED const bool ieee = true;                                                             \
        UNUSED bool own_nan = false;                                                               \
        uint32_t bad = 0;                                                                          \
        (void)s0, (void)s1, (void)s2;                                                              \
        _Pragma("GCC ivdep") for (uint32_t lane = 0; lane < 64; lane++)                            \
        {                                                                                          \
            READ_##A(a, s0) READ_##B(b, s1) READ_##C(c, s2) float r = (float)(__VA_ARGS__)*one;    \
            d[lane] = bits_f32(r);                                                                 \
            bad |= r != r ? 1u : 0u;                                                               \
        }                                                                                          \
        return bad;                                                                                \
    }
#endif

/* ---- kernels by kind ---- */

#define BEGIN_KERNEL(m)                                                                            \
    UNUSED static void kernel_##m(KERNEL_ARGUMENTS)                                                \
    {                                                                                              \
        UNUSED const uint32_t keep_in = env->keep_in, keep_out = env->keep_out, keep = keep_out;   \
        UNUSED const bool ieee = env->mode & ISA_MODE_IEEE;                                        \
        UNUSED bool own_nan = false;                                                               \
        (void)d, (void)s0, (void)s1, (void)s2;

/* Plain: no masks. */
#define KERNEL_V(m, D, A, B, C, ...)                                                               \
    BEGIN_KERNEL(m)                                                                                \
    _Pragma("GCC ivdep") for (uint32_t lane = 0; lane < 64; lane++)                                \
    {                                                                                              \
        READ_##A(a, s0) READ_##B(b, s1) READ_##C(c, s2) RESULT_##D r = (RESULT_##D)(__VA_ARGS__);  \
        WRITE_##D(A, B, C)                                                                         \
    }                                                                                              \
    }                                                                                              \
    FAST_KERNEL(m, D, A, B, C, __VA_ARGS__)
#define KERNEL_MAC KERNEL_V
#define KERNEL_MK  KERNEL_V
#define KERNEL_AK  KERNEL_V
#define KERNEL_PK  KERNEL_V
#define KERNEL_MIX KERNEL_V

static const uint32_t lane_bits[32] __attribute__((aligned(64))) = {
    1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
    1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
    1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
    1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31};

/* With masks: two halves of 32 lanes, so that a lane's bit is a 32-bit value as its data is; lane
 * counts within the half. */
#define MASKED_KERNEL(m, D, A, B, C, WRITE, statement)                                             \
    BEGIN_KERNEL(m)                                                                                \
    uint64_t gathered = 0;                                                                         \
    for (uint32_t half = 0; half < 64; half += 32, d += 32, s0 += 32, s1 += 32, s2 += 32) {        \
        UNUSED const uint32_t in = (uint32_t)(env->mask_in >> half);                               \
        uint32_t out = 0;                                                                          \
        _Pragma("GCC ivdep") for (uint32_t lane = 0; lane < 32; lane++)                            \
        {                                                                                          \
            const uint32_t own = lane_bits[lane];                                                  \
            UNUSED const uint32_t bit = (in & own) ? 1 : 0;                                        \
            UNUSED uint32_t carry = 0;                                                             \
            READ_##A(a, s0) READ_##B(b, s1) READ_##C(c, s2) statement;                             \
            out |= own & (0u - carry);                                                             \
            WRITE                                                                                  \
        }                                                                                          \
        gathered |= (uint64_t)out << half;                                                         \
    }                                                                                              \
    env->mask_out = gathered;                                                                      \
    }

#define KERNEL_CO(m, D, A, B, C, ...)                                                              \
    MASKED_KERNEL(m, D, A, B, C, WRITE_##D(A, B, C), RESULT_##D r = __VA_ARGS__)
#define KERNEL_CIO KERNEL_CO
#define KERNEL_SD  KERNEL_CO
#define KERNEL_CI  KERNEL_CO
#define KERNEL_VI  KERNEL_CO
#define KERNEL_CMP(m, D, A, B, C, ...)                                                             \
    MASKED_KERNEL(m, D, A, B, C, , carry = (uint32_t)((__VA_ARGS__) != 0))
#define KERNEL_CMPX(...)
/* Conversion to fp8: MODE's FP16_OVFL decides what values that are too large become. */
#define KERNEL_FP8(m, D, A, B, C, ...)                                                             \
    BEGIN_KERNEL(m)                                                                                \
    const bool saturates = env->mode & ISA_MODE_SATURATE;                                          \
    _Pragma("GCC ivdep") for (uint32_t lane = 0; lane < 64; lane++)                                \
    {                                                                                              \
        READ_##A(a, s0) READ_##B(b, s1) d[lane] = __VA_ARGS__;                                     \
    }                                                                                              \
    }
#define KERNEL_PKMAC KERNEL_PK
#define KERNEL_ACC(...)
#define KERNEL_X(...)
#define KERNEL_UN(...)

/* The kernel of a row by its kind and semantics, or NULL. */
#define NAME_V(m, ...)    kernel_##m
#define NAME_MAC          NAME_V
#define NAME_MK           NAME_V
#define NAME_AK           NAME_V
#define NAME_PK           NAME_V
#define NAME_PKMAC        NAME_V
#define NAME_FP8          NAME_V
#define NAME_ACC(...)     NULL
#define NAME_MIX          NAME_V
#define NAME_CO           NAME_V
#define NAME_CIO          NAME_V
#define NAME_SD           NAME_V
#define NAME_CI           NAME_V
#define NAME_VI           NAME_V
#define NAME_CMP          NAME_V
#define NAME_CMPX(m, own) kernel_v_cmp_##own
#define NAME_X(...)       NULL
#define NAME_UN(...)      NULL

#define INST(m, fmt, o8, o9, kind, D, A, B, C, timing, ...)                                        \
    KERNEL_##kind(m, D, A, B, C, __VA_ARGS__)
#define INSTN(m, text, fmt, o8, o9, kind, D, A, B, C, timing, ...)                                 \
    KERNEL_##kind(m, D, A, B, C, __VA_ARGS__)
#include "components/amd/isa/tables/gcn_vop.tab"
#include "components/amd/isa/tables/gcn_vop3p.tab"
#include "components/amd/isa/tables/gcn_vopc.tab"
#undef INST
#undef INSTN

#endif
