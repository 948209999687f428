/* A turn of a work-group: its wavefronts, step by step, until each has ended, waits, or has had its
 * slice. */
#include <string.h>

#include "base/hash.h"
#include "base/likely.h"
#include "base/number.h"
#include "components/amd/execute/wavefront_start.h"

#include "functional_state.h"
#include "observe.h"

/* ---- faults ---- */

void functional_fault(struct run *r, const struct group *g, const struct wave *w,
                      const struct isa_inst *inst, uint64_t pc, uint32_t lane, const char *cause)
{
    const struct work_fault_place place = {
        .kernel = program_kernel_name(r->launch->program, r->launch->kernel),
        .inst = inst,
        .pc = pc,
        .group = {g->id[0], g->id[1], g->id[2]},
        .wavefront = (unsigned)(w - g->wave),
        .lane = lane};
    r->result.end = FUNCTIONAL_FAULT;
    r->result.by_access = r->worker->view.refused;
    r->result.address = r->worker->view.refused_address;
    work_fault_text(&place, cause, r->result.text, sizeof r->result.text);
}

static void limit_reached(struct run *r, const struct group *g, const struct wave *w,
                          const struct isa_inst *inst)
{
    char cause[WORK_FAULT_CAUSE_BYTES];
    snprintf(cause, sizeof cause, "%" PRIu64 " wavefront instructions have been executed (%s)",
             r->launch->before + r->instructions, r->limited_by);
    functional_fault(r, g, w, inst, w->scalars.pc, WORK_LANE_NONE, cause);
    r->result.end = FUNCTIONAL_LIMIT;
}

/* ---- instructions ---- */

static uint8_t step_kind(const struct isa_inst *inst)
{
    switch (inst->unit) {
    case ISA_UNIT_VMEM:
        return STEP_VECTOR;
    case ISA_UNIT_SMEM:
        return STEP_SCALAR;
    case ISA_UNIT_SPECIAL:
        return STEP_SPECIAL;
    default:
        return inst->flags & ISA_IS_SYNC     ? STEP_SPECIAL
               : inst->flags & ISA_IS_BRANCH ? STEP_BRANCH
                                             : STEP_REGISTERS;
    }
}

/* Division of the vector registers of the launch, in granules. */
static uint16_t registers_split(const struct run *r)
{
    return (uint16_t)(r->stored / 4 << 8 | r->common.accum_offset / 4);
}

static void collect_count(const struct run *r, struct step *s)
{
    r->launch->executed->vector[sampler_bucket(s->address - r->launch->entry)] += s->count;
    s->count = 0;
}

void functional_collect_counts(const struct run *r)
{
    struct worker *k = r->worker;
    for (uint32_t i = 0; i < k->counted_count; i++)
        collect_count(r, &k->steps[k->counted_steps[i]]);
    k->counted_count = 0;
}

/* The step's count is the present launch's from here on, and, if the step was in use, of another
 * address. */
static void begin_counting(const struct run *r, struct step *s)
{
    struct worker *k = r->worker;
    if (s->launch == functional.launches)
        collect_count(r, s);
    else if (k->counted_count < DECODE_ENTRIES)
        k->counted_steps[k->counted_count++] = (uint32_t)(s - k->steps);
    s->count = 0;
}

static struct step *make_step(const struct run *r, const struct decoded *d)
{
    struct step *s = &r->worker->steps[d - r->worker->decode_cache];
    if (r->launch->executed)
        begin_counting(r, s);
    s->address = d->address;
    s->launch = functional.launches;
    s->kind = step_kind(&d->inst);
    s->split = registers_split(r);
    isa_prepare(&d->inst, r->common.accum_offset, r->stored - r->common.accum_offset, &s->ready);
    return s;
}

