/* Resources of the compute units as bitmaps of granules, taken first fit.
 *
 * Invariant: a bit is set exactly while the work-group that took it is recorded in its slot; a
 * placement takes everything or nothing. Wavefronts of a work-group go to the SIMDs in turn,
 * beginning where the last placement on that compute unit ended. Owned by the command processor,
 * which calls it, as do its dispatchers. */
#include "cu_resource_pool.h"

#include "cu_resource_pool.gen.h"

#include "base/number.h"
#include "components/protocols/work/work_placement.h"
#include "runtime/engine/bug.h"
#include "runtime/engine/engine.h"

/* A work-group that is placed. */
struct pool_group {
    uint32_t lds_first, lds_granules;
    uint16_t wavefronts, vgpr_granules, sgpr_granules;
    struct work_wavefront wavefront[WORK_WAVEFRONTS_MAX];
};

struct pool_cu {
    uint64_t group_slots; /* taken */
    uint32_t free_wavefronts;
    uint32_t free_lds; /* granules */
    uint32_t next_simd;
    uint32_t group_count;
    uint64_t refused; /* 1 + releases at the last refusal counted: repeated refusals count once */
};

struct cu_resource_pool {
    struct cu_resource_pool_io io;
    uint64_t releases;
    uint32_t compute_units;
    uint32_t cus_at;    /* struct pool_cu[compute_units] */
    uint32_t groups_at; /* struct pool_group[work_groups][compute_units] */
    uint32_t slots_at;  /* uint64_t[compute_units][simds]: wavefront slots taken */
    uint32_t vgprs_at;  /* uint64_t[compute_units][simds][vgpr_words]: granules taken */
    uint32_t sgprs_at;  /* uint64_t[compute_units][simds][sgpr_words]: granules taken */
    uint32_t lds_at;    /* uint64_t[compute_units][lds_words] */
    uint32_t vgpr_words, sgpr_words, lds_words;
    uint32_t vgpr_granules, sgpr_granules, lds_granules; /* there are */
};

static uint32_t granules(uint64_t amount, int64_t granularity)
{
    return (uint32_t)divide_up(amount, (uint64_t)granularity);
}

static bool bit_taken(const uint64_t *map, uint32_t bit)
{
    return map[bit / 64] >> (bit % 64) & 1;
}

/* First free run of `count` bits among `bits`, or -1. */
static int32_t run_find(const uint64_t *map, uint32_t bits, uint32_t count)
{
    uint32_t run = 0;
    if (!count)
        return 0;
    for (uint32_t i = 0; i < bits; i++) {
        if (run == 0 && i % 64 == 0 && map[i / 64] == UINT64_MAX) {
            i += 63;
            continue;
        }
        run = bit_taken(map, i) ? 0 : run + 1;
        if (run == count)
            return (int32_t)(i + 1 - count);
    }
    return -1;
}

static void run_flip(uint64_t *map, uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++)
        map[i / 64] ^= (uint64_t)1 << (i % 64);
}

static struct pool_cu *pool_cu_at(const struct cu_resource_pool *p, uint32_t number)
{
    return arena_at(struct pool_cu, p->cus_at) + number;
}

static struct pool_group *pool_group_at(const struct cu_resource_pool *p, uint32_t cu,
                                        uint32_t slot)
{
    return arena_at(struct pool_group, p->groups_at) + (size_t)slot * p->compute_units + cu;
}

static uint64_t *pool_slots(const struct cu_resource_pool *p, uint32_t cu, uint32_t simd)
{
    return arena_at(uint64_t, p->slots_at) + (size_t)cu * cu_resource_pool_params(p)->simds + simd;
}

static uint64_t *pool_vgprs(const struct cu_resource_pool *p, uint32_t cu, uint32_t simd)
{
    return arena_at(uint64_t, p->vgprs_at)
           + ((size_t)cu * cu_resource_pool_params(p)->simds + simd) * p->vgpr_words;
}

static uint64_t *pool_sgprs(const struct cu_resource_pool *p, uint32_t cu, uint32_t simd)
{
    return arena_at(uint64_t, p->sgprs_at)
           + ((size_t)cu * cu_resource_pool_params(p)->simds + simd) * p->sgpr_words;
}

static uint64_t *pool_lds(const struct cu_resource_pool *p, uint32_t cu)
{
    return arena_at(uint64_t, p->lds_at) + (size_t)cu * p->lds_words;
}

