/* The functional executor; see functional.h. Called by the driver.
 *
 * A launch keeps the work-groups that have begun in a list of slots, each with registers and LDS of
 * its own in the arena, made when it is first needed and used again. In each round one more
 * work-group begins, if there is one and a slot for it, and every work-group in the list gets its
 * turn. A turn ends with the work-group, or when all its wavefronts wait or have had their slice;
 * so usually the list has one entry, whose registers stay in the host's caches. A launch that has
 * yielded keeps its slots; the next one gets a range of slots that is free. */
#include "functional.h"

#include <string.h>

#include "access.h"
#include "footprint.h"
#include "observe.h"
#include "stuck.h"
#include "touch.h"

#include "components/amd/execute/decode_cache.h"
#include "components/sampling/stratified_sampler.h"
#include "components/amd/isa/isa_ready.h"
#include "components/amd/execute/wave_sync.h"
#include "components/amd/execute/wavefront_start.h"
#include "components/amd/execute/work_cut.h"
#include "runtime/engine/arena.h"
#include "runtime/engine/bug.h"
#include "runtime/engine/engine.h"
#include "runtime/scheduler/thread_team.h"

enum { SLOTS = 1 << 16 };

enum wave_state { WAVE_RUNS, WAVE_AT_BARRIER, WAVE_AT_SYNC, WAVE_ENDED };

struct wave {
    struct isa_wave scalars;
    enum wave_state state;
    struct wave_sync_wait sync; /* WAVE_AT_SYNC */
    uint32_t vgpr;              /* arena: uint32_t[stored][64] */
    uint32_t block;             /* profiles: bucket of the present basic block, */
    uint64_t expected;          /* which goes on there */
    uint64_t instructions;
    struct repeats repeats;
};

/* A work-group that has begun. */
struct group {
    struct work_placement placement;
    uint32_t id[3];
    uint32_t slot;
    uint32_t unit; /* touches: the compute unit that it stands for */
    uint32_t waves, ended, at_barrier;
    uint32_t vgprs; /* arena: uint32_t[waves][stored][64], with room for the most */
    uint32_t lds;   /* arena: uint8_t[lds_room] */
    uint32_t lds_room;
    struct wave wave[WORK_MAX_WAVEFRONTS];
};

enum step_kind { STEP_REGISTERS, STEP_BRANCH, STEP_SPECIAL, STEP_VECTOR, STEP_SCALAR };

/* A decoded instruction, ready for being executed. Valid for the launch that compared its bytes
 * with memory. */
struct step {
    _Alignas(128) uint64_t address;
    uint32_t launch;
    uint8_t kind;   /* enum step_kind */
    uint8_t hint;   /* span that it hit last */
    uint16_t split; /* registers that it was made ready for: registers_split() */
    uint64_t count; /* executed so often in this launch; for `executed` */
    struct isa_ready ready;
};
_Static_assert(sizeof(struct step) <= 128, "a step should lie in two lines of the host's caches");

/* The memory instructions in one variant. */
struct access {
    const char *(*vector)(struct host_view *, struct isa_context *, struct isa_wave *,
                          const struct isa_ready *, uint8_t *, uint32_t *);
    const char *(*scalar)(struct host_view *, struct isa_context *, struct isa_wave *,
                          const struct isa_ready *, uint8_t *, uint32_t *);
};

/* In the order of isa_variant_name(). */
static const struct access variants[] = {
#ifdef ISA_V2
    {access_vector_v2, access_scalar_v2},
#endif
#ifdef ISA_V3
    {access_vector_v3, access_scalar_v3},
#endif
};

/* A launch that has begun and not ended. */
struct run {
    struct functional_launch asked; /* with the packet and the descriptor below */
    struct aql_packet packet;
    struct aql_descriptor descriptor;
    const struct functional_launch *launch; /* `asked` */
    struct worker *worker;                  /* of the thread that runs it */
    const struct access *access;
    struct functional_result result;
    struct work_placement common;
    uint32_t stored; /* vector registers and accumulators of a wavefront */
    uint32_t groups[3], next[3];
    uint64_t left;          /* work-groups that have not begun */
    uint32_t first, slots;  /* its part of the lists of slots */
    uint32_t live, free;    /* entries of live_groups and free_slots, from `first` on */
    uint32_t still;         /* turns of all since a work-group began or ended: rounds, but see */
    uint64_t turn_end;      /* end_turn(); and `instructions` at which the next one ends */
    uint64_t instructions;  /* of this launch */
    uint64_t limit;         /* value of `instructions` at which the run ends, */
    const char *limited_by; /* and the option that says so */
    uint64_t patient_to;    /* the limit behind the end of the program; 0: none */
    bool observed;          /* each instruction is counted, recorded or watched */
    struct repeats_watch watch;
    uint32_t settled; /* the lap in which the launch repeated itself before it yielded; 0: none */
    struct touch_launch touch;
};

