/* Handlers of warp_special.def: predicates, special registers, parameters and the frame, at one
 * x86-64 level. */
#include "components/nvidia/warp/warp_cluster.h"

#include "warp_formats.h"
#include "warp_lanes.h"
#include "warp_variant.h"

/* ---- predicates: bit i of `value` negates source i ---- */

static ALWAYS_INLINE u32 input(const struct warp_machine *m, const struct warp_op *op, unsigned i)
{
    u32 bits = op->bank[i] == WARP_PREDICATE ? m->predicate[op->at[i]] : op->at[i];
    return op->value >> i & 1 ? ~bits : bits;
}

RUN(PREDICATE_MOV)
{
    warp_put_predicate(m, op->at[0], input(m, op, 1), mask);
}
RUN(PREDICATE_AND)
{
    warp_put_predicate(m, op->at[0], input(m, op, 1) & input(m, op, 2), mask);
}
RUN(PREDICATE_OR)
{
    warp_put_predicate(m, op->at[0], input(m, op, 1) | input(m, op, 2), mask);
}
RUN(PREDICATE_XOR)
{
    warp_put_predicate(m, op->at[0], input(m, op, 1) ^ input(m, op, 2), mask);
}

/* lop3.and, lop3.or: the predicate of at[4] from a value (at[1]) being not 0, and one of at[3]. */
static ALWAYS_INLINE u32 not_zero(const struct warp_machine *m, const struct warp_op *op)
{
    const u32 *a = warp_source(m, op, 1);
    _Alignas(64) u32 word[WARP_LANES];
    LANES word[i] = a[i] ? UINT32_MAX : 0;
    return lanes_bits(word);
}
RUN(LOP3_AND)
{
    warp_put_predicate(m, op->at[4], not_zero(m, op) & warp_predicate(m, op, 3), mask);
}
RUN(LOP3_OR)
{
    warp_put_predicate(m, op->at[4], not_zero(m, op) | warp_predicate(m, op, 3), mask);
}

/* ---- special registers ---- */

static u64 now(const struct warp_machine *m)
{
    const struct warp_launch *l = m->launch;
    if (l->is_watched)
        livelock_change();
    return l->clock ? l->clock(l->context) : l->before + l->instructions + m->counted;
}

static u64 nanoseconds(const struct warp_machine *m)
{
    const struct warp_launch *l = m->launch;
    if (l->is_watched)
        livelock_change();
    return l->nanoseconds ? l->nanoseconds(l->context) : now(m);
}

/* The place of a cluster in the grid, and of a block in its cluster; directions follow each
 * other. */
static u64 of_cluster(const struct warp_machine *m, enum ptx_special which)
{
    const struct warp_launch *l = m->launch;
    const struct warp_block *b = m->block;
    unsigned i = (which - PTX_SPECIAL_CLUSTERID_X) % 4;
    if (i == 3)
        return 0;
    switch (which - i) {
    case PTX_SPECIAL_CLUSTERID_X:
        return b->id[i] / b->cluster[i];
    case PTX_SPECIAL_NCLUSTERID_X:
        return l->grid[i] / b->cluster[i];
    case PTX_SPECIAL_CLUSTER_CTAID_X:
        return b->id[i] % b->cluster[i];
    default:
        return b->cluster[i];
    }
}

