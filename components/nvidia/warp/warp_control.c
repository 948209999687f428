/* Control flow: branches, calls, barriers, and what waits for other lanes. */
#include <string.h>

#include "warp_cluster.h"
#include "warp_schedule.h"
#include "warp_system.h"

/* A branch: `mask` are the lanes that take it. */
static void branch(struct warp_machine *m, const struct warp_op *op, uint32_t mask)
{
    struct warp_split *s = m->split;
    if (mask == s->mask)
        s->pc = op->target;
    else if (mask)
        warp_split_off(m, mask, op->target);
}

/* brx.idx, and calls of addresses: each lane to its own place. */
static void branch_to_each(struct warp_machine *m, const struct warp_op *op, uint32_t mask)
{
    const uint32_t *index = warp_source(m, op, 1);
    _Alignas(64) uint32_t lanes_index[WARP_LANES];
    memcpy(lanes_index, index, sizeof lanes_index);
    while (mask) {
        uint32_t lane = (uint32_t)__builtin_ctz(mask), which = lanes_index[lane], same = 0;
        for (uint32_t i = lane; i < WARP_LANES; i++)
            same |= (uint32_t)(lanes_index[i] == which) << i;
        same &= mask;
        mask &= ~same;
        if (which >= op->target) {
            warp_fault_at(m, WARP_FAULT_INSTRUCTION, lane, which,
                          "an index behind the end of its .branchtargets");
            return;
        }
        uint32_t pc = m->code->targets[op->list + which];
        if (same == m->split->mask)
            m->split->pc = pc;
        else
            warp_split_off(m, same, pc);
    }
}

/* Calls `function` with the lanes of the split. Arguments lie in the callee's frame already; see
 * warp_frame.h. */
static bool call(struct warp_machine *m, const struct warp_op *op, uint32_t function)
{
    struct warp_split *s = m->split;
    const struct warp_function *f = &m->code->functions[function],
                               *caller = &m->code->functions[op->list];
    uint32_t narrow = s->narrow + caller->narrow, wide = s->wide + caller->wide,
             local = s->local + caller->local;
    if (narrow + f->narrow > m->block->narrow || wide + f->wide > m->block->wide
        || local + f->local > m->block->local) {
        warp_fault_at(m, WARP_FAULT_STACK, (uint32_t)__builtin_ctz(s->mask), 0,
                      "the stack is full (cudaLimitStackSize)");
        return false;
    }
    uint32_t *saved = (uint32_t *)(void *)(m->narrow + (size_t)narrow * WARP_NARROW_BYTES);
    for (uint32_t left = s->mask; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctz(left);
        saved[i] = s->pc;
        saved[WARP_LANES + i] = s->narrow;
        saved[2 * WARP_LANES + i] = s->wide;
        saved[3 * WARP_LANES + i] = s->local;
    }
    s->pc = f->entry;
    s->narrow = narrow, s->wide = wide, s->local = local;
    warp_use_frame(m);
    return true;
}

/* Calls what each lane's register points at. */
static void call_each(struct warp_machine *m, const struct warp_op *op, uint32_t mask)
{
    _Alignas(64) uint64_t address[WARP_LANES];
    memcpy(address, warp_source(m, op, 1), sizeof address);
    while (mask && !m->fault) {
        uint32_t lane = (uint32_t)__builtin_ctz(mask), same = 0;
        for (uint32_t i = lane; i < WARP_LANES; i++)
            same |= (uint32_t)(address[i] == address[lane]) << i;
        same &= mask;
        mask &= ~same;
        uint32_t number = warp_instruction_at(m->code, address[lane]);
        const struct ptx_function *f =
            number == PTX_NONE ? NULL : ptx_function_of(m->code->module, number);
        if (!f || f->first_instruction != number) {
            warp_fault_at(m, WARP_FAULT_INSTRUCTION, lane, address[lane],
                          "a call of an address that is no function's");
            return;
        }
        if (same != m->split->mask) { /* the others stay at this operation for their turn */
            warp_split_off(m, m->split->mask & ~same, (uint32_t)(op - m->code->ops));
            mask = 0;
        }
        call(m, op, (uint32_t)(f - m->code->module->functions));
    }
}

