/* Vector memory: from issue through the coalescer to the L1, and back in order.
 *
 * Instructions enter in issue order; their lines go out first come, first served, vmem_width a
 * cycle, the first one vmem_latency after issue, and, with `vmem_lanes`, not before the addresses
 * of earlier instructions are worked out. Answers come in any order; loaded bytes wait in a stage
 * until the instruction is the oldest of its wavefront, then registers are written and the counters
 * go down (GCN3 ISA manual, section 4.4: vector memory returns in order). Addresses are virtual:
 * translation belongs to the caches. */
#include "cu_vector_memory.h"

#include "compute_unit.gen.h"

#include "base/hash.h"
#include "base/likely.h"
#include "base/number.h"

#include "compute_unit_internal.h"
#include "compute_unit_state.h"

/* Lets SIMDs that were refused for want of entries try again. */
static void vmem_unblock(struct compute_unit *c, uint64_t now)
{
    for (unsigned s = 0; s < compute_unit_params(c)->simds; s++) {
        uint64_t turn = cu_turn(c, s, now + 1);
        if (c->simd[s].kinds & (1u << CU_VMEM | 1u << CU_SCALAR))
            cu_retry(c, s, turn, now);
    }
}

/* True if all lanes lie in one allocation. With their dwords dword_stride apart, only the one hit
 * last is looked at. */
static inline bool vmem_in_one(struct compute_unit *c, const struct cu_wave *w,
                               const struct isa_memory *m, const struct isa_reach *r)
{
    uint64_t bytes = m->bytes;
    if (r->high >> 63) /* its end may be beyond 2^64 */
        return false;
    if (!m->swizzle_mask)
        return bounds_hold(c, w, r->low, r->high + bytes);
    if (m->straddle_mask || c->span_table_version != compute_unit_program(c)->version)
        return false;
    if (bytes > 4)
        bytes = (bytes / 4 - 1) * m->dword_stride + 4;
    return r->low >= c->span_start && r->high + bytes <= c->span_end;
}

/* Checks all lanes at once when they lie in one allocation, else lane by lane. False: the run has
 * failed. */
static bool vmem_check(struct compute_unit *c, struct cu_wave *w, const struct cu_vmem *e,
                       const struct isa_memory *m, const struct isa_reach *r)
{
    static const char *const names[] = {"load", "store", "atomic"};
    if (m->kind != ISA_MEMORY_ATOMIC && vmem_in_one(c, w, m, r))
        return true;
    for (uint64_t rest = m->mask; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest), run;
        unsigned runs = coalescer_runs(m, lane, &run);
        for (unsigned i = 0; i < runs; i++) {
            uint64_t a = coalescer_run(m, lane, i, run);
            if (!bounds_hold(c, w, a, a + run)) {
                bounds_fault(c, w, &e->inst, e->pc, lane,
                             &(struct work_fault_access){names[m->kind], m->bytes, a});
                return false;
            }
        }
        if (m->kind == ISA_MEMORY_ATOMIC && m->address[lane] % m->bytes) {
            cu_fault(c, w, &e->inst, e->pc, lane, "atomic at an address that is not aligned");
            return false;
        }
    }
    return true;
}

/* Loaded bytes, from the stage to registers. Lanes may be active without touching a line. An access
 * that vmem_keep() has not kept is not unusual. */
static void vmem_write_back(struct compute_unit *c, const struct cu_wave *w, struct cu_vmem *e)
{
    struct isa_context context = cu_context(c, w);
    const uint8_t *stage = cu_stage(c, e);
    struct isa_memory plain;
    const struct isa_memory *m = &plain;
    plain.unusual = 0;
    plain.mask = e->mask;
    if (e->rest != CU_NONE)
        m = &cu_vmem_rest_at(c, e->rest)->access;
    isa_memory_load(&context, &e->inst, m, stage, e->bytes);
}

/* Writes back and forgets the oldest instructions of the wavefront that are complete. */
static void vmem_retire(struct compute_unit *c, struct cu_wave *w, uint64_t now)
{
    while (w->vmem_first != CU_NONE) {
        unsigned number = w->vmem_first;
        struct cu_vmem *e = cu_vmem_at(c, number);
        if (e->remaining)
            break;
        if (e->mask && e->returns && !e->is_fence)
            vmem_write_back(c, w, e);
        struct work_account *account = &cu_ledger_at(c, w->ledger)->account;
        account->vmem_issued++;
        account->vmem_cycles += now - e->issued;
        profile_returned(c, w, e->pc, now - e->issued);
        w->vmem_first = e->next;
        if (e->next == CU_NONE)
            w->vmem_last = CU_NONE;
        w->vm -= (e->inst.flags & ISA_RAISES_VM) != 0;
        w->lgkm -= e->raises_lgkm;
        w->flat -= e->raises_lgkm;
        index_pool_release(&c->free_vmem, number);
        if (e->rest != CU_NONE)
            index_pool_release(&c->free_rests, e->rest);
        vmem_unblock(c, now);
    }
    wave_check_counters(c, w, now);
}

