/* Rings: how messages travel.
 *
 * A connection is two rings, requests one way and replies the other. A ring belongs to one sender
 * and one receiver. Each slot carries a stamp: while the slot is full, the cycle from which the
 * receiver may see the message; while it is empty, the cycle from which the sender may use the slot
 * again (credit). So a message sent at t is visible at t + latency, space freed at t is known to
 * the sender at t + latency, and no order of ticks inside a cycle can change what any of them sees.
 * Cycles are those of the clock of the stamp's reader.
 *
 * A message is a header of 32 bytes: the stamp (8), up to 22 bytes of fields, a tag (2). The tag is
 * chosen by the requester and returned with the reply. Payload, where the protocol declares data,
 * lies after it.
 *
 * All functions are called from inside a tick of the sender or receiver. `limit` is that of the
 * caller's present cycle: component.limit, or ring_limit().
 */
#ifndef HEDDLE_RUNTIME_LINK_RING_H
#define HEDDLE_RUNTIME_LINK_RING_H

#include "base/likely.h"
#include "runtime/engine/engine.h"

#define RING_NONE        UINT32_MAX /* an optional port that is not connected */
#define RING_FIELD_BYTES 22

/* stamp: bits 8..15 kind, bits 16..62 cycle, bit 63 full. So either end finds out with one
 * comparison whether a slot is its own to use: with the limit of the present cycle, which
 * components keep instead of the cycle itself (component.limit). The low bits of an empty slot's
 * stamp mean nothing. */
#define RING_FULL    ((uint64_t)1 << 63)
/* The cycle of a message that still waits for a shared wire. */
#define RING_UNKNOWN (((uint64_t)1 << 47) - 1)

struct message {
    uint64_t stamp;
    uint8_t fields[RING_FIELD_BYTES];
    uint16_t tag;
};
_Static_assert(sizeof(struct message) == 32, "a message header is half a cache line");

static inline unsigned message_kind(const void *m)
{
    return ((const uint8_t *)m)[1];
}

static inline uint64_t message_cycle_of(uint64_t stamp)
{
    return stamp << 1 >> 17;
}

static inline uint64_t message_cycle(const struct message *m)
{
    return message_cycle_of(m->stamp);
}

/* Two threads at once look at a ring between two shards. A message that is sent or freed in a
 * window counts in a later one, so the old stamp and the new one mean the same to a thread that
 * reads it now. */
static inline uint64_t message_stamp(const struct message *m)
{
    return __atomic_load_n(&m->stamp, __ATOMIC_RELAXED);
}

static inline void message_set_stamp(struct message *m, uint64_t stamp)
{
    __atomic_store_n(&m->stamp, stamp, __ATOMIC_RELAXED);
}

/* The largest stamp of an empty slot that may be used in cycle `now`; with RING_FULL, of a message
 * that can be seen. */
static inline uint64_t ring_limit(uint64_t now)
{
    return now << 16 | 0xffff;
}

/* True if the sender of a ring waits for room: for one message, or for a second one. */
enum ring_wait { RING_WAITS_NOT, RING_WAITS, RING_WAITS_FOR_TWO };

/* Not 0: ring_put() does all that a message takes. A narrow ring uses fewer slots than its depth,
 * so that they stay in the host's caches, and gets more when its sender finds none free:
 * ring_refused(). So it refuses when a whole one would. */
enum ring_simple { RING_NOT_SIMPLE, RING_WHOLE, RING_NARROW };

/* 64 bytes: one cache line. A slot is a header and the payload right after it. Slots are named by
 * their arena offset (units of 8 bytes), so that finding header or payload takes no multiplication.
 */
struct ring {
    uint64_t ahead;      /* simple: what makes the limit of now the stamp of a message sent now */
    uint64_t sent;       /* limit of the last cycle in which something was sent */
    uint64_t messages;   /* sent */
    uint32_t head;       /* receiver: slot of the oldest message */
    uint32_t tail;       /* sender: slot of the next message */
    uint32_t first;      /* the first slot; the others follow, `step` apart */
    uint32_t end;        /* where the last slot in use ends; a narrow ring has more after it */
    uint32_t awaited;    /* messages sent that will be answered, modulo 2^32 */
    uint32_t mark;       /* the receiver's, for arrivals: engine_mark_of() */
    uint32_t pending_at; /* arena offset of the word of the receiver's pending bits */
    uint16_t latency;    /* cycles; 0: ask the engine (link, clocks differ, or more than fits) */
    uint16_t step;       /* size of a slot, in units of 8 bytes */
    uint16_t width;      /* messages a cycle */
    uint16_t burst;      /* messages sent in cycle `sent` */
    uint8_t pending_bit;
    uint8_t receiver_domain;
    uint8_t simple;       /* within the marks of arrivals, and not traced: enum ring_simple */
    uint8_t sender_waits; /* was refused: wake it when a slot is freed; RING_WAITS_... */
};
_Static_assert(sizeof(struct ring) == 64, "a ring's control block is one cache line");

#define RING_HEADER (sizeof(struct message) / ARENA_UNIT) /* payload after the slot's offset */

