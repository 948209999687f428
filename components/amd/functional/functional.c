/* The functional executor; see functional.h.
 *
 * In each round of a launch one more work-group begins, if there is one and a slot for it, and
 * every work-group in the list of slots gets its turn. A turn ends with the work-group, or when all
 * its wavefronts wait or have had their slice; so usually the list has one entry, whose registers
 * stay in the host's caches. A launch that has yielded keeps its slots; the next one gets a range
 * of slots that is free. */
#include <string.h>

#include "base/number.h"
#include "components/amd/execute/wavefront_start.h"
#include "components/statistics/execution_observer.h"
#include "runtime/engine/bug.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/run_control.h"

#include "access.h"
#include "functional_state.h"
#include "observe.h"

/* In the order of isa_variant_name(). */
static const struct access variants[] = {
#ifdef ISA_V2
    {access_vector_v2, access_scalar_v2},
#endif
#ifdef ISA_V3
    {access_vector_v3, access_scalar_v3},
#endif
};

struct functional_state functional;
static uint64_t patience; /* instructions of a resident work-group; 0: the program continues */

static void slot_open(uint32_t slot)
{
    functional.groups_at[slot] = arena_allocate(sizeof(struct group));
    struct group *g = functional_group_at(slot);
    size_t registers = (size_t)WORK_WAVEFRONTS_MAX * KERNEL_VGPRS_MAX * ISA_LANES;
    g->vgprs_at = arena_allocate(registers * sizeof(uint32_t));
}

/* Gives the work-group the LDS that most compute units have, or more if the kernel needs it. */
static void group_fit_lds(struct group *g, uint32_t bytes)
{
    enum {
        LDS_USUAL = 64 << 10,
        LDS_BEHIND = 64 /* bytes after it that wide accesses may look at */
    };
    if (bytes + LDS_BEHIND <= g->lds_capacity)
        return;
    g->lds_capacity = bytes <= LDS_USUAL ? LDS_USUAL + LDS_BEHIND : 2 * bytes;
    g->lds_at = arena_allocate(g->lds_capacity);
}

/* The work-group of a slot, with room for the launch's registers and LDS. */
struct group *functional_slot_group(const struct run *r, uint32_t slot)
{
    if (!functional.groups_at[slot])
        slot_open(slot);
    struct group *g = functional_group_at(slot);
    group_fit_lds(g, r->common.lds_bytes);
    return g;
}