/* What a thread executes with; not state. */
struct worker {
    struct host_view view;
    struct isa_workspace workspace;
    struct decoded decode_cache[DECODE_ENTRIES];
    struct step steps[DECODE_ENTRIES];
    uint32_t counted[DECODE_ENTRIES], counted_count; /* steps of this launch; for `executed` */
    struct run run; /* the thread's part of a launch that it shares */
    struct sampler_work executed;
};

/* Kept from launch to launch. */
static struct worker *workers[FOOTPRINT_THREADS]; /* NULL: not needed yet */
static uint32_t slot_memory[SLOTS];               /* arena: struct group, 0: not made yet */
static uint32_t live_groups[SLOTS];               /* slots of a launch, oldest first */
static uint32_t free_slots[SLOTS];
static struct run runs[FUNCTIONAL_LAUNCHES];
static bool used[FUNCTIONAL_LAUNCHES]; /* of `runs`; apart, as each of them is a page or so */
static uint32_t launches;
static uint32_t yields;   /* turns of launches since one of them ended or began */
static uint64_t patience; /* instructions of a resident work-group; 0: the program goes on */
static struct wave_sync syncs[GPU_SET_MOST];

/* ---- faults ---- */

static void fault(struct run *r, const struct group *g, const struct wave *w,
                  const struct isa_inst *inst, uint64_t pc, uint32_t lane, const char *what)
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
    work_fault_text(&place, what, r->result.text, sizeof r->result.text);
}

