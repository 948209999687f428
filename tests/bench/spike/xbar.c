/* Every input to every output, routed by the platform's space. An output takes one request a cycle,
 * an input one reply; who goes first turns with the cycle. Requests get a tag of the crossbar's
 * own, which leads the reply back. */
#include "xbar.gen.h"

#define TRANSITS 4096
#define INPUTS   64
#define NO_ROUTE 255

struct transit {
    uint16_t input;
    uint16_t tag;
};

struct xbar {
    struct xbar_io io;
    uint32_t transits; /* arena */
    uint32_t free;     /* arena: stack of free transit numbers */
    uint32_t free_count;
    uint8_t wants[INPUTS]; /* output of the request at the head, once looked at; NO_ROUTE */
    uint64_t refused; /* outputs that take no more in this cycle: spares asking their rings again
                         for every input */
};

static void xbar_init(struct xbar *c)
{
    c->transits = arena_allocate(TRANSITS * sizeof(struct transit));
    c->free = arena_allocate(TRANSITS * sizeof(uint16_t));
    c->free_count = TRANSITS;
    memset(c->wants, NO_ROUTE, sizeof c->wants);
    for (uint32_t i = 0; i < TRANSITS; i++)
        arena_at(uint16_t, c->free)[i] = (uint16_t)(TRANSITS - 1 - i);
}

/* The bits first .. first + count - 1 of the pending words from `done` on: the next one that is
 * set, or count. */
static uint32_t next_pending(const struct xbar *c, uint32_t first, uint32_t count, uint32_t done)
{
    for (uint32_t i = done; i < count;) {
        uint32_t bit = first + i;
        uint64_t bits = component_pending(&xbar_io(c)->base, bit / 64) >> (bit % 64);
        if (bits) {
            i += (unsigned)__builtin_ctzll(bits);
            return i < count ? i : count;
        }
        i += 64 - bit % 64;
    }
    return count;
}

static bool pass_request(struct xbar *c, uint32_t i)
{
    if (c->wants[i] != NO_ROUTE && (c->refused >> c->wants[i] & 1))
        return false;
    const struct message *m = xbar_from_peek(c, i);
    uint64_t address;
    if (!m || !c->free_count)
        return false;
    memcpy(&address, m->fields, sizeof address);
    int32_t j = platform_route(xbar_io(c)->base.route_space, address);
    if (j < 0) {
        engine_fail(&xbar_io(c)->base, "address 0x%llx is outside the space",
                    (unsigned long long)address);
        return false;
    }
    uint64_t bit = (uint64_t)1 << j;
    c->wants[i] = (uint8_t)j;
    if (c->refused & bit)
        return false;
    if (!xbar_to_can_send(c, (uint32_t)j)) {
        c->refused |= bit;
        return false;
    }
    uint16_t tag = arena_at(uint16_t, c->free)[--c->free_count];
    arena_at(struct transit, c->transits)[tag] = (struct transit){(uint16_t)i, m->tag};
    xbar_to_forward(c, (uint32_t)j, m, xbar_from_payload(c, i), tag);
    xbar_from_pop(c, i);
    c->wants[i] = NO_ROUTE;
    c->refused |= bit;
    xbar_stats(c)->requests++;
    return true;
}

static bool pass_reply(struct xbar *c, uint32_t j)
{
    const struct message *m = xbar_to_peek_reply(c, j);
    if (!m)
        return false;
    struct transit t = arena_at(struct transit, c->transits)[m->tag];
    if (!xbar_from_can_reply(c, t.input))
        return false;
    arena_at(uint16_t, c->free)[c->free_count++] = m->tag;
    xbar_from_forward_reply(c, t.input, m, xbar_to_reply_payload(c, j), t.tag);
    xbar_to_pop_reply(c, j);
    xbar_stats(c)->replies++;
    return true;
}

static bool pass_all(struct xbar *c, uint32_t first, uint32_t count,
                     bool (*pass)(struct xbar *, uint32_t))
{
    bool progress = false;
    uint32_t start = (uint32_t)(xbar_now(c) % count);
    for (uint32_t i = next_pending(c, first, count, start); i < count;
         i = next_pending(c, first, count, i + 1))
        progress |= pass(c, i);
    for (uint32_t i = next_pending(c, first, start, 0); i < start;
         i = next_pending(c, first, start, i + 1))
        progress |= pass(c, i);
    return progress;
}

static bool xbar_tick(struct xbar *c)
{
    c->refused = 0;
    bool progress = pass_all(c, xbar_to_first_pending(c), xbar_to_count(c), pass_reply);
    return pass_all(c, xbar_from_first_pending(c), xbar_from_count(c), pass_request) || progress;
}

static unsigned xbar_outstanding(const struct xbar *c, struct hang_report *report)
{
    unsigned used = TRANSITS - c->free_count;
    if (used && report)
        hang_note(report, "%u requests are on the other side", used);
    return used;
}
