/* Work-groups that go on without timing for a while; see components/amd/execute/lent_groups.h.
 *
 * A paused unit issues nothing and answers no work-group, so in the end all of its wavefronts are
 * ready, at a barrier, or gone, and no counter is raised. Then their registers are all there is to
 * know of them. In the cycle in which the unit goes on each wavefront stands where it has got to,
 * as if it had waited until then. What it had decoded is wrong by then, which its turn finds out
 * (issue_wave()). */
#include "compute_unit.gen.h"

#include "compute_unit_state.h"
#include "components/sampling/sampling_options.h"
#include "runtime/state/platform.h"

static struct compute_unit *lend_unit(struct component *base)
{
    return (struct compute_unit *)(void *)base;
}

/* It is ticked in the cycle `until`. */
static void lend_pause(struct component *base, uint64_t until)
{
    if (lend_unit(base)->may_be_late)
        bug("compute unit: paused, and may leave out turns");
    lend_unit(base)->paused_until = until;
}

/* The pause is over: every SIMD takes its next turn. */
__attribute__((noinline)) static void lend_go_on(struct compute_unit *c, uint64_t now)
{
    c->paused_until = 0;
    for (unsigned s = 0; s < (unsigned)compute_unit_params(c)->simds; s++)
        cu_retry(c, s, cu_turn(c, s, now), now);
}

static uint32_t lend_running(const struct component *base)
{
    return ((const struct compute_unit *)(const void *)base)->resident;
}

/* What a paused unit waits for. */
static unsigned lend_in_flight(const struct compute_unit *c)
{
    unsigned waves = (unsigned)(compute_unit_params(c)->simds * compute_unit_params(c)->wavefronts);
    unsigned sum = c->vmem_send_count + c->smem_send_count + c->lds_end_count + c->fetch_simds;
    for (unsigned i = 0; i < waves; i++) {
        const struct cu_wave *w = cu_wave_at(c, i);
        bool stands = w->state == WAVE_FREE || w->state == WAVE_READY || w->state == WAVE_BARRIER;
        sum += !stands || w->vm || w->lgkm;
    }
    return sum;
}

/* The pc moves behind what has been executed already. False: that is not to be found any more. */
static bool lend_catch_up(const struct compute_unit *c, struct cu_wave *w, unsigned wave,
                          struct lent_wave *to)
{
    struct isa_wave *s = cu_scalars(c, wave);
    for (; w->ahead; w->ahead--, to->executed++) {
        uint32_t number;
        uint64_t at = s->pc - w->line_address;
        if (at >= CU_LINE
            || cu_find_decoded(c, s->pc, cu_line_bytes(c, wave, w->line_slot) + at,
                               CU_LINE - (unsigned)at, &number)
                   < 0)
            return false;
        cu_decoded(c)[number].count++;
        s->pc += cu_decoded(c)[number].inst.size;
    }
    return true;
}

static bool lend_group(const struct compute_unit *c, unsigned slot, struct lent_group *to)
{
    const struct cu_group *g = cu_group_at(c, slot);
    to->placement = arena_at(struct work_placement, c->placements)[slot];
    to->leaf = c->io.base.leaf;
    to->lds = c->lds + g->lds_offset / ARENA_UNIT;
    memcpy(to->id, g->id, sizeof to->id);
    to->begun = 0;
    to->counted = g->instructions;
    to->waves = g->waves;
    to->slot = (uint8_t)slot;
    for (unsigned i = 0; i < g->waves; i++) {
        struct cu_wave *w = cu_wave_at(c, g->wave[i]);
        to->wave[i] = (struct lent_wave){.scalars = cu_scalars(c, g->wave[i]),
                                         .vgpr = w->vgpr,
                                         .state = w->state == WAVE_FREE      ? LENT_ENDED
                                                  : w->state == WAVE_BARRIER ? LENT_AT_BARRIER
                                                                             : LENT_RUNS};
        if (w->state == WAVE_FREE)
            continue;
        to->counted += w->instructions;
        if (!lend_catch_up(c, w, g->wave[i], &to->wave[i]))
            return false;
    }
    return g->lds_offset % ARENA_UNIT == 0 && !g->played && !g->memory_only;
}

