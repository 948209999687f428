/* Where the registers of wavefronts stand. Nobody can see that.
 *
 * As a rule it is the first place in the banks of the unit that has room (register_banks.h),
 * whichever SIMD they belong to. The first banks of all units stand side by side, so a program that
 * needs a quarter of the registers touches a quarter of the huge pages. A wavefront for which there
 * is no room left in one piece has it where the dispatcher has placed it, in spare banks.
 *
 * On large platforms it is always where the dispatcher has placed them, and accumulators follow.
 * With unified registers the number of both is a multiple of 8, and that of the first accumulator
 * one of 4, so that many kernels have accumulators that no instruction names. Between the registers
 * that are used they would keep pages. So there accumulators stand `agpr_gap` registers further on,
 * and where all wavefronts of a SIMD have as many registers as the first of them, what they use
 * stands without gaps.
 *
 * The registers of a SIMD are four banks then: those of wavefronts that are alike, close by; those
 * of others; and the accumulators of either. Invariant: in its bank each wavefront has a part of
 * its own. Address space takes no memory. */
#include "compute_unit.gen.h"

#include "compute_unit_state.h"
#include "runtime/engine/arena.h"
#include "runtime/engine/platform_table.h"
#include "runtime/state/platform.h"

/* With more components than that the banks would take too much of the address space. */
#define REGISTERS_MOST ((uint32_t)1 << 14)

#define REGISTER_UNITS ((uint32_t)(REGISTER_BYTES / ARENA_UNIT))

_Static_assert((int)CU_MAX_SIMDS <= (int)REGISTER_BANKS_MOST, "a SIMD has a bank");

enum { BANK_ALIKE, BANK_OTHERS, BANKS_OF_VGPRS, BANKS = 2 * BANKS_OF_VGPRS };

static uint32_t registers_of_bank(const struct compute_unit *c)
{
    return work_registers(cu_target(c), (uint32_t)compute_unit_params(c)->vgprs);
}

static uint32_t registers_of_simd(const struct compute_unit *c)
{
    return (c->agpr_gap ? BANKS : 1) * registers_of_bank(c);
}

static void registers_allocate(struct compute_unit *c)
{
    const struct platform_table *table = engine_base.platform;
    bool unified = isa_traits[cu_target(c)].accumulators == ISA_ACCUMULATORS_UNIFIED;
    uint32_t simds = (uint32_t)compute_unit_params(c)->simds, stride;
    size_t bank_bytes = registers_of_bank(c) * REGISTER_BYTES;
    if (unified && c->forgets && table->instance_count <= REGISTERS_MOST)
        c->agpr_gap = BANKS_OF_VGPRS * registers_of_bank(c);
    if (c->forgets) {
        size_t bytes = simds * registers_of_simd(c) * REGISTER_BYTES;
        c->vgprs = platform_gather(&c->io.base, CU_GATHERED_REGISTERS, 1, bytes, &stride);
        return;
    }
    c->banks = register_banks_make(simds, registers_of_bank(c));
    c->vgprs =
        platform_gather(&c->io.base, CU_GATHERED_REGISTERS, simds, bank_bytes, &c->bank_stride);
    c->spare_vgprs = arena_allocate_rear(simds * bank_bytes);
}

/* Are they as many as those of the others, and stand at a multiple of that? */
static bool registers_are_alike(const struct cu_packing *p, const struct cu_group *g,
                                unsigned first)
{
    return p->vgprs == g->vgprs && p->agprs == g->agprs && p->agprs <= p->vgprs
           && first % (p->vgprs + p->agprs) == 0;
}

/* On a large platform, of a wavefront that begins; register of the unit. */
static uint32_t registers_place(struct compute_unit *c, const struct cu_group *g, unsigned simd,
                                unsigned first)
{
    struct cu_packing *p = &c->packing[simd];
    uint32_t place = work_registers(cu_target(c), first);
    if (!p->waves++)
        *p = (struct cu_packing){(uint16_t)g->vgprs, (uint16_t)g->agprs, 1};
    if (c->agpr_gap && registers_are_alike(p, g, first))
        place = first / (p->vgprs + p->agprs) * p->vgprs;
    else if (c->agpr_gap)
        place += BANK_OTHERS * registers_of_bank(c);
    return place + simd * registers_of_simd(c);
}

/* Of a wavefront that begins, the dispatcher's number of the first one; arena offset. */
static uint32_t registers_take(struct compute_unit *c, const struct cu_group *g, unsigned simd,
                               unsigned first)
{
    struct register_place place;
    if (c->forgets)
        return c->vgprs + registers_place(c, g, simd, first) * REGISTER_UNITS;
    if (register_banks_take(&c->banks, g->vgprs + g->agprs, &place))
        return c->vgprs + place.bank * c->bank_stride + place.first * REGISTER_UNITS;
    first = work_registers(cu_target(c), first) + simd * registers_of_bank(c);
    return c->spare_vgprs + first * REGISTER_UNITS;
}

/* On a large platform, of a wavefront that has ended. */
static inline void registers_leave(struct compute_unit *c, unsigned simd)
{
    if (c->forgets)
        c->packing[simd].waves--;
}

/* Of a work-group that has ended, as the dispatcher does. */
static void registers_give(struct compute_unit *c, const struct cu_group *g)
{
    if (c->forgets)
        return;
    uint32_t spare = c->banks.count * registers_of_bank(c) * REGISTER_UNITS;
    for (unsigned i = 0; i < g->waves; i++) {
        const struct cu_wave *w = cu_wave_at(c, g->wave[i]);
        uint32_t place = w->vgpr - c->vgprs;
        struct register_place at = {place / c->bank_stride,
                                    place % c->bank_stride / REGISTER_UNITS};
        if (w->vgpr - c->spare_vgprs >= spare)
            register_banks_give(&c->banks, at, g->vgprs + g->agprs);
    }
}
