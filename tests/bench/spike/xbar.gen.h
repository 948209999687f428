/* Component xbar, ports of protocol any: written by hand in the form that the generator emits. */
#ifndef SPIKE_XBAR_GEN_H
#define SPIKE_XBAR_GEN_H

#include <string.h>

#include "runtime/engine.h"
#include "runtime/hang.h"
#include "runtime/platform.h"
#include "runtime/ring.h"
#include "runtime/stat.h"
#include "runtime/unit.h"

struct xbar_stats {
    uint64_t requests;
    uint64_t replies;
};

struct xbar_io {
    struct component base;
    uint32_t from_count, from_first;
    uint32_t to_count, to_first;
    struct xbar_stats stats;
};

struct xbar;

static inline struct xbar_io *xbar_io(const struct xbar *c)
{
    return (struct xbar_io *)(uintptr_t)c;
}

static inline struct xbar_stats *xbar_stats(struct xbar *c)
{
    return &xbar_io(c)->stats;
}

static inline uint64_t xbar_now(const struct xbar *c)
{
    return component_now(&xbar_io(c)->base);
}

/* in from[] : any */
static inline uint32_t xbar_from_count(const struct xbar *c)
{
    return xbar_io(c)->from_count;
}

static inline uint32_t xbar_from_first_pending(const struct xbar *c)
{
    (void)c;
    return 0;
}

static inline uint32_t xbar_from_request_ring(const struct xbar *c, uint32_t i)
{
    return engine.port_rings[2 * (xbar_io(c)->from_first + i)];
}

static inline uint32_t xbar_from_reply_ring(const struct xbar *c, uint32_t i)
{
    return engine.port_rings[2 * (xbar_io(c)->from_first + i) + 1];
}

static inline const struct message *xbar_from_peek(const struct xbar *c, uint32_t i)
{
    return ring_peek(xbar_from_request_ring(c, i), xbar_now(c));
}

static inline void *xbar_from_payload(const struct xbar *c, uint32_t i)
{
    return ring_peek_payload(xbar_from_request_ring(c, i));
}

static inline void xbar_from_pop(struct xbar *c, uint32_t i)
{
    ring_pop(xbar_from_request_ring(c, i), xbar_now(c));
}

static inline bool xbar_from_can_reply(struct xbar *c, uint32_t i)
{
    return ring_can_send(xbar_from_reply_ring(c, i), xbar_now(c));
}

/* What a message of this ring costs and is answered by, from the tables. */
static inline const struct platform_message *xbar_message(uint32_t ring, const struct message *m)
{
    const struct platform_ring *r = &engine.platform->rings[ring];
    const struct platform_protocol *p = &engine.platform->protocols[r->protocol];
    return &engine.platform->messages[p->first_message + message_kind(m)
                                      + (r->is_reply ? p->request_count : 0)];
}

static inline void xbar_pass(uint32_t ring, uint64_t now, const struct message *m,
                             const void *payload, uint16_t tag)
{
    const struct platform_message *kind = xbar_message(ring, m);
    struct message *to = ring_next(ring);
    memcpy(to->fields, m->fields, sizeof to->fields);
    to->tag = tag;
    if (kind->payload_bytes)
        memcpy(ring_next_payload(ring), payload, kind->payload_bytes);
    ring_send(ring, now, message_kind(m), kind->wire_bytes, kind->awaited);
}

static inline void xbar_from_forward_reply(struct xbar *c, uint32_t i, const struct message *m,
                                           const void *payload, uint16_t tag)
{
    xbar_pass(xbar_from_reply_ring(c, i), xbar_now(c), m, payload, tag);
}

/* out to[] : any */
static inline uint32_t xbar_to_count(const struct xbar *c)
{
    return xbar_io(c)->to_count;
}

static inline uint32_t xbar_to_first_pending(const struct xbar *c)
{
    return xbar_io(c)->from_count;
}

static inline uint32_t xbar_to_request_ring(const struct xbar *c, uint32_t j)
{
    return engine.port_rings[2 * (xbar_io(c)->to_first + j)];
}

static inline uint32_t xbar_to_reply_ring(const struct xbar *c, uint32_t j)
{
    return engine.port_rings[2 * (xbar_io(c)->to_first + j) + 1];
}

static inline bool xbar_to_can_send(struct xbar *c, uint32_t j)
{
    return ring_can_send(xbar_to_request_ring(c, j), xbar_now(c));
}

static inline void xbar_to_forward(struct xbar *c, uint32_t j, const struct message *m,
                                   const void *payload, uint16_t tag)
{
    xbar_pass(xbar_to_request_ring(c, j), xbar_now(c), m, payload, tag);
}

static inline const struct message *xbar_to_peek_reply(const struct xbar *c, uint32_t j)
{
    return ring_peek(xbar_to_reply_ring(c, j), xbar_now(c));
}

static inline void *xbar_to_reply_payload(const struct xbar *c, uint32_t j)
{
    return ring_peek_payload(xbar_to_reply_ring(c, j));
}

static inline void xbar_to_pop_reply(struct xbar *c, uint32_t j)
{
    ring_pop(xbar_to_reply_ring(c, j), xbar_now(c));
}

#endif
