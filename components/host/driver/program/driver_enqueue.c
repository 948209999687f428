/* The side of the driver that the program calls: checks, tickets, and commands at the ends of
 * queues. Called with the lock held. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"
#include "components/host/driver/commands/driver_commands.h"
#include "components/host/driver/driver_memory.h"
#include "components/host/driver/driver_process.h"
#include "components/host/driver/driver_state.h"
#include "components/host/driver/user_queues/driver_user_queue.h"
#include "components/sampling/launch_census.h"
#include "components/sampling/sampling_options.h"
#include "components/statistics/run_progress.h"

#include "driver_journal.h"
#include "driver_program.h"

/* ---- commands ---- */

static uint32_t queue_open(struct driver *d, uint32_t device, uint32_t handle)
{
    uint32_t number = 0;
    while (number < d->queue_count && driver_queue_at(d, number)->is_used)
        number++;
    if (number == DRIVER_QUEUES_MAX)
        return DRIVER_NONE;
    if (number == d->queue_count)
        d->queue_count++;
    *driver_queue_at(d, number) = (struct driver_queue){.is_used = true,
                                                        .device = device,
                                                        .handle = handle,
                                                        .first = DRIVER_NONE,
                                                        .last = DRIVER_NONE,
                                                        .current = DRIVER_NONE,
                                                        .user = DRIVER_NONE};
    return number;
}

static enum driver_status queue_check(const struct driver *d, uint32_t queue)
{
    if (queue >= d->queue_count || !driver_queue_at(d, queue)->is_used)
        return driver_fail(DRIVER_INVALID_VALUE, "there is no queue %u", queue);
    return run_usable();
}

static uint64_t queue_name(const struct driver *d, uint32_t queue, uint64_t address)
{
    uint32_t pid = driver_handle_at(d, driver_queue_at(d, queue)->handle)->pid;
    return memory_name(d, pid, address);
}

static void number_launch(struct driver *d, struct driver_command *k)
{
    const struct program_table *program = driver_program(d);
    k->launch.number = ++d->launches_asked;
    progress_add_kernel(k->launch.groups);
    if (platform_sampling()->kernels)
        census_note(platform_sampling(), k->launch.number,
                    program_kernel_name(program, k->launch.kernel),
                    program_kernel_symbol(program, k->launch.kernel));
}

/* A mark leaves the table of tickets. The list grows by doubling; marks come in order, but for
 * those that have waited for long. */
static void keep_mark(struct driver *d, struct driver_ticket mark)
{
    const struct driver_ticket *old = arena_at(struct driver_ticket, d->old_marks);
    if (d->old_mark_count == d->old_mark_capacity) {
        d->old_mark_capacity =
            (uint32_t)grow_capacity(max(d->old_mark_count + 1, 1024u), d->old_mark_capacity);
        d->old_marks = arena_allocate(d->old_mark_capacity * sizeof mark);
        if (d->old_mark_count)
            memcpy(arena_at(struct driver_ticket, d->old_marks), old,
                   d->old_mark_count * sizeof mark);
    }
    struct driver_ticket *marks = arena_at(struct driver_ticket, d->old_marks);
    uint32_t at = d->old_mark_count++;
    for (; at && marks[at - 1].ticket > mark.ticket; at--)
        marks[at] = marks[at - 1];
    marks[at] = mark;
}

static const struct driver_ticket *find_mark(const struct driver *d, uint64_t ticket)
{
    const struct driver_ticket *marks = arena_at(struct driver_ticket, d->old_marks);
    uint32_t low = 0, high = d->old_mark_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (marks[middle].ticket < ticket)
            low = middle + 1;
        else
            high = middle;
    }
    return low < d->old_mark_count && marks[low].ticket == ticket ? &marks[low] : NULL;
}

/* The next number whose slot in the table does not hold a command that is not done. */
static uint64_t next_ticket(struct driver *d)
{
    const struct driver_ticket *t;
    do
        t = driver_ticket_at(d, ++d->last_ticket);
    while (t->ticket && !t->done_ps);
    if (t->done_ps & DRIVER_TICKET_MARK)
        keep_mark(d, *t);
    return d->last_ticket;
}

static enum driver_status enqueue_command(struct driver *d, uint32_t queue,
                                          const struct driver_command *command, uint64_t *ticket)
{
    enum driver_status status = await_some(d, driver_params(d)->commands);
    if (status == DRIVER_OK && call_path(d))
        status = call_path(d)->wait_room(d);
    if (status != DRIVER_OK)
        return status;
    struct driver_queue *q = driver_queue_at(d, queue);
    uint32_t number = index_pool_acquire(&d->command_numbers);
    struct driver_command *k = driver_command_at(d, number);
    uint64_t now = driver_now(d);
    *k = *command;
    k->ticket = next_ticket(d);
    if (k->kind == DRIVER_LAUNCH)
        number_launch(d, k);
    k->queue = queue;
    k->next = DRIVER_NONE;
    k->phase = PHASE_QUEUED;
    d->host_cycle = max(d->host_cycle, now) + host_call_cycles(d, k);
    k->not_before = d->host_cycle;
    *driver_ticket_at(d, k->ticket) = (struct driver_ticket){k->ticket, 0};
    if (q->current == DRIVER_NONE)
        q->current = number;
    if (q->first == DRIVER_NONE)
        q->first = number;
    else
        driver_command_at(d, q->last)->next = number;
    q->last = number;
    d->undone++;
    if (call_path(d))
        call_path(d)->command(d, number);
    record_enqueued(d, k);
    if (ticket)
        *ticket = k->ticket;
    journal_call(k);
    if (!journal_replays())
        queue_do_at_once(d, queue);
    return journal_enqueued(d);
}

