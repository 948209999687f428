/* AMD's wavefronts as threads of a debugger. Executors report to checks.c, which calls the
 * functions of this file's row. */
#include <string.h>

#include "base/number.h"
#include "components/amd/isa/isa.h"
#include "components/checks/checks.h"
#include "components/memory/page_table/program_table.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/platform_table.h"

#include "debug_serve.h"
#include "debug_stores.h"
#include "debugger.h"

struct debug_wave {
    struct debug_thread thread; /* first */
    uint32_t target;            /* enum isa_target */
    const struct isa_wave *scalars;
    struct isa_context context;
};

static void *waves[CHECK_SLOTS]; /* struct debug_wave, by slot */

static const struct debug_wave *wave_of(const struct debug_thread *t)
{
    return (const struct debug_wave *)(const void *)t;
}

static uint64_t wave_pc(const struct debug_thread *t)
{
    return wave_of(t)->scalars ? wave_of(t)->scalars->pc : 0;
}

static struct debug_place wave_place(const struct debug_thread *t, unsigned lane, uint64_t address)
{
    const struct isa_context *c = &wave_of(t)->context;
    uint64_t local = address - c->shared_aperture, own = address - c->private_aperture;
    if (c->shared_aperture && local >> 32 == 0)
        return (struct debug_place){c->lds + local, 0,
                                    local < c->lds_size ? c->lds_size - local : 0};
    if (!c->private_aperture || own >> 32)
        return (struct debug_place){NULL, address, UINT64_MAX};
    address = isa_memory_private(wave_of(t)->target, c, wave_of(t)->scalars, (uint32_t)own, lane);
    return (struct debug_place){NULL, address, 4 - own % 4};
}

static void wave_registers(const struct debug_thread *t, struct debug_registers *registers,
                           const uint32_t **vectors)
{
    const struct debug_wave *w = wave_of(t);
    const struct isa_context *c = &w->context;
    *registers = (struct debug_registers){.shared_aperture = c->shared_aperture,
                                          .private_aperture = c->private_aperture,
                                          .mode = w->scalars->mode,
                                          .status = w->scalars->status,
                                          .scc = w->scalars->scc,
                                          .vgprs = c->vgpr_count,
                                          .accumulators = c->agpr_count,
                                          .lds_bytes = c->lds_size};
    memcpy(registers->sgpr, w->scalars->sgpr, sizeof registers->sgpr);
    *vectors = c->vgpr;
}

static uint64_t wave_disassemble(const struct debug_thread *t, uint64_t address, char *text,
                                 size_t room)
{
    uint8_t bytes[ISA_INST_BYTES_MAX];
    struct isa_inst inst;
    size_t size = sizeof bytes;
    while (size && !debug_serve_read(t, 0, address, bytes, size))
        size -= 4;
    if (!size || isa_decode(wave_of(t)->target, bytes, (unsigned)size, &inst) < 0)
        return 0;
    if (isa_format(&inst, address, text, room) >= room)
        text[room - 1] = '\0';
    return inst.size;
}

/* ---- accesses ---- */

/* An instruction of LDS alone has offsets in it. */
static bool describe_local(const struct observed_instruction *s, struct debug_access *a)
{
    struct isa_lds_access local;
    uint64_t aperture = s->context->shared_aperture;
    if (!isa_lds_access_describe(s->inst, &local))
        return false;
    unsigned number = isa_register(s->context, s->inst->src[0]);
    *a = (struct debug_access){.writes = local.kind != ISA_MEMORY_LOAD,
                               .reads = local.kind != ISA_MEMORY_STORE,
                               .count = local.count,
                               .base = {aperture + local.offset[0], aperture + local.offset[1]},
                               .span = local.bytes,
                               .mask = s->mask,
                               .address = s->context->vgpr + (size_t)number * ISA_LANES,
                               .is_short = true};
    return true;
}

