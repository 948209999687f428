/* Blocks of threads, executed in turns: a block's warps go one after another, each until it waits
 * or has used its slice, so usually from barrier to barrier. The loop over operations is
 * run_warp(). */
#include <stdio.h>
#include <string.h>

#include "base/number.h"

#include "warp_cluster.h"
#include "warp_livelock.h"
#include "warp_schedule.h"
#include "warp_undefined.h"

enum {
    SLICE = 1 << 14, /* operations of a warp in its turn */
    PATIENCE = 4,    /* turns of a block without progress at barriers, before it gives way */
    DEFAULT_CONTROL = 0x1f80
};

static uint32_t threads_of(const struct warp_launch *l)
{
    return l->block[0] * l->block[1] * l->block[2];
}

static uint32_t warps_of(const struct warp_launch *l)
{
    return divide_up(threads_of(l), WARP_LANES);
}

/* The sizes of the block's memory, and the offset of each of its areas. */
static struct warp_block layout(const struct warp_launch *l)
{
    const struct warp_function *f = &l->code->functions[l->kernel->function];
    uint32_t stack = max(l->stack_bytes, 4096);
    struct warp_block b = {.threads = threads_of(l), .warps = warps_of(l)};
    b.narrow = f->deep_narrow + (f->is_recursive ? stack / 4 : 0);
    uint32_t outgoing = l->code->outgoing; /* rows of a call whose frame does not fit */
    b.wide = f->deep_wide + (f->is_recursive ? stack / 8 : 0);
    b.local = round_up(f->deep_local + (f->is_recursive ? stack : 0), 16);
    b.shared = l->kernel->shared_bytes + l->dynamic_shared;
    uint64_t at = round_up(sizeof b, 64);
    b.warps_offset = at;
    at += round_up(b.warps * sizeof(struct warp_state), 64);
    b.narrow_offset = at;
    b.narrow_capacity = b.narrow + outgoing;
    at += (uint64_t)b.warps * b.narrow_capacity * WARP_NARROW_BYTES;
    b.wide_offset = at;
    at += (uint64_t)b.warps * b.wide * WARP_WIDE_BYTES;
    b.predicates_offset = at;
    at += round_up((uint64_t)b.warps * b.narrow_capacity * 4, 64);
    b.shared_offset = at;
    at += round_up(b.shared, 64);
    b.local_offset = at;
    at += (uint64_t)b.warps * WARP_LANES * b.local;
    if (l->undefined) {
        b.undefined_offset = (at + 7) & ~(size_t)7;
        at = b.undefined_offset + warp_undefined_bytes(&b);
    }
    b.bytes = round_up(at, 64);
    return b;
}

size_t warp_block_bytes(const struct warp_launch *launch)
{
    return layout(launch).bytes;
}

void warp_block_grant_clock(const struct warp_launch *launch, struct warp_block *b)
{
    if (!launch->clock)
        return;
    for (uint32_t i = 0; i < b->warps; i++)
        for (uint32_t k = 0; k < warp_states(b)[i].count; k++)
            if (warp_states(b)[i].split[k].state == WARP_AT_CLOCK)
                warp_states(b)[i].split[k].state = WARP_GRANTED;
}

static bool has_split_in(struct warp_block *b, enum warp_split_state state)
{
    for (uint32_t i = 0; i < b->warps; i++)
        for (uint32_t k = 0; k < warp_states(b)[i].count; k++)
            if (warp_states(b)[i].split[k].state == state)
                return true;
    return false;
}

struct warp_block *warp_block_begin(const struct warp_launch *l, uint64_t number, uint32_t sm,
                                    void *memory)
{
    struct warp_block *b = memory;
    *b = layout(l);
    b->number = number;
    b->sm = sm;
    warp_cluster_place(l, b);
    b->alive = b->threads;
    for (uint32_t i = 0; i <= WARP_BARRIERS + WARP_WARPGROUPS; i++)
        b->barrier[i].all = 1;
    memset((char *)memory + b->shared_offset, 0, b->shared);
    memset((char *)memory + b->local_offset, 0, (size_t)b->warps * WARP_LANES * b->local);
    memset((char *)memory + b->narrow_offset, 0, b->shared_offset - b->narrow_offset);
    if (b->undefined_offset)
        warp_undefined_begin(b);
    struct warp_state *w = warp_states(b);
    uint32_t entry = l->code->functions[l->kernel->function].entry;
    for (uint32_t i = 0; i < b->warps; i++) {
        uint32_t left = b->threads - i * WARP_LANES;
        uint32_t lanes = left < WARP_LANES ? (1u << left) - 1 : UINT32_MAX;
        memset(&w[i], 0, sizeof w[i]);
        w[i].alive = lanes;
        w[i].count = 1;
        w[i].watch.from = WARP_WATCH_FROM;
        w[i].split[0] = (struct warp_split){.pc = entry, .mask = lanes};
    }
    return b;
}