static inline struct ring *ring_at(uint32_t number)
{
    return arena_at(struct ring, ENGINE_RINGS) + number;
}

/* The ring by its place, an arena offset, which costs less to find: what a component's words for
 * single ports hold. Tables and arrays of ports have numbers. */
static inline uint32_t ring_place_of(uint32_t number)
{
    return ENGINE_RINGS + number * (uint32_t)(sizeof(struct ring) / ARENA_UNIT);
}

static inline struct ring *ring_placed(uint32_t place)
{
    return arena_at(struct ring, place);
}

static inline uint32_t ring_number(uint32_t place)
{
    return place == RING_NONE
               ? RING_NONE
               : (place - ENGINE_RINGS) / (uint32_t)(sizeof(struct ring) / ARENA_UNIT);
}

static inline struct message *ring_slot(uint32_t slot)
{
    return arena_at(struct message, slot);
}

static inline void *ring_payload(uint32_t slot)
{
    return arena_at(char, slot + RING_HEADER);
}

static inline uint32_t ring_after(const struct ring *r, uint32_t slot)
{
    slot += r->step;
    return slot == r->end ? r->first : slot;
}

/* Pipelines of the ends of ring `number`, so that neither is woken in between. From a component's
 * init function only; what both ends ask for adds up, and the way of credits stays as it is.
 *
 * The receiver looks at a message only `cycles` after it has arrived: it becomes visible that much
 * later, and keeps its slot meanwhile. */
void ring_add_delay(uint32_t number, uint32_t cycles);
/* The sender has decided what to send `cycles` before it leaves, and sends it at once: it becomes
 * visible that much later. The ring is made deeper by what is in the sender's pipeline then. */
void ring_add_pipeline(uint32_t number, uint32_t cycles);

/* The component that sends, by id. */
uint32_t ring_sender(const struct ring *r);
/* Clock domains of a ring's ends, also where they are of another rank. */
uint32_t ring_sender_domain(const struct ring *r);
uint32_t ring_receiver_domain(const struct ring *r);

/* Bytes a second of the link that it crosses; 0: it crosses none, or there is no limit. */
uint64_t ring_link_bandwidth(const struct ring *r);

/* Slow paths, in ring.c. */

/* For a sender that finds no free slot, or has used up its cycle: makes a narrow ring wider and
 * returns true when there is room then, or notes that the sender waits, or when to wake it. */
bool ring_refused(struct ring *r, uint64_t limit);
/* Over a link or between clocks: cycle of the sender in which it knows of a slot freed now. */
uint64_t ring_credit_return(const struct ring *r);
void ring_wake_sender(struct ring *r, uint64_t cycle);
/* The message that a drop has brought to the head is seen from `cycle` on. */
void ring_head_waits(struct ring *r, uint64_t limit, uint64_t cycle);

/* Sending and receiving by pointer, for callers that use a looked-up ring several times; the
 * functions at the end of this file do the same by the ring's place. */

/* A ring that is empty, and whose sender knows of all room, begins again with its first slot: which
 * slots messages take makes no difference to anybody, and those used last are in the host's caches.
 * Of a ring between shards the halves never meet, so it goes round. */
static inline void ring_begin_again(struct ring *r, uint64_t limit)
{
    if (r->head == r->tail && r->tail != r->first
        && message_stamp(ring_slot(r->tail - r->step)) <= limit)
        r->head = r->tail = r->first;
}

/* Asks for room for one more message in this cycle. False: there is none, and the sender is woken
 * as soon as there is. */
static inline bool ring_ask_room(struct ring *r, uint64_t limit)
{
    uint64_t stamp = message_stamp(ring_slot(r->tail));
    if (stamp <= limit && (r->sent < limit || r->burst < r->width)) {
        ring_begin_again(r, limit);
        return true;
    }
    if (stamp & RING_FULL && r->simple == RING_WHOLE)
        r->sender_waits = RING_WAITS;
    else if (r->sender_waits != RING_WAITS)
        return ring_refused(r, limit);
    return false;
}

/* True if the ring has taken as many messages as it takes in a cycle. */
static inline bool ring_has_had_its_cycle(const struct ring *r, uint64_t limit)
{
    return r->sent == limit && r->burst >= r->width;
}

/* True if nothing has come free since the sender was refused a slot. False: unknown. */
static inline bool ring_is_still_full(const struct ring *r)
{
    return r->sender_waits == RING_WAITS;
}

/* Asks for room for one more after the next message, which ring_ask_room() has promised. False:
 * there is none, and the sender is woken as soon as there is. */
bool ring_ask_second(struct ring *r, uint64_t limit);

/* Counts the messages of a cycle. */
static inline void ring_count_sent(struct ring *r, uint64_t limit)
{
    if (likely(r->sent != limit)) {
        r->sent = limit;
        r->burst = 1;
    } else {
        r->burst++;
    }
}

/* ring_put() for every ring. */
void ring_put_any(struct ring *r, uint64_t limit, unsigned kind, unsigned wire_bytes,
                  unsigned awaited);
