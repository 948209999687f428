/* Helpers of the generated port functions: rings that may be absent, and forwarding of messages
 * whose protocol the component does not know. */
#ifndef HEDDLE_RUNTIME_LINK_PORT_H
#define HEDDLE_RUNTIME_LINK_PORT_H

#include <string.h>

#include "runtime/engine/platform_table.h"

#include "ring.h"

/* The messages of a ring's direction, by kind. */
static inline const struct platform_message *port_messages(uint32_t number)
{
    const struct platform_ring *r = &engine_base.platform->rings[number];
    const struct platform_protocol *p = &engine_base.platform->protocols[r->protocol];
    return engine_base.platform->messages + p->first_message + (r->is_reply ? p->request_count : 0);
}

/* Ring i of an array of ports. */
static inline uint32_t port_place(uint32_t i)
{
    uint32_t number = engine_base.port_rings[i];
    return number == RING_NONE ? RING_NONE : ring_place_of(number);
}

/* An optional port that is not connected never has a message and never takes one. */
static inline const struct message *port_peek_optional(uint32_t place, uint64_t limit)
{
    return place == RING_NONE ? NULL : ring_peek(place, limit);
}

static inline bool port_can_send_optional(uint32_t place, uint64_t limit)
{
    return place != RING_NONE && ring_can_send(place, limit);
}

/* Puts a copy of `m` with its payload into the ring at `place`, under another tag. `messages`
 * describes its direction of the protocol; there must be room. */
static inline void port_forward(uint32_t place, uint64_t limit,
                                const struct platform_message *messages, const struct message *m,
                                const void *payload, uint16_t tag)
{
    struct ring *to = ring_placed(place);
    unsigned kind = message_kind(m);
    struct message *copy = ring_slot(to->tail);
    char *copied = ring_payload(to->tail);
    memcpy(copy->fields, m->fields, RING_FIELD_BYTES);
    copy->tag = tag;
    for (uint32_t at = 0; at < messages[kind].payload_bytes;
         at += 16) /* slots are whole units of 16 */
        memcpy(copied + at, (const char *)payload + at, 16);
    ring_put(to, limit, kind, messages[kind].wire_bytes, messages[kind].awaited);
}

/* Puts a copy of a message of the ring's own protocol into it; there must be room. */
static inline void port_pass_on(uint32_t place, uint64_t limit, const void *m, const void *payload)
{
    const struct message *message = m;
    port_forward(place, limit, port_messages(ring_number(place)), message, payload, message->tag);
}

#endif
