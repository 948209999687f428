/* The way of messages through an interconnect. See interconnect.h for the algorithm; arbitration.c
 * decides whose turn it is. Crossbar and switch are these functions with their own rules. */
#include "interconnect.h"

#include <string.h>

#include "base/likely.h"
#include "base/number.h"
#include "components/protocols/sector_mem/sector_map.h"
#include "components/sampling/warmup.h"
#include "runtime/engine/component_failure.h"
#include "runtime/link/port.h"
#include "runtime/observe/hang.h"

/* ---- start-up ---- */

/* Cycles of `latency` that are left when the legs to the interconnect and from it are taken off.
 * Legs that are links or between clocks count one cycle. */
static uint32_t interconnect_hold(uint32_t latency, uint32_t in, const uint32_t *outs,
                                  uint32_t count)
{
    uint32_t legs = ring_at(in)->latency ? ring_at(in)->latency : 1, longest = 1;
    for (uint32_t i = 0; i < count; i++)
        if (outs[2 * i] != RING_NONE && ring_at(outs[2 * i])->latency > longest)
            longest = ring_at(outs[2 * i])->latency;
    legs += longest;
    return latency > legs ? latency - legs : 0;
}

/* Sources of `in` show their messages for targets of `out`: pairs of rings, of which every second
 * counts. Returns a ring that is connected, or RING_NONE. */
static uint32_t interconnect_open_side(struct interconnect_side *s, const uint32_t *in,
                                       const uint32_t *out, uint32_t latency, bool counts_whole_way)
{
    uint32_t connected = RING_NONE;
    for (uint32_t i = 0; i < s->sources; i++) {
        arena_at(struct interconnect_source, s->sources_at)[i].ring = ring_place_of(in[2 * i]);
        if (in[2 * i] == RING_NONE)
            continue;
        connected = in[2 * i];
        ring_add_delay(connected, counts_whole_way
                                      ? interconnect_hold(latency, connected, out, s->targets)
                                      : latency);
    }
    for (uint32_t i = 0; i < s->targets; i++)
        arena_at(struct interconnect_target, s->targets_at)[i].ring = ring_place_of(out[2 * i]);
    return connected;
}

static inline void interconnect_setup(const struct interconnect_unit *u, uint32_t latency,
                                      bool counts_whole_way)
{
    struct interconnect *x = u->x;
    const struct platform_instance *row = &engine_base.platform->instances[u->component->leaf];
    x->uses_map = row->route_count != 0;
    x->routes = row->routes;
    if (u->component->route_space >= 0)
        x->interleaving = platform_interleaving(u->component->route_space);
    if (!u->from_count || !u->to_count)
        return;
    const uint32_t *from = engine_base.port_rings + 2 * u->from_first;
    const uint32_t *to = engine_base.port_rings + 2 * u->to_first;
    interconnect_side_init(&x->side[0], u->from_count, u->to_count);
    interconnect_side_init(&x->side[1], u->to_count, u->from_count);
    uint32_t connected = interconnect_open_side(&x->side[0], from, to, latency, counts_whole_way);
    interconnect_open_side(&x->side[1], to + 1, from + 1, latency, counts_whole_way);
    if (connected == RING_NONE)
        return;
    const struct platform_protocol *p =
        &engine_base.platform->protocols[engine_base.platform->rings[connected].protocol];
    const struct platform_message *messages = engine_base.platform->messages + p->first_message;
    interconnect_side_messages(&x->side[0], messages, p->request_count, u->request_width,
                               u->header);
    interconnect_side_messages(&x->side[1], messages + p->request_count, p->reply_count,
                               u->reply_width, u->header);
    index_pool_init(&x->free_origins, INTERCONNECT_IN_FLIGHT);
    x->origins_at =
        arena_allocate_rear(INTERCONNECT_IN_FLIGHT * sizeof(struct interconnect_origin));
}

/* ---- where a message goes, and how long it takes ---- */

static inline struct interconnect_origin *interconnect_origin(const struct interconnect *x,
                                                              uint32_t number)
{
    return arena_at(struct interconnect_origin, x->origins_at) + number;
}

/* The number that is hashed for an address. With halves: what lies above all outputs, the channel,
 * its half. */
static ALWAYS_INLINE uint64_t interconnect_number(const struct interconnect_unit *u,
                                                  uint64_t address)
{
    uint64_t number = address / u->chunk, outputs = u->to_count, channels = outputs / 2;
    if (!u->half)
        return number;
    return number / outputs * outputs + number % channels * 2 + (address / u->half & 1);
}

/* The target of requests for an address, or -1. */
static ALWAYS_INLINE int32_t interconnect_way(const struct interconnect_unit *u, uint64_t address)
{
    const struct interconnect *x = u->x;
    const struct component *c = u->component;
    if (u->hash)
        return (int32_t)sector_hash(u->hash, interconnect_number(u, address));
    if (c->route_space < 0 && x->side[0].targets == 1)
        return 0;
    int32_t target = c->route_space < 0 ? -1 : platform_target(&x->interleaving, address);
    if (unlikely(x->uses_map)) {
        int32_t space = platform_space(address);
        target =
            space < 0 ? -1 : (int32_t)engine_base.platform->routes[x->routes + (uint32_t)space];
    }
    return target < 0 ? c->route_else : target;
}

