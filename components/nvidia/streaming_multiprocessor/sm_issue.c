/* Issue: each sub-core picks one warp a cycle. When an instruction issues, all that follows is
 * known at once, since collectors, banks and units serve in order: so it is worked out then, in
 * time stamps, and one event ends it. Only memory is different (sm_memory.c).
 *
 *     issue t -> latch -> collector (from t + 1) -> operands -> unit -> latency -> register file
 *
 * An instruction without conflicts is in its unit at t + 3 with one or two registers to read. The
 * stages are those of Accel-Sim (shader.cc, shader_core_ctx and opndcoll_rfu_t), whose collector
 * takes one operand and whose banks give one a step, `bank_reads` steps a cycle. */
#include "base/likely.h"
#include "base/number.h"

#include "sm_state.h"

/* Takes the first free read of a bank from `read` on. `present`: the first one of this cycle. What
 * is further away than 64 reads, after a unit that is busy for long, is not kept. */
static inline uint64_t bank_reserve(struct sm_bank *bank, uint64_t present, uint64_t read)
{
    uint64_t old = present - bank->first;
    bank->taken = old < 64 ? bank->taken >> old : 0;
    bank->first = present;
    uint64_t offset = read - present;
    uint64_t free = offset < 64 ? ~bank->taken >> offset : 0;
    if (!free)
        return read;
    offset += (uint64_t)__builtin_ctzll(free);
    bank->taken |= (uint64_t)1 << offset;
    return present + offset;
}

/* Reads the operands; returns the cycle in which the instruction leaves its collector. */
static inline uint64_t operands_read(struct streaming_multiprocessor *c, struct sm_sub_core *sub,
                                     const struct trace_inst *inst, uint32_t slot, uint64_t now)
{
    const struct streaming_multiprocessor_params *params = streaming_multiprocessor_params(c);
    uint64_t reads = params->bank_reads, unit = inst->unit;
    uint32_t best = 0, banks = params->banks;
    for (uint32_t i = 1; i < params->collectors; i++)
        best = sub->collector[i] < sub->collector[best] ? i : best;
    uint64_t entry = sub->collector[best] > now ? sub->collector[best] : now + 1;
    uint64_t step = entry * reads; /* the read in which it comes in */
    for (unsigned i = 0; i < TRACE_SOURCES && inst->source[i] != TRACE_REGISTER_NONE; i++) {
        struct sm_bank *bank = &sub->bank[(inst->source[i] + slot) % banks];
        step = bank_reserve(bank, now * reads, step + 1);
    }
    uint64_t leaves = (step + 1) / reads;
    leaves = max(leaves, entry);
    leaves = max(leaves, sub->operand[unit]);
    sub->latch[unit] = entry;
    sub->collector[best] = leaves;
    return leaves;
}

/* The result is ready after stages and latency; where it is measured, so long after the issue, and
 * as much later as the unit was busy. */
static inline void issue_compute(struct streaming_multiprocessor *c, struct sm_sub_core *sub,
                                 const struct trace_inst *inst, uint32_t slot, uint64_t now,
                                 uint64_t leaves)
{
    const struct sm_times *times = &c->times[inst->unit];
    uint64_t start = max(leaves + 1, sub->unit[inst->unit]);
    sub->unit[inst->unit] = start + times->interval;
    sub->operand[inst->unit] = start;
    uint64_t result = times->chain ? now + (start - leaves - 1) + times->chain
                                   : start + times->latency + SM_WRITEBACK;
    sm_event_add(c, result, slot, inst->destination, false);
}

