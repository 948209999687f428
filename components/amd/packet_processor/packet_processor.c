/* Packet processor: from packets in user queues to commands for the command processor.
 *
 * Doorbells announce packets; a queue with some is ready, and works while its scheduler gives it a
 * slot. Packets go through the phases of packet_phases.c. What the driver sends is handed on, with
 * its tags; own commands have tags from PACKET_TAG on. Memory is read and written past the caches,
 * as copies of the driver are: what kernels and packets exchange is ordered by the fences of
 * packets, which flush. A queue that makes a mistake is stopped, with an error that the driver can
 * ask for; nothing else stops. */
#include "packet_processor.gen.h"

#define UNIT_COLD

#include "packet_state.h"

static void packet_processor_init(struct packet_processor *c)
{
    const struct packet_processor_params *p = packet_processor_params(c);
    c->queues_at = arena_allocate(p->queues * sizeof(struct user_queue));
    c->packets_at = arena_allocate(p->packets * sizeof(struct packet));
    c->packet_count = p->packets;
    c->slice_end = ENGINE_NEVER;
    run_list_setup(packet_processor_scheduler(c), p->queues, p->slots);
}

/* ---- between driver and command processor ---- */

static bool forward_commands(struct packet_processor *c)
{
    const struct command_request *m;
    uint32_t to = packet_processor_io(c)->cp_request;
    bool sent = false;
    while ((m = packet_processor_host_peek(c)) && packet_processor_cp_can_send(c)) {
        port_forward(to, c->io.base.limit, port_messages(ring_number(to)),
                     (const struct message *)(const void *)m, packet_processor_host_payload(c),
                     m->tag);
        c->has_dirty_caches |= message_kind(m) == COMMAND_LAUNCH;
        packet_processor_host_pop(c);
        sent = true;
    }
    return sent;
}

static bool receive_answers(struct packet_processor *c)
{
    const struct command_reply *m;
    uint32_t to = packet_processor_io(c)->host_reply;
    bool received = false;
    while ((m = packet_processor_cp_peek_reply(c))) {
        if (m->tag & PACKET_TAG) {
            packet_answer(c, packet_at(c, m->tag & ~PACKET_TAG),
                          command_data_data(packet_processor_cp_reply_payload(c)));
        } else {
            if (!packet_processor_host_can_reply(c))
                break;
            port_forward(to, c->io.base.limit, port_messages(ring_number(to)),
                         (const struct message *)(const void *)m,
                         packet_processor_cp_reply_payload(c), m->tag);
        }
        packet_processor_cp_pop_reply(c);
        received = true;
    }
    return received;
}

/* Takes the driver's answers to requests of packets. */
static bool receive_driver_answers(struct packet_processor *c)
{
    const struct queue_interrupt_reply *m;
    bool received = false;
    while ((m = packet_processor_interrupt_peek_reply(c))) {
        struct packet *p = packet_at(c, m->tag);
        if (message_kind(m) == QUEUE_INTERRUPT_POOL) {
            p->scratch = m->pool.address;
            p->scratch_groups = m->pool.groups;
            packet_enter(p, PACKET_LAUNCH);
        } else {
            packets_retry(c);
            packet_complete(p);
        }
        packet_processor_interrupt_pop_reply(c);
        received = true;
    }
    return received;
}

/* ---- queues ---- */

/* True if the queue's next packet has been looked at and nothing has happened since. */
static bool queue_waits(const struct packet_processor *c, const struct user_queue *q)
{
    return q->is_used && !q->is_dying && !q->error && q->is_waiting && q->events_seen == c->events;
}

static bool queue_has_work(const struct packet_processor *c, const struct user_queue *q)
{
    return q->is_used && !q->is_dying && !q->error && !queue_waits(c, q)
           && (q->front != PACKET_NONE || q->next_packet < q->write_index);
}