static void pool_init(struct cu_resource_pool *p, uint32_t compute_units)
{
    const struct cu_resource_pool_params *params = cu_resource_pool_params(p);
    size_t simds = (size_t)compute_units * params->simds;
    p->compute_units = compute_units;
    p->vgpr_granules = (uint32_t)(params->vgprs / params->vgpr_granularity);
    p->sgpr_granules = (uint32_t)(params->sgprs / params->sgpr_granularity);
    p->lds_granules = (uint32_t)(params->lds / params->lds_granularity);
    p->vgpr_words = p->vgpr_granules / 64 + 1;
    p->sgpr_words = p->sgpr_granules / 64 + 1;
    p->lds_words = p->lds_granules / 64 + 1;
    p->cus_at = arena_allocate(compute_units * sizeof(struct pool_cu));
    p->groups_at = arena_allocate(compute_units * params->work_groups * sizeof(struct pool_group));
    p->slots_at = arena_allocate(simds * sizeof(uint64_t));
    p->vgprs_at = arena_allocate(simds * p->vgpr_words * sizeof(uint64_t));
    p->sgprs_at = arena_allocate(simds * p->sgpr_words * sizeof(uint64_t));
    p->lds_at = arena_allocate(compute_units * (size_t)p->lds_words * sizeof(uint64_t));
    for (uint32_t i = 0; i < compute_units; i++) {
        struct pool_cu *cu = pool_cu_at(p, i);
        cu->free_wavefronts = (uint32_t)(params->simds * params->wavefronts);
        cu->free_lds = p->lds_granules;
    }
}

/* Work-groups whose wavefronts each take `need` of the `there` granules of a SIMD. */
static uint32_t groups_by_registers(uint32_t there, uint32_t need, uint32_t simds,
                                    uint32_t wavefronts)
{
    return need ? there / need * simds / wavefronts : UINT32_MAX;
}

static void pool_limits(const struct cu_resource_pool *p, const struct resource_request *r,
                        struct resource_limits *limits)
{
    const struct cu_resource_pool_params *params = cu_resource_pool_params(p);
    uint32_t simds = params->simds, lds = granules(r->lds_bytes, params->lds_granularity);
    *limits = (struct resource_limits){
        .wavefront_slots = params->wavefronts * simds / r->wavefronts,
        .vgprs = groups_by_registers(p->vgpr_granules, granules(r->vgprs, params->vgpr_granularity),
                                     simds, r->wavefronts),
        .sgprs = groups_by_registers(p->sgpr_granules, granules(r->sgprs, params->sgpr_granularity),
                                     simds, r->wavefronts),
        .lds = lds ? p->lds_granules / lds : UINT32_MAX,
        .work_group_slots = params->work_groups};
}

/* By registers and wavefront slots together, a SIMD holds as many wavefronts as the scarcest
 * allows. */
static bool pool_possible(const struct cu_resource_pool *p, const struct resource_request *r)
{
    struct resource_limits limits;
    if (!r->wavefronts || r->wavefronts > WORK_WAVEFRONTS_MAX)
        return !r->wavefronts;
    pool_limits(p, r, &limits);
    return limits.wavefront_slots && limits.vgprs && limits.sgprs && limits.lds
           && limits.work_group_slots;
}

/* A compute unit has no room: counted once between two releases. */
static bool pool_refuse(struct cu_resource_pool *p, struct pool_cu *cu)
{
    p->io.stats.refusals += cu->refused != p->releases + 1;
    cu->refused = p->releases + 1;
    return false;
}

static bool pool_may_fit(struct cu_resource_pool *p, uint32_t number,
                         const struct resource_request *r)
{
    struct pool_cu *cu = pool_cu_at(p, number);
    bool room =
        cu->free_wavefronts >= r->wavefronts
        && cu->group_count < cu_resource_pool_params(p)->work_groups
        && cu->free_lds >= granules(r->lds_bytes, cu_resource_pool_params(p)->lds_granularity);
    return room || pool_refuse(p, cu);
}

static void wavefront_flip(const struct cu_resource_pool *p, uint32_t cu,
                           const struct pool_group *g, const struct work_wavefront *w)
{
    const struct cu_resource_pool_params *params = cu_resource_pool_params(p);
    *pool_slots(p, cu, w->simd) ^= (uint64_t)1 << w->slot;
    run_flip(pool_vgprs(p, cu, w->simd), w->vgpr / params->vgpr_granularity, g->vgpr_granules);
    run_flip(pool_sgprs(p, cu, w->simd), w->sgpr / params->sgpr_granularity, g->sgpr_granules);
}