void warp_fault_at(struct warp_machine *m, enum warp_fault_kind kind, uint32_t lane,
                   uint64_t address, const char *what)
{
    if (m->fault)
        return;
    m->fault = kind;
    m->fault_lane = lane;
    m->fault_address = address;
    m->fault_what = what;
}

/* ---- the loop ---- */

void warp_run_controlled(struct warp_machine *m, const struct warp_op *op, uint32_t mask)
{
    uint32_t bits = (uint32_t)(op->control & 0x60) << 8;
    bits |= op->control & WARP_FLUSH ? 0x8040u : 0;
    __builtin_ia32_ldmxcsr(DEFAULT_CONTROL | bits);
    op->run(m, op, mask);
    __builtin_ia32_ldmxcsr(DEFAULT_CONTROL);
}

static struct warp_step step_of(const struct warp_machine *m, const struct warp_op *op,
                                uint32_t mask)
{
    return (struct warp_step){.block = (uint32_t)m->block->number,
                              .warp = m->number,
                              .instruction = op->instruction,
                              .active = mask,
                              .bytes = m->bytes,
                              .space = m->space,
                              .addresses = m->bytes ? m->address : NULL,
                              .block_memory = m->block,
                              .passed = m->passed,
                              .barrier = WARP_BARRIER_NONE,
                              .phase =
                                  op->kind == WARP_CLUSTER ? warp_cluster_phase(m, op, mask) : 0};
}

/* Before an operation. A debugger is called once for each instruction. */
static void observe_before(struct warp_machine *m, const struct warp_op *op, uint32_t mask)
{
    bool begins = op == m->code->ops || op[-1].instruction != op->instruction;
    const struct warp_step step = step_of(m, op, m->split->mask);
    if (m->block->undefined_offset)
        warp_undefined_before(m, op, mask);
    if (m->launch->debug && begins && m->split->state != WARP_GRANTED)
        m->launch->debug->before(m->launch->context, &step);
}

/* A bulk copy is observed as accesses of all lanes to what follows each other. */
static void observe_bulk(struct warp_machine *m, const struct warp_step *step)
{
    enum { BYTES = WARP_BULK_PART * WARP_LANES };
    uint64_t address[WARP_LANES];
    struct warp_step part = *step;
    part.addresses = address;
    for (uint32_t left = m->bulk; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        uint32_t size = m->bulk_bytes[lane];
        part.bulk = size;
        part.barrier = m->bulk_barrier[lane];
        for (uint32_t done = 0; done < size; done += BYTES, part.bulk = 0) {
            uint32_t lanes = divide_up(size - done, WARP_BULK_PART);
            part.active = lanes >= WARP_LANES ? UINT32_MAX : (1u << lanes) - 1;
            for (unsigned i = 0; i < WARP_LANES; i++)
                address[i] = m->address[lane] + done + WARP_BULK_PART * i;
            m->launch->observe(m->launch->context, &part);
        }
    }
    m->bulk = 0;
}

static void observe_after(struct warp_machine *m, const struct warp_op *op, uint32_t mask)
{
    const struct warp_step step = step_of(m, op, mask);
    bool counted = op->flags & WARP_COUNTED;
    if (m->block->undefined_offset && mask)
        warp_undefined_after(m, op, mask);
    if (m->launch->is_watched && counted)
        warp_livelock_step(m, op, mask);
    if (m->launch->observe && counted && m->bulk)
        observe_bulk(m, &step);
    else if (m->launch->observe && counted)
        m->launch->observe(m->launch->context, &step);
    if (m->launch->debug && (counted || m->bytes))
        m->launch->debug->after(m->launch->context, &step);
}

