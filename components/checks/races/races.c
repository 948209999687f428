/* `--check races`: the accesses of wavefronts of AMD's instruction sets, and the instructions that
 * order them.
 *
 * The order is that of the memory model of LLVM's AMDGPU back end, read from the instructions that
 * it makes of fences ("User Guide for AMDGPU Backend", Memory Model): an s_waitcnt for everything
 * releases what came before it (where L2 caches are several, together with a buffer_wbl2), a
 * buffer_wbinvl1 or buffer_inv acquires from what atomics have read. If the stores of an
 * instruction set have no scopes, they do not say which of them are atomic: see enum race_use.
 * Atomics at more than FEW places in one instruction order nothing: histograms, not locks. */
#include "races.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "base/number.h"
#include "components/amd/isa/isa.h"
#include "components/protocols/page_table/page_table.h"
#include "components/checks/check_code.h"
#include "components/checks/slot_array.h"
#include "race_report.h"
#include "spins.h"
#include "runtime/engine/bug.h"

enum { FEW = 8, LOCKS = 4, LANE_BITS = 7, NO_LANE = 127, SITES = 1 << 20 };

/* An instruction that has accessed memory. */
struct site {
    uint64_t name; /* check_name() of its address */
    struct isa_inst inst;
    bool spins; /* see spins.h */
};

/* A work-group, for reports on it when it is over. */
struct past {
    struct observed_wavefront what;
    uint32_t pid;
};

struct live_wave {
    struct race_wave race;
    bool vm, lgkm;        /* accesses that no s_waitcnt has waited for */
    bool wrote;           /* the wavefront has written since the last fence */
    bool fenced;          /* it wrote before the last fence, and nothing since */
    bool wrote_back;      /* buffer_wbl2 since */
    bool meets;           /* at the global wave sync, which it has not waited for yet */
    uint64_t lock[LOCKS]; /* where it has exchanged last; a store there gives a lock back */
    unsigned locks;
};

struct live_group {
    uint32_t number;
    struct race_memory lds;
    uint64_t scratch, scratch_end; /* its private memory; 0: none */
};

static struct live_wave *waves; /* by slot */
static struct live_group *groups;
static uint64_t wave_room, group_room;
static struct past *pasts; /* by number of a work-group */
static uint64_t past_room;
static struct site *sites;
static uint32_t site_count, *site_table;
static uint64_t site_room;

/* What reports need beside the event. */
static struct {
    const struct check_wave *wave;
    const struct observed_instruction *step;
    enum finding_space space;
} report_context;

static void open_check(void)
{
    site_table = grow_checked(calloc(SITES, sizeof *site_table), "the check of races");
}

static bool is_spin_site(const struct observed_instruction *s, uint64_t name)
{
    struct spin_code code;
    code.bytes = check_code_bytes(name, &code.address, &code.size);
    return code.bytes && spins_at((enum isa_target)s->inst->target, &code, name);
}

/* Other code may have been loaded where the code of the site was. */
static bool is_site(const struct site *site, uint64_t name, const struct isa_inst *inst)
{
    return site->name == name && memcmp(&site->inst, inst, sizeof site->inst) == 0;
}

static uint32_t site_of(const struct observed_instruction *s)
{
    uint64_t name = check_name(report_context.wave, s->pc);
    uint32_t slot = (uint32_t)(hash_multiply(s->pc) >> 40) % SITES;
    while (site_table[slot] && !is_site(&sites[site_table[slot] - 1], name, s->inst))
        slot = (slot + 1) % SITES;
    if (!site_table[slot]) {
        sites = slot_array_grow(sites, &site_room, site_count, sizeof *sites);
        sites[site_count++] =
            (struct site){.name = name, .inst = *s->inst, .spins = is_spin_site(s, name)};
        site_table[slot] = site_count;
        if (site_count > SITES / 2)
            die("--check races: more than %d instructions access memory; check fewer "
                "kernels in one run",
                SITES / 2);
    }
    return (site_table[slot] - 1) << LANE_BITS;
}

