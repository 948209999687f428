/* Blocks of threads, executed in turns; see warp.h. Called by warp_grid.c and by streaming
 * multiprocessors.
 *
 * A block's warps go on one after another, each until it waits or has used its slice; so usually
 * from barrier to barrier. The loop over operations stands in run_warp(). */
#include <stdio.h>
#include <string.h>

#include "warp_cluster.h"

#include "base/number.h"

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

/* Fills in where the parts lie. */
static struct warp_block layout(const struct warp_launch *l)
{
    const struct warp_function *f = &l->code->functions[l->kernel->function];
    uint32_t stack = max(l->stack_bytes, 4096);
    struct warp_block b = {.threads = threads_of(l), .warps = warps_of(l)};
    b.narrow = f->deep_narrow + (f->is_recursive ? stack / 4 : 0);
    uint32_t room = l->code->outgoing; /* arguments of a call for which there is no room */
    b.wide = f->deep_wide + (f->is_recursive ? stack / 8 : 0);
    b.local = round_up(f->deep_local + (f->is_recursive ? stack : 0), 16);
    b.shared = l->kernel->shared_bytes + l->dynamic_shared;
    uint64_t at = round_up(sizeof b, 64);
    b.at_warps = at;
    at += round_up(b.warps * sizeof(struct warp_warp), 64);
    b.at_narrow = at;
    b.narrow_room = b.narrow + room;
    at += (uint64_t)b.warps * b.narrow_room * WARP_NARROW_BYTES;
    b.at_wide = at;
    at += (uint64_t)b.warps * b.wide * WARP_WIDE_BYTES;
    b.at_predicates = at;
    at += round_up((uint64_t)b.warps * b.narrow_room * 4, 64);
    b.at_shared = at;
    at += round_up(b.shared, 64);
    b.at_local = at;
    at += (uint64_t)b.warps * WARP_LANES * b.local;
    if (l->undefined) {
        b.at_undefined = (at + 7) & ~(size_t)7;
        at = b.at_undefined + warp_undefined_bytes(&b);
    }
    b.bytes = round_up(at, 64);
    return b;
}

size_t warp_block_bytes(const struct warp_launch *launch)
{
    return layout(launch).bytes;
}

void warp_block_go_on(const struct warp_launch *launch, struct warp_block *b)
{
    if (!launch->clock)
        return;
    for (uint32_t i = 0; i < b->warps; i++)
        for (uint32_t k = 0; k < warp_warps(b)[i].count; k++)
            if (warp_warps(b)[i].split[k].state == WARP_AT_CLOCK)
                warp_warps(b)[i].split[k].state = WARP_GRANTED;
}

static bool waits_for(struct warp_block *b, enum warp_split_state state)
{
    for (uint32_t i = 0; i < b->warps; i++)
        for (uint32_t k = 0; k < warp_warps(b)[i].count; k++)
            if (warp_warps(b)[i].split[k].state == state)
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
    for (uint32_t i = 0; i <= WARP_BARRIERS + WARP_FOURS; i++)
        b->barrier[i].all = 1;
    memset((char *)memory + b->at_shared, 0, b->shared);
    memset((char *)memory + b->at_local, 0, (size_t)b->warps * WARP_LANES * b->local);
    memset((char *)memory + b->at_narrow, 0, b->at_shared - b->at_narrow);
    if (b->at_undefined)
        warp_undefined_begin(b);
    struct warp_warp *w = warp_warps(b);
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
                              .at = m->block,
                              .passed = m->passed,
                              .barrier = WARP_NO_BARRIER,
                              .phase =
                                  op->kind == WARP_CLUSTER ? warp_cluster_phase(m, op, mask) : 0};
}