static void limit_reached(struct run *r, const struct group *g, const struct wave *w,
                          const struct isa_inst *inst)
{
    char what[WORK_FAULT_WHAT];
    snprintf(what, sizeof what, "%" PRIu64 " wavefront instructions have been executed (%s)",
             r->launch->before + r->instructions, r->limited_by);
    fault(r, g, w, inst, w->scalars.pc, WORK_NO_LANE, what);
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

/* How the vector registers of the launch are divided, in granules. */
static uint16_t registers_split(const struct run *r)
{
    return (uint16_t)(r->stored / 4 << 8 | r->common.accum_offset / 4);
}

static void take_count(const struct run *r, struct step *s)
{
    r->launch->executed->vector[sampler_bucket(s->address - r->launch->entry)] += s->count;
    s->count = 0;
}

static void take_counts(const struct run *r)
{
    struct worker *k = r->worker;
    for (uint32_t i = 0; i < k->counted_count; i++)
        take_count(r, &k->steps[k->counted[i]]);
    k->counted_count = 0;
}

/* The step's count is the present launch's from here on, and, if the step was in use, of another
 * address. */
static void begin_counting(const struct run *r, struct step *s)
{
    struct worker *k = r->worker;
    if (s->launch == launches)
        take_count(r, s);
    else if (k->counted_count < DECODE_ENTRIES)
        k->counted[k->counted_count++] = (uint32_t)(s - k->steps);
    s->count = 0;
}

static struct step *make_step(const struct run *r, const struct decoded *d)
{
    struct step *s = &r->worker->steps[d - r->worker->decode_cache];
    if (r->launch->executed)
        begin_counting(r, s);
    s->address = d->address;
    s->launch = launches;
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
    if (!w || !host_span_holds(w, pc, ISA_MAX_INST_BYTES) || s->address != pc || !d->valid
        || d->address != pc || d->inst.target != r->launch->target || s->split != registers_split(r)
        || !decode_same(d, (const uint8_t *)w->host + (pc - w->start)))
        return NULL;
    if (r->launch->executed)
        begin_counting(r, s);
    s->launch = launches;
    return s;
}

/* Looks at the bytes of an instruction that this launch has not seen. NULL: the run has failed. */
static __attribute__((noinline)) struct step *decode(struct run *r, const struct group *g,
                                                     const struct wave *w)
{
    uint64_t pc = w->scalars.pc;
    uint8_t bytes[ISA_MAX_INST_BYTES];
    char what[WORK_FAULT_WHAT];
    struct host_view *view = &r->worker->view;
    struct step *seen = known_step(r, pc);
    if (seen) {
        if (r->launch->touches)
            touch_code(view, pc);
        return seen;
    }
    const struct program_allocation *a = program_find_in(r->launch->program, r->launch->pid, pc);
    if (!a || !host_view_find(view, pc)) {
        work_fault_fetch(r->launch->program, pc, what, sizeof what);
        fault(r, g, w, NULL, pc, WORK_NO_LANE, what);
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
        work_fault_fetch(r->launch->program, end, what, sizeof what);
        fault(r, g, w, NULL, pc, WORK_NO_LANE, what);
        return NULL;
    }
    struct isa_inst inst;
    bool known = result == ISA_ERROR_UNIMPLEMENTED
                 && isa_decode(r->launch->target, bytes, size, &inst) == ISA_ERROR_UNIMPLEMENTED;
    memcpy(&word, bytes, sizeof word);
    work_fault_decode(r->launch->target, word, known, what, sizeof what);
    fault(r, g, w, known ? &inst : NULL, pc, WORK_NO_LANE, what);
    return NULL;
}

/* After an instruction that did not end with ISA_OK. False: the run has failed. */
static __attribute__((noinline)) bool stopped(struct run *r, const struct group *g, struct wave *w,
                                              const struct isa_inst *inst, uint64_t pc,
                                              enum isa_status status)
{
    if (status == ISA_TRAPPED && !work_trap_is_fatal(&w->scalars))
        return true;
    fault(r, g, w, inst, pc, WORK_NO_LANE, work_fault_status(status));
    return false;
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
        isa_workspace_plain(&r->worker->workspace);
    if (is_vector)
        wrong =
            r->access->vector(&r->worker->view, context, &w->scalars, &s->ready, &s->hint, &lane);
    else
        wrong =
            r->access->scalar(&r->worker->view, context, &w->scalars, &s->ready, &s->hint, &lane);
    if (__builtin_expect(wrong != NULL, 0))
        fault(r, g, w, inst, w->scalars.pc, lane, wrong);
    return !wrong;
}

static struct isa_context context_of(const struct run *r, const struct group *g,
                                     const struct wave *w)
{
    struct isa_context context = {.vgpr = arena_at(uint32_t, w->vgpr),
                                  .vgpr_count = g->placement.accum_offset,
                                  .agpr_count = r->stored - g->placement.accum_offset,
                                  .lds = arena_at(uint8_t, g->lds),
                                  .lds_size = g->placement.lds_bytes};
    wavefront_set_apertures(r->launch->target, g->placement.scratch, &context);
    return context;
}

static void note_progress(struct run *r)
{
    r->still = 0;
    r->turn_end = r->instructions + (uint64_t)FUNCTIONAL_SLICE * r->live;
}

/* After a round. With touches it ends at each wait for memory, so a turn takes as many instructions
 * as one without. True: it is over. */
static bool end_turn(struct run *r)
{
    if (r->launch->touches && r->instructions < r->turn_end)
        return false;
    r->still++;
    r->turn_end = r->instructions + (uint64_t)FUNCTIONAL_SLICE * r->live;
    return true;
}

/* Comes to the global wave sync. False: the wavefront does not go on for now. */
static __attribute__((noinline)) bool come_to_sync(struct run *r, const struct group *g,
                                                   struct wave *w, const struct isa_inst *inst)
{
    if (r->worker->view.footprint) {
        footprint_lose();
        return false;
    }
    const struct isa_context context = context_of(r, g, w);
    struct isa_sync asked;
    if (!isa_sync(&context, &w->scalars, inst, &asked))
        return true;
    if (!wave_sync_do(&syncs[r->launch->gpu], &asked, &w->sync)) {
        note_progress(r);
        return true;
    }
    w->state = WAVE_AT_SYNC;
    return false;
}

/* Acts on s_endpgm, s_barrier, s_sleep, ds_gws_*. False: the wavefront does not go on for now. With
 * touches it gives way where it would wait for memory, so that accesses come in about the order of
 * hardware. */
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
            observe_end((uint32_t)(g->slot * WORK_MAX_WAVEFRONTS + (w - g->wave)));
        g->ended++;
        return false;
    }
    if (inst->flags & ISA_IS_BARRIER) {
        w->state = WAVE_AT_BARRIER;
        g->at_barrier++;
        return false;
    }
    return !(inst->flags & ISA_IS_SLEEP) && !(r->launch->touches && (inst->flags & ISA_IS_WAITCNT));
}

/* ---- wavefronts and work-groups ---- */

/* An instruction of a profiled launch. */
static __attribute__((noinline)) void profile_count(struct run *r, struct wave *w,
                                                    const struct isa_inst *inst, uint64_t pc)
{
    struct functional_profile *p = &r->result.profile;
    if (pc != w->expected)
        w->block = (uint32_t)((pc - r->launch->entry) >> 2) * 0x9e3779b1u >> 27;
    w->expected = inst->flags & ISA_IS_BRANCH ? 0 : pc + inst->size;
    p->units[inst->unit]++;
    p->blocks[w->block]++;
}

