/* See ptx_uninitialised.h. The driver tells which bytes of global memory nothing has written
 * (components/checks/uninitialised/uninitialised.h), for kernels of all kinds. */
#include "ptx_uninitialised.h"

#include <stdio.h>

#include "components/checks/uninitialised/uninitialised.h"
#include "components/memory/page_table/program_table.h"
#include "ptx_check_block.h"

enum { ORIGINS = 1 << 12 };

/* Reports an instruction that has read an undefined value. */
static struct origin {
    uint32_t instruction;
    uint8_t space;
    uint64_t address;
} origins[ORIGINS];

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

static void note_use(uint32_t instruction, uint8_t space, uint64_t address)
{
    origins[instruction % ORIGINS] = (struct origin){instruction, space, address};
}

static void describe_origin(const struct ptx_past *past, const struct warp_undefined_use *use,
                            struct finding *f)
{
    const struct origin *o = &origins[use->origin % ORIGINS];
    ptx_check_place(past, use->warp, use->origin, use->lane, &f->place[1]);
    snprintf(f->detail, sizeof f->detail, "the second place is where it was read");
    if (o->instruction != use->origin)
        return;
    f->address = o->address;
    f->space = o->space == PTX_SPACE_SHARED  ? FINDING_LDS
               : o->space == PTX_SPACE_LOCAL ? FINDING_PRIVATE
                                             : FINDING_GLOBAL;
    if (f->space == FINDING_GLOBAL)
        program_describe(past->program, program_name(past->program, past->pid, f->address),
                         f->memory, sizeof f->memory);
    else if (f->space == FINDING_LDS)
        f->address &= WARP_RANK_OFFSET;
}

static void found_undefined(void *context, const struct warp_undefined_use *use)
{
    static const enum finding_kind kinds[] = {[WARP_USE_ADDRESS] = FINDING_UNINITIALISED_ADDRESS,
                                              [WARP_USE_BRANCH] = FINDING_UNINITIALISED_BRANCH,
                                              [WARP_USE_STORE] = FINDING_UNINITIALISED_STORE};
    const struct ptx_call *c = context;
    const struct ptx_past past = ptx_past_of(c, use->block);
    bool has_origin = use->origin != PTX_NONE;
    uint64_t at = warp_instruction_address(c->code->code, use->instruction);
    uint64_t from = has_origin ? warp_instruction_address(c->code->code, use->origin) : 0;
    if (finding_seen(kinds[use->use], at, from))
        return;
    struct finding f = {.kind = kinds[use->use], .places = has_origin ? 2 : 1};
    ptx_check_place(&past, use->warp, use->instruction, use->lane, &f.place[0]);
    if (has_origin)
        describe_origin(&past, use, &f);
    finding_report(&f);
}

const struct warp_undefined ptx_uninitialised = {.is = check_memory_is_undefined,
                                                 .set = set,
                                                 .set_around = set_around,
                                                 .note = note_use,
                                                 .found = found_undefined};
