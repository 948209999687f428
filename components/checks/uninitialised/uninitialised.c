/* `--check uninitialised`: follows values that were never written through AMD's registers.
 *
 * A bit for each vector register and lane, and for each bit of a scalar register, says that its
 * value depends on something that was never written: device memory fresh from an allocation, LDS
 * and private memory of a work-group that begins, registers that a wavefront does not begin with.
 * Copying such a value is no mistake; a value that was computed from one and is stored is, and so
 * are addresses and conditions. A value of which a part is defined counts as defined, and so does
 * what moves between lanes, unless no lane that sends is defined: silence rather than a false
 * accusation. A reported value counts as defined from there on. */
#include "uninitialised.h"

#include <stddef.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"

#include "undefined_memory.h"
#include "undefined_registers.h"
#include "undefined_report.h"

enum { CACHE = 1 << 12 };

static struct undefined_wave *waves;
static size_t wave_capacity;
static struct undefined_memory memory;
static struct undefined_memory *lds; /* by work-group */
static size_t lds_capacity;
static struct undefined_facts cache[CACHE];

static const struct undefined_facts *facts_of(const struct observed_instruction *s)
{
    struct undefined_facts *facts = &cache[s->pc / 4 % CACHE];
    if (memcmp(&facts->inst, s->inst, sizeof facts->inst) == 0)
        return facts;
    *facts = (struct undefined_facts){.inst = *s->inst,
                                      .effect = (uint8_t)isa_effect(s->inst),
                                      .saves_exec = isa_saves_exec(s->inst),
                                      .reads_scc = isa_reads_scc(s->inst)};
    facts->uses = (uint8_t)isa_uses(s->inst, facts->use);
    return facts;
}

/* ---- memory ---- */

/* Dwords of a wavefront's lanes take turns in its scratch memory. */
static uint64_t private_byte(uint64_t address)
{
    const struct check_group *g = check_group_of(undefined_context.wave);
    uint64_t at = (address - g->scratch) % (g->scratch_bytes ? g->scratch_bytes : 1);
    return at / (4 * ISA_LANES) * 4 + at % 4;
}

static uint32_t origin_of(uint64_t address, enum finding_space space)
{
    uint32_t instruction = check_step_instruction(undefined_context.wave, undefined_context.step);
    if (!undefined_is_noted(instruction))
        undefined_note(instruction, space,
                       space == FINDING_PRIVATE ? private_byte(address) : address);
    return instruction;
}

/* True: an address is undefined, which has been reported. */
static void check_addresses(uint64_t lanes)
{
    struct undefined_wave *w = undefined_context.state;
    for (unsigned i = 0; i < undefined_context.facts->uses; i++) {
        const struct isa_use *u = &undefined_context.facts->use[i];
        bool address =
            u->place == ISA_USE_SOURCE0 || u->place == ISA_USE_SCALAR || u->place == ISA_USE_OFFSET;
        struct undefined_sum sum = {0};
        if (u->written || !address)
            continue;
        undefined_add(&sum, u);
        if (!(sum.lanes & lanes))
            continue;
        undefined_use(FINDING_UNINITIALISED_ADDRESS, sum.from,
                      undefined_is_scalar(u) ? FINDING_LANE_NONE
                                             : (unsigned)__builtin_ctzll(sum.lanes & lanes));
        for (unsigned d = 0; d < u->dwords; d++)
            if (undefined_is_scalar(u))
                w->scalar[(u->code + d) % UNDEFINED_SCALARS] = 0;
            else
                w->vector[undefined_vector_at(u, d)] = 0;
    }
}

struct access {
    struct undefined_memory *memory;
    enum finding_space space;
    const struct isa_memory *layout; /* NULL: bytes follow each other */
    const uint64_t *address;
    uint64_t lanes;
    uint32_t bytes;
};

static uint64_t byte_at(const struct access *a, unsigned lane, unsigned i)
{
    return a->layout ? isa_memory_byte(a->layout, lane, i) : a->address[lane] + i;
}

/* Lanes whose dword (or the part of it that is accessed) was never written. */
static uint64_t undefined_lanes(const struct access *a, unsigned dword, uint64_t *address)
{
    uint64_t lanes = 0, defined = UINT64_MAX; /* a page in which all is */
    uint32_t bytes = min(a->bytes - 4 * dword, 4);
    for (uint64_t rest = a->lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        uint64_t at = byte_at(a, lane, 4 * dword);
        uint64_t page = at >> UNDEFINED_PAGE_BITS;
        if (page == defined && (at + bytes - 1) >> UNDEFINED_PAGE_BITS == page)
            continue;
        defined = undefined_is_page_defined(a->memory, at) ? page : UINT64_MAX;
        if (!undefined_is(a->memory, at, bytes))
            continue;
        *address = lanes ? *address : at;
        lanes |= (uint64_t)1 << lane;
    }
    return lanes;
}

