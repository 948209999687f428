/* The side of the driver that ticks: takes answers and works on the first command of each queue.
 *
 * Queues take turns, message by message. Copies go out in pieces that end at pages, with as many in
 * flight as `in_flight` says. Before a copy, the L2 of a GPU is flushed when a kernel ran there
 * since the last flush, and only then: copies go past the caches. What a kind of command does is in
 * driver_command_kinds.c. */
#include "components/host/driver/calls/driver_device_calls.h"
#include "components/host/driver/launch/driver_launch.h"
#include "components/host/driver/migration/driver_migration.h"
#include "components/host/driver/user_queues/driver_user_queue.h"
#include "components/sampling/sampling_options.h"
#include "runtime/engine/deferral.h"
#include "runtime/observe/timeline.h"

#include "driver_commands.h"

static void driver_window_end(struct component *c)
{
    struct driver *d = (struct driver *)(void *)c;
    direct_move(d); /* while pages are where they were */
    calls_window_end(d);
    scratch_make(d);
    user_queue_make_pools(d);
    migrate_swap(d);
    sample_window_end(d);
}

/* True if a command of any kind may begin or continue: its packet, time and ticket have come. */
static bool may_begin(struct driver *d, const struct driver_command *k)
{
    if (k->is_gated)
        return false;
    if (k->not_before > driver_now(d)) {
        driver_wake_at(d, k->not_before);
        return false;
    }
    return k->kind != DRIVER_BARRIER || driver_ticket_done(d, k->barrier.awaited);
}

/* Executes the command, or some of it, without timing. False: it has to wait, or the run has
 * failed. */
static bool do_functionally(struct driver *d, struct driver_queue *q, struct driver_command *k)
{
    if (platform_profile() == PLATFORM_PROFILE_MEMORY)
        sample_flush(d, k, q->device);
    bool goes_on = k->phase == PHASE_YIELDED;
    if (!goes_on && !functional_can_begin(d, k, q->device))
        return false;
    if (!(goes_on ? functional_go_on : functional_command)(d, k, q->device))
        return false;
    if (k->phase != PHASE_YIELDED)
        command_complete(d, q);
    return true;
}

/* A command that takes no time has begun: a launch continues, others are over. What is left of one
 * that goes through a user queue is its packet. */
static void end_at_once(struct driver *d, struct driver_queue *q, struct driver_command *k)
{
    if (k->kind == DRIVER_READ && k->move.data) {
        k->phase = PHASE_MOVE; /* to be delivered through the simulated host */
        k->sent = k->received = k->size;
    } else if (k->kind != DRIVER_LAUNCH) {
        command_complete(d, q);
    } else {
        k->phase = k->launch.user == DRIVER_NONE ? PHASE_LAUNCH_FIRST : PHASE_MOVE;
        k->sent = k->received = k->size;
        argument_ring_written(argument_ring_of(d, q->device, k->pid), k->piece);
    }
}

/* Begins a command. True: something changed. */
static bool command_begin(struct driver *d, struct driver_queue *q, uint32_t command)
{
    struct driver_command *k = driver_command_at(d, command);
    if (!may_begin(d, k) || direct_full(d))
        return false;
    if (platform_mode() == PLATFORM_FUNCTIONAL)
        return do_functionally(d, q, k);
    bool requests = false;
    if (copies_awaited(d, k, &requests))
        return requests;
    enum sample_turn sampled = sample_begin(d, k, driver_window_end);
    if (sampled != SAMPLE_GO_ON)
        return sampled == SAMPLE_BEGAN;
    d->sample.is_quiet = false;
    bool ready = command_set_up(d, k);
    if ((!ready && k->kind != DRIVER_MARK) || command_flush_awaited(d, k))
        return false;
    uint32_t flushed = command_flush_device(d, k, q->device);
    if (flushed != DRIVER_NONE)
        return !(d->has_near_gpu && d->direct_count) && command_flush(d, command, flushed);
    if (!ready || !command_kinds[k->kind].begin(d, q, k))
        return false;
    d->io.stats.commands++;
    timeline_begin(&d->io.base, k->ticket, command_span(k));
    if (k->phase == PHASE_DIRECT)
        end_at_once(d, q, k);
    return true;
}

/* Takes one step of the first command of the queue. True if something has changed. */
static bool queue_step(struct driver *d, struct driver_queue *q)
{
    uint32_t command = q->current;
    struct driver_command *k = driver_command_at(d, command);
    if (direct_holds(d, k) || !submit_beside(d, q, k))
        return false;
    switch ((enum driver_phase)k->phase) {
    case PHASE_QUEUED:
        return (d->migrate.state == MIGRATE_NONE || gpu_set_any(&k->flushed))
               && command_begin(d, q, command);
    case PHASE_MOVE:
    case PHASE_LAUNCH_FIRST:
        return command_kinds[k->kind].step(d, q, command);
    case PHASE_UNTIMED_RETRY:
    case PHASE_UNTIMED_DONE:
        if (sample_step(d, k, q->device) && !parts_continue(d, k, q->device))
            command_complete(d, q);
        return true;
    case PHASE_YIELDED:
        return may_begin(d, k) && do_functionally(d, q, k);
    case PHASE_FLUSHING:
    case PHASE_DIRECT:
    case PHASE_RUNNING:
    case PHASE_UNTIMED:
        break; /* other code continues it */
    }
    return false;
}

/* Commands that take no time do not wait for the next tick. */
static void queue_do_at_once(struct driver *d, uint32_t queue)
{
    struct driver_queue *q = driver_queue_at(d, queue);
    while (direct_at_once(d, q) && command_begin(d, q, q->current))
        ;
    direct_move(d);
}

static bool queues_step(struct driver *d)
{
    uint32_t last = DRIVER_NONE;
    for (uint32_t i = 0; i < d->queue_count; i++) {
        uint32_t number = d->turn + i < d->queue_count ? d->turn + i : d->turn + i - d->queue_count;
        struct driver_queue *q = driver_queue_at(d, number);
        if (q->current != DRIVER_NONE && queue_step(d, q))
            last = number;
    }
    if (d->direct_count)
        engine_at_window_end(&d->io.base, driver_window_end);
    if (last != DRIVER_NONE)
        d->turn = last + 1 < d->queue_count ? last + 1 : 0;
    return last != DRIVER_NONE;
}

/* ---- answers ---- */

static void answer_accept(struct driver *d, uint32_t gpu, const struct command_reply *m)
{
    struct driver_slot *slot = driver_slot_at(&d->device[gpu], m->tag);
    const struct driver_slot sent = *slot;
    struct driver_command *k = driver_command_at(d, sent.command);
    k->in_flight--;
    slot->command = DRIVER_NONE;
    d->device[gpu].slots_used--;
    d->device[gpu].slots_of_launches -= k->kind == DRIVER_LAUNCH && k->phase == PHASE_RUNNING;
    if (k->phase == PHASE_FLUSHING) {
        k->phase = PHASE_QUEUED;
        d->device[gpu].flushing--;
    } else {
        command_kinds[k->kind].answer(d, gpu, sent.command, &sent);
    }
}

static bool answers_receive(struct driver *d)
{
    const struct command_reply *m;
    bool received = false;
    for (uint32_t i = 0; i < d->device_count; i++) {
        while ((m = driver_gpu_peek_reply(d, i))) {
            answer_accept(d, i, m);
            driver_gpu_pop_reply(d, i);
            received = true;
        }
    }
    return received;
}
