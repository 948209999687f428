/* The body of crossbar and switch: a template over their generated functions. The C file of each
 * includes it behind the component's struct, with INTERCONNECT(x) naming the functions and
 * INTERCONNECT_TYPE the struct, whose member `interconnect` is the state. See interconnect.h
 * for the algorithm. */
#include "components/network/interconnect/interconnect.h"
#include "runtime/observe/hang.h"
#include "runtime/link/port.h"

/* Written once for both directions; the compiler makes each of its own. */
#define INTERCONNECT_INLINE static inline __attribute__((always_inline))

/* Cycles of `latency` that are left when the legs to the interconnect and from it are taken off.
 * Legs that are links or between clocks count one cycle. */
static uint32_t INTERCONNECT(hold)(uint32_t latency, uint32_t in, const uint32_t *outs,
                                   uint32_t count)
{
    uint32_t legs = ring_at(in)->latency ? ring_at(in)->latency : 1, longest = 1;
    for (uint32_t i = 0; i < count; i++)
        if (outs[2 * i] != RING_NONE && ring_at(outs[2 * i])->latency > longest)
            longest = ring_at(outs[2 * i])->latency;
    legs += longest;
    return latency > legs ? latency - legs : 0;
}

/* A message is held for `latency` cycles, or (`whole_way`) so long that it has needed as many from
 * end to end. */
static void INTERCONNECT(setup)(struct INTERCONNECT_TYPE *c, uint32_t latency, bool whole_way,
                                uint64_t request_width, uint64_t reply_width)
{
    struct interconnect *x = &c->interconnect;
    const struct INTERCONNECT(io) *io = INTERCONNECT(io)(c);
    uint32_t sources = INTERCONNECT(from_count)(c), targets = INTERCONNECT(to_count)(c);
    const struct platform_instance *row = &engine_base.platform->instances[c->io.base.leaf];
    x->by_map = row->route_count != 0;
    x->routes = row->routes;
    if (c->io.base.route_space >= 0)
        x->way = platform_way(c->io.base.route_space);
    if (sources == 0 || targets == 0)
        return;
    interconnect_side_init(&x->side[0], sources, targets);
    interconnect_side_init(&x->side[1], targets, sources);
    const uint32_t *pair = engine_base.port_rings + 2 * io->from_first;
    const uint32_t *target = engine_base.port_rings + 2 * io->to_first;
    uint32_t some = RING_NONE;
    for (uint32_t i = 0; i < sources; i++) {
        if (pair[2 * i] == RING_NONE)
            continue;
        some = pair[2 * i];
        ring_add_delay(some,
                       whole_way ? INTERCONNECT(hold)(latency, some, target, targets) : latency);
    }
    for (uint32_t j = 0; j < targets; j++) {
        uint32_t reply = target[2 * j + 1];
        if (reply != RING_NONE)
            ring_add_delay(reply, whole_way ? INTERCONNECT(hold)(latency, reply, pair + 1, sources)
                                            : latency);
    }
    if (some == RING_NONE)
        return;
    for (uint32_t i = 0; i < sources; i++) {
        arena_at(uint32_t, x->side[0].rings)[i] = ring_place_of(pair[2 * i]);
        arena_at(struct interconnect_target, x->side[1].by_target)[i].ring =
            ring_place_of(pair[2 * i + 1]);
    }
    for (uint32_t j = 0; j < targets; j++) {
        arena_at(struct interconnect_target, x->side[0].by_target)[j].ring =
            ring_place_of(target[2 * j]);
        arena_at(uint32_t, x->side[1].rings)[j] = ring_place_of(target[2 * j + 1]);
    }
    const struct platform_protocol *p =
        &engine_base.platform->protocols[engine_base.platform->rings[some].protocol];
    interconnect_side_messages(&x->side[0], p->first_message, p->request_count, request_width);
    interconnect_side_messages(&x->side[1], p->first_message + p->request_count, p->reply_count,
                               reply_width);
    interconnect_origins_init(x);
}

