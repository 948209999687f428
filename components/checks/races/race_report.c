/* See race_report.h. */
#include "race_report.h"

#include "components/memory/page_table/program_table.h"
#include "components/checks/slot_array.h"

struct race_memory race_device_memory;

static const struct race_source **sources; /* by number of a work-group */
static uint64_t source_room;

uint32_t race_group(uint32_t command, const struct race_source *source)
{
    uint32_t number = race_group_begin(command);
    sources = slot_array_grow(sources, &source_room, number, sizeof *sources);
    sources[number] = source;
    return number;
}

void race_report(const struct race_event *e, const struct race_access *earlier,
                 enum finding_space space, const struct program_table *program)
{
    const struct race_source *first = sources[earlier->id >> RACE_GROUP_BITS];
    const struct race_source *second = sources[e->wave->id >> RACE_GROUP_BITS];
    bool same = race_command_of(earlier->id) == e->wave->command;
    struct finding f = {.kind = same ? FINDING_RACE : FINDING_LAUNCH_RACE,
                        .places = 2,
                        .space = space,
                        .address = e->address & (race_process_base(1) - 1)};
    if (e->use & RACE_WRITE && race_heard_before(e->wave, earlier->id, earlier->clock))
        return;
    if (race_has_seen(e->wave, e->address, earlier->id, earlier->clock))
        return;
    if (finding_seen(f.kind, first->pc(earlier->id, earlier->site),
                     second->pc(e->wave->id, e->site)))
        return;
    first->describe(earlier->id, earlier->site, &f.place[0]);
    second->describe(e->wave->id, e->site, &f.place[1]);
    if (space == FINDING_GLOBAL)
        program_describe(program, program_name(program, race_process(e->address), f.address),
                         f.memory, sizeof f.memory);
    finding_report(&f);
}
