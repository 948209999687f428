/* Which L2 caches may hold what kernels wrote..
 *
 * Kept for each process and GPU: copies go past the caches, so the L2 of a GPU is flushed before a
 * copy of a process' memory exactly when a kernel of that process, which may write to that GPU, ran
 * since the last flush there. Kernels of other processes have nothing to do with it, unless they
 * have left lines of pages that changed hands since. (MGPUSim has a flag in each context, and
 * flushes before copies to the host only. Here copies to a GPU flush, too: a line of the target
 * that stayed in the cache would hide what was copied.)
 *
 * Times are a count of launches, ends and flushes. */
#include "driver_flush.h"

#include "components/host/driver/driver_state.h"

static uint64_t *dirty_time(const struct driver *d, uint32_t number, uint32_t pid)
{
    return arena_at(uint64_t, d->dirty) + (uint64_t)number * PAGE_TABLE_PIDS + pid;
}

static void dirty_init(struct driver *d)
{
    d->dirty = arena_allocate((uint64_t)d->device_count * PAGE_TABLE_PIDS * sizeof(uint64_t));
}

static void dirty_note(struct driver *d, uint32_t gpu, uint32_t pid)
{
    const struct program_table *program = driver_program(d);
    uint64_t reach = program->opened ? UINT64_MAX : program->reach[gpu] | (uint64_t)1 << gpu;
    d->dirty_clock++;
    for (uint32_t i = 0; i < d->device_count; i++) {
        if (reach >> i & 1)
            *dirty_time(d, i, pid) = d->dirty_clock;
    }
}

static bool dirty_is(const struct driver *d, uint32_t number, uint32_t pid)
{
    const struct driver_device *device = &d->device[number];
    return device->left_at > device->flushed_at || *dirty_time(d, number, pid) > device->flushed_at;
}

static void dirty_flush(struct driver *d, uint32_t number)
{
    d->device[number].flushed_at = ++d->dirty_clock;
    for (uint32_t i = 0; i < d->queue_count; i++) {
        const struct driver_queue *q = driver_queue_at(d, i);
        const struct driver_command *k =
            q->first == DRIVER_NONE ? NULL : driver_command_at(d, q->first);
        if (k && k->kind == DRIVER_LAUNCH && k->phase == PHASE_RUNNING)
            dirty_note(d, q->device, k->pid);
    }
}

static void dirty_leave(struct driver *d, uint32_t pid)
{
    for (uint32_t i = 0; i < d->device_count; i++) {
        if (*dirty_time(d, i, pid) > d->device[i].left_at)
            d->device[i].left_at = *dirty_time(d, i, pid);
    }
}
