/* Faults of the simulated program: the check of addresses, and the end of a run. */
#include "compute_unit.gen.h"

#include "runtime/engine/component_failure.h"

#include "compute_unit_internal.h"
#include "compute_unit_state.h"

static struct work_fault_place place_of(const struct compute_unit *c, const struct cu_wave *w,
                                        const struct isa_inst *inst, uint64_t pc, unsigned lane)
{
    const struct cu_group *g = cu_group_at(c, w->group);
    return (struct work_fault_place){.kernel =
                                         program_kernel_name(compute_unit_program(c), g->kernel),
                                     .inst = inst,
                                     .pc = pc,
                                     .group = {g->id[0], g->id[1], g->id[2]},
                                     .wavefront = w->number,
                                     .lane = lane};
}

/* The wavefront stops, and so does the run. On a machine where other programs continue, only the
 * wavefront ends, as soon as its outstanding accesses are over. */
static void report_fault(struct compute_unit *c, struct cu_wave *w,
                         const struct work_fault_place *place, const char *cause,
                         const uint64_t *address)
{
    char text[WORK_FAULT_BYTES];
    const struct cu_group *g = cu_group_at(c, w->group);
    work_fault_text(place, cause, text, WORK_FAULT_BYTES);
    if (program_contains(compute_unit_program(c), g->pid)) {
        engine_record_fault(&c->io.base, g->pid, 0, address, text);
        wave_begin_wait(c, w, compute_unit_now(c), WORK_WAITING_STORES);
        w->state = WAVE_ENDING;
        wave_check_counters(c, w, compute_unit_now(c));
        return;
    }
    w->state = WAVE_FAULTED;
    if (!c->failed_at)
        c->failed_at = compute_unit_now(c);
    engine_fail_program(&c->io.base, address, text);
}

/* The simulated program did something it must not. `lane` UINT32_MAX: the wavefront as a whole. */
static void cu_fault(struct compute_unit *c, struct cu_wave *w, const struct isa_inst *inst,
                     uint64_t pc, unsigned lane, const char *cause)
{
    const struct work_fault_place place = place_of(c, w, inst, pc, lane);
    report_fault(c, w, &place, cause, NULL);
}

static uint32_t wave_pid(const struct compute_unit *c, const struct cu_wave *w)
{
    return cu_group_at(c, w->group)->pid;
}

/* True when [start, end) lies in one allocation that this GPU may access; it is remembered. */
static bool bounds_hold(struct compute_unit *c, const struct cu_wave *w, uint64_t start,
                        uint64_t end)
{
    const struct program_table *program = compute_unit_program(c);
    if (c->span_table_version != program->version || start < c->span_start || end > c->span_end) {
        const struct program_allocation *a = program_find_in(program, wave_pid(c, w), start);
        if (!a || end > page_table_address(a->end)
            || !program_reaches(program, program_gpu_of(program, c->io.base.leaf), a))
            return false;
        /* An answer holds for one process only: it is not kept if several share addresses. */
        c->span_table_version = program->named ? program->version - 1 : program->version;
        c->span_start = a->start;
        c->span_end = a->end;
    }
    return true;
}

static void bounds_fault(struct compute_unit *c, struct cu_wave *w, const struct isa_inst *inst,
                         uint64_t pc, unsigned lane, const struct work_fault_access *access)
{
    char cause[WORK_FAULT_CAUSE_BYTES];
    const struct work_fault_place place = place_of(c, w, inst, pc, lane);
    work_fault_bounds(compute_unit_program(c), wave_pid(c, w), access, cause, sizeof cause);
    report_fault(c, w, &place, cause, &access->address);
}
