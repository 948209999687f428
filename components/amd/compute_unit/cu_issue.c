/* Issue: one SIMD a cycle, one instruction of each kind from different wavefronts of it: in each
 * kind the one with the highest priority (s_setprio), among equals in turn, or the oldest (GCN3 ISA
 * manual, section 1.2: up to five a cycle, of vector ALU, scalar, vector memory, LDS and branch;
 * s_waitcnt, s_nop and the like are consumed beside them).
 *
 * A matrix instruction issues like a vector ALU instruction and goes before these: while the SIMD's
 * matrix unit works on it, the vector ALU is free. The wavefront itself continues, too: compilers
 * insert the wait states that a result needs (LLVM, GCNHazardRecognizer).
 *
 * An instruction has its effect when it issues; its latency decides when its wavefront continues
 * and when its unit is free again. */
#include "compute_unit.gen.h"

#include "base/likely.h"
#include "base/number.h"

#include "compute_unit_internal.h"
#include "compute_unit_state.h"
#include "cu_fetch.h"
#include "cu_scalar_memory.h"
#include "cu_vector_memory.h"

enum { ISSUE_SLEEP_UNIT = 64 }; /* cycles; GCN3 ISA manual, S_SLEEP */

static void issue_init(struct compute_unit *c)
{
    for (unsigned i = 0; i < ISA_TIMING_COUNT; i++)
        c->valu_cycles[i] = (uint16_t)compute_unit_params(c)->full_rate;
    c->valu_cycles[ISA_TIMING_CONVERT] = (uint16_t)compute_unit_params(c)->conversion;
    c->valu_cycles[ISA_TIMING_MULTIPLY] = (uint16_t)compute_unit_params(c)->integer_multiply;
    c->valu_cycles[ISA_TIMING_QUARTER] = (uint16_t)compute_unit_params(c)->quarter_rate;
    c->valu_cycles[ISA_TIMING_TRANS] = (uint16_t)compute_unit_params(c)->transcendental;
    c->valu_cycles[ISA_TIMING_F64_ADD] = (uint16_t)compute_unit_params(c)->f64_add;
    c->valu_cycles[ISA_TIMING_F64_MUL] = (uint16_t)compute_unit_params(c)->f64_multiply;
    c->valu_cycles[ISA_TIMING_F64_TRANS] = (uint16_t)compute_unit_params(c)->f64_transcendental;
}

/* Executes on registers and LDS. False: the run has failed. */
static OUT_OF_LINE bool issue_execute_now(struct compute_unit *c, struct cu_wave *w,
                                          const struct isa_inst *inst)
{
    struct isa_wave *s = cu_scalars(c, w);
    uint64_t pc = s->pc;
    struct isa_context context = cu_context(c, w);
    if (unlikely(execution_observer))
        work_record_plain(c->io.base.leaf, cu_wave_number(c, w), s, inst, &context);
    enum isa_status status = execute(c, w, &context, s);
    if (likely(status == ISA_OK))
        return true;
    if (status == ISA_TRAPPED && !work_trap_is_fatal(s))
        return true;
    cu_fault(c, w, inst, pc, UINT32_MAX, work_fault_status(status));
    return false;
}

/* issue_execute_now(), unless the instruction was executed together with an earlier one. */
static inline bool issue_execute(struct compute_unit *c, struct cu_wave *w,
                                 const struct isa_inst *inst)
{
    if (!w->ahead)
        return issue_execute_now(c, w, inst);
    w->ahead--;
    cu_scalars(c, w)->pc += inst->size;
    return true;
}

static void issue_set_priority(struct compute_unit *c, struct cu_wave *w, unsigned priority)
{
    uint64_t bit = (uint64_t)1 << w->slot;
    w->priority = (uint8_t)priority;
    c->simd[w->simd].prioritised =
        priority ? c->simd[w->simd].prioritised | bit : c->simd[w->simd].prioritised & ~bit;
}

