/* Loops over lanes, made of the rows of a table. A file that includes this header defines the
 * handlers of one .def and the function that enters them. Private to components/nvidia/warp.
 *
 * A loop always computes 32 lanes, so that it vectorises; where some lanes are not to change, the
 * loop writes into a buffer and merges. Operations must not trap, whatever inactive lanes hold. */
#ifndef HEDDLE_COMPONENTS_NVIDIA_WARP_HANDLERS_WARP_LANES_H
#define HEDDLE_COMPONENTS_NVIDIA_WARP_HANDLERS_WARP_LANES_H

#include "base/likely.h"
#include "components/nvidia/warp/warp_machine.h"

typedef uint8_t u8;
typedef int8_t s8;
typedef uint16_t u16;
typedef int16_t s16;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int64_t s64;
typedef float f32;
typedef double f64;

/* Element types of rows that are read or written as a type. */
#define ROW_u8  uint32_t
#define ROW_s8  uint32_t
#define ROW_u16 uint32_t
#define ROW_s16 uint32_t
#define ROW_u32 uint32_t
#define ROW_s32 uint32_t
#define ROW_f32 float
#define ROW_u64 uint64_t
#define ROW_s64 uint64_t
#define ROW_f64 double

#define LANES _Pragma("GCC ivdep") for (unsigned i = 0; i < WARP_LANES; i++)

/* Copies the lanes of the mask. */
static OUT_OF_LINE __attribute__((unused)) void
lanes_merge_narrow(uint32_t *to, const uint32_t *from, uint32_t mask)
{
    LANES to[i] = mask >> i & 1 ? from[i] : to[i];
}

static OUT_OF_LINE __attribute__((unused)) void lanes_merge_wide(uint64_t *to, const uint64_t *from,
                                                                 uint32_t mask)
{
    LANES to[i] = (uint64_t)mask >> i & 1 ? from[i] : to[i];
}

/* A lane's value at a place. */
static ALWAYS_INLINE void lanes_put(struct warp_machine *m, const struct warp_place *p,
                                    unsigned lane, u64 value)
{
    if (p->bank == WARP_NARROW)
        ((u32 *)(void *)(m->base[p->bank] + p->at))[lane] = (u32)value;
    else if (p->bank == WARP_WIDE)
        ((u64 *)(void *)(m->base[p->bank] + p->at))[lane] = value;
}

static ALWAYS_INLINE u64 lanes_get(const struct warp_machine *m, const struct warp_place *p,
                                   unsigned lane)
{
    const void *row = m->base[p->bank] + p->at;
    return p->bank == WARP_WIDE || p->wide ? ((const u64 *)row)[lane] : ((const u32 *)row)[lane];
}

/* The target of the loop, and the merge after it. */
static ALWAYS_INLINE void *lanes_target(struct warp_machine *m, const struct warp_op *op,
                                        uint32_t mask)
{
    return mask == (uint32_t)WARP_ALL ? warp_target(m, op) : (void *)m->temp;
}

static ALWAYS_INLINE void lanes_done(struct warp_machine *m, const struct warp_op *op,
                                     uint32_t mask, size_t size)
{
    if (mask == (uint32_t)WARP_ALL)
        return;
    if (size == 8)
        lanes_merge_wide(warp_target(m, op), m->temp, mask);
    else
        lanes_merge_narrow(warp_target(m, op), (const uint32_t *)m->temp, mask);
}

/* One bit for each lane whose word is not 0; words are 0 or all ones. */
static ALWAYS_INLINE uint32_t lanes_bits(const uint32_t *word)
{
    uint32_t bits = 0;
#if defined __AVX2__
    typedef float vector __attribute__((vector_size(32), may_alias));
    for (unsigned i = 0; i < 4; i++)
        bits |= (uint32_t)__builtin_ia32_movmskps256(*(const vector *)(const void *)(word + 8 * i))
                << 8 * i;
#else
    typedef float vector __attribute__((vector_size(16), may_alias));
    for (unsigned i = 0; i < 8; i++)
        bits |= (uint32_t)__builtin_ia32_movmskps(*(const vector *)(const void *)(word + 4 * i))
                << 4 * i;
#endif
    return bits;
}

static ALWAYS_INLINE uint32_t lanes_combine(uint32_t bits, uint32_t input, unsigned how)
{
    return how == WARP_AND ? bits & input : how == WARP_OR ? bits | input : bits ^ input;
}

