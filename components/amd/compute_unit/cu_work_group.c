/* Work-groups: taken from the port with their wavefronts, held together by barriers, answered when
 * the last wavefront has ended. What the wavefronts of a kernel did with their time is added up in
 * the kernel's ledger (protocols/work/work_cycles.h), which goes with each answer. */
#include "compute_unit.gen.h"

#include "base/likely.h"
#include "base/number.h"
#include "runtime/observe/timeline.h"

#include "compute_unit_internal.h"
#include "compute_unit_state.h"
#include "cu_fetch.h"

static OUT_OF_LINE __attribute__((cold)) void wave_record_begin(const struct compute_unit *c,
                                                                const struct cu_wave *w,
                                                                const struct work_placement *p,
                                                                const struct cu_group *g)
{
    const struct observed_wavefront wavefront = {
        .gpu = program_gpu_of(compute_unit_program(c), c->io.base.leaf),
        .dispatch = p->dispatch_id,
        .group = {g->id[0], g->id[1], g->id[2]},
        .number = w->number,
        .target = cu_target(c),
        .kernel = g->kernel,
        .program = compute_unit_program(c),
        .placement = p};
    execution_observer->begin(c->io.base.leaf, cu_wave_number(c, w), &wavefront);
}

/* The span in traces; its id is SIMD and slot. */
static const char wavefront_span[] = "wavefront";

static void wave_start(struct compute_unit *c, struct cu_group *g, const struct work_placement *p,
                       unsigned number, uint64_t now)
{
    const struct work_wavefront *place = &p->wavefront[number];
    struct cu_wave *w = cu_wave_in(c, place->simd, place->slot);
    if (w->state != WAVE_FREE)
        bug("compute unit: SIMD %u slot %u is taken", place->simd, place->slot);
    for (unsigned i = 0; i < c->line_slots; i++)
        if (w->line_state[i] != LINE_EMPTY)
            w->line_state[i] = w->line_state[i] == LINE_VALID ? LINE_EMPTY : LINE_STALE;
    w->vgprs_at = cu_registers_at(c, place->simd, place->vgpr);
    w->simd = place->simd;
    w->slot = place->slot;
    w->group = (uint8_t)p->work_group_slot;
    w->number = (uint8_t)number;
    w->instructions = 0;
    w->start_number = c->started_waves++;
    w->vm = w->lgkm = w->lds = w->flat = 0;
    w->priority = 0;
    w->ahead = 0;
    w->code_pc = w->code_next = UINT64_MAX;
    w->held_until = w->lds_write_end = w->sgpr_until = 0;
    w->accounted_until = now;
    w->time_kind = WORK_WAITING_FETCH;
    w->ledger = g->ledger;
    w->account_at = arena_place(cu_ledger_at(c, g->ledger)->account.slot_cycles);
    w->is_memory_only = g->is_memory_only;
    w->vmem_first = w->vmem_last = CU_NONE;
    w->line_address = UINT64_MAX;
    w->complete_version = 0;
    w->code_version = 0;
    wavefront_start(cu_target(c), cu_scalars(c, w), arena_at(uint32_t, w->vgprs_at), p, g->id,
                    number);
    g->wave[number] = (uint16_t)cu_wave_number(c, w);
    profile_start(c, w);
    if (unlikely(execution_observer))
        wave_record_begin(c, w, p, g);
    timeline_begin(&c->io.base, cu_wave_name(c, w), wavefront_span);
    wave_continue(c, w, now, now + 1);
}

/* The ledger of a kernel, a new one if it has none. There are as many ledgers as work-groups. */
static unsigned ledger_open(struct compute_unit *c, uint32_t dispatch, uint64_t now)
{
    uint64_t used = c->ledgers_used;
    while (used && cu_ledger_at(c, (unsigned)__builtin_ctzll(used))->dispatch != dispatch)
        used &= used - 1;
    unsigned number = (unsigned)__builtin_ctzll(used ? used : ~c->ledgers_used);
    struct cu_ledger *ledger = cu_ledger_at(c, number);
    c->ledgers_used |= (uint64_t)1 << number;
    ledger->dispatch = dispatch;
    ledger->groups++;
    if (!ledger->running++)
        ledger->active_since = now;
    return number;
}

/* The wavefront's operation on the global wave sync is over. */
static void wave_leave_sync(struct compute_unit *c, struct cu_wave *w, uint64_t now)
{
    c->at_sync[w->simd] &= ~((uint64_t)1 << w->slot);
    w->lgkm--;
    w->lds--;
    wave_check_counters(c, w, now);
}

