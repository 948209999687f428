/* Launches in parts (--mode sampled): the command of a launch goes through its phases once for each
 * part, as a launch of these work-groups alone: simulated, or at once on simulated memory
 * (driver_sampling.c). What begins and ends a launch, invalidation and release of caches, happens
 * with the first part and the last one. components/sampling/launch_parts.h says which parts, and
 * what the whole would take. */
#include "base/number.h"
#include "components/host/driver/launch/driver_launch.h"
#include "components/sampling/online_parts.h"
#include "components/sampling/sampling_options.h"
#include "runtime/observe/timeline.h"

#include "driver_commands.h"

/* Work-groups of the launch that run at the same time, at most. */
static uint32_t parts_resident(const struct driver_device_info *info,
                               const struct driver_command *k)
{
    struct kernel_registers registers;
    uint32_t simd = launch_waves_per_simd(info, k->launch.descriptor, &registers);
    uint32_t groups = simd * info->simds_per_cu / k->launch.waves_per_group;
    groups = (uint32_t)min(groups, info->work_groups_per_cu);
    if (k->launch.packet.group_bytes)
        groups = (uint32_t)min(groups, info->lds_bytes_per_cu / k->launch.packet.group_bytes);
    return info->compute_units * (groups ? groups : 1);
}

/* The command is the next part from here on. Fences are those of the whole launch. */
static bool parts_take(struct driver_command *k)
{
    struct sampled_launch_part next;
    if (!online_parts_next(&next))
        return false;
    k->launch.first_group = (uint32_t)next.first_group;
    k->launch.groups = next.groups;
    k->launch.way = (uint8_t)next.way;
    bool last = next.first_group + next.groups == aql_all_groups(&k->launch.packet);
    const uint16_t acquire = aql_scopes(3, 0), release = aql_scopes(0, 3);
    k->launch.packet.header =
        (uint16_t)(k->launch.header & ~(next.first_group ? acquire : 0) & ~(last ? 0 : release));
    return true;
}

static void parts_choose(const struct driver *d, struct driver_command *k, uint32_t device)
{
    const struct driver_device_info *info = &d->device[device].info;
    uint64_t groups = aql_all_groups(&k->launch.packet);
    /* Work-groups that meet are there at the same time, wherever they are. */
    bool whole = !k->launch.first_group && k->launch.groups == groups && groups <= UINT32_MAX
                 && !aql_meets(&k->launch.packet);
    k->launch.header = k->launch.packet.header;
    k->launch.in_parts = whole && k->launch.user == DRIVER_NONE
                         && online_parts_begin(k->launch.number, groups, parts_resident(info, k));
    if (k->launch.in_parts)
        parts_take(k);
}

static bool parts_goes_on(const struct driver_command *k)
{
    return k->launch.in_parts && k->launch.first_group;
}

static bool parts_continue(struct driver *d, struct driver_command *k, uint32_t device)
{
    if (k->kind != DRIVER_LAUNCH || !k->launch.in_parts)
        return false;
    if (k->launch.way == SAMPLING_DETAILED)
        online_parts_end_timed();
    if (!parts_take(k))
        return false;
    if (k->launch.is_timed)
        timeline_end(&d->io.base, k->ticket, command_span(k));
    d->device[device].kernels_running--;
    d->sample.timed -= k->launch.is_timed;
    d->sample.prepared = 0;
    d->io.stats.launches--;
    k->launch.is_timed = false;
    k->launch.done_groups = k->launch.done_instructions = 0;
    k->size = k->sent = k->received = 0; /* packet and arguments are where they belong */
    k->phase = PHASE_QUEUED;
    k->not_before = driver_now(d) + 1;
    return true;
}
