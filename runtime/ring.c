/* The slow paths of rings: refusals, clock crossings, links.
 *
 * Times over a link: start = max(now, when the link is free), + bytes / bandwidth, + latency, then
 * the next edge of the receiver. "Free" is kept as a fraction (whole picoseconds and a remainder
 * over the bandwidth), so long streams do not drift. A wire between clocks counts its latency in
 * cycles of the server, the receiver of the requests, from the first server edge at or after the
 * sending; towards the requester it ends at the requester's next edge. Whatever it crosses, a
 * message or a credit is seen at an edge strictly later than its sending.
 *
 * A half of a link with several rings (`via shared`) is granted at the end of the step, in order of
 * ring numbers, so that the order of ticks cannot matter; until then its messages carry
 * RING_UNKNOWN. */
#include "ring.h"

#include "bug.h"
#include "setup.h"

__extension__ typedef unsigned __int128 wide;

#define PS_PER_S ((uint64_t)1000000000000)

/* What a ring's control block has no room for and fast paths do not need. */
struct route {
    uint32_t latency; /* cycles of the server; wires only */
    uint8_t sender_domain;
    uint8_t receiver_domain;
    bool is_reply;
    uint8_t half;        /* of the link */
    uint16_t sent_now;   /* rings that take several messages a cycle: sent in sent_cycle */
    uint64_t sent_cycle; /* 1 + cycle of the last send */
};

struct half {
    uint64_t free_ps;
    uint64_t fraction; /* in 1 / bandwidth ps */
    uint32_t rings;
    struct ring_link_use use;
};

struct link {
    uint64_t bandwidth;
    uint64_t latency_ps;
    struct half halves[2];
};

struct granted_later {
    uint32_t ring;
    uint32_t slot;
    uint32_t bytes;
};

static struct route *routes;
static struct link *links;
static uint32_t ring_count;
static struct granted_later *waiting;
static uint32_t waiting_count;

static const struct route *route_of(const struct ring *r)
{
    return &routes[r - engine.rings];
}

static uint64_t later(uint64_t cycle, uint32_t domain)
{
    uint64_t least = engine_cycle_at(domain, engine.time_ps + 1);
    return cycle > least ? cycle : least;
}

/* From an edge at the present time to `target`, by a wire whose latency counts in cycles of
 * `server`. */
static uint64_t cross_wire(uint32_t latency, uint32_t server, uint32_t target)
{
    uint64_t cycle = engine_cycle_at(server, engine.time_ps) + latency;
    if (server != target)
        cycle = engine_cycle_at(target, engine_time_of(server, cycle));
    return later(cycle, target);
}

static uint64_t cross_link(const struct ring *r, uint32_t bytes)
{
    const struct route *route = route_of(r);
    struct link *l = &links[r->link - 1];
    struct half *h = &l->halves[route->half];
    h->use.messages++;
    h->use.bytes += bytes;
    if (engine.time_ps > h->free_ps) {
        h->free_ps = engine.time_ps;
        h->fraction = 0;
    }
    if (l->bandwidth) {
        wide work = (wide)bytes * PS_PER_S + h->fraction;
        h->free_ps += (uint64_t)(work / l->bandwidth);
        h->fraction = (uint64_t)(work % l->bandwidth);
    }
    uint64_t end_ps = h->free_ps + (h->fraction != 0) + l->latency_ps;
    return later(engine_cycle_at(route->receiver_domain, end_ps), route->receiver_domain)
           + r->delay;
}

/* Over a link or between clocks: cycle of the receiver in which a message sent now is seen. */
static uint64_t arrival(struct ring *r, uint32_t bytes)
{
    const struct route *route = route_of(r);
    if (!r->link) {
        uint32_t server = route->is_reply ? route->sender_domain : route->receiver_domain;
        return cross_wire(route->latency, server, route->receiver_domain) + r->delay;
    }
    if (links[r->link - 1].halves[route->half].rings == 1)
        return cross_link(r, bytes);
    waiting[waiting_count++] = (struct granted_later){(uint32_t)(r - engine.rings), r->tail, bytes};
    engine_ask_step_end();
    return RING_UNKNOWN;
}

uint64_t ring_credit_return(const struct ring *r)
{
    const struct route *route = route_of(r);
    if (!r->link) {
        uint32_t server = route->is_reply ? route->sender_domain : route->receiver_domain;
        return cross_wire(route->latency, server, route->sender_domain);
    }
    uint64_t back =
        engine_cycle_at(route->sender_domain, engine.time_ps + links[r->link - 1].latency_ps);
    return later(back, route->sender_domain);
}

void ring_settle_links(void)
{
    /* Insertion sort by ring, stable: a handful of entries, and those of a ring stand in order of
     * sending. */
    for (uint32_t i = 1; i < waiting_count; i++) {
        struct granted_later moved = waiting[i];
        uint32_t j = i;
        for (; j && waiting[j - 1].ring > moved.ring; j--)
            waiting[j] = waiting[j - 1];
        waiting[j] = moved;
    }
    for (uint32_t i = 0; i < waiting_count; i++) {
        struct ring *r = ring_at(waiting[i].ring);
        struct message *m = ring_slot(waiting[i].slot);
        uint64_t ready = cross_link(r, waiting[i].bytes);
        m->stamp = ready << 16 | (m->stamp & 0xffff);
        engine_arrives_far(r->receiver, ready);
        if (engine_unlikely(engine.tracing))
            ring_trace(r, m);
    }
    waiting_count = 0;
}