static bool site_spins(uint32_t site)
{
    return sites[site >> LANE_BITS].spins;
}

/* ---- reports ---- */

static uint64_t site_pc(race_id id, uint32_t site)
{
    (void)id;
    return page_table_address(sites[site >> LANE_BITS].name);
}

static void past_place(race_id id, uint32_t site, struct finding_place *place)
{
    const struct past *past = &pasts[id >> RACE_GROUP_BITS];
    struct check_wave wave = {.what = past->what, .pid = past->pid};
    uint32_t lane = site % (1 << LANE_BITS);
    const struct site *s = &sites[site >> LANE_BITS];
    wave.what.number = id % RACE_GROUP;
    check_place(&wave, page_table_address(s->name), &s->inst,
                lane == NO_LANE ? FINDING_NO_LANE : lane, place);
}

static const struct race_source source = {.pc = site_pc, .describe = past_place};

static void found_in_kernel(const struct race_event *e, const struct race_access *earlier,
                            enum race_use use)
{
    (void)use;
    race_report(e, earlier, report_context.space, report_context.wave->what.program);
}

/* ---- accesses ---- */

/* Different addresses, at most FEW + 1. */
static unsigned places_of(const uint64_t *address, uint64_t mask, uint64_t place[FEW])
{
    unsigned count = 0;
    for (; mask; mask &= mask - 1) {
        uint64_t at = address[__builtin_ctzll(mask)];
        unsigned i = 0;
        while (i < count && place[i] != at)
            i++;
        if (i < count)
            continue;
        if (count == FEW)
            return FEW + 1;
        place[count++] = at;
    }
    return count;
}

static bool is_one_place(const uint64_t *address, uint64_t mask)
{
    uint64_t first = mask ? address[__builtin_ctzll(mask)] : 0;
    while (mask && address[__builtin_ctzll(mask)] == first)
        mask &= mask - 1;
    return !mask;
}

struct lanes {
    const uint64_t *address;
    uint64_t mask;
    uint64_t base, atomics; /* what addresses count from in the shadow, and as atomics */
    uint32_t bytes;
    enum race_use use;
    bool hears;          /* what it reads may order */
    bool takes;          /* it may take a lock */
    const uint8_t *data; /* of stores: 16 bytes a lane; or NULL */
};

static void synchronise(struct live_wave *w, const struct lanes *l)
{
    uint64_t place[FEW];
    unsigned count = places_of(l->address, l->mask, place);
    bool updates = l->use == RACE_ATOMIC_WRITE || l->use == RACE_COMPARE;
    if (l->takes && count == 1)
        w->lock[w->locks++ % LOCKS] = l->atomics + place[0];
    for (unsigned i = 0; count <= FEW && i < count; i++) {
        if (l->hears)
            race_hear(&w->race, l->atomics + place[i]);
        if (updates || l->use == RACE_RELEASE || l->use == RACE_STORE)
            race_release(&w->race, l->atomics + place[i], updates);
    }
}

static void touch_lanes(struct race_memory *m, struct live_wave *w, const struct lanes *l,
                        uint32_t site)
{
    struct race_event e = {.wave = &w->race,
                           .bytes = l->bytes,
                           .use = l->use,
                           .order = &(struct race_order){.id = {0}},
                           .found = found_in_kernel};
    uint64_t last = UINT64_MAX;
    for (uint64_t rest = l->mask; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        if (l->address[lane] == last) /* a broadcast */
            continue;
        last = l->address[lane];
        e.address = l->base + last;
        e.site = site | lane;
        e.data = l->data ? l->data + 16 * lane : NULL;
        race_touch(m, &e);
    }
    if (l->use & RACE_ATOMIC_READ || l->use == RACE_RELEASE
        || (l->use == RACE_STORE && is_one_place(l->address, l->mask)))
        synchronise(w, l);
}

