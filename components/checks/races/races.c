/* `--check races`: the accesses of wavefronts of AMD's instruction sets, and the instructions that
 * order them.
 *
 * The order is that of the memory model of LLVM's AMDGPU back end, read from the instructions that
 * it makes of fences ("User Guide for AMDGPU Backend", Memory Model): an s_waitcnt for everything
 * releases what came before it (where L2 caches are several, together with a buffer_wbl2), a
 * buffer_wbinvl1 or buffer_inv acquires from what atomics have read. If the stores of an
 * instruction set have no scopes, they do not say which of them are atomic: see enum race_use. */
#include <string.h>

#include "base/grow.h"
#include "base/number.h"
#include "components/amd/isa/isa.h"
#include "components/checks/checks.h"

#include "command_order.h"
#include "race_lanes.h"

enum { LOCKS = 4 };

struct live_wave {
    struct race_wave race;
    bool has_vm, has_lgkm; /* accesses that no s_waitcnt has waited for */
    bool has_written;      /* the wavefront has written since the last fence */
    bool is_fenced;        /* it wrote before the last fence, and nothing since */
    bool has_written_back; /* buffer_wbl2 since */
    bool meets;            /* at the global wave sync, which it has not waited for yet */
    uint64_t lock[LOCKS];  /* where it has exchanged last; a store there gives a lock back */
    unsigned locks;
};

struct live_group {
    uint32_t number;
    struct race_memory lds;
};

static struct live_wave *waves; /* by slot */
static struct live_group *groups;
static size_t wave_capacity, group_capacity;

/* ---- accesses ---- */

static bool is_one_place(const uint64_t *address, uint64_t mask)
{
    uint64_t first = mask ? address[__builtin_ctzll(mask)] : 0;
    while (mask && address[__builtin_ctzll(mask)] == first)
        mask &= mask - 1;
    return !mask;
}

struct lanes {
    struct race_lanes access;
    uint64_t atomics; /* what addresses count from as atomics */
    bool may_order;   /* the value that it reads may order accesses */
    bool may_lock;    /* it may take a lock */
};

static void synchronise(struct live_wave *w, const struct lanes *l)
{
    uint64_t place[RACE_FEW_PLACES];
    enum race_use use = l->access.use;
    unsigned count = race_places(l->access.address, l->access.mask, RACE_FEW_PLACES, place);
    bool updates = use == RACE_ATOMIC_WRITE || use == RACE_COMPARE;
    if (l->may_lock && count == 1)
        w->lock[w->locks++ % LOCKS] = l->atomics + place[0];
    for (unsigned i = 0; i < count; i++) {
        if (l->may_order)
            race_note_read(&w->race, l->atomics + place[i]);
        if (updates || use == RACE_RELEASE || use == RACE_STORE)
            race_release(&w->race, l->atomics + place[i], updates);
    }
}

static void touch_lanes(struct live_wave *w, const struct lanes *l)
{
    const struct race_lanes *a = &l->access;
    race_touch_lanes(a);
    if (a->use & RACE_ATOMIC_READ || a->use == RACE_RELEASE
        || (a->use == RACE_STORE && is_one_place(a->address, a->mask)))
        synchronise(w, l);
}

/* True if the wavefront resets its own counter there, or gives back a lock. */
static bool is_own(const struct live_wave *w, uint64_t atomic)
{
    bool found = race_has_read(&w->race, atomic);
    for (unsigned i = 0; i < LOCKS && i < w->locks; i++)
        found |= w->lock[i] == atomic;
    return found;
}

static bool has_scopes(const struct observed_instruction *s)
{
    return isa_traits[s->inst->target].has_scope_bits;
}

static enum race_use atomic_use(enum isa_atomic operation)
{
    return operation == ISA_ATOMIC_CMPSWAP || operation == ISA_ATOMIC_FCMPSWAP ? RACE_COMPARE
                                                                               : RACE_ATOMIC_WRITE;
}