/* The time that the addresses take, of which the lines have equal parts. */
static void vmem_work_out_addresses(struct compute_unit *c, struct cu_vmem *e,
                                    const struct isa_memory *m, unsigned lines)
{
    const struct compute_unit_params *k = compute_unit_params(c);
    struct coalescer_tags tags = {k->vmem_line, k->vmem_tags};
    unsigned lanes = k->vmem_lanes;
    unsigned cycles = e->shape == VMEM_LINEAR ? divide_up(ISA_LANES, lanes)
                                              : coalescer_address_cycles(m, lanes, tags);
    uint64_t start = max(c->addresses_free, e->issued);
    c->addresses_free = start + cycles;
    e->first_send += start - e->issued;
    e->pace = (uint8_t)(lines && cycles > lines ? cycles / lines - 1 : 0);
}

static void vmem_coalesce(struct compute_unit *c, struct cu_vmem *e, const struct isa_memory *m,
                          const struct isa_reach *r, unsigned number)
{
    struct coalesced_line lines[COALESCER_LINES_MAX];
    unsigned count = 0;
    e->shape = VMEM_ANY;
    if (m->mask && m->kind == ISA_MEMORY_ATOMIC) {
        count = coalescer_atomics(m, lines);
    } else if (m->mask && coalescer_is_linear(m, r)) {
        e->base = r->base;
        count = coalescer_linear_lines(m, e->base, lines);
        e->shape = VMEM_LINEAR;
    } else if (m->mask && coalescer_stays_in_lines(m, r)) {
        count = coalescer_simple_lines(m, lines);
        e->shape = VMEM_IN_LINES;
        isa_memory_offsets(m->address, cu_lane_offsets(c, number));
    } else if (m->mask) {
        count = coalescer_lines(m, lines);
    }
    e->remaining = (uint16_t)count;
    e->unsent = CU_NONE;
    for (unsigned i = count, next = CU_LAST_LINE; i-- > 0;) {
        uint16_t place = (uint16_t)index_pool_acquire(&c->free_lines);
        *cu_line_at(c, place) = cu_line_of(lines[i], number, next);
        e->unsent = place;
        next = place;
    }
    if (compute_unit_params(c)->vmem_lanes)
        vmem_work_out_addresses(c, e, m, count);
    c->io.stats.vmem_lines += count;
    const struct cu_wave *w = cu_wave_at(c, e->wave);
    const struct cu_group *g = cu_group_at(c, w->group);
    struct work_account *account = &cu_ledger_at(c, w->ledger)->account;
    account->vmem_lines += count;
    if (unlikely(g->scratch_bytes) && count
        && lines[0].address - g->scratch_begin < g->scratch_bytes)
        account->scratch_lines += count;
    profile_asked(c, e, count);
}

/* A wavefront spins when one instruction reads the same address twice with no other access in
 * between: it polls for another wavefront's write. A compare-and-swap that compares with the same
 * value again spins, too; an atomic addition does not. */
static void vmem_count_poll(struct compute_unit *c, struct cu_wave *w, const struct cu_vmem *e,
                            const struct cu_vmem_rest *rest)
{
    const struct isa_memory *m = &rest->access;
    bool swaps = m->kind == ISA_MEMORY_ATOMIC && m->returns && m->atomic == ISA_ATOMIC_CMPSWAP;
    unsigned lane = m->mask ? (unsigned)__builtin_ctzll(m->mask) : 0;
    uint64_t operand = m->mask ? m->address[lane] : 0, compare = 0;
    if (swaps)
        memcpy(&compare, rest->compare + (size_t)lane * m->bytes, m->bytes);
    operand ^= hash_multiply(compare);
    cu_ledger_at(c, w->ledger)->account.polls += (m->kind == ISA_MEMORY_LOAD || swaps) && m->mask
                                                 && w->accessed_pc == e->pc
                                                 && w->accessed_operand == operand;
    w->accessed_pc = e->pc;
    w->accessed_operand = operand;
}

