/* Fills in places of findings by the struct check_executor of their executors. */
#include "check_place.h"

#include <stdio.h>
#include <string.h>

#include "components/memory/page_table/program_table.h"

static uint64_t pc_of(const struct check_place *place)
{
    return place ? place->identity->executor->pc(place->identity, place->instruction) : 0;
}

static void describe_place(const struct check_place *place, struct finding_place *text)
{
    const struct check_identity *identity = place->identity;
    *text = (struct finding_place){.pc = pc_of(place),
                                   .launch = identity->launch,
                                   .gpu = identity->gpu,
                                   .wavefront = place->wavefront,
                                   .lane = place->lane};
    memcpy(text->group, identity->group, sizeof text->group);
    snprintf(text->kernel, sizeof text->kernel, "%s", identity->kernel ? identity->kernel : "");
    identity->executor->describe(identity, place->instruction, text);
}

bool check_found(enum finding_kind kind, const struct check_place *first,
                 const struct check_place *second, struct finding *finding)
{
    if (finding_seen(kind, pc_of(first), pc_of(second)))
        return false;
    *finding = (struct finding){.kind = kind, .places = second ? 2 : 1};
    describe_place(first, &finding->place[0]);
    if (second)
        describe_place(second, &finding->place[1]);
    return true;
}

void check_address(const struct check_identity *identity, enum finding_space space,
                   uint64_t address, struct finding *finding)
{
    finding->space = space;
    finding->address = address;
    if (space == FINDING_GLOBAL)
        program_describe(identity->program, program_name(identity->program, identity->pid, address),
                         finding->memory, sizeof finding->memory);
}