static uint32_t lend_groups(struct component *base, struct lent_group *to, uint32_t most)
{
    struct compute_unit *c = lend_unit(base);
    uint32_t count = 0;
    for (unsigned slot = 0; slot < CU_MAX_GROUPS; slot++) {
        if (!cu_group_at(c, slot)->used || (c->finished >> slot & 1))
            continue;
        if (count == most || !lend_group(c, slot, &to[count]))
            return UINT32_MAX;
        count++;
    }
    return count;
}

static void lend_unready(struct compute_unit *c, const struct cu_wave *w)
{
    struct cu_simd *s = &c->simd[w->simd];
    if (w->state != WAVE_READY)
        return;
    s->ready[w->kind] &= ~((uint64_t)1 << w->slot);
    s->kinds &= (uint8_t) ~((s->ready[w->kind] == 0) << w->kind);
}

/* A wavefront of a new work-group where one of the old work-group had ended. */
static void lend_revive(struct compute_unit *c, struct cu_group *g, struct cu_wave *w, uint64_t now)
{
    wave_account(c, w)[WORK_ENDED] += now - w->since;
    g->ended_at -= w->since;
    g->ended--;
    w->since = now;
    if (!c->resident++)
        c->active_since = now;
}

static void lend_begin(struct compute_unit *c, struct cu_wave *w)
{
    w->instructions = 0;
    w->started = c->started++;
    w->priority = 0;
    w->held_until = w->written = w->sgpr_until = 0;
    c->simd[w->simd].raised &= ~((uint64_t)1 << w->slot);
}

static void take_wave(struct compute_unit *c, struct cu_group *g, unsigned number,
                      const struct lent_wave *from, bool begun, uint64_t now)
{
    unsigned wave = g->wave[number];
    struct cu_wave *w = cu_wave_at(c, wave);
    bool gone = w->state == WAVE_FREE;
    if (begun)
        lend_begin(c, w);
    if (gone && from->state == LENT_ENDED) {
        g->instructions += (uint32_t)from->executed;
        return;
    }
    w->instructions += (uint32_t)from->executed;
    if (gone)
        lend_revive(c, g, w, now);
    if (from->state == LENT_ENDED) {
        lend_unready(c, w);
        wave_end(c, w, now);
    } else if (from->state == LENT_AT_BARRIER && w->state != WAVE_BARRIER) {
        lend_unready(c, w);
        wave_waits(c, w, now, WORK_WAITING_BARRIER);
        w->state = WAVE_BARRIER;
    } else if (from->state == LENT_RUNS && w->state != WAVE_READY) {
        w->kind = CU_SPECIAL;
        wave_begin_ready(c, w, now);
        wave_set_ready(&c->simd[w->simd], w);
    }
}

/* Wavefronts that end come last, since the end of a work-group is that of its last wavefront. */
static void take_group(struct compute_unit *c, const struct lent_group *from, uint64_t now)
{
    struct cu_group *g = cu_group_at(c, from->slot);
    bool begun = from->begun != 0;
    memcpy(g->id, from->id, sizeof g->id);
    g->at_barrier = 0;
    if (begun)
        g->instructions = 0;
    for (unsigned i = 0; i < g->waves; i++) {
        g->at_barrier += from->wave[i].state == LENT_AT_BARRIER;
        if (from->wave[i].state != LENT_ENDED)
            take_wave(c, g, i, &from->wave[i], begun, now);
    }
    for (unsigned i = 0; i < g->waves; i++)
        if (from->wave[i].state == LENT_ENDED)
            take_wave(c, g, i, &from->wave[i], begun, now);
    if (g->ended == g->waves && !(c->finished >> from->slot & 1))
        group_finish(c, g, now);
}

static void lend_take(struct component *base, const struct lent_group *from, uint32_t count,
                      uint64_t now)
{
    struct compute_unit *c = lend_unit(base);
    for (uint32_t i = 0; i < count; i++)
        take_group(c, &from[i], now);
}

static void lend_init(struct compute_unit *c)
{
    static const struct lent_unit_ops ops = {
        .pause = lend_pause, .running = lend_running, .lend = lend_groups, .take = lend_take};
    if (!platform_sampling()->in_parts)
        return;
    c->placements = arena_allocate(CU_MAX_GROUPS * sizeof(struct work_placement));
    lent_register_unit(&c->io.base, &ops);
}