static void vmem_enqueue(struct compute_unit *c, struct cu_wave *w, struct cu_vmem *e,
                         unsigned number)
{
    unsigned queue = compute_unit_params(c)->vmem_queue;
    e->next = CU_NONE;
    if (w->vmem_first == CU_NONE)
        w->vmem_first = (uint16_t)number;
    else
        cu_vmem_at(c, w->vmem_last)->next = (uint16_t)number;
    w->vmem_last = (uint16_t)number;
    if (e->remaining) {
        arena_at(uint16_t, c->vmem_order_at)[(c->vmem_send_head + c->vmem_send_count++) % queue] =
            (uint16_t)number;
    }
}

static inline bool vmem_is_full(const struct compute_unit *c)
{
    return !index_pool_has(&c->free_vmem) || !cu_has_lines(c);
}

/* Keeps the access in `rest` for an instruction that needs it until its end. Most do not: they give
 * it back to the next instruction, which finds it in the host's cache. */
static void vmem_keep(struct compute_unit *c, struct cu_vmem *e, unsigned rest)
{
    const struct isa_memory *m = &cu_vmem_rest_at(c, rest)->access;
    bool run = e->shape == VMEM_LINEAR && !m->unusual
               && (m->kind == ISA_MEMORY_LOAD || m->mask == UINT64_MAX);
    bool inside = e->shape == VMEM_IN_LINES && !m->unusual;
    bool is_needed = !run && !inside && (m->mask || e->is_fence);
    e->rest = is_needed ? (uint16_t)rest : CU_NONE;
    if (!is_needed)
        index_pool_release(&c->free_rests, rest);
}

/* Stages the operands of a store or an atomic. */
static void vmem_stage(const struct compute_unit *c, const struct isa_context *context,
                       struct cu_vmem_rest *rest, const struct cu_vmem *e)
{
    const struct isa_memory *m = &rest->access;
    if (m->kind != ISA_MEMORY_STORE && m->kind != ISA_MEMORY_ATOMIC)
        return;
    isa_memory_store(context, &e->inst, m, cu_stage(c, e), m->bytes);
    if (m->kind == ISA_MEMORY_ATOMIC
        && (m->atomic == ISA_ATOMIC_CMPSWAP || m->atomic == ISA_ATOMIC_FCMPSWAP))
        isa_memory_compare_data(context, &e->inst, m->mask, rest->compare, m->bytes);
}

/* The entry of the instruction, of which only the lines are missing. */
static void vmem_describe(const struct compute_unit *c, struct cu_vmem *e,
                          const struct isa_memory *m, const struct cu_wave *w, uint64_t now)
{
    e->mask = m->mask;
    e->kind = m->kind;
    e->bytes = m->bytes;
    e->returns = m->kind == ISA_MEMORY_LOAD || m->returns;
    e->raises_lgkm = (e->inst.flags & ISA_RAISES_LGKM) != 0;
    e->pace = 0;
    e->scope = m->scope;
    e->is_coherent = m->kind == ISA_MEMORY_LOAD && m->glc;
    e->wave = (uint16_t)cu_wave_number(c, w);
    e->issued = now;
    e->first_send = now + compute_unit_params(c)->vmem_latency;
}

/* Works out and checks the addresses. False: the run has failed. */
static bool vmem_find_addresses(struct compute_unit *c, struct isa_context *context,
                                struct cu_wave *w, struct cu_vmem *e, struct isa_memory *m,
                                struct isa_reach *reach)
{
    enum isa_status status = isa_memory_addresses(context, cu_scalars(c, w), &e->inst, m);
    if (status != ISA_OK) {
        cu_fault(c, w, &e->inst, e->pc, UINT32_MAX, isa_status_text(status));
        return false;
    }
    e->is_fence = m->kind == ISA_MEMORY_CACHE_OP;
    if (e->is_fence)
        m->mask = 0;
    if (!m->mask)
        return true;
    isa_memory_reach(m, reach);
    return vmem_check(c, w, e, m, reach);
}