/* The target of requests for an address, or -1. */
INTERCONNECT_INLINE int32_t INTERCONNECT(way)(const struct INTERCONNECT_TYPE *c, uint64_t address)
{
    const struct interconnect *x = &c->interconnect;
    if (c->io.base.route_space < 0 && x->side[0].targets == 1)
        return 0;
    int32_t target = c->io.base.route_space < 0 ? -1 : platform_way_target(&x->way, address);
    if (engine_unlikely(x->by_map)) {
        int32_t space = platform_space(address);
        target =
            space < 0 ? -1 : (int32_t)engine_base.platform->routes[x->routes + (uint32_t)space];
    }
    return target < 0 ? c->io.base.route_else : target;
}

/* The target of a message at its source, or -1 after engine_fail(). Requests carry their address in
 * front. */
INTERCONNECT_INLINE int32_t INTERCONNECT(target)(struct INTERCONNECT_TYPE *c,
                                                 const struct message *m, bool reply)
{
    const struct interconnect *x = &c->interconnect;
    if (reply)
        return (int32_t)interconnect_origin(x, m->tag)->source;
    uint64_t address;
    memcpy(&address, m->fields, sizeof address);
    int32_t target = INTERCONNECT(way)(c, address);
    if (target < 0)
        engine_fail(&c->io.base,
                    x->by_map
                        ? "no way leads from here to address 0x%llx: it is not mapped, or the "
                          "memory that holds it is not connected"
                        : "no target holds address 0x%llx: it lies outside of the space that "
                          "routes here, and there is no `else`",
                    (unsigned long long)address);
    return target;
}

/* Looks at sources that may show a new message: the oldest one is entered for its target, if it is
 * visible. */
INTERCONNECT_INLINE void INTERCONNECT(discover)(struct INTERCONNECT_TYPE *c,
                                                const struct interconnect_view *v, bool reply)
{
    uint32_t sources = c->interconnect.side[reply].sources;
    uint32_t first =
        reply ? INTERCONNECT(to_first_pending)(c) : INTERCONNECT(from_first_pending)(c);
    for (uint32_t w = 0; w * 64 < sources; w++) {
        uint64_t bits = interconnect_pending(&c->io.base, first + w * 64, first + sources);
        for (bits &= ~v->known[w]; bits; bits &= bits - 1) {
            uint32_t source = w * 64 + (uint32_t)__builtin_ctzll(bits);
            const struct message *m = ring_oldest(ring_placed(v->rings[source]), v->limit);
            int32_t target = m ? INTERCONNECT(target)(c, m, reply) : -1;
            if (target >= 0)
                interconnect_enter(v, source, (uint32_t)target);
        }
    }
}

/* A piece of payload. Moved one by one, since for paths that it takes for rare the compiler makes a
 * loop of the processor (rep movs) of memcpy(), which takes longer to begin than four moves take.
 */
typedef uint8_t INTERCONNECT(piece) __attribute__((vector_size(16), aligned(8), may_alias));

INTERCONNECT_INLINE void INTERCONNECT(copy_line)(INTERCONNECT(piece) * to,
                                                 const INTERCONNECT(piece) * from)
{
    INTERCONNECT(piece) first = from[0], second = from[1], third = from[2], fourth = from[3];
    to[0] = first;
    to[1] = second;
    to[2] = third;
    to[3] = fourth;
}

/* Copies a message of kind `k` from the head of `in` to the tail of `out`, under another tag. */
INTERCONNECT_INLINE void INTERCONNECT(copy)(const struct ring *in, const struct ring *out,
                                            const struct interconnect_kind *k, uint16_t tag)
{
    const struct message *from = ring_slot(in->head);
    struct message *to = ring_slot(out->tail);
    memcpy(to->fields, from->fields, RING_FIELD_BYTES);
    to->tag = tag;
    uint32_t bytes = k->payload_bytes;
    if (!bytes)
        return;
    const INTERCONNECT(piece) *payload = (const void *)(from + 1);
    INTERCONNECT(piece) *copied = (void *)(to + 1);
    if (engine_likely(bytes == 64)) { /* a line, nearly always */
        INTERCONNECT(copy_line)(copied, payload);
        return;
    }
    if (bytes == 80) { /* one with its mask */
        INTERCONNECT(copy_line)(copied, payload);
        copied[4] = payload[4];
        return;
    }
    if (bytes == 128) {
        INTERCONNECT(copy_line)(copied, payload);
        INTERCONNECT(copy_line)(copied + 4, payload + 4);
        return;
    }
    for (uint32_t at = 0; at < bytes / 16; at++) /* slots are whole units of 16 */
        copied[at] = payload[at];
}

