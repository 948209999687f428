/* Receives messages of packet processors: signals that have changed, and kernels that need private
 * memory. */
#include <inttypes.h>
#include <string.h>

#include "components/host/driver/commands/driver_commands.h"
#include "components/host/driver/driver_state.h"
#include "components/host/driver/launch/driver_launch.h"
#include "runtime/engine/deferral.h"

#include "driver_user_queue.h"

static struct user_queue_entry *user_queue_by_slot(const struct driver *d, uint32_t gpu,
                                                   uint32_t slot)
{
    struct driver_user *u = user_queues_of(d);
    for (uint32_t i = 0; i < u->queue_end; i++) {
        struct user_queue_entry *q = &u->queue[i];
        if (q->is_used && q->gpu == gpu && q->slot == slot)
            return q;
    }
    return NULL;
}

static void user_queue_opened(struct driver *d, uint32_t gpu, uint32_t slot)
{
    const struct user_queue_entry *u = user_queue_by_slot(d, gpu, slot);
    uint32_t number = (uint32_t)(u - user_queues_of(d)->queue);
    for (uint32_t i = 0; i < d->queue_count; i++) {
        struct driver_queue *q = driver_queue_at(d, i);
        const struct driver_command *k =
            q->first == DRIVER_NONE ? NULL : driver_command_at(d, q->first);
        if (k && k->kind == DRIVER_OPEN && k->open.user == number) {
            command_complete(d, q);
            return;
        }
    }
    bug("driver: GPU %u answers for doorbell %u, which was not opened", gpu, slot);
}

/* Launches of the driver end when their signal has counted them. */
static void user_queue_signalled(struct driver *d, uint32_t gpu,
                                 const struct queue_interrupt_request *m)
{
    struct user_queue_entry *u = user_queue_by_slot(d, gpu, m->signal.slot);
    if (!u || u->owner == DRIVER_NONE || m->signal.address != user_queue_signal(u))
        return;
    for (uint64_t ended = 0 - m->signal.value; u->done < ended; u->done++) {
        struct driver_queue *q = driver_queue_at(d, u->owner);
        if (q->first == q->current || driver_command_at(d, q->first)->phase != PHASE_RUNNING)
            bug("driver: GPU %u ends a launch of doorbell %u that was not announced", gpu,
                m->signal.slot);
        command_complete(d, q);
    }
}

static void user_queue_wants_pool(struct driver *d, uint32_t gpu,
                                  const struct queue_interrupt_request *m)
{
    struct driver_user *u = user_queues_of(d);
    u->wants[u->want_count++] =
        (struct user_queue_want){.gpu = gpu,
                                 .tag = m->tag,
                                 .want = {.private_bytes = m->scratch.private_bytes,
                                          .waves_per_group = m->scratch.wavefronts,
                                          .kernel = m->scratch.kernel,
                                          .pid = m->scratch.pid,
                                          .groups = m->scratch.groups}};
}

static void user_queue_pool_unused(struct driver *d, uint32_t gpu, uint64_t address)
{
    for (uint32_t i = 0; i < DRIVER_SCRATCH_POOLS_MAX; i++) {
        struct driver_scratch *s = &d->device[gpu].scratch[i];
        if (s->is_used && s->address == address) {
            s->is_used = false;
            return;
        }
    }
    bug("driver: GPU %u gives back private memory at 0x%" PRIx64 " that it does not have", gpu,
        address);
}

static void user_queue_wants_release(struct driver *d, uint32_t gpu,
                                     const struct queue_interrupt_request *m)
{
    struct driver_user *u = user_queues_of(d);
    u->releases[u->release_count++] =
        (struct user_queue_release){.gpu = gpu, .pid = m->release.pid, .tag = m->tag};
}

