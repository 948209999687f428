/* The side of the driver that ticks: works on the first command of each queue, message by message. Included by driver.c.
 *
 * Queues take turns, message by message. Copies go out in pieces that end at pages and, between host and GPU, at 256 bytes,
 * with several in flight. Before a copy, the L2 of a GPU is flushed when a kernel ran there since the last flush, and only
 * then: copies go past the caches. */
#ifndef HEDDLE_DRIVER_EXECUTE_H
#define HEDDLE_DRIVER_EXECUTE_H

#include "driver_copies.h"
#include "driver_dirty.h"
#include "driver_functional.h"
#include "driver_move.h"
#include "driver_ring.h"
#include "driver_scratch.h"
#include "driver_submit.h"
#include "components/sampling/sampling_options.h"
#include "runtime/observe/timeline.h"

/* ---- commands ---- */

static const char *command_span(const struct driver_command *k)
{
    return k->span ? driver_span_names[k->span] : driver_kind_names[k->kind];
}

/* Copies go past the caches, which hold whole lines. Where a copy ends inside a line, a kernel that ran beside it may have
 * cached the other bytes of that line, and the old ones of the copy with them. */
static void command_note_lines(struct driver *d, const struct driver_command *k)
{
    enum { LINE = 128 };
    if (k->kind != DRIVER_WRITE && k->kind != DRIVER_FILL && k->kind != DRIVER_COPY)
        return;
    if (!(k->beside_kernels || k->launches != (uint32_t)d->io.stats.launches) || !((k->device_address | k->size) % LINE))
        return;
    for (uint32_t i = 0; i < d->device_count; i++)
        d->device[i].line_shared = true;
}

static void command_complete(struct driver *d, struct driver_queue *q)
{
    uint32_t number = q->first;
    struct driver_command *k = driver_command_at(d, number);
    struct driver_device *device = &d->device[q->device];
    record_completed(k);
    if (k->kind == DRIVER_LAUNCH) {
        device->kernels_running--;
        dirty_note(d, q->device, k->pid);
        ring_give(device, k->piece);
        scratch_release(device, k);
        d->sample.timed -= k->timed;
        k->timed = false;
        d->sample.chosen = d->sample.chosen == k->launch ? 0 : d->sample.chosen;
        if (k->played)
            replay_end((uint32_t)k->launch);
    }
    if (k->kind == DRIVER_STAGE && k->piece != DRIVER_NONE)
        ring_written(device, k->piece);
    command_note_lines(d, k);
    if (platform_mode() != PLATFORM_FUNCTIONAL)
        timeline_end(&d->io.base, k->ticket, command_span(k));
    if (d->bounce_owner == number)
        d->bounce_owner = DRIVER_NONE;
    *driver_ticket_at(d, k->ticket) =
        (struct driver_ticket){k->ticket, engine.domains[d->io.base.domain].time_ps + 1};
    driver_stream_rules_ops(d)->completed(driver_stream_rules(d), k->queue, k->ticket);
    if (d->await_any || d->awaited == k->ticket)
        engine_stop();
    if (k->kind != DRIVER_READ && driver_queues_count(d))
        user_event(d);
    if (q->at == number)
        q->at = k->next;
    q->first = k->next;
    if (q->first == DRIVER_NONE)
        q->last = DRIVER_NONE;
    k->next = d->free_command;
    d->free_command = number;
    d->undone--;
}

/* The GPUs whose memory a copy or a fill touches; bit i is GPU i. */
static uint64_t command_owners(const struct driver *d, const struct driver_command *k)
{
    if (k->kind != DRIVER_WRITE && k->kind != DRIVER_READ && k->kind != DRIVER_FILL && k->kind != DRIVER_COPY)
        return 0;
    uint64_t owners = memory_owners(d, k->device_address, k->size);
    return k->kind == DRIVER_COPY ? owners | memory_owners(d, k->source, k->size) : owners;
}

/* The first of the owners of memory at `address` whose L2 may hold lines of it, or DRIVER_NONE. */
static uint32_t flush_owner(const struct driver *d, uint64_t owners, uint64_t address)
{
    uint32_t pid = program_find(driver_program(d), address)->pid;
    for (; owners; owners &= owners - 1) {
        if (dirty_is(d, (uint32_t)__builtin_ctzll(owners), pid))
            return (uint32_t)__builtin_ctzll(owners);
    }
    return DRIVER_NONE;
}

/* A device whose caches must be flushed before the command, or DRIVER_NONE. */
static uint32_t command_flush_device(const struct driver *d, const struct driver_command *k, uint32_t device)
{
    if (k->kind == DRIVER_LAUNCH || k->kind == DRIVER_STAGE)
        return d->device[device].ring_wrapped || d->device[device].line_shared ? device : DRIVER_NONE;
    if (!command_owners(d, k))
        return DRIVER_NONE;
    uint32_t number = flush_owner(d, memory_owners(d, k->device_address, k->size) & ~k->flushed, k->device_address);
    if (number == DRIVER_NONE && k->kind == DRIVER_COPY)
        number = flush_owner(d, memory_owners(d, k->source, k->size) & ~k->flushed, k->source);
    return number;
}

