/* The resource pool against a plain model of arrays of granules that follows the rules as they are
 * written down. */
#define CU_RESOURCE_POOL_CONSTANTS                                                                 \
    {                                                                                              \
        .simds = 4, .wavefronts = 10, .vgprs = 256, .vgpr_granularity = 4, .sgprs = 800,           \
        .sgpr_granularity = 16, .lds = 65536, .lds_granularity = 512, .work_groups = 16            \
    }
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "components/amd/command_processor/cu_resource_pool.c"
#include "runtime/engine/arena.h"

enum { CUS = 3, SIMDS = 4, SLOTS = 10, VGPRS = 64, SGPRS = 50, LDS = 128, GROUPS = 16 };

struct model_cu {
    bool group[GROUPS], lds[LDS], slot[SIMDS][SLOTS], vgpr[SIMDS][VGPRS], sgpr[SIMDS][SGPRS];
    unsigned next_simd;
};

static struct model_cu model[CUS];
static struct cu_resource_pool *pool;

static void set_up(void)
{
    arena_open();
    pool = arena_at(struct cu_resource_pool, arena_allocate(sizeof *pool));
    memset(model, 0, sizeof model);
    pool_init(pool, CUS);
}

static int first_run(const bool *taken, int bits, int count)
{
    for (int i = 0; i + count <= bits; i++) {
        int k = 0;
        while (k < count && !taken[i + k])
            k++;
        if (k == count)
            return i;
    }
    return -1;
}

static void mark(bool *taken, int first, int count, bool value)
{
    for (int i = first; i < first + count; i++)
        taken[i] = value;
}

/* What place() has to do; on a copy, so that a refusal leaves nothing behind. */
static bool model_place(struct model_cu *cu, const struct resource_request *r,
                        struct work_placement *p)
{
    struct model_cu work = *cu;
    int vgprs = (int)(r->vgprs + 3) / 4, sgprs = (int)(r->sgprs + 15) / 16,
        lds = (int)(r->lds_bytes + 511) / 512;
    int group = first_run(work.group, GROUPS, 1), area = first_run(work.lds, LDS, lds);
    if (group < 0 || area < 0)
        return false;
    mark(work.group, group, 1, true);
    mark(work.lds, area, lds, true);
    for (unsigned i = 0; i < r->wavefronts; i++) {
        bool placed = false;
        for (unsigned t = 0; t < SIMDS && !placed; t++) {
            unsigned s = (work.next_simd + t) % SIMDS;
            int slot = first_run(work.slot[s], SLOTS, 1), v = first_run(work.vgpr[s], VGPRS, vgprs);
            int sg = first_run(work.sgpr[s], SGPRS, sgprs);
            if (slot < 0 || v < 0 || sg < 0)
                continue;
            mark(work.slot[s], slot, 1, true);
            mark(work.vgpr[s], v, vgprs, true);
            mark(work.sgpr[s], sg, sgprs, true);
            p->wavefront[i] = (struct work_wavefront){.simd = (uint8_t)s,
                                                      .slot = (uint8_t)slot,
                                                      .vgpr = (uint16_t)(v * 4),
                                                      .sgpr = (uint16_t)(sg * 16)};
            work.next_simd = (s + 1) % SIMDS;
            placed = true;
        }
        if (!placed)
            return false;
    }
    p->work_group_slot = (uint16_t)group;
    p->lds_offset = (uint32_t)area * 512;
    *cu = work;
    return true;
}

static void model_release(struct model_cu *cu, const struct resource_request *r,
                          const struct work_placement *p)
{
    cu->group[p->work_group_slot] = false;
    mark(cu->lds, (int)p->lds_offset / 512, (int)(r->lds_bytes + 511) / 512, false);
    for (unsigned i = 0; i < r->wavefronts; i++) {
        const struct work_wavefront *w = &p->wavefront[i];
        cu->slot[w->simd][w->slot] = false;
        mark(cu->vgpr[w->simd], w->vgpr / 4, (int)(r->vgprs + 3) / 4, false);
        mark(cu->sgpr[w->simd], w->sgpr / 16, (int)(r->sgprs + 15) / 16, false);
    }
}

