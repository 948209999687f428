/* Scalar memory: loads of 1 to 16 dwords, stores and atomics through the scalar cache, one line
 * request a cycle.
 *
 * Answers come in any order, as on the hardware: programs wait for lgkmcnt(0). A load touches one
 * or two lines; registers are written when all have come. The tag of a request is twice the number
 * of its entry plus the part. */
#include "cu_scalar_memory.h"

#include "compute_unit.gen.h"

#include "base/likely.h"
#include "base/number.h"

#include "compute_unit_internal.h"
#include "compute_unit_state.h"
#include "cu_vector_memory.h"

/* First and last byte of the part of an access that lies in its line number `part`. */
static void smem_part(const struct cu_smem *e, unsigned part, uint64_t *start, uint64_t *end)
{
    uint64_t first = e->access.address, last = first + 4u * e->access.valid;
    uint64_t boundary = round_down(first, CU_LINE) + CU_LINE;
    *start = part ? boundary : first;
    *end = part || last < boundary ? last : boundary;
}

static bool smem_is_atomic(const struct cu_smem *e)
{
    return e->access.kind == ISA_SCALAR_ATOMIC;
}

static bool smem_loads(const struct cu_smem *e)
{
    return e->access.kind == ISA_SCALAR_LOAD || (smem_is_atomic(e) && e->access.glc);
}

/* `data`: CU_SMEM_DATA dwords, of which a load has brought the valid ones. */
static void smem_complete(struct compute_unit *c, const struct cu_smem *e, uint32_t *data,
                          uint64_t now)
{
    struct cu_wave *w = cu_wave_at(c, e->wave);
    if (smem_loads(e)) {
        for (unsigned i = e->access.valid; i < e->access.dwords; i++)
            data[i] = 0;
        isa_scalar_load(cu_scalars(c, w), &e->inst, data);
    }
    w->lgkm--;
    index_pool_release(&c->free_smem, cu_smem_number(c, e));
    vmem_unblock(c, now);
    wave_check_counters(c, w, now);
}

/* False: the run has failed. */
static bool smem_check(struct compute_unit *c, struct cu_wave *w, const struct isa_inst *inst,
                       const struct isa_scalar *access)
{
    uint64_t pc = cu_scalars(c, w)->pc;
    unsigned bytes = 4u * access->valid;
    if (bytes && !bounds_hold(c, w, access->address, access->address + bytes)) {
        bounds_fault(c, w, inst, pc, UINT32_MAX,
                     &(struct work_fault_access){isa_scalar_name(access), bytes, access->address});
        return false;
    }
    if (access->kind == ISA_SCALAR_ATOMIC && bytes && access->address % bytes) {
        cu_fault(c, w, inst, pc, UINT32_MAX, "scalar atomic at an address that is not aligned");
        return false;
    }
    return true;
}

/* Starts a scalar memory instruction; there is room for it. */
static enum cu_issue smem_issue(struct compute_unit *c, struct cu_wave *w,
                                const struct isa_inst *inst, uint64_t now)
{
    struct isa_wave *s = cu_scalars(c, w);
    struct isa_context context = cu_context(c, w);
    struct isa_scalar access;
    enum isa_status status = isa_scalar_address(&context, s, inst, &access);
    if (status != ISA_OK) {
        cu_fault(c, w, inst, s->pc, UINT32_MAX, isa_status_text(status));
        return ISSUE_FAULT;
    }
    bool stores = access.kind == ISA_SCALAR_STORE || access.kind == ISA_SCALAR_ATOMIC;
    bool moves = stores || access.kind == ISA_SCALAR_LOAD;
    if (moves && !smem_check(c, w, inst, &access))
        return ISSUE_FAULT;
    if (unlikely(execution_observer))
        work_record_scalar(c->io.base.leaf, cu_wave_number(c, w), s, inst, &context, &access);
    c->io.stats.smem_instructions++;
    uint64_t pc = s->pc;
    s->pc += inst->size;
    if (access.kind == ISA_SCALAR_TIME) {
        uint32_t time[2] = {(uint32_t)now, (uint32_t)(now >> 32)};
        isa_scalar_load(s, inst, time);
        return ISSUE_DONE;
    }
    if (access.kind == ISA_SCALAR_CACHE_OP && access.cache_op != ISA_CACHE_INVALIDATE_SCALAR)
        return ISSUE_DONE; /* the scalar cache is write-through: nothing to write back */
    uint64_t end = access.address + 4u * access.valid;
    struct cu_smem *e = cu_smem_at(c, index_pool_acquire(&c->free_smem));
    unsigned parts = moves && end > round_down(access.address, CU_LINE) + CU_LINE ? 2 : 1;
    *e = (struct cu_smem){.inst = *inst,
                          .access = access,
                          .wave = (uint16_t)cu_wave_number(c, w),
                          .parts = (uint8_t)parts,
                          .remaining = (uint8_t)parts};
    profile_scalar(e, pc);
    if (stores)
        isa_scalar_store_data(s, inst, cu_smem_data(c, e));
    w->lgkm++;
    if (moves && !access.valid)
        smem_complete(c, e, cu_smem_data(c, e), now);
    else
        c->smem_order[(c->smem_send_head + c->smem_send_count++) % CU_SMEM] =
            (uint8_t)cu_smem_number(c, e);
    return ISSUE_DONE;
}

