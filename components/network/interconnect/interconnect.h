/* State of an interconnect: messages from any of n sources to one of m targets, and replies back.
 * Crossbar and switch are made of it: they name arbitration.c and interconnect.c among their files,
 * and hand their ports, statistics and rules in as a `struct interconnect_unit`.
 *
 * Both directions are the same machine, a `side`: each source shows its oldest message, which is
 * entered in the bitmap of its target; each target takes one a cycle, round robin from the source
 * after the last one served. So a cycle costs as much as there are messages, however many ports
 * there are, and the outcome does not depend on the order in which ports are looked at. A held
 * message spends the time in its ring (ring_add_delay), so no component is woken before the message
 * can move on.
 *
 * Invariant: a source whose bit is set in `entered` is in the bitmap of one target, and only a
 * target takes from it.
 *
 * A request's tag is replaced by its number in the table of requests in flight, which says where
 * the answer goes and what tag it had. */
#ifndef HEDDLE_COMPONENTS_NETWORK_INTERCONNECT_INTERCONNECT_H
#define HEDDLE_COMPONENTS_NETWORK_INTERCONNECT_INTERCONNECT_H

#include "runtime/engine/index_pool.h"
#include "runtime/state/platform.h"

struct hang_report;
struct sector_hash;
struct warm_access;

#define INTERCONNECT_IN_FLIGHT 65535 /* tags have 16 bits */
#define INTERCONNECT_PIECE     16

/* The origin of a request. */
struct interconnect_origin {
    uint32_t source;
    uint16_t tag;
};

/* Costs of a message of a kind: cycles of a target, and pieces to copy. */
struct interconnect_kind {
    uint32_t cycles;
    uint16_t pieces; /* pieces of payload, INTERCONNECT_PIECE bytes each; slots are whole pieces */
    uint16_t awaited;
};

struct interconnect_source {
    uint64_t shows_at; /* before that cycle no message is visible, or the source is busy */
    uint32_t ring;     /* ring_place_of() */
};

struct interconnect_target {
    uint64_t free_at; /* cycle from which it can take the next message */
    uint32_t last_served;
    uint32_t ring; /* ring_place_of() */
};

struct interconnect_side {
    uint32_t sources, targets;
    uint32_t words; /* words of a bitmap, of sources and of targets */
    /* Bitmaps of sources whose message is entered, of targets that are wanted, and of the sources
     * that want each target. */
    uint32_t bitmaps_at;
    uint32_t sources_at;    /* struct interconnect_source [sources] */
    uint32_t targets_at;    /* struct interconnect_target [targets] */
    uint32_t kinds_at;      /* struct interconnect_kind, of each message of the protocol */
    uint32_t bubble_in_at;  /* bitmap of sources that are other stops of a ring */
    uint32_t bubble_out_at; /* bitmap of targets that are */
    uint64_t conflict_until;
};

struct interconnect {
    struct platform_interleaving interleaving; /* when there is a space that routes */
    struct interconnect_side side[2];          /* requests, replies */
    struct index_pool free_origins;
    uint32_t origins_at; /* struct interconnect_origin by number */
    uint32_t routes;     /* by the map: first word in the platform's routes */
    bool uses_map;
};

/* An interconnect as its component sees it, made for each call. Everything is inlined into the
 * component's unit, so the rules are constants there. */
struct interconnect_unit {
    struct component *component;
    struct interconnect *x;
    uint64_t *requests, *replies, *conflicts; /* statistics */
    /* Ports: their number, the first in engine_base.port_rings, and the first pending bit. */
    uint32_t from_count, from_first, from_pending;
    uint32_t to_count, to_first, to_pending;
    uint64_t request_width, reply_width; /* bytes a cycle; 0: any message in one */
    uint64_t header;                     /* bytes that each message has besides its payload */
    /* Bytes that a message stands for without having them; NULL: its payload counts. */
    uint32_t (*carried)(const uint8_t *fields, unsigned kind, bool is_reply);
    bool keeps_sources_busy; /* a source is busy for as long as the target that it sends to */
    bool has_bubble;         /* a stop of a ring: see switch.c */
    const struct sector_hash *hash; /* hash of the number of an address's chunk; NULL: by spaces */
    uint64_t chunk;                 /* bytes */
    uint64_t half;                  /* bytes, that choose the output of a channel; 0: no halves */
};

static inline uint64_t *interconnect_bits(uint32_t offset)
{
    return arena_at(uint64_t, offset);
}

/* ---- arbitration.c ---- */

static void interconnect_side_init(struct interconnect_side *s, uint32_t sources, uint32_t targets);

/* Sets the time for which messages occupy a port of `width` bytes a cycle (0: one cycle each). Byte
 * masks and what else is below 32 bytes have wires of their own. */
static void interconnect_side_messages(struct interconnect_side *s,
                                       const struct platform_message *messages, uint32_t count,
                                       uint64_t width, uint64_t header);

/* Bits first .. first + 63 of the component's pending bits, those at and after `end` cleared. */
static uint64_t interconnect_pending(const struct component *c, uint32_t first, uint32_t end);

/* Chooses the next in turn of the sources that want a target, of those `allowed` (NULL: all), which
 * is then not `entered`. At least one must be there. */
static uint32_t interconnect_choose_source(uint64_t *entered, uint64_t *wanted,
                                           const uint64_t *allowed, uint32_t words,
                                           uint32_t *last_served);

/* True if two bitmaps have a bit in common, or, with `b` NULL, if `a` has any. */
static bool interconnect_meet(const uint64_t *a, const uint64_t *b, uint32_t words);

/* Counts the cycles now .. now + cycles - 1 as conflicts, each cycle once however many ports there
 * are. */
static uint64_t interconnect_conflict(struct interconnect_side *s, uint64_t now, uint64_t cycles);

/* ---- interconnect.c ---- */

/* From the component's init function. A message is held for `latency` cycles, or
 * (`counts_whole_way`) so long that it has needed as many from end to end. */
static void interconnect_setup(const struct interconnect_unit *u, uint32_t latency,
                               bool counts_whole_way);

/* A tick: answers first, since they free entries of the table of requests in flight. */
static bool interconnect_move(const struct interconnect_unit *u);

/* A touch without time takes the way of requests. */
static void interconnect_touch(const struct interconnect_unit *u, const struct warm_access *access);

/* Requests that have passed and are not answered: their answers are in rings or owed by those
 * below, so they are not this component's own outstanding work; they are only named. */
static unsigned interconnect_unfinished(const struct interconnect *x, struct hang_report *report);

#endif
