/* See ptx_races.h. The order is that of PTX's memory consistency model ("PTX ISA", Memory
 * Consistency Model): fences, the orders and scopes that instructions are written with, barriers.
 * Lanes of a warp are taken for ordered among themselves. Bulk and asynchronous copies, matrix
 * loads and the arrival of transactions at barriers are not looked at. */
#include "ptx_races.h"

#include "components/checks/races/race_report.h"
#include "base/hash.h"

enum { FEW = 8, LANE_BITS = 5 };

static struct {
    const struct ptx_call *call;
    const struct ptx_past *past;
    enum finding_space space;
} report_context;

static uint64_t site_pc(race_id id, uint32_t site)
{
    return warp_instruction_address(ptx_check_past(id >> RACE_GROUP_BITS)->code->code,
                                    site >> LANE_BITS);
}

static void race_place(race_id id, uint32_t site, struct finding_place *place)
{
    ptx_check_place(ptx_check_past(id >> RACE_GROUP_BITS), id % RACE_GROUP, site >> LANE_BITS,
                    site % (1 << LANE_BITS), place);
}

const struct race_source ptx_race_source = {.pc = site_pc, .describe = race_place};

static void found_in_ptx(const struct race_event *e, const struct race_access *earlier,
                         enum race_use use)
{
    (void)use;
    race_report(e, earlier, report_context.space, report_context.past->program);
}

/* ---- accesses ---- */

static bool is_near(const struct ptx_instruction *inst)
{
    return ptx_has(inst, PTX_MOD_CTA);
}

static enum race_use use_of(const struct ptx_instruction *inst)
{
    bool strong = ptx_has(inst, PTX_MOD_VOLATILE) || ptx_has(inst, PTX_MOD_RELAXED)
                  || ptx_has(inst, PTX_MOD_ACQUIRE) || ptx_has(inst, PTX_MOD_RELEASE)
                  || ptx_has(inst, PTX_MOD_MMIO);
    switch (inst->opcode) {
    case PTX_OP_LD:
    case PTX_OP_LDU:
        return strong ? RACE_ATOMIC_READ : RACE_READ;
    case PTX_OP_ST:
        return strong ? RACE_ATOMIC_WRITE : RACE_WRITE;
    default:
        return ptx_has(inst, PTX_MOD_CAS) ? RACE_COMPARE : RACE_ATOMIC_WRITE;
    }
}

/* The block of the cluster whose shared memory the address is in. */
static struct ptx_check_block *owner_of(struct ptx_check_block *b, uint64_t address)
{
    uint64_t rank = address >> WARP_RANK_SHIFT;
    if (!rank)
        return b;
    return ptx_check_block(report_context.call,
                           b->number - b->number % b->cluster_blocks + rank - 1,
                           b->wave[0].command);
}

/* What an order is known by: the address, apart for each block's shared memory. */
static uint64_t place_at(struct ptx_check_block *b, const struct warp_step *s, unsigned lane)
{
    uint64_t address = s->addresses[lane];
    if (s->space != PTX_SPACE_SHARED)
        return race_process_base(report_context.past->pid) + address;
    return (uint64_t)1 << 63 | (uint64_t)owner_of(b, address)->group << WARP_RANK_SHIFT
           | (address & WARP_RANK_OFFSET);
}

/* The different places that an instruction accesses; 0: more than `most`. */
static unsigned places_of(struct ptx_check_block *b, const struct warp_step *s, unsigned most,
                          uint64_t place[WARP_LANES])
{
    unsigned count = 0;
    for (uint32_t rest = s->active; rest; rest &= rest - 1) {
        uint64_t at = place_at(b, s, (unsigned)__builtin_ctz(rest));
        unsigned i = 0;
        while (i < count && place[i] != at)
            i++;
        if (i == count && count == most)
            return 0;
        place[i] = at;
        count += i == count;
    }
    return count;
}

/* Orders wavefronts by atomics at few places. */
static void synchronise(struct ptx_check_block *b, const struct ptx_instruction *inst,
                        const struct warp_step *s)
{
    struct race_wave *w = &b->wave[s->warp];
    uint64_t place[WARP_LANES];
    bool counts = inst->opcode == PTX_OP_ATOM || inst->opcode == PTX_OP_RED; /* as histograms do */
    unsigned count = places_of(b, s, counts ? FEW : WARP_LANES, place);
    bool reads = inst->opcode != PTX_OP_ST && inst->opcode != PTX_OP_RED;
    bool writes = inst->opcode != PTX_OP_LD && inst->opcode != PTX_OP_LDU;
    if (count == 0)
        return;
    bool acquires = ptx_has(inst, PTX_MOD_ACQUIRE) || ptx_has(inst, PTX_MOD_ACQ_REL);
    bool releases = ptx_has(inst, PTX_MOD_RELEASE) || ptx_has(inst, PTX_MOD_ACQ_REL);
    bool behind_fence = writes && b->fenced >> s->warp & 1; /* it is released with the fence */
    if ((releases && !is_near(inst)) || behind_fence)
        race_fence(w);
    for (unsigned i = 0; i < count; i++) {
        if (reads)
            race_hear(w, place[i]);
        if (writes)
            race_release(w, place[i], reads || inst->opcode == PTX_OP_RED);
    }
    if (acquires)
        race_acquire(w, is_near(inst));
}