/* After every change of queue_has_work(). */
static void queue_update_scheduler(struct packet_processor *c, uint32_t number)
{
    if (queue_has_work(c, queue_at(c, number)))
        run_list_ready(packet_processor_scheduler(c), number);
    else
        run_list_done(packet_processor_scheduler(c), number);
}

static bool receive_doorbells(struct packet_processor *c)
{
    const struct queue_doorbell_request *m;
    bool received = false;
    while ((m = packet_processor_doorbell_peek(c))) {
        uint32_t number = m->ring.slot;
        struct user_queue *q =
            number < packet_processor_params(c)->queues ? queue_at(c, number) : NULL;
        if (!q || !q->is_used || q->is_dying)
            c->io.stats.ignored_rings++;
        else if (m->ring.value - q->read_index >= q->packets && m->ring.value >= q->write_index)
            queue_fail(c, q, QUEUE_OVERFLOW);
        else if (m->ring.value >= q->write_index)
            q->write_index = m->ring.value + 1;
        if (q)
            q->is_waiting = false;
        packet_processor_doorbell_pop(c);
        c->is_scheduled = false;
        received = true;
    }
    return received;
}

static void queue_create(struct packet_processor *c, const struct queue_control_request *m)
{
    struct user_queue *q = queue_at(c, m->create.slot);
    if (q->is_used)
        bug("packet processor: queue %u is there already", m->create.slot);
    *q = (struct user_queue){.is_used = true,
                             .gpu = m->create.gpu,
                             .pid = m->create.pid,
                             .packets = m->create.packets,
                             .base = m->create.base,
                             .front = PACKET_NONE};
    if (c->queue_end <= m->create.slot)
        c->queue_end = m->create.slot + 1u;
}

/* Takes one request of the driver. A queue is destroyed when its last packet is over; the others
 * are answered at once. */
static bool receive_control(struct packet_processor *c)
{
    const struct queue_control_request *m = packet_processor_control_peek(c);
    if (m && message_kind(m) == QUEUE_CONTROL_CHANGED) {
        c->driver_events = m->changed.events;
        c->has_reported_waits = false;
        packets_retry(c);
        packet_processor_control_pop(c);
        return true;
    }
    if (!m || !packet_processor_control_can_reply(c))
        return false;
    uint32_t number = message_kind(m) == QUEUE_CONTROL_CREATE ? m->create.slot : m->status.slot;
    if (number >= packet_processor_params(c)->queues)
        bug("packet processor: there is no queue %u", number);
    struct user_queue *q = queue_at(c, number);
    uint8_t error =
        message_kind(m) != QUEUE_CONTROL_CREATE && !q->is_used ? QUEUE_NOT_THERE : q->error;
    if (message_kind(m) == QUEUE_CONTROL_CREATE)
        queue_create(c, m);
    if (message_kind(m) == QUEUE_CONTROL_DESTROY && q->is_used) {
        q->is_dying = true;
        q->destroy_tag = m->tag;
        c->dying_queues++;
    } else {
        packet_processor_control_reply_done(c, m->tag, q->read_index, error);
    }
    c->is_scheduled = false;
    packet_processor_control_pop(c);
    return true;
}

/* Queues that are to go and have nothing in flight. */
static bool queues_bury(struct packet_processor *c)
{
    bool progress = false;
    for (uint32_t i = 0; c->dying_queues && i < c->queue_end; i++) {
        struct user_queue *q = queue_at(c, i);
        if (!q->is_used || !q->is_dying || q->active_packets
            || !packet_processor_control_can_reply(c))
            continue;
        run_list_done(packet_processor_scheduler(c), i);
        packet_processor_control_reply_done(c, q->destroy_tag, q->read_index, q->error);
        *q = (struct user_queue){0};
        c->dying_queues--;
        c->is_scheduled = false;
        progress = true;
    }
    return progress;
}

