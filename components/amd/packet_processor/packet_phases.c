/* The steps of each phase of a packet: send the phase's command (packet_commands.c), take its
 * answer, enter the next phase. */
#include "packet_processor.gen.h"

#include "packet_state.h"

static void packet_enter(struct packet *p, enum packet_phase phase)
{
    p->phase = (uint8_t)phase;
    p->under_way = 0;
}

/* The packet is no longer in front: the next one of its queue may be fetched. */
static void packet_leave_front(struct packet_processor *c, struct packet *p)
{
    queue_at(c, p->queue)->front = PACKET_NONE;
    c->fronts--;
    c->scheduled = false;
}

static void packet_free(struct packet_processor *c, struct packet *p)
{
    struct user_queue *q = queue_at(c, p->queue);
    if (packet_is_front(p))
        packet_leave_front(c, p);
    q->active--;
    c->used--;
    c->scheduled = false;
    p->phase = PACKET_FREE;
}

/* The queue stops here; packets that run continue. */
static void queue_fail(struct packet_processor *c, struct user_queue *q, enum queue_error error)
{
    if (q->error)
        return;
    q->error = (uint8_t)error;
    c->io.stats.errors++;
    c->scheduled = false;
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
    q->waiting = true;
    q->awaited = signal;
    q->fetched = p->number;
    c->io.stats.waits++;
    packet_free(c, p);
}

/* Signals may have changed: queues that wait look again. */
static void packets_look_again(struct packet_processor *c)
{
    c->events++;
    c->scheduled = false;
}

/* ---- from phase to phase ---- */

static bool needs_flush(const struct packet_processor *c, const struct packet *p, unsigned shift)
{
    return c->dirty && aql_scope(p->aql.dispatch.header, shift) == AQL_SCOPE_SYSTEM;
}

/* True if packets of the queue before it are not over. */
static bool has_earlier(const struct packet_processor *c, const struct packet *p)
{
    if (queue_at(c, p->queue)->active <= 1)
        return false;
    for (uint32_t i = 0; i < c->packet_count; i++) {
        const struct packet *other = packet_at(c, i);
        if (other->phase != PACKET_FREE && other->queue == p->queue && other->number < p->number)
            return true;
    }
    return false;
}

/* True if a barrier packet must have first-level caches invalidated. Before a kernel the command
 * processor does that. */
static bool needs_invalidate(const struct packet_processor *c, const struct packet *p)
{
    return c->dirty && packet_type(p) != AQL_DISPATCH
           && aql_scope(p->aql.dispatch.header, AQL_ACQUIRE_SHIFT) == AQL_SCOPE_AGENT;
}

/* All writes of the packet are visible. Its signal is next, or the interrupt, or it retires. */
static void packet_tell(struct packet *p)
{
    packet_enter(p, packet_completion(p) ? PACKET_SIGNAL
                    : p->released        ? PACKET_INTERRUPT
                                         : PACKET_RETIRE);
}