static bool may_lock(enum isa_memory_kind kind, enum isa_atomic operation)
{
    return kind == ISA_MEMORY_ATOMIC
           && (operation == ISA_ATOMIC_SWAP || operation == ISA_ATOMIC_CMPSWAP);
}

/* In the LDS nothing says whether loads and stores are atomic. An access by a whole wavefront at
 * one address may be. */
static void use_of_lds(const struct live_wave *w, enum isa_memory_kind kind,
                       enum isa_atomic operation, struct lanes *l)
{
    struct race_lanes *a = &l->access;
    uint64_t first = a->mask ? l->atomics + a->address[__builtin_ctzll(a->mask)] : 0;
    if (kind == ISA_MEMORY_ATOMIC)
        a->use = atomic_use(operation);
    else if (kind == ISA_MEMORY_LOAD)
        a->use = check_instruction_spins(a->instruction) ? RACE_ATOMIC_READ : RACE_READ;
    else if (w->is_fenced || is_own(w, first))
        a->use = RACE_RELEASE;
    else
        a->use = is_one_place(a->address, a->mask) ? RACE_STORE : RACE_WRITE;
    l->may_order = (kind == ISA_MEMORY_ATOMIC && l->may_order) || a->use == RACE_ATOMIC_READ;
    l->may_lock = may_lock(kind, operation);
}

static enum race_use use_of(const struct live_wave *w, const struct observed_instruction *s,
                            const struct isa_memory *m, uint64_t base, uint32_t instruction)
{
    enum isa_scope plain = has_scopes(s) ? ISA_SCOPE_WAVEFRONT : ISA_SCOPE_WORK_GROUP;
    bool is_atomic = m->scope > plain;
    enum isa_memory_kind kind = m->kind;
    uint64_t first = m->mask ? base + m->address[__builtin_ctzll(m->mask)] : 0;
    if (kind == ISA_MEMORY_ATOMIC)
        return atomic_use(m->atomic);
    if (kind == ISA_MEMORY_STORE && m->mask && is_own(w, first))
        return RACE_RELEASE;
    if (kind == ISA_MEMORY_LOAD)
        return is_atomic || check_instruction_spins(instruction) ? RACE_ATOMIC_READ : RACE_READ;
    if (is_atomic)
        return RACE_ATOMIC_WRITE;
    if (has_scopes(s))
        return RACE_WRITE;
    return w->is_fenced ? RACE_RELEASE : RACE_STORE;
}

static void note_kind(struct live_wave *w, enum isa_memory_kind kind)
{
    w->has_written |= kind != ISA_MEMORY_LOAD;
    w->is_fenced &= kind == ISA_MEMORY_LOAD;
}

/* ---- LDS ---- */

static void lds_data(const struct observed_instruction *s, unsigned which, unsigned bytes,
                     uint8_t data[ISA_LANES][RACE_DATA_STRIDE])
{
    unsigned code = s->inst->src[1 + which];
    const uint32_t *from = s->context->vgpr + (size_t)isa_register(s->context, code) * ISA_LANES;
    for (unsigned lane = 0; lane < ISA_LANES; lane++)
        for (unsigned i = 0; i < divide_up(bytes, 4); i++)
            memcpy(data[lane] + 4 * i, &from[i * ISA_LANES + lane], 4);
}

