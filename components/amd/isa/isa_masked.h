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

/* All ones in the lanes that are meant. */
typedef lanes_vector lane_mask;
typedef int32_t lanes_i32 __attribute__((vector_size(LANES_AT_ONCE * 4), aligned(4), may_alias));
typedef lanes_vector lanes_u32;

/* `m` as the bits of the lanes from `lane` on; the other bits are 0. */
LANES_INLINE uint64_t lane_mask_put(lane_mask m, unsigned lane)
{
#if defined __AVX2__
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

/* The statement sets `r` and `carry`; `in` is the mask that is read. */
#define MASKED_LANES(name, x, y, ...)                                                              \
    static void name(KERNEL_ARGUMENTS)                                                             \
    {                                                                                              \
        const uint64_t mask_in = env->mask_in;                                                     \
        uint64_t mask_out = 0;                                                                     \
        (void)s2;                                                                                  \
        for (unsigned lane = 0; lane < 64; lane += LANES_AT_ONCE) {                                \
            const lanes_vector x = lanes_get(s0 + lane), y = lanes_get(s1 + lane);                 \
            UNUSED const lane_mask in = lanes_active(mask_in, lane);                               \
            lane_mask carry;                                                                       \
            lanes_vector r;                                                                        \
            __VA_ARGS__;                                                                           \
            lanes_put(d + lane, r);                                                                \
            mask_out |= lane_mask_put(carry, lane);                                                \
        }                                                                                          \
        env->mask_out = mask_out;                                                                  \
    }

#define MASKED_COMPARE(name, operator, type)                                                       \
    static void name(KERNEL_ARGUMENTS)                                                             \
    {                                                                                              \
        uint64_t mask_out = 0;                                                                     \
        (void)d, (void)s2;                                                                         \
        for (unsigned lane = 0; lane < 64; lane += LANES_AT_ONCE) {                                \
            const lanes_vector a = lanes_get(s0 + lane), b = lanes_get(s1 + lane);                 \
            mask_out |= lane_mask_put((lane_mask)((type)a operator(type) b), lane);                \
        }                                                                                          \
        env->mask_out = mask_out;                                                                  \
    }

#define ADD            r = a + b, carry = (lane_mask)(r < a)
#define SUBTRACT       r = a - b, carry = (lane_mask)(a < b)
/* A lane of the mask is -1. */
#define ADD_CARRY      r = a + b - in, carry = (lane_mask)(r < a) | ((lane_mask)(r == a) & in)
#define SUBTRACT_CARRY r = a - b + in, carry = (lane_mask)(a < b) | ((lane_mask)(a == b) & in)

MASKED_LANES(masked_add, a, b, ADD)
MASKED_LANES(masked_sub, a, b, SUBTRACT)
MASKED_LANES(masked_subrev, b, a, SUBTRACT)
MASKED_COMPARE(masked_lt_i32, <, lanes_i32)
MASKED_COMPARE(masked_eq_i32, ==, lanes_i32)
MASKED_COMPARE(masked_le_i32, <=, lanes_i32)
MASKED_COMPARE(masked_gt_i32, >, lanes_i32)
MASKED_COMPARE(masked_ne_i32, !=, lanes_i32)
MASKED_COMPARE(masked_ge_i32, >=, lanes_i32)
MASKED_COMPARE(masked_le_u32, <=, lanes_u32)
MASKED_COMPARE(masked_ge_u32, >=, lanes_u32)

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
#endif
