/* Launches through user queues (`launch_by = queue`): one user queue for each queue of the program
 * that launches.
 *
 * A launch that is worked on writes its arguments, as always, and a dispatch packet with the
 * barrier bit into the user queue's ring; then it rings the doorbell, and the next launch after it
 * may do the same: the GPU keeps their order. Anything else waits until all launches before it are
 * done. A packet's completion signal counts down from 0; the packet processor tells its value, so
 * as many launches have ended. The kernel sees the packet's copy beside its arguments
 * (driver_argument_ring.c), which the caches cannot hold in an old form. */
#include <string.h>

#include "components/host/driver/commands/driver_commands.h"
#include "components/host/driver/driver_memory.h"
#include "components/host/driver/driver_state.h"
#include "components/host/driver/launch/driver_launch.h"

#include "driver_user_queue.h"

static bool submit_beside(const struct driver *d, const struct driver_queue *q,
                          const struct driver_command *k)
{
    if (q->current == q->first)
        return true;
    return k->kind == DRIVER_LAUNCH && !driver_touch_count(d);
}

static bool submit_open(struct driver *d, struct driver_command *k)
{
    const struct user_queue_entry *u = &user_queues_of(d)->queue[k->open.user];
    if (!driver_queues_can_send(d, u->gpu))
        return false;
    driver_queues_send_create(d, u->gpu, (uint16_t)(1 + u->slot), u->ring, u->pid, u->packets,
                              (uint16_t)u->slot, (uint16_t)u->gpu);
    k->phase = PHASE_RUNNING;
    return true;
}

static void user_queue_make_pools(struct driver *d)
{
    struct driver_user *u = user_queues_of(d);
    for (uint32_t i = 0; i < u->want_count; i++) {
        struct user_queue_want *w = &u->wants[i];
        if (w->needs_pool)
            w->has_pool = scratch_acquire(d, &w->want, w->gpu, true);
        w->needs_pool = false;
    }
}

static struct aql_packet submit_packet(const struct driver *d, const struct user_queue_entry *u,
                                       const struct driver_command *k)
{
    struct aql_packet p = k->launch.packet;
    p.header |= AQL_BARRIER;
    p.gpu = 0;
    p.kernel_object = k->launch.object;
    p.scratch = argument_ring_seen(d, u->gpu, k->pid)->address + k->ring_offset;
    p.scratch_groups = user_queue_signal(u); /* its place in HSA */
    return p;
}

/* The ring's first packet that is not over may still be there when the second is being worked on.
 */
static bool submit_has_room(const struct user_queue_entry *u)
{
    return u->written - u->done < u->packets - 1;
}

static bool submit_step(struct driver *d, uint32_t command, struct driver_queue *q)
{
    struct driver_command *k = driver_command_at(d, command);
    struct user_queue_entry *u = &user_queues_of(d)->queue[k->launch.user];
    struct driver_device *device = &d->device[q->device];
    uint64_t rest;
    int slot;
    if (k->phase == PHASE_MOVE) {
        if (!submit_has_room(u) || (slot = slot_for(d, u->gpu)) < 0)
            return false;
        struct aql_packet packet = submit_packet(d, u, k);
        uint64_t place = u->ring + u->written % u->packets * AQL_PACKET_BYTES;
        memcpy(send_write(d, u->gpu, slot, memory_physical(d, place, &rest), sizeof packet),
               &packet, sizeof packet);
        slot_acquire(d, u->gpu, slot, command, 0, 0);
        k->phase = PHASE_LAUNCH_FIRST;
        return true;
    }
    if (k->in_flight || k->received < k->size || !driver_doorbell_can_send(d, u->gpu))
        return false;
    if (k->size)
        argument_ring_written(argument_ring_of(d, u->gpu, k->pid), k->piece);
    driver_doorbell_send_ring(d, u->gpu, 0, u->written++, (uint16_t)u->slot);
    l2_note_kernel(d, q->device, k->pid);
    device->kernels_running++;
    d->io.stats.launches++;
    k->phase = PHASE_RUNNING;
    q->current = k->next;
    return true;
}
