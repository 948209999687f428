/* The L2 caches that may hold what kernels wrote.
 *
 * They are noted for each process and GPU: copies go past the caches, so the L2 of a GPU is flushed
 * before a copy of a process' memory exactly when a kernel of that process, which may write to that
 * GPU, ran since the last flush there. Kernels of other processes have nothing to do with it,
 * unless they have left lines of pages that changed hands since. (MGPUSim has a flag in each
 * context, and flushes before copies to the host only. Here copies to a GPU flush, too: a line of
 * the target that stayed in the cache would hide what was copied.)
 *
 * Where an L2 keeps lines of all memory, the L2 of the GPU that ran the kernel may hold lines of
 * all memory that kernels of that GPU could access.
 *
 * Times are a count of launches, ends and flushes. */
#include "components/host/driver/driver_memory.h"
#include "components/host/driver/driver_state.h"

#include "driver_commands.h"

static uint64_t *l2_dirty_time(const struct driver *d, uint32_t number, uint32_t pid)
{
    return arena_at(uint64_t, d->dirty) + (uint64_t)number * PAGE_TABLE_PIDS + pid;
}

static void l2_init(struct driver *d)
{
    d->dirty = arena_allocate((uint64_t)d->device_count * PAGE_TABLE_PIDS * sizeof(uint64_t));
}

static void l2_note_kernel(struct driver *d, uint32_t gpu, uint32_t pid)
{
    const struct program_table *program = driver_program(d);
    struct gpu_set reach = program->opened ? gpu_set_first(d->gpu_count) : program->reach[gpu];
    gpu_set_put(&reach, gpu);
    d->dirty_clock++;
    if (d->device[gpu].caches_all_memory) {
        d->device[gpu].reached = gpu_set_join(reach, &d->device[gpu].reached);
        *l2_dirty_time(d, gpu, pid) = d->dirty_clock;
        return;
    }
    for (int i = GPU_SET_NONE; (i = gpu_set_next(&reach, i + 1)) != GPU_SET_NONE;)
        *l2_dirty_time(d, (uint32_t)i, pid) = d->dirty_clock;
}

static bool l2_is_dirty(const struct driver *d, uint32_t number, uint32_t pid)
{
    const struct driver_device *device = &d->device[number];
    return device->left_at > device->flushed_at
           || *l2_dirty_time(d, number, pid) > device->flushed_at;
}

static void l2_note_flush(struct driver *d, uint32_t number)
{
    d->device[number].flushed_at = ++d->dirty_clock;
    for (uint32_t i = 0; i < d->queue_count; i++) {
        const struct driver_queue *q = driver_queue_at(d, i);
        const struct driver_command *k =
            q->first == DRIVER_NONE ? NULL : driver_command_at(d, q->first);
        if (k && k->kind == DRIVER_LAUNCH && k->phase == PHASE_RUNNING)
            l2_note_kernel(d, q->device, k->pid);
    }
}

static void l2_note_left(struct driver *d, uint32_t pid)
{
    for (uint32_t i = 0; i < d->device_count; i++)
        if (*l2_dirty_time(d, i, pid) > d->device[i].left_at)
            d->device[i].left_at = *l2_dirty_time(d, i, pid);
}

/* ---- flushes that commands need ---- */

/* The GPUs whose L2 may hold lines of memory of the owners. */
static struct gpu_set flush_holders(const struct driver *d, struct gpu_set owners)
{
    struct gpu_set holders = owners;
    for (uint32_t i = 0; i < d->device_count; i++)
        if (gpu_set_meets(&d->device[i].reached, &owners))
            gpu_set_put(&holders, i);
    return holders;
}

/* The first GPU that may hold lines of [address, address + size), that was not flushed for the
 * command and whose L2 may be dirty, or DRIVER_NONE. */
static uint32_t flush_owner(const struct driver *d, const struct driver_command *k,
                            uint64_t address)
{
    uint32_t pid = program_find(driver_program(d), address)->pid;
    struct gpu_set owners =
        gpu_set_without(flush_holders(d, memory_owners(d, address, k->size)), &k->flushed);
    for (int i = GPU_SET_NONE; (i = gpu_set_next(&owners, i + 1)) != GPU_SET_NONE;)
        if (l2_is_dirty(d, (uint32_t)i, pid))
            return (uint32_t)i;
    return DRIVER_NONE;
}

/* The first GPU whose L2 may be dirty, and that was not flushed for the fence, or DRIVER_NONE. */
static uint32_t flush_left(const struct driver *d, const struct driver_command *k)
{
    for (uint32_t i = 0; i < d->gpu_count; i++)
        if (!gpu_set_has(&k->flushed, i) && l2_is_dirty(d, i, k->pid))
            return i;
    return DRIVER_NONE;
}

/* An event whose packet has fences of system scope. */
static bool mark_fences(const struct driver *d, const struct driver_command *k)
{
    return k->fences && driver_params(d)->event_fence == DRIVER_EVENT_FENCE_SYSTEM;
}

static uint32_t command_flush_device(const struct driver *d, const struct driver_command *k,
                                     uint32_t device)
{
    if (k->kind == DRIVER_LAUNCH || k->kind == DRIVER_STAGE)
        return d->device[device].has_wrapped_ring || d->device[device].has_shared_line
                   ? device
                   : DRIVER_NONE;
    if (k->kind == DRIVER_FENCE)
        return flush_left(d, k);
    if (k->kind == DRIVER_MARK)
        return mark_fences(d, k) && !gpu_set_has(&k->flushed, device) ? device : DRIVER_NONE;
    if (!command_touches(d, k))
        return DRIVER_NONE;
    uint32_t number = flush_owner(d, k, k->move.address);
    if (number == DRIVER_NONE && k->kind == DRIVER_COPY)
        number = flush_owner(d, k, k->move.source);
    return number;
}

static bool command_flush_awaited(const struct driver *d, const struct driver_command *k)
{
    struct gpu_set owners = k->kind == DRIVER_FENCE ? gpu_set_first(d->gpu_count)
                                                    : flush_holders(d, command_owners(d, k));
    for (int i = GPU_SET_NONE; (i = gpu_set_next(&owners, i + 1)) != GPU_SET_NONE;)
        if (d->device[i].flushing)
            return true;
    return false;
}

static bool command_flush(struct driver *d, uint32_t command, uint32_t number)
{
    struct driver_device *device = &d->device[number];
    int slot = slot_for(d, number);
    if (slot < 0)
        return false;
    if (driver_command_at(d, command)->kind == DRIVER_MARK) {
        driver_gpu_send_fence(d, number, (uint16_t)slot);
    } else {
        driver_gpu_send_flush(d, number, (uint16_t)slot);
        l2_note_flush(d, number);
    }
    slot_acquire(d, number, slot, command, 0, 0);
    device->has_wrapped_ring = false;
    device->has_shared_line = false;
    device->flushing++;
    d->io.stats.flushes++;
    driver_command_at(d, command)->phase = PHASE_FLUSHING;
    gpu_set_put(&driver_command_at(d, command)->flushed, number);
    return true;
}