enum turn { TURN_WAITS, TURN_USED, TURN_YIELDS, TURN_DONE, TURN_FAULT };

/* Executes an operation of registers or memory. */
static inline void execute(struct warp_machine *m, const struct warp_op *op, uint32_t mask)
{
    if (op->control)
        warp_run_controlled(m, op, mask);
    else
        op->run(m, op, mask);
}

/* EXECUTED_YIELDS: another split may have to go before the next operation. WAITING: the operation
 * has not been executed, since lanes are missing or it is not time. */
enum outcome { EXECUTED, EXECUTED_YIELDS, WAITING };

/* Executes an operation for the lanes of `*mask`, and leaves there those that have executed it. */
static inline enum outcome execute_control(struct warp_machine *m, const struct warp_op *op,
                                           uint32_t *mask)
{
    bool yields = warp_control(m, op, *mask),
         can_wait = op->kind >= WARP_SYNC && op->kind <= WARP_ALIGNED;
    if (can_wait && yields) {
        m->counted -= op->flags & WARP_COUNTED;
        return WAITING;
    }
    if (can_wait)
        *mask &= m->split->mask;
    return yields ? EXECUTED_YIELDS : EXECUTED;
}

/* Executes one warp until it waits, ends, or has used `*left` instructions. */
static enum turn run_warp(struct warp_machine *m, uint64_t *left)
{
    const struct warp_op *ops = m->code->ops;
    const struct warp_launch *l = m->launch;
    const bool observed = l->observe || l->is_watched || l->undefined || l->debug;
    uint64_t limit = *left;
    enum turn end = TURN_USED;
    m->counted = 0;
    m->yields = 0;
    if (!warp_schedule(m))
        return m->warp->count ? TURN_WAITS : TURN_DONE;
    while (m->counted < limit) {
        struct warp_split *s = m->split;
        const struct warp_op *op = ops + s->pc;
        uint32_t mask = s->mask;
        if (op->guard) {
            uint32_t bits = m->predicate[op->guard - 1];
            mask &= op->flags & WARP_NOT ? ~bits : bits;
        }
        m->bytes = 0;
        if (observed)
            observe_before(m, op, mask);
        s->pc++;
        m->counted += op->flags & WARP_COUNTED;
        enum outcome outcome = EXECUTED;
        if (op->kind > WARP_MEMORY && mask)
            outcome = execute_control(m, op, &mask);
        else if (mask)
            execute(m, op, mask);
        if (m->fault && outcome != WAITING) {
            m->fault_op = op;
            end = TURN_FAULT;
            break;
        }
        if (observed && outcome != WAITING)
            observe_after(m, op, mask);
        bool is_block_end = op->flags & WARP_ENDS && m->warp->count > 1;
        if ((outcome != EXECUTED || is_block_end) && !warp_schedule(m)) {
            end = m->warp->count ? TURN_WAITS : TURN_DONE;
            break;
        }
        if (m->yields && m->yields >= warp_ready_count(m->warp)) {
            end = TURN_YIELDS;
            break;
        }
    }
    *left -= m->counted;
    return end;
}

void warp_machine_init(struct warp_machine *m, struct warp_launch *l, struct warp_block *b)
{
    memset(m, 0, offsetof(struct warp_machine, address));
    m->launch = l;
    m->block = b;
    m->code = l->code;
    m->base[WARP_CONSTANT] = l->code->constants;
    m->shared = (char *)b + b->shared_offset;
}

void warp_machine_choose(struct warp_machine *m, uint32_t number)
{
    struct warp_block *b = m->block;
    m->number = number;
    m->warp = warp_states(b) + number;
    m->narrow =
        (char *)b + b->narrow_offset + (size_t)number * b->narrow_capacity * WARP_NARROW_BYTES;
    m->wide = (char *)b + b->wide_offset + (size_t)number * b->wide * WARP_WIDE_BYTES;
    m->predicates = (uint32_t *)(void *)((char *)b + b->predicates_offset)
                    + (size_t)number * b->narrow_capacity;
    m->local = (char *)b + b->local_offset + (size_t)number * WARP_LANES * b->local;
}