static void access_memory(struct ptx_check_block *b, const struct ptx_instruction *inst,
                          const struct warp_step *s)
{
    bool shared = s->space == PTX_SPACE_SHARED;
    uint64_t base = shared ? 0 : race_process_base(report_context.past->pid), last = UINT64_MAX;
    struct race_event e = {.wave = &b->wave[s->warp],
                           .bytes = s->bytes,
                           .use = use_of(inst),
                           .order = &(struct race_order){.id = {0}},
                           .found = found_in_ptx};
    if (!shared && s->space != PTX_SPACE_GLOBAL)
        return;
    report_context.space = shared ? FINDING_LDS : FINDING_GLOBAL;
    for (uint32_t rest = s->active; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        if (s->addresses[lane] == last) /* a broadcast */
            continue;
        last = s->addresses[lane];
        e.address = base + (shared ? last & WARP_RANK_OFFSET : last);
        e.site = s->instruction << LANE_BITS | lane;
        race_touch(shared ? &owner_of(b, last)->shared : &race_device_memory, &e);
    }
    if (e.use == RACE_WRITE)
        b->fenced &= ~(1u << s->warp);
    if (e.use & RACE_ATOMIC_READ)
        synchronise(b, inst, s);
}

/* An mbarrier: each arrival is ordered before the end of each wait. */
static void barrier_object(struct ptx_check_block *b, const struct ptx_instruction *inst,
                           const struct warp_step *s)
{
    struct race_wave *w = &b->wave[s->warp];
    uint64_t place[WARP_LANES];
    unsigned count = places_of(b, s, WARP_LANES, place);
    bool waits =
        inst->opcode == PTX_OP_MBARRIER_TEST_WAIT || inst->opcode == PTX_OP_MBARRIER_TRY_WAIT;
    if (!waits && b->cluster_blocks > 1)
        race_fence(w);
    for (unsigned i = 0; i < count; i++)
        if (waits)
            race_hear(w, place[i]);
        else
            race_release(w, place[i], true);
    if (waits)
        race_acquire(w, b->cluster_blocks == 1);
}

/* Threads of all blocks of a cluster arrive, and wait for each other: one place for each two
 * phases, since all have waited for the last but one. */
static void cluster_barrier(struct ptx_check_block *b, const struct ptx_instruction *inst,
                            const struct warp_step *s)
{
    struct race_wave *w = &b->wave[s->warp];
    uint64_t cluster = hash_multiply(hash_multiply(b->launch) ^ b->number / b->cluster_blocks);
    uint64_t place = (uint64_t)1 << 62 | cluster >> 4 << 1;
    if (ptx_has(inst, PTX_MOD_WAIT)) {
        race_hear(w, place | ((s->phase - 1) & 1));
        race_acquire(w, false);
    } else if (!ptx_has(inst, PTX_MOD_RELAXED)) {
        race_fence(w);
        race_release(w, place | (s->phase & 1), true);
    }
}

static void fence(struct ptx_check_block *b, uint32_t warp, const struct ptx_instruction *inst)
{
    bool near = is_near(inst);
    /* Releases observed so far are ordered before the warp's later accesses. */
    race_acquire(&b->wave[warp], near);
    if (near)
        return;
    race_fence(&b->wave[warp]);
    b->fenced |= 1u << warp;
}

void ptx_races_step(const struct ptx_call *call, struct ptx_check_block *b,
                    const struct warp_step *s, const struct ptx_instruction *inst)
{
    report_context.call = call;
    report_context.past = ptx_check_past(b->group);
    bool is_object =
        inst->opcode >= PTX_OP_MBARRIER_INIT && inst->opcode <= PTX_OP_MBARRIER_TRY_WAIT;
    if (inst->opcode == PTX_OP_MEMBAR || inst->opcode == PTX_OP_FENCE)
        fence(b, s->warp, inst);
    else if (ptx_check_accesses(inst) && s->addresses && s->active)
        access_memory(b, inst, s);
    else if (is_object && s->addresses && s->active)
        barrier_object(b, inst, s);
    else if (inst->opcode == PTX_OP_BARRIER_CLUSTER)
        cluster_barrier(b, inst, s);
}

/* For other blocks of a cluster the end is a store to all that they may have accessed. */
void ptx_races_end(struct ptx_check_block *b, const struct warp_step *s)
{
    struct race_wave *all[RACE_GROUP];
    uint32_t count = 0;
    if (b->cluster_blocks == 1 || !finding_wanted(FINDING_CHECK_RACES))
        return;
    for (uint32_t i = 0; i < RACE_GROUP; i++)
        if (b->wave[i].id)
            all[count++] = &b->wave[i];
    race_join(all, count);
    report_context.past = ptx_check_past(b->group);
    report_context.space = FINDING_LDS;
    race_touch(&b->shared, &(struct race_event){.wave = &b->wave[s->warp],
                                                .bytes = (uint32_t)b->shared.flat_bytes,
                                                .use = RACE_WRITE,
                                                .site = s->instruction << LANE_BITS
                                                        | (uint32_t)__builtin_ctz(s->active),
                                                .order = &(struct race_order){.id = {0}},
                                                .found = found_in_ptx});
}
