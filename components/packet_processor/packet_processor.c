/* Packet processor: from packets in user queues to commands for the command processor.
 *
 * Doorbells announce packets; a queue with some is ready, and works while its scheduler gives it a
 * slot. Packets go through the phases of packet_phases.h. What the driver sends is handed on, with
 * its tags; own commands have tags from PACKET_TAG on. Memory is read and written past the caches,
 * as copies of the driver are: what kernels and packets exchange is ordered by the fences of
 * packets, which flush. A queue that makes a mistake is stopped, with an error that the driver can
 * ask for; nothing else stops. */
#include "packet_processor.gen.h"

#include "packet_phases.h"
#include "packet_state.h"

static void packet_processor_init(struct packet_processor *c)
{
    const struct packet_processor_params *p = packet_processor_params(c);
    c->queues = arena_allocate((size_t)p->queues * sizeof(struct user_queue));
    c->packets = arena_allocate((size_t)p->packets * sizeof(struct packet));
    c->packet_count = (uint32_t)p->packets;
    c->slice_end = ENGINE_NEVER;
    scheduler(c)->setup(packet_processor_scheduler(c), (uint32_t)p->queues, (uint32_t)p->slots);
}

/* ---- between driver and command processor ---- */

static bool hand_on(struct packet_processor *c)
{
    const struct command_request *m;
    uint32_t to = packet_processor_io(c)->cp_request;
    bool sent = false;
    while ((m = packet_processor_host_peek(c)) && packet_processor_cp_can_send(c)) {
        port_forward(to, packet_processor_now(c), port_messages(to),
                     (const struct message *)(const void *)m, packet_processor_host_payload(c),
                     m->tag);
        packet_processor_host_pop(c);
        sent = true;
    }
    return sent;
}

static bool answers_take(struct packet_processor *c)
{
    const struct command_reply *m;
    uint32_t to = packet_processor_io(c)->host_reply;
    bool taken = false;
    while ((m = packet_processor_cp_peek_reply(c))) {
        if (m->tag & PACKET_TAG) {
            packet_answer(c, packet_at(c, m->tag & ~PACKET_TAG),
                          command_data_data(packet_processor_cp_reply_payload(c)));
        } else {
            if (!packet_processor_host_can_reply(c))
                break;
            port_forward(to, packet_processor_now(c), port_messages(to),
                         (const struct message *)(const void *)m,
                         packet_processor_cp_reply_payload(c), m->tag);
        }
        packet_processor_cp_pop_reply(c);
        taken = true;
    }
    return taken;
}

/* Private memory that packets have asked for. */
static bool pools_take(struct packet_processor *c)
{
    const struct queue_interrupt_reply *m;
    bool taken = false;
    while ((m = packet_processor_interrupt_peek_reply(c))) {
        struct packet *p = packet_at(c, m->tag);
        p->scratch = m->pool.address;
        p->scratch_groups = m->pool.groups;
        packet_enter(p, PACKET_LAUNCH);
        packet_processor_interrupt_pop_reply(c);
        taken = true;
    }
    return taken;
}

/* ---- queues ---- */

static bool queue_has_work(const struct user_queue *q)
{
    return q->used && !q->dying && !q->error
           && (q->front != PACKET_NONE || q->fetched < q->written);
}

/* After every change of queue_has_work(). */
static void queue_tell_scheduler(struct packet_processor *c, uint32_t number)
{
    if (queue_has_work(queue_at(c, number)))
        scheduler(c)->ready(packet_processor_scheduler(c), number);
    else
        scheduler(c)->done(packet_processor_scheduler(c), number);
}

static bool doorbells_take(struct packet_processor *c)
{
    const struct queue_doorbell_request *m;
    bool taken = false;
    while ((m = packet_processor_doorbell_peek(c))) {
        uint32_t number = m->ring.slot;
        struct user_queue *q =
            number < (uint64_t)packet_processor_params(c)->queues ? queue_at(c, number) : NULL;
        if (!q || !q->used || q->dying)
            c->io.stats.ignored_rings++;
        else if (m->ring.value - q->read >= q->packets && m->ring.value >= q->written)
            queue_fail(c, q, QUEUE_OVERFLOW);
        else if (m->ring.value >= q->written)
            q->written = m->ring.value + 1;
        packet_processor_doorbell_pop(c);
        c->scheduled = false;
        taken = true;
    }
    return taken;
}