/* The target of a message at its source, or -1 after engine_fail(). Requests carry their address in
 * front. */
static ALWAYS_INLINE int32_t interconnect_target(const struct interconnect_unit *u,
                                                 const struct message *m, bool is_reply)
{
    const struct interconnect *x = u->x;
    if (is_reply)
        return (int32_t)interconnect_origin(x, m->tag)->source;
    uint64_t address;
    memcpy(&address, m->fields, sizeof address);
    int32_t target = interconnect_way(u, address);
    if (target < 0)
        engine_fail(u->component,
                    x->uses_map
                        ? "no way leads from here to address 0x%llx: it is not mapped, or the "
                          "memory that holds it is not connected"
                        : "no target holds address 0x%llx: it lies outside of the space that "
                          "routes here, and there is no `else`",
                    (unsigned long long)address);
    return target;
}

/* Cycles for which a message occupies its ports. */
static ALWAYS_INLINE unsigned interconnect_cycles(const struct interconnect_unit *u,
                                                  const struct message *m,
                                                  const struct interconnect_kind *k, bool is_reply)
{
    if (!u->carried)
        return k->cycles;
    uint64_t width = is_reply ? u->reply_width : u->request_width;
    uint64_t cycles =
        divide_up(u->header + u->carried(m->fields, message_kind(m), is_reply), width);
    return cycles ? (unsigned)cycles : 1;
}

/* ---- a message ---- */

/* A piece of payload. Pieces are moved one by one: on paths that the compiler takes for rare, it
 * makes a loop of the processor (rep movs) of memcpy(), which takes longer to begin than four moves
 * take. */
typedef uint8_t interconnect_piece
    __attribute__((vector_size(INTERCONNECT_PIECE), aligned(8), may_alias));

/* Copies a message of kind `k` under another tag. */
static ALWAYS_INLINE void interconnect_copy(struct message *to, const struct message *from,
                                            const struct interconnect_kind *k, uint16_t tag)
{
    memcpy(to->fields, from->fields, RING_FIELD_BYTES);
    to->tag = tag;
    const interconnect_piece *payload = (const void *)(from + 1);
    interconnect_piece *copied = (void *)(to + 1);
    for (uint32_t index = 0; index < k->pieces; index++)
        copied[index] = payload[index];
}

/* The places of a side's arrays, looked up once a tick: in locals, which no store can change. */
struct interconnect_view {
    uint64_t now, limit;
    uint64_t *entered, *busy, *wanted;
    struct interconnect_source *by_source;
    struct interconnect_target *by_target;
    const struct interconnect_kind *by_kind;
    uint32_t words;
};

/* Passes the oldest message of `source` on to `out`, which has room; returns the cycles it takes,
 * and whether the source shows another one. */
static ALWAYS_INLINE unsigned interconnect_pass(const struct interconnect_unit *u,
                                                const struct interconnect_view *v, uint32_t source,
                                                struct ring *out, bool is_reply, bool *has_more)
{
    struct interconnect *x = u->x;
    struct ring *in = ring_placed(v->by_source[source].ring);
    const struct message *m = ring_slot(in->head);
    unsigned kind = message_kind(m);
    const struct interconnect_kind *k = &v->by_kind[kind];
    unsigned cycles = interconnect_cycles(u, m, k, is_reply), awaited = is_reply ? 0 : k->awaited;
    uint32_t number = 0;
    if (is_reply) {
        number = interconnect_origin(x, m->tag)->tag;
        index_pool_release(&x->free_origins, m->tag);
    } else if (awaited) {
        number = index_pool_acquire(&x->free_origins);
        *interconnect_origin(x, number) = (struct interconnect_origin){source, m->tag};
    }
    interconnect_copy(ring_slot(out->tail), m, k, (uint16_t)number);
    ring_post(out, v->limit, kind, awaited);
    *has_more = ring_drop(in, v->limit);
    *(is_reply ? u->replies : u->requests) += 1;
    if (u->keeps_sources_busy) {
        v->by_source[source].shows_at = v->now + cycles;
        if (*has_more && cycles > 1) {
            component_wake_at(u->component, v->now + cycles);
            *has_more = false;
        }
    }
    return cycles;
}

/* ---- a cycle ---- */

/* Looks at sources that may show a new message: the source's oldest message is entered for its
 * target, if it is visible. An invisible message stays the oldest until it is visible, so its ring
 * is left alone meanwhile. The memory that serving a message will need is prefetched: the rest of
 * its slot, the next slot, and the ring it goes to. */
