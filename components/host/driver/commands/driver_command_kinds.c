/* Begin, steps and answers of each kind of command; the table is at the end. Called by
 * driver_command_queues.c, which does what is the same for all kinds. */
#include <string.h>

#include "components/host/driver/launch/driver_launch.h"
#include "components/host/driver/program/driver_program.h"
#include "components/host/driver/user_queues/driver_user_queue.h"
#include "components/memory/page_table/aql_preload_pages.h"
#include "components/sampling/online_parts.h"

#include "driver_commands.h"

/* ---- begin ---- */

/* Begins a command that moves bytes: in no time if direct_note() has noted them, otherwise by
 * messages. */
static void begin_bytes(struct driver *d, const struct driver_queue *q, struct driver_command *k)
{
    k->phase = direct_note(d, k, q->device) ? PHASE_DIRECT : PHASE_MOVE;
}

/* Kernels reach the memory of other GPUs, too. */
static bool any_kernel_runs(const struct driver *d)
{
    bool running = false;
    for (uint32_t i = 0; i < d->device_count; i++)
        running |= d->device[i].kernels_running > 0;
    return running;
}

static bool begin_move(struct driver *d, struct driver_queue *q, struct driver_command *k)
{
    k->move.way = k->kind == DRIVER_COPY ? (uint8_t)copy_find_way(d, k) : 0;
    k->move.first_ready = k->move.last_ready = DRIVER_NONE;
    record_copy(k);
    begin_bytes(d, q, k);
    k->move.launches_before = (uint32_t)d->io.stats.launches;
    k->move.is_beside_kernels = any_kernel_runs(d);
    return true;
}

static bool begin_stage(struct driver *d, struct driver_queue *q, struct driver_command *k)
{
    begin_bytes(d, q, k);
    return true;
}

static bool begin_launch(struct driver *d, struct driver_queue *q, struct driver_command *k)
{
    if (k->launch.user == DRIVER_NONE && k->launch.packet.private_bytes
        && !scratch_find(d, q, driver_window_end))
        return false;
    sample_note_timed(d, k);
    begin_bytes(d, q, k);
    return true;
}

/* Begins a command that moves no bytes. */
static bool begin_plain(struct driver *d, struct driver_queue *q, struct driver_command *k)
{
    (void)q;
    bool waits = k->kind != DRIVER_MARK && k->kind != DRIVER_BARRIER;
    k->phase = waits || !driver_copy_ops(d)->takes_no_time ? PHASE_MOVE : PHASE_DIRECT;
    return true;
}

/* ---- steps ---- */

/* True if all messages have been sent and answered. */
static bool all_answered(const struct driver_command *k)
{
    return !k->in_flight && k->received >= k->size;
}

static bool send_next(struct driver *d, const struct driver_queue *q, uint32_t command)
{
    const struct driver_command *k = driver_command_at(d, command);
    return (k->sent < k->size || k->kind == DRIVER_COPY)
           && command_kinds[k->kind].send(d, command, q->device);
}

/* The command is over when all messages are answered. The bytes of a read through a simulated host
 * are on their way to the program then: PHASE_RUNNING. */
static bool step_messages(struct driver *d, struct driver_queue *q, uint32_t command)
{
    struct driver_command *k = driver_command_at(d, command);
    if (send_next(d, q, command))
        return true;
    if (!all_answered(k))
        return false;
    if (k->kind == DRIVER_READ && k->move.data)
        k->phase = PHASE_RUNNING;
    else
        command_complete(d, q);
    return true;
}

static bool step_at_once(struct driver *d, struct driver_queue *q, uint32_t command)
{
    (void)command;
    command_complete(d, q);
    return true;
}

static bool step_open(struct driver *d, struct driver_queue *q, uint32_t command)
{
    (void)q;
    return submit_open(d, driver_command_at(d, command));
}

/* Copies preloaded arguments into the descriptor at `at`. The arguments are the driver's own, so
 * they are mapped. */
static void launch_find_preload(const struct driver *d, const struct driver_command *k, void *at)
{
    struct aql_descriptor descriptor;
    memcpy(&descriptor, at, sizeof descriptor);
    if (!aql_set_preload(&descriptor, driver_page_table(d), k->pid, k->launch.packet.kernarg))
        bug("driver: arguments of a launch are not mapped");
    memcpy(at, &descriptor, sizeof descriptor);
}