/* Passes the oldest message of `in` on to `out`, which has room; returns the cycles it takes, and
 * whether `in` shows another one. */
INTERCONNECT_INLINE unsigned INTERCONNECT(pass)(struct INTERCONNECT_TYPE *c,
                                                const struct interconnect_view *v, struct ring *in,
                                                struct ring *out, uint32_t source, bool reply,
                                                bool *more)
{
    struct interconnect *x = &c->interconnect;
    const struct message *m = ring_slot(in->head);
    unsigned kind = message_kind(m);
    const struct interconnect_kind *k = &x->side[reply].kinds[kind];
    unsigned cycles = k->cycles, awaited = k->awaited;
    uint32_t number = 0;
    if (reply) {
        number = interconnect_origin(x, m->tag)->tag;
        index_pool_give(&x->free_origins, m->tag);
    } else if (awaited) {
        number = index_pool_take(&x->free_origins);
        *interconnect_origin(x, number) = (struct interconnect_origin){source, m->tag};
    }
    INTERCONNECT(copy)(in, out, k, (uint16_t)number);
    ring_post(out, v->limit, kind, awaited);
    *more = ring_drop(in, v->limit);
    *(reply ? &c->io.stats.replies : &c->io.stats.requests) += 1;
    return cycles;
}

/* Lets a wanted target take a message, if it can. true: it is wanted still, and free in the next
 * cycle. */
INTERCONNECT_INLINE bool INTERCONNECT(serve_target)(struct INTERCONNECT_TYPE *c,
                                                    const struct interconnect_view *v,
                                                    uint32_t target, bool reply)
{
    struct interconnect_side *s = &c->interconnect.side[reply];
    struct interconnect_target *t = &v->by_target[target];
    if (t->free_at > v->now) {
        INTERCONNECT(wake_at)(c, t->free_at);
        return false;
    }
    struct ring *out = ring_placed(t->ring);
    if (!ring_has_room(out, v->limit) || (!reply && !interconnect_has_origin(&c->interconnect)))
        return false;
    bool others, again; /* again: a source shows one message a cycle */
    bool ring_only = INTERCONNECT_BUBBLE && c->interconnect.bubble
                     && interconnect_is_set(s->ring_out, target) && !ring_has_second(out, v->limit);
    const uint64_t *among = ring_only ? interconnect_bits(s->ring_in) : NULL;
    if (ring_only && !interconnect_ring_wants(v, among, target))
        return false;
    uint32_t source = interconnect_choose(v, s->sources, target, among, &others);
    struct ring *in = ring_placed(v->rings[source]);
    unsigned cycles = INTERCONNECT(pass)(c, v, in, out, source, reply, &again);
    t->free_at = v->now + cycles;
    if (!others)
        return again;
    c->io.stats.conflicts += interconnect_conflict(s, v->now, cycles);
    if (cycles > 1)
        INTERCONNECT(wake_at)(c, v->now + cycles);
    return again || cycles == 1;
}

/* One direction. true: a target is wanted still, and free in the next cycle. */
INTERCONNECT_INLINE bool INTERCONNECT(move_all)(struct INTERCONNECT_TYPE *c, bool reply)
{
    const struct interconnect_view v = interconnect_look(&c->interconnect, reply, c->io.base.limit);
    bool again = false;
    INTERCONNECT(discover)(c, &v, reply);
    for (uint32_t w = 0; w < v.target_words; w++)
        for (uint64_t bits = v.busy[w]; bits; bits &= bits - 1)
            again |=
                INTERCONNECT(serve_target)(c, &v, w * 64 + (uint32_t)__builtin_ctzll(bits), reply);
    return again;
}

/* The same when nothing is wanted and only `source` may show a message. false: it shows one that
 * cannot go on now, and nothing has changed. */