static void step_lds(struct live_wave *w, const struct check_wave *wave,
                     const struct observed_instruction *s)
{
    struct isa_lds_access local;
    uint64_t address[ISA_LANES];
    uint8_t data[ISA_LANES][RACE_DATA_STRIDE];
    if (!isa_lds_access_describe(s->inst, &local) || !s->mask)
        return;
    const uint32_t *held =
        s->context->vgpr + (size_t)isa_register(s->context, s->inst->src[0]) * ISA_LANES;
    struct live_group *g = &groups[wave->group];
    struct lanes l = {.access = {.memory = &g->lds,
                                 .wave = &w->race,
                                 .address = address,
                                 .mask = s->mask,
                                 .bytes = local.bytes,
                                 .instruction = check_step_instruction(wave, s)},
                      .atomics = race_lds_base(g->number)};
    for (unsigned i = 0; i < local.count; i++) {
        for (unsigned lane = 0; lane < ISA_LANES; lane++)
            address[lane] = held[lane] + local.offset[i];
        l.may_order = local.returns;
        use_of_lds(w, local.kind, local.atomic, &l);
        if (local.kind == ISA_MEMORY_STORE) {
            lds_data(s, i, local.bytes, data);
            l.access.data = data[0];
        }
        touch_lanes(w, &l);
    }
    w->has_lgkm = true;
    note_kind(w, local.kind);
}

/* ---- device memory ---- */

/* Private memory is a lane's own. */
static uint64_t shared_lanes(const struct check_group *g, const struct isa_memory *m)
{
    uint64_t mask = m->mask & ~m->swizzle_mask;
    for (uint64_t rest = g->scratch ? mask : 0; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        if (m->address[lane] >= g->scratch && m->address[lane] < g->scratch_end)
            mask &= ~((uint64_t)1 << lane);
    }
    return mask;
}

static void step_flat_lds(struct live_wave *w, struct live_group *g, const struct isa_memory *m,
                          struct lanes l)
{
    l.access.memory = &g->lds;
    l.access.mask = m->lds_mask;
    l.access.base = 0;
    l.atomics = race_lds_base(g->number);
    l.may_order = m->returns;
    use_of_lds(w, m->kind, m->atomic, &l);
    touch_lanes(w, &l);
}

static void cache_operation(struct live_wave *w, const struct isa_memory *m)
{
    bool near = m->scope < ISA_SCOPE_AGENT;
    if (m->cache_op == ISA_CACHE_INVALIDATE_VECTOR)
        race_acquire(&w->race, false);
    else if (m->cache_op == ISA_CACHE_ACQUIRE)
        race_acquire(&w->race, near);
    else if (m->cache_op == ISA_CACHE_RELEASE && !near)
        w->has_written_back = true;
}

static void step_vector(struct live_wave *w, const struct check_wave *wave,
                        const struct observed_instruction *s)
{
    const struct isa_memory *m = s->memory;
    uint8_t data[ISA_LANES][RACE_DATA_STRIDE];
    if (m->kind == ISA_MEMORY_CACHE_OP) {
        cache_operation(w, m);
        return;
    }
    struct live_group *g = &groups[wave->group];
    uint64_t base = race_process_base(wave->pid);
    uint32_t instruction = check_step_instruction(wave, s);
    enum race_use use = use_of(w, s, m, base, instruction);
    struct lanes l = {.access = {.memory = &race_device_memory,
                                 .wave = &w->race,
                                 .address = m->address,
                                 .mask = shared_lanes(check_group_of(wave), m),
                                 .base = base,
                                 .bytes = m->bytes,
                                 .instruction = instruction,
                                 .use = use},
                      .atomics = base,
                      .may_order =
                          use == RACE_ATOMIC_READ || (m->kind == ISA_MEMORY_ATOMIC && m->returns),
                      .may_lock = may_lock(m->kind, m->atomic)};
    if (m->lds_mask)
        step_flat_lds(w, g, m, l);
    if (m->kind == ISA_MEMORY_STORE && l.access.mask && !m->unusual) {
        isa_memory_store(s->context, s->inst, m, data, sizeof data[0]);
        l.access.data = data[0];
    }
    if (l.access.mask)
        touch_lanes(w, &l);
    w->has_vm = true;
    note_kind(w, m->kind);
}