#include "driver_sample.h" /* works with what stands above */

/* Kernels reach the memory of other GPUs, too. */
static bool any_kernel_runs(const struct driver *d)
{
    bool running = false;
    for (uint32_t i = 0; i < d->device_count; i++)
        running |= d->device[i].kernels_running > 0;
    return running;
}

/* Somebody else's flush of a device that the command needs flushed is under way. */
static bool command_flush_awaited(const struct driver *d, const struct driver_command *k)
{
    uint64_t owners = command_owners(d, k);
    for (; owners; owners &= owners - 1) {
        if (d->device[__builtin_ctzll(owners)].flushing)
            return true;
    }
    return false;
}

static bool command_flush(struct driver *d, uint32_t command, uint32_t number)
{
    struct driver_device *device = &d->device[number];
    int slot = slot_for(d, number);
    if (slot < 0)
        return false;
    driver_gpu_send_flush(d, number, (uint16_t)slot);
    slot_take(d, number, slot, command, 0, 0);
    dirty_flush(d, number);
    device->ring_wrapped = false;
    device->line_shared = false;
    device->flushing++;
    d->io.stats.flushes++;
    driver_command_at(d, command)->phase = PHASE_FLUSHING;
    driver_command_at(d, command)->flushed |= (uint64_t)1 << number;
    return true;
}

static bool command_launch(struct driver *d, uint32_t command, uint32_t number)
{
    struct driver_command *k = driver_command_at(d, command);
    struct driver_device *device = &d->device[number];
    int slot = slot_for(d, number);
    if (slot < 0)
        return false;
    void *payload = driver_gpu_send_launch(d, number, (uint16_t)slot, device->ring_address + k->ring_offset,
                                           k->entry, k->pid, (uint16_t)k->kernel);
    aql_set_groups(&k->packet, k->first_group, launch_count(k));
    if (k->played)
        aql_set_played(&k->packet, (uint32_t)k->launch);
    memcpy(command_launch_packet(payload), &k->packet, sizeof k->packet);
    memcpy(command_launch_descriptor(payload), k->descriptor, sizeof k->descriptor);
    record_start(d, k, number);
    slot_take(d, number, slot, command, 0, 0);
    dirty_note(d, number, k->pid);
    device->kernels_running++;
    d->io.stats.launches++;
    k->phase = PHASE_RUNNING;
    return true;
}

static bool command_is_direct(struct driver *d, const struct driver_command *k)
{
    return k->size && k->kind != DRIVER_SHOOTDOWN
           && driver_copy_ops(d)->direct(driver_copy(d), command_copy_kind(k), k->size);
}

static void migrate_swap(struct driver *d);
static void calls_window_end(struct driver *d);

/* Stores that others read, and the memory itself, change when no component is being ticked. */
static void driver_window_end(struct component *c)
{
    struct driver *d = (struct driver *)(void *)c;
    calls_window_end(d);
    scratch_make(d);
    user_make_pools(d);
    migrate_swap(d);
    sample_window_end(d);
    for (uint32_t i = 0; i < d->queue_count; i++) {
        const struct driver_queue *q = driver_queue_at(d, i);
        struct driver_command *k = q->at == DRIVER_NONE ? NULL : driver_command_at(d, q->at);
        if (!k || k->phase != PHASE_DIRECT)
            continue;
        functional_move_command(d, k, q->device);
        if (k->kind == DRIVER_LAUNCH || k->kind == DRIVER_STAGE)
            d->io.stats.bytes_to_gpu += k->size;
        k->sent = k->received = k->size;
        k->phase = PHASE_MOVE;
    }
}

static bool command_begin(struct driver *d, uint32_t command, struct driver_queue *q)
{
    struct driver_command *k = driver_command_at(d, command);
    if (k->gated)
        return false;
    if (k->not_before > driver_now(d)) {
        driver_wake_at(d, k->not_before);
        return false;
    }
    if (k->kind == DRIVER_BARRIER && !driver_ticket_done(d, k->awaited))
        return false;
    if (platform_mode() == PLATFORM_FUNCTIONAL) {
        if (platform_profile() == PLATFORM_PROFILE_MEMORY)
            sample_flush(d, k, q->device);
        if (!functional_command(d, k, q->device))
            return false;
        command_complete(d, q);
        return true;
    }
    bool asked = false;
    if (copies_awaited(d, k, &asked))
        return asked;
    enum sample_turn sampled = sample_begin(d, k, driver_window_end);
    if (sampled != SAMPLE_GO_ON)
        return sampled == SAMPLE_BEGAN;
    d->sample.quiet = false;
    if (command_flush_awaited(d, k))
        return false;
    uint32_t flushed = command_flush_device(d, k, q->device);
    if (flushed != DRIVER_NONE)
        return command_flush(d, command, flushed);
    if (k->kind == DRIVER_LAUNCH && k->user == DRIVER_NONE && k->packet.private_bytes && !scratch_find(d, q, driver_window_end))
        return false;
    sample_note_timed(d, k);
    k->local = k->kind == DRIVER_COPY ? (uint8_t)copy_find_way(d, k) : 0;
    k->phase = command_is_direct(d, k) ? PHASE_DIRECT : PHASE_MOVE;
    if (k->phase == PHASE_DIRECT)
        engine_at_window_end(&d->io.base, driver_window_end);
    k->launches = (uint32_t)d->io.stats.launches;
    k->beside_kernels = any_kernel_runs(d);
    d->io.stats.commands++;
    timeline_begin(&d->io.base, k->ticket, command_span(k));
    return true;
}