static ALWAYS_INLINE void interconnect_discover(const struct interconnect_unit *u,
                                                const struct interconnect_view *v, bool is_reply)
{
    uint32_t first = is_reply ? u->to_pending : u->from_pending;
    uint32_t end = first + (is_reply ? u->to_count : u->from_count);
    for (uint32_t w = 0; w < v->words && first + w * 64 < end; w++) {
        uint64_t bits = interconnect_pending(u->component, first + w * 64, end) & ~v->entered[w];
        for (; bits; bits &= bits - 1) {
            struct interconnect_source *s = &v->by_source[w * 64 + (uint32_t)__builtin_ctzll(bits)];
            if (s->shows_at > v->now) {
                if (u->keeps_sources_busy)
                    component_wake_at(u->component, s->shows_at);
                continue;
            }
            const struct ring *in = ring_placed(s->ring);
            const struct message *m = ring_oldest(in, v->limit);
            if (!m)
                s->shows_at = ring_shows_at(in);
            int32_t found = m ? interconnect_target(u, m, is_reply) : -1;
            uint32_t target = (uint32_t)found;
            if (found < 0)
                continue;
            __builtin_prefetch(m + 2);
            __builtin_prefetch(ring_slot(ring_after(in, in->head)));
            __builtin_prefetch(ring_placed(v->by_target[target].ring));
            v->entered[w] |= bits & -bits;
            v->wanted[target * v->words + w] |= bits & -bits;
            v->busy[target / 64] |= (uint64_t)1 << target % 64;
        }
    }
}

/* Lets a wanted target have a message, if it can. True if it is wanted still, and free in the next
 * cycle. */
static ALWAYS_INLINE bool interconnect_serve(const struct interconnect_unit *u,
                                             const struct interconnect_view *v, uint32_t target,
                                             bool is_reply)
{
    struct interconnect_side *s = &u->x->side[is_reply];
    struct interconnect_target *t = &v->by_target[target];
    if (t->free_at > v->now) {
        component_wake_at(u->component, t->free_at);
        return false;
    }
    struct ring *out = ring_placed(t->ring);
    if (!ring_ask_room(out, v->limit) || (!is_reply && !index_pool_has(&u->x->free_origins)))
        return false;
    uint64_t *wanted = v->wanted + (size_t)target * v->words;
    const uint64_t *allowed = NULL;
    if (u->has_bubble && interconnect_bits(s->bubble_out_at)[target / 64] >> target % 64 & 1
        && !ring_ask_second(out, v->limit)) {
        allowed = interconnect_bits(s->bubble_in_at);
        if (!interconnect_meet(wanted, allowed, v->words))
            return false;
    }
    uint32_t source =
        interconnect_choose_source(v->entered, wanted, allowed, v->words, &t->last_served);
    bool has_more; /* a source shows one message a cycle */
    unsigned cycles = interconnect_pass(u, v, source, out, is_reply, &has_more);
    t->free_at = v->now + cycles;
    if (!interconnect_meet(wanted, NULL, v->words)) {
        v->busy[target / 64] ^= (uint64_t)1 << target % 64;
        return has_more;
    }
    *u->conflicts += interconnect_conflict(s, v->now, cycles);
    if (cycles > 1)
        component_wake_at(u->component, v->now + cycles);
    return has_more || cycles == 1;
}

/* Moves messages of one direction. True if a target is wanted still, and free in the next cycle. */
static ALWAYS_INLINE bool interconnect_move_side(const struct interconnect_unit *u, bool is_reply)
{
    const struct interconnect_side *s = &u->x->side[is_reply];
    uint32_t words = s->words;
    uint64_t *bitmaps = interconnect_bits(s->bitmaps_at);
    const struct interconnect_view v = {
        .now = u->component->limit >> 16,
        .limit = u->component->limit,
        .entered = bitmaps,
        .busy = bitmaps + words,
        .wanted = bitmaps + 2 * (size_t)words,
        .by_source = arena_at(struct interconnect_source, s->sources_at),
        .by_target = arena_at(struct interconnect_target, s->targets_at),
        .by_kind = arena_at(struct interconnect_kind, s->kinds_at),
        .words = words,
    };
    bool stays_wanted = false;
    interconnect_discover(u, &v, is_reply);
    for (uint32_t w = 0; w < words; w++)
        for (uint64_t bits = v.busy[w]; bits; bits &= bits - 1)
            stays_wanted |=
                interconnect_serve(u, &v, w * 64 + (uint32_t)__builtin_ctzll(bits), is_reply);
    return stays_wanted;
}

static ALWAYS_INLINE bool interconnect_move(const struct interconnect_unit *u)
{
    bool stays_wanted = interconnect_move_side(u, true);
    return interconnect_move_side(u, false) || stays_wanted;
}

/* ---- without time ---- */

static inline void interconnect_touch(const struct interconnect_unit *u,
                                      const struct warm_access *access)
{
    int32_t target = interconnect_way(u, access->address);
    if (target >= 0)
        warm_pass(engine_base.port_rings[2 * (u->to_first + (uint32_t)target)], access);
}

static inline unsigned interconnect_unfinished(const struct interconnect *x,
                                               struct hang_report *report)
{
    if (report && index_pool_used(&x->free_origins))
        hang_note(report, "%u requests have passed and are not answered",
                  index_pool_used(&x->free_origins));
    return 0;
}
