/* The steps of each phase of a packet: send the phase's command (packet_commands.c), take its
 * answer, enter the next phase. */
#include "packet_processor.gen.h"

#include "packet_state.h"

static void packet_enter(struct packet *p, enum packet_phase phase)
{
    p->phase = (uint8_t)phase;
    p->is_under_way = false;
}

/* The packet is no longer in front: the next one of its queue may be fetched. */
static void packet_leave_front(struct packet_processor *c, struct packet *p)
{
    queue_at(c, p->queue)->front = PACKET_NONE;
    c->fronts--;
    c->is_scheduled = false;
}

static void packet_free(struct packet_processor *c, struct packet *p)
{
    struct user_queue *q = queue_at(c, p->queue);
    if (packet_is_front(p))
        packet_leave_front(c, p);
    q->active_packets--;
    c->used_packets--;
    c->is_scheduled = false;
    p->phase = PACKET_FREE;
}

/* The queue stops here; packets that run continue. */
static void queue_fail(struct packet_processor *c, struct user_queue *q, enum queue_error error)
{
    if (q->error)
        return;
    q->error = (uint8_t)error;
    c->io.stats.errors++;
    c->is_scheduled = false;
}

static void packet_fail(struct packet_processor *c, struct packet *p, enum queue_error error)
{
    queue_fail(c, queue_at(c, p->queue), error);
    packet_free(c, p);
}

/* Puts the front packet back: it is fetched again after the next event. `signal`: what it waits
 * for; 0: to be written. */
static void packet_wait(struct packet_processor *c, struct packet *p, uint64_t signal)
{
    struct user_queue *q = queue_at(c, p->queue);
    q->is_waiting = true;
    q->awaited_signal = signal;
    q->next_packet = p->number;
    c->io.stats.waits++;
    packet_free(c, p);
}

/* Signals may have changed: queues that wait look again. */
static void packets_retry(struct packet_processor *c)
{
    c->events++;
    c->is_scheduled = false;
}

/* ---- from phase to phase ---- */

static bool needs_flush(const struct packet_processor *c, const struct packet *p, unsigned shift)
{
    return c->has_dirty_caches && aql_scope(p->aql.dispatch.header, shift) == AQL_SCOPE_SYSTEM;
}

/* True if packets of the queue before it are not over. */
static bool has_earlier(const struct packet_processor *c, const struct packet *p)
{
    if (queue_at(c, p->queue)->active_packets <= 1)
        return false;
    for (uint32_t i = 0; i < c->packet_count; i++) {
        const struct packet *candidate = packet_at(c, i);
        if (candidate->phase != PACKET_FREE && candidate->queue == p->queue
            && candidate->number < p->number)
            return true;
    }
    return false;
}

/* True if a barrier packet must have first-level caches invalidated. Before a kernel the command
 * processor does that. */
static bool needs_invalidate(const struct packet_processor *c, const struct packet *p)
{
    return c->has_dirty_caches && packet_type(p) != AQL_DISPATCH
           && aql_scope(p->aql.dispatch.header, AQL_ACQUIRE_SHIFT) == AQL_SCOPE_AGENT;
}

/* All writes of the packet are visible. Its signal is next, or the interrupt, or it retires. */
static void packet_complete(struct packet *p)
{
    packet_enter(p, packet_completion(p) ? PACKET_SIGNAL
                    : p->is_released     ? PACKET_INTERRUPT
                                         : PACKET_RETIRE);
}

/* The work of the packet is done. */
static void packet_end(struct packet_processor *c, struct packet *p)
{
    c->io.stats.barriers += packet_type(p) != AQL_DISPATCH;
    if (needs_flush(c, p, AQL_RELEASE_SHIFT)) {
        packet_enter(p, PACKET_RELEASE);
        p->is_released = true;
    } else {
        packet_complete(p);
    }
}

/* The signals that the packet waited for are there. A kernel's acquire fence comes before it
 * begins; a barrier's comes now, or it would acquire what their owners had not released yet. */
static void packet_acquired(struct packet_processor *c, struct packet *p)
{
    if (packet_type(p) == AQL_DISPATCH) {
        packet_enter(p, PACKET_DESCRIPTOR);
        return;
    }
    packet_leave_front(c, p);
    packet_end(c, p);
}

static void packet_acquire(struct packet_processor *c, struct packet *p)
{
    if (needs_flush(c, p, AQL_ACQUIRE_SHIFT) || needs_invalidate(c, p))
        packet_enter(p, PACKET_ACQUIRE);
    else
        packet_acquired(c, p);
}