static inline void issue_memory(struct streaming_multiprocessor *c, uint32_t number, uint32_t slot,
                                uint64_t now, uint64_t leaves, uint16_t destination)
{
    struct sm_sub_core *sub = &c->sub[number];
    uint32_t turn =
        (number + sm_sub_cores(c) - (uint32_t)(now % sm_sub_cores(c))) % sm_sub_cores(c);
    struct sm_warp *w = &c->warp[slot];
    const struct trace_inst *inst = sm_inst(w);
    uint32_t tail = (sub->queue_head + sub->queue_count++) % SM_QUEUE;
    c->queued |= 1u << number;
    sm_queue(c, number)[tail] = (struct sm_access){.ready_cycle = leaves + 2,
                                                   .issued = now * SM_SUB_CORES + turn,
                                                   .record = w->record,
                                                   .destination = destination,
                                                   .warp = (uint8_t)slot,
                                                   .kind = inst->kind,
                                                   .width = inst->width,
                                                   .bypass = inst->bypass};
    w->accesses += !sm_is_async(destination);
    if (destination < TRACE_REGISTERS)
        w->memory[destination / 64] |= sm_bit(destination % 64);
}

static inline void issue_waits(struct streaming_multiprocessor *c, const struct trace_inst *inst,
                               struct sm_warp *w)
{
    struct sm_block *b = &c->block[w->block];
    if (inst->kind == TRACE_BARRIER || inst->kind == TRACE_ARRIVE) {
        uint32_t wanted = inst->count / TRACE_BARRIERS;
        w->barrier = inst->count % TRACE_BARRIERS;
        c->io.stats.barriers++;
        b->barriers |= 1u << w->barrier;
        b->arrived[w->barrier]++;
        b->wanted[w->barrier] = (uint8_t)(wanted <= b->count ? wanted : 0);
        w->waits = inst->kind == TRACE_BARRIER ? SM_WAITS_BARRIER : SM_WAITS_NOT;
    } else if (inst->kind == TRACE_MEMBAR) {
        c->io.stats.membars++;
        w->waits = w->accesses ? SM_WAITS_MEMORY : SM_WAITS_NOT;
    }
}

/* A product of four warps takes no operands through the collectors: its operands come from shared
 * memory, which this warp's quarter keeps busy for `width` cycles. The next product issues when
 * this one begins. */
static inline void issue_matrix(struct streaming_multiprocessor *c, struct sm_sub_core *sub,
                                const struct trace_inst *inst, uint32_t slot, uint64_t now,
                                uint16_t destination)
{
    uint64_t *free = &sub->unit[TRACE_TENSOR];
    uint64_t start = max(now + 3, *free);
    uint64_t read = memory_occupy_shared(c, now, inst->width) + 3;
    *free = max(start + inst->count, read);
    sub->latch[TRACE_TENSOR] = start;
    sm_event_add(c, sm_soon(now, *free + SM_WRITEBACK), slot, destination, false);
}

static inline void issue_copier(struct streaming_multiprocessor *c, const struct trace_inst *inst,
                                uint32_t slot, uint64_t now, uint16_t destination)
{
    copier_push(c, &(struct sm_access){.ready_cycle = now + 4,
                                       .record = c->warp[slot].record,
                                       .destination = destination,
                                       .warp = (uint8_t)slot,
                                       .kind = inst->kind,
                                       .writes = inst->kind == TRACE_BULK_LOAD,
                                       .bypass = true});
}

/* Sends the instruction to its unit. */
static inline void issue_unit(struct streaming_multiprocessor *c, uint32_t number, uint32_t slot,
                              const struct trace_inst *inst, uint64_t now)
{
    struct sm_sub_core *sub = &c->sub[number];
    struct sm_warp *w = &c->warp[slot];
    uint16_t destination = inst->destination;
    if (inst->kind >= TRACE_COPY)
        destination = async_destination(c, slot, inst, sm_words(c) + w->record);
    if (destination < TRACE_REGISTERS)
        w->pending[destination / 64] |= sm_bit(destination % 64);
    if (inst->unit == TRACE_COPIER) {
        issue_copier(c, inst, slot, now, destination);
    } else if (inst->kind == TRACE_MATRIX || inst->kind == TRACE_MATRIX_COMMIT) {
        issue_matrix(c, sub, inst, slot, now, destination);
    } else {
        uint64_t leaves = operands_read(c, sub, inst, slot, now);
        if (inst->unit == TRACE_MEMORY)
            issue_memory(c, number, slot, now, leaves, destination);
        else
            issue_compute(c, sub, inst, slot, now, leaves);
    }
}