/* Two lanes that store at one address; false: there are none. */
static bool lanes_meet(const uint64_t *address, uint64_t mask, uint32_t bytes, unsigned lane[2])
{
    uint64_t behind = 0;
    bool rises = true;
    for (uint64_t rest = mask; rest && rises; rest &= rest - 1) {
        uint64_t at = address[__builtin_ctzll(rest)];
        rises = at >= behind;
        behind = at + bytes;
    }
    for (uint64_t a = rises ? 0 : mask; a; a &= a - 1) {
        for (uint64_t b = a & (a - 1); b; b &= b - 1) {
            lane[0] = (unsigned)__builtin_ctzll(a);
            lane[1] = (unsigned)__builtin_ctzll(b);
            if (address[lane[0]] == address[lane[1]])
                return true;
        }
    }
    return false;
}

static void check_lanes(const struct lanes *l)
{
    enum { stride = 16 };
    const uint8_t *data = l->data;
    unsigned lane[2];
    if (!lanes_meet(l->address, l->mask, l->bytes, lane))
        return;
    for (uint64_t rest = l->mask; rest; rest &= rest - 1) {
        unsigned other = (unsigned)__builtin_ctzll(rest);
        if (l->address[other] != l->address[lane[0]]
            || memcmp(data + other * stride, data + lane[0] * stride, l->bytes) == 0)
            continue;
        if (finding_seen(FINDING_LANES_RACE, report_context.step->pc, report_context.step->pc))
            return;
        struct finding f = {.kind = FINDING_LANES_RACE, .places = 2};
        check_place(report_context.wave, report_context.step->pc, report_context.step->inst,
                    lane[0], &f.place[0]);
        check_place(report_context.wave, report_context.step->pc, report_context.step->inst, other,
                    &f.place[1]);
        check_address(report_context.wave, report_context.space, l->address[other], &f);
        finding_report(&f);
        return;
    }
}

/* Does the wavefront reset its own counter there, or give back a lock? */
static bool is_own(const struct live_wave *w, uint64_t atomic)
{
    bool found = race_has_heard(&w->race, atomic);
    for (unsigned i = 0; i < LOCKS && i < w->locks; i++)
        found |= w->lock[i] == atomic;
    return found;
}

static bool has_scopes(const struct observed_instruction *s)
{
    return isa_traits[s->inst->target].scope_bits;
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
                       enum isa_atomic operation, uint32_t site, struct lanes *l)
{
    uint64_t first = l->mask ? l->atomics + l->address[__builtin_ctzll(l->mask)] : 0;
    if (kind == ISA_MEMORY_ATOMIC)
        l->use = atomic_use(operation);
    else if (kind == ISA_MEMORY_LOAD)
        l->use = site_spins(site) ? RACE_ATOMIC_READ : RACE_READ;
    else if (w->fenced || is_own(w, first))
        l->use = RACE_RELEASE;
    else
        l->use = is_one_place(l->address, l->mask) ? RACE_STORE : RACE_WRITE;
    l->hears = (kind == ISA_MEMORY_ATOMIC && l->hears) || l->use == RACE_ATOMIC_READ;
    l->takes = may_lock(kind, operation);
}

static enum race_use use_of(const struct live_wave *w, const struct observed_instruction *s,
                            const struct isa_memory *m, uint64_t base, uint32_t site)
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
        return is_atomic || site_spins(site) ? RACE_ATOMIC_READ : RACE_READ;
    return is_atomic       ? RACE_ATOMIC_WRITE
           : has_scopes(s) ? RACE_WRITE
           : w->fenced     ? RACE_RELEASE
                           : RACE_STORE;
}

static void note_kind(struct live_wave *w, enum isa_memory_kind kind)
{
    w->wrote |= kind != ISA_MEMORY_LOAD;
    w->fenced &= kind == ISA_MEMORY_LOAD;
}

/* ---- LDS ---- */

static uint64_t lds_atomics(const struct check_wave *wave)
{
    return (uint64_t)1 << 63 | (uint64_t)groups[wave->group].number << 20;
}

