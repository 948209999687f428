/* Crossbar between sources and the slices of a memory side.
 *
 * Requests and answers are the same machine, a `side`: each source shows its oldest message, which
 * is entered in the bitmap of its target; each target takes one at a time, round robin from the
 * source behind the last one served, and both are busy for as many cycles as the message has flits.
 * So a cycle costs as much as there are messages, and the outcome does not depend on the order in
 * which ports are looked at. The latency is spent in the rings.
 *
 * A request's tag is replaced by its number in the table of requests in flight, which says where
 * the answer goes and what tag it had. */
#include "sector_crossbar.gen.h"

#include "components/protocols/mem/index_pool.h"
#include "components/protocols/sector_mem/sector_map.h"
#include "runtime/observe/hang.h"
#include "components/sampling/warmup.h"

#define IN_FLIGHT 65535 /* tags have 16 bits */

enum { REQUESTS, REPLIES };

struct source {
    uint64_t free_at; /* cycle from which it can send the next message */
    uint64_t since;   /* cycle in which its message was entered */
    uint32_t ring;
    uint32_t reserved;
};

struct target {
    uint64_t free_at;
    uint32_t ring;
    uint32_t last_served;
};

struct side {
    uint32_t source_count, target_count;
    uint32_t source_words, target_words;
    /* Arena offsets. */
    uint32_t sources, targets;
    uint32_t known;  /* bitmap of sources that stand in the bitmap of a target */
    uint32_t wanted; /* bitmap of sources, each target */
    uint32_t busy;   /* bitmap of targets that are wanted */
};

struct origin {
    uint32_t source;
    uint16_t tag;
};

struct sector_crossbar {
    struct sector_crossbar_io io;
    struct sector_hash hash;
    struct side side[2];
    struct index_pool free_origins;
    uint32_t origins;
};

static uint64_t *bits_at(uint32_t offset)
{
    return arena_at(uint64_t, offset);
}

static uint32_t port_ring(uint32_t first, uint32_t i, unsigned side)
{
    return engine_base.port_rings[2 * (first + i) + side];
}

/* ---- start-up ---- */

static void init_side(struct side *s, uint32_t sources, uint32_t targets)
{
    s->source_count = sources;
    s->target_count = targets;
    s->source_words = (sources + 63) / 64;
    s->target_words = (targets + 63) / 64;
    s->sources = arena_allocate(sources * sizeof(struct source));
    s->targets = arena_allocate(targets * sizeof(struct target));
    s->known = arena_allocate(s->source_words * sizeof(uint64_t));
    s->wanted = arena_allocate((size_t)targets * s->source_words * sizeof(uint64_t));
    s->busy = arena_allocate(s->target_words * sizeof(uint64_t));
    for (uint32_t i = 0; i < targets; i++)
        arena_at(struct target, s->targets)[i].last_served = sources - 1;
}

/* Cycles of the latency that the legs do not take. Legs between clocks count one cycle. */
static uint32_t hold_cycles(const struct sector_crossbar *c, uint32_t in, uint32_t out)
{
    uint32_t latency = (uint32_t)sector_crossbar_params(c)->latency;
    uint32_t legs = (ring_at(in)->latency ? ring_at(in)->latency : 1)
                    + (ring_at(out)->latency ? ring_at(out)->latency : 1);
    return latency > legs ? latency - legs : 0;
}

/* Touches go the way that requests go. */
static void sector_crossbar_touch(struct component *self, const struct warm_access *access)
{
    const struct sector_crossbar *c = (const struct sector_crossbar *)(const void *)self;
    uint64_t interleave = (uint64_t)sector_crossbar_params(c)->interleave;
    uint32_t target = sector_hash(&c->hash, access->physical / interleave);
    warm_pass(port_ring(c->io.to_first, target, REQUESTS), access);
}

static const struct warm_ops sector_crossbar_warm_ops = {.touch = sector_crossbar_touch};

