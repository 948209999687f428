/* Tells what a command is called and whose memory it touches, and ends it. */
#include "driver_command.h"

#include "components/host/driver/driver_memory.h"
#include "components/host/driver/driver_state.h"
#include "components/host/driver/launch/driver_launch.h"
#include "components/host/driver/launch/driver_ptx.h"
#include "components/host/driver/program/driver_journal.h"
#include "components/host/driver/program/driver_program.h"
#include "components/host/driver/user_queues/driver_user_queue.h"
#include "runtime/engine/run_control.h"
#include "runtime/observe/timeline.h"

#include "driver_commands.h"

/* The longest line that a cache holds bytes of (`param line` of cache.heddle). */
enum { COPY_LINE_BYTES = 128 };

static const char *command_name(const struct driver_command *k)
{
    return command_kinds[k->kind].name;
}

static const char *command_span(const struct driver_command *k)
{
    static const char *const names[] = {NULL, "copy code object", "copy arguments", "copy packet"};
    return k->span ? names[k->span] : command_name(k);
}

static struct gpu_set command_owners(const struct driver *d, const struct driver_command *k)
{
    struct gpu_set none = {{0}}, owners = none, sources = none;
    if (!command_is_move(k))
        return none;
    owners = memory_owners(d, k->move.address, k->size);
    if (k->kind == DRIVER_COPY)
        sources = memory_owners(d, k->move.source, k->size);
    return gpu_set_join(owners, &sources);
}

static bool command_touches(const struct driver *d, const struct driver_command *k)
{
    return command_is_move(k) && (k->size || d->device_count == 1);
}

/* Copies go past the caches, which hold whole lines. Where a copy ends inside a line, a kernel that
 * ran beside the copy may have cached the whole line with the bytes from before the copy. */
static void command_note_lines(struct driver *d, const struct driver_command *k)
{
    if (!command_is_move(k) || k->kind == DRIVER_READ)
        return;
    if (!(k->move.is_beside_kernels || k->move.launches_before != (uint32_t)d->io.stats.launches)
        || !((k->move.address | k->size) % COPY_LINE_BYTES))
        return;
    for (uint32_t i = 0; i < d->device_count; i++)
        d->device[i].has_shared_line = true;
}

/* Frees what a launch has held. */
static void launch_end(struct driver *d, const struct driver_queue *q, struct driver_command *k)
{
    struct driver_device *device = &d->device[q->device];
    device->kernels_running--;
    ptx_over(d, k, q->device);
    l2_note_kernel(d, q->device, k->pid);
    argument_ring_release(argument_ring_of(d, q->device, k->pid), k->piece);
    scratch_release(device, k);
    d->sample.timed -= k->launch.is_timed;
    k->launch.is_timed = false;
    if (d->sample.chosen == k->launch.number)
        d->sample.chosen = 0;
}

/* Removes the first command of the queue. */
static void queue_pop(struct driver *d, struct driver_queue *q)
{
    uint32_t number = q->first;
    struct driver_command *k = driver_command_at(d, number);
    if (q->current == number)
        q->current = k->next;
    q->first = k->next;
    if (q->first == DRIVER_NONE)
        q->last = DRIVER_NONE;
    index_pool_release(&d->command_numbers, number);
    d->undone--;
}

static void command_complete(struct driver *d, struct driver_queue *q)
{
    struct driver_command *k = driver_command_at(d, q->first);
    record_completed(d, k);
    if (k->kind == DRIVER_LAUNCH)
        launch_end(d, q, k);
    if (k->kind == DRIVER_STAGE && k->piece != DRIVER_NONE)
        argument_ring_written(argument_ring_of(d, q->device, k->pid), k->piece);
    command_note_lines(d, k);
    if (command_is_move(k) && k->move.data)
        call_path(d)->copied(d, k);
    if (platform_mode() != PLATFORM_FUNCTIONAL && !journal_replays())
        timeline_end(&d->io.base, k->ticket, command_span(k));
    uint64_t kind_bits = k->kind == DRIVER_MARK ? DRIVER_TICKET_MARK
                         : command_is_move(k)   ? DRIVER_TICKET_MOVE
                                                : 0;
    *driver_ticket_at(d, k->ticket) = (struct driver_ticket){
        k->ticket, (engine.domains[d->io.base.domain].time_ps + 1) | kind_bits};
    driver_stream_rules_ops(d)->completed(driver_stream_rules(d), k->queue, k->ticket);
    if (d->awaits_any || d->awaited == k->ticket)
        engine_stop();
    journal_note_done(d, k);
    if (k->kind != DRIVER_READ && driver_queues_count(d) && !journal_replays())
        user_queue_event(d);
    if (command_is_move(k)) /* what stays of it in states depends on no address of the process */
        k->move.host = k->move.program = NULL;
    queue_pop(d, q);
}
