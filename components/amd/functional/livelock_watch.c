/* See livelock_watch.h. A store is told of when the next instruction is, as it is done by then. */
#include "livelock_watch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "observe.h"

enum { LDS_KEPT = 64 << 10 };

static struct isa_memory stored; /* by the instruction before; mask 0: none */
static struct isa_scalar stored_scalar;
static bool stores_scalar;
static bool stores_lds;
static uint8_t lds[LDS_KEPT];

void stuck_begin_turn(const struct isa_context *context)
{
    stored.mask = 0;
    stores_scalar = stores_lds = false;
    if (context->lds_size <= LDS_KEPT)
        memcpy(lds, context->lds, context->lds_size);
}

static void settle_lds(const struct isa_context *context)
{
    if (context->lds_size > LDS_KEPT) {
        repeats_change();
    } else if (memcmp(lds, context->lds, context->lds_size) != 0) {
        memcpy(lds, context->lds, context->lds_size);
        repeats_change();
    }
}

void stuck_end_turn(struct host_view *view, const struct isa_context *context)
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
                repeats_store(address, bytes, size);
            }
        }
    }
    unsigned size = stores_scalar ? 4u * stored_scalar.valid : 0;
    if (size) {
        host_view_read(view, stored_scalar.address, bytes, size);
        repeats_store(stored_scalar.address, bytes, size);
    }
    if (stores_lds)
        settle_lds(context);
    stored.mask = 0;
    stores_scalar = stores_lds = false;
}

static void step_vector(struct isa_context *context, const struct isa_wave *wave,
                        const struct isa_inst *inst, struct repeats *repeats)
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
    enum repeats_access access = !m.mask                      ? REPEATS_SHARED
                                 : m.swizzle_mask             ? REPEATS_OWN
                                 : writes || m.glc || m.scope ? REPEATS_COHERENT
                                                              : REPEATS_PLAIN;
    repeats_read(repeats, access, wave->pc, m.address[lane]);
}

static void step_scalar(const struct isa_context *context, const struct isa_wave *wave,
                        const struct isa_inst *inst, struct repeats *repeats)
{
    if (isa_scalar_address(context, wave, inst, &stored_scalar) != ISA_OK)
        return;
    const struct isa_scalar *s = &stored_scalar;
    stores_scalar = s->kind == ISA_SCALAR_STORE || s->kind == ISA_SCALAR_ATOMIC;
    if (s->kind == ISA_SCALAR_LOAD || s->kind == ISA_SCALAR_ATOMIC)
        repeats_read(repeats, stores_scalar ? REPEATS_COHERENT : REPEATS_OWN, wave->pc, s->address);
}

static void step_lds(const struct isa_context *context, const struct isa_wave *wave,
                     const struct isa_inst *inst, struct repeats *repeats)
{
    stores_lds = (inst->flags & (ISA_IS_LOAD | ISA_IS_STORE | ISA_IS_ATOMIC)) != ISA_IS_LOAD;
    if (inst->src[0] < ISA_VGPR || inst->src[0] >= ISA_VGPR + 256 || !isa_wave_exec(wave))
        return;
    unsigned lane = (unsigned)__builtin_ctzll(isa_wave_exec(wave));
    repeats_read(repeats, REPEATS_SHARED, wave->pc,
                 context->vgpr[(size_t)(inst->src[0] - ISA_VGPR) * ISA_LANES + lane]
                     + (uint32_t)inst->simm);
}

void stuck_step(struct host_view *view, struct isa_context *context, const struct isa_wave *wave,
                const struct isa_inst *inst, struct repeats *repeats)
{
    stuck_end_turn(view, context);
    if (inst->flags & ISA_IS_TIME)
        repeats_change();
    else if (inst->unit == ISA_UNIT_VMEM)
        step_vector(context, wave, inst, repeats);
    else if (inst->unit == ISA_UNIT_SMEM)
        step_scalar(context, wave, inst, repeats);
    else if (inst->unit == ISA_UNIT_LDS && inst->flags & ISA_IS_SYNC)
        repeats_change();
    else if (inst->unit == ISA_UNIT_LDS)
        step_lds(context, wave, inst, repeats);
}

uint64_t stuck_state(const struct isa_wave *wave, const uint32_t *vgpr, uint32_t registers)
{
    const uint64_t scalars[] = {wave->pc, (uint64_t)wave->mode << 32 | wave->status,
                                (uint64_t)wave->trapsts << 32 | wave->ib_sts,
                                (uint64_t)wave->scc << 8 | wave->trapped};
    uint64_t state = repeats_hash(0, wave->sgpr, sizeof wave->sgpr);
    state = repeats_hash(state, scalars, sizeof scalars);
    return repeats_hash(state, vgpr, (size_t)registers * ISA_LANES * sizeof *vgpr);
}

void stuck_text(const struct program_table *program, const struct repeats *repeats, char *text,
                size_t size)
{
    char where[160];
    if (repeats->access == REPEATS_NONE) {
        snprintf(text, size, "it loops and reads no memory");
    } else if (repeats->access == REPEATS_SHARED) {
        snprintf(text, size, "it waits for a change of LDS at 0x%" PRIx64, repeats->address);
    } else {
        program_describe(program, repeats->address, where, sizeof where);
        snprintf(text, size, "it waits for a change at 0x%" PRIx64 " (%s)", repeats->address,
                 where);
    }
}