/* Before an operation: a debugger hears of the first of each instruction, once. */
static void announce(struct warp_machine *m, const struct warp_op *op, uint32_t mask)
{
    bool begins = op == m->code->ops || op[-1].instruction != op->instruction;
    const struct warp_step step = step_of(m, op, m->split->mask);
    if (m->block->at_undefined)
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

static void observe(struct warp_machine *m, const struct warp_op *op, uint32_t mask)
{
    const struct warp_step step = step_of(m, op, mask);
    bool counted = op->flags & WARP_COUNTED;
    if (m->block->at_undefined && mask)
        warp_undefined_after(m, op, mask);
    if (m->launch->watched && counted)
        warp_livelock_step(m, op, mask);
    if (m->launch->observe && counted && m->bulk)
        observe_bulk(m, &step);
    else if (m->launch->observe && counted)
        m->launch->observe(m->launch->context, &step);
    if (m->launch->debug && (counted || m->bytes))
        m->launch->debug->after(m->launch->context, &step);
}

enum turn { TURN_WAITS, TURN_USED, TURN_YIELDS, TURN_DONE, TURN_FAULT };

/* Executes what has registers and memory only. */
static inline void execute(struct warp_machine *m, const struct warp_op *op, uint32_t mask)
{
    if (op->control)
        warp_run_controlled(m, op, mask);
    else
        op->run(m, op, mask);
}

/* Executes one warp until it waits, ends, or has used `*left` instructions. */
static enum turn run_warp(struct warp_machine *m, uint64_t *left)
{
    const struct warp_op *ops = m->code->ops;
    const struct warp_launch *l = m->launch;
    const bool observed = l->observe || l->watched || l->undefined || l->debug;
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
            announce(m, op, mask);
        s->pc++;
        m->counted += op->flags & WARP_COUNTED;
        bool again = false;
        if (op->kind <= WARP_MEMORY) {
            if (mask)
                execute(m, op, mask);
        } else if (mask) {
            again = warp_control(m, op, mask);
            if (op->kind >= WARP_SYNC && op->kind <= WARP_ALIGNED) {
                if (again) {
                    m->counted -= op->flags & WARP_COUNTED; /* it only waits */
                    goto schedule;
                }
                mask &= m->split->mask;
            }
        }
        if (m->fault) {
            m->fault_op = op;
            end = TURN_FAULT;
            break;
        }
        if (observed)
            observe(m, op, mask);
    schedule:
        if ((again || (op->flags & WARP_ENDS && m->warp->count > 1)) && !warp_schedule(m)) {
            end = m->warp->count ? TURN_WAITS : TURN_DONE;
            break;
        }
        if (m->yields && m->yields >= warp_ready(m->warp)) {
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
    m->shared = (char *)b + b->at_shared;
}

void warp_machine_warp(struct warp_machine *m, uint32_t number)
{
    struct warp_block *b = m->block;
    m->number = number;
    m->warp = warp_warps(b) + number;
    m->narrow = (char *)b + b->at_narrow + (size_t)number * b->narrow_room * WARP_NARROW_BYTES;
    m->wide = (char *)b + b->at_wide + (size_t)number * b->wide * WARP_WIDE_BYTES;
    m->predicates =
        (uint32_t *)(void *)((char *)b + b->at_predicates) + (size_t)number * b->narrow_room;
    m->local = (char *)b + b->at_local + (size_t)number * WARP_LANES * b->local;
}

void warp_describe(struct warp_machine *m, struct warp_fault *fault)
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

/* All warps wait and none can go on: lanes wait for lanes that will not come. */
static void describe_deadlock(struct warp_machine *m, struct warp_fault *fault)
{
    const struct warp_warp *w = warp_warps(m->block);
    uint32_t number = 0;
    while (!w[number].count)
        number++;
    warp_machine_warp(m, number);
    m->split = &m->warp->split[0];
    m->fault_op = m->code->ops + m->split->pc - (m->split->state == WARP_AT_BARRIER);
    warp_fault_at(m, WARP_FAULT_INSTRUCTION, (uint32_t)__builtin_ctz(m->split->mask), 0,
                  m->split->state == WARP_AT_BARRIER
                      ? "waits for ever: other threads of the block wait elsewhere"
                      : "waits for ever: other lanes of its mask wait elsewhere");
    warp_describe(m, fault);
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
        warp_machine_warp(&m, b->next);
        uint64_t slice = min(left, SLICE), before = slice;
        enum turn turn = run_warp(&m, &slice);
        l->instructions += before - slice;
        left -= before - slice;
        if (turn == TURN_FAULT) {
            warp_describe(&m, fault);
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
        if (waiting > b->warps && waits_for(b, WARP_AT_CLOCK)) {
            end = WARP_CLOCK;
            break;
        }
        if (waiting > b->warps && waits_for(b, WARP_AT_CLUSTER))
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