/* Starts a vector memory instruction; there is room for it. */
static enum cu_issue vmem_issue(struct compute_unit *c, struct cu_wave *w,
                                const struct isa_inst *inst, uint64_t now)
{
    struct isa_wave *s = cu_scalars(c, w);
    struct isa_context context = cu_context(c, w);
    unsigned number = index_pool_acquire(&c->free_vmem), place = index_pool_acquire(&c->free_rests);
    struct cu_vmem *e = cu_vmem_at(c, number);
    struct cu_vmem_rest *rest = cu_vmem_rest_at(c, place);
    struct isa_memory *m = &rest->access;
    e->inst = *inst;
    e->pc = s->pc;
    struct isa_reach reach;
    if (!vmem_find_addresses(c, &context, w, e, m, &reach)) {
        index_pool_release(&c->free_vmem, number);
        index_pool_release(&c->free_rests, place);
        return ISSUE_FAULT;
    }
    if (unlikely(execution_observer))
        work_record_vector(c->io.base.leaf, cu_wave_number(c, w), s, inst, &context, m);
    if (m->lds_mask)
        isa_memory_lds(&context, inst, m);
    vmem_describe(c, e, m, w, now);
    vmem_stage(c, &context, rest, e);
    vmem_coalesce(c, e, m, &reach, number);
    vmem_count_poll(c, w, e, rest);
    vmem_keep(c, e, place);
    if (e->is_fence)
        e->remaining = 1;
    w->vm += (inst->flags & ISA_RAISES_VM) != 0;
    w->lgkm += e->raises_lgkm;
    w->flat += e->raises_lgkm;
    vmem_enqueue(c, w, e, number);
    c->io.stats.vmem_instructions++;
    s->pc += inst->size;
    if (!e->remaining)
        vmem_retire(c, w, now);
    return ISSUE_DONE;
}

static void vmem_send_store(struct compute_unit *c, const struct cu_vmem *e, unsigned number,
                            uint16_t tag, uint32_t pid)
{
    const uint8_t *stage = cu_stage(c, e);
    struct coalesced_line line = cu_coalesced(c, tag);
    void *payload = compute_unit_vmem_send_write(c, tag, line.address, pid, (enum scope)e->scope);
    uint8_t *data = mem_write_data(payload, CU_LINE);
    if (e->shape == VMEM_IN_LINES)
        *mem_write_mask(payload, CU_LINE) =
            coalescer_inside_to_line(cu_lane_offsets(c, number), e->bytes, line.lanes, stage, data);
    else if (e->rest == CU_NONE)
        *mem_write_mask(payload, CU_LINE) =
            coalescer_linear_to_line(e->bytes, e->base, line.address, stage, data);
    else
        *mem_write_mask(payload, CU_LINE) =
            coalescer_to_line(&cu_vmem_rest_at(c, e->rest)->access, line, stage, data);
}

_Static_assert((int)ISA_ATOMIC_SWAP == (int)ATOMIC_OP_SWAP
                   && (int)ISA_ATOMIC_FADD == (int)ATOMIC_OP_FADD
                   && (int)ISA_ATOMIC_PK_ADD_BF16 == (int)ATOMIC_OP_PK_ADD_BF16,
               "the ISA's atomics have the order of the protocol's");
_Static_assert((int)ISA_SCOPE_WAVEFRONT == (int)SCOPE_WAVEFRONT
                   && (int)ISA_SCOPE_SYSTEM == (int)SCOPE_SYSTEM,
               "the ISA's scopes have the order of the protocol's");

static void vmem_send_atomic(struct compute_unit *c, const struct cu_vmem *e, const uint8_t *stage,
                             uint16_t tag, uint32_t pid)
{
    struct coalesced_line line = cu_coalesced(c, tag);
    const struct cu_vmem_rest *rest = cu_vmem_rest_at(c, e->rest);
    const struct isa_memory *m = &rest->access;
    void *payload = compute_unit_vmem_send_atomic(c, tag, line.address, pid,
                                                  (enum atomic_op)m->atomic, m->bytes, m->returns);
    *mem_atomic_mask(payload, CU_LINE) =
        coalescer_to_line(m, line, stage, mem_atomic_operand(payload, CU_LINE));
    if (m->atomic == ISA_ATOMIC_CMPSWAP || m->atomic == ISA_ATOMIC_FCMPSWAP)
        coalescer_to_line(m, line, rest->compare, mem_atomic_compare(payload, CU_LINE));
}

static void vmem_send_line(struct compute_unit *c, const struct cu_vmem *e, unsigned number,
                           uint16_t tag)
{
    uint32_t pid = cu_group_at(c, cu_wave_at(c, e->wave)->group)->pid;
    if (e->kind == ISA_MEMORY_LOAD)
        compute_unit_vmem_send_read(c, tag, cu_coalesced(c, tag).address, CU_LINE, pid,
                                    e->is_coherent);
    else if (e->kind == ISA_MEMORY_STORE)
        vmem_send_store(c, e, number, tag, pid);
    else
        vmem_send_atomic(c, e, cu_stage(c, e), tag, pid);
}

