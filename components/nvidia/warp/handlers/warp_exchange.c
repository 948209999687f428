/* Handlers of warp_exchange.def: what goes between the lanes of a warp and between warps, at one
 * x86-64 level. */
#include "base/number.h"

#include "warp_addresses.h"
#include "warp_lanes.h"
#include "warp_variant.h"

/* ---- between lanes ---- */

/* 9.7.9.6. c: bounds in bits 0 to 4, the segments' mask in 8 to 12. Lanes that do not execute give
 * what their register holds. `target`: 1 + predicate that says whether the lane was in range. */
#define SHUFFLE(id, lane, in_range)                                                                \
    RUN(id)                                                                                        \
    {                                                                                              \
        _Alignas(64) u32 from[WARP_LANES];                                                         \
        memcpy(from, warp_source(m, op, 1), sizeof from);                                          \
        const u32 *pb = warp_source(m, op, 2), *pc = warp_source(m, op, 3);                        \
        u32 *to = warp_target(m, op), *scratch = (u32 *)(void *)m->temp, bits = 0;                 \
        if (op->bank[0] == WARP_BANK_NONE)                                                         \
            to = scratch;                                                                          \
        EACH                                                                                       \
        {                                                                                          \
            u32 b = pb[i] & 31, bound = pc[i] & 31, segment = pc[i] >> 8 & 31;                     \
            s32 most = (s32)((i & segment) | (bound & ~segment)), least = (s32)(i & segment);      \
            s32 j = (s32)(lane);                                                                   \
            (void)least;                                                                           \
            bool in = (in_range);                                                                  \
            to[i] = from[(in ? (u32)j : i) & 31];                                                  \
            bits |= (u32)in << i;                                                                  \
        }                                                                                          \
        if (op->target)                                                                            \
            warp_put_predicate(m, op->target - 1, bits, mask);                                     \
    }
SHUFFLE(SHFL_UP, i - b, j >= most)
SHUFFLE(SHFL_DOWN, i + b, j <= most)
SHUFFLE(SHFL_BFLY, i ^ b, j <= most)
SHUFFLE(SHFL_IDX, (u32)least | (b & ~segment), j <= most)

/* Lanes that vote: lanes of the mask that execute. */
RUN(VOTE_ALL)
{
    u32 no = ~warp_predicate(m, op, 1) & mask & m->sync;
    warp_put_predicate(m, op->at[0], no ? 0 : UINT32_MAX, mask);
}
RUN(VOTE_ANY)
{
    u32 yes = warp_predicate(m, op, 1) & mask & m->sync;
    warp_put_predicate(m, op->at[0], yes ? UINT32_MAX : 0, mask);
}
RUN(VOTE_UNI)
{
    u32 bits = warp_predicate(m, op, 1), voters = mask & m->sync;
    bool uniform = !(bits & voters) || !(~bits & voters);
    warp_put_predicate(m, op->at[0], uniform ? UINT32_MAX : 0, mask);
}
RUN(VOTE_BALLOT)
{
    u32 bits = warp_predicate(m, op, 1) & mask & m->sync, *to = lanes_target(m, op, mask);
    LANES to[i] = bits;
    lanes_done(m, op, mask, sizeof *to);
}

#define MATCH(id, T, is_all)                                                                       \
    RUN(id)                                                                                        \
    {                                                                                              \
        const T *a = warp_source(m, op, 1);                                                        \
        u32 voters = mask & m->sync, equal[WARP_LANES], *to = warp_target(m, op);                  \
        EACH                                                                                       \
        {                                                                                          \
            equal[i] = 0;                                                                          \
            for (unsigned k = 0; k < WARP_LANES; k++)                                              \
                equal[i] |= (u32)(a[k] == a[i]) << k;                                              \
            equal[i] &= voters;                                                                    \
        }                                                                                          \
        bool all = equal[__builtin_ctz(mask)] == voters;                                           \
        EACH to[i] = !(is_all) ? equal[i] : all ? voters : 0;                                      \
        if (op->target)                                                                            \
            warp_put_predicate(m, op->target - 1, all ? UINT32_MAX : 0, mask);                     \
    }
MATCH(MATCH_ANY_32, u32, false)
MATCH(MATCH_ANY_64, u64, false)
MATCH(MATCH_ALL_32, u32, true)
MATCH(MATCH_ALL_64, u64, true)

