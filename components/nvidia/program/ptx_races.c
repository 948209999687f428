/* `--check races` of kernels in PTX. The order is that of PTX's memory consistency model ("PTX
 * ISA", Memory Consistency Model): fences, the orders and scopes that instructions are written
 * with, barriers. Lanes of a warp are taken for ordered among themselves. Bulk and asynchronous
 * copies, matrix loads and the arrival of transactions at barriers are not looked at. */
#include "base/hash.h"
#include "components/checks/races/race_lanes.h"

#include "ptx_check_block.h"

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
    return ptx_check_block(b->call, b->number - b->number % b->cluster_blocks + rank - 1,
                           b->wave[0].command);
}

/* The different places that an instruction accesses, as orders by atomics know them. */
static unsigned places_of(struct ptx_check_block *b, const struct warp_step *s, unsigned most,
                          uint64_t place[WARP_LANES])
{
    uint64_t address[WARP_LANES];
    for (uint32_t rest = s->active; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        uint64_t at = s->addresses[lane];
        address[lane] = s->space != PTX_SPACE_SHARED
                            ? race_process_base(b->identity.pid) + at
                            : race_lds_base(owner_of(b, at)->group) | (at & WARP_RANK_OFFSET);
    }
    return race_places(address, s->active, most, place);
}

/* Orders wavefronts by atomics at few places. */
static void synchronise(struct ptx_check_block *b, const struct ptx_instruction *inst,
                        const struct warp_step *s)
{
    struct race_wave *w = &b->wave[s->warp];
    uint64_t place[WARP_LANES];
    bool may_count = inst->opcode == PTX_OP_ATOM || inst->opcode == PTX_OP_RED;
    unsigned count = places_of(b, s, may_count ? RACE_FEW_PLACES : WARP_LANES, place);
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
            race_note_read(w, place[i]);
        if (writes)
            race_release(w, place[i], reads || inst->opcode == PTX_OP_RED);
    }
    if (acquires)
        race_acquire(w, is_near(inst));
}

/* Lanes in a row whose addresses are in one block's memory are one access. */
static void touch_shared(struct ptx_check_block *b, struct race_lanes l)
{
    uint64_t rest = l.mask;
    while (rest) {
        uint64_t rank = l.address[__builtin_ctzll(rest)] >> WARP_RANK_SHIFT;
        l.memory = &owner_of(b, rank << WARP_RANK_SHIFT)->shared;
        l.base = 0 - (rank << WARP_RANK_SHIFT);
        l.mask = 0;
        for (; rest && l.address[__builtin_ctzll(rest)] >> WARP_RANK_SHIFT == rank;
             rest &= rest - 1)
            l.mask |= rest & (0 - rest);
        race_touch_lanes(&l);
    }
}

static void access_memory(struct ptx_check_block *b, const struct ptx_instruction *inst,
                          const struct warp_step *s)
{
    const struct race_lanes l = {.memory = &race_device_memory,
                                 .wave = &b->wave[s->warp],
                                 .address = s->addresses,
                                 .mask = s->active,
                                 .base = race_process_base(b->identity.pid),
                                 .bytes = s->bytes,
                                 .instruction = s->instruction,
                                 .use = use_of(inst)};
    if (s->space == PTX_SPACE_GLOBAL)
        race_touch_lanes(&l);
    else if (s->space == PTX_SPACE_SHARED)
        touch_shared(b, l);
    else
        return;
    if (l.use == RACE_WRITE)
        b->fenced &= ~(1u << s->warp);
    if (l.use & RACE_ATOMIC_READ)
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
            race_note_read(w, place[i]);
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
    uint64_t cluster =
        hash_multiply(hash_multiply(b->identity.launch) ^ b->number / b->cluster_blocks);
    uint64_t place = (uint64_t)1 << 62 | cluster >> 4 << 1;
    if (ptx_has(inst, PTX_MOD_WAIT)) {
        race_note_read(w, place | ((s->phase - 1) & 1));
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

void ptx_races_step(struct ptx_check_block *b, const struct warp_step *s,
                    const struct ptx_instruction *inst)
{
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
    if (b->cluster_blocks == 1 || !finding_is_wanted(FINDING_CHECK_RACES))
        return;
    for (uint32_t i = 0; i < RACE_GROUP; i++)
        if (b->wave[i].id)
            all[count++] = &b->wave[i];
    race_join(all, count);
    uint32_t lane = (uint32_t)__builtin_ctz(s->active);
    race_touch(&(struct race_event){.memory = &b->shared,
                                    .wave = &b->wave[s->warp],
                                    .bytes = (uint32_t)b->shared.flat_bytes,
                                    .use = RACE_WRITE,
                                    .site = race_site(s->instruction, lane),
                                    .order = &(struct race_order){.id = {0}},
                                    .report = race_report});
}