/* Special registers with one value for all lanes. */
static u64 common(const struct warp_machine *m, enum ptx_special which)
{
    const struct warp_launch *l = m->launch;
    const struct warp_block *b = m->block;
    if (which >= PTX_SPECIAL_CLUSTERID_X && which <= PTX_SPECIAL_CLUSTER_NCTAID_W)
        return of_cluster(m, which);
    if (which >= PTX_SPECIAL_ENVREG0 && which <= PTX_SPECIAL_ENVREG31)
        return l->environment[which - PTX_SPECIAL_ENVREG0];
    switch (which) {
    case PTX_SPECIAL_NTID_X:
    case PTX_SPECIAL_NTID_Y:
    case PTX_SPECIAL_NTID_Z:
        return l->block[which - PTX_SPECIAL_NTID_X];
    case PTX_SPECIAL_CTAID_X:
    case PTX_SPECIAL_CTAID_Y:
    case PTX_SPECIAL_CTAID_Z:
        return b->id[which - PTX_SPECIAL_CTAID_X];
    case PTX_SPECIAL_NCTAID_X:
    case PTX_SPECIAL_NCTAID_Y:
    case PTX_SPECIAL_NCTAID_Z:
        return l->grid[which - PTX_SPECIAL_NCTAID_X];
    case PTX_SPECIAL_CLUSTER_CTARANK:
        return b->rank;
    case PTX_SPECIAL_CLUSTER_NCTARANK:
        return b->cluster_blocks;
    case PTX_SPECIAL_IS_EXPLICIT_CLUSTER:
        return l->cluster[0] != 0;
    case PTX_SPECIAL_WARPID:
        return m->number;
    case PTX_SPECIAL_NWARPID:
        return b->warps;
    case PTX_SPECIAL_SMID:
        return b->sm;
    case PTX_SPECIAL_NSMID:
        return l->sms;
    case PTX_SPECIAL_GRIDID:
        return l->number;
    case PTX_SPECIAL_CLOCK:
    case PTX_SPECIAL_CLOCK64:
        return now(m);
    case PTX_SPECIAL_CLOCK_HI:
        return now(m) >> 32;
    case PTX_SPECIAL_GLOBALTIMER:
    case PTX_SPECIAL_GLOBALTIMER_LO:
        return nanoseconds(m);
    case PTX_SPECIAL_GLOBALTIMER_HI:
        return nanoseconds(m) >> 32;
    case PTX_SPECIAL_TOTAL_SMEM_SIZE:
    case PTX_SPECIAL_AGGR_SMEM_SIZE:
        return b->shared;
    case PTX_SPECIAL_DYNAMIC_SMEM_SIZE:
        return l->dynamic_shared;
    default:
        return 0;
    }
}

/* The value that one lane has. */
static u64 special(const struct warp_machine *m, enum ptx_special which, unsigned lane)
{
    const u32 *block = m->launch->block;
    u32 thread = m->number * WARP_LANES + lane, below = (1u << lane) - 1, own = 1u << lane;
    switch (which) {
    case PTX_SPECIAL_TID_X:
        return thread % block[0];
    case PTX_SPECIAL_TID_Y:
        return thread / block[0] % block[1];
    case PTX_SPECIAL_TID_Z:
        return thread / block[0] / block[1];
    case PTX_SPECIAL_LANEID:
        return lane;
    case PTX_SPECIAL_LANEMASK_EQ:
        return own;
    case PTX_SPECIAL_LANEMASK_LT:
        return below;
    case PTX_SPECIAL_LANEMASK_LE:
        return below | own;
    case PTX_SPECIAL_LANEMASK_GE:
        return ~below;
    default:
        return ~(below | own); /* LANEMASK_GT */
    }
}

static bool is_common(enum ptx_special which)
{
    return !(which <= PTX_SPECIAL_TID_Z || which == PTX_SPECIAL_LANEID
             || (which >= PTX_SPECIAL_LANEMASK_EQ && which <= PTX_SPECIAL_LANEMASK_GT));
}

RUN(SPECIAL_32)
{
    u32 *to = lanes_target(m, op, mask);
    enum ptx_special which = (enum ptx_special)op->value;
    if (is_common(which)) {
        u32 value = (u32)common(m, which);
        LANES to[i] = value;
    } else {
        for (unsigned i = 0; i < WARP_LANES; i++)
            to[i] = (u32)special(m, which, i);
    }
    lanes_done(m, op, mask, sizeof *to);
}

RUN(SPECIAL_64)
{
    u64 *to = lanes_target(m, op, mask);
    enum ptx_special which = (enum ptx_special)op->value;
    for (unsigned i = 0; i < WARP_LANES; i++)
        to[i] = is_common(which) ? common(m, which) : special(m, which, i);
    lanes_done(m, op, mask, sizeof *to);
}

/* ---- parameters and the frame ---- */

/* From the kernel's parameter block; `target`: bytes, and 256 if it is signed. */
static u64 parameter(const struct warp_machine *m, const struct warp_op *op)
{
    u64 value = 0, size = op->target & 255;
    memcpy(&value, (const char *)m->launch->parameters + op->value, size);
    if (op->target & 256)
        value = (u64)((s64)(value << (64 - 8 * size)) >> (64 - 8 * size));
    return value;
}

RUN(PARAM_32)
{
    u32 *to = lanes_target(m, op, mask), value = (u32)parameter(m, op);
    LANES to[i] = value;
    lanes_done(m, op, mask, sizeof *to);
}

RUN(PARAM_64)
{
    u64 *to = lanes_target(m, op, mask), value = parameter(m, op);
    LANES to[i] = value;
    lanes_done(m, op, mask, sizeof *to);
}