RUN(ACTIVEMASK)
{
    u32 *to = lanes_target(m, op, mask);
    LANES to[i] = mask;
    lanes_done(m, op, mask, sizeof *to);
}

/* The lowest lane of the mask is the leader. */
RUN(ELECT)
{
    u32 voters = mask & m->sync, leader = voters ? (u32)__builtin_ctz(voters) : 0;
    if (op->bank[0] != WARP_BANK_NONE) {
        u32 *to = warp_target(m, op);
        EACH to[i] = leader;
    }
    if (op->target)
        warp_put_predicate(m, op->target - 1, 1u << leader, mask);
}

#define REDUX(id, T, start, step)                                                                  \
    RUN(id)                                                                                        \
    {                                                                                              \
        const u32 *pa = warp_source(m, op, 1);                                                     \
        T d = (start);                                                                             \
        for (u32 left = mask & m->sync; left; left &= left - 1) {                                  \
            T a = (T)pa[__builtin_ctz(left)];                                                      \
            d = (T)(step);                                                                         \
        }                                                                                          \
        u32 *to = lanes_target(m, op, mask);                                                       \
        LANES to[i] = (u32)d;                                                                      \
        lanes_done(m, op, mask, sizeof *to);                                                       \
    }
REDUX(REDUX_ADD, u32, 0, d + a)
REDUX(REDUX_MIN_S32, s32, INT32_MAX, min(a, d))
REDUX(REDUX_MIN_U32, u32, UINT32_MAX, min(a, d))
REDUX(REDUX_MAX_S32, s32, INT32_MIN, max(a, d))
REDUX(REDUX_MAX_U32, u32, 0, max(a, d))
REDUX(REDUX_AND, u32, UINT32_MAX, d &a)
REDUX(REDUX_OR, u32, 0, d | a)
REDUX(REDUX_XOR, u32, 0, d ^ a)

/* redux.f32: `value` has 1 for max, 2 for .abs, 4 for .NaN. */
RUN(REDUX_F32)
{
    const u32 *pa = warp_source(m, op, 1);
    u32 d = 0x7fffffff, nan = 0;
    for (u32 left = mask & m->sync; left; left &= left - 1) {
        u32 a = pa[__builtin_ctz(left)] & (op->value & 2 ? 0x7fffffffu : UINT32_MAX);
        if ((a & 0x7fffffff) > 0x7f800000) {
            nan = 1;
            continue;
        }
        s32 x = (s32)(a ^ ((u32)((s32)a >> 31) >> 1)), y = (s32)(d ^ ((u32)((s32)d >> 31) >> 1));
        d = d == 0x7fffffff || (op->value & 1 ? x > y : x < y) ? a : d;
    }
    d = nan && op->value & 4 ? 0x7fffffff : d;
    u32 *to = lanes_target(m, op, mask);
    LANES to[i] = d;
    lanes_done(m, op, mask, sizeof *to);
}

/* ---- results of bar.red ---- */

static const struct warp_barrier *barrier_of(const struct warp_machine *m, const struct warp_op *op,
                                             uint32_t mask)
{
    const u32 *number = warp_source(m, op, 1);
    return &m->block->barrier[number[__builtin_ctz(mask)] % WARP_BARRIERS];
}
RUN(BARRIER_POPC)
{
    u32 *to = lanes_target(m, op, mask), value = barrier_of(m, op, mask)->result_count;
    LANES to[i] = value;
    lanes_done(m, op, mask, sizeof *to);
}
RUN(BARRIER_AND)
{
    warp_put_predicate(m, op->at[0], barrier_of(m, op, mask)->result_all ? UINT32_MAX : 0, mask);
}
RUN(BARRIER_OR)
{
    warp_put_predicate(m, op->at[0], barrier_of(m, op, mask)->result_any ? UINT32_MAX : 0, mask);
}

/* ---- mbarrier (9.7.13.15): an opaque 64-bit object in shared memory ---- */

/* Bits 0 to 19: arrivals that are pending in this phase; 20 to 39: those expected in each; 40 to
 * 61: bytes of transactions pending, modulo 2^22; 63: the phase. */

enum { MBARRIER_COUNT_MASK = 0xfffff, MBARRIER_TX_MASK = 0x3fffff };

static u64 settle_phase(u64 state)
{
    if (state & MBARRIER_COUNT_MASK || state >> 40 & MBARRIER_TX_MASK)
        return state;
    u64 expected = state >> 20 & MBARRIER_COUNT_MASK;
    return ((state ^ 1ull << 63) & ~(u64)MBARRIER_COUNT_MASK) | expected;
}

