/*
 * isa_masked.h - kernels of the integer rows that gather or read a mask, because programs execute
 * them for each address that they make and each loop that they end. Those of isa_kernels.h, which
 * are put together from a row's semantics, take each lane's bit apart; these do a vector of lanes
 * at a time, and the compiler drops the others. Included by isa_valu.c before its table of kernels.
 */
#ifndef HEDDLE_ISA_MASKED_H
#define HEDDLE_ISA_MASKED_H

#include "isa_kernels.h"
#include "isa_lanes.h"

#if defined __SSE2__
#include <immintrin.h>
#endif

/* A bit for each of LANES_AT_ONCE lanes: as AVX-512 has them, or all ones in the lane. COMPARED()
 * names an order in both ways. */
#if defined __AVX512F__
typedef __mmask16 lane_mask;
#define COMPARED(a, order, operator, type, b)                                                      \
    _mm512_cmp##order##_##type##_mask((__m512i)(a), (__m512i)(b))
#else
typedef lanes_vector lane_mask;
typedef int32_t lanes_epi32 __attribute__((vector_size(LANES_AT_ONCE * 4), aligned(4), may_alias));
typedef lanes_vector lanes_epu32;
#define COMPARED(a, order, operator, type, b)                                                      \
    (lane_mask)((lanes_##type)(a) operator(lanes_##type)(b))
#endif

/* The bits of the lanes from `lane` on. */
LANES_INLINE lane_mask lane_mask_get(uint64_t mask, unsigned lane)
{
#if defined __AVX512F__
    return (lane_mask)(mask >> lane);
#else
    return lanes_active(mask, lane);
#endif
}

/* `m` as the bits of the lanes from `lane` on; the other bits are 0. */
LANES_INLINE uint64_t lane_mask_put(lane_mask m, unsigned lane)
{
#if defined __AVX512F__
    return (uint64_t)m << lane;
#elif defined __AVX2__
    return (uint64_t)(uint32_t)_mm256_movemask_ps((__m256)m) << lane;
#elif defined __SSE2__
    return (uint64_t)(uint32_t)_mm_movemask_ps((__m128)m) << lane;
#else
    uint64_t bits = 0;
    for (unsigned i = 0; i < LANES_AT_ONCE; i++)
        bits |= (uint64_t)(m[i] & 1) << i;
    return bits << lane;
#endif
}

/* `there` in the lanes of the mask, `otherwise` in the others. */
LANES_INLINE lanes_vector lanes_choose(lane_mask m, lanes_vector there, lanes_vector otherwise)
{
#if defined __AVX512F__
    return (lanes_vector)_mm512_mask_mov_epi32((__m512i)otherwise, m, (__m512i)there);
#else
    return (there & m) | (otherwise & ~m);
#endif
}

/* One more or less in the lanes of the mask. */
LANES_INLINE lanes_vector lanes_plus_mask(lanes_vector v, lane_mask m)
{
#if defined __AVX512F__
    const __m512i one = _mm512_set1_epi32(1);
    return (lanes_vector)_mm512_mask_add_epi32((__m512i)v, m, (__m512i)v, one);
#else
    return v - m; /* all ones are -1 */
#endif
}

LANES_INLINE lanes_vector lanes_minus_mask(lanes_vector v, lane_mask m)
{
#if defined __AVX512F__
    const __m512i one = _mm512_set1_epi32(1);
    return (lanes_vector)_mm512_mask_sub_epi32((__m512i)v, m, (__m512i)v, one);
#else
    return v + m;
#endif
}

/* The statement sets `r` and `carry`; `in` is the mask that is read. */
#define MASKED_LANES(name, x, y, ...)                                                              \
    static void name(KERNEL_ARGUMENTS)                                                             \
    {                                                                                              \
        const uint64_t mask_in = env->mask_in;                                                     \
        uint64_t mask_out = 0;                                                                     \
        (void)s2;                                                                                  \
        for (unsigned lane = 0; lane < 64; lane += LANES_AT_ONCE) {                                \
            const lanes_vector x = lanes_get(s0 + lane), y = lanes_get(s1 + lane);                 \
            UNUSED const lane_mask in = lane_mask_get(mask_in, lane);                              \
            lane_mask carry;                                                                       \
            lanes_vector r;                                                                        \
            __VA_ARGS__;                                                                           \
            lanes_put(d + lane, r);                                                                \
            mask_out |= lane_mask_put(carry, lane);                                                \
        }                                                                                          \
        env->mask_out = mask_out;                                                                  \
    }

#define MASKED_COMPARE(name, order, operator, type)                                                \
    static void name(KERNEL_ARGUMENTS)                                                             \
    {                                                                                              \
        uint64_t mask_out = 0;                                                                     \
        (void)d, (void)s2;                                                                         \
        for (unsigned lane = 0; lane < 64; lane += LANES_AT_ONCE) {                                \
            const lanes_vector a = lanes_get(s0 + lane), b = lanes_get(s1 + lane);                 \
            mask_out |= lane_mask_put(COMPARED(a, order, operator, type, b), lane);                \
        }                                                                                          \
        env->mask_out = mask_out;                                                                  \
    }

#define LESS(a, b)  COMPARED(a, lt, <, epu32, b)
#define EQUAL(a, b) COMPARED(a, eq, ==, epi32, b)
#define ADD         r = a + b, carry = LESS(r, a)
#define SUBTRACT    r = a - b, carry = LESS(a, b)
#define ADD_CARRY                                                                                  \
    r = lanes_plus_mask(a + b, in), carry = (lane_mask)(LESS(r, a) | (EQUAL(r, a) & in))
#define SUBTRACT_CARRY                                                                             \
    r = lanes_minus_mask(a - b, in), carry = (lane_mask)(LESS(a, b) | (EQUAL(a, b) & in))

MASKED_LANES(masked_add, a, b, ADD)
MASKED_LANES(masked_sub, a, b, SUBTRACT)
MASKED_LANES(masked_subrev, b, a, SUBTRACT)
MASKED_COMPARE(masked_lt_i32, lt, <, epi32)
MASKED_COMPARE(masked_eq_i32, eq, ==, epi32)
MASKED_COMPARE(masked_le_i32, le, <=, epi32)
MASKED_COMPARE(masked_gt_i32, gt, >, epi32)
MASKED_COMPARE(masked_ne_i32, neq, !=, epi32)
MASKED_COMPARE(masked_ge_i32, ge, >=, epi32)
MASKED_COMPARE(masked_le_u32, le, <=, epu32)
MASKED_COMPARE(masked_ge_u32, ge, >=, epu32)

/* In place of the rows' own; the names before GFX9, and since. */
#define kernel_v_add_u32       masked_add
#define kernel_v_sub_u32       masked_sub
#define kernel_v_subrev_u32    masked_subrev
#define kernel_v_add_co_u32    masked_add
#define kernel_v_sub_co_u32    masked_sub
#define kernel_v_subrev_co_u32 masked_subrev
#define kernel_v_cmp_lt_i32    masked_lt_i32
#define kernel_v_cmp_eq_i32    masked_eq_i32
#define kernel_v_cmp_le_i32    masked_le_i32
#define kernel_v_cmp_gt_i32    masked_gt_i32
#define kernel_v_cmp_ne_i32    masked_ne_i32
#define kernel_v_cmp_ge_i32    masked_ge_i32
#define kernel_v_cmp_eq_u32    masked_eq_i32
#define kernel_v_cmp_le_u32    masked_le_u32
#define kernel_v_cmp_ne_u32    masked_ne_i32
#define kernel_v_cmp_ge_u32    masked_ge_u32

/* Reading a mask pays from so many lanes at once on, and comparing without sign. */
#if defined __AVX2__
MASKED_LANES(masked_addc, a, b, ADD_CARRY)
MASKED_LANES(masked_subb, a, b, SUBTRACT_CARRY)
MASKED_LANES(masked_subbrev, b, a, SUBTRACT_CARRY)
#define kernel_v_addc_u32       masked_addc
#define kernel_v_subb_u32       masked_subb
#define kernel_v_subbrev_u32    masked_subbrev
#define kernel_v_addc_co_u32    masked_addc
#define kernel_v_subb_co_u32    masked_subb
#define kernel_v_subbrev_co_u32 masked_subbrev
#endif
#if defined __AVX512F__
MASKED_COMPARE(masked_lt_u32, lt, <, epu32)
#define kernel_v_cmp_lt_u32 masked_lt_u32
MASKED_COMPARE(masked_gt_u32, gt, >, epu32)
#define kernel_v_cmp_gt_u32 masked_gt_u32
MASKED_LANES(masked_cndmask, a, b, r = lanes_choose(in, b, a), carry = lane_mask_get(0, lane))
#define kernel_v_cndmask_b32 masked_cndmask
#endif

#endif