static inline void warp_issue(struct streaming_multiprocessor *c, uint32_t number, uint32_t slot,
                              uint64_t now)
{
    struct sm_sub_core *sub = &c->sub[number];
    struct sm_warp *w = &c->warp[slot];
    struct sm_block *b = &c->block[w->block];
    const struct trace_inst *inst = sm_inst(w);
    const uint32_t *words = sm_words(c);
    if (unlikely(w->has_account))
        account_issue(c, slot);
    sub->ready[inst->unit] &= ~sm_bit(slot);
    sub->ready_units &= ~((uint32_t)!sub->ready[inst->unit] << inst->unit);
    sub->ready_warps &= ~sm_bit(slot);
    w->in_flight++;
    issue_unit(c, number, slot, inst, now);
    if (inst->kind >= TRACE_COPY)
        async_issued(c, slot, inst, words + w->record);
    else
        issue_waits(c, inst, w);
    uint64_t lanes = (uint64_t)__builtin_popcount(trace_record_mask(words + w->record));
    b->warp_instructions++;
    b->thread_instructions += lanes;
    c->io.stats.thread_instructions += lanes;
    w->record = trace_record_end(words, w->record);
    w->instructions_left--;
    w->buffered--;
    if (w->instructions_left) {
        warp_decode(c, w);
        if (w->buffered)
            warp_check(c, slot);
        else
            c->fetch |= sm_bit(slot);
    } else if (likely(warp_is_whole(b, w))) {
        warp_leave_block(b, w);
    }
    if (!w->instructions_left || inst->kind == TRACE_MATRIX_GATHER)
        gather_pass(c, b, w->number / 4);
    barrier_pass(c, b);
    if (unlikely(w->has_account))
        account_change(c, slot);
}

/* Warps whose unit takes an instruction in this cycle; *at becomes the first cycle in which another
 * warp's unit takes one. */
static inline uint64_t sub_core_candidates(const struct streaming_multiprocessor *c,
                                           const struct sm_sub_core *sub, uint64_t now,
                                           uint64_t *at)
{
    uint64_t found = 0;
    for (uint32_t rest = sub->ready_units; rest; rest &= rest - 1) {
        unsigned u = (unsigned)__builtin_ctz(rest);
        if (u == TRACE_MEMORY
            && sub->queue_count == streaming_multiprocessor_params(c)->memory_queue)
            continue; /* the memory unit is at work, or waits for what wakes it */
        if (u == TRACE_COPIER && c->copier.count == SM_BULK_QUEUE)
            continue;
        if (sub->latch[u] <= now)
            found |= sub->ready[u];
        else if (sub->latch[u] < *at)
            *at = sub->latch[u];
    }
    return found;
}

/* Returns whether anything issued; *at: when something can that cannot now. */
static bool warps_issue(struct streaming_multiprocessor *c, uint64_t now, uint64_t *at)
{
    uint64_t issued = 0;
    for (uint32_t s = 0; s < sm_sub_cores(c); s++) {
        struct sm_sub_core *sub = &c->sub[s];
        uint64_t found = sub->ready_warps ? sub_core_candidates(c, sub, now, at) : 0;
        if (!found)
            continue;
        warp_issue(c, s,
                   streaming_multiprocessor_scheduler_ops(c)->pick(
                       streaming_multiprocessor_scheduler(c), s, found, sub->memory),
                   now);
        issued++;
    }
    if (issued)
        engine_count_instructions(&c->io.base, issued);
    c->io.stats.instructions += issued;
    return issued;
}