static bool describe_access(const struct observed_instruction *s, struct debug_access *a)
{
    if (!s->mask)
        return false;
    if (s->inst && s->inst->unit == ISA_UNIT_LDS)
        return describe_local(s, a);
    uint64_t bytes = s->bytes ? s->bytes : s->memory ? s->memory->bytes : 0;
    *a = (struct debug_access){.writes = s->memory && s->memory->kind != ISA_MEMORY_LOAD,
                               .reads = !s->memory || s->memory->kind != ISA_MEMORY_STORE,
                               .count = 1,
                               .span = s->apart ? (uint64_t)s->apart * divide_up(bytes, 4) : bytes,
                               .mask = s->mask,
                               .address = s->address};
    return s->address;
}

/* ---- stores that are on their way ---- */

static void note_store(uint64_t address, const uint8_t *bytes, const struct isa_memory *m,
                       unsigned lane)
{
    if (!(m->swizzle_mask >> lane & 1)) {
        debug_stores_write(address, bytes, m->bytes);
        return;
    }
    for (unsigned i = 0; i < m->bytes; i++)
        debug_stores_write(isa_memory_byte(m, lane, i), bytes + i, 1);
}

/* An instruction that writes global memory is executed now, and is in caches for long. */
static void note_stores(const struct debug_wave *w, const struct observed_instruction *s)
{
    const struct isa_memory *m = s->memory;
    uint8_t data[ISA_LANES * 16], compare[ISA_LANES * 16];
    bool compares = m->atomic == ISA_ATOMIC_CMPSWAP || m->atomic == ISA_ATOMIC_FCMPSWAP;
    isa_memory_store(&w->context, s->inst, m, data, m->bytes);
    if (m->kind == ISA_MEMORY_ATOMIC && compares)
        isa_memory_compare_data(&w->context, s->inst, m->mask, compare, m->bytes);
    for (uint64_t rest = m->mask; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        uint8_t *operand = data + lane * m->bytes;
        uint64_t value;
        if (m->kind == ISA_MEMORY_STORE) {
            note_store(m->address[lane], operand, m, lane);
        } else if (debug_serve_read(&w->thread, lane, m->address[lane], &value, m->bytes)) {
            isa_atomic_apply((enum isa_atomic)m->atomic, m->bytes, &value, operand,
                             compare + lane * m->bytes, NULL);
            debug_stores_write(m->address[lane], &value, m->bytes);
        }
    }
}

/* ---- the row of checks ---- */

static const struct debug_kind kind = {.bytes = sizeof(struct debug_wave),
                                       .end_bytes = 4, /* s_endpgm */
                                       .pc = wave_pc,
                                       .place = wave_place,
                                       .registers = wave_registers,
                                       .disassemble = wave_disassemble};

static void begin_thread(const struct check_wave *wave)
{
    const struct observed_wavefront *what = &wave->observed;
    struct debug_wave *w = check_slot_memory(waves, wave->slot, sizeof *w);
    *w = (struct debug_wave){.thread = {.kind = &kind,
                                        .identity = {.launch = (uint64_t)what->dispatch + 1,
                                                     .gpu = what->gpu,
                                                     .number = what->number,
                                                     .lanes = ISA_LANES},
                                        .program = what->program,
                                        .pid = what->placement->pid},
                             .target = what->target};
    memcpy(w->thread.identity.group, what->group, sizeof what->group);
    debugger_begin(&w->thread, program_kernel_name(what->program, what->kernel));
}

static uint64_t cycle_of(const struct check_wave *wave)
{
    if (wave->unit >= engine_base.platform->instance_count)
        return 0;
    return engine.domains[platform_domain_of(wave->unit)].cycle;
}

static void step_thread(const struct check_wave *wave, const struct observed_instruction *s)
{
    struct debug_wave *w = waves[wave->slot];
    struct debug_access access;
    w->scalars = s->scalars;
    w->context = *s->context;
    uint64_t cycle = cycle_of(wave);
    debugger_event(&w->thread, s->pc, cycle);
    if (cycle && s->memory && s->memory->mask
        && (s->memory->kind == ISA_MEMORY_STORE || s->memory->kind == ISA_MEMORY_ATOMIC))
        note_stores(w, s);
    if (debug_breakpoints_any() && describe_access(s, &access))
        debugger_access(&w->thread, &access);
}

static void end_thread(const struct check_wave *wave)
{
    debugger_end(waves[wave->slot]);
}

const struct check check_debugger = {.begin = begin_thread, .step = step_thread, .end = end_thread};
