/* The state that the files of a ring share: ring.c (messages), ring_room.c (slots),
 * link_bandwidth.c (links), ring_open.c (start). Nothing else includes this. */
#ifndef HEDDLE_RUNTIME_LINK_RING_STATE_H
#define HEDDLE_RUNTIME_LINK_RING_STATE_H

#include "base/number.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/platform_table.h"

#include "ring.h"
#include "ring_run.h"

/* The rest of a ring's description, which fast paths do not need: where it leads and where its
 * slots are. */
struct ring_route {
    uint32_t latency; /* cycles of the server; wires only */
    uint32_t sender;  /* component id */
    uint32_t receiver;
    uint32_t delay; /* cycles that the ends add to it: ring_add_delay(), ring_add_pipeline() */
    uint8_t sender_domain;
    uint8_t receiver_domain;
    uint8_t is_reply;      /* 0 or 1; a state that is loaded may say anything */
    uint8_t half;          /* the link's half */
    uint32_t link;         /* 1 + index of the link that is crossed, 0: a wire */
    uint8_t is_split;      /* between two shards: this is one of two rings */
    uint32_t depth;        /* slots */
    uint32_t placed_slots; /* slots that fit where they are now */
    uint32_t wide_at;      /* arena offset of a place for all slots; 0: they are there */
};

struct ring_link_half {
    uint64_t free_ps;
    uint64_t fraction; /* in 1 / bandwidth ps */
    struct ring_link_use use;
};

struct ring_link {
    uint64_t bandwidth;
    uint64_t latency_ps;
    bool is_wire; /* granted by shared_wire.c */
    struct ring_link_half halves[2];
};

extern struct ring_route *ring_routes __attribute__((visibility("hidden"))); /* by number */
extern struct ring_link *ring_links __attribute__((visibility("hidden")));

static inline struct ring_route *ring_route(const struct ring *r)
{
    return &ring_routes[r - ring_at(0)];
}

static inline uint32_t ring_index(const struct ring *r)
{
    return (uint32_t)(r - ring_at(0));
}

/* True if the ring uses fewer slots than it has. */
static inline bool ring_is_narrow(const struct ring *r)
{
    return r->end != r->first + ring_route(r)->depth * r->step;
}

/* `cycle` of `domain`, or its first edge after `now_ps` if that is later. */
static inline uint64_t ring_later(uint64_t cycle, uint32_t domain, uint64_t now_ps)
{
    uint64_t least = engine_cycle_at(domain, now_ps + 1);
    return max(cycle, least);
}

/* ---- ring.c ---- */

/* Sets what ring_put() needs to know, when slots, delays or observers have changed. */
void ring_find_simple(struct ring *r);
/* Tells the receiver of a message that will arrive in cycle `ready`. */
void ring_announce_late(struct ring *r, uint64_t ready);

/* ---- link_bandwidth.c ---- */

void ring_open_links(const struct platform_table *table);
/* The message at the tail is sent over a link at `now_ps`: the cycle in which it is seen, or
 * RING_UNKNOWN, if it is a shared wire. */
uint64_t ring_send_over_link(struct ring *r, unsigned kind, uint32_t bytes, uint64_t now_ps);

/* ---- ring_room.c ---- */

void ring_open_room(const struct platform_table *table);
/* Gives an empty ring `depth` slots. */
void ring_place_slots(struct ring *r, uint32_t depth);
/* The slots of the near ring are those of the far one, too. */
void ring_share_slots(uint32_t near);
/* Twice as many slots, the new ones `ahead` of the one to send in next. */
void ring_widen(struct ring *r, uint32_t ahead);

#endif