static void return_from(struct warp_machine *m, uint32_t mask)
{
    if (!m->split->narrow) {
        warp_leave(m, mask);
        return;
    }
    const uint32_t *saved =
        (const uint32_t *)(const void *)(m->narrow + (size_t)m->split->narrow * WARP_NARROW_BYTES);
    while (mask) {
        unsigned lane = (unsigned)__builtin_ctz(mask);
        uint32_t same = 0;
        for (uint32_t left = mask; left; left &= left - 1) {
            unsigned i = (unsigned)__builtin_ctz(left);
            bool equal = true;
            for (unsigned k = 0; k < WARP_FRAME_ROWS; k++)
                equal = equal && saved[k * WARP_LANES + i] == saved[k * WARP_LANES + lane];
            same |= (uint32_t)equal << i;
        }
        mask &= ~same;
        struct warp_split *s = m->split;
        if (same != s->mask) {
            warp_split_off(m, same, 0);
            s = &m->warp->split[m->warp->count - 1];
        }
        s->pc = saved[lane];
        s->narrow = saved[WARP_LANES + lane];
        s->wide = saved[2 * WARP_LANES + lane];
        s->local = saved[3 * WARP_LANES + lane];
    }
    warp_use_frame(m);
}

/* The lanes of the warp's group of four warps, which work together (wgmma). */
static uint32_t warpgroup_lanes(const struct warp_machine *m)
{
    const struct warp_state *first = m->warp - m->number % 4;
    uint32_t lanes = 0, begin = m->number - m->number % 4;
    for (uint32_t i = 0; i < 4 && begin + i < m->block->warps; i++)
        lanes += (uint32_t)__builtin_popcount(first[i].alive);
    return lanes;
}

/* bar and barrier; the result of bar.red is fetched by a second operation. */
static void barrier(struct warp_machine *m, const struct warp_op *op, uint32_t mask)
{
    unsigned lane = (unsigned)__builtin_ctz(mask);
    if (op->written == WARP_BARRIER_WARPGROUP) {
        warp_arrive(m, WARP_BARRIERS + 1 + m->number / 4, warpgroup_lanes(m), true);
        return;
    }
    uint32_t number = ((const uint32_t *)warp_source(m, op, 1))[lane], threads = 0;
    if (op->bank[2] != WARP_BANK_NONE)
        threads = ((const uint32_t *)warp_source(m, op, 2))[lane];
    if (number > WARP_BARRIERS || (number == WARP_BARRIERS && !op->target)
        || threads % WARP_LANES) {
        warp_fault_at(m, WARP_FAULT_INSTRUCTION, lane, number,
                      number >= WARP_BARRIERS ? "a barrier's number above 15"
                                              : "a barrier's count that is no multiple of 32");
        return;
    }
    if (op->written == WARP_BARRIER_REDUCES) {
        struct warp_barrier *b = &m->block->barrier[number];
        uint32_t bits = warp_predicate(m, op, 3) & mask;
        b->count += (uint32_t)__builtin_popcount(bits);
        b->any |= bits != 0;
        b->all &= bits == mask;
    }
    if (mask != m->split->mask)
        warp_split_off(m, m->split->mask & ~mask, m->split->pc);
    warp_arrive(m, number, threads, op->written != WARP_BARRIER_ARRIVES);
}

/* Lanes of `mask` that name the same lanes as the first lane of `mask`. */
static uint32_t alike(const uint32_t *named, uint32_t mask)
{
    uint32_t first = named[__builtin_ctz(mask)], same = 0;
    for (unsigned i = 0; i < WARP_LANES; i++)
        same |= (uint32_t)(named[i] == first) << i;
    return same & mask;
}