/* setp: p = bits combined with the input, q = not bits, combined. */
static ALWAYS_INLINE void lanes_compared(const struct warp_machine *m, const struct warp_op *op,
                                         uint32_t mask, uint32_t bits)
{
    uint32_t other = ~bits;
    if (op->combine != WARP_SET) {
        uint32_t input = warp_predicate(m, op, 3);
        bits = lanes_combine(bits, input, op->combine);
        other = lanes_combine(other, input, op->combine);
    }
    if (op->bank[0] == WARP_PREDICATE)
        warp_put_predicate(m, op->at[0], bits, mask);
    if (op->bank[4] == WARP_PREDICATE)
        warp_put_predicate(m, op->at[4], other, mask);
}

/* Lanes of `mask`, one after another. */
#define EACH                                                                                       \
    for (uint32_t left = mask, i; left && (i = (uint32_t)__builtin_ctz(left), 1); left &= left - 1)

#define RUN(id)                                                                                    \
    static void run_##id(struct warp_machine *m, const struct warp_op *op, uint32_t mask)

#define LANE1(id, D, A, expression)                                                                \
    RUN(id)                                                                                        \
    {                                                                                              \
        ROW_##D *to = lanes_target(m, op, mask);                                                   \
        const ROW_##A *pa = warp_source(m, op, 1);                                                 \
        LANES                                                                                      \
        {                                                                                          \
            A a = (A)pa[i];                                                                        \
            to[i] = (ROW_##D)(D)(expression);                                                      \
        }                                                                                          \
        lanes_done(m, op, mask, sizeof *to);                                                       \
    }

#define LANE2(id, D, A, B, expression)                                                             \
    RUN(id)                                                                                        \
    {                                                                                              \
        ROW_##D *to = lanes_target(m, op, mask);                                                   \
        const ROW_##A *pa = warp_source(m, op, 1);                                                 \
        const ROW_##B *pb = warp_source(m, op, 2);                                                 \
        LANES                                                                                      \
        {                                                                                          \
            A a = (A)pa[i];                                                                        \
            B b = (B)pb[i];                                                                        \
            (void)b;                                                                               \
            to[i] = (ROW_##D)(D)(expression);                                                      \
        }                                                                                          \
        lanes_done(m, op, mask, sizeof *to);                                                       \
    }

#define LANE3(id, D, A, B, C, expression)                                                          \
    RUN(id)                                                                                        \
    {                                                                                              \
        ROW_##D *to = lanes_target(m, op, mask);                                                   \
        const ROW_##A *pa = warp_source(m, op, 1);                                                 \
        const ROW_##B *pb = warp_source(m, op, 2);                                                 \
        const ROW_##C *pc = warp_source(m, op, 3);                                                 \
        LANES                                                                                      \
        {                                                                                          \
            A a = (A)pa[i];                                                                        \
            B b = (B)pb[i];                                                                        \
            C c = (C)pc[i];                                                                        \
            (void)b;                                                                               \
            to[i] = (ROW_##D)(D)(expression);                                                      \
        }                                                                                          \
        lanes_done(m, op, mask, sizeof *to);                                                       \
    }

#define COMPARE(id, A, expression)                                                                 \
    RUN(id)                                                                                        \
    {                                                                                              \
        _Alignas(64) uint32_t word[WARP_LANES];                                                    \
        const ROW_##A *pa = warp_source(m, op, 1);                                                 \
        const ROW_##A *pb = warp_source(m, op, 2);                                                 \
        LANES                                                                                      \
        {                                                                                          \
            A a = (A)pa[i];                                                                        \
            A b = (A)pb[i];                                                                        \
            (void)b;                                                                               \
            word[i] = (expression) ? UINT32_MAX : 0;                                               \
        }                                                                                          \
        lanes_compared(m, op, mask, lanes_bits(word));                                             \
    }

/* Sums with the condition code: `in` is CC.CF of the lane, `out` what becomes of it. */
#define CARRY(id, T, sum, out)                                                                     \
    RUN(id)                                                                                        \
    {                                                                                              \
        ROW_##T *to = lanes_target(m, op, mask);                                                   \
        const ROW_##T *pa = warp_source(m, op, 1);                                                 \
        const ROW_##T *pb = warp_source(m, op, 2);                                                 \
        uint32_t carry = m->warp->carry, next = 0;                                                 \
        for (unsigned i = 0; i < WARP_LANES; i++) {                                                \
            T a = (T)pa[i], b = (T)pb[i], in = carry >> i & 1;                                     \
            T d = (T)(sum);                                                                        \
            next |= (uint32_t)(out) << i;                                                          \
            (void)in;                                                                              \
            to[i] = d;                                                                             \
        }                                                                                          \
        lanes_done(m, op, mask, sizeof *to);                                                       \
        if (op->combine)                                                                           \
            m->warp->carry = (carry & ~mask) | (next & mask);                                      \
    }

#define WARP_JOIN2(a, b) a##b
#define WARP_JOIN(a, b)  WARP_JOIN2(a, b)
#define WARP_NAMED(stem) WARP_JOIN(stem, WARP_VARIANT)

#endif