static bool queue_begin(struct packet_processor *c, uint32_t number)
{
    struct user_queue *q = queue_at(c, number);
    if (q->front != PACKET_NONE || q->next_packet == q->write_index
        || c->used_packets == c->packet_count)
        return false;
    uint32_t i = 0;
    while (packet_at(c, i)->phase != PACKET_FREE)
        i++;
    *packet_at(c, i) =
        (struct packet){.phase = PACKET_FETCH, .queue = number, .number = q->next_packet++};
    q->front = i;
    q->is_waiting = false;
    q->events_seen = c->events;
    q->active_packets++;
    c->used_packets++;
    c->fronts++;
    return true;
}

/* Gives slots to queues; a queue with a slot begins. */
static bool queues_schedule(struct packet_processor *c)
{
    bool progress = false, changed;
    if (c->is_scheduled && c->slice_end > packet_processor_now(c))
        return false;
    c->is_scheduled = true;
    for (uint32_t i = 0; i < c->queue_end; i++)
        queue_update_scheduler(c, i);
    c->slice_end =
        run_list_schedule(packet_processor_scheduler(c), packet_processor_now(c), &changed);
    for (uint32_t i = 0; i < c->queue_end; i++) {
        if (!queue_has_work(c, queue_at(c, i)))
            continue;
        if (run_list_is_mapped(packet_processor_scheduler(c), i))
            progress |= queue_begin(c, i);
    }
    c->is_scheduled = true;
    return progress || changed;
}

/* One message goes to the driver, until it answers with an event. */
static bool report_waits(struct packet_processor *c)
{
    bool waits = false;
    if (c->has_reported_waits)
        return false;
    for (uint32_t i = 0; i < c->queue_end && !waits; i++)
        waits = queue_waits(c, queue_at(c, i));
    if (!waits || !packet_processor_interrupt_can_send(c))
        return false;
    packet_processor_interrupt_send_waits(c, 0, c->driver_events);
    c->has_reported_waits = true;
    return true;
}

static bool packets_step(struct packet_processor *c)
{
    bool progress = false;
    for (uint32_t i = 0, left = c->used_packets; left && i < c->packet_count; i++) {
        const struct packet *p = packet_at(c, i);
        if (p->phase == PACKET_FREE)
            continue;
        left--;
        if (!p->is_under_way)
            progress |= packet_step(c, i);
    }
    return progress;
}

static bool packet_processor_tick(struct packet_processor *c)
{
    bool progress = receive_answers(c);
    progress |= receive_driver_answers(c);
    progress |= receive_doorbells(c);
    progress |= receive_control(c);
    progress |= forward_commands(c);
    progress |= packets_step(c);
    progress |= queues_bury(c);
    progress |= queues_schedule(c);
    progress |= report_waits(c);
    if (!progress && c->slice_end != ENGINE_NEVER)
        packet_processor_wake_at(c, c->slice_end);
    return progress;
}

/* Queues that wait for an event. */
static unsigned queues_waiting(const struct packet_processor *c, struct hang_report *report)
{
    unsigned waiting = 0;
    for (uint32_t i = 0; i < c->queue_end; i++) {
        const struct user_queue *q = queue_at(c, i);
        if (!queue_waits(c, q))
            continue;
        waiting++;
        if (report && q->awaited_signal)
            hang_note(report,
                      "user queue %u of process %" PRIu32 ": packet %" PRIu64
                      ", a barrier, waits for the signal at 0x%" PRIx64,
                      i, q->pid, q->next_packet, q->awaited_signal);
        else if (report)
            hang_note(report,
                      "user queue %u of process %" PRIu32 ": packet %" PRIu64
                      " was announced and is not written",
                      i, q->pid, q->next_packet);
    }
    return waiting;
}

static unsigned packet_processor_outstanding(const struct packet_processor *c,
                                             struct hang_report *report)
{
    if (report)
        for (uint32_t i = 0; i < c->packet_count; i++) {
            const struct packet *p = packet_at(c, i);
            if (p->phase != PACKET_FREE)
                hang_note(report, "queue %u: packet %" PRIu64 " %s", p->queue, p->number,
                          packet_activity(p));
        }
    return c->used_packets + c->dying_queues + queues_waiting(c, report);
}