/* One step of the first command of the queue. True: something changed. */
static bool queue_step(struct driver *d, struct driver_queue *q)
{
    uint32_t command = q->at;
    struct driver_command *k = driver_command_at(d, command);
    if (!submit_beside(d, q, k))
        return false;
    switch ((enum driver_phase)k->phase) {
    case PHASE_QUEUED:
        return (d->migrate.state == MIGRATE_NONE || k->flushed) && command_begin(d, command, q);
    case PHASE_FLUSHING:
    case PHASE_DIRECT:
    case PHASE_RUNNING:
    case PHASE_UNTIMED:
        return false;
    case PHASE_UNTIMED_RETRY:
    case PHASE_UNTIMED_DONE:
        if (sample_step(d, k, q->device))
            command_complete(d, q);
        return true;
    case PHASE_LAUNCH_FIRST:
        return k->user == DRIVER_NONE ? command_launch(d, command, q->device) : submit_step(d, command, q);
    default:
        break;
    }
    if (move_piece(d, command, q->device))
        return true;
    if (k->kind == DRIVER_LAUNCH && k->user != DRIVER_NONE)
        return submit_step(d, command, q);
    if (k->in_flight || k->received < k->size)
        return false;
    if (k->kind == DRIVER_OPEN)
        return submit_open(d, k);
    if (k->kind == DRIVER_LAUNCH) {
        k->phase = PHASE_LAUNCH_FIRST;
        if (k->size)
            ring_written(&d->device[q->device], k->piece);
    } else {
        command_complete(d, q);
    }
    return true;
}

/* ---- answers ---- */

static void answer_data(struct driver *d, const struct driver_command *k, const struct driver_slot *slot,
                        const void *data)
{
    char *to = k->kind == DRIVER_COPY ? arena_at(char, d->bounce) + slot->offset % DRIVER_BOUNCE
                                      : k->host + slot->offset;
    memcpy(to, data, slot->size);
    d->io.stats.bytes_from_gpu += slot->size;
}

static void answer_take(struct driver *d, uint32_t number, const struct command_reply *m)
{
    struct driver_slot *slot = driver_slot_at(&d->device[number], m->tag);
    struct driver_command *k = driver_command_at(d, slot->command);
    struct driver_queue *q = driver_queue_at(d, k->queue);
    bool data = message_kind(m) == COMMAND_DATA;
    if (data)
        answer_data(d, k, slot, command_data_data(driver_gpu_reply_payload(d, number)));
    k->in_flight--;
    if (k->kind != DRIVER_COPY || !data)
        k->received += slot->size;
    if (k->kind == DRIVER_COPY && !k->in_flight && k->received == k->sent && k->received % DRIVER_BOUNCE == 0)
        k->second_half = 0;
    slot->command = DRIVER_NONE;
    d->device[number].slots_used--;
    if (k->phase == PHASE_FLUSHING) {
        k->phase = PHASE_QUEUED;
        d->device[number].flushing--;
    } else if (k->phase == PHASE_RUNNING && k->user == DRIVER_NONE) {
        command_complete(d, q);
    }
}

static bool answers_receive(struct driver *d)
{
    const struct command_reply *m;
    bool received = false;
    for (uint32_t i = 0; i < d->device_count; i++) {
        while ((m = driver_gpu_peek_reply(d, i))) {
            answer_take(d, i, m);
            driver_gpu_pop_reply(d, i);
            received = true;
        }
    }
    return received;
}

/* A step of each queue that can make one, the queue behind the last one that did first. */
static bool queues_step(struct driver *d)
{
    uint32_t last = DRIVER_NONE;
    for (uint32_t i = 0; i < d->queue_count; i++) {
        uint32_t number = d->turn + i < d->queue_count ? d->turn + i : d->turn + i - d->queue_count;
        struct driver_queue *q = driver_queue_at(d, number);
        if (q->at != DRIVER_NONE && queue_step(d, q))
            last = number;
    }
    if (last != DRIVER_NONE)
        d->turn = last + 1 < d->queue_count ? last + 1 : 0;
    return last != DRIVER_NONE;
}

#endif
