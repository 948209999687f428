/* Passes the events of AMD's wavefronts on to the checks that were asked for. Everything here
 * belongs to the host and is no state of the simulation. */
#include "checks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"
#include "base/number_pool.h"
#include "components/checks/debugger/debugger.h"
#include "components/memory/page_table/program_table.h"
#include "runtime/engine/bug.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/options.h"
#include "runtime/engine/rank.h"

static const struct {
    enum finding_check check;
    const struct check *row;
} checks[] = {
#define CHECKED(id, wavefronts, warps) {FINDING_CHECK_##id, &wavefronts},
#include "checks.def"
#undef CHECKED
};

enum { CHECK_COUNT = ARRAY_COUNT(checks) };

/* Wavefronts of a unit, by their number there: 1 + slot. Grows. */
struct unit_waves {
    uint32_t *slot;
    size_t capacity;
};

static const struct check *active_checks[CHECK_COUNT + 1]; /* the debugger may be one more */
static unsigned active_count;
static struct unit_waves *units;
static size_t unit_capacity;
static struct check_wave *waves; /* by slot */
static struct number_pool wave_slots;
static size_t wave_capacity;
static struct check_group *groups;
static struct number_pool group_slots;
static size_t group_capacity;
static uint32_t current_group; /* whose wavefronts begin */

/* ---- wavefronts ---- */

static uint32_t wave_slot_acquire(void)
{
    uint32_t slot = number_pool_acquire(&wave_slots, "checks");
    if (slot == CHECK_SLOTS)
        die("--check: more than %d wavefronts at a time; check on a smaller platform", CHECK_SLOTS);
    grow_slots(waves, slot, wave_capacity, "checks");
    return slot;
}

static uint32_t *slot_of(uint32_t unit, uint32_t wave)
{
    struct unit_waves *u = &units[unit];
    grow_slots(u->slot, wave, u->capacity, "checks");
    return &u->slot[wave];
}

/* A slot with the work-group of its first wavefront. */
static uint32_t group_begin(const struct observed_wavefront *first)
{
    const struct work_placement *p = first->placement;
    uint32_t slot = number_pool_acquire(&group_slots, "checks");
    grow_slots(groups, slot, group_capacity, "checks");
    struct check_group *g = &groups[slot];
    *g = (struct check_group){
        .identity = {.executor = &check_wavefronts,
                     .program = first->program,
                     .kernel = program_kernel_name(first->program, first->kernel),
                     .launch = (uint64_t)first->dispatch + 1,
                     .gpu = first->gpu,
                     .pid = p->pid},
        .waves = p->wavefronts,
        .scratch_bytes = p->scratch_bytes_per_wavefront,
        .lds_bytes = p->lds_bytes};
    if (p->scratch) {
        g->scratch = p->scratch + (uint64_t)p->scratch_wavefront * g->scratch_bytes;
        g->scratch_end = g->scratch + (uint64_t)p->wavefronts * g->scratch_bytes;
    }
    memcpy(g->identity.group, first->group, sizeof g->identity.group);
    return slot;
}

/* The wavefronts of a work-group begin in their order, and no others between them. */
static void begin_wave(uint32_t unit, uint32_t wave, const struct observed_wavefront *observed)
{
    uint32_t slot = wave_slot_acquire();
    if (observed->number == 0)
        current_group = group_begin(observed);
    *slot_of(unit, wave) = slot + 1;
    groups[current_group].wave[observed->number] = slot;
    waves[slot] = (struct check_wave){.observed = *observed,
                                      .slot = slot,
                                      .group = current_group,
                                      .unit = unit,
                                      .pid = observed->placement->pid};
    for (unsigned i = 0; i < active_count; i++)
        if (active_checks[i]->begin)
            active_checks[i]->begin(&waves[slot]);
    waves[slot].observed.placement = NULL;
}

static void step_wave(uint32_t unit, uint32_t wave, const struct observed_instruction *step)
{
    struct check_wave *w = &waves[*slot_of(unit, wave) - 1];
    w->instruction = 0;
    for (unsigned i = 0; i < active_count; i++)
        active_checks[i]->step(w, step);
}

static void end_wave(uint32_t unit, uint32_t wave)
{
    uint32_t *slot = slot_of(unit, wave);
    for (unsigned i = 0; i < active_count; i++)
        if (active_checks[i]->end)
            active_checks[i]->end(&waves[*slot - 1]);
    struct check_group *g = &groups[waves[*slot - 1].group];
    *slot = 0;
    if (++g->ended < g->waves)
        return;
    for (uint32_t i = g->waves; i-- > 0;)
        number_pool_release(&wave_slots, g->wave[i]);
    number_pool_release(&group_slots, (uint32_t)(g - groups));
}

uint32_t check_step_instruction(const struct check_wave *wave,
                                const struct observed_instruction *step)
{
    uint32_t *number = &waves[wave->slot].instruction;
    if (!*number)
        *number = check_instruction(wave, step->pc, step->inst);
    return *number;
}

const struct check_wave *check_wave_at(uint32_t slot)
{
    return &waves[slot];
}

void *check_slot_memory(void **memory, uint32_t slot, size_t bytes)
{
    if (!memory[slot])
        memory[slot] = grow_memory(NULL, bytes, "checks");
    return memory[slot];
}

const struct check_group *check_group_of(const struct check_wave *wave)
{
    return &groups[wave->group];
}

/* ---- the run ---- */

static const struct execution_observer observer = {
    .begin = begin_wave, .step = step_wave, .end = end_wave};

void checks_open(uint32_t instances, bool has_debugger)
{
    for (unsigned i = 0; i < CHECK_COUNT; i++)
        if (finding_is_wanted(checks[i].check))
            active_checks[active_count++] = checks[i].row;
    if (has_debugger)
        active_checks[active_count++] = &check_debugger;
    units = NULL;
    unit_capacity = 0;
    grow_slots(units, instances, unit_capacity, "checks");
    execution_observer = &observer;
}

static bool start_checks(void)
{
    const char *text = option_text("check");
    if (!text)
        return true;
    if (!rank_is_alone()) {
        fprintf(stderr, "heddle: --check: a checked program runs on one rank\n");
        return false;
    }
    if (option_text("record instructions")) {
        fprintf(stderr,
                "heddle: --check and --record instructions cannot be combined: run the program "
                "twice\n");
        return false;
    }
    return finding_open(text);
}

static void write_stats(struct json *out)
{
    if (finding_any_is_wanted())
        finding_write(out);
}

static enum extension_end finish_checks(void)
{
    if (!finding_any_is_wanted())
        return EXTENSION_DONE;
    finding_print();
    return finding_count() ? EXTENSION_FOUND : EXTENSION_DONE;
}

const struct extension checks_extension = {
    .start = start_checks, .write_stats = write_stats, .finish = finish_checks};

__attribute__((constructor)) static void register_extension(void)
{
    program_observer = &check_program;
    extension_register(&checks_extension);
}
