/* Where the registers of wavefronts stand. Nobody can see that.
 *
 * As a rule it is where the dispatcher has placed them, and accumulators follow. With unified
 * registers the number of both is a multiple of 8, and that of the first accumulator one of 4, so
 * that many kernels have accumulators that no instruction names. Between the registers that are
 * used they would keep pages. So on large platforms accumulators stand `agpr_gap` registers further
 * on, and where all wavefronts of a SIMD have as many registers as the first of them, what they use
 * stands without gaps.
 *
 * Wavefronts that may be lent (cu_lend.c) keep their accumulators behind their other registers.
 *
 * The registers of a SIMD are four banks: those of wavefronts that are alike, close by; those of
 * others; and the accumulators of either. Invariant: in its bank each wavefront has a part of its
 * own. Address space takes no memory. */
#include "compute_unit.gen.h"

#include "compute_unit_state.h"
#include "components/sampling/sampling_options.h"
#include "runtime/engine/arena.h"
#include "runtime/engine/platform_table.h"
#include "runtime/state/platform.h"

/* With more components than that the banks would take too much of the address space. */
#define REGISTERS_MOST ((uint32_t)1 << 14)

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
    bool lent = platform_sampling()->in_parts;
    if (unified && !lent && platform_is_large(table) && table->instance_count <= REGISTERS_MOST)
        c->agpr_gap = BANKS_OF_VGPRS * registers_of_bank(c);
    size_t registers = (size_t)compute_unit_params(c)->simds * registers_of_simd(c);
    c->vgprs = platform_registers(&c->io.base, registers * ISA_LANES * sizeof(uint32_t));
}

/* Are they as many as those of the others, and stand at a multiple of that? */
static bool registers_are_alike(const struct cu_packing *p, const struct cu_group *g,
                                unsigned first)
{
    return p->vgprs == g->vgprs && p->agprs == g->agprs && p->agprs <= p->vgprs
           && first % (p->vgprs + p->agprs) == 0;
}

/* Of a wavefront that begins, the dispatcher's number of the first one; arena offset. */
static uint32_t registers_take(struct compute_unit *c, const struct cu_group *g, unsigned simd,
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
    place += simd * registers_of_simd(c);
    return c->vgprs + place * (uint32_t)(ISA_LANES * sizeof(uint32_t) / ARENA_UNIT);
}

/* Of a wavefront that has ended. */
static inline void registers_give(struct compute_unit *c, unsigned simd)
{
    c->packing[simd].waves--;
}