/* An instruction of a launch that is profiled, recorded or watched. */
static __attribute__((noinline)) void observe(struct run *r, const struct group *g, struct wave *w,
                                              struct isa_context *context,
                                              const struct isa_inst *inst)
{
    if (r->launch->profile)
        profile_count(r, w, inst, w->scalars.pc);
    if (execution_observer)
        observe_step((uint32_t)(g->slot * WORK_MAX_WAVEFRONTS + (w - g->wave)), context,
                     &w->scalars, inst);
    if (r->watch.on)
        stuck_step(&r->worker->view, context, &w->scalars, inst, &w->repeats);
}

/* At a branch behind the end of the slice: true if the wavefront only gives way. */
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
    slice_end = slice_end < r->limit ? slice_end : r->limit;
    const bool observed = r->observed;
    const uint32_t launch = launches;
    struct step *const steps = r->worker->steps;
    struct isa_workspace *const workspace = &r->worker->workspace;
    for (;;) {
        uint64_t pc = w->scalars.pc;
        struct step *s = &steps[(uint32_t)(pc >> 2) & (DECODE_ENTRIES - 1)];
        if (__builtin_expect(s->address != pc || s->launch != launch, 0) && !(s = decode(r, g, w)))
            return false;
        r->instructions++;
        s->count++;
        if (__builtin_expect(observed, 0))
            observe(r, g, w, context, s->ready.inst);
        if (s->kind >= STEP_VECTOR) {
            if (!access_memory(r, g, w, context, s))
                return false;
            continue;
        }
        enum isa_status status = s->ready.run(context, &w->scalars, &s->ready, workspace);
        if (__builtin_expect(status != ISA_OK, 0) && !stopped(r, g, w, s->ready.inst, pc, status))
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
    struct isa_context context = context_of(r, g, w);
    struct host_view *view = &r->worker->view;
    view->unit = r->launch->touches ? g->unit : HOST_VIEW_NO_UNIT;
    if (r->watch.on)
        stuck_begin_turn(&context);
    uint64_t before = r->instructions;
    bool done = wave_steps(r, g, w, &context);
    w->instructions += r->instructions - before;
    if (r->launch->executed && w->instructions > r->launch->executed->longest)
        r->launch->executed->longest = w->instructions;
    isa_workspace_end(&r->worker->workspace);
    if (r->watch.on)
        stuck_end_turn(view, &context);
    return done;
}

static void release_barrier(struct group *g)
{
    g->at_barrier = 0;
    for (uint32_t i = 0; i < g->waves; i++) {
        if (g->wave[i].state == WAVE_AT_BARRIER)
            g->wave[i].state = WAVE_RUNS;
    }
}