void warp_describe_fault(struct warp_machine *m, struct warp_fault *fault)
{
    const struct ptx_module *module = m->code->module;
    const uint32_t *block = m->launch->block;
    uint32_t thread = m->number * WARP_LANES + m->fault_lane, number = m->fault_op->instruction;
    const struct ptx_function *f = ptx_function_of(module, number);
    const struct ptx_instruction *i = &f->instructions[number - f->first_instruction];
    char place[128], name[64], address[64] = "";
    *fault = (struct warp_fault){
        .kind = m->fault,
        .address = m->fault_address,
        .block = {m->block->id[0], m->block->id[1], m->block->id[2]},
        .thread = {thread % block[0], thread / block[0] % block[1], thread / block[0] / block[1]},
        .instruction = number};
    if (m->fault == WARP_FAULT_ADDRESS || m->fault == WARP_FAULT_MISALIGNED)
        snprintf(address, sizeof address, " at address 0x%llx",
                 (unsigned long long)m->fault_address);
    snprintf(fault->text, sizeof fault->text,
             "kernel %s, %s: %s: %s%s (block %u,%u,%u thread %u,%u,%u)",
             m->launch->title ? m->launch->title : m->launch->kernel->name,
             ptx_place(module, i, place, sizeof place), ptx_instruction_name(i, name, sizeof name),
             m->fault_what, address, fault->block[0], fault->block[1], fault->block[2],
             fault->thread[0], fault->thread[1], fault->thread[2]);
}

/* Describes the fault of a block whose warps all wait, for lanes that will not come. */
static void describe_deadlock(struct warp_machine *m, struct warp_fault *fault)
{
    const struct warp_state *w = warp_states(m->block);
    uint32_t number = 0;
    while (!w[number].count)
        number++;
    warp_machine_choose(m, number);
    m->split = &m->warp->split[0];
    m->fault_op = m->code->ops + m->split->pc - (m->split->state == WARP_AT_BARRIER);
    warp_fault_at(m, WARP_FAULT_INSTRUCTION, (uint32_t)__builtin_ctz(m->split->mask), 0,
                  m->split->state == WARP_AT_BARRIER
                      ? "waits for ever: other threads of the block wait elsewhere"
                      : "waits for ever: other lanes of its mask wait elsewhere");
    warp_describe_fault(m, fault);
}

enum warp_end warp_block_run(struct warp_launch *l, struct warp_block *b, uint64_t budget,
                             struct warp_fault *fault)
{
    struct warp_machine m;
    uint64_t left = budget ? budget : UINT64_MAX;
    uint32_t waiting = 0, turns = 0, idle = 0;
    enum warp_end end = WARP_WAITS;
    uint32_t control_before = __builtin_ia32_stmxcsr();
    warp_machine_init(&m, l, b);
    warp_cluster_wake(b);
    __builtin_ia32_ldmxcsr(DEFAULT_CONTROL);
    while (left && turns < b->warps * PATIENCE && idle < b->warps * 2) {
        warp_machine_choose(&m, b->next);
        uint64_t slice = min(left, SLICE), before = slice;
        enum turn turn = run_warp(&m, &slice);
        l->instructions += before - slice;
        left -= before - slice;
        if (turn == TURN_FAULT) {
            warp_describe_fault(&m, fault);
            end = WARP_FAULT;
            break;
        }
        if (!b->alive) {
            end = WARP_DONE;
            break;
        }
        waiting = turn == TURN_WAITS || turn == TURN_DONE ? waiting + 1 : 0;
        if (before != slice && turn != TURN_USED)
            waiting = 0;
        if (waiting > b->warps && has_split_in(b, WARP_AT_CLOCK)) {
            end = WARP_CLOCK;
            break;
        }
        if (waiting > b->warps && has_split_in(b, WARP_AT_CLUSTER))
            break;
        if (waiting > b->warps) {
            describe_deadlock(&m, fault);
            end = WARP_FAULT;
            break;
        }
        if (!budget) {
            turns += turn == TURN_USED;
            idle = turn == TURN_YIELDS || before == slice ? idle + 1 : 0;
        }
        b->next = (b->next + 1) % b->warps;
    }
    __builtin_ia32_ldmxcsr(control_before);
    return end;
}