static void load_undefined(const struct access *a, const struct isa_use *to, unsigned first)
{
    uint64_t exec = isa_wave_exec(undefined_context.step->scalars), address = 0;
    for (unsigned d = 0; d < divide_up(a->bytes, 4); d++) {
        uint64_t undefined = undefined_lanes(a, d, &address);
        uint32_t from = undefined ? origin_of(address, a->space) : 0;
        undefined_put(to, first + d, exec, undefined, 0, from);
    }
}

static void store_undefined(const struct access *a, const struct isa_use *data)
{
    struct undefined_wave *w = undefined_context.state;
    for (unsigned d = 0; d < divide_up(a->bytes, 4); d++) {
        unsigned at = data ? undefined_vector_at(data, d) : 0;
        uint64_t undefined = data ? w->vector[at] & a->lanes : 0;
        uint64_t wrong = data && a->space == FINDING_GLOBAL ? undefined & w->computed[at] : 0;
        if (wrong) {
            undefined_use(FINDING_UNINITIALISED_STORE, w->vector_origin[at],
                          (unsigned)__builtin_ctzll(wrong));
            w->vector[at] = undefined = 0;
        }
        for (uint64_t rest = a->lanes; rest; rest &= rest - 1) {
            unsigned lane = (unsigned)__builtin_ctzll(rest);
            uint64_t address = byte_at(a, lane, 4 * d);
            bool is = undefined >> lane & 1;
            uint32_t bytes = min(a->bytes - 4 * d, 4);
            if (is || !undefined_is_page_defined(a->memory, address))
                undefined_set(a->memory, address, bytes, is);
        }
    }
}

/* Memory that is updated is read. */
static void update_memory(const struct access *a)
{
    uint64_t address = 0;
    for (unsigned d = 0; d < divide_up(a->bytes, 4); d++) {
        uint64_t undefined = undefined_lanes(a, d, &address);
        if (undefined)
            undefined_use(FINDING_UNINITIALISED_STORE, origin_of(address, a->space),
                          (unsigned)__builtin_ctzll(undefined));
    }
    store_undefined(a, NULL);
}

static const struct isa_use *use_at(enum isa_use_place place, bool written)
{
    for (unsigned i = 0; i < undefined_context.facts->uses; i++) {
        const struct isa_use *u = &undefined_context.facts->use[i];
        if (u->place == place && u->written == written && isa_use_is_vector(u))
            return u;
    }
    return NULL;
}

static void access_memory(enum isa_memory_kind kind, const struct access *a, unsigned which,
                          bool overwrites)
{
    const struct isa_use *to = use_at(ISA_USE_DESTINATION, true);
    const struct isa_use *data = use_at(ISA_USE_SOURCE1 + which, false);
    if (!a->lanes)
        return;
    if (kind == ISA_MEMORY_LOAD && to)
        load_undefined(a, to, which * divide_up(a->bytes, 4));
    else if (kind == ISA_MEMORY_STORE)
        store_undefined(a, data);
    else if (kind == ISA_MEMORY_ATOMIC && overwrites)
        store_undefined(a, data);
    else if (kind == ISA_MEMORY_ATOMIC)
        update_memory(a);
    for (unsigned d = 0; kind == ISA_MEMORY_ATOMIC && to && d < to->dwords; d++)
        undefined_put(to, d, a->lanes, 0, 0, 0);
}

/* Lanes do not mix private and other memory but by flat pointers. */
static bool is_private(const struct isa_memory *m)
{
    const struct check_group *g = check_group_of(undefined_context.wave);
    uint64_t at = m->mask ? m->address[__builtin_ctzll(m->mask)] : 0;
    return at >= g->scratch && at < g->scratch_end;
}

static void step_vector_memory(void)
{
    const struct isa_memory *m = undefined_context.step->memory;
    uint64_t exec = isa_wave_exec(undefined_context.step->scalars);
    const struct isa_use *to = use_at(ISA_USE_DESTINATION, true);
    if (m->kind == ISA_MEMORY_CACHE_OP)
        return;
    check_addresses(exec);
    for (unsigned d = 0; m->kind == ISA_MEMORY_LOAD && to && d < to->dwords; d++)
        undefined_put(to, d, exec, 0, 0, 0); /* also of lanes that are out of a buffer */
    if (m->unusual)
        return;
    struct access a = {&memory, FINDING_GLOBAL, m, m->address, m->mask, m->bytes};
    if (m->swizzle_mask || is_private(m))
        a.space = FINDING_PRIVATE;
    access_memory(m->kind, &a, 0, m->atomic == ISA_ATOMIC_SWAP);
    a = (struct access){
        &lds[undefined_context.wave->group], FINDING_LDS, NULL, m->address, m->lds_mask, m->bytes};
    if (a.lanes && m->kind != ISA_MEMORY_LOAD)
        access_memory(m->kind, &a, 0, m->atomic == ISA_ATOMIC_SWAP);
}