static bool run_gathered(struct warp_machine *m, const struct warp_op *op, uint32_t mask,
                         uint32_t need)
{
    m->sync = need;
    if (!warp_wait_for(m, need)) {
        m->split->pc--; /* it executes this operation later */
        return false;
    }
    if (op->control)
        warp_run_controlled(m, op, mask);
    else
        op->run(m, op, mask);
    return true;
}

/* Runs an operation of lanes that wait for each other. Lanes that name different ones are groups:
 * all of them run when all are here, else the first one parts from the others. False: some lanes
 * are not here yet. */
static bool run_together(struct warp_machine *m, const struct warp_op *op, uint32_t mask)
{
    if (op->kind == WARP_ALIGNED)
        return run_gathered(m, op, mask, m->warp->alive);
    const uint32_t *named = warp_source(m, op, 4);
    uint32_t group = alike(named, mask), all = 0;
    if (group != mask)
        for (uint32_t left = mask; left; left &= left - 1)
            all |= named[__builtin_ctz(left)];
    if (all & m->warp->alive & ~mask)
        warp_split_off(m, mask & ~group, m->split->pc - 1);
    else if (group != mask) {
        for (uint32_t left = mask; left; left &= ~group) {
            group = alike(named, left);
            m->sync = named[__builtin_ctz(left)];
            op->run(m, op, group);
        }
        return true;
    }
    return run_gathered(m, op, group, named[__builtin_ctz(group)]);
}

/* After a branch backward, or an operation that gives way. True: another split may have to go
 * first. */
static bool give_way(struct warp_machine *m, bool yields)
{
    if (yields || warp_spins(m)) {
        m->split->turn++;
        m->yields++;
        return true;
    }
    if (m->warp->count > 1 && ++m->warp->patience == WARP_PATIENCE) {
        m->warp->patience = 0;
        m->split->turn++;
    }
    return m->warp->count > 1;
}

/* In simulated time, a clock is read when all instructions before it are over. */
static bool run_timed(struct warp_machine *m, const struct warp_op *op, uint32_t mask)
{
    if (m->launch->clock && m->split->state != WARP_GRANTED) {
        m->split->pc--; /* it executes this operation later */
        m->split->state = WARP_AT_CLOCK;
        return false;
    }
    m->split->state = WARP_READY;
    op->run(m, op, mask);
    return true;
}

bool warp_control(struct warp_machine *m, const struct warp_op *op, uint32_t mask)
{
    switch ((enum warp_kind)op->kind) {
    case WARP_BRANCH:
        branch(m, op, mask);
        return m->split->pc <= (uint32_t)(op - m->code->ops) ? give_way(m, false)
                                                             : m->warp->count > 1;
    case WARP_SWITCH:
        branch_to_each(m, op, mask);
        return true;
    case WARP_CALL:
        if (mask != m->split->mask)
            warp_split_off(m, m->split->mask & ~mask, m->split->pc);
        if (op->bank[1] == WARP_BANK_NONE)
            call(m, op, op->target);
        else
            call_each(m, op, mask);
        return true;
    case WARP_RETURN:
        return_from(m, mask);
        return true;
    case WARP_EXIT:
        warp_leave(m, mask);
        return true;
    case WARP_BARRIER:
        barrier(m, op, mask);
        return true;
    case WARP_CLUSTER:
        return !warp_cluster_barrier(m, op, mask);
    case WARP_TOGETHER:
        m->sync = UINT32_MAX;
        op->run(m, op, mask);
        return false;
    case WARP_TIMED:
        return !run_timed(m, op, mask);
    case WARP_SYNC:
    case WARP_ALIGNED:
        return !run_together(m, op, mask);
    case WARP_YIELD:
        return give_way(m, true);
    case WARP_SYSTEM:
        warp_system(m, op, mask);
        return false;
    case WARP_TRAP:
        warp_fault_at(m, WARP_FAULT_TRAP, (uint32_t)__builtin_ctz(mask), 0, "trap");
        return false;
    default:
        warp_fault_at(m, WARP_FAULT_INSTRUCTION, (uint32_t)__builtin_ctz(mask), 0,
                      "an instruction that the executor does not have");
        return false;
    }
}
