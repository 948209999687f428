/* Passes the events of AMD's wavefronts on to the checks that were asked for. Everything here
 * belongs to the host and is no state of the simulation. */
#include "checks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"
#include "components/checks/debugger/debugger.h"
#include "components/memory/page_table/program_table.h"
#include "runtime/engine/bug.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/extension.h"
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
static uint32_t *free_slots, free_count, used_slots;
static size_t wave_capacity, free_capacity;
static struct check_group *groups;
static uint32_t *free_groups, free_group_count, used_groups;
static size_t group_capacity, free_group_capacity;

/* ---- wavefronts ---- */

static uint32_t slot_take(void)
{
    if (free_count)
        return free_slots[--free_count];
    if (used_slots == CHECK_SLOTS)
        die("--check: more than %d wavefronts at a time; check on a smaller platform", CHECK_SLOTS);
    grow_slots(waves, used_slots, wave_capacity, "checks");
    grow_slots(free_slots, used_slots, free_capacity, "checks");
    return used_slots++;
}

static uint32_t *slot_of(uint32_t unit, uint32_t wave)
{
    struct unit_waves *u = &units[unit];
    grow_slots(u->slot, wave, u->capacity, "checks");
    return &u->slot[wave];
}

static struct check_group *group_take(const struct observed_wavefront *what)
{
    const struct work_placement *p = what->placement;
    grow_slots(groups, used_groups, group_capacity, "checks");
    grow_slots(free_groups, used_groups, free_group_capacity, "checks");
    uint32_t slot = free_group_count ? free_groups[--free_group_count] : used_groups++;
    struct check_group *g = &groups[slot];
    *g = (struct check_group){.who = {.executor = &check_wavefronts,
                                      .program = what->program,
                                      .kernel = program_kernel_name(what->program, what->kernel),
                                      .launch = (uint64_t)what->dispatch + 1,
                                      .gpu = what->gpu,
                                      .pid = p->pid},
                              .waves = p->wavefronts,
                              .scratch_bytes = p->scratch_bytes_per_wavefront,
                              .lds_bytes = p->lds_bytes};
    if (p->scratch) {
        g->scratch = p->scratch + (uint64_t)p->scratch_wavefront * g->scratch_bytes;
        g->scratch_end = g->scratch + (uint64_t)p->wavefronts * g->scratch_bytes;
    }
    memcpy(g->who.group, what->group, sizeof g->who.group);
    return g;
}

/* The wavefronts of a work-group begin in their order, and no others between them. */
static void begin_wave(uint32_t unit, uint32_t wave, const struct observed_wavefront *what)
{
    static uint32_t current;
    uint32_t slot = slot_take();
    if (what->number == 0)
        current = (uint32_t)(group_take(what) - groups);
    *slot_of(unit, wave) = slot + 1;
    groups[current].wave[what->number] = slot;
    waves[slot] = (struct check_wave){.observed = *what,
                                      .slot = slot,
                                      .group = current,
                                      .unit = unit,
                                      .pid = what->placement->pid};
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
        free_slots[free_count++] = g->wave[i];
    free_groups[free_group_count++] = (uint32_t)(g - groups);
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
        fprintf(stderr, "heddle: --check and --record instructions are of different runs\n");
        return false;
    }
    return finding_open(text);
}

void checks_open(uint32_t instances, const struct page_table *pages)
{
    bool debugged = debugger_open(pages);
    if (!finding_wanted_any() && !debugged)
        return;
    for (unsigned i = 0; i < CHECK_COUNT; i++)
        if (finding_wanted(checks[i].check))
            active_checks[active_count++] = checks[i].row;
    if (debugged)
        active_checks[active_count++] = &check_debugger;
    units = NULL;
    unit_capacity = 0;
    grow_slots(units, instances, unit_capacity, "checks");
    execution_observer = &observer;
}

static void write_stats(struct json *out)
{
    if (finding_wanted_any())
        finding_write(out);
}

static enum extension_end finish_checks(void)
{
    if (!finding_wanted_any())
        return EXTENSION_DONE;
    finding_print();
    return finding_count() ? EXTENSION_FOUND : EXTENSION_DONE;
}

static const struct extension extension = {
    .start = start_checks, .write_stats = write_stats, .finish = finish_checks};

__attribute__((constructor)) static void register_extension(void)
{
    extension_register(&extension);
}
