/* Copies that take no simulated time.
 *
 * A command whose bytes are moved directly is over in the cycle in which it begins. Simulated
 * memory may belong to other threads until the window ends, so the bytes move then. Nothing can
 * have missed them, since the program runs between windows only, and what follows in the queue
 * reaches a GPU by a link that is at least as long as a window. Where it is shorter, the queues
 * wait for the end of the window. (MGPUSim: globalStorageMemoryCopyMiddleware.)
 *
 * Between runs of the engine the commands of an idle queue need no tick: they are done when they
 * are enqueued. */
#include "components/host/driver/driver_memory.h"
#include "components/sampling/sampling_options.h"
#include "runtime/link/lookahead.h"
#include "runtime/state/blob.h"

#include "driver_commands.h"

/* A command whose bytes are still to be moved, and the GPU of its queue. */
struct driver_direct {
    struct driver_command command;
    uint32_t gpu;
};

enum { DIRECT_MAX = 256 };

static uint64_t ring_latency_ps(const struct driver *d, uint32_t number)
{
    const struct platform_ring *r = &engine_base.platform->rings[number];
    return r->link ? engine_base.platform->links[r->link - 1].latency_ps
                   : engine_time_of(d->io.base.domain, r->latency);
}

static void direct_init(struct driver *d)
{
    uint64_t window_ps = lookahead_ps(engine_base.platform);
    d->direct = arena_allocate(DIRECT_MAX * sizeof(struct driver_direct));
    for (uint32_t i = 0; i < d->device_count; i++)
        d->has_near_gpu |=
            ring_latency_ps(d, engine_base.port_rings[2 * (driver_io(d)->gpu_first + i)])
            < window_ps;
    for (uint32_t i = 0; i < driver_doorbell_count(d); i++)
        d->has_near_gpu |=
            ring_latency_ps(d, engine_base.port_rings[2 * (driver_io(d)->doorbell_first + i)])
            < window_ps;
}

static bool direct_note(struct driver *d, const struct driver_command *k, uint32_t gpu)
{
    bool shared = command_is_move(k) && k->move.is_shared;
    if (!k->size
        || (!shared && !driver_copy_ops(d)->direct(driver_copy(d), command_copy_kind(k), k->size)))
        return false;
    arena_at(struct driver_direct, d->direct)[d->direct_count++] = (struct driver_direct){*k, gpu};
    return true;
}

static bool direct_full(const struct driver *d)
{
    return d->direct_count == DIRECT_MAX;
}

static bool direct_holds(const struct driver *d, const struct driver_command *k)
{
    return d->has_near_gpu && d->direct_count && !command_is_move(k) && k->kind != DRIVER_MARK
           && k->kind != DRIVER_BARRIER;
}

static void direct_move(struct driver *d)
{
    for (uint32_t i = 0; i < d->direct_count; i++) {
        const struct driver_direct *m = arena_at(struct driver_direct, d->direct) + i;
        functional_move_command(d, &m->command, m->gpu);
        if (m->command.kind == DRIVER_WRITE && m->command.move.data)
            blob_free(m->command.move.data);
        if (m->command.kind == DRIVER_LAUNCH || m->command.kind == DRIVER_STAGE)
            d->io.stats.bytes_to_gpu += m->command.size;
    }
    d->direct_count = 0;
}

static bool direct_at_once(const struct driver *d, const struct driver_queue *q)
{
    const struct driver_command *k =
        q->current == DRIVER_NONE ? NULL : driver_command_at(d, q->current);
    if (!k || !driver_copy_ops(d)->takes_no_time || platform_mode() == PLATFORM_FUNCTIONAL
        || platform_sampling()->kernels || driver_move_count(d))
        return false;
    if (k->phase != PHASE_QUEUED || k->is_gated || k->not_before > driver_now(d) || direct_full(d))
        return false;
    if (k->kind == DRIVER_BARRIER)
        return driver_ticket_done(d, k->barrier.awaited);
    if (k->kind == DRIVER_MARK)
        return true;
    return command_is_move(k) && k->size && !command_flush_awaited(d, k)
           && command_flush_device(d, k, q->device) == DRIVER_NONE;
}