/* Begins the next work-group. `slot` numbers its area of private memory, too. */
void functional_group_start(struct run *r, uint32_t slot)
{
    struct group *g = functional_slot_group(r, slot);
    g->placement = r->common;
    memcpy(g->id, r->next_id, sizeof g->id);
    work_cut_group(g->id, &g->placement);
    g->placement.scratch_wavefront = (slot - r->first) * work_full_wavefronts(&r->common);
    g->slot = slot;
    g->unit = r->launch->touches ? touch_next_unit() : 0;
    g->waves = g->placement.wavefronts;
    g->ended = g->at_barrier = 0;
    for (uint32_t i = 0; i < g->waves; i++) {
        g->wave[i].vgprs_at = g->vgprs_at + i * (r->stored * (ISA_LANES * 4 / ARENA_UNIT));
        struct isa_context context = functional_context(r, g, &g->wave[i]);
        wavefront_start(r->launch->target, &g->wave[i].scalars, context.vgpr, &g->placement, g->id,
                        i);
        g->wave[i].state = WAVE_RUNS;
        g->wave[i].next_block_pc = g->wave[i].instructions = 0;
        g->wave[i].livelock = (struct livelock){0};
        if (execution_observer)
            observe_begin(slot * WORK_WAVEFRONTS_MAX + i,
                          &(struct observed_wavefront){.gpu = r->launch->gpu,
                                                       .dispatch = r->launch->dispatch_id,
                                                       .group = {g->id[0], g->id[1], g->id[2]},
                                                       .number = i,
                                                       .target = r->launch->target,
                                                       .kernel = r->launch->kernel,
                                                       .program = r->launch->program,
                                                       .placement = &g->placement});
    }
    work_next_group(r->groups, r->next_id);
    r->remaining--;
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

/* Ends the launch if its process has ended. False: it has not. */
static bool end_if_killed(struct run *r, const struct group *g)
{
    bool killed = program_is_killed(r->launch->program, r->launch->pid);
    if (killed)
        functional_fault(r, g, g->wave, NULL, g->wave->scalars.pc, WORK_LANE_NONE,
                         "its process has ended");
    return killed;
}

/* A turn for each work-group that has begun; ended ones leave the list. False: the run failed. */
static bool run_round(struct run *r)
{
    uint32_t remaining = 0, *live = functional.live_groups + r->first,
             *free = functional.free_slots + r->first;
    for (uint32_t i = 0; i < r->live_count; i++) {
        struct group *g = functional_group_at(live[i]);
        if (!functional_group_run(r, g))
            return false;
        if (g->ended < g->waves) {
            live[remaining++] = g->slot;
            if (r->launch->attend) {
                r->launch->attend(r->launch->gpu);
                set_limit(r);
                host_view_refresh(&r->worker->view, r->launch->program, r->launch->pages,
                                  r->launch->pid);
            }
            if (end_if_killed(r, g))
                return false;
            continue;
        }
        free[r->free_count++] = g->slot;
        r->result.work_groups++;
    }
    bool ended = remaining < r->live_count;
    r->live_count = remaining;
    if (ended)
        functional_count_progress(r);
    return true;
}

/* Begins the work-groups that fit: one, or those that run side by side. */
static void begin_groups(struct run *r)
{
    for (bool more = r->remaining && r->free_count; more;
         more = r->remaining && r->free_count && r->live_count < r->abreast) {
        uint32_t slot = functional.free_slots[r->first + --r->free_count];
        functional_group_start(r, slot);
        functional.live_groups[r->first + r->live_count++] = slot;
        functional_count_progress(r);
    }
}

/* Work-groups that may be live at the same time. */
static uint32_t resident_groups(const struct functional_launch *launch)
{
    uint64_t most = min(launch->resident, FUNCTIONAL_SLOTS);
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
    uint32_t dwords = min(k.preload, WORK_PRELOADED_MAX);
    if (dwords)
        host_view_read(&r->worker->view, r->common.kernarg + k.preload_offset * (uint64_t)4,
                       r->common.preloaded, dwords * 4);
}

/* The first slots of a range that no launch has; FUNCTIONAL_SLOTS: there is none. */
static uint32_t free_range(uint32_t slots)
{
    uint32_t first = 0, before;
    do {
        before = first;
        for (uint32_t i = 0; i < FUNCTIONAL_LAUNCHES_MAX; i++) {
            const struct run *r = &functional.runs[i];
            if (functional.is_run_used[i] && first < r->first + r->slots
                && r->first < first + slots)
                first = r->first + r->slots;
        }
    } while (first != before);
    return first + slots <= FUNCTIONAL_SLOTS ? first : FUNCTIONAL_SLOTS;
}

static struct run *free_run(void)
{
    for (uint32_t i = 0; i < FUNCTIONAL_LAUNCHES_MAX; i++)
        if (!functional.is_run_used[i])
            return &functional.runs[i];
    return NULL;
}

bool functional_has_room(uint32_t resident)
{
    return free_run() && free_range(min(resident, FUNCTIONAL_SLOTS)) < FUNCTIONAL_SLOTS;
}

bool functional_is_awaited(void)
{
    uint32_t i = 0;
    while (i < FUNCTIONAL_LAUNCHES_MAX && !functional.is_run_used[i])
        i++;
    return i < FUNCTIONAL_LAUNCHES_MAX;
}

struct worker *functional_worker(uint32_t thread)
{
    if (!functional.workers[thread])
        functional.workers[thread] = arena_reserve(sizeof *functional.workers[thread]);
    return functional.workers[thread];
}

void functional_worker_begin(struct worker *k, const struct functional_launch *launch)
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

/* Begins a turn of the launch: other launches may have changed memory and page tables since its
 * last turn. */
void functional_begin_turn(struct run *r)
{
    const struct functional_launch *launch = r->launch;
    set_limit(r);
    functional.launches++;
    functional_worker_begin(r->worker, launch);
}

/* After a round. Side by side it ends at each wait for memory, so a turn takes as many instructions
 * as otherwise. True: it is over. */
static bool end_turn(struct run *r)
{
    if (r->abreast && r->instructions < r->turn_end)
        return false;
    r->idle_turns++;
    r->turn_end = r->instructions + (uint64_t)FUNCTIONAL_SLICE * r->live_count;
    return true;
}

static void run_on(struct run *r)
{
    functional_count_progress(r);
    functional_begin_watch(r);
    touch_turn(&r->touch);
    while (r->remaining || r->live_count) {
        uint64_t before = r->instructions;
        begin_groups(r);
        if (!run_round(r))
            break;
        if (r->instructions == before && r->live_count && (!r->remaining || !r->free_count)) {
            functional_all_wait(r);
            break;
        }
        if (engine_is_interrupted()) {
            r->result.end = FUNCTIONAL_INTERRUPTED;
            break;
        }
        if (functional_is_stuck(r)) {
            functional_deadlock(r);
            break;
        }
        functional_set_watch(r, end_turn(r));
        if (r->launch->others && r->idle_turns >= FUNCTIONAL_PATIENCE) {
            r->result.end = functional_yield(r);
            break;
        }
    }
    functional.is_run_used[r - functional.runs] = r->result.end == FUNCTIONAL_YIELDED;
    functional.yields = functional.is_run_used[r - functional.runs] ? functional.yields : 0;
    touch_pause(&r->touch);
    r->result.instructions = r->instructions;
    functional_collect_counts(r);
}

void functional_run(const struct functional_launch *launch, struct functional_result *result)
{
    struct run *r = free_run();
    uint32_t slots = resident_groups(launch), first = free_range(slots);
    if (!r || first == FUNCTIONAL_SLOTS)
        bug("functional: no room for a launch; it was not asked for");
    *r = (struct run){
        .own_launch = *launch,
        .packet = *launch->packet,
        .descriptor = *launch->descriptor,
        .first = first,
        .slots = slots,
        .worker = functional_worker(0),
        .free_count = slots,
        .result = {.end = FUNCTIONAL_DONE, .threads = 1, .number = (uint32_t)(r - functional.runs)},
        .is_observed = launch->profile || execution_observer};
    r->launch = &r->own_launch;
    r->own_launch.packet = &r->packet;
    r->own_launch.descriptor = &r->descriptor;
    r->access = &variants[isa_variant_current()];
    r->common = work_common(&(struct work_launch){launch->target, &r->packet, &r->descriptor,
                                                  launch->entry, launch->packet_address,
                                                  launch->pid, launch->dispatch_id});
    r->stored = work_registers(launch->target, r->common.vgprs);
    r->remaining = work_count_groups(&r->common, r->groups);
    work_nth_group(r->groups, launch->first_group, r->next_id);
    if (launch->groups)
        r->remaining = launch->groups;
    functional_begin_turn(r);
    preload(r);
    for (uint32_t i = 0; i < slots; i++)
        functional.free_slots[first + i] = first + slots - 1 - i;
    touch_begin(&r->touch, r->launch, &r->result.profile);
    r->abreast = touch_abreast(&r->touch);
    if (aql_meets(&r->packet))
        wave_sync_begin_launch(&functional.syncs[launch->gpu], aql_all_groups(&r->packet));
    if (!functional_run_shared(r))
        run_on(r);
    functional_record_length(launch, r->instructions);
    *result = r->result;
}

void functional_resume(uint32_t number, uint64_t before, enum functional_others others,
                       struct functional_result *result)
{
    struct run *r = &functional.runs[number];
    if (!functional.is_run_used[number])
        bug("functional: launch %u has not yielded", number);
    r->own_launch.before = before - r->instructions;
    r->own_launch.others = others;
    r->result.end = FUNCTIONAL_DONE;
    functional_begin_turn(r);
    run_on(r);
    *result = r->result;
}