/* The step of an earlier launch, if the bytes at `pc` are still those. */
static struct step *known_step(const struct run *r, uint64_t pc)
{
    uint32_t slot = (uint32_t)(pc >> 2) & (DECODE_ENTRIES - 1);
    struct step *s = &r->worker->steps[slot];
    const struct decoded *d = &r->worker->decode_cache[slot];
    const struct host_span *w = host_view_find(&r->worker->view, pc);
    if (!w || !host_span_holds(w, pc, ISA_INST_BYTES_MAX) || s->address != pc || !d->is_valid
        || d->address != pc || d->inst.target != r->launch->target || s->split != registers_split(r)
        || !decode_has_bytes(d, (const uint8_t *)w->host + (pc - w->start)))
        return NULL;
    if (r->launch->executed)
        begin_counting(r, s);
    s->launch = functional.launches;
    return s;
}

/* Looks at the bytes of an instruction that this launch has not seen. NULL: the run has failed. */
static OUT_OF_LINE struct step *decode(struct run *r, const struct group *g, const struct wave *w)
{
    uint64_t pc = w->scalars.pc;
    uint8_t bytes[ISA_INST_BYTES_MAX];
    char cause[WORK_FAULT_CAUSE_BYTES];
    struct host_view *view = &r->worker->view;
    struct step *seen = known_step(r, pc);
    if (seen) {
        if (r->launch->touches)
            touch_code(view, pc);
        return seen;
    }
    const struct program_allocation *a = program_find_in(r->launch->program, r->launch->pid, pc);
    if (!a || !host_view_find(view, pc)) {
        work_fault_fetch(r->launch->program, pc, cause, sizeof cause);
        functional_fault(r, g, w, NULL, pc, WORK_LANE_NONE, cause);
        return NULL;
    }
    uint64_t end = page_table_address(a->end);
    unsigned size = end - pc < sizeof bytes ? (unsigned)(end - pc) : (unsigned)sizeof bytes;
    if (!host_view_is_allocated(view, pc, size)) /* the next page is not mapped */
        size = (unsigned)(((uint64_t)1 << view->pages->page_bits)
                          - (pc & (((uint64_t)1 << view->pages->page_bits) - 1)));
    uint32_t slot, word = 0;
    host_view_read(view, pc, bytes, size);
    if (r->launch->touches)
        touch_code(view, pc);
    int result = decode_find(r->worker->decode_cache, r->launch->target, pc, bytes, size, &slot);
    if (result >= 0)
        return make_step(r, &r->worker->decode_cache[slot]);
    if (result == ISA_ERROR_TRUNCATED) {
        work_fault_fetch(r->launch->program, end, cause, sizeof cause);
        functional_fault(r, g, w, NULL, pc, WORK_LANE_NONE, cause);
        return NULL;
    }
    struct isa_inst inst;
    bool is_known = result == ISA_ERROR_UNIMPLEMENTED
                    && isa_decode(r->launch->target, bytes, size, &inst) == ISA_ERROR_UNIMPLEMENTED;
    memcpy(&word, bytes, sizeof word);
    work_fault_decode(r->launch->target, word, is_known, cause, sizeof cause);
    functional_fault(r, g, w, is_known ? &inst : NULL, pc, WORK_LANE_NONE, cause);
    return NULL;
}

/* After an instruction that did not end with ISA_OK. False: the run has failed. */
static OUT_OF_LINE bool stopped(struct run *r, const struct group *g, struct wave *w,
                                const struct isa_inst *inst, uint64_t pc, enum isa_status status)
{
    if (status == ISA_TRAPPED && !work_trap_is_fatal(&w->scalars))
        return true;
    functional_fault(r, g, w, inst, pc, WORK_LANE_NONE, work_fault_status(status));
    return false;
}

/* The value that an atomic returns may decide what a wavefront executes: if work-groups went one
 * after the other, the longest would be longer than in a launch that is simulated. */
static void prepare_atomic(struct run *r, const struct isa_inst *inst)
{
    isa_workspace_plain(&r->worker->workspace);
    if (r->launch->executed && (inst->flags & ISA_RETURNS))
        r->abreast = r->slots;
}