static void packet_check(struct packet_processor *c, struct packet *p)
{
    const struct aql_packet *d = &p->aql.dispatch;
    if (packet_type(p) != AQL_INVALID
        && (aql_scope(d->header, AQL_ACQUIRE_SHIFT) > AQL_SCOPE_SYSTEM
            || aql_scope(d->header, AQL_RELEASE_SHIFT) > AQL_SCOPE_SYSTEM)) {
        packet_fail(c, p, QUEUE_PACKET);
        return;
    }
    switch (packet_type(p)) {
    case AQL_INVALID:
        packet_wait(c, p, 0);
        return;
    case AQL_DISPATCH:
        if ((d->private_bytes && !packet_items(p)) || d->kernel_object % AQL_PACKET_BYTES) {
            packet_fail(c, p, QUEUE_PACKET);
            return;
        }
        break;
    case AQL_BARRIER_AND:
    case AQL_BARRIER_OR:
        break;
    default:
        packet_fail(c, p, QUEUE_PACKET);
        return;
    }
    packet_enter(p, PACKET_EARLIER);
}

/* ---- the steps of each phase: send() begins it, answer() ends it ---- */

static bool fetch_send(struct packet_processor *c, struct packet *p, uint32_t number)
{
    return send_read(c, p, number, packet_address(c, p), AQL_PACKET_BYTES);
}

static void fetch_answer(struct packet_processor *c, struct packet *p, const void *data)
{
    memcpy(p->aql.bytes, data, AQL_PACKET_BYTES);
    packet_check(c, p);
}

static bool earlier_send(struct packet_processor *c, struct packet *p, uint32_t number)
{
    (void)number;
    if ((p->aql.dispatch.header & AQL_BARRIER) && has_earlier(c, p))
        return false;
    if (packet_type(p) == AQL_DISPATCH)
        packet_acquire(c, p);
    else
        packet_enter(p, PACKET_DEPEND);
    p->dependency = 0;
    return true;
}

/* The next signal that a barrier waits for, from `dependency` on; when all were looked at, the
 * barrier is decided. */
static bool depend_send(struct packet_processor *c, struct packet *p, uint32_t number)
{
    bool waits_for_all = packet_type(p) == AQL_BARRIER_AND;
    uint64_t named_signal = 0;
    while (p->dependency < AQL_DEPENDENCIES && !p->aql.barrier.dependency[p->dependency])
        p->dependency++;
    if (p->dependency < AQL_DEPENDENCIES)
        return send_read(c, p, number, p->aql.barrier.dependency[p->dependency] + AQL_SIGNAL_VALUE,
                         8);
    for (unsigned i = 0; i < AQL_DEPENDENCIES && !named_signal; i++)
        named_signal = p->aql.barrier.dependency[i];
    if (!waits_for_all && named_signal) {
        packet_wait(c, p, named_signal);
        return true;
    }
    packet_acquire(c, p);
    return true;
}

static void depend_answer(struct packet_processor *c, struct packet *p, const void *data)
{
    bool waits_for_all = packet_type(p) == AQL_BARRIER_AND;
    memcpy(&p->value, data, sizeof p->value);
    p->is_under_way = false;
    if (waits_for_all && p->value)
        packet_wait(c, p, p->aql.barrier.dependency[p->dependency]);
    else if (!waits_for_all && !p->value)
        packet_acquire(c, p);
    else
        p->dependency++;
}

static bool acquire_send(struct packet_processor *c, struct packet *p, uint32_t number)
{
    return needs_invalidate(c, p) ? send_invalidate(c, p, number) : send_flush(c, p, number);
}

static void acquire_answer(struct packet_processor *c, struct packet *p, const void *data)
{
    (void)data;
    packet_acquired(c, p);
}

static bool descriptor_send(struct packet_processor *c, struct packet *p, uint32_t number)
{
    return send_read(c, p, number, p->aql.dispatch.kernel_object, sizeof p->descriptor);
}

static void descriptor_answer(struct packet_processor *c, struct packet *p, const void *data)
{
    (void)c;
    memcpy(&p->descriptor, data, sizeof p->descriptor);
    packet_enter(p, p->aql.dispatch.private_bytes ? PACKET_SCRATCH : PACKET_LAUNCH);
}

static void running_answer(struct packet_processor *c, struct packet *p, const void *data)
{
    (void)data;
    c->running_kernels--;
    if (p->scratch)
        packet_enter(p, PACKET_UNUSED);
    else
        packet_end(c, p);
}

static bool unused_send(struct packet_processor *c, struct packet *p, uint32_t number)
{
    (void)number;
    if (!send_unused(c, p))
        return false;
    packet_end(c, p);
    return true;
}

static void release_answer(struct packet_processor *c, struct packet *p, const void *data)
{
    (void)data;
    packets_retry(c);
    if (program_has_peers(packet_processor_program(c)))
        packet_enter(p, PACKET_RELEASE_PEERS);
    else
        packet_complete(p);
}