static void lds_data(const struct observed_instruction *s, unsigned which, unsigned bytes,
                     uint8_t data[ISA_LANES][16])
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
    uint8_t data[ISA_LANES][16];
    if (!isa_lds_access_describe(s->inst, &local) || !s->mask)
        return;
    const uint32_t *held =
        s->context->vgpr + (size_t)isa_register(s->context, s->inst->src[0]) * ISA_LANES;
    struct lanes l = {
        .address = address, .mask = s->mask, .atomics = lds_atomics(wave), .bytes = local.bytes};
    uint32_t site = site_of(s);
    report_context.space = FINDING_LDS;
    for (unsigned i = 0; i < local.count; i++) {
        for (unsigned lane = 0; lane < ISA_LANES; lane++)
            address[lane] = held[lane] + local.offset[i];
        l.hears = local.returns;
        use_of_lds(w, local.kind, local.atomic, site, &l);
        if (local.kind == ISA_MEMORY_STORE) {
            lds_data(s, i, local.bytes, data);
            l.data = data[0];
            check_lanes(&l);
        }
        touch_lanes(&groups[wave->group].lds, w, &l, site);
    }
    w->lgkm = true;
    note_kind(w, local.kind);
}

/* ---- device memory ---- */

/* Private memory is a lane's own. */
static uint64_t shared_lanes(const struct live_group *g, const struct isa_memory *m)
{
    uint64_t mask = m->mask & ~m->swizzle_mask;
    for (uint64_t rest = g->scratch ? mask : 0; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(rest);
        if (m->address[lane] >= g->scratch && m->address[lane] < g->scratch_end)
            mask &= ~((uint64_t)1 << lane);
    }
    return mask;
}

static uint64_t process_base(const struct check_wave *wave)
{
    return race_process_base(pasts[groups[wave->group].number].pid);
}

static void step_flat_lds(struct live_wave *w, const struct check_wave *wave,
                          const struct observed_instruction *s, uint32_t site, struct lanes l)
{
    l.mask = s->memory->lds_mask;
    l.base = 0;
    l.atomics = lds_atomics(wave);
    l.hears = s->memory->returns;
    use_of_lds(w, s->memory->kind, s->memory->atomic, site, &l);
    report_context.space = FINDING_LDS;
    touch_lanes(&groups[wave->group].lds, w, &l, site);
}

static void cache_operation(struct live_wave *w, const struct isa_memory *m)
{
    bool near = m->scope < ISA_SCOPE_AGENT;
    if (m->cache_op == ISA_CACHE_INVALIDATE_VECTOR)
        race_acquire(&w->race, false);
    else if (m->cache_op == ISA_CACHE_ACQUIRE)
        race_acquire(&w->race, near);
    else if (m->cache_op == ISA_CACHE_RELEASE && !near)
        w->wrote_back = true;
}

static void step_vector(struct live_wave *w, const struct check_wave *wave,
                        const struct observed_instruction *s)
{
    const struct isa_memory *m = s->memory;
    uint8_t data[ISA_LANES][16];
    if (m->kind == ISA_MEMORY_CACHE_OP) {
        cache_operation(w, m);
        return;
    }
    uint64_t base = process_base(wave);
    uint32_t site = site_of(s);
    enum race_use use = use_of(w, s, m, base, site);
    struct lanes l = {.address = m->address,
                      .mask = shared_lanes(&groups[wave->group], m),
                      .base = base,
                      .atomics = base,
                      .bytes = m->bytes,
                      .use = use,
                      .hears =
                          use == RACE_ATOMIC_READ || (m->kind == ISA_MEMORY_ATOMIC && m->returns),
                      .takes = may_lock(m->kind, m->atomic)};
    if (m->lds_mask)
        step_flat_lds(w, wave, s, site, l);
    report_context.space = FINDING_GLOBAL;
    if (m->kind == ISA_MEMORY_STORE && l.mask && !m->unusual) {
        isa_memory_store(s->context, s->inst, m, data, sizeof data[0]);
        l.data = data[0];
        check_lanes(&l);
    }
    if (l.mask)
        touch_lanes(&race_device_memory, w, &l, site);
    w->vm = true;
    note_kind(w, m->kind);
}