static u64 transact(u64 state, s64 bytes)
{
    u64 tx = (u64)((s64)(state >> 40) + bytes) & MBARRIER_TX_MASK;
    return (state & ~((u64)MBARRIER_TX_MASK << 40)) | tx << 40;
}

static ALWAYS_INLINE char *mbarrier_at(struct warp_machine *m, enum warp_shape shape, unsigned i)
{
    return shape == REACH_RUN ? m->at[0] + 8 * (size_t)i : m->at[i];
}

/* at[2]: the count. */
RUN(MBARRIER_INIT)
{
    enum warp_shape shape = warp_reach(m, op, mask, 8, true);
    const u32 *count = warp_source(m, op, 2);
    if (shape == REACH_NONE)
        return;
    EACH
    {
        u64 n = count[i] & MBARRIER_COUNT_MASK, state = n | n << 20;
        memcpy(mbarrier_at(m, shape, i), &state, sizeof state);
    }
}

enum { ARRIVE_EXPECTS = 1, ARRIVE_DROPS = 2, ARRIVE_STAYS = 4 /* as many as before */ };

/* at[0]: the state before, or nothing; at[2]: count of arrivals (nothing: 1), or bytes expected
 * with ARRIVE_EXPECTS in `target`. */
RUN(MBARRIER_ARRIVE)
{
    enum warp_shape shape = warp_reach(m, op, mask, 8, true);
    if (shape == REACH_NONE)
        return;
    const u32 *operand = op->bank[2] == WARP_BANK_NONE ? NULL : warp_source(m, op, 2);
    EACH
    {
        u64 before, state, count = operand && !(op->target & ARRIVE_EXPECTS) ? operand[i] : 1;
        memcpy(&before, mbarrier_at(m, shape, i), sizeof before);
        state = before;
        if (op->target & ARRIVE_EXPECTS)
            state = transact(state, operand[i]);
        if (op->target & ARRIVE_DROPS)
            state -= count << 20;
        state = settle_phase(state - count);
        if (!(op->target & ARRIVE_STAYS))
            memcpy(mbarrier_at(m, shape, i), &state, sizeof state);
        if (op->bank[0] == WARP_WIDE)
            ((u64 *)warp_target(m, op))[i] = before;
    }
}

/* expect_tx, and with `target` 1 complete_tx. */
RUN(MBARRIER_TX)
{
    enum warp_shape shape = warp_reach(m, op, mask, 8, true);
    if (shape == REACH_NONE)
        return;
    const u32 *bytes = warp_source(m, op, 2);
    EACH
    {
        u64 state;
        memcpy(&state, mbarrier_at(m, shape, i), sizeof state);
        state =
            op->target ? settle_phase(transact(state, -(s64)bytes[i])) : transact(state, bytes[i]);
        memcpy(mbarrier_at(m, shape, i), &state, sizeof state);
    }
}

/* test_wait and try_wait: at[0] says whether the phase of the state at[2], or with `target` 1 that
 * of the parity, is over. */
RUN(MBARRIER_WAIT)
{
    enum warp_shape shape = warp_reach(m, op, mask, 8, false);
    if (shape == REACH_NONE)
        return;
    const u64 *token = warp_source(m, op, 2);
    const u32 *parity = warp_source(m, op, 2);
    u32 bits = 0;
    EACH
    {
        u64 state;
        memcpy(&state, mbarrier_at(m, shape, i), sizeof state);
        u64 waited = op->target ? parity[i] & 1 : token[i] >> 63;
        bits |= (u32)(state >> 63 != waited) << i;
    }
    m->passed = bits;
    warp_put_predicate(m, op->at[0], bits, mask);
}

RUN(MBARRIER_COUNT)
{
    u32 *to = lanes_target(m, op, mask);
    const u64 *a = warp_source(m, op, 1);
    LANES to[i] = (u32)(a[i] & MBARRIER_COUNT_MASK);
    lanes_done(m, op, mask, sizeof *to);
}

#define HANDLER(id)
#include "warp_exchange.def"

/* From here on, a row of the table is an entry. */
#include "warp_enter.h"

void WARP_NAMED(warp_enter_exchange_)(warp_handler **table)
{
#include "warp_exchange.def"
}