static void step_lds(void)
{
    const struct observed_instruction *s = undefined_context.step;
    struct isa_lds_access local;
    uint64_t address[ISA_LANES];
    if (!isa_lds_access_describe(s->inst, &local)) {
        undefined_vector_unit();
        return;
    }
    check_addresses(s->mask);
    const uint32_t *held =
        s->context->vgpr + (size_t)isa_register(s->context, s->inst->src[0]) * ISA_LANES;
    for (unsigned i = 0; i < local.count; i++) {
        for (unsigned lane = 0; lane < ISA_LANES; lane++)
            address[lane] = held[lane] + local.offset[i];
        const struct access a = {
            &lds[undefined_context.wave->group], FINDING_LDS, NULL, address, s->mask, local.bytes};
        access_memory(local.kind, &a, i, local.atomic == ISA_ATOMIC_SWAP);
    }
}

static void step_scalar_memory(void)
{
    const struct isa_scalar *a = undefined_context.step->scalar;
    struct undefined_wave *w = undefined_context.state;
    check_addresses(UINT64_MAX);
    for (unsigned i = 0; i < undefined_context.facts->uses; i++) {
        const struct isa_use *u = &undefined_context.facts->use[i];
        for (unsigned d = 0; u->written && undefined_is_scalar(u) && d < u->dwords; d++) {
            uint64_t at = a->address + 4 * d;
            bool undefined =
                a->kind == ISA_SCALAR_LOAD && d < a->valid && undefined_is(&memory, at, 4);
            w->scalar[(u->code + d) % UNDEFINED_SCALARS] = undefined ? UINT32_MAX : 0;
            if (undefined)
                w->scalar_origin[(u->code + d) % UNDEFINED_SCALARS] = origin_of(at, FINDING_GLOBAL);
        }
    }
    if (undefined_context.step->address && a->kind != ISA_SCALAR_LOAD)
        undefined_set(&memory, a->address, 4u * a->valid, false);
}

/* ---- the check ---- */

static void step_undefined(const struct check_wave *wave, const struct observed_instruction *s)
{
    if (!s->inst)
        return;
    undefined_context.wave = wave;
    undefined_context.step = s;
    undefined_context.state = &waves[wave->slot];
    undefined_context.facts = facts_of(s);
    switch (s->inst->unit) {
    case ISA_UNIT_VMEM:
        if (s->memory)
            step_vector_memory();
        break;
    case ISA_UNIT_SMEM:
        if (s->scalar)
            step_scalar_memory();
        break;
    case ISA_UNIT_LDS:
        step_lds();
        break;
    case ISA_UNIT_VALU:
        undefined_vector_unit();
        break;
    case ISA_UNIT_SALU:
    case ISA_UNIT_BRANCH:
        undefined_scalar_unit();
        break;
    default:
        break;
    }
}

static void begin_group(uint32_t group, const struct check_group *g)
{
    if (g->scratch)
        undefined_set(&memory, g->scratch, g->scratch_end - g->scratch, true);
    if (g->lds_bytes)
        undefined_set(&lds[group], 0, g->lds_bytes, true);
}

/* Registers that a wavefront begins with: work-item numbers, and what the descriptor asks for
 * (COMPUTE_PGM_RSRC2: user registers, work-group numbers, private offset). */
static void begin_registers(struct undefined_wave *w, const struct work_placement *p)
{
    enum { FLAT = ISA_FLAT_SCRATCH, ITEMS = 3 };
    unsigned given =
        (p->rsrc2 >> 1 & 31) + (unsigned)__builtin_popcount(p->rsrc2 >> 7 & 15) + (p->rsrc2 & 1);
    memset(w->vector, 0, ITEMS * sizeof w->vector[0]);
    memset(w->vector + ITEMS, 0xff, sizeof w->vector - ITEMS * sizeof w->vector[0]);
    memset(w->computed, 0, sizeof *w - offsetof(struct undefined_wave, computed));
    for (unsigned i = given; i < FLAT; i++)
        w->scalar[i] = UINT32_MAX;
    w->scalar[ISA_VCC] = w->scalar[ISA_VCC + 1] = UINT32_MAX;
}

static void begin_undefined(const struct check_wave *wave)
{
    grow_slots(waves, wave->slot, wave_capacity, "checks");
    grow_slots(lds, wave->group, lds_capacity, "checks");
    if (wave->observed.number == 0)
        begin_group(wave->group, check_group_of(wave));
    begin_registers(&waves[wave->slot], wave->observed.placement);
}

const struct check check_uninitialised = {.begin = begin_undefined, .step = step_undefined};

void check_memory_new(uint64_t address, uint64_t size)
{
    if (finding_is_wanted(FINDING_CHECK_UNINITIALISED))
        undefined_set(&memory, address, size, true);
}

void check_memory_written(uint64_t address, uint64_t size)
{
    if (finding_is_wanted(FINDING_CHECK_UNINITIALISED))
        undefined_set(&memory, address, size, false);
}

void check_memory_copied(uint64_t to, uint64_t from, uint64_t size)
{
    if (finding_is_wanted(FINDING_CHECK_UNINITIALISED))
        undefined_copy(&memory, to, from, size);
}

bool check_memory_is_undefined(uint64_t address, uint32_t bytes)
{
    return !undefined_is_page_defined(&memory, address) && undefined_is(&memory, address, bytes);
}