static void user_queue_interrupt(struct driver *d, uint32_t gpu,
                                 const struct queue_interrupt_request *m)
{
    struct user_queue_listener *listener = &user_queues_of(d)->listener[gpu];
    switch (message_kind(m)) {
    case QUEUE_INTERRUPT_SIGNAL:
        user_queue_event(d);
        user_queue_signalled(d, gpu, m);
        break;
    case QUEUE_INTERRUPT_VISIBLE:
        user_queue_event(d);
        break;
    case QUEUE_INTERRUPT_WAITS:
        *listener = (struct user_queue_listener){true, m->waits.events};
        break;
    case QUEUE_INTERRUPT_RELEASE:
        user_queue_wants_release(d, gpu, m);
        break;
    case QUEUE_INTERRUPT_SCRATCH:
        user_queue_wants_pool(d, gpu, m);
        break;
    default:
        user_queue_pool_unused(d, gpu, m->unused.address);
    }
}

static bool user_queue_send_events(struct driver *d)
{
    struct driver_user *u = user_queues_of(d);
    bool sent = false;
    for (uint32_t i = 0; i < driver_queues_count(d); i++) {
        if (!u->listener[i].waits || u->listener[i].events == u->events
            || !driver_queues_can_send(d, i))
            continue;
        driver_queues_send_changed(d, i, 0, u->events);
        u->listener[i].waits = false;
        sent = true;
    }
    return sent;
}

/* The GPUs whose L2 may hold what kernels on `gpu` wrote, beside its own. */
static struct gpu_set user_queue_written(const struct driver *d, uint32_t gpu)
{
    const struct program_table *program = driver_program(d);
    struct gpu_set written = {{0}};
    if (d->device[gpu].caches_all_memory)
        return written;
    written = program->opened ? gpu_set_first(d->gpu_count) : program->reach[gpu];
    gpu_set_drop(&written, gpu);
    return written;
}

static bool user_queue_release(struct driver *d)
{
    struct driver_user *u = user_queues_of(d);
    const struct user_queue_release *r = &u->releases[0];
    struct driver_command *k = driver_command_at(d, DRIVER_COMMANDS_MAX + 1);
    if (!u->release_count || k->in_flight)
        return false;
    if (!u->is_releasing)
        u->release_left = user_queue_written(d, r->gpu);
    u->is_releasing = true;
    int next = gpu_set_next(&u->release_left, 0);
    if (next != GPU_SET_NONE) {
        if (!command_flush(d, DRIVER_COMMANDS_MAX + 1, (uint32_t)next))
            return false;
        gpu_set_drop(&u->release_left, (uint32_t)next);
        return true;
    }
    if (!driver_interrupt_can_reply(d, r->gpu))
        return false;
    driver_interrupt_reply_done(d, r->gpu, r->tag);
    user_queue_event(d);
    u->is_releasing = false;
    memmove(&u->releases[0], &u->releases[1], --u->release_count * sizeof u->releases[0]);
    return true;
}

static bool user_queue_interrupts(struct driver *d)
{
    const struct queue_interrupt_request *m;
    bool progress = false;
    for (uint32_t i = 0; i < driver_interrupt_count(d); i++) {
        while ((m = driver_interrupt_peek(d, i)) && user_queues_of(d)->want_count < USER_WANTS
               && user_queues_of(d)->release_count < USER_WANTS) {
            user_queue_interrupt(d, i, m);
            driver_interrupt_pop(d, i);
            progress = true;
        }
    }
    return progress;
}

static bool user_queue_serve_wants(struct driver *d)
{
    struct driver_user *u = user_queues_of(d);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < u->want_count; i++) {
        struct user_queue_want w = u->wants[i];
        w.has_pool = w.has_pool || (!w.needs_pool && scratch_acquire(d, &w.want, w.gpu, false));
        if (w.has_pool && driver_interrupt_can_reply(d, w.gpu)) {
            driver_interrupt_reply_pool(d, w.gpu, w.tag, w.want.address, (uint32_t)w.want.groups);
            continue;
        }
        if (!w.has_pool && !w.needs_pool && scratch_choose(&d->device[w.gpu], w.want.pid, 0) >= 0) {
            w.needs_pool = true;
            engine_at_window_end(&d->io.base, driver_window_end);
        }
        u->wants[kept++] = w;
    }
    bool served = kept < u->want_count;
    u->want_count = kept;
    return served;
}