/* A place for one more wavefront of the group on that SIMD; taken when found. */
static bool wavefront_place(const struct cu_resource_pool *p, uint32_t cu, uint32_t simd,
                            const struct pool_group *g, struct work_wavefront *w)
{
    const struct cu_resource_pool_params *params = cu_resource_pool_params(p);
    int32_t slot = run_find(pool_slots(p, cu, simd), params->wavefronts, 1);
    int32_t vgpr =
        slot < 0 ? -1 : run_find(pool_vgprs(p, cu, simd), p->vgpr_granules, g->vgpr_granules);
    int32_t sgpr =
        vgpr < 0 ? -1 : run_find(pool_sgprs(p, cu, simd), p->sgpr_granules, g->sgpr_granules);
    if (sgpr < 0)
        return false;
    *w = (struct work_wavefront){.simd = (uint8_t)simd,
                                 .slot = (uint8_t)slot,
                                 .vgpr = (uint16_t)(vgpr * params->vgpr_granularity),
                                 .sgpr = (uint16_t)(sgpr * params->sgpr_granularity)};
    wavefront_flip(p, cu, g, w);
    return true;
}

/* Places all wavefronts of the group, or none. */
static bool wavefronts_place(const struct cu_resource_pool *p, uint32_t number,
                             struct pool_group *g)
{
    struct pool_cu *cu = pool_cu_at(p, number);
    uint32_t simds = cu_resource_pool_params(p)->simds, simd = cu->next_simd;
    for (uint32_t i = 0; i < g->wavefronts; i++) {
        uint32_t tries = 0;
        while (tries < simds
               && !wavefront_place(p, number, (simd + tries) % simds, g, &g->wavefront[i]))
            tries++;
        if (tries == simds) {
            while (i-- > 0)
                wavefront_flip(p, number, g, &g->wavefront[i]);
            return false;
        }
        simd = (simd + tries + 1) % simds;
    }
    cu->next_simd = simd;
    return true;
}

static bool pool_place(struct cu_resource_pool *p, uint32_t number,
                       const struct resource_request *r, struct work_placement *placement)
{
    const struct cu_resource_pool_params *params = cu_resource_pool_params(p);
    struct pool_cu *cu = pool_cu_at(p, number);
    struct pool_group g = {.lds_granules = granules(r->lds_bytes, params->lds_granularity),
                           .wavefronts = (uint16_t)r->wavefronts,
                           .vgpr_granules = (uint16_t)granules(r->vgprs, params->vgpr_granularity),
                           .sgpr_granules = (uint16_t)granules(r->sgprs, params->sgpr_granularity)};
    int32_t slot = run_find(&cu->group_slots, params->work_groups, 1);
    int32_t lds = slot < 0 ? -1 : run_find(pool_lds(p, number), p->lds_granules, g.lds_granules);
    if (lds < 0 || !wavefronts_place(p, number, &g))
        return pool_refuse(p, cu);
    g.lds_first = (uint32_t)lds;
    run_flip(pool_lds(p, number), g.lds_first, g.lds_granules);
    run_flip(&cu->group_slots, (uint32_t)slot, 1);
    cu->free_lds -= g.lds_granules;
    cu->free_wavefronts -= g.wavefronts;
    cu->group_count++;
    *pool_group_at(p, number, (uint32_t)slot) = g;
    placement->work_group_slot = (uint16_t)slot;
    placement->lds_offset = g.lds_first * params->lds_granularity;
    for (uint32_t i = 0; i < g.wavefronts; i++)
        placement->wavefront[i] = g.wavefront[i];
    p->io.stats.placements++;
    return true;
}

static void pool_release(struct cu_resource_pool *p, uint32_t number, uint32_t slot)
{
    struct pool_cu *cu = pool_cu_at(p, number);
    const struct pool_group *g = pool_group_at(p, number, slot);
    if (!bit_taken(&cu->group_slots, slot))
        bug("resource pool: work-group slot %u of compute unit %u is not taken", slot, number);
    for (uint32_t i = 0; i < g->wavefronts; i++)
        wavefront_flip(p, number, g, &g->wavefront[i]);
    run_flip(pool_lds(p, number), g->lds_first, g->lds_granules);
    run_flip(&cu->group_slots, slot, 1);
    cu->free_lds += g->lds_granules;
    cu->free_wavefronts += g->wavefronts;
    cu->group_count--;
    p->releases++;
}

static uint64_t pool_releases(const struct cu_resource_pool *p)
{
    return p->releases;
}