static void step_scalar(struct live_wave *w, const struct check_wave *wave,
                        const struct observed_instruction *s)
{
    const struct isa_scalar *a = s->scalar;
    if (!s->address)
        return;
    enum race_use use = RACE_ATOMIC_WRITE;
    if (a->kind == ISA_SCALAR_LOAD)
        use = RACE_READ;
    else if (a->kind == ISA_SCALAR_STORE)
        use = RACE_WRITE;
    uint32_t instruction = check_step_instruction(wave, s);
    race_touch(&(struct race_event){.memory = &race_device_memory,
                                    .wave = &w->race,
                                    .address = race_process_base(wave->pid) + a->address,
                                    .bytes = 4u * a->valid,
                                    .use = use,
                                    .site = race_site(instruction, FINDING_LANE_NONE),
                                    .order = &(struct race_order){.id = {0}},
                                    .report = race_report});
}

/* ---- order ---- */

static void wait(struct live_wave *w, const struct observed_instruction *s)
{
    w->has_vm &= s->inst->wait_vm != 0;
    w->has_lgkm &= s->inst->wait_lgkm != 0;
    if (w->race.read_atomic_count)
        race_acquire(&w->race, !w->meets);
    w->meets = false;
    if (w->has_vm || w->has_lgkm || (has_scopes(s) && !w->has_written_back))
        return;
    w->has_written_back = false;
    w->is_fenced |= w->has_written;
    w->has_written = false;
    race_fence(&w->race);
}

/* A wavefront continues after a barrier, so all wavefronts have come to it. */
static void barrier_over(const struct check_wave *wave)
{
    const struct check_group *g = check_group_of(wave);
    struct race_wave *come[WORK_WAVEFRONTS_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < g->waves; i++) {
        struct race_wave *r = &waves[g->wave[i]].race;
        if (r->id >> RACE_GROUP_BITS != groups[wave->group].number || !r->arrived)
            continue;
        r->arrived = 0;
        come[count++] = r;
    }
    race_join(come, count);
}

static void step_special(struct live_wave *w, const struct observed_instruction *s)
{
    if (s->inst->flags & ISA_IS_WAITCNT)
        wait(w, s);
    if (s->inst->flags & ISA_IS_BARRIER)
        w->race.arrived = 1;
    if (s->inst->flags & ISA_IS_SYNC) { /* a barrier of all work-groups, for instance */
        race_fence(&w->race);
        race_release(&w->race, UINT64_MAX, true);
        race_note_read(&w->race, UINT64_MAX);
        w->meets = true;
    }
}

static void step_races(const struct check_wave *wave, const struct observed_instruction *s)
{
    struct live_wave *w = &waves[wave->slot];
    if (!s->inst)
        return;
    if (w->race.arrived)
        barrier_over(wave);
    if (s->memory)
        step_vector(w, wave, s);
    else if (s->scalar)
        step_scalar(w, wave, s);
    else if (s->inst->unit == ISA_UNIT_LDS && !(s->inst->flags & ISA_IS_SYNC))
        step_lds(w, wave, s);
    else
        step_special(w, s);
}

/* ---- wavefronts ---- */

static void begin_group(const struct check_wave *wave, struct live_group *g)
{
    const struct check_group *group = check_group_of(wave);
    g->number =
        race_group(check_command_of(wave->observed.gpu, wave->observed.dispatch), &group->identity);
    if (group->lds_bytes)
        race_clear_flat(&g->lds, group->lds_bytes);
}

static void begin_races(const struct check_wave *wave)
{
    grow_slots(waves, wave->slot, wave_capacity, "checks");
    grow_slots(groups, wave->group, group_capacity, "checks");
    if (wave->observed.number == 0)
        begin_group(wave, &groups[wave->group]);
    waves[wave->slot] = (struct live_wave){.is_fenced = false};
    race_wave_begin(&waves[wave->slot].race, groups[wave->group].number, wave->observed.number);
}

static void end_races(const struct check_wave *wave)
{
    race_wave_end(&waves[wave->slot].race);
    waves[wave->slot].race.id = 0;
}

const struct check check_races = {.begin = begin_races, .step = step_races, .end = end_races};