/* BUFFER_WBINVL1 and _VOL name no scope. Compilers make them of __threadfence() and of
 * __threadfence_system() alike, so both instructions write back and invalidate at system scope.
 * Targets with operations on the L2 use these beyond the agent, and gfx942's operations name their
 * scope. */
static void vmem_send_fence(struct compute_unit *c, const struct isa_memory *m, uint16_t tag)
{
    bool whole = m->cache_op == ISA_CACHE_INVALIDATE_VECTOR;
    enum scope scope = whole ? isa_traits[cu_target(c)].l2_fences ? SCOPE_AGENT : SCOPE_SYSTEM
                             : (enum scope)m->scope;
    compute_unit_vmem_send_fence(c, tag, scope, whole || m->cache_op == ISA_CACHE_ACQUIRE,
                                 whole || m->cache_op == ISA_CACHE_RELEASE);
}

static inline uint16_t vmem_next_line(const struct compute_unit *c, unsigned line)
{
    unsigned next = cu_line_next(cu_line_at(c, line));
    return next == CU_LAST_LINE ? CU_NONE : (uint16_t)next;
}

/* Sends up to vmem_width lines of the oldest instructions. True: there is more to send, in the next
 * cycle. */
static bool vmem_send(struct compute_unit *c, uint64_t now)
{
    unsigned queue = compute_unit_params(c)->vmem_queue, width;
    for (width = compute_unit_params(c)->vmem_width; width && c->vmem_send_count; width--) {
        unsigned number = arena_at(uint16_t, c->vmem_order_at)[c->vmem_send_head];
        struct cu_vmem *e = cu_vmem_at(c, number);
        if (e->first_send > now || !compute_unit_vmem_can_send(c))
            return false;
        if (e->is_fence) {
            vmem_send_fence(c, &cu_vmem_rest_at(c, e->rest)->access, (uint16_t)(CU_LINES + number));
        } else {
            uint16_t tag = e->unsent;
            vmem_send_line(c, e, number, tag);
            e->unsent = vmem_next_line(c, tag);
            if (e->pace)
                e->first_send = now + 1 + e->pace;
        }
        if (e->is_fence || e->unsent == CU_NONE) {
            c->vmem_send_head = (c->vmem_send_head + 1) % queue;
            c->vmem_send_count--;
        }
    }
    return c->vmem_send_count > 0;
}

/* Cycle at which the next line can go out, whatever the port says. */
static uint64_t vmem_next_send(const struct compute_unit *c)
{
    if (!c->vmem_send_count)
        return ENGINE_NEVER;
    return cu_vmem_at(c, arena_at(uint16_t, c->vmem_order_at)[c->vmem_send_head])->first_send;
}

/* Bytes of a line to the stage. */
static inline void vmem_stage_line(struct compute_unit *c, struct cu_vmem *e, unsigned number,
                                   struct coalesced_line line, const uint8_t *data)
{
    uint8_t *stage = cu_stage(c, e);
    if (e->shape == VMEM_LINEAR)
        coalescer_linear_from_line(e->bytes, e->base, line.address, data, stage);
    else if (e->shape == VMEM_IN_LINES && e->bytes == 4)
        coalescer_dwords_from_line(cu_lane_offsets(c, number), line.lanes, data, stage);
    else if (e->shape == VMEM_IN_LINES)
        coalescer_inside_from_line(cu_lane_offsets(c, number), e->bytes, line.lanes, data, stage);
    else
        coalescer_from_line(&cu_vmem_rest_at(c, e->rest)->access, line, data, stage);
}

static void vmem_receive(struct compute_unit *c, uint64_t now)
{
    const struct mem_reply *m;
    while ((m = compute_unit_vmem_peek_reply(c))) {
        unsigned number =
            m->tag >= CU_LINES ? m->tag - (unsigned)CU_LINES : cu_line_owner(cu_line_at(c, m->tag));
        struct cu_vmem *e = cu_vmem_at(c, number);
        if (!e->is_fence) {
            if (e->returns)
                vmem_stage_line(c, e, number, cu_coalesced(c, m->tag),
                                mem_data_data(compute_unit_vmem_reply_payload(c), CU_LINE));
            profile_served(c, cu_wave_at(c, e->wave), e->pc, m);
            index_pool_release(&c->free_lines, m->tag);
        }
        compute_unit_vmem_pop_reply(c);
        if (--e->remaining == 0)
            vmem_retire(c, cu_wave_at(c, e->wave), now);
        if (index_pool_used(&c->free_lines) == CU_LINES - COALESCER_LINES_MAX)
            vmem_unblock(c, now);
    }
}
