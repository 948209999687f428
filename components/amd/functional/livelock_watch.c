/* Notes the accesses of watched wavefronts, as livelock_watch.h declares. A store is noted with the
 * next instruction, as it is done by then. */
#include "livelock_watch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"

#include "observe.h"

enum { LDS_KEPT = 64 << 10 };

static struct isa_memory stored; /* store of the instruction before; mask 0: none */
static struct isa_scalar stored_scalar;
static bool stores_scalar;
static bool stores_lds;
static uint8_t lds[LDS_KEPT];

void livelock_watch_begin_turn(const struct isa_context *context)
{
    stored.mask = 0;
    stores_scalar = stores_lds = false;
    if (context->lds_size <= LDS_KEPT)
        memcpy(lds, context->lds, context->lds_size);
}

static void check_lds(const struct isa_context *context)
{
    if (context->lds_size > LDS_KEPT) {
        livelock_change();
    } else if (memcmp(lds, context->lds, context->lds_size) != 0) {
        memcpy(lds, context->lds, context->lds_size);
        livelock_change();
    }
}

void livelock_watch_end_turn(struct host_view *view, const struct isa_context *context)
{
    uint8_t bytes[64];
    for (uint64_t rest = stored.mask; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        bool whole =
            !((stored.swizzle_mask | stored.straddle_mask | stored.short_mask) >> lane & 1);
        for (unsigned i = 0; i < stored.bytes; i += whole ? stored.bytes : 1) {
            uint64_t address = isa_memory_byte(&stored, lane, i);
            unsigned size = whole ? stored.bytes : 1;
            if (host_view_is_allocated(view, address, size)) {
                host_view_read(view, address, bytes, size);
                livelock_store(address, bytes, size);
            }
        }
    }
    unsigned size = stores_scalar ? 4u * stored_scalar.valid : 0;
    if (size) {
        host_view_read(view, stored_scalar.address, bytes, size);
        livelock_store(stored_scalar.address, bytes, size);
    }
    if (stores_lds)
        check_lds(context);
    stored.mask = 0;
    stores_scalar = stores_lds = false;
}

static void step_vector(struct isa_context *context, const struct isa_wave *wave,
                        const struct isa_inst *inst, struct livelock *livelock)
{
    struct isa_memory m;
    if (!observe_addresses(context, wave, inst, &m) || m.kind == ISA_MEMORY_CACHE_OP)
        return;
    bool writes = m.kind != ISA_MEMORY_LOAD;
    stores_lds = m.lds_mask != 0 || m.unusual != 0;
    if (writes)
        stored = m;
    if (!(m.mask | m.lds_mask) || m.kind == ISA_MEMORY_STORE)
        return;
    unsigned lane = (unsigned)__builtin_ctzll(m.mask ? m.mask : m.lds_mask);
    enum livelock_access access = LIVELOCK_PLAIN;
    if (!m.mask)
        access = LIVELOCK_SHARED;
    else if (m.swizzle_mask)
        access = LIVELOCK_OWN;
    else if (writes || m.glc || m.scope)
        access = LIVELOCK_COHERENT;
    livelock_read(livelock, access, wave->pc, m.address[lane]);
}

static void step_scalar(const struct isa_context *context, const struct isa_wave *wave,
                        const struct isa_inst *inst, struct livelock *livelock)
{
    if (isa_scalar_address(context, wave, inst, &stored_scalar) != ISA_OK)
        return;
    const struct isa_scalar *s = &stored_scalar;
    stores_scalar = s->kind == ISA_SCALAR_STORE || s->kind == ISA_SCALAR_ATOMIC;
    if (s->kind == ISA_SCALAR_LOAD || s->kind == ISA_SCALAR_ATOMIC)
        livelock_read(livelock, stores_scalar ? LIVELOCK_COHERENT : LIVELOCK_OWN, wave->pc,
                      s->address);
}

static void step_lds(const struct isa_context *context, const struct isa_wave *wave,
                     const struct isa_inst *inst, struct livelock *livelock)
{
    stores_lds = (inst->flags & (ISA_IS_LOAD | ISA_IS_STORE | ISA_IS_ATOMIC)) != ISA_IS_LOAD;
    if (inst->src[0] < ISA_VGPR || inst->src[0] >= ISA_VGPR + 256 || !isa_wave_exec(wave))
        return;
    unsigned lane = (unsigned)__builtin_ctzll(isa_wave_exec(wave));
    livelock_read(livelock, LIVELOCK_SHARED, wave->pc,
                  context->vgpr[(size_t)(inst->src[0] - ISA_VGPR) * ISA_LANES + lane]
                      + (uint32_t)inst->simm);
}

void livelock_watch_step(struct host_view *view, struct isa_context *context,
                         const struct isa_wave *wave, const struct isa_inst *inst,
                         struct livelock *livelock)
{
    livelock_watch_end_turn(view, context);
    if (inst->flags & ISA_IS_TIME)
        livelock_change();
    else if (inst->unit == ISA_UNIT_VMEM)
        step_vector(context, wave, inst, livelock);
    else if (inst->unit == ISA_UNIT_SMEM)
        step_scalar(context, wave, inst, livelock);
    else if (inst->unit == ISA_UNIT_LDS && inst->flags & ISA_IS_SYNC)
        livelock_change();
    else if (inst->unit == ISA_UNIT_LDS)
        step_lds(context, wave, inst, livelock);
}

uint64_t livelock_watch_state(const struct isa_wave *wave, const uint32_t *vgpr, uint32_t registers)
{
    const uint64_t scalars[] = {wave->pc, (uint64_t)wave->mode << 32 | wave->status,
                                (uint64_t)wave->trapsts << 32 | wave->ib_sts,
                                (uint64_t)wave->scc << 8 | wave->trapped};
    uint64_t state = hash_bytes(0, wave->sgpr, sizeof wave->sgpr);
    state = hash_bytes(state, scalars, sizeof scalars);
    return hash_bytes(state, vgpr, (size_t)registers * ISA_LANES * sizeof *vgpr);
}

void livelock_watch_text(const struct program_table *program, const struct livelock *livelock,
                         char *text, size_t size)
{
    char where[160];
    if (livelock->access == LIVELOCK_NONE) {
        snprintf(text, size, "it loops and reads no memory");
    } else if (livelock->access == LIVELOCK_SHARED) {
        snprintf(text, size, "it waits for a change of LDS at 0x%" PRIx64, livelock->address);
    } else {
        program_describe(program, livelock->address, where, sizeof where);
        snprintf(text, size, "it waits for a change at 0x%" PRIx64 " (%s)", livelock->address,
                 where);
    }
}
