/* Private memory of kernels: one pool for each launch that needs one, kept for later launches.
 *
 * Making a pool changes the page table and the table of allocations, which others read while they
 * tick; so it is done at the end of a window (engine_at_window_end).
 *
 * A pool has room for as many work-groups as can run at the same time, or as the launch has, or as
 * fit into an eighth of the device's memory, whichever is least; the dispatcher hands the room out
 * again as work-groups end. */
#include <inttypes.h>

#include "base/number.h"
#include "components/host/driver/driver_memory.h"
#include "components/host/driver/driver_process.h"
#include "components/host/driver/driver_state.h"
#include "components/host/driver/migration/driver_migration.h"
#include "runtime/engine/component_failure.h"
#include "runtime/engine/deferral.h"

#include "driver_launch.h"

static int scratch_choose(const struct driver_device *device, uint32_t pid, uint64_t bytes)
{
    int fitting = -1, empty = -1, other = -1;
    for (int i = 0; i < DRIVER_SCRATCH_POOLS_MAX; i++) {
        const struct driver_scratch *s = &device->scratch[i];
        if (s->is_used)
            continue;
        if (!s->bytes)
            empty = empty < 0 ? i : empty;
        else if (s->bytes >= bytes && s->pid == pid
                 && (fitting < 0 || s->bytes < device->scratch[fitting].bytes))
            fitting = i;
        else
            other = other < 0 ? i : other;
    }
    return fitting >= 0 ? fitting : empty >= 0 ? empty : other;
}

/* The number of work-groups that the pool is for, of `group` bytes each: as many as can be
 * resident, in an eighth of the memory. */
static uint64_t scratch_groups(const struct driver_device *device, const struct scratch_want *want,
                               uint64_t group)
{
    const struct driver_device_info *info = &device->info;
    uint64_t groups = want->groups,
             resident = (uint64_t)info->compute_units * info->work_groups_per_cu;
    uint64_t slots = (uint64_t)info->compute_units * info->simds_per_cu * info->wavefronts_per_simd;
    resident = min(slots / want->waves_per_group, resident);
    groups = min(resident, groups);
    groups = min(device->size / 8 / group, groups);
    return groups ? groups : 1;
}

/* Makes the pool `s` for as many of the work-groups as there is memory for; how many these are. 0:
 * none now; if nothing can change that, the run fails. */
static uint64_t scratch_fill(struct driver *d, const struct scratch_want *want, uint32_t number,
                             struct driver_scratch *s, uint64_t groups)
{
    uint64_t group = aql_scratch_bytes(want->private_bytes) * want->waves_per_group;
    if (s->bytes)
        memory_release(d, s->address);
    for (s->bytes = 0; groups; groups /= 2) {
        if (memory_allocate_own(d, number, want->pid, group * groups, PROGRAM_SCRATCH, &s->address)
            == DRIVER_OK) {
            s->bytes = group * groups;
            s->pid = want->pid;
            return groups;
        }
    }
    bool pages_move = d->migrate.state != MIGRATE_NONE || d->migrate.count;
    if (!pages_move && !residence_evict(d, number))
        engine_fail(&d->io.base,
                    "%" PRIu64 " bytes of private memory for one work-group; %s (kernel '%s')",
                    group, driver_failure(), program_kernel_name(driver_program(d), want->kernel));
    return 0;
}

static bool scratch_acquire(struct driver *d, struct scratch_want *want, uint32_t number, bool make)
{
    struct driver_device *device = &d->device[number];
    uint64_t group = aql_scratch_bytes(want->private_bytes) * want->waves_per_group;
    uint64_t groups = scratch_groups(device, want, group);
    int slot = scratch_choose(device, want->pid, group * groups);
    if (slot < 0)
        return false;
    struct driver_scratch *s = &device->scratch[slot];
    bool fits = s->bytes >= group * groups && s->pid == want->pid;
    if (!make && !fits)
        return false;
    if (!fits)
        groups = scratch_fill(d, want, number, s, groups);
    if (!groups)
        return false;
    s->is_used = true;
    want->pool = (uint32_t)slot;
    want->address = s->address;
    want->groups = groups;
    return true;
}

static bool scratch_acquire_command(struct driver *d, struct driver_command *command,
                                    uint32_t number, bool make)
{
    struct scratch_want want = {.private_bytes = command->launch.packet.private_bytes,
                                .waves_per_group = command->launch.waves_per_group,
                                .kernel = command->launch.kernel,
                                .pid = command->pid,
                                .groups = command->launch.groups};
    if (!scratch_acquire(d, &want, number, make))
        return false;
    command->launch.scratch_pool = want.pool;
    aql_set_scratch(&command->launch.packet, want.address, (uint32_t)want.groups, 0);
    return true;
}

static void scratch_make(struct driver *d)
{
    for (uint32_t i = 0; i < d->queue_count; i++) {
        struct driver_queue *q = driver_queue_at(d, i);
        if (!q->wants_scratch)
            continue;
        q->wants_scratch = false;
        scratch_acquire_command(d, driver_command_at(d, q->first), q->device, true);
    }
}

static bool scratch_find(struct driver *d, struct driver_queue *q,
                         void (*at_end)(struct component *c))
{
    struct driver_command *command = driver_command_at(d, q->first);
    if (command->launch.scratch_pool != DRIVER_NONE
        || scratch_acquire_command(d, command, q->device, false))
        return true;
    if (scratch_choose(&d->device[q->device], command->pid, 0) < 0)
        return false;
    q->wants_scratch = true;
    engine_at_window_end(&d->io.base, at_end);
    return false;
}

static void scratch_release(struct driver_device *device, const struct driver_command *command)
{
    if (command->launch.scratch_pool != DRIVER_NONE)
        device->scratch[command->launch.scratch_pool].is_used = false;
}