static void sector_crossbar_init(struct sector_crossbar *c)
{
    uint32_t sources = sector_crossbar_from_count(c), targets = sector_crossbar_to_count(c);
    if (!sources || !targets)
        return;
    warm_register(&c->io.base, &sector_crossbar_warm_ops);
    sector_hash_init(&c->hash, sector_crossbar_params(c)->hash, targets);
    init_side(&c->side[REQUESTS], sources, targets);
    init_side(&c->side[REPLIES], targets, sources);
    uint32_t some_in = port_ring(c->io.from_first, 0, REQUESTS),
             some_out = port_ring(c->io.to_first, 0, REQUESTS);
    for (uint32_t i = 0; i < sources; i++) {
        uint32_t request = port_ring(c->io.from_first, i, REQUESTS);
        arena_at(struct source, c->side[REQUESTS].sources)[i].ring = request;
        arena_at(struct target, c->side[REPLIES].targets)[i].ring =
            port_ring(c->io.from_first, i, REPLIES);
        ring_add_delay(request, hold_cycles(c, request, some_out));
    }
    for (uint32_t i = 0; i < targets; i++) {
        uint32_t reply = port_ring(c->io.to_first, i, REPLIES);
        arena_at(struct target, c->side[REQUESTS].targets)[i].ring =
            port_ring(c->io.to_first, i, REQUESTS);
        arena_at(struct source, c->side[REPLIES].sources)[i].ring = reply;
        ring_add_delay(reply, hold_cycles(c, reply, some_in));
    }
    index_pool_init(&c->free_origins, IN_FLIGHT);
    c->origins = arena_allocate(IN_FLIGHT * sizeof(struct origin));
}

/* ---- messages ---- */

static uint32_t flits(const struct sector_crossbar *c, unsigned sectors)
{
    const struct sector_crossbar_params *k = sector_crossbar_params(c);
    uint64_t bytes = (uint64_t)k->header;
    for (; sectors; sectors &= sectors - 1)
        bytes += SECTOR_BYTES;
    uint64_t count = (bytes + (uint64_t)k->flit - 1) / (uint64_t)k->flit;
    return count ? (uint32_t)count : 1;
}

static uint32_t message_flits(const struct sector_crossbar *c, const struct message *m,
                              unsigned side)
{
    unsigned kind = message_kind(m);
    if (side == REPLIES)
        return flits(c, kind == SECTOR_MEM_DATA ? ((const struct sector_mem_reply *)m)->data.sectors
                                                : 0);
    const struct sector_mem_request *r = (const struct sector_mem_request *)m;
    return flits(c,
                 kind == SECTOR_MEM_STORE || kind == SECTOR_MEM_ATOMIC ? SECTOR_OF_REQUEST(r) : 0);
}

static uint32_t target_of(const struct sector_crossbar *c, const struct message *m, unsigned side)
{
    if (side == REPLIES)
        return arena_at(struct origin, c->origins)[m->tag].source;
    uint64_t address = ((const struct sector_mem_request *)m)->load.address; /* as in all */
    return sector_hash(&c->hash, address / (uint64_t)sector_crossbar_params(c)->interleave);
}

/* ---- a cycle ---- */

static uint64_t pending_bits(const struct sector_crossbar *c, uint32_t first, uint32_t end)
{
    uint64_t bits = component_pending(&c->io.base, first / 64) >> (first % 64);
    if (first % 64 && first / 64 + 1 < c->io.base.pending_words)
        bits |= component_pending(&c->io.base, first / 64 + 1) << (64 - first % 64);
    return end - first >= 64 ? bits : bits & (((uint64_t)1 << (end - first)) - 1);
}

static void enter(struct sector_crossbar *c, struct side *s, uint32_t source, uint32_t target)
{
    uint64_t bit = (uint64_t)1 << (source % 64);
    bits_at(s->known)[source / 64] |= bit;
    bits_at(s->wanted)[(size_t)target * s->source_words + source / 64] |= bit;
    bits_at(s->busy)[target / 64] |= (uint64_t)1 << (target % 64);
    arena_at(struct source, s->sources)[source].since = component_tick_now(&c->io.base);
}

/* Enters the messages that have come to the front of their sources. */
static void discover(struct sector_crossbar *c, unsigned side)
{
    struct side *s = &c->side[side];
    uint32_t first = side == REPLIES ? sector_crossbar_to_first_pending(c)
                                     : sector_crossbar_from_first_pending(c);
    uint64_t now = component_tick_now(&c->io.base);
    for (uint32_t w = 0; w < s->source_words; w++) {
        uint64_t bits = pending_bits(c, first + w * 64, first + s->source_count);
        for (bits &= ~bits_at(s->known)[w]; bits; bits &= bits - 1) {
            uint32_t i = w * 64 + (uint32_t)__builtin_ctzll(bits);
            const struct source *source = arena_at(struct source, s->sources) + i;
            const struct message *m = ring_oldest(ring_at(source->ring), c->io.base.limit);
            if (!m)
                continue;
            if (source->free_at > now)
                sector_crossbar_wake_at(c, source->free_at);
            else
                enter(c, s, i, target_of(c, m, side));
        }
    }
}