/* One turn of a work-group. False: the run has failed. */
static bool group_run(struct run *r, struct group *g)
{
    for (;;) {
        bool gave_way = false;
        for (uint32_t i = 0; i < g->waves; i++) {
            struct wave *w = &g->wave[i];
            if (w->state == WAVE_AT_SYNC && wave_sync_is_over(&syncs[r->launch->gpu], &w->sync))
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

/* ---- slots ---- */

static struct group *group_at(uint32_t slot)
{
    return arena_at(struct group, slot_memory[slot]);
}

static void slot_open(uint32_t slot)
{
    slot_memory[slot] = arena_allocate(sizeof(struct group));
    struct group *g = group_at(slot);
    size_t registers = (size_t)WORK_MAX_WAVEFRONTS * KERNEL_VGPRS_MAX * ISA_LANES;
    g->vgprs = arena_allocate(registers * sizeof(uint32_t));
}

/* What most compute units have, and more where a kernel needs it. */
static void group_fit_lds(struct group *g, uint32_t bytes)
{
    enum { LDS_USUAL = 64 << 10, LDS_BEHIND = 64 /* that wide accesses may look at */ };
    if (bytes + LDS_BEHIND <= g->lds_room)
        return;
    g->lds_room = bytes <= LDS_USUAL ? LDS_USUAL + LDS_BEHIND : 2 * bytes;
    g->lds = arena_allocate(g->lds_room);
}

/* The work-group of a slot, with room for what the launch needs. */
static struct group *slot_group(const struct run *r, uint32_t slot)
{
    if (!slot_memory[slot])
        slot_open(slot);
    struct group *g = group_at(slot);
    group_fit_lds(g, r->common.lds_bytes);
    return g;
}

/* Begins the next work-group. `slot` numbers its area of private memory, too. */
static void group_start(struct run *r, uint32_t slot)
{
    struct group *g = slot_group(r, slot);
    g->placement = r->common;
    memcpy(g->id, r->next, sizeof g->id);
    work_cut_group(g->id, &g->placement);
    g->placement.scratch_wavefront = (slot - r->first) * work_full_wavefronts(&r->common);
    g->slot = slot;
    g->unit = r->launch->touches ? touch_next_unit() : 0;
    g->waves = g->placement.wavefronts;
    g->ended = g->at_barrier = 0;
    for (uint32_t i = 0; i < g->waves; i++) {
        g->wave[i].vgpr = g->vgprs + i * (r->stored * (ISA_LANES * 4 / ARENA_UNIT));
        struct isa_context context = context_of(r, g, &g->wave[i]);
        wavefront_start(r->launch->target, &g->wave[i].scalars, context.vgpr, &g->placement, g->id,
                        i);
        g->wave[i].state = WAVE_RUNS;
        g->wave[i].expected = g->wave[i].instructions = 0;
        g->wave[i].repeats = (struct repeats){0};
        if (execution_observer)
            observe_begin(slot * WORK_MAX_WAVEFRONTS + i,
                          &(struct observed_wavefront){.gpu = r->launch->gpu,
                                                       .dispatch = r->launch->dispatch_id,
                                                       .group = {g->id[0], g->id[1], g->id[2]},
                                                       .number = i,
                                                       .target = r->launch->target,
                                                       .kernel = r->launch->kernel,
                                                       .program = r->launch->program,
                                                       .placement = &g->placement});
    }
    work_next_group(r->groups, r->next);
    r->left--;
}

static void set_limit(struct run *r)
{
    const struct functional_launch *launch = r->launch;
    uint64_t most = launch->most_instructions;
    r->limit = !most ? UINT64_MAX : most > launch->before ? most - launch->before : 1;
    r->limited_by = "--max-cycles, --max-instructions";
    if (!patience)
        r->patient_to = 0;
    else if (!r->patient_to)
        r->patient_to = r->instructions + patience * launch->resident;
    if (r->patient_to && r->patient_to < r->limit) {
        r->limit = r->patient_to;
        r->limited_by = "behind the end of the program, --stall-limit";
    }
}

void functional_expect_end(uint64_t each)
{
    patience = each;
}

/* Has the process of the launch ended? Then the launch does. */
static bool is_killed(struct run *r, const struct group *g)
{
    bool killed = program_is_killed(r->launch->program, r->launch->pid);
    if (killed)
        fault(r, g, g->wave, NULL, g->wave->scalars.pc, WORK_NO_LANE, "its process has ended");
    return killed;
}

/* A turn for each work-group that has begun; ended ones leave the list. False: the run failed. */
static bool run_round(struct run *r)
{
    uint32_t kept = 0, *live = live_groups + r->first, *free = free_slots + r->first;
    for (uint32_t i = 0; i < r->live; i++) {
        struct group *g = group_at(live[i]);
        if (!group_run(r, g))
            return false;
        if (g->ended < g->waves) {
            live[kept++] = g->slot;
            if (r->launch->attend) {
                r->launch->attend(r->launch->gpu);
                set_limit(r);
                host_view_refresh(&r->worker->view, r->launch->program, r->launch->pages,
                                  r->launch->pid);
            }
            if (is_killed(r, g))
                return false;
            continue;
        }
        free[r->free++] = g->slot;
        r->result.work_groups++;
    }
    bool ended = kept < r->live;
    r->live = kept;
    if (ended)
        note_progress(r);
    return true;
}

/* Begins what there is room for: without touches one work-group. */
static void begin_groups(struct run *r)
{
    for (bool more = r->left && r->free; more;
         more = r->launch->touches && r->left && r->free && r->live < touch_unit_count()) {
        uint32_t slot = free_slots[r->first + --r->free];
        group_start(r, slot);
        live_groups[r->first + r->live++] = slot;
        note_progress(r);
    }
}

/* Work-groups that may be live at the same time. */
static uint32_t resident_groups(const struct functional_launch *launch)
{
    uint64_t most = launch->resident < SLOTS ? launch->resident : SLOTS;
    const struct aql_packet *packet = launch->packet;
    if (packet->private_bytes && packet->scratch && aql_scratch_groups(packet) < most)
        most = aql_scratch_groups(packet);
    return most ? (uint32_t)most : 1;
}

/* Reads the arguments that wavefronts find in registers. */
static void preload(struct run *r)
{
    const struct kernel_words words = kernel_words_read(r->launch->descriptor);
    struct kernel_registers k;
    kernel_registers_decode(&k, isa_traits[r->launch->target].registers, &words);
    uint32_t dwords = k.preload < WORK_MAX_PRELOADED ? k.preload : WORK_MAX_PRELOADED;
    if (dwords)
        host_view_read(&r->worker->view, r->common.kernarg + k.preload_offset * (uint64_t)4,
                       r->common.preloaded, dwords * 4);
}

/* The first slots of a range that no launch has; SLOTS: there is none. */
static uint32_t free_range(uint32_t slots)
{
    uint32_t first = 0, before;
    do {
        before = first;
        for (uint32_t i = 0; i < FUNCTIONAL_LAUNCHES; i++) {
            const struct run *r = &runs[i];
            if (used[i] && first < r->first + r->slots && r->first < first + slots)
                first = r->first + r->slots;
        }
    } while (first != before);
    return first + slots <= SLOTS ? first : SLOTS;
}

static struct run *free_run(void)
{
    for (uint32_t i = 0; i < FUNCTIONAL_LAUNCHES; i++) {
        if (!used[i])
            return &runs[i];
    }
    return NULL;
}

bool functional_has_room(uint32_t resident)
{
    return free_run() && free_range(resident < SLOTS ? resident : SLOTS) < SLOTS;
}

bool functional_is_awaited(void)
{
    uint32_t i = 0;
    while (i < FUNCTIONAL_LAUNCHES && !used[i])
        i++;
    return i < FUNCTIONAL_LAUNCHES;
}

static struct worker *worker_of(uint32_t thread)
{
    if (!workers[thread])
        workers[thread] = arena_reserve(sizeof *workers[thread]);
    return workers[thread];
}

static void worker_begin(struct worker *k, const struct functional_launch *launch)
{
    struct host_view *view = &k->view;
    view->refused = false;
    host_view_refresh(view, launch->program, launch->pages, launch->pid);
    if (view->gpu != launch->gpu)
        view->count = view->next = 0; /* another may access other memory */
    view->gpu = launch->gpu;
    view->footprint = NULL;
    isa_workspace_begin(&k->workspace);
    k->counted_count = 0;
}

/* What other launches may have changed since this one ran. */
static void take_turn(struct run *r)
{
    const struct functional_launch *launch = r->launch;
    set_limit(r);
    launches++;
    worker_begin(r->worker, launch);
}

/* No wavefront has run in a round, and no work-group can begin: only another launch can help. True:
 * this turn is over. */
static bool all_wait(struct run *r)
{
    const struct group *g = group_at(live_groups[r->first]);
    const struct wave *w = g->wave;
    char what[WORK_FAULT_WHAT];
    while (w < g->wave + g->waves && w->state != WAVE_AT_SYNC)
        w++;
    if (w == g->wave + g->waves)
        bug("functional: work-group (%u,%u,%u) neither runs nor waits", g->id[0], g->id[1],
            g->id[2]);
    if (r->launch->others) {
        r->result.end = FUNCTIONAL_YIELDED;
        return true;
    }
    wave_sync_text(&syncs[r->launch->gpu], &w->sync, what, sizeof what);
    fault(r, g, w, NULL, w->scalars.pc, WORK_NO_LANE, what);
    return true;
}

static void set_watch(struct run *r, bool turn_is_over)
{
    if (turn_is_over && !r->launch->others)
        repeats_round(&r->watch, r->still);
    r->observed = r->launch->profile || execution_observer || r->watch.on;
}

/* Launches that wait in turns are watched together, now and then. */
static void begin_watch(struct run *r)
{
    uint32_t waiting = 0;
    for (uint32_t i = 0; i < FUNCTIONAL_LAUNCHES; i++)
        waiting += used[i];
    r->watch.on =
        r->launch->others == FUNCTIONAL_YIELDED_LAUNCHES && repeats_turn(yields, 3 * waiting);
    if (!r->watch.on)
        repeats_change();
    set_watch(r, false);
}

/* Has each wavefront that could go on come back to a state of its own while nothing changed? */
static bool all_repeat(struct run *r)
{
    bool all = true, any = false;
    for (uint32_t i = 0; i < r->live; i++) {
        struct group *g = group_at(live_groups[r->first + i]);
        for (struct wave *w = g->wave; w < g->wave + g->waves; w++) {
            any |= w->state == WAVE_RUNS;
            if (w->state == WAVE_RUNS)
                all &= repeats_state(
                    &w->repeats, stuck_state(&w->scalars, arena_at(uint32_t, w->vgpr), r->stored));
        }
    }
    return all && any;
}

/* Ends the run at the wavefront that tells most, and counts what the others do. */
static void deadlock(struct run *r)
{
    struct group *at = NULL;
    struct wave *told = NULL;
    uint32_t states[WAVE_ENDED + 1] = {0};
    char waits[WORK_FAULT_WHAT - 128], what[WORK_FAULT_WHAT];
    for (uint32_t i = 0; i < r->live; i++) {
        struct group *g = group_at(live_groups[r->first + i]);
        for (struct wave *w = g->wave; w < g->wave + g->waves; w++) {
            states[w->state]++;
            if (w->state == WAVE_RUNS && (!told || w->repeats.access > told->repeats.access))
                at = g, told = w;
        }
    }
    stuck_text(r->launch->program, &told->repeats, waits, sizeof waits);
    snprintf(what, sizeof what,
             "deadlock: %s, and no wavefront changes anything any more: %" PRIu32
             " repeat themselves, %" PRIu32 " wait at barriers, %" PRIu64
             " work-groups have no room",
             waits, states[WAVE_RUNS], states[WAVE_AT_BARRIER] + states[WAVE_AT_SYNC], r->left);
    uint64_t pc = told->repeats.access ? told->repeats.pc : told->scalars.pc;
    const struct step *s = &r->worker->steps[(uint32_t)(pc >> 2) & (DECODE_ENTRIES - 1)];
    r->worker->view.refused = false;
    fault(r, at, told, s->address == pc ? s->ready.inst : NULL, pc, WORK_NO_LANE, what);
    r->result.end = FUNCTIONAL_DEADLOCK;
}

/* After a round: is that what the launch does for ever? */
static bool is_stuck(struct run *r)
{
    const struct functional_launch *launch = r->launch;
    if (!r->watch.on || (r->left && r->free) || !r->live || !all_repeat(r))
        return false;
    r->settled = repeats_lap();
    return !launch->others && launch->is_alone && launch->is_alone();
}

/* The end of a turn in which the launch only waited. */
static enum functional_end yield(struct run *r)
{
    bool all = r->watch.on;
    yields++;
    for (uint32_t i = 0; all && i < FUNCTIONAL_LAUNCHES; i++)
        all = &runs[i] == r || !used[i] || runs[i].settled == repeats_lap();
    if (!all || r->settled != repeats_lap() || !r->launch->is_alone || !r->launch->is_alone())
        return FUNCTIONAL_YIELDED;
    deadlock(r);
    return FUNCTIONAL_DEADLOCK;
}

static void run_on(struct run *r)
{
    note_progress(r);
    begin_watch(r);
    touch_turn(&r->touch);
    while (r->left || r->live) {
        uint64_t before = r->instructions;
        begin_groups(r);
        if (!run_round(r))
            break;
        if (r->instructions == before && r->live && (!r->left || !r->free) && all_wait(r))
            break;
        if (engine_is_interrupted()) {
            r->result.end = FUNCTIONAL_INTERRUPTED;
            break;
        }
        if (is_stuck(r)) {
            deadlock(r);
            break;
        }
        set_watch(r, end_turn(r));
        if (r->launch->others && r->still >= FUNCTIONAL_PATIENCE) {
            r->result.end = yield(r);
            break;
        }
    }
    used[r - runs] = r->result.end == FUNCTIONAL_YIELDED;
    yields = used[r - runs] ? yields : 0;
    touch_pause(&r->touch);
    r->result.instructions = r->instructions;
    take_counts(r);
}

/* ---- launches that threads share ---- */

/* What is known of a kernel's launches. A launch on several threads costs their start, and one
 * whose work-groups depend on each other is executed twice. */
struct habit {
    uint64_t entry;
    uint64_t instructions; /* of the last one; 0: there was none */
    bool depends;
};

enum {
    HABITS = 256,
    SHARED_LEAST = 200000, /* instructions that are worth threads */
    SHARED_WAVES = 64,     /* wavefronts, where nothing is known */
    SHARED_TURNS = 1 << 12 /* of a work-group: then it seems to wait for another one */
};

static struct habit habits[HABITS];

/* The launch that threads share now, by their workers; `next` is atomic. */
static struct {
    uint64_t next, groups, deal;
} shared;

static struct habit *habit_of(const struct functional_launch *launch)
{
    struct habit *h = &habits[(launch->entry >> 8) % HABITS];
    if (h->entry != launch->entry)
        *h = (struct habit){.entry = launch->entry};
    return h;
}

/* From its beginning to its end. False: something that concerns more than this work-group. */
static bool group_run_all(struct run *r, struct group *g)
{
    for (uint32_t turn = 0; turn < SHARED_TURNS && !footprint_is_lost(); turn++) {
        if (engine_is_interrupted() || !group_run(r, g))
            return false;
        if (g->ended == g->waves)
            return true;
    }
    return false;
}

static void share_run(uint32_t thread)
{
    struct run *r = &workers[thread]->run;
    uint32_t slot = r->first + thread;
    for (;;) {
        uint64_t first = __atomic_fetch_add(&shared.next, shared.deal, __ATOMIC_RELAXED);
        uint64_t end = first + shared.deal < shared.groups ? first + shared.deal : shared.groups;
        for (uint64_t i = first; i < end; i++) {
            work_nth_group(r->groups, r->launch->first_group + i, r->next);
            group_start(r, slot);
            if (!group_run_all(r, group_at(slot))) {
                footprint_lose();
                return;
            }
            r->result.work_groups++;
        }
        if (first >= shared.groups)
            return;
    }
}

static void share_begin(const struct run *r, uint32_t threads)
{
    shared.next = 0;
    shared.groups = r->left;
    shared.deal = r->left / (8 * threads) ? r->left / (8 * threads) : 1;
    footprint_begin(threads);
    for (uint32_t i = 0; i < threads; i++) {
        struct worker *k = worker_of(i);
        struct run *mine = &k->run;
        *mine = *r;
        mine->launch = &mine->asked;
        mine->worker = k;
        worker_begin(k, mine->launch);
        k->view.footprint = footprint_of(i);
        if (r->launch->executed)
            mine->asked.executed = memset(&k->executed, 0, sizeof k->executed);
        slot_group(r, r->first + i);
    }
}

/* True: all threads together are the launch. */
static bool share_end(struct run *r, uint32_t threads)
{
    bool independent = footprint_end(threads);
    for (uint32_t i = 0; i < threads; i++) {
        struct worker *k = workers[i];
        const struct run *mine = &k->run;
        take_counts(mine);
        k->view.footprint = NULL;
        if (independent && r->launch->executed)
            sampler_work_add(r->launch->executed, &k->executed);
        r->instructions += independent ? mine->instructions : 0;
        r->result.work_groups += independent ? mine->result.work_groups : 0;
    }
    return independent;
}

/* Threads that are worth it, and may: what counts, waits or looks at single instructions, and
 * private memory, which belongs to slots, is left to one. */
static uint32_t share_among(const struct run *r, const struct habit *h)
{
    const struct functional_launch *launch = r->launch;
    uint64_t most = launch->threads < FOOTPRINT_THREADS ? launch->threads : FOOTPRINT_THREADS;
    most = most < r->slots ? most : r->slots;
    most = most < r->left / 2 ? most : r->left / 2;
    bool large = h->instructions ? h->instructions >= SHARED_LEAST
                                 : r->left * work_full_wavefronts(&r->common) >= SHARED_WAVES;
    bool alone = h->depends || r->observed || launch->touches || r->limit != UINT64_MAX
                 || r->packet.private_bytes || aql_meets(&r->packet);
    return alone || !large ? 1 : (uint32_t)most;
}

/* Deals the work-groups to threads. False: nothing has been done. */
static bool run_shared(struct run *r)
{
    struct habit *h = habit_of(r->launch);
    uint32_t threads = share_among(r, h);
    if (threads < 2)
        return false;
    share_begin(r, threads);
    thread_team_run(share_run, threads);
    h->depends = !share_end(r, threads);
    if (h->depends) {
        take_turn(r);
        return false;
    }
    yields = 0;
    repeats_change();
    r->result.instructions = r->instructions;
    r->result.threads = threads;
    return true;
}

void functional_run(const struct functional_launch *launch, struct functional_result *result)
{
    struct run *r = free_run();
    uint32_t slots = resident_groups(launch), first = free_range(slots);
    if (!r || first == SLOTS)
        bug("functional: no room for a launch; it was not asked for");
    *r = (struct run){
        .asked = *launch,
        .packet = *launch->packet,
        .descriptor = *launch->descriptor,
        .first = first,
        .slots = slots,
        .worker = worker_of(0),
        .free = slots,
        .result = {.end = FUNCTIONAL_DONE, .threads = 1, .number = (uint32_t)(r - runs)},
        .observed = launch->profile || execution_observer};
    r->launch = &r->asked;
    r->asked.packet = &r->packet;
    r->asked.descriptor = &r->descriptor;
    r->access = &variants[isa_variant_current()];
    r->common = work_common(launch->target, &r->packet, &r->descriptor, launch->entry,
                            launch->packet_address, launch->pid, launch->dispatch_id);
    r->stored = work_registers(launch->target, r->common.vgprs);
    r->left = work_count_groups(&r->common, r->groups);
    work_nth_group(r->groups, launch->first_group, r->next);
    if (launch->groups)
        r->left = launch->groups;
    take_turn(r);
    preload(r);
    for (uint32_t i = 0; i < slots; i++)
        free_slots[first + i] = first + slots - 1 - i;
    touch_begin(&r->touch, r->launch, &r->result.profile);
    if (aql_meets(&r->packet))
        wave_sync_begin_launch(&syncs[launch->gpu], aql_all_groups(&r->packet));
    if (!run_shared(r))
        run_on(r);
    habit_of(launch)->instructions = r->instructions;
    *result = r->result;
}

void functional_resume(uint32_t number, uint64_t before, enum functional_others others,
                       struct functional_result *result)
{
    struct run *r = &runs[number];
    if (!used[number])
        bug("functional: launch %u has not yielded", number);
    r->asked.before = before - r->instructions;
    r->asked.others = others;
    r->result.end = FUNCTIONAL_DONE;
    take_turn(r);
    run_on(r);
    *result = r->result;
}
