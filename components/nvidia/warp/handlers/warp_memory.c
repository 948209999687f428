/* Handlers of warp_memory.def, at one x86-64 level.
 *
 * Stores to one address and atomics are done in the order of lanes, the last one wins. */
#include "base/number.h"

#include "warp_addresses.h"
#include "warp_formats.h"
#include "warp_lanes.h"
#include "warp_variant.h"

/* M: type in memory; R: of the register, to which M is extended. */
#define LOAD(id, M, R)                                                                             \
    RUN(id)                                                                                        \
    {                                                                                              \
        enum warp_shape shape = warp_reach(m, op, mask, sizeof(M), false);                         \
        if (shape == REACH_NONE)                                                                   \
            return;                                                                                \
        ROW_##R *to = lanes_target(m, op, mask);                                                   \
        if (shape == REACH_RUN) {                                                                  \
            M from[WARP_LANES];                                                                    \
            memcpy(from, m->at[0], sizeof from);                                                   \
            LANES to[i] = (ROW_##R)(R)from[i];                                                     \
        } else if (shape == REACH_UNIFORM) {                                                       \
            M value;                                                                               \
            memcpy(&value, m->at[0], sizeof value);                                                \
            LANES to[i] = (ROW_##R)(R)value;                                                       \
        } else {                                                                                   \
            _Pragma("GCC unroll 8") for (unsigned i = 0; i < WARP_LANES; i++)                      \
            {                                                                                      \
                M value;                                                                           \
                memcpy(&value, m->at[i], sizeof value);                                            \
                to[i] = (ROW_##R)(R)value;                                                         \
            }                                                                                      \
        }                                                                                          \
        lanes_done(m, op, mask, sizeof *to);                                                       \
    }
LOAD(LD_U8N, u8, u32)
LOAD(LD_S8N, s8, s32)
LOAD(LD_U16N, u16, u32)
LOAD(LD_S16N, s16, s32)
LOAD(LD_32N, u32, u32)
LOAD(LD_U8W, u8, u64)
LOAD(LD_S8W, s8, s64)
LOAD(LD_U16W, u16, u64)
LOAD(LD_S16W, s16, s64)
LOAD(LD_U32W, u32, u64)
LOAD(LD_S32W, s32, s64)
LOAD(LD_64W, u64, u64)

#define STORE(id, M)                                                                               \
    RUN(id)                                                                                        \
    {                                                                                              \
        enum warp_shape shape = warp_reach(m, op, mask, sizeof(M), true);                          \
        if (shape == REACH_NONE)                                                                   \
            return;                                                                                \
        const bool wide = op->bank[2] == WARP_WIDE || sizeof(M) == 8;                              \
        const u32 *narrow = warp_source(m, op, 2);                                                 \
        const u64 *whole = warp_source(m, op, 2);                                                  \
        M data[WARP_LANES];                                                                        \
        if (wide)                                                                                  \
            LANES data[i] = (M)whole[i];                                                           \
        else                                                                                       \
            LANES data[i] = (M)narrow[i];                                                          \
        if (shape == REACH_RUN) {                                                                  \
            memcpy(m->at[0], data, sizeof data);                                                   \
            return;                                                                                \
        }                                                                                          \
        if (mask == (uint32_t)WARP_ALL)                                                            \
            for (unsigned i = 0; i < WARP_LANES; i++)                                              \
                memcpy(m->at[i], &data[i], sizeof(M));                                             \
        else                                                                                       \
            EACH memcpy(m->at[i], &data[i], sizeof(M));                                            \
    }
STORE(ST_8, u8)
STORE(ST_16, u16)
STORE(ST_32, u32)
STORE(ST_64, u64)

/* The place of lane i's bytes, in any shape. */
static ALWAYS_INLINE char *lane_at(const struct warp_machine *m, enum warp_shape shape, u64 bytes,
                                   unsigned i)
{
    return shape == REACH_RUN ? m->at[0] + i * bytes : m->at[i];
}

/* `target`: bytes of an element, and 256 where it is signed. 16 bytes are two places. */
RUN(LD_VECTOR)
{
    u64 size = op->target & 255, bytes = size * op->count;
    enum warp_shape shape = warp_reach(m, op, mask, bytes, false);
    if (shape == REACH_NONE)
        return;
    const struct warp_place *place = m->code->places + op->list;
    for (unsigned k = 0; k < op->count; k++) {
        if (place[k].bank == WARP_NARROW && size == 4) {
            u32 *to = (u32 *)(void *)(m->base[WARP_NARROW] + place[k].at);
            EACH memcpy(&to[i], lane_at(m, shape, bytes, i) + 4 * k, 4);
            continue;
        }
        EACH
        {
            u64 value = 0;
            memcpy(&value, lane_at(m, shape, bytes, i) + size * k, size);
            if (op->target & 256)
                value = (u64)((s64)(value << (64 - 8 * size)) >> (64 - 8 * size));
            lanes_put(m, &place[k], i, value);
        }
    }
}

RUN(ST_VECTOR)
{
    u64 size = op->target & 255, bytes = size * op->count;
    enum warp_shape shape = warp_reach(m, op, mask, bytes, true);
    if (shape == REACH_NONE)
        return;
    const struct warp_place *place = m->code->places + op->list;
    EACH for (unsigned k = 0; k < op->count; k++)
    {
        u64 value = lanes_get(m, &place[k], i);
        memcpy(lane_at(m, shape, bytes, i) + size * k, &value, size);
    }
}

/* cp.async: to shared memory at operand 2 from at[1]; the copy's size is `target`, of which the
 * first bytes of operand 3 are read, the others are zeros. Done at once. */
RUN(COPY)
{
    u64 bytes = op->target;
    u32 all = bytes < 64 ? (u32)bytes : 64;
    const u32 *count = op->bank[3] == WARP_BANK_NONE ? NULL : warp_source(m, op, 3);
    const u32 *skip = op->bank[3] == WARP_PREDICATE ? NULL : count;
    u32 ignored = op->bank[3] == WARP_PREDICATE ? warp_predicate(m, op, 3) : 0, reading = 0;
    _Alignas(16) char data[WARP_LANES][16];
    memset(data, 0, sizeof data);
    EACH reading |= (u32)(!(ignored >> i & 1) && (!skip || skip[i])) << i;
    if (reading) {
        enum warp_shape shape = warp_reach(m, op, reading, bytes, false);
        if (shape == REACH_NONE)
            return;
        for (uint32_t left = reading; left; left &= left - 1) {
            unsigned i = (unsigned)__builtin_ctz(left);
            memcpy(data[i], lane_at(m, shape, bytes, i), skip && skip[i] < all ? skip[i] : all);
        }
    }
    _Alignas(64) u64 seen[WARP_LANES];
    memcpy(seen, m->address, sizeof seen);
    struct warp_op to = *op;
    to.at[1] = op->at[2], to.bank[1] = op->bank[2], to.combine = PTX_SPACE_SHARED;
    to.value = (u64)(s64)(s32)op->list;
    enum warp_shape shape = warp_reach(m, &to, mask, bytes, true);
    if (shape == REACH_NONE)
        return;
    EACH memcpy(lane_at(m, shape, bytes, i), data[i], bytes);
    memcpy(m->address, seen, sizeof seen);
    m->space = PTX_SPACE_GLOBAL;
}

/* st.bulk: zeros; operand 2 is the size. */
RUN(FILL)
{
    const u64 *size = warp_source(m, op, 2);
    enum warp_shape shape = warp_reach(m, op, mask, 8, true);
    if (shape == REACH_NONE)
        return;
    EACH for (u64 done = 0; done < size[i]; done += 8)
    {
        if (m->space == PTX_SPACE_SHARED
            && (m->address[i] & WARP_RANK_OFFSET) + done + 8 > m->block->shared) {
            warp_fault_at(m, WARP_FAULT_ADDRESS, i, m->address[i] + done,
                          "outside of the block's shared memory");
            return;
        }
        memset(lane_at(m, shape, 8, i) + done, 0, 8);
    }
}

enum { BULK_FROM = 1, BULK_TO = 2 }; /* sources of a bulk copy with its addresses */

/* The bytes of a lane's bulk copy at the address of a side; NULL: some are not there. */
static char *bulk_side(struct warp_machine *m, const struct warp_op *op, unsigned side,
                       unsigned lane, u64 bytes)
{
    struct warp_op at = *op;
    bool writes = side == BULK_TO;
    at.at[1] = op->at[side], at.bank[1] = op->bank[side];
    at.combine = (uint8_t)(writes ? op->target >> 8 : op->target);
    at.value = bytes - 16;
    char *end = warp_reach(m, &at, 1u << lane, 16, writes) ? m->at[lane] : NULL;
    at.value = 0;
    char *start = end && warp_reach(m, &at, 1u << lane, 16, writes) ? m->at[lane] : NULL;
    if (start && (u64)(end - start) != bytes - 16) {
        warp_fault_at(m, WARP_FAULT_ADDRESS, lane, m->address[lane],
                      "a copy that reaches behind what is allocated");
        return NULL;
    }
    return start;
}

/* cp.async.bulk: from the address of source 1 to that of source 2, as many bytes as source 3 has.
 * `target`: the spaces of the two; `value`: there is no barrier, whose addresses are those of the
 * last access. Done at once; what is observed is global memory, or the source where there is none.
 */
RUN(BULK_COPY)
{
    const u32 *size = warp_source(m, op, 3);
    unsigned from_space = op->target & 255, to_space = op->target >> 8;
    m->bulk = 0;
    EACH m->bulk_barrier[i] = op->value ? WARP_BARRIER_NONE : m->address[i];
    EACH
    {
        u64 seen;
        if (size[i] == 0)
            continue;
        if (size[i] % 16) {
            warp_fault_at(m, WARP_FAULT_MISALIGNED, i, size[i],
                          "a bulk copy whose size is no multiple of 16 bytes");
            return;
        }
        const char *from = bulk_side(m, op, BULK_FROM, i, size[i]);
        seen = m->address[i];
        char *to = from ? bulk_side(m, op, BULK_TO, i, size[i]) : NULL;
        if (!to)
            return;
        memmove(to, from, size[i]);
        bool writes_global = to_space == PTX_SPACE_GLOBAL;
        m->space = (uint8_t)(writes_global ? to_space : from_space);
        m->address[i] = writes_global ? m->address[i] : seen;
        m->bytes = min(size[i], WARP_BULK_PART);
        m->bulk |= 1u << i;
        m->bulk_bytes[i] = size[i];
    }
}

RUN(TOUCH)
{
    warp_reach(m, op, mask, 1, false);
}

static ALWAYS_INLINE u32 add_f16x2(u32 a, u32 b)
{
    return half_bits(half_value(a & 0xffff) + half_value(b & 0xffff))
           | half_bits(half_value(a >> 16) + half_value(b >> 16)) << 16;
}
static ALWAYS_INLINE u32 add_bf16x2(u32 a, u32 b)
{
    return bfloat_bits(bfloat_value(a) + bfloat_value(b))
           | bfloat_bits(bfloat_value(a >> 16) + bfloat_value(b >> 16)) << 16;
}

/* The lesser or greater of floats by their bits; a NaN loses. */
static ALWAYS_INLINE bool goes_first(u32 a, u32 b, u32 sign, bool least)
{
    s64 x = a & sign ? -(s64)(a & (sign - 1)) - 1 : (s64)a,
        y = b & sign ? -(s64)(b & (sign - 1)) - 1 : (s64)b;
    return least ? x < y : x > y;
}
static ALWAYS_INLINE u32 extreme(u32 a, u32 b, u32 sign, u32 top, bool least)
{
    bool nan_a = (a & (sign - 1)) > top, nan_b = (b & (sign - 1)) > top;
    if (nan_a)
        return nan_b ? sign - 1 : b;
    return nan_b || goes_first(a, b, sign, least) ? a : b;
}
static ALWAYS_INLINE u32 least32(u32 a, u32 b)
{
    return extreme(a, b, 0x80000000u, 0x7f800000, true);
}
static ALWAYS_INLINE u32 most32(u32 a, u32 b)
{
    return extreme(a, b, 0x80000000u, 0x7f800000, false);
}
static ALWAYS_INLINE u32 extreme_16(u32 a, u32 b, bool least, u32 top)
{
    return extreme(a, b, 0x8000, top, least);
}
static ALWAYS_INLINE u32 extreme_x2(u32 a, u32 b, bool least, u32 top)
{
    return extreme(a & 0xffff, b & 0xffff, 0x8000, top, least)
           | extreme(a >> 16, b >> 16, 0x8000, top, least) << 16;
}

/* red has no destination: bank[0] is WARP_BANK_NONE. */
#define ATOMIC(id, T, expression)                                                                  \
    RUN(id)                                                                                        \
    {                                                                                              \
        enum warp_shape shape = warp_reach(m, op, mask, sizeof(T), true);                          \
        if (shape == REACH_NONE)                                                                   \
            return;                                                                                \
        const ROW_##T *pb = warp_source(m, op, 2);                                                 \
        const ROW_##T *pc = op->bank[3] == WARP_BANK_NONE ? pb : warp_source(m, op, 3);            \
        ROW_##T *to =                                                                              \
            op->bank[0] == WARP_BANK_NONE ? (ROW_##T *)(void *)m->temp : warp_target(m, op);       \
        EACH                                                                                       \
        {                                                                                          \
            T old, b = (T)pb[i], c = (T)pc[i], value;                                              \
            (void)c;                                                                               \
            char *at = lane_at(m, shape, sizeof old, i);                                           \
            memcpy(&old, at, sizeof old);                                                          \
            value = (T)(expression);                                                               \
            memcpy(at, &value, sizeof value);                                                      \
            to[i] = (ROW_##T)old;                                                                  \
        }                                                                                          \
    }

/* 128 bits are two places each: destination, b, and c of the list. */
static void wide_atomic(struct warp_machine *m, const struct warp_op *op, uint32_t mask,
                        bool compares)
{
    enum warp_shape shape = warp_reach(m, op, mask, 16, true);
    if (shape == REACH_NONE)
        return;
    const struct warp_place *place = m->code->places + op->list;
    EACH
    {
        u64 old[2], value[2] = {lanes_get(m, &place[2], i), lanes_get(m, &place[3], i)};
        char *at = lane_at(m, shape, 16, i);
        memcpy(old, at, sizeof old);
        bool writes = !compares || (old[0] == value[0] && old[1] == value[1]);
        if (compares)
            value[0] = lanes_get(m, &place[4], i), value[1] = lanes_get(m, &place[5], i);
        if (writes)
            memcpy(at, value, sizeof value);
        lanes_put(m, &place[0], i, old[0]);
        lanes_put(m, &place[1], i, old[1]);
    }
}
RUN(ATOM_EXCH_128)
{
    wide_atomic(m, op, mask, false);
}
RUN(ATOM_CAS_128)
{
    wide_atomic(m, op, mask, true);
}

#define HANDLER(id)
#include "warp_memory.def"

/* From here on, a row of the table is an entry. */
#include "warp_enter.h"

void WARP_NAMED(warp_enter_access_)(warp_handler **table)
{
#include "warp_memory.def"
}