Test(cu_resource_pool, agrees_with_a_plain_model, .init = set_up)
{
    static struct {
        struct resource_request request;
        struct work_placement placement;
        unsigned cu;
    } held[CUS * GROUPS];
    bool said[CUS] = {false}; /* refused since the last release of any */
    unsigned count = 0, placed = 0, refused = 0, refusals = 0;
    srand(3);
    for (unsigned step = 0; step < 30000; step++) {
        if (count && rand() % 5 < 2) {
            unsigned i = (unsigned)rand() % count;
            pool_release(pool, held[i].cu, held[i].placement.work_group_slot);
            model_release(&model[held[i].cu], &held[i].request, &held[i].placement);
            held[i] = held[--count];
            memset(said, 0, sizeof said);
            continue;
        }
        struct resource_request r = {1 + (uint32_t)rand() % 16, 1 + (uint32_t)rand() % 84,
                                     1 + (uint32_t)rand() % 102,
                                     rand() % 3 ? 0 : (uint32_t)rand() % 40000};
        struct work_placement got = {0}, want = {0};
        unsigned cu = (unsigned)rand() % CUS;
        bool fits = pool_may_fit(pool, cu, &r) && pool_place(pool, cu, &r, &got);
        cr_assert_eq(fits, model_place(&model[cu], &r, &want), "step %u", step);
        cr_assert(pool_possible(pool, &r) || !fits);
        placed += fits;
        refused += !fits;
        if (!fits && !said[cu])
            refusals++;
        said[cu] |= !fits;
        if (!fits)
            continue;
        cr_assert_eq(got.work_group_slot, want.work_group_slot);
        cr_assert_eq(got.lds_offset, want.lds_offset);
        cr_assert_arr_eq(got.wavefront, want.wavefront, sizeof got.wavefront);
        held[count].request = r;
        held[count].placement = got;
        held[count++].cu = cu;
    }
    cr_assert_gt(placed, 5000);
    cr_assert_gt(refused, 1000);
    cr_assert_eq(pool->io.stats.placements, placed);
    cr_assert_eq(pool->io.stats.refusals, refusals);
}

struct limit_case {
    const char *name;
    struct resource_request request;
    unsigned fit; /* work-groups on an empty compute unit */
};

Test(cu_resource_pool, limits_of_a_compute_unit, .init = set_up)
{
    static const struct limit_case cases[] = {
        {"wavefront slots", {4, 4, 16, 0}, 10},
        {"work-group slots", {1, 4, 16, 0}, 16},
        {"LDS", {1, 4, 16, 20000}, 3},
        {"LDS in granules of 512", {1, 4, 16, 16385}, 3},
        {"vector registers", {4, 64, 16, 0}, 4},
        {"vector registers in granules of 4", {4, 65, 16, 0}, 3},
        {"scalar registers", {4, 4, 102, 0}, 7},
        {"all registers", {4, 256, 16, 0}, 1},
        {"too many registers", {5, 256, 16, 0}, 0},
        {"too much LDS", {1, 4, 16, 65537}, 0},
    };
    for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
        const struct limit_case *c = &cases[i];
        struct work_placement p;
        uint16_t slots[GROUPS];
        unsigned fit = 0;
        while (fit < GROUPS && pool_place(pool, 0, &c->request, &p))
            slots[fit++] = p.work_group_slot;
        cr_assert_eq(fit, c->fit, "%s: %u work-groups instead of %u", c->name, fit, c->fit);
        cr_assert_eq(pool_possible(pool, &c->request), c->fit > 0, "%s", c->name);
        uint64_t releases = pool_releases(pool);
        for (unsigned k = 0; k < fit; k++)
            pool_release(pool, 0, slots[k]);
        cr_assert_eq(pool_releases(pool), releases + fit);
    }
}
