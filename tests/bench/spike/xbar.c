/* Every input to every output, routed by the platform's space. An output takes one request a cycle,
 * an input one reply; who goes first turns with the cycle. A message is looked at once, when it has
 * become the oldest of its source, and entered in the bitmap of its target, so a cycle costs as
 * much as messages pass, not as many as wait. Requests get a tag of the crossbar's own, which leads
 * the reply back. */
#include "xbar.gen.h"

#define TRANSITS 4096
#define PORTS    64

struct transit {
    uint16_t input;
    uint16_t tag;
};

/* One direction: from sources to targets. */
struct side {
    uint64_t known;         /* sources whose oldest message is in `wanted` */
    uint64_t busy;          /* targets that are wanted */
    uint64_t wanted[PORTS]; /* by target: sources */
};

struct xbar {
    struct xbar_io io;
    uint32_t transits; /* arena */
    uint32_t free;     /* arena: stack of free transit numbers */
    uint32_t free_count;
    struct side sides[2]; /* requests, replies */
};

static void xbar_init(struct xbar *c)
{
    c->transits = arena_allocate(TRANSITS * sizeof(struct transit));
    c->free = arena_allocate(TRANSITS * sizeof(uint16_t));
    c->free_count = TRANSITS;
    if (xbar_from_count(c) > PORTS || xbar_to_count(c) > PORTS)
        engine_fail(&c->io.base, "more than %d ports", PORTS);
    for (uint32_t i = 0; i < TRANSITS; i++)
        arena_at(uint16_t, c->free)[i] = (uint16_t)(TRANSITS - 1 - i);
}

/* Bits first .. first + count - 1 of the pending words. */
static uint64_t pending_bits(const struct xbar *c, uint32_t first, uint32_t count)
{
    const struct component *base = &c->io.base;
    uint64_t bits = component_pending(base, first / 64) >> (first % 64);
    if (first % 64 && first / 64 + 1 < base->pending_words)
        bits |= component_pending(base, first / 64 + 1) << (64 - first % 64);
    return count == 64 ? bits : bits & (((uint64_t)1 << count) - 1);
}

static int32_t target_of(struct xbar *c, const struct message *m, bool reply)
{
    if (reply)
        return arena_at(struct transit, c->transits)[m->tag].input;
    uint64_t address;
    memcpy(&address, m->fields, sizeof address);
    int32_t target = platform_route(c->io.base.route_space, address);
    if (target < 0)
        engine_fail(&c->io.base, "address 0x%llx is outside the space",
                    (unsigned long long)address);
    return target;
}

/* Enters the oldest messages of sources that have become visible. */
static inline void discover(struct xbar *c, bool reply)
{
    struct side *s = &c->sides[reply];
    uint64_t bits = reply ? pending_bits(c, xbar_to_first_pending(c), xbar_to_count(c))
                          : pending_bits(c, xbar_from_first_pending(c), xbar_from_count(c));
    for (bits &= ~s->known; bits; bits &= bits - 1) {
        uint32_t source = (uint32_t)__builtin_ctzll(bits);
        const struct message *m = reply ? xbar_to_peek_reply(c, source) : xbar_from_peek(c, source);
        int32_t target = m ? target_of(c, m, reply) : -1;
        if (target < 0)
            continue;
        s->wanted[target] |= (uint64_t)1 << source;
        s->known |= (uint64_t)1 << source;
        s->busy |= (uint64_t)1 << target;
    }
}

static inline void pass(struct xbar *c, uint32_t source, uint32_t target, bool reply)
{
    struct transit *transits = arena_at(struct transit, c->transits);
    uint16_t *free = arena_at(uint16_t, c->free);
    if (reply) {
        const struct message *m = xbar_to_peek_reply(c, source);
        free[c->free_count++] = m->tag;
        xbar_from_forward_reply(c, target, m, xbar_to_reply_payload(c, source),
                                transits[m->tag].tag);
        xbar_to_pop_reply(c, source);
        xbar_stats(c)->replies++;
        return;
    }
    const struct message *m = xbar_from_peek(c, source);
    uint16_t tag = free[--c->free_count];
    transits[tag] = (struct transit){(uint16_t)source, m->tag};
    xbar_to_forward(c, target, m, xbar_from_payload(c, source), tag);
    xbar_from_pop(c, source);
    xbar_stats(c)->requests++;
}

/* Lets each wanted target take a message; who goes first turns with the cycle. true: a
 * target is wanted still, or a source has another message. */
static inline bool serve(struct xbar *c, bool reply)
{
    struct side *s = &c->sides[reply];
    uint32_t sources = reply ? xbar_to_count(c) : xbar_from_count(c);
    bool again = false;
    for (uint64_t bits = s->busy; bits; bits &= bits - 1) {
        uint32_t target = (uint32_t)__builtin_ctzll(bits);
        if (reply ? !xbar_from_can_reply(c, target)
                  : !c->free_count || !xbar_to_can_send(c, target))
            continue;
        uint64_t wanted = s->wanted[target];
        uint64_t behind = wanted & ~(((uint64_t)1 << xbar_now(c) % sources) - 1);
        uint32_t source = (uint32_t)__builtin_ctzll(behind ? behind : wanted);
        uint64_t bit = (uint64_t)1 << source;
        pass(c, source, target, reply);
        s->known &= ~bit;
        s->wanted[target] = wanted & ~bit;
        if (wanted == bit)
            s->busy &= ~((uint64_t)1 << target);
        again |= wanted != bit;
        again |= reply ? xbar_to_peek_reply(c, source) != NULL : xbar_from_peek(c, source) != NULL;
    }
    return again;
}

static bool xbar_tick(struct xbar *c)
{
    discover(c, true);
    bool again = serve(c, true);
    discover(c, false);
    return serve(c, false) || again;
}

static unsigned xbar_outstanding(const struct xbar *c, struct hang_report *report)
{
    unsigned used = TRANSITS - c->free_count;
    if (used && report)
        hang_note(report, "%u requests are on the other side", used);
    return used;
}