/* Takes one work-group from the port, or word for a wavefront. */
static void group_start(struct compute_unit *c, uint64_t now)
{
    const struct work_request *m = compute_unit_work_peek(c);
    if (m && message_kind(m) == WORK_GO_ON) {
        wave_leave_sync(c, cu_wave_at(c, m->go_on.wavefront), now);
        compute_unit_work_pop(c);
        return;
    }
    if (!m)
        return;
    struct work_placement p;
    memcpy(&p, work_map_placement(compute_unit_work_payload(c)), sizeof p);
    struct cu_group *g = cu_group_at(c, p.work_group_slot);
    if (p.work_group_slot >= WORK_GROUP_SLOTS_MAX || g->is_used)
        bug("compute unit: work-group slot %u is taken", p.work_group_slot);
    *g = (struct cu_group){
        .tag = m->tag,
        .is_used = true,
        .waves = (uint8_t)p.wavefronts,
        .kernel = m->map.kernel,
        .id = {m->map.group_x, m->map.group_y, m->map.group_z},
        .pid = p.pid,
        .lds_offset = p.lds_offset,
        .lds_bytes = p.lds_bytes,
        .vgprs = p.accum_offset,
        .agprs = work_registers(cu_target(c), p.vgprs) - p.accum_offset,
        .scratch = p.scratch,
        .scratch_begin = p.scratch + (uint64_t)p.scratch_wavefront * p.scratch_bytes_per_wavefront,
        .scratch_bytes = p.scratch ? (uint64_t)p.wavefronts * p.scratch_bytes_per_wavefront : 0,
        .is_memory_only = p.memory_only != 0,
        .arrived = now};
    g->ledger = (uint8_t)ledger_open(c, p.dispatch_id, now);
    if (!c->resident_waves)
        c->active_since = now;
    c->resident_waves += p.wavefronts;
    c->io.stats.work_groups++;
    c->io.stats.wavefronts_run += p.wavefronts;
    for (unsigned i = 0; i < p.wavefronts; i++)
        wave_start(c, g, &p, i, now);
    timeline_begin(&c->io.base, p.work_group_slot,
                   program_kernel_name(compute_unit_program(c), g->kernel));
    compute_unit_work_pop(c);
}

static void group_answer(struct compute_unit *c)
{
    deferred_flush_all(c, compute_unit_now(c) + 1);
    while (c->groups_to_answer && compute_unit_work_can_reply(c)) {
        unsigned slot = (unsigned)__builtin_ctzll(c->groups_to_answer);
        struct cu_group *g = cu_group_at(c, slot);
        struct cu_ledger *ledger = cu_ledger_at(c, g->ledger);
        void *payload = compute_unit_work_reply_finished(c, g->tag, g->instructions);
        memcpy(work_finished_account(payload), &ledger->account, sizeof ledger->account);
        memset(&ledger->account, 0, sizeof ledger->account);
        if (!--ledger->groups)
            c->ledgers_used &= ~((uint64_t)1 << g->ledger);
        g->is_used = false;
        c->groups_to_answer &= c->groups_to_answer - 1;
    }
}

static void group_release_barrier(struct compute_unit *c, struct cu_group *g, uint64_t now)
{
    if (!g->at_barrier || g->at_barrier + g->ended < g->waves)
        return;
    g->at_barrier = 0;
    for (unsigned i = 0; i < g->waves; i++) {
        struct cu_wave *w = cu_wave_at(c, g->wave[i]);
        if (w->state == WAVE_BARRIER && w->group == (uint8_t)cu_group_slot(c, g))
            wave_continue(c, w, now, now + 1);
    }
}

/* The last wavefront of the group has ended. */
static void group_finish(struct compute_unit *c, const struct cu_group *g, uint64_t now)
{
    struct cu_ledger *ledger = cu_ledger_at(c, g->ledger);
    ledger->account.slot_cycles[WORK_ENDED] += g->waves * now - g->end_cycles;
    ledger->account.held += g->waves * (now - g->arrived);
    if (!--ledger->running)
        ledger->account.active += now - ledger->active_since;
    c->groups_to_answer |= (uint64_t)1 << cu_group_slot(c, g);
    timeline_end(&c->io.base, cu_group_slot(c, g),
                 program_kernel_name(compute_unit_program(c), g->kernel));
}

static void wave_end(struct compute_unit *c, struct cu_wave *w, uint64_t now)
{
    struct cu_group *g = cu_group_at(c, w->group);
    wave_begin_wait(c, w, now, WORK_ENDED);
    if (unlikely(execution_observer))
        execution_observer->end(c->io.base.leaf, cu_wave_number(c, w));
    timeline_end(&c->io.base, cu_wave_name(c, w), wavefront_span);
    g->end_cycles += now;
    w->state = WAVE_FREE;
    c->simd[w->simd].prioritised &= ~((uint64_t)1 << w->slot);
    fetch_forget(c, w->simd, w->slot);
    g->instructions += w->instructions;
    c->longest_wavefront = max(w->instructions, c->longest_wavefront);
    c->resident_waves--;
    if (!c->resident_waves)
        c->io.stats.active_cycles += now - c->active_since;
    if (++g->ended == g->waves)
        group_finish(c, g, now);
    else
        group_release_barrier(c, g, now);
}