/* The next source in turn for a target that at least one wants. */
static uint32_t choose(struct side *s, uint32_t number, bool *others)
{
    struct target *t = arena_at(struct target, s->targets) + number;
    uint64_t *wanted = bits_at(s->wanted) + (size_t)number * s->source_words, left = 0;
    uint32_t start = t->last_served + 1 == s->source_count ? 0 : t->last_served + 1,
             word = start / 64;
    uint64_t bits = wanted[word] & (UINT64_MAX << (start % 64));
    while (!bits) {
        word = word + 1 == s->source_words ? 0 : word + 1;
        bits = wanted[word];
    }
    uint32_t source = word * 64 + (uint32_t)__builtin_ctzll(bits);
    wanted[word] ^= bits & -bits;
    bits_at(s->known)[word] &= ~(bits & -bits);
    t->last_served = source;
    for (uint32_t w = 0; w < s->source_words; w++)
        left |= wanted[w];
    *others = left != 0;
    if (!left)
        bits_at(s->busy)[number / 64] &= ~((uint64_t)1 << (number % 64));
    return source;
}

/* The message at the front of a source goes on to `out`, which has room. */
static void pass(struct sector_crossbar *c, unsigned side, uint32_t number, struct target *t,
                 struct ring *out)
{
    struct source *source = arena_at(struct source, c->side[side].sources) + number;
    struct ring *in = ring_at(source->ring);
    uint64_t now = component_tick_now(&c->io.base);
    const struct message *m = ring_slot(in->head);
    struct message *to = ring_slot(out->tail);
    struct origin *origins = arena_at(struct origin, c->origins);
    uint32_t cycles = message_flits(c, m, side), tag = m->tag;
    if (side == REPLIES) {
        index_pool_give(&c->free_origins, tag);
        tag = origins[tag].tag;
    } else {
        tag = index_pool_take(&c->free_origins);
        origins[tag] = (struct origin){number, m->tag};
    }
    memcpy(to->fields, m->fields, RING_FIELD_BYTES);
    to->tag = (uint16_t)tag;
    ring_post(out, c->io.base.limit, message_kind(m), side == REQUESTS);
    c->io.stats.conflicts += source->since != now;
    *(side == REPLIES ? &c->io.stats.replies : &c->io.stats.requests) += 1;
    *(side == REPLIES ? &c->io.stats.reply_flits : &c->io.stats.request_flits) += cycles;
    t->free_at = source->free_at = now + cycles;
    if (ring_drop(in, c->io.base.limit))
        sector_crossbar_wake_at(c, source->free_at);
}

/* Lets a target that is wanted take a message, if it can. */
static void serve(struct sector_crossbar *c, unsigned side, uint32_t number)
{
    struct side *s = &c->side[side];
    struct target *t = arena_at(struct target, s->targets) + number;
    if (t->free_at > component_tick_now(&c->io.base)) {
        sector_crossbar_wake_at(c, t->free_at);
        return;
    }
    struct ring *out = ring_at(t->ring);
    if (!ring_has_room(out, c->io.base.limit)
        || (side == REQUESTS && !index_pool_has(&c->free_origins)))
        return;
    bool others;
    pass(c, side, choose(s, number, &others), t, out);
    if (others)
        sector_crossbar_wake_at(c, t->free_at);
}

/* All that goes on later has asked for its cycle, or waits for room. */
static bool sector_crossbar_tick(struct sector_crossbar *c)
{
    for (unsigned side = REPLIES + 1; side-- > REQUESTS;) {
        struct side *s = &c->side[side];
        discover(c, side);
        for (uint32_t w = 0; w < s->target_words; w++)
            for (uint64_t bits = bits_at(s->busy)[w]; bits; bits &= bits - 1)
                serve(c, side, w * 64 + (uint32_t)__builtin_ctzll(bits));
    }
    return false;
}

static unsigned sector_crossbar_outstanding(const struct sector_crossbar *c,
                                            struct hang_report *report)
{
    uint32_t waiting = index_pool_used(&c->free_origins);
    if (report && waiting)
        hang_note(report, "%u requests passed on are not answered", waiting);
    return waiting;
}
