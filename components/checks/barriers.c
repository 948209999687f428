/* Barriers in divergent code.
 *
 * The hardware counts wavefronts, not work-items, and those that have ended count as arrived. So a
 * barrier that some work-items do not reach passes without a word. A work-item that has ended
 * before, as by `if (i >= n) return;`, is no mistake. The finding names a work-item that goes on.
 * Its next access to memory shows that it does, since compilers turn all lanes on for a while when
 * they save registers.
 *
 * - A wavefront passes a barrier without a lane, and the lane accesses memory later.
 * - Wavefronts of a work-group wait at different barriers.
 * - A wavefront has passed fewer barriers than another at its end, and the last instruction of both
 *   that accessed memory is the same. (Those that return early end in another way.) */
#include "checks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "components/amd/isa/isa.h"

struct wave {
    uint64_t lanes;   /* that have been active */
    uint64_t missing; /* at a barrier, and not seen since */
    uint64_t missed_pc;
    struct isa_inst missed;
    uint64_t barriers;
    uint64_t barrier_pc, memory_pc; /* the last ones; 0: none */
    struct isa_inst barrier, memory;
    bool ended;
};

static void *waves[CHECK_SLOTS]; /* struct wave */

static struct wave *wave_at(uint32_t slot)
{
    return waves[slot];
}

static void begin_barriers(const struct check_wave *wave)
{
    struct wave *w = check_slot_memory(waves, wave->slot, sizeof *w);
    memset(w, 0, sizeof *w);
}

static void report_barrier(enum finding_kind kind, const struct check_wave *first,
                           uint64_t first_pc, const struct isa_inst *first_inst,
                           const struct check_wave *second, uint64_t second_pc,
                           const struct isa_inst *second_inst, uint32_t lane)
{
    if (finding_seen(kind, first_pc, second_pc))
        return;
    struct finding found = {.kind = kind, .places = 2};
    check_place(first, first_pc, first_inst, FINDING_NO_LANE, &found.place[0]);
    check_place(second, second_pc, second_inst, lane, &found.place[1]);
    finding_report(&found);
}

/* The others of the work-group that wait at their own number `barriers`, at another place? */
static void meet(const struct check_wave *wave, const struct wave *w)
{
    const struct check_group *group = check_group_of(wave);
    for (uint32_t i = 0; i < group->waves; i++) {
        const struct wave *other = wave_at(group->wave[i]);
        if (other == w || other->ended || other->barriers != w->barriers
            || other->barrier_pc == w->barrier_pc)
            continue;
        report_barrier(FINDING_DIFFERENT_BARRIERS, check_wave_at(group->wave[i]), other->barrier_pc,
                       &other->barrier, wave, w->barrier_pc, &w->barrier, FINDING_NO_LANE);
        return;
    }
}

static void pass_barrier(const struct check_wave *wave, struct wave *w,
                         const struct observed_instruction *step)
{
    uint64_t missing = w->lanes & ~isa_wave_exec(step->scalars);
    if (missing && !w->missing) {
        w->missing = missing;
        w->missed_pc = step->pc;
        w->missed = *step->inst;
    }
    w->barriers++;
    w->barrier_pc = step->pc;
    w->barrier = *step->inst;
    meet(wave, w);
}

static void access(const struct check_wave *wave, struct wave *w,
                   const struct observed_instruction *step)
{
    uint64_t back = w->missing & step->mask;
    w->memory_pc = step->pc;
    w->memory = *step->inst;
    if (!back)
        return;
    report_barrier(FINDING_DIVERGENT_BARRIER, wave, w->missed_pc, &w->missed, wave, step->pc,
                   step->inst, (uint32_t)__builtin_ctzll(back));
    w->missing = 0;
}

/* Does the instruction access memory for work-items, and not for the compiler? */
static bool is_access(const struct isa_inst *inst)
{
    return (inst->format == ISA_DS || inst->format == ISA_FLAT || inst->format == ISA_GLOBAL)
           && (inst->flags & (ISA_IS_LOAD | ISA_IS_STORE | ISA_IS_ATOMIC));
}

static void step_barriers(const struct check_wave *wave, const struct observed_instruction *step)
{
    struct wave *w = wave_at(wave->slot);
    if (!step->inst)
        return;
    if (is_access(step->inst))
        access(wave, w, step);
    else if (step->inst->flags & ISA_IS_BARRIER)
        pass_barrier(wave, w, step);
    if (!w->barriers && step->inst->unit == ISA_UNIT_VALU)
        w->lanes |= isa_wave_exec(step->scalars);
}

/* The last wavefront of its work-group has ended. */
static void compare_barriers(const struct check_group *group)
{
    uint32_t most = group->wave[0];
    for (uint32_t i = 1; i < group->waves; i++)
        if (wave_at(group->wave[i])->barriers > wave_at(most)->barriers)
            most = group->wave[i];
    const struct wave *all = wave_at(most);
    for (uint32_t i = 0; i < group->waves; i++) {
        const struct wave *w = wave_at(group->wave[i]);
        if (w->barriers == all->barriers || !w->memory_pc || w->memory_pc != all->memory_pc)
            continue;
        report_barrier(FINDING_SKIPPED_BARRIER, check_wave_at(most), all->barrier_pc, &all->barrier,
                       check_wave_at(group->wave[i]), w->memory_pc, &w->memory, FINDING_NO_LANE);
        return;
    }
}

static void end_barriers(const struct check_wave *wave)
{
    const struct check_group *group = check_group_of(wave);
    wave_at(wave->slot)->ended = true;
    uint32_t ended = 0;
    for (uint32_t i = 0; i < group->waves; i++)
        ended += wave_at(group->wave[i])->ended;
    if (ended == group->waves)
        compare_barriers(group);
}

const struct check check_barriers = {.check = FINDING_CHECK_BARRIERS,
                                     .begin = begin_barriers,
                                     .step = step_barriers,
                                     .end = end_barriers};
