/* `--check uninitialised` of kernels in PTX. The driver reports which bytes of global memory
 * nothing has written (components/checks/uninitialised/uninitialised.h), for kernels of all kinds.
 */
#include "components/checks/uninitialised/undefined_report.h"
#include "components/checks/uninitialised/uninitialised.h"
#include "components/memory/page_table/program_table.h"

#include "ptx_check_block.h"

static void set(uint64_t address, uint64_t bytes, bool undefined)
{
    if (undefined)
        check_memory_new(address, bytes);
    else
        check_memory_written(address, bytes);
}

static void set_around(void *context, uint64_t address)
{
    const struct ptx_call *c = context;
    const struct program_allocation *a = program_find(c->view.program, address);
    if (a)
        check_memory_written(a->start, a->end - a->start);
}

static void check_use(uint32_t instruction, uint8_t space, uint64_t address)
{
    if (space == PTX_SPACE_SHARED)
        undefined_note(instruction, FINDING_LDS, address & WARP_RANK_OFFSET);
    else
        undefined_note(instruction, space == PTX_SPACE_LOCAL ? FINDING_PRIVATE : FINDING_GLOBAL,
                       address);
}

static void found_undefined(void *context, const struct warp_undefined_use *use)
{
    static const enum finding_kind kinds[] = {[WARP_USE_ADDRESS] = FINDING_UNINITIALISED_ADDRESS,
                                              [WARP_USE_BRANCH] = FINDING_UNINITIALISED_BRANCH,
                                              [WARP_USE_STORE] = FINDING_UNINITIALISED_STORE};
    const struct check_identity identity = ptx_identity(context, use->block);
    const struct check_place place = {&identity, use->warp, use->instruction, use->lane};
    const struct check_place read = {&identity, use->warp, use->origin, use->lane};
    undefined_report(kinds[use->use], &place, use->origin == PTX_NONE ? NULL : &read);
}

const struct warp_undefined ptx_uninitialised = {.is_undefined = check_memory_is_undefined,
                                                 .set = set,
                                                 .set_around = set_around,
                                                 .note = check_use,
                                                 .report = found_undefined};