/* Out of line for the same reason as receive() in compute_unit.c. */
static OUT_OF_LINE enum cu_issue issue_special(struct compute_unit *c, struct cu_wave *w,
                                               const struct isa_inst *inst, uint64_t now)
{
    struct cu_group *g = cu_group_at(c, w->group);
    uint64_t nops = cu_decoded(c)[w->decoded].nops;
    uint64_t next = now + nops * compute_unit_params(c)->simds + 1;
    if (!issue_execute(c, w, inst))
        return ISSUE_FAULT;
    if (inst->flags & ISA_IS_ENDPGM) {
        wave_begin_wait(c, w, now, WORK_WAITING_STORES);
        w->state = WAVE_ENDING;
        w->instructions++;
        c->io.stats.instructions++;
        c->retired++;
        wave_check_counters(c, w, now);
        return ISSUE_DONE;
    }
    wave_charge_turn(c, w, WORK_ISSUED_OTHER, now);
    if (inst->flags & ISA_IS_WAITCNT) {
        wave_wait_counters(c, w, inst, now);
        return ISSUE_DONE;
    }
    if (inst->flags & ISA_IS_BARRIER) {
        w->state = WAVE_BARRIER;
        w->time_kind = WORK_WAITING_BARRIER;
        g->at_barrier++;
        group_release_barrier(c, g, now);
        return ISSUE_DONE;
    }
    if (inst->flags & ISA_IS_SLEEP)
        next = now + (uint64_t)(inst->simm & 127) * ISSUE_SLEEP_UNIT + 1;
    if (inst->flags & ISA_IS_SETPRIO)
        issue_set_priority(c, w, (unsigned)inst->simm & 3);
    wave_charge_executing(c, w, WORK_EXECUTING_SLEEP, now, next - now);
    wave_continue(c, w, now, next);
    return ISSUE_DONE;
}

/* Accounts for a vector instruction that issues at `now` and keeps the vector ALU for `cycles`. */
static inline void issue_count_vector(struct compute_unit *c, struct cu_wave *w, unsigned issued,
                                      uint64_t now, uint64_t cycles)
{
    c->simd[w->simd].valu_free = now + cycles;
    c->io.stats.valu++;
    wave_charge_turn(c, w, issued, now);
    wave_charge_executing(c, w, WORK_EXECUTING_VALU, now, cycles);
}

/* Accounts for a scalar instruction that issues at `now` and keeps its wavefront for `cycles`. */
static inline void issue_count_scalar(struct compute_unit *c, struct cu_wave *w, uint64_t now,
                                      uint64_t cycles)
{
    c->io.stats.salu++;
    wave_charge_turn(c, w, WORK_ISSUED_SALU, now);
    wave_charge_executing(c, w, WORK_EXECUTING_SALU, now, cycles);
}

/* The vector ALU is busy for so many cycles. */
static inline enum cu_issue issue_vector(struct compute_unit *c, struct cu_wave *w,
                                         const struct isa_inst *inst, uint64_t now, uint64_t cycles)
{
    if (!issue_execute(c, w, inst))
        return ISSUE_FAULT;
    if (compute_unit_params(c)->sgpr_order > 1 && inst->sdst != ISA_OPERAND_NONE) {
        w->sgpr = inst->sdst;
        w->sgpr_until = now + compute_unit_params(c)->sgpr_order;
    }
    issue_count_vector(c, w, cu_decoded(c)[w->decoded].issued, now, cycles);
    wave_continue(c, w, now, now + cycles);
    return ISSUE_DONE;
}

static enum cu_issue issue_matrix(struct compute_unit *c, struct cu_wave *w,
                                  const struct isa_inst *inst, uint64_t now)
{
    uint64_t pass = compute_unit_params(c)->matrix_pass;
    uint64_t busy = isa_matrix_passes(inst) * pass, alu = isa_matrix_alu_passes(inst) * pass;
    uint64_t cycles = compute_unit_params(c)->full_rate;
    if (issue_vector(c, w, inst, now, cycles) != ISSUE_DONE)
        return ISSUE_FAULT;
    if (alu > cycles)
        c->simd[w->simd].valu_free = now + alu;
    c->simd[w->simd].matrix_free = now + busy;
    return ISSUE_DONE;
}