/* ring_put_any() at the cost that the platform's tables give for a message of this kind. */
void ring_post_any(struct ring *r, uint64_t limit, unsigned kind, unsigned awaited);

/* ring_put() for a ring with nothing but a latency between its ends. */
static inline void ring_put_simple(struct ring *r, uint64_t limit, unsigned kind, unsigned awaited)
{
    uint64_t stamp = limit + r->ahead + (kind << 8);
    uint32_t slot = r->tail;
    message_set_stamp(ring_slot(slot), stamp);
    r->tail = ring_after(r, slot);
    r->messages++;
    r->awaited += awaited;
    ring_count_sent(r, limit);
    uint64_t *pending = arena_at(uint64_t, r->pending_at), bits = *pending,
             with = bits | (uint64_t)1 << r->pending_bit;
    if (with != bits) {
        *pending = with;
        engine_mark_arrival(r->mark, r->receiver_domain, stamp >> 16);
    }
}

/* Sends the slot at the tail. `wire_bytes` is what it costs on a link; `awaited` 1 when it will be
 * answered. */
static inline void ring_put(struct ring *r, uint64_t limit, unsigned kind, unsigned wire_bytes,
                            unsigned awaited)
{
    if (unlikely(!r->simple))
        ring_put_any(r, limit, kind, wire_bytes, awaited);
    else
        ring_put_simple(r, limit, kind, awaited);
}

/* ring_put() at the cost that the platform's tables give. */
static inline void ring_post(struct ring *r, uint64_t limit, unsigned kind, unsigned awaited)
{
    if (unlikely(!r->simple))
        ring_post_any(r, limit, kind, awaited);
    else
        ring_put_simple(r, limit, kind, awaited);
}

/* The oldest message if it is visible, or NULL. */
static inline const struct message *ring_oldest(const struct ring *r, uint64_t limit)
{
    const struct message *m = ring_slot(r->head);
    if ((message_stamp(m) ^ RING_FULL) > limit)
        return NULL;
    if (!m)
        __builtin_unreachable(); /* saves callers the comparison */
    return m;
}

/* For a receiver to which ring_oldest() shows nothing: the cycle before which it will not, however
 * often it looks. 0: unknown. */
static inline uint64_t ring_shows_at(const struct ring *r)
{
    uint64_t stamp = message_stamp(ring_slot(r->head)), cycle = message_cycle_of(stamp);
    return stamp & RING_FULL && cycle != RING_UNKNOWN ? cycle : 0;
}

/* Drops the oldest message, which ring_oldest() returned in this tick. Its slot stays readable
 * until the tick ends. True if the next one is visible, too. */
static inline bool ring_drop(struct ring *r, uint64_t limit)
{
    uint64_t back = r->latency ? limit + ((uint64_t)r->latency << 16) : ring_credit_return(r) << 16;
    uint32_t slot = r->head, next = ring_after(r, slot);
    message_set_stamp(ring_slot(slot), back);
    r->head = next;
    uint64_t stamp = message_stamp(ring_slot(next));
    if (r->sender_waits)
        ring_wake_sender(r, back >> 16);
    if ((stamp ^ RING_FULL) <= limit)
        return true;
    if (!(stamp & RING_FULL))
        *arena_at(uint64_t, r->pending_at) &= ~((uint64_t)1 << r->pending_bit);
    else if (r->simple)
        engine_mark_arrival(r->mark, r->receiver_domain, stamp >> 16);
    else
        ring_head_waits(r, limit, message_cycle_of(stamp));
    return false;
}

/* Sending and receiving by the place of the ring (ring_placed()), as single ports name it. */

static inline bool ring_can_send(uint32_t place, uint64_t limit)
{
    return ring_ask_room(ring_placed(place), limit);
}

/* The slot of the next message; the caller fills its fields. ring_can_send() must hold. */
static inline struct message *ring_next(uint32_t place)
{
    const struct ring *r = ring_placed(place);
    return ring_slot(r->tail);
}

static inline const struct message *ring_peek(uint32_t place, uint64_t limit)
{
    return ring_oldest(ring_placed(place), limit);
}

/* The message after the oldest one, visible or not yet, or NULL: only for fetching what it will
 * need into the host's caches, never for deciding anything. Of another shard, whose thread may be
 * writing it: NULL. */
static inline const struct message *ring_ahead(uint32_t place)
{
    const struct ring *r = ring_placed(place);
    const struct message *m = ring_slot(ring_after(r, r->head));
    return r->simple && m->stamp & RING_FULL ? m : NULL;
}

static inline void *ring_peek_payload(uint32_t place)
{
    return ring_payload(ring_placed(place)->head);
}

static inline void ring_pop(uint32_t place, uint64_t limit)
{
    ring_drop(ring_placed(place), limit);
}

/* Word `word` of the incoming rings of `c` that may hold a message. A hint: the message of a set
 * bit may still be on its way. */
static inline uint64_t component_pending(const struct component *c, unsigned word)
{
    return *arena_at(uint64_t, c->pending_at + word);
}

#endif