/* Counts the messages of a cycle. */
static void count_sent(struct ring *r, uint64_t now)
{
    struct route *route = &routes[r - engine.rings];
    if (route->sent_cycle != now + 1) {
        route->sent_cycle = now + 1;
        route->sent_now = 0;
    }
    if (++route->sent_now == r->width)
        r->full_cycle = (uint32_t)(now + 1);
}

void ring_send_any(struct ring *r, uint64_t now, unsigned kind, unsigned wire_bytes,
                   unsigned awaited)
{
    struct message *m = ring_slot(r->tail);
    uint32_t ahead = r->latency + r->delay;
    uint64_t ready = r->latency ? now + ahead : arrival(r, wire_bytes);
    m->stamp = ready << 16 | kind << 8 | RING_FULL;
    r->tail = ring_after(r, r->tail);
    r->messages++;
    r->awaited += awaited;
    count_sent(r, now);
    engine.pending[r->pending_word] |= (uint64_t)1 << r->pending_bit;
    if (!r->latency || ahead >= ENGINE_NEAR)
        engine_arrives_far(r->receiver, ready);
    else if (ahead == 1)
        engine_wake_next(r->receiver);
    else
        engine_mark_arrival(r->receiver, r->receiver_domain, ready);
    if (engine_unlikely(engine.tracing))
        ring_trace(r, m);
}

static void find_simple(struct ring *r)
{
    r->simple = r->width == 1 && r->latency && r->latency + r->delay < ENGINE_NEAR;
}

void ring_set_delay(uint32_t number, uint32_t delay)
{
    if (delay > UINT16_MAX)
        bug("ring %u: a delay of %u cycles", number, delay);
    ring_at(number)->delay = (uint16_t)delay;
    find_simple(ring_at(number));
}

void ring_refused(struct ring *r, uint64_t now)
{
    uint64_t stamp = ring_slot(r->tail)->stamp;
    if (stamp & RING_FULL)
        r->sender_waits = 1;
    else
        component_wake_at(engine.components[r->sender], stamp >> 16 > now ? stamp >> 16 : now + 1);
}

void ring_wake_sender(struct ring *r, uint64_t cycle)
{
    r->sender_waits = 0;
    if (r->latency == 1)
        engine_wake_next(r->sender);
    else
        engine_wake_later(r->sender, cycle);
}

uint64_t engine_messages(void)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < ring_count; i++)
        sum += engine.rings[i].messages;
    return sum;
}

const struct ring_link_use *ring_link_use(uint32_t link, unsigned half)
{
    struct link *l = &links[link];
    struct ring_link_use *use = &l->halves[half].use;
    use->busy_ps = l->bandwidth ? (uint64_t)((wide)use->bytes * PS_PER_S / l->bandwidth) : 0;
    return use;
}

/* ---- start ---- */

static void open_ring(const struct platform_table *table, uint32_t number)
{
    const struct platform_ring *p = &table->rings[number];
    struct ring *r = &engine.rings[number];
    struct route *route = &routes[number];
    uint32_t receiver = platform_component(p->receiver)->id;
    uint32_t sender = platform_component(p->sender)->id;
    route->latency = p->latency;
    route->is_reply = p->is_reply;
    route->sender_domain = (uint8_t)engine.components[sender]->domain;
    route->receiver_domain = (uint8_t)engine.components[receiver]->domain;
    r->width = (uint16_t)p->width;
    r->stride = (uint16_t)(p->payload_bytes / 16);
    r->link = (uint16_t)p->link;
    r->latency = p->link || route->sender_domain != route->receiver_domain ? 0 : p->latency;
    find_simple(r);
    r->receiver_domain = route->receiver_domain;
    r->sender = sender;
    r->receiver = receiver;
    r->pending_word = engine.components[receiver]->pending + p->pending / 64;
    r->pending_bit = (uint8_t)(p->pending % 64);
    r->first = arena_allocate(p->depth * sizeof(struct message));
    r->end = r->first + p->depth * (uint32_t)RING_SLOT;
    r->payload = p->payload_bytes ? arena_allocate((size_t)p->depth * p->payload_bytes) : 0;
    r->head = r->first;
    r->tail = r->first;
    if (p->link) {
        route->half = table->links[p->link - 1].shared ? 0 : (uint8_t)p->is_reply;
        links[p->link - 1].halves[route->half].rings++;
    }
}

void ring_open(const struct platform_table *table)
{
    size_t slots = 0;
    ring_count = table->ring_count;
    engine.rings = arena_at(struct ring, arena_allocate(ring_count * sizeof(struct ring)));
    routes = arena_at(struct route, arena_allocate(ring_count * sizeof *routes));
    links = arena_at(struct link, arena_allocate(table->link_count * sizeof *links));
    for (uint32_t i = 0; i < table->link_count; i++) {
        links[i].bandwidth = table->links[i].bandwidth_bytes_per_s;
        links[i].latency_ps = table->links[i].latency_ps;
    }
    for (uint32_t i = 0; i < ring_count; i++) {
        open_ring(table, i);
        slots += table->rings[i].depth;
    }
    waiting = arena_at(struct granted_later, arena_allocate(slots * sizeof *waiting));
    waiting_count = 0;
}