static enum cu_issue issue_scalar(struct compute_unit *c, struct cu_wave *w,
                                  const struct isa_inst *inst, uint64_t now)
{
    uint64_t next = now + 1;
    if (inst->unit == ISA_UNIT_SMEM) {
        enum cu_issue result = ISSUE_BLOCKED;
        if (index_pool_has(&c->free_smem))
            result = smem_issue(c, w, inst, now);
        else
            wave_begin_wait(c, w, now, WORK_WAITING_SMEM_FULL);
        if (result != ISSUE_DONE)
            return result;
        wave_charge_turn(c, w, WORK_ISSUED_SMEM, now);
    } else {
        if (!issue_execute(c, w, inst))
            return ISSUE_FAULT;
        uint64_t cycles = compute_unit_params(c)->scalar_latency;
        issue_count_scalar(c, w, now, cycles);
        next = now + cycles;
    }
    wave_continue(c, w, now, next);
    return ISSUE_DONE;
}

static enum cu_issue issue_vmem(struct compute_unit *c, struct cu_wave *w,
                                const struct isa_inst *inst, uint64_t now)
{
    if (vmem_is_full(c)) {
        wave_begin_wait(c, w, now, WORK_WAITING_VMEM_FULL);
        return ISSUE_BLOCKED;
    }
    enum cu_issue result = vmem_issue(c, w, inst, now);
    if (result != ISSUE_DONE)
        return result;
    wave_charge_turn(c, w, WORK_ISSUED_VMEM, now);
    wave_continue(c, w, now, now + 1);
    return ISSUE_DONE;
}

/* ds_gws_*: the GPU's global wave sync is asked, over the wires of the dispatcher, and its answer
 * lowers lgkmcnt. One at a time of a wavefront. */
static OUT_OF_LINE enum cu_issue issue_sync(struct compute_unit *c, struct cu_wave *w,
                                            const struct isa_inst *inst, uint64_t now)
{
    const struct isa_context context = cu_context(c, w);
    uint64_t bit = (uint64_t)1 << w->slot, simds = compute_unit_params(c)->simds;
    struct isa_sync sync;
    bool asks = isa_sync(&context, cu_scalars(c, w), inst, &sync);
    if (asks && (c->at_sync[w->simd] & bit || !compute_unit_work_can_reply(c))) {
        wave_begin_wait(c, w, now, WORK_WAITING_LDS);
        cu_retry(c, w->simd, now + simds, now);
        return ISSUE_BLOCKED;
    }
    if (!issue_execute(c, w, inst))
        return ISSUE_FAULT;
    wave_charge_turn(c, w, WORK_ISSUED_LDS, now);
    c->io.stats.lds_instructions++;
    if (asks) {
        c->at_sync[w->simd] |= bit;
        w->lgkm++;
        w->lds++;
        compute_unit_work_reply_sync(c, cu_group_at(c, w->group)->tag, cu_wave_number(c, w),
                                     sync.operation, sync.resource, sync.value);
    }
    wave_continue(c, w, now, now + 1);
    return ISSUE_DONE;
}

static enum cu_issue issue_lds(struct compute_unit *c, struct cu_wave *w,
                               const struct isa_inst *inst, uint64_t now)
{
    uint32_t address[ISA_LANES];
    uint64_t active = isa_wave_exec(cu_scalars(c, w));
    bool has_address = inst->src[0] >= ISA_VGPR && inst->src[0] < ISA_VGPR + 256
                       && !(inst->flags & (ISA_IS_SWIZZLE | ISA_IS_SYNC));
    if (unlikely(inst->flags & ISA_IS_SYNC))
        return issue_sync(c, w, inst, now);
    if (has_address)
        memcpy(address, arena_at(uint32_t, w->vgprs_at) + (size_t)(inst->src[0] - ISA_VGPR) * 64,
               sizeof address);
    if (!issue_execute(c, w, inst))
        return ISSUE_FAULT;
    if (now > w->accounted_until) {
        uint64_t conflicts = lds_conflicts_until(c, now) - w->conflict_cycles;
        if (compute_unit_params(c)->lds_ports && conflicts > now - w->accounted_until)
            conflicts = now - w->accounted_until; /* the port was busy, too */
        wave_charge(c, w, WORK_WAITING_LDS_CONFLICT, conflicts);
        w->accounted_until += conflicts;
    }
    wave_charge_turn(c, w, WORK_ISSUED_LDS, now);
    lds_start(c, w, inst, has_address ? address : NULL, active, now);
    c->io.stats.lds_instructions++;
    wave_continue(c, w, now, now + 1);
    return ISSUE_DONE;
}

