/* Stacks that leave the private memory of their wavefront. The private memory of all wavefronts of
 * a launch lies in one pool, so the hardware, and the simulator, accept an access to another
 * wavefront's; an access outside of the pool ends the run. */
#include <inttypes.h>
#include <stdio.h>

#include "components/amd/isa/isa.h"
#include "components/memory/page_table/program_table.h"

#include "checks.h"

struct area {
    uint64_t pool, pool_end; /* scratch memory of the launch */
    uint64_t begin, end;     /* scratch memory of the wavefront */
    uint32_t bytes;          /* scratch memory of a work-item */
};

static void *areas[CHECK_SLOTS]; /* struct area */

static void begin_stack(const struct check_wave *wave)
{
    const struct work_placement *p = wave->observed.placement;
    struct area *a = check_slot_memory(areas, wave->slot, sizeof *a);
    const struct program_allocation *pool =
        p->scratch ? program_find_in(wave->observed.program, p->pid, p->scratch) : NULL;
    const struct check_group *g = check_group_of(wave);
    *a = (struct area){0};
    if (!pool)
        return;
    a->pool = p->scratch;
    a->pool_end = page_table_address(pool->end);
    a->begin = g->scratch + (uint64_t)wave->observed.number * g->scratch_bytes;
    a->end = a->begin + g->scratch_bytes;
    a->bytes = p->private_bytes;
}

static void report_overflow(const struct check_wave *wave, const struct area *a,
                            const struct observed_instruction *step, uint32_t lane)
{
    uint64_t address = step->memory->address[lane];
    const struct check_place place = check_step_place(wave, step, lane);
    struct finding found;
    if (!check_found(FINDING_STACK_OVERFLOW, &place, NULL, &found))
        return;
    snprintf(found.detail, sizeof found.detail,
             "a work-item has %" PRIu32 " bytes; the access lies %" PRIu64 " bytes %s those of its "
             "wavefront",
             a->bytes, address < a->begin ? a->begin - address : address - a->end + 1,
             address < a->begin ? "before" : "behind");
    finding_report(&found);
}

static void step_stack(const struct check_wave *wave, const struct observed_instruction *step)
{
    struct area *a = areas[wave->slot];
    if (!step->memory || !a->pool)
        return;
    for (uint64_t rest = step->memory->mask; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctzll(rest);
        uint64_t address = step->memory->address[lane];
        if (address >= a->pool && address < a->pool_end
            && (address < a->begin || address >= a->end)) {
            report_overflow(wave, a, step, lane);
            a->pool = 0; /* what follows is the same mistake */
            return;
        }
    }
}

const struct check check_stack = {.begin = begin_stack, .step = step_stack};