static void queue_create(struct packet_processor *c, const struct queue_control_request *m)
{
    struct user_queue *q = queue_at(c, m->create.slot);
    if (q->used)
        bug("packet processor: queue %u is there already", m->create.slot);
    *q = (struct user_queue){.used = true,
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
static bool control_take(struct packet_processor *c)
{
    const struct queue_control_request *m = packet_processor_control_peek(c);
    if (!m || !packet_processor_control_can_reply(c))
        return false;
    uint32_t number = message_kind(m) == QUEUE_CONTROL_CREATE ? m->create.slot : m->status.slot;
    if (number >= (uint64_t)packet_processor_params(c)->queues)
        bug("packet processor: there is no queue %u", number);
    struct user_queue *q = queue_at(c, number);
    uint8_t error =
        message_kind(m) != QUEUE_CONTROL_CREATE && !q->used ? QUEUE_NOT_THERE : q->error;
    if (message_kind(m) == QUEUE_CONTROL_CREATE)
        queue_create(c, m);
    if (message_kind(m) == QUEUE_CONTROL_DESTROY && q->used) {
        q->dying = true;
        q->destroy_tag = m->tag;
        c->dying++;
    } else {
        packet_processor_control_reply_done(c, m->tag, q->read, error);
    }
    c->scheduled = false;
    packet_processor_control_pop(c);
    return true;
}

/* Queues that are to go and have nothing in flight. */
static bool queues_bury(struct packet_processor *c)
{
    bool progress = false;
    for (uint32_t i = 0; c->dying && i < c->queue_end; i++) {
        struct user_queue *q = queue_at(c, i);
        if (!q->used || !q->dying || q->active || !packet_processor_control_can_reply(c))
            continue;
        scheduler(c)->done(packet_processor_scheduler(c), i);
        packet_processor_control_reply_done(c, q->destroy_tag, q->read, q->error);
        *q = (struct user_queue){0};
        c->dying--;
        c->scheduled = false;
        progress = true;
    }
    return progress;
}

/* A queue without a slot does not keep a packet that only waits: it will be fetched again. */
static void queue_put_back(struct packet_processor *c, struct user_queue *q)
{
    struct packet *p = q->front == PACKET_NONE ? NULL : packet_at(c, q->front);
    if (!p || p->phase != PACKET_POLL)
        return;
    q->fetched = p->number;
    packet_free(c, p);
}

static bool queue_begin(struct packet_processor *c, uint32_t number)
{
    struct user_queue *q = queue_at(c, number);
    if (q->front != PACKET_NONE || q->fetched == q->written || c->used == c->packet_count)
        return false;
    uint32_t i = 0;
    while (packet_at(c, i)->phase != PACKET_FREE)
        i++;
    *packet_at(c, i) =
        (struct packet){.phase = PACKET_FETCH, .queue = number, .number = q->fetched++};
    q->front = i;
    q->active++;
    c->used++;
    c->fronts++;
    return true;
}

/* Gives slots to queues; those that have one begin. */
static bool queues_schedule(struct packet_processor *c)
{
    bool progress = false, changed;
    if (c->scheduled && c->slice_end > packet_processor_now(c))
        return false;
    c->scheduled = true;
    for (uint32_t i = 0; i < c->queue_end; i++)
        queue_tell_scheduler(c, i);
    c->slice_end =
        scheduler(c)->schedule(packet_processor_scheduler(c), packet_processor_now(c), &changed);
    for (uint32_t i = 0; i < c->queue_end; i++) {
        if (!queue_has_work(queue_at(c, i)))
            continue;
        if (!scheduler(c)->mapped(packet_processor_scheduler(c), i))
            queue_put_back(c, queue_at(c, i));
        else
            progress |= queue_begin(c, i);
    }
    c->scheduled = true;
    return progress || changed;
}

static bool packets_step(struct packet_processor *c)
{
    bool progress = false;
    for (uint32_t i = 0, left = c->used; left && i < c->packet_count; i++) {
        const struct packet *p = packet_at(c, i);
        if (p->phase == PACKET_FREE)
            continue;
        left--;
        if (!p->under_way)
            progress |= packet_step(c, i);
    }
    return progress;
}

static bool packet_processor_tick(struct packet_processor *c)
{
    bool progress = answers_take(c);
    progress |= pools_take(c);
    progress |= doorbells_take(c);
    progress |= control_take(c);
    progress |= hand_on(c);
    progress |= packets_step(c);
    progress |= queues_bury(c);
    progress |= queues_schedule(c);
    if (progress)
        return true;
    uint64_t next = c->slice_end;
    for (uint32_t i = 0; c->used && i < c->packet_count; i++) {
        const struct packet *p = packet_at(c, i);
        if (p->phase == PACKET_POLL && p->due < next)
            next = p->due;
    }
    if (next != ENGINE_NEVER)
        packet_processor_wake_at(c, next);
    return false;
}

static unsigned packet_processor_outstanding(const struct packet_processor *c,
                                             struct hang_report *report)
{
    static const char *const phases[] = {"free",
                                         "is fetched",
                                         "waits for those before it",
                                         "flushes",
                                         "reads a signal",
                                         "waits for a signal",
                                         "reads its descriptor",
                                         "waits for private memory",
                                         "waits for a dispatcher",
                                         "runs",
                                         "gives private memory back",
                                         "flushes",
                                         "changes its signal",
                                         "tells the driver",
                                         "frees its place",
                                         "moves the read index"};
    for (uint32_t i = 0; report && i < c->packet_count; i++) {
        const struct packet *p = packet_at(c, i);
        if (p->phase != PACKET_FREE)
            hang_note(report, "queue %u: packet %" PRIu64 " %s", p->queue, p->number,
                      phases[p->phase]);
    }
    return c->used + c->dying;
}