static enum cu_issue issue_branch(struct compute_unit *c, struct cu_wave *w,
                                  const struct isa_inst *inst, uint64_t now)
{
    uint64_t pc = cu_scalars(c, w)->pc, next = pc + inst->size;
    if (unlikely(program_is_killed(compute_unit_program(c), wave_pid(c, w)))) {
        cu_fault(c, w, inst, pc, UINT32_MAX, "its process has ended");
        return ISSUE_FAULT;
    }
    if (!issue_execute(c, w, inst))
        return ISSUE_FAULT;
    bool taken = cu_scalars(c, w)->pc != next;
    uint64_t cycles = (uint64_t)(taken ? compute_unit_params(c)->branch_latency
                                       : compute_unit_params(c)->branch_not_taken);
    c->io.stats.branches++;
    wave_charge_turn(c, w, WORK_ISSUED_BRANCH, now);
    wave_charge_executing(c, w, WORK_EXECUTING_BRANCH, now, cycles);
    wave_continue(c, w, now, now + cycles);
    return ISSUE_DONE;
}

/* An instruction of a kind that most are not of. */
static OUT_OF_LINE enum cu_issue issue_other(struct compute_unit *c, struct cu_wave *w,
                                             const struct isa_inst *inst, uint64_t now)
{
    switch ((enum cu_kind)w->kind) {
    case CU_MATRIX:
        return issue_matrix(c, w, inst, now);
    case CU_SCALAR:
        return issue_scalar(c, w, inst, now);
    case CU_VMEM:
        return issue_vmem(c, w, inst, now);
    case CU_LDS:
        return issue_lds(c, w, inst, now);
    case CU_BRANCH:
        return issue_branch(c, w, inst, now);
    default:
        return issue_special(c, w, inst, now);
    }
}

/* Issues one instruction of the wavefront, which is not in the mask of ready wavefronts. */
static OUT_OF_LINE enum cu_issue issue_wave(struct compute_unit *c, struct cu_wave *w, uint64_t now)
{
    struct decoded *d = &cu_decoded(c)[w->decoded];
    enum cu_issue result;
    w->state = WAVE_EXECUTING;
    if (unlikely(d->address != cu_scalars(c, w)->pc || d->kind != w->kind)) {
        if (!wave_decode(c, w)) /* another wavefront took the entry */
            return ISSUE_DONE;
        d = &cu_decoded(c)[w->decoded];
    }
    const struct isa_inst *inst = &d->inst;
    profile_turn(c, w);
    if (wave_counters_are_full(c, w, inst))
        return ISSUE_DONE;
    bool ends = inst->flags & ISA_IS_ENDPGM;
    if (likely(w->kind == CU_VALU))
        result = issue_vector(c, w, inst, now, c->valu_cycles[inst->timing]);
    else
        result = issue_other(c, w, inst, now);
    if (result != ISSUE_DONE)
        return result;
    d->count++;
    if (!ends) {
        w->instructions++;
        c->io.stats.instructions++;
        c->retired++;
    }
    return result;
}

static uint64_t issue_unit_free(const struct cu_simd *s, unsigned kind)
{
    if (kind == CU_VALU)
        return s->valu_free;
    if (kind == CU_LDS)
        return s->lds_done;
    if (kind != CU_MATRIX)
        return 0;
    return max(s->matrix_free, s->valu_free);
}