static void signal_answer(struct packet_processor *c, struct packet *p, const void *data)
{
    memcpy(&p->value, data, sizeof p->value);
    p->value--;
    c->io.stats.signals++;
    packets_retry(c);
    packet_enter(p, PACKET_INTERRUPT);
}

static bool retire_send(struct packet_processor *c, struct packet *p, uint32_t number)
{
    static const uint16_t over = AQL_INVALID;
    return send_write(c, p, number, packet_address(c, p), &over, sizeof over);
}

static void retire_answer(struct packet_processor *c, struct packet *p, const void *data)
{
    (void)c, (void)data;
    packet_enter(p, PACKET_ADVANCE);
}

/* The place in the ring is free. The read index goes to the oldest packet that is not over, unless
 * that packet will move it. */
static bool advance_send(struct packet_processor *c, struct packet *p, uint32_t number)
{
    struct user_queue *q = queue_at(c, p->queue);
    uint64_t oldest = q->next_packet;
    if (q->is_advancing)
        return false;
    for (uint32_t i = 0; i < c->packet_count; i++) {
        const struct packet *candidate = packet_at(c, i);
        if (candidate != p && candidate->phase != PACKET_FREE && candidate->queue == p->queue
            && candidate->number < oldest)
            oldest = candidate->number;
    }
    if (oldest <= q->read_index) {
        packet_free(c, p);
        return true;
    }
    bool sent = send_write(c, p, number, q->base + (uint64_t)q->packets * AQL_PACKET_BYTES, &oldest,
                           sizeof oldest);
    if (p->phase == PACKET_ADVANCE && p->is_under_way) {
        q->read_index = oldest;
        q->is_advancing = true;
    }
    return sent;
}

static void advance_answer(struct packet_processor *c, struct packet *p, const void *data)
{
    (void)data;
    queue_at(c, p->queue)->is_advancing = false;
    packet_free(c, p);
}

/* A phase without send() has its command under way from the beginning. A phase without answer()
 * sends none, or its answer comes from the driver (packet_processor.c). */
static const struct packet_steps {
    const char *text; /* the packet's activity, in reports */
    bool (*send)(struct packet_processor *c, struct packet *p, uint32_t number);
    void (*answer)(struct packet_processor *c, struct packet *p, const void *data);
} packet_steps[] = {
    [PACKET_FETCH] = {"is fetched", fetch_send, fetch_answer},
    [PACKET_EARLIER] = {"waits for those before it", earlier_send, NULL},
    [PACKET_DEPEND] = {"reads a signal", depend_send, depend_answer},
    [PACKET_ACQUIRE] = {"acquires", acquire_send, acquire_answer},
    [PACKET_DESCRIPTOR] = {"reads its descriptor", descriptor_send, descriptor_answer},
    [PACKET_SCRATCH] = {"waits for private memory", send_scratch, NULL},
    [PACKET_LAUNCH] = {"waits for a dispatcher", send_launch, NULL},
    [PACKET_RUNNING] = {"runs", NULL, running_answer},
    [PACKET_UNUSED] = {"gives private memory back", unused_send, NULL},
    [PACKET_RELEASE] = {"flushes", send_flush, release_answer},
    [PACKET_RELEASE_PEERS] = {"waits for other GPUs' caches", send_release, NULL},
    [PACKET_SIGNAL] = {"changes its signal", send_signal, signal_answer},
    [PACKET_INTERRUPT] = {"tells the driver", send_interrupt, NULL},
    [PACKET_RETIRE] = {"frees its place", retire_send, retire_answer},
    [PACKET_ADVANCE] = {"moves the read index", advance_send, advance_answer},
};

static const char *packet_activity(const struct packet *p)
{
    return packet_steps[p->phase].text;
}

/* One step of a packet whose phase has no command under way. True: something happened. */
static bool packet_step(struct packet_processor *c, uint32_t number)
{
    struct packet *p = packet_at(c, number);
    const struct user_queue *q = queue_at(c, p->queue);
    if (packet_is_front(p) && (q->is_dying || q->error)) {
        if (p->scratch)
            return send_unused(c, p);
        packet_free(c, p);
        return true;
    }
    if (!packet_steps[p->phase].send)
        bug("packet processor: a packet in phase %u has nothing to do", p->phase);
    return packet_steps[p->phase].send(c, p, number);
}

/* The command of the packet's phase is answered; `data`: what was read. */
static void packet_answer(struct packet_processor *c, struct packet *p, const void *data)
{
    if (!packet_steps[p->phase].answer)
        bug("packet processor: an answer in phase %u", p->phase);
    packet_steps[p->phase].answer(c, p, data);
}
