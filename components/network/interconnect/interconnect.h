/* State of an interconnect: messages from any of n sources to one of m targets, and replies back.
 * Crossbar and switch are made of it. arbitration.c has what needs no component,
 * interconnect.c what depends on the component's generated functions.
 *
 * Both directions are the same machine, a `side`: each source shows its oldest message, which is
 * entered in the bitmap of its target; each target takes one a cycle, round robin from the source
 * behind the last one served. So a cycle costs as much as there are messages, however many ports
 * there are, and the outcome does not depend on the order in which ports are looked at. The time
 * that a message is held for is spent in its ring (ring_add_delay), so nothing is woken for it
 * before it can move on.
 *
 * Invariant: a source whose bit is set in `known` stands in the bitmap of one target, and only a
 * target takes from it.
 *
 * A request's tag is replaced by its number in the table of requests in flight, which says where
 * the answer goes and what tag it had. */
#ifndef HEDDLE_COMPONENTS_INTERCONNECT_STATE_H
#define HEDDLE_COMPONENTS_INTERCONNECT_STATE_H

#include "components/protocols/mem/index_pool.h"
#include "runtime/state/platform.h"

#define INTERCONNECT_IN_FLIGHT 65535 /* tags have 16 bits */
#define INTERCONNECT_AT_FIRST  64    /* most never have more */
#define INTERCONNECT_KINDS     8

/* Where a request came from. */
struct interconnect_origin {
    uint32_t source;
    uint16_t tag;
};

/* What a message of a kind takes: of a target's time, and to be copied. */
struct interconnect_kind {
    uint16_t cycles;
    uint16_t payload_bytes;
    uint8_t awaited;
};

struct interconnect_target {
    uint64_t free_at; /* cycle from which it can take the next message */
    uint32_t last_served;
    uint32_t ring; /* ring_place_of() */
};

#define INTERCONNECT_FEW 64u /* sources, targets: bitmaps of one word */

struct interconnect_side {
    uint32_t sources, targets;
    uint32_t source_words, target_words;
    uint32_t known;         /* arena offsets: bitmap of sources */
    uint32_t wanted;        /* bitmap of sources, each target */
    uint32_t busy;          /* bitmap of targets that are wanted */
    uint32_t rings;         /* uint32_t by source: place of the ring it shows messages on */
    uint32_t by_target;     /* struct interconnect_target [targets] */
    uint32_t first_message; /* in the platform's table */
    uint32_t ring_in;       /* bubble: bitmap of sources that are other stops of the ring */
    uint32_t ring_out;      /* bubble: bitmap of targets that are */
    uint64_t conflict_until;
    struct interconnect_kind kinds[INTERCONNECT_KINDS];
};

struct interconnect {
    struct platform_way way;          /* when there is a space that routes */
    struct interconnect_side side[2]; /* requests, replies */
    struct index_pool free_origins;
    uint32_t origins; /* struct interconnect_origin by number: INTERCONNECT_AT_FIRST */
    uint32_t all_origins, all_stack; /* the same, and the end of the stack of the pool, for as many
                                        as there can be: moves there when the first are in use */
    uint32_t routes;                 /* by the map: first word in the platform's routes */
    bool by_map;
    bool bubble;
};

/* Where a side lies, looked up once a tick: in locals, which no store can change. */
struct interconnect_view {
    uint64_t now, limit;
    uint64_t *known, *wanted, *busy;
    const uint32_t *rings;
    struct interconnect_target *by_target;
    uint32_t source_words, target_words;
};

static inline struct interconnect_origin *interconnect_origin(const struct interconnect *x,
                                                              uint32_t number)
{
    return arena_at(struct interconnect_origin, x->origins) + number;
}

static void interconnect_origins_init(struct interconnect *x);

/* All numbers of requests in flight are in use: more of them. false: there are no more. */
static bool interconnect_origins_grow(struct interconnect *x);

static inline bool interconnect_has_origin(struct interconnect *x)
{
    return engine_likely(index_pool_has(&x->free_origins)) || interconnect_origins_grow(x);
}

static inline uint64_t *interconnect_bits(uint32_t offset)
{
    return arena_at(uint64_t, offset);
}

static inline struct interconnect_view interconnect_look(const struct interconnect *x, bool reply,
                                                         uint64_t limit)
{
    const struct interconnect_side *s = &x->side[reply];
    return (struct interconnect_view){
        .now = limit >> 16,
        .limit = limit,
        .known = interconnect_bits(s->known),
        .wanted = interconnect_bits(s->wanted),
        .busy = interconnect_bits(s->busy),
        .rings = arena_at(uint32_t, s->rings),
        .by_target = arena_at(struct interconnect_target, s->by_target),
        .source_words = s->source_words,
        .target_words = s->target_words,
    };
}

static inline bool interconnect_is_set(uint32_t bitmap, uint32_t i)
{
    return interconnect_bits(bitmap)[i / 64] >> (i % 64) & 1;
}

static void interconnect_side_init(struct interconnect_side *s, uint32_t sources, uint32_t targets);

/* How long messages occupy a port of `width` bytes a cycle (0: one cycle each). Byte masks and what
 * else is below 32 bytes have wires of their own. */
static void interconnect_side_messages(struct interconnect_side *s, uint32_t first_message,
                                       uint32_t count, uint64_t width);

/* Bits first .. first + 63 of the component's pending bits, those at and behind `end` cleared. */
static uint64_t interconnect_pending(const struct component *c, uint32_t first, uint32_t end);

/* A source shows a message for `target`. */
static void interconnect_enter(const struct interconnect_view *v, uint32_t source, uint32_t target);

/* Does one of the sources `among` want `target`? */
static bool interconnect_ring_wants(const struct interconnect_view *v, const uint64_t *among,
                                    uint32_t target);

/* The next source for `target` in turn, of `sources`, and whether others are left waiting. At least
 * one must want it. `among`: bitmap of those that count, NULL: all. */
static uint32_t interconnect_choose(const struct interconnect_view *v, uint32_t sources,
                                    uint32_t target, const uint64_t *among, bool *others);

/* Counts the cycles now .. now + cycles - 1 as conflicts, each cycle once however many ports there
 * are. */
static uint64_t interconnect_conflict(struct interconnect_side *s, uint64_t now, uint64_t cycles);

#endif