static bool access_memory(struct run *r, const struct group *g, struct wave *w,
                          struct isa_context *context, struct step *s)
{
    const struct isa_inst *inst = s->ready.inst;
    bool is_vector = s->kind == STEP_VECTOR;
    uint32_t lane;
    const char *wrong;
    context->time = r->launch->before + r->instructions;
    if (inst->flags & ISA_IS_ATOMIC)
        prepare_atomic(r, inst);
    if (is_vector)
        wrong =
            r->access->vector(&r->worker->view, context, &w->scalars, &s->ready, &s->hint, &lane);
    else
        wrong =
            r->access->scalar(&r->worker->view, context, &w->scalars, &s->ready, &s->hint, &lane);
    if (unlikely(wrong != NULL))
        functional_fault(r, g, w, inst, w->scalars.pc, lane, wrong);
    return !wrong;
}

struct isa_context functional_context(const struct run *r, const struct group *g,
                                      const struct wave *w)
{
    struct isa_context context = {.vgpr = arena_at(uint32_t, w->vgprs_at),
                                  .vgpr_count = g->placement.accum_offset,
                                  .agpr_count = r->stored - g->placement.accum_offset,
                                  .lds = arena_at(uint8_t, g->lds_at),
                                  .lds_size = g->placement.lds_bytes};
    wavefront_set_apertures(r->launch->target, g->placement.scratch, &context);
    return context;
}

/* Comes to the global wave sync. False: the wavefront does not continue for now. */
static OUT_OF_LINE bool come_to_sync(struct run *r, const struct group *g, struct wave *w,
                                     const struct isa_inst *inst)
{
    if (r->worker->view.footprint) {
        footprint_lose();
        return false;
    }
    const struct isa_context context = functional_context(r, g, w);
    struct isa_sync sync;
    if (!isa_sync(&context, &w->scalars, inst, &sync))
        return true;
    if (!wave_sync_do(&functional.syncs[r->launch->gpu], &sync, &w->sync)) {
        functional_count_progress(r);
        return true;
    }
    w->state = WAVE_AT_SYNC;
    return false;
}

/* Acts on s_endpgm, s_barrier, s_sleep, ds_gws_*. False: the wavefront does not continue for now.
 * Side by side it gives way where it would wait for memory, so that accesses come in about the
 * order of hardware. */
static inline bool special(struct run *r, struct group *g, struct wave *w,
                           const struct isa_inst *inst)
{
    if (!(inst->flags
          & (ISA_IS_ENDPGM | ISA_IS_BARRIER | ISA_IS_SLEEP | ISA_IS_WAITCNT | ISA_IS_SYNC)))
        return true;
    if (inst->flags & ISA_IS_SYNC)
        return come_to_sync(r, g, w, inst);
    if (inst->flags & ISA_IS_ENDPGM) {
        w->state = WAVE_ENDED;
        if (execution_observer)
            observe_end((uint32_t)(g->slot * WORK_WAVEFRONTS_MAX + (w - g->wave)));
        g->ended++;
        return false;
    }
    if (inst->flags & ISA_IS_BARRIER) {
        w->state = WAVE_AT_BARRIER;
        g->at_barrier++;
        return false;
    }
    return !(inst->flags & ISA_IS_SLEEP) && !(r->abreast && (inst->flags & ISA_IS_WAITCNT));
}

/* ---- wavefronts and work-groups ---- */

/* An instruction of a profiled launch. */
static OUT_OF_LINE void profile_count(struct run *r, struct wave *w, const struct isa_inst *inst,
                                      uint64_t pc)
{
    struct functional_profile *p = &r->result.profile;
    if (pc != w->next_block_pc)
        w->block = hash_multiply_32((uint32_t)((pc - r->launch->entry) >> 2)) >> 27;
    w->next_block_pc = inst->flags & ISA_IS_BRANCH ? 0 : pc + inst->size;
    p->units[inst->unit]++;
    p->blocks[w->block]++;
}

/* An instruction of a launch that is profiled, recorded or watched. */
static OUT_OF_LINE void observe(struct run *r, const struct group *g, struct wave *w,
                                struct isa_context *context, const struct isa_inst *inst)
{
    if (r->launch->profile)
        profile_count(r, w, inst, w->scalars.pc);
    if (execution_observer)
        observe_step((uint32_t)(g->slot * WORK_WAVEFRONTS_MAX + (w - g->wave)), context,
                     &w->scalars, inst);
    if (r->watch.on)
        livelock_watch_step(&r->worker->view, context, &w->scalars, inst, &w->livelock);
}