static bool send_launch(struct driver *d, uint32_t command, uint32_t number)
{
    struct driver_command *k = driver_command_at(d, command);
    struct driver_device *device = &d->device[number];
    int slot = slot_for_launch(d, number);
    if (slot < 0)
        return false;
    void *payload = driver_gpu_send_launch(
        d, number, (uint16_t)slot, argument_ring_of(d, number, k->pid)->address + k->ring_offset,
        k->launch.entry, k->pid, (uint16_t)k->launch.kernel);
    aql_set_groups(&k->launch.packet, k->launch.first_group, launch_count(k));
    memcpy(command_launch_packet(payload), &k->launch.packet, sizeof k->launch.packet);
    memcpy(command_launch_descriptor(payload), k->launch.descriptor, sizeof k->launch.descriptor);
    launch_find_preload(d, k, command_launch_descriptor(payload));
    if (k->launch.in_parts)
        online_parts_begin_timed();
    record_start(d, k, number);
    slot_acquire(d, number, slot, command, 0, 0);
    l2_note_kernel(d, number, k->pid);
    device->slots_of_launches++;
    device->kernels_running++;
    d->io.stats.launches++;
    k->phase = PHASE_RUNNING;
    state_at_launch(d, k);
    return true;
}

/* Sends the arguments, then the launch itself: to the GPU, or into a user queue. */
static bool step_launch(struct driver *d, struct driver_queue *q, uint32_t command)
{
    struct driver_command *k = driver_command_at(d, command);
    bool by_queue = k->launch.user != DRIVER_NONE;
    if (k->phase == PHASE_LAUNCH_FIRST)
        return by_queue ? submit_step(d, command, q) : send_launch(d, command, q->device);
    if (send_next(d, q, command))
        return true;
    if (k->sent < k->size) /* the link is busy, or there is no slot */
        return false;
    if (by_queue)
        return submit_step(d, command, q);
    if (!all_answered(k))
        return false;
    k->phase = PHASE_LAUNCH_FIRST;
    if (k->size)
        argument_ring_written(argument_ring_of(d, q->device, k->pid), k->piece);
    return true;
}

/* ---- answers ---- */

static void answer_done(struct driver *d, uint32_t gpu, uint32_t command,
                        const struct driver_slot *sent)
{
    (void)gpu;
    driver_command_at(d, command)->received += sent->size;
}

static void answer_read(struct driver *d, uint32_t gpu, uint32_t command,
                        const struct driver_slot *sent)
{
    struct driver_command *k = driver_command_at(d, command);
    program_write(d, k, sent->offset, command_data_data(driver_gpu_reply_payload(d, gpu)),
                  sent->size);
    d->io.stats.bytes_from_gpu += sent->size;
    k->received += sent->size;
}

/* Bytes of a copy through the host count as received when they have been written. */
static void answer_copy(struct driver *d, uint32_t gpu, uint32_t command,
                        const struct driver_slot *sent)
{
    struct driver_command *k = driver_command_at(d, command);
    if (k->move.way != COPY_BY_HOST) {
        k->received += sent->size;
        return;
    }
    bool read = message_kind(driver_gpu_peek_reply(d, gpu)) == COMMAND_DATA;
    bounce_answer(d, k, sent, read ? command_data_data(driver_gpu_reply_payload(d, gpu)) : NULL);
}

/* The answer is of the arguments, or of the launch itself, which is over. */
static void answer_launch(struct driver *d, uint32_t gpu, uint32_t command,
                          const struct driver_slot *sent)
{
    struct driver_command *k = driver_command_at(d, command);
    answer_done(d, gpu, command, sent);
    if (k->phase == PHASE_RUNNING && k->launch.user == DRIVER_NONE && !parts_continue(d, k, gpu))
        command_complete(d, driver_queue_at(d, k->queue));
}

/* Migrations and releases, which are outside of queues, are answered as writes are. */
static const struct command_kind command_kinds[DRIVER_KINDS] = {
    [DRIVER_WRITE] = {"write", begin_move, step_messages, send_writes, answer_done},
    [DRIVER_READ] = {"read", begin_move, step_messages, send_reads, answer_read},
    [DRIVER_COPY] = {"copy", begin_move, step_messages, send_copies, answer_copy},
    [DRIVER_FILL] = {"fill", begin_move, step_messages, send_fills, answer_done},
    [DRIVER_STAGE] = {"stage", begin_stage, step_messages, send_stages, answer_done},
    [DRIVER_LAUNCH] = {"launch", begin_launch, step_launch, send_stages, answer_launch},
    [DRIVER_MARK] = {"mark", begin_plain, step_at_once, NULL, answer_done},
    [DRIVER_BARRIER] = {"wait", begin_plain, step_at_once, NULL, answer_done},
    [DRIVER_SHOOTDOWN] = {"shoot-down", begin_plain, step_messages, send_shootdowns, answer_done},
    [DRIVER_OPEN] = {"open user queue", begin_plain, step_open, NULL, answer_done},
    [DRIVER_FENCE] = {"fence", begin_plain, step_at_once, NULL, answer_done},
};
