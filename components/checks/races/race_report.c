/* Numbers work-groups for the check of races, and turns races into findings. */
#include "race_report.h"

#include "base/grow.h"

struct race_memory race_device_memory;

static struct check_identity *identities; /* by number of a work-group */
static size_t identity_capacity;

uint32_t race_group(uint32_t command, const struct check_identity *identity)
{
    uint32_t number = race_group_begin(command);
    grow_slots(identities, number, identity_capacity, "checks");
    identities[number] = *identity;
    return number;
}

struct check_place race_place(race_id id, uint32_t site)
{
    uint32_t lane = site & RACE_LANE_NONE;
    return (struct check_place){.identity = &identities[id >> RACE_GROUP_BITS],
                                .wavefront = id % RACE_GROUP,
                                .instruction = site >> RACE_LANE_BITS,
                                .lane = lane == RACE_LANE_NONE ? FINDING_LANE_NONE : lane};
}

void race_report(const struct race_event *e, const struct race_access *earlier)
{
    const struct check_place first = race_place(earlier->id, earlier->site);
    const struct check_place second = race_place(e->wave->id, e->site);
    bool same = race_command_of(earlier->id) == e->wave->command;
    bool global = e->memory == &race_device_memory;
    struct finding f;
    if (e->use & RACE_WRITE && race_has_read_after(e->wave, earlier->id, earlier->clock))
        return;
    if (race_has_seen(e->wave, e->address, earlier->id, earlier->clock))
        return;
    if (!check_found(same ? FINDING_RACE : FINDING_LAUNCH_RACE, &first, &second, &f))
        return;
    check_address(second.identity, global ? FINDING_GLOBAL : FINDING_LDS,
                  e->address & (race_process_base(1) - 1), &f);
    finding_report(&f);
}
