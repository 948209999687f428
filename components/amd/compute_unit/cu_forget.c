/* Registers, LDS and stages of what has ended go back to the system, on large platforms.
 *
 * A wavefront that has issued s_endpgm reads its registers no more, and none of a work-group of
 * such wavefronts reads its LDS: what is still to be stored stands in stages. With tens of
 * thousands of wavefronts, whose stores wait for their turn, that is a large part of all memory.
 * Where a new work-group begins it finds zeros.
 *
 * A page goes when nobody who goes on has a byte of it. Called when s_endpgm issues. */
#include "compute_unit.gen.h"

#include "compute_unit_state.h"
#include "runtime/engine/arena.h"

/* Less is not worth the calls of the system. */
#define FORGET_LEAST (2 * ARENA_PAGE)

/* So many wide stages at least. */
#define FORGET_STAGES 16u

struct forget_range {
    size_t start, end; /* bytes of the table */
};

/* The LDS and wide stages: for those who forget on whole pages. */
static uint32_t forget_allocate(const struct compute_unit *c, unsigned number, size_t bytes)
{
    size_t page = ARENA_PAGE / ARENA_UNIT;
    uint32_t stride;
    if (!c->forgets)
        return platform_gather(&c->io.base, number, 1, bytes, &stride);
    return (uint32_t)((arena_allocate(bytes + ARENA_PAGE) + page - 1) / page * page);
}

static bool forget_is_over(const struct cu_wave *w)
{
    return w->state == WAVE_FREE || w->state == WAVE_ENDING;
}

static bool forget_group_is_over(const struct compute_unit *c, const struct cu_group *g)
{
    unsigned i = 0;
    while (i < g->waves && forget_is_over(cu_wave_at(c, g->wave[i])))
        i++;
    return i == g->waves;
}

/* What is around the range on its first and its last page, too. */
static struct forget_range forget_around(struct forget_range own, size_t table_bytes)
{
    size_t before = ARENA_PAGE - ARENA_ALIGNMENT;
    return (struct forget_range){own.start > before ? own.start - before : 0,
                                 own.end + before < table_bytes ? own.end + before : table_bytes};
}

/* ... less what somebody else needs. */
static void forget_spare(struct forget_range *r, struct forget_range own, struct forget_range other)
{
    if (other.end <= own.start)
        r->start = other.end > r->start ? other.end : r->start;
    else
        r->end = other.start < r->end ? other.start : r->end;
}

/* Of the registers of its SIMD; those that follow each other, or `accumulators` that stand by
 * themselves. */
static struct forget_range forget_registers_of(const struct compute_unit *c,
                                               const struct cu_wave *w, size_t simd_bytes,
                                               bool accumulators)
{
    const struct cu_group *g = cu_group_at(c, w->group);
    size_t start = (size_t)(w->vgpr - c->vgprs) * ARENA_UNIT - w->simd * simd_bytes;
    size_t registers = c->agpr_gap ? g->vgprs : g->vgprs + g->agprs;
    if (accumulators) {
        start += (g->vgprs + c->agpr_gap) * REGISTER_BYTES;
        registers = g->agprs;
    }
    return (struct forget_range){start, start + registers * REGISTER_BYTES};
}

static void forget_registers(const struct compute_unit *c, const struct cu_wave *w,
                             bool accumulators)
{
    size_t simd_bytes = registers_of_simd(c) * REGISTER_BYTES;
    struct forget_range own = forget_registers_of(c, w, simd_bytes, accumulators);
    struct forget_range r = forget_around(own, simd_bytes);
    if (own.end - own.start < FORGET_LEAST)
        return;
    for (unsigned slot = 0; slot < (unsigned)compute_unit_params(c)->wavefronts; slot++) {
        const struct cu_wave *other = cu_wave_at(c, cu_wave_number(c, w->simd, slot));
        if (!forget_is_over(other))
            forget_spare(&r, own, forget_registers_of(c, other, simd_bytes, accumulators));
    }
    arena_forget(arena_at(char, c->vgprs) + w->simd * simd_bytes + r.start, r.end - r.start);
}

static struct forget_range forget_lds_of(const struct cu_group *g)
{
    return (struct forget_range){g->lds_offset, g->lds_offset + g->lds_bytes};
}

static void forget_lds(const struct compute_unit *c, const struct cu_group *g)
{
    struct forget_range own = forget_lds_of(g);
    struct forget_range r = forget_around(own, (size_t)compute_unit_params(c)->lds);
    if (g->lds_bytes < FORGET_LEAST || !forget_group_is_over(c, g))
        return;
    for (unsigned slot = 0; slot < CU_MAX_GROUPS; slot++) {
        const struct cu_group *other = cu_group_at(c, slot);
        if (other->used && other->lds_bytes && !forget_group_is_over(c, other))
            forget_spare(&r, own, forget_lds_of(other));
    }
    arena_forget(arena_at(char, c->lds) + r.start, r.end - r.start);
}

/* No wavefront is left. */
static void forget_stages(const struct compute_unit *c)
{
    size_t queue = (size_t)compute_unit_params(c)->vmem_queue;
    if (!c->forgets)
        return;
    arena_forget(arena_at(char, c->stages), queue * CU_STAGE);
    arena_forget(arena_at(char, c->wide), queue * CU_WIDE_STAGE);
}

/* Half of those that were in use at the same time are not any more. */
static void forget_wide_stages(struct compute_unit *c)
{
    unsigned queue = (unsigned)compute_unit_params(c)->vmem_queue, start = 0;
    const uint64_t *used = arena_at(uint64_t, c->stages_used);
    if (c->wide_most < FORGET_STAGES)
        return;
    c->wide_most = c->wide_used;
    for (unsigned i = 0; i <= queue; i++) {
        if (i < queue && !(used[i / 64] >> i % 64 & 1))
            continue;
        arena_forget(arena_at(char, c->wide) + (size_t)start * CU_WIDE_STAGE,
                     (size_t)(i - start) * CU_WIDE_STAGE);
        start = i + 1;
    }
}

static __attribute__((noinline)) void forget_ended(const struct compute_unit *c,
                                                   const struct cu_wave *w)
{
    forget_registers(c, w, false);
    if (c->agpr_gap && cu_group_at(c, w->group)->agprs * REGISTER_BYTES >= FORGET_LEAST)
        forget_registers(c, w, true);
    forget_lds(c, cu_group_at(c, w->group));
}

/* The wavefront has issued s_endpgm. */
static inline void forget_wave(const struct compute_unit *c, const struct cu_wave *w)
{
    if (engine_unlikely(c->forgets))
        forget_ended(c, w);
}