/* The wavefronts of `bits` that have the highest priority. */
static uint64_t issue_most_urgent(const struct compute_unit *c, unsigned simd, uint64_t bits)
{
    uint64_t best = 0;
    unsigned highest = 0;
    for (; bits; bits &= bits - 1) {
        unsigned slot = (unsigned)__builtin_ctzll(bits);
        unsigned priority = cu_wave_in(c, simd, slot)->priority;
        if (priority > highest)
            best = 0;
        highest = max(priority, highest);
        if (priority == highest)
            best |= (uint64_t)1 << slot;
    }
    return best;
}

/* The wavefront whose turn it is, of the equally urgent ones in `bits`. */
static inline unsigned issue_next(const struct compute_unit *c, unsigned simd, unsigned kind,
                                  uint64_t bits)
{
    unsigned slot = (unsigned)__builtin_ctzll(bits);
    if (!(bits & (bits - 1)))
        return slot;
    if (compute_unit_params(c)->issue_order == COMPUTE_UNIT_ISSUE_ORDER_OLDEST) {
        for (bits &= bits - 1; bits; bits &= bits - 1) {
            unsigned other = (unsigned)__builtin_ctzll(bits);
            if (cu_wave_in(c, simd, other)->start_number < cu_wave_in(c, simd, slot)->start_number)
                slot = other;
        }
        return slot;
    }
    unsigned turn = c->simd[simd].turn[kind];
    uint64_t later = turn < 64 ? bits & UINT64_MAX << turn : 0;
    return later ? (unsigned)__builtin_ctzll(later) : slot;
}

/* One turn of a SIMD. No wavefront becomes ready in it. */
static void issue_simd(struct compute_unit *c, unsigned simd, uint64_t now)
{
    struct cu_simd *s = &c->simd[simd];
    uint64_t retry = ENGINE_NEVER, simds = compute_unit_params(c)->simds;
    for (unsigned kinds = s->kinds; kinds; kinds &= kinds - 1) {
        unsigned kind = (unsigned)__builtin_ctz(kinds);
        uint64_t bits = s->ready[kind], free_at = issue_unit_free(s, kind);
        if (free_at > now) {
            retry = min(cu_turn(c, simd, free_at), retry);
            continue;
        }
        if (unlikely(bits & s->prioritised))
            bits = issue_most_urgent(c, simd, bits);
        unsigned slot = issue_next(c, simd, kind, bits);
        struct cu_wave *w = cu_wave_in(c, simd, slot);
        s->ready[kind] &= ~((uint64_t)1 << slot);
        s->kinds ^= (uint8_t)((s->ready[kind] == 0) << kind);
        if (issue_wave(c, w, now) == ISSUE_BLOCKED) {
            w->state = WAVE_READY;
            s->ready[kind] |= (uint64_t)1 << slot;
            s->kinds |= (uint8_t)(1u << kind);
            continue;
        }
        s->turn[kind] = (uint8_t)(slot + 1);
        if (s->ready[kind])
            retry = min(now + simds, retry);
    }
    if (retry != ENGINE_NEVER)
        cu_retry(c, simd, retry, now);
}

/* The turn of a SIMD in which nothing is ready but the wavefront, which comes from the wheel. */
static inline void issue_alone(struct compute_unit *c, struct cu_wave *w, uint64_t now)
{
    struct cu_simd *s = &c->simd[w->simd];
    unsigned kind = w->kind;
    uint64_t free_at = issue_unit_free(s, kind);
    wave_begin_ready(c, w, now);
    if (likely(free_at <= now)) {
        if (issue_wave(c, w, now) != ISSUE_BLOCKED) {
            s->turn[kind] = (uint8_t)(w->slot + 1);
            if (c->may_defer && w->state == WAVE_EXECUTING && w->kind <= CU_SCALAR)
                deferred_begin(c, w, now);
            return;
        }
    } else {
        cu_retry(c, w->simd, cu_turn(c, w->simd, free_at), now);
    }
    wave_set_ready(s, w);
}