INTERCONNECT_INLINE bool INTERCONNECT(move_one)(struct INTERCONNECT_TYPE *c, uint32_t source,
                                                bool reply, bool *again)
{
    const struct interconnect_view v = interconnect_look(&c->interconnect, reply, c->io.base.limit);
    struct ring *in = ring_placed(v.rings[source]);
    const struct message *m = ring_oldest(in, v.limit);
    int32_t target = m ? INTERCONNECT(target)(c, m, reply) : -1;
    if (target < 0)
        return true;
    struct interconnect_target *t = &v.by_target[target];
    struct ring *out = ring_placed(t->ring);
    if (t->free_at > v.now || !ring_is_free(out, v.limit)
        || (!reply && !interconnect_has_origin(&c->interconnect)))
        return false;
    t->last_served = source;
    t->free_at = v.now + INTERCONNECT(pass)(c, &v, in, out, source, reply, again);
    return true;
}

/* Of the sources that want `target`, at least one, the next in turn: it is one no more. The same as
 * interconnect_choose(), for all of them. */
INTERCONNECT_INLINE uint32_t INTERCONNECT(take_turn)(uint64_t *wanted, uint32_t words,
                                                     uint32_t *last_served)
{
    uint32_t last = *last_served, word = words == 1 ? 0 : last / 64;
    uint64_t behind = wanted[word] & UINT64_MAX << last % 64 << 1;
    if (words > 1 && !behind)
        word ^= wanted[word ^ 1] != 0;
    uint64_t turn = behind ? behind : wanted[word];
    *last_served = word * 64 + (uint32_t)__builtin_ctzll(turn);
    wanted[word] ^= turn & -turn;
    return *last_served;
}

/* Fetches the slots of the next messages for `targets`, into the host's caches, all at once. */
INTERCONNECT_INLINE void INTERCONNECT(fetch_tails)(uint64_t targets,
                                                   const struct interconnect_target *by_target)
{
    for (uint64_t bits = targets; bits; bits &= bits - 1)
        __builtin_prefetch(ring_slot(ring_placed(by_target[__builtin_ctzll(bits)].ring)->tail));
}

/* discover() for move_words(), whose tables and bitmaps these are. What serving will need of each
 * message is fetched: the rest of its slot, the next slot, and the ring it goes to. */
INTERCONNECT_INLINE void INTERCONNECT(discover_words)(struct INTERCONNECT_TYPE *c, uint64_t limit,
                                                      const uint64_t *pending,
                                                      const uint32_t *rings,
                                                      const struct interconnect_target *by_target,
                                                      uint64_t *wanted, uint64_t *known,
                                                      uint64_t *busy, uint32_t words, bool reply)
{
    for (uint32_t w = 0; w < words; w++) {
        for (uint64_t bits = pending[w] & ~known[w]; bits; bits &= bits - 1) {
            uint32_t source = w * 64 + (uint32_t)__builtin_ctzll(bits);
            const struct ring *in = ring_placed(rings[source]);
            const struct message *m = ring_oldest(in, limit);
            int32_t found = m ? INTERCONNECT(target)(c, m, reply) : -1;
            uint32_t target = (uint32_t)found;
            if (found < 0)
                continue;
            __builtin_prefetch(m + 2);
            __builtin_prefetch(ring_slot(ring_after(in, in->head)));
            __builtin_prefetch(ring_placed(by_target[target].ring));
            known[w] |= bits & -bits;
            wanted[target * words + w] |= bits & -bits;
            busy[words == 1 ? 0 : target / 64] |= (uint64_t)1 << target % 64;
        }
    }
}

/* The same as move_all() for at most 64 sources and targets (`words` 1), or at most 128 (2), whose
 * bitmaps stay in registers or next to them. */