static void smem_send_store(struct compute_unit *c, const struct cu_smem *e, uint16_t tag,
                            uint64_t start, uint64_t end, uint32_t pid)
{
    uint64_t line = round_down(start, CU_LINE);
    void *payload = compute_unit_smem_send_write(c, tag, line, pid, SCOPE_WAVEFRONT);
    *mem_write_mask(payload, CU_LINE) =
        coalescer_byte_mask((unsigned)(start - line), (unsigned)(end - start));
    memcpy((uint8_t *)mem_write_data(payload, CU_LINE) + (start - line),
           (const uint8_t *)cu_smem_data(c, e) + (start - e->access.address), end - start);
}

static void smem_send_atomic(struct compute_unit *c, const struct cu_smem *e, uint16_t tag,
                             uint32_t pid)
{
    unsigned bytes = 4u * e->access.dwords, place = (unsigned)(e->access.address % CU_LINE);
    const uint32_t *data = cu_smem_data(c, e);
    void *payload =
        compute_unit_smem_send_atomic(c, tag, e->access.address - place, pid,
                                      (enum atomic_op)e->access.atomic, bytes, e->access.glc);
    *mem_atomic_mask(payload, CU_LINE) = coalescer_byte_mask(place, bytes);
    memcpy((uint8_t *)mem_atomic_operand(payload, CU_LINE) + place, data, bytes);
    memcpy((uint8_t *)mem_atomic_compare(payload, CU_LINE) + place, data + e->access.dwords, bytes);
}

/* Sends one request of the oldest instruction. True: there is more to send, in the next cycle. */
static bool smem_send(struct compute_unit *c)
{
    if (!compute_unit_smem_can_send(c))
        return false;
    unsigned number = c->smem_order[c->smem_send_head];
    struct cu_smem *e = cu_smem_at(c, number);
    uint16_t tag = (uint16_t)(number * 2 + e->unsent);
    uint32_t pid = cu_group_at(c, cu_wave_at(c, e->wave)->group)->pid;
    uint64_t start, end;
    smem_part(e, e->unsent, &start, &end);
    if (e->access.kind == ISA_SCALAR_CACHE_OP)
        compute_unit_smem_send_fence(c, tag, SCOPE_AGENT, true, false);
    else if (e->access.kind == ISA_SCALAR_STORE)
        smem_send_store(c, e, tag, start, end, pid);
    else if (smem_is_atomic(e))
        smem_send_atomic(c, e, tag, pid);
    else
        compute_unit_smem_send_read(c, tag, start, (uint32_t)(end - start), pid, false);
    if (++e->unsent == e->parts) {
        c->smem_send_head = (c->smem_send_head + 1) % CU_SMEM;
        c->smem_send_count--;
    }
    return c->smem_send_count > 0;
}

static void smem_receive(struct compute_unit *c, uint64_t now)
{
    const struct mem_reply *m;
    while ((m = compute_unit_smem_peek_reply(c))) {
        struct cu_smem *e = cu_smem_at(c, m->tag / 2);
        uint32_t one[CU_SMEM_DATA], *data = e->parts == 1 ? one : cu_smem_data(c, e);
        if (smem_loads(e)) {
            const uint8_t *line = mem_data_data(compute_unit_smem_reply_payload(c), CU_LINE);
            uint64_t start, end;
            smem_part(e, m->tag % 2, &start, &end);
            memcpy((uint8_t *)data + (start - e->access.address), line + start % CU_LINE,
                   end - start);
        }
        if (e->access.kind != ISA_SCALAR_CACHE_OP)
            profile_scalar_served(c, e, m);
        compute_unit_smem_pop_reply(c);
        if (--e->remaining == 0)
            smem_complete(c, e, data, now);
    }
}