/* A byte or half of a word, at bit `value`. */
RUN(INSERT_8)
{
    u32 *to = warp_target(m, op);
    const u32 *a = warp_source(m, op, 1);
    EACH to[i] = (to[i] & ~(255u << op->value)) | (a[i] & 255) << op->value;
}
RUN(INSERT_16)
{
    u32 *to = warp_target(m, op);
    const u32 *a = warp_source(m, op, 1);
    EACH to[i] = (to[i] & ~(0xffffu << op->value)) | (a[i] & 0xffff) << op->value;
}

/* Address in .local of something in the frame. */
RUN(LOCAL_64)
{
    u64 *to = lanes_target(m, op, mask), value = m->split->local + op->value;
    LANES to[i] = value;
    lanes_done(m, op, mask, sizeof *to);
}
RUN(LOCAL_32)
{
    u32 *to = lanes_target(m, op, mask), value = m->split->local + (u32)op->value;
    LANES to[i] = value;
    lanes_done(m, op, mask, sizeof *to);
}

/* Address of dynamic shared memory, and an offset. */
RUN(DYNAMIC_64)
{
    u64 *to = lanes_target(m, op, mask), value = m->launch->kernel->shared_bytes + op->value;
    LANES to[i] = value;
    lanes_done(m, op, mask, sizeof *to);
}
RUN(DYNAMIC_32)
{
    u32 *to = lanes_target(m, op, mask), value = m->launch->kernel->shared_bytes + (u32)op->value;
    LANES to[i] = value;
    lanes_done(m, op, mask, sizeof *to);
}

RUN(NOP)
{
    (void)m;
    (void)op;
    (void)mask;
}

/* Copies `target` parameter words from rows (at[1]) to local memory at `value`: of functions that
 * take the address of a parameter. */
RUN(SPILL_PARAM)
{
    const u32 *a = warp_source(m, op, 1);
    EACH for (u32 k = 0; k < op->target; k++)
    {
        char *to = m->local + (u64)i * m->block->local + m->split->local + op->value;
        memcpy(to + 4 * k, &a[k * WARP_LANES + i], 4);
    }
}

static bool is_constant(const struct warp_machine *m, u64 address)
{
    const struct ptx_module *module = m->code->module;
    for (uint32_t i = 0; i < module->variable_count; i++) {
        const struct ptx_variable *v = &module->variables[i];
        if (v->space == PTX_SPACE_CONST && address - m->code->base - v->offset < v->bytes)
            return true;
    }
    return false;
}

static bool is_in(const struct warp_machine *m, const struct warp_op *op, u64 address)
{
    switch (op->target) {
    case PTX_SPACE_SHARED: /* `value`: of all blocks of the cluster */
        return address - WARP_SHARED < WARP_WINDOW_BYTES
               && (op->value || !((address - WARP_SHARED) >> WARP_RANK_SHIFT));
    case PTX_SPACE_LOCAL:
        return address - WARP_LOCAL < WARP_WINDOW_BYTES;
    case PTX_SPACE_PARAM:
        return address - WARP_PARAM < WARP_WINDOW_BYTES;
    case PTX_SPACE_CONST:
        return is_constant(m, address);
    default: /* a kernel's parameters are in global space, too (9.7.9.20) */
        return address - WARP_SHARED >= WARP_PARAM - WARP_SHARED;
    }
}

/* `target`: enum ptx_space. */
RUN(IS_SPACE)
{
    const u64 *a = warp_source(m, op, 1);
    u32 bits = 0;
    for (unsigned i = 0; i < WARP_LANES; i++)
        bits |= (u32)is_in(m, op, a[i]) << i;
    warp_put_predicate(m, op->at[0], bits, mask);
}

/* The address of a place of own shared memory in another block's, and whose an address is. */
static ALWAYS_INLINE u64 address_in(const struct warp_block *b, u64 address, u32 rank)
{
    u64 at = address & ~(u64)UINT32_MAX, offset = address & WARP_RANK_OFFSET;
    return at | offset | (rank == b->rank ? 0 : (u64)(rank + 1) << WARP_RANK_SHIFT);
}
static ALWAYS_INLINE u32 rank_of(const struct warp_block *b, u64 address)
{
    u32 rank = (u32)address >> WARP_RANK_SHIFT;
    return rank ? rank - 1 : b->rank;
}
LANE2(MAPA_32, u32, u32, u32, (u32)address_in(m->block, a, b))
LANE2(MAPA_64, u64, u64, u32, address_in(m->block, a, b))
LANE1(RANK_32, u32, u32, rank_of(m->block, a))
LANE1(RANK_64, u32, u64, rank_of(m->block, a))

#define HANDLER(id)
#include "warp_special.def"

/* From here on, a row of the table is an entry. */
#include "warp_enter.h"

void WARP_NAMED(warp_enter_other_)(warp_handler **table)
{
#include "warp_special.def"
}
