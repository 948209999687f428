/* Barriers in divergent code.
 *
 * The hardware counts wavefronts, not work-items, and those that have ended count as arrived. So a
 * barrier that some work-items do not reach passes without a word. A work-item that has ended
 * before, as by `if (i >= n) return;`, is no mistake. The finding names a work-item that continues.
 * Its next access to memory shows that it does, since compilers turn all lanes on for a while when
 * they save registers.
 *
 * - A wavefront passes a barrier without a lane, and the lane accesses memory later.
 * - Wavefronts of a work-group wait at different barriers.
 * - A wavefront has passed fewer barriers than another at its end, and the last instruction of both
 *   that accessed memory is the same. (Those that return early end in another way.) */
#include <stdlib.h>
#include <string.h>

#include "components/amd/isa/isa.h"

#include "checks.h"

struct wave {
    uint64_t lanes;           /* that have been active */
    uint64_t missing;         /* at a barrier, and not seen since */
    uint32_t missed;          /* the barrier, by the number of its instruction */
    uint32_t barrier, memory; /* the last ones; 0: none */
    uint64_t barriers;
    bool has_ended;
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

static void report_barrier(enum finding_kind kind, struct check_place first,
                           struct check_place second)
{
    struct finding found;
    if (check_found(kind, &first, &second, &found))
        finding_report(&found);
}

static struct check_place whole_wave(const struct check_wave *wave, uint32_t instruction)
{
    return check_wave_place(wave, instruction, FINDING_LANE_NONE);
}

/* The others of the work-group that wait at their own number `barriers`, at another place? */
static void meet(const struct check_wave *wave, const struct wave *w)
{
    const struct check_group *group = check_group_of(wave);
    for (uint32_t i = 0; i < group->waves; i++) {
        const struct wave *other = wave_at(group->wave[i]);
        if (other == w || other->has_ended || other->barriers != w->barriers
            || other->barrier == w->barrier)
            continue;
        report_barrier(FINDING_DIFFERENT_BARRIERS,
                       whole_wave(check_wave_at(group->wave[i]), other->barrier),
                       whole_wave(wave, w->barrier));
        return;
    }
}

static void pass_barrier(const struct check_wave *wave, struct wave *w,
                         const struct observed_instruction *step)
{
    uint64_t missing = w->lanes & ~isa_wave_exec(step->scalars);
    w->barrier = check_step_instruction(wave, step);
    if (missing && !w->missing) {
        w->missing = missing;
        w->missed = w->barrier;
    }
    w->barriers++;
    meet(wave, w);
}

static void access(const struct check_wave *wave, struct wave *w,
                   const struct observed_instruction *step)
{
    uint64_t back = w->missing & step->mask;
    w->memory = check_step_instruction(wave, step);
    if (!back)
        return;
    report_barrier(FINDING_DIVERGENT_BARRIER, whole_wave(wave, w->missed),
                   check_wave_place(wave, w->memory, (uint32_t)__builtin_ctzll(back)));
    w->missing = 0;
}

/* True if the instruction accesses memory for work-items; false for accesses of the compiler. */
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
        if (w->barriers == all->barriers || !w->memory || w->memory != all->memory)
            continue;
        report_barrier(FINDING_SKIPPED_BARRIER, whole_wave(check_wave_at(most), all->barrier),
                       whole_wave(check_wave_at(group->wave[i]), w->memory));
        return;
    }
}

static void end_barriers(const struct check_wave *wave)
{
    const struct check_group *group = check_group_of(wave);
    wave_at(wave->slot)->has_ended = true;
    uint32_t ended = 0;
    for (uint32_t i = 0; i < group->waves; i++)
        ended += wave_at(group->wave[i])->has_ended;
    if (ended == group->waves)
        compare_barriers(group);
}

const struct check check_barriers = {
    .begin = begin_barriers, .step = step_barriers, .end = end_barriers};