INTERCONNECT_INLINE bool INTERCONNECT(move_words)(struct INTERCONNECT_TYPE *c,
                                                  const uint64_t *pending, uint32_t words,
                                                  bool reply)
{
    const struct interconnect_view v = interconnect_look(&c->interconnect, reply, c->io.base.limit);
    struct interconnect_side *s = &c->interconnect.side[reply];
    struct interconnect_target *by_target = v.by_target;
    const uint32_t *rings = v.rings;
    uint64_t *wanted = v.wanted, known[2], busy[2];
    bool again = false;
    for (uint32_t w = 0; w < words; w++) {
        known[w] = v.known[w];
        busy[w] = v.busy[w];
    }
    INTERCONNECT(discover_words)
    (c, v.limit, pending, rings, by_target, wanted, known, busy, words, reply);
    for (uint32_t w = 0; w < words; w++)
        INTERCONNECT(fetch_tails)(busy[w], by_target + w * 64);
    for (uint32_t w = 0; w < words; w++) {
        for (uint64_t bits = busy[w]; bits; bits &= bits - 1) {
            uint32_t target = w * 64 + (uint32_t)__builtin_ctzll(bits);
            struct interconnect_target *t = &by_target[target];
            if (t->free_at > v.now) {
                INTERCONNECT(wake_at)(c, t->free_at);
                continue;
            }
            struct ring *out = ring_placed(t->ring);
            if (!ring_has_room(out, v.limit)
                || (!reply && !interconnect_has_origin(&c->interconnect)))
                continue;
            uint64_t *own = &wanted[target * words];
            uint32_t source = INTERCONNECT(take_turn)(own, words, &t->last_served);
            bool more, others = words == 1 ? own[0] : own[0] | own[1];
            known[words == 1 ? 0 : source / 64] ^= (uint64_t)1 << source % 64;
            unsigned cycles =
                INTERCONNECT(pass)(c, &v, ring_placed(rings[source]), out, source, reply, &more);
            t->free_at = v.now + cycles;
            again |= more;
            if (!others) {
                busy[w] ^= bits & -bits;
                continue;
            }
            again |= cycles == 1;
            c->io.stats.conflicts += interconnect_conflict(s, v.now, cycles);
            if (cycles > 1)
                INTERCONNECT(wake_at)(c, v.now + cycles);
        }
    }
    for (uint32_t w = 0; w < words; w++) {
        v.known[w] = known[w];
        v.busy[w] = busy[w];
    }
    return again;
}

/* One direction by move_one() or move_words(). */
INTERCONNECT_INLINE bool INTERCONNECT(move_few)(struct INTERCONNECT_TYPE *c, uint32_t words,
                                                bool reply)
{
    const struct interconnect_side *s = &c->interconnect.side[reply];
    const uint64_t *busy = interconnect_bits(s->busy);
    uint32_t first =
        reply ? INTERCONNECT(to_first_pending)(c) : INTERCONNECT(from_first_pending)(c);
    uint32_t end = first + s->sources;
    uint64_t pending[2] = {interconnect_pending(&c->io.base, first, end), 0};
    if (words > 1 && s->sources > 64)
        pending[1] = interconnect_pending(&c->io.base, first + 64, end);
    uint64_t some = pending[0] ? pending[0] : pending[1];
    bool again = false, waits = words > 1 ? busy[0] | busy[1] : busy[0];
    if (!waits && !some)
        return false;
    uint32_t source = (uint32_t)__builtin_ctzll(some | (uint64_t)1 << 63) + 64 * !pending[0];
    if (!waits && !(some & (some - 1)) && !(pending[0] && pending[1])
        && INTERCONNECT(move_one)(c, source, reply, &again))
        return again;
    return INTERCONNECT(move_words)(c, pending, words, reply);
}

INTERCONNECT_INLINE bool INTERCONNECT(move_side)(struct INTERCONNECT_TYPE *c, bool reply)
{
    const struct interconnect_side *s = &c->interconnect.side[reply];
    if (INTERCONNECT_BUBBLE && c->interconnect.bubble) /* who may enter depends on more */
        return INTERCONNECT(move_all)(c, reply);
    if (engine_likely(interconnect_is_small(s)))
        return INTERCONNECT(move_few)(c, 1, reply);
    return s->source_words == 2 && s->target_words == 2 ? INTERCONNECT(move_few)(c, 2, reply)
                                                        : INTERCONNECT(move_all)(c, reply);
}

/* Answers first: they free entries of the table of requests in flight. */
static bool INTERCONNECT(move)(struct INTERCONNECT_TYPE *c)
{
    bool again = INTERCONNECT(move_side)(c, true);
    return INTERCONNECT(move_side)(c, false) || again;
}

/* Requests that have passed and are not answered: their answers are in rings or owed by those
 * below, so they are not this component's own outstanding work; they are only named. */
static unsigned INTERCONNECT(unfinished)(const struct INTERCONNECT_TYPE *c,
                                         struct hang_report *report)
{
    if (report && index_pool_used(&c->interconnect.free_origins))
        hang_note(report, "%u requests have passed and are not answered",
                  index_pool_used(&c->interconnect.free_origins));
    return 0;
}