static void step_scalar(struct live_wave *w, const struct check_wave *wave,
                        const struct observed_instruction *s)
{
    const struct isa_scalar *a = s->scalar;
    if (!s->address)
        return;
    report_context.space = FINDING_GLOBAL;
    enum race_use use = a->kind == ISA_SCALAR_LOAD    ? RACE_READ
                        : a->kind == ISA_SCALAR_STORE ? RACE_WRITE
                                                      : RACE_ATOMIC_WRITE;
    race_touch(&race_device_memory, &(struct race_event){.wave = &w->race,
                                                         .address = process_base(wave) + a->address,
                                                         .bytes = 4u * a->valid,
                                                         .use = use,
                                                         .site = site_of(s) | NO_LANE,
                                                         .order = &(struct race_order){.id = {0}},
                                                         .found = found_in_kernel});
}

/* ---- order ---- */

static void wait(struct live_wave *w, const struct observed_instruction *s)
{
    w->vm &= s->inst->wait_vm != 0;
    w->lgkm &= s->inst->wait_lgkm != 0;
    if (w->race.heard_count)
        race_acquire(&w->race, !w->meets);
    w->meets = false;
    if (w->vm || w->lgkm || (has_scopes(s) && !w->wrote_back))
        return;
    w->wrote_back = false;
    w->fenced |= w->wrote;
    w->wrote = false;
    race_fence(&w->race);
}

/* A wavefront goes on after a barrier, so all wavefronts have come to it. */
static void barrier_over(const struct check_wave *wave)
{
    const struct check_group *g = check_group_of(wave);
    struct race_wave *come[WORK_MAX_WAVEFRONTS];
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
        race_hear(&w->race, UINT64_MAX);
        w->meets = true;
    }
}

static void step_races(const struct check_wave *wave, const struct observed_instruction *s)
{
    struct live_wave *w = &waves[wave->slot];
    if (!s->inst)
        return;
    report_context.wave = wave;
    report_context.step = s;
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
    const struct work_placement *p = wave->what.placement;
    uint32_t command = check_command_of(wave->what.gpu, wave->what.dispatch);
    g->number = race_group(command, &source);
    g->scratch = p->scratch + (uint64_t)p->scratch_wavefront * p->scratch_bytes_per_wavefront;
    g->scratch = p->scratch ? g->scratch : 0;
    g->scratch_end = g->scratch + (uint64_t)p->wavefronts * p->scratch_bytes_per_wavefront;
    if (p->lds_bytes)
        race_clear_flat(&g->lds, p->lds_bytes);
    pasts = slot_array_grow(pasts, &past_room, g->number, sizeof *pasts);
    pasts[g->number] = (struct past){.what = wave->what, .pid = p->pid};
    pasts[g->number].what.placement = NULL;
}

static void begin_races(const struct check_wave *wave)
{
    waves = slot_array_grow(waves, &wave_room, wave->slot, sizeof *waves);
    groups = slot_array_grow(groups, &group_room, wave->group, sizeof *groups);
    if (wave->what.number == 0)
        begin_group(wave, &groups[wave->group]);
    waves[wave->slot] = (struct live_wave){.fenced = false};
    race_wave_begin(&waves[wave->slot].race, groups[wave->group].number, wave->what.number);
}

static void end_races(const struct check_wave *wave)
{
    race_wave_end(&waves[wave->slot].race);
    waves[wave->slot].race.id = 0;
}

const struct check check_races = {.check = FINDING_CHECK_RACES,
                                  .open = open_check,
                                  .begin = begin_races,
                                  .step = step_races,
                                  .end = end_races};