/* The work of the packet is done. */
static void packet_end(struct packet_processor *c, struct packet *p)
{
    c->io.stats.barriers += packet_type(p) != AQL_DISPATCH;
    if (needs_flush(c, p, AQL_RELEASE_SHIFT)) {
        packet_enter(p, PACKET_RELEASE);
        p->released = true;
    } else {
        packet_tell(p);
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

/* The next signal that a barrier waits for, from `dependency` on; when all were looked at, the
 * barrier is decided. */
static bool packet_depend(struct packet_processor *c, struct packet *p, uint32_t number)
{
    bool every = packet_type(p) == AQL_BARRIER_AND;
    uint64_t any_named = 0;
    while (p->dependency < AQL_DEPENDENCIES && !p->aql.barrier.dependency[p->dependency])
        p->dependency++;
    if (p->dependency < AQL_DEPENDENCIES)
        return send_read(c, p, number, p->aql.barrier.dependency[p->dependency] + AQL_SIGNAL_VALUE,
                         8);
    for (unsigned i = 0; i < AQL_DEPENDENCIES && !any_named; i++)
        any_named = p->aql.barrier.dependency[i];
    if (!every && any_named) {
        packet_wait(c, p, any_named);
        return true;
    }
    packet_acquire(c, p);
    return true;
}

static void packet_depended(struct packet_processor *c, struct packet *p, uint64_t value)
{
    bool every = packet_type(p) == AQL_BARRIER_AND;
    p->under_way = 0;
    if (every && value)
        packet_wait(c, p, p->aql.barrier.dependency[p->dependency]);
    else if (!every && !value)
        packet_acquire(c, p);
    else
        p->dependency++;
}

/* The place in the ring is free. The read index goes to the oldest packet that is not over, unless
 * that packet will move it. */
static bool packet_advance(struct packet_processor *c, struct packet *p, uint32_t number)
{
    struct user_queue *q = queue_at(c, p->queue);
    uint64_t oldest = q->fetched;
    if (q->advancing)
        return false;
    for (uint32_t i = 0; i < c->packet_count; i++) {
        const struct packet *other = packet_at(c, i);
        if (other != p && other->phase != PACKET_FREE && other->queue == p->queue
            && other->number < oldest)
            oldest = other->number;
    }
    if (oldest <= q->read) {
        packet_free(c, p);
        return true;
    }
    bool sent = send_write(c, p, number, q->base + (uint64_t)q->packets * AQL_PACKET_BYTES, &oldest,
                           sizeof oldest);
    if (p->phase == PACKET_ADVANCE && p->under_way) {
        q->read = oldest;
        q->advancing = true;
    }
    return sent;
}

/* One step of a packet whose phase has no command under way. True: something happened. */
static bool packet_step(struct packet_processor *c, uint32_t number)
{
    static const uint16_t over = AQL_INVALID;
    struct packet *p = packet_at(c, number);
    const struct user_queue *q = queue_at(c, p->queue);
    if (packet_is_front(p) && (q->dying || q->error)) {
        if (p->scratch)
            return send_unused(c, p);
        packet_free(c, p);
        return true;
    }
    switch ((enum packet_phase)p->phase) {
    case PACKET_FETCH:
        return send_read(c, p, number, packet_address(c, p), AQL_PACKET_BYTES);
    case PACKET_EARLIER:
        if ((p->aql.dispatch.header & AQL_BARRIER) && has_earlier(c, p))
            return false;
        if (packet_type(p) == AQL_DISPATCH)
            packet_acquire(c, p);
        else
            packet_enter(p, PACKET_DEPEND);
        p->dependency = 0;
        return true;
    case PACKET_ACQUIRE:
        return needs_invalidate(c, p) ? send_invalidate(c, p, number) : send_flush(c, p, number);
    case PACKET_RELEASE:
        return send_flush(c, p, number);
    case PACKET_RELEASE_PEERS:
        return send_release(c, p, number);
    case PACKET_DEPEND:
        return packet_depend(c, p, number);
    case PACKET_DESCRIPTOR:
        return send_read(c, p, number, p->aql.dispatch.kernel_object, sizeof p->descriptor);
    case PACKET_SCRATCH:
        return send_scratch(c, p, number);
    case PACKET_LAUNCH:
        return send_launch(c, p, number);
    case PACKET_UNUSED:
        if (!send_unused(c, p))
            return false;
        packet_end(c, p);
        return true;
    case PACKET_SIGNAL:
        return send_signal(c, p, number);
    case PACKET_INTERRUPT:
        return send_interrupt(c, p);
    case PACKET_RETIRE:
        return send_write(c, p, number, packet_address(c, p), &over, sizeof over);
    case PACKET_ADVANCE:
        return packet_advance(c, p, number);
    default:
        bug("packet processor: a packet in phase %u has nothing to do", p->phase);
    }
}

/* The command of the packet's phase is answered; `data`: what was read. */
static void packet_answer(struct packet_processor *c, struct packet *p, const void *data)
{
    struct user_queue *q = queue_at(c, p->queue);
    switch ((enum packet_phase)p->phase) {
    case PACKET_FETCH:
        memcpy(p->aql.bytes, data, AQL_PACKET_BYTES);
        packet_check(c, p);
        return;
    case PACKET_ACQUIRE:
        packet_acquired(c, p);
        return;
    case PACKET_DEPEND:
        memcpy(&p->value, data, sizeof p->value);
        packet_depended(c, p, p->value);
        return;
    case PACKET_DESCRIPTOR:
        memcpy(&p->descriptor, data, sizeof p->descriptor);
        packet_enter(p, p->aql.dispatch.private_bytes ? PACKET_SCRATCH : PACKET_LAUNCH);
        return;
    case PACKET_RUNNING:
        c->kernels--;
        if (p->scratch)
            packet_enter(p, PACKET_UNUSED);
        else
            packet_end(c, p);
        return;
    case PACKET_RELEASE:
        packets_look_again(c);
        if (program_has_peers(packet_processor_program(c)))
            packet_enter(p, PACKET_RELEASE_PEERS);
        else
            packet_tell(p);
        return;
    case PACKET_SIGNAL:
        memcpy(&p->value, data, sizeof p->value);
        p->value--;
        c->io.stats.signals++;
        packets_look_again(c);
        packet_enter(p, PACKET_INTERRUPT);
        return;
    case PACKET_RETIRE:
        packet_enter(p, PACKET_ADVANCE);
        return;
    case PACKET_ADVANCE:
        q->advancing = false;
        packet_free(c, p);
        return;
    default:
        bug("packet processor: an answer in phase %u", p->phase);
    }
}