/* Enqueues a command for each piece that a call carries. */
static enum driver_status enqueue_pieces(struct driver *d, uint32_t queue,
                                         const struct driver_command *whole, uint64_t *ticket)
{
    enum driver_status status = DRIVER_OK;
    uint64_t most = call_path(d)->copy_bytes;
    for (uint64_t at = 0; at < whole->size && status == DRIVER_OK; at += most) {
        struct driver_command k = *whole;
        k.size = min(whole->size - at, most);
        k.move.address += at;
        k.move.host += at;
        status = enqueue_command(d, queue, &k, ticket);
    }
    return status;
}

static enum driver_status enqueue_move(struct driver *d, uint32_t queue, enum driver_kind kind,
                                       struct command_move move, uint64_t size, uint64_t *ticket)
{
    enum driver_status status = queue_check(d, queue);
    if (status == DRIVER_OK)
        move.address = queue_name(d, queue, move.address);
    if (status == DRIVER_OK)
        status = memory_check(d, move.address, size, command_kinds[kind].name);
    if (status != DRIVER_OK)
        return status;
    move.is_shared =
        move.is_of_library && driver_params(d)->host_memory == DRIVER_HOST_MEMORY_SHARED;
    struct driver_command k = {.kind = (uint8_t)kind, .size = size, .move = move};
    if (kind == DRIVER_WRITE && program_find(driver_program(d), move.address)->use == PROGRAM_CODE)
        k.span = SPAN_CODE;
    if (kind == DRIVER_WRITE)
        memory_prepare(d, move.address, size);
    if (call_path(d) && size > call_path(d)->copy_bytes)
        return enqueue_pieces(d, queue, &k, ticket);
    return enqueue_command(d, queue, &k, ticket);
}

static enum driver_status call_copy(struct driver *d, uint32_t queue, uint64_t to, uint64_t from,
                                    uint64_t size, uint64_t *ticket)
{
    enum driver_status status = queue_check(d, queue);
    if (status != DRIVER_OK)
        return status;
    struct driver_command k = {
        .kind = DRIVER_COPY,
        .size = size,
        .move = {.address = queue_name(d, queue, to), .source = queue_name(d, queue, from)}};
    status = memory_check(d, k.move.address, size, "copy to");
    if (status == DRIVER_OK)
        status = memory_check(d, k.move.source, size, "copy from");
    return status == DRIVER_OK ? enqueue_command(d, queue, &k, ticket) : status;
}

static enum driver_status call_fill(struct driver *d, uint32_t queue, uint64_t address,
                                    const void *pattern, uint32_t bytes, uint64_t count,
                                    uint64_t *ticket)
{
    uint8_t word[4];
    if (bytes != 1 && bytes != 2 && bytes != 4)
        return driver_fail(DRIVER_INVALID_VALUE, "a pattern has 1, 2 or 4 bytes, not %u", bytes);
    enum driver_status status = queue_check(d, queue);
    if (status == DRIVER_OK && count > UINT64_MAX / 4)
        status = driver_fail(DRIVER_INVALID_VALUE, "fill of %" PRIu64 " elements", count);
    if (status == DRIVER_OK)
        address = queue_name(d, queue, address);
    if (status == DRIVER_OK)
        status = memory_check(d, address, count * bytes, "fill");
    if (status != DRIVER_OK)
        return status;
    for (uint32_t i = 0; i < 4; i++)
        word[i] = ((const uint8_t *)pattern)[(i + 4 - address % 4) % bytes];
    memory_prepare(d, address, count * bytes);
    struct driver_command k = {.kind = DRIVER_FILL, .size = count * bytes, .move.address = address};
    memcpy(&k.move.pattern, word, sizeof word);
    return enqueue_command(d, queue, &k, ticket);
}

static enum driver_status enqueue_barrier(struct driver *d, uint32_t queue, uint64_t awaited,
                                          uint64_t *ticket)
{
    const struct driver_command k = {.kind = DRIVER_BARRIER, .barrier.awaited = awaited};
    return enqueue_command(d, queue, &k, ticket);
}

static uint64_t queue_last(const struct driver *d, uint32_t queue)
{
    uint32_t last = driver_queue_at(d, queue)->last;
    return last == DRIVER_NONE ? 0 : driver_command_at(d, last)->ticket;
}