/* At a branch after the end of the slice: true if the wavefront only gives way. */
static bool end_slice(struct run *r, const struct group *g, const struct wave *w,
                      const struct isa_inst *inst)
{
    if (r->instructions < r->limit)
        return true;
    limit_reached(r, g, w, inst);
    return false;
}

/* wave_run() before the end of the workspace. */
static bool wave_steps(struct run *r, struct group *g, struct wave *w, struct isa_context *context)
{
    uint64_t slice_end = r->instructions + FUNCTIONAL_SLICE;
    slice_end = min(slice_end, r->limit);
    const bool observed = r->is_observed;
    const uint32_t launch = functional.launches;
    struct step *const steps = r->worker->steps;
    struct isa_workspace *const workspace = &r->worker->workspace;
    for (;;) {
        uint64_t pc = w->scalars.pc;
        struct step *s = &steps[(uint32_t)(pc >> 2) & (DECODE_ENTRIES - 1)];
        if (unlikely(s->address != pc || s->launch != launch) && !(s = decode(r, g, w)))
            return false;
        r->instructions++;
        s->count++;
        if (unlikely(observed))
            observe(r, g, w, context, s->ready.inst);
        if (s->kind >= STEP_VECTOR) {
            if (!access_memory(r, g, w, context, s))
                return false;
            continue;
        }
        enum isa_status status = s->ready.run(context, &w->scalars, &s->ready, workspace);
        if (unlikely(status != ISA_OK) && !stopped(r, g, w, s->ready.inst, pc, status))
            return false;
        if (s->kind == STEP_REGISTERS)
            continue;
        const struct isa_inst *inst = s->ready.inst;
        if (s->kind == STEP_SPECIAL && !special(r, g, w, inst))
            return true;
        if ((inst->flags & ISA_IS_BRANCH) && r->instructions >= slice_end)
            return end_slice(r, g, w, inst);
    }
}

/* Runs the wavefront until it ends, waits, or has had its slice. False: the run has failed. */
static bool wave_run(struct run *r, struct group *g, struct wave *w)
{
    struct isa_context context = functional_context(r, g, w);
    struct host_view *view = &r->worker->view;
    view->unit = r->launch->touches ? g->unit : HOST_VIEW_UNIT_NONE;
    if (r->watch.on)
        livelock_watch_begin_turn(&context);
    uint64_t before = r->instructions;
    bool done = wave_steps(r, g, w, &context);
    w->instructions += r->instructions - before;
    if (r->launch->executed && w->instructions > r->launch->executed->longest)
        r->launch->executed->longest = w->instructions;
    isa_workspace_end(&r->worker->workspace);
    if (r->watch.on)
        livelock_watch_end_turn(view, &context);
    return done;
}

static void release_barrier(struct group *g)
{
    g->at_barrier = 0;
    for (uint32_t i = 0; i < g->waves; i++)
        if (g->wave[i].state == WAVE_AT_BARRIER)
            g->wave[i].state = WAVE_RUNS;
}

/* One turn of a work-group. False: the run has failed. */
bool functional_group_run(struct run *r, struct group *g)
{
    for (;;) {
        bool gave_way = false;
        for (uint32_t i = 0; i < g->waves; i++) {
            struct wave *w = &g->wave[i];
            if (w->state == WAVE_AT_SYNC
                && wave_sync_is_over(&functional.syncs[r->launch->gpu], &w->sync))
                w->state = WAVE_RUNS;
            if (w->state == WAVE_RUNS && !wave_run(r, g, w))
                return false;
            gave_way |= w->state == WAVE_RUNS || w->state == WAVE_AT_SYNC;
        }
        if (g->at_barrier && g->at_barrier + g->ended == g->waves)
            release_barrier(g);
        else if (gave_way || g->ended == g->waves)
            return true;
    }
}
