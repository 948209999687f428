/* Convoys: messages through an interconnect that nobody else can notice on their way.
 *
 * A copy is thousands of messages, each of which costs its rings, ticks and marks. But behind a
 * step in which there is something to send or to pass on, it may be known that nothing else happens
 * for some time (engine_after_step()). When the interconnect is idle but for these messages, it can
 * say in which cycle each would be where; and if all of them get to where they go in that time, it
 * is done: counters, turns and rings are left as the messages would have left them, and receivers
 * are told what has come, and in which cycle.
 *
 * - Requests, by their sender, to memories behind the interconnect: plan(), ready() of each memory,
 *   pass(), take(), and answer(), which leaves answers in the memory's ring as messages, mostly
 *   long before they are seen, since memories send their answers early (ring_add_pipeline()).
 * - Answers, by the interconnect, when the first of them is seen: accepts() and receive() of the
 *   sender, which is ticked when the last one comes.
 *
 * Who takes part registers in its init function. All are of one clock and one partition;
 * connections must be simple (ring.h). What requests do to the bytes of memory
 * (runtime/state/memory.h) is the sender's business, since nobody looks meanwhile. */
#ifndef HEDDLE_RUNTIME_CONVOY_H
#define HEDDLE_RUNTIME_CONVOY_H

#include "runtime/engine/engine.h"
#include "runtime/engine/platform_table.h"
#include "ring.h"

#define CONVOY_MOST 64u /* messages; ends of an interconnect */

/* Of what an interconnect does with messages, by their places in a leg: in which order it passes
 * them on, when, and when they are seen behind it, in cycles behind the first one of the leg. It
 * holds for any leg whose messages come in the same way, at ends that are in the same state, so the
 * last one of each direction is kept. */
struct convoy_plan {
    /* For what it holds. */
    uint32_t count;
    uint32_t cycles;           /* that a message takes at its target */
    uint64_t sources, targets; /* bits of ends */
    uint16_t at[CONVOY_MOST];
    uint8_t from[CONVOY_MOST], to[CONVOY_MOST];
    uint8_t served[CONVOY_MOST]; /* by target: who was the last */
    /* What it says. */
    uint16_t passed[CONVOY_MOST], seen[CONVOY_MOST];
    uint8_t order[CONVOY_MOST];
    uint16_t last; /* cycle in which the last one is seen */
    uint16_t conflicts, conflict_until;
    uint16_t free_at[CONVOY_MOST];                          /* by target */
    uint8_t serves[CONVOY_MOST];                            /* by target: who is the last */
    uint8_t of_source[CONVOY_MOST], of_target[CONVOY_MOST]; /* messages */
};

/* Messages of one kind in one direction, those of each end in the order of their cycles, which are
 * counted from `start`. Those marked R are of requests, those marked A of answers only. */
struct convoy_leg {
    uint64_t start;
    uint32_t count;
    uint8_t kind;
    bool reply;
    uint16_t at[CONVOY_MOST];                   /* seen by the interconnect */
    uint8_t from[CONVOY_MOST], to[CONVOY_MOST]; /* its ends; of R, plan() finds `to` */
    uint16_t tag[CONVOY_MOST];                  /* of the sender */
    uint16_t number[CONVOY_MOST];               /* the tag behind the interconnect; R: pass() */
    uint64_t address[CONVOY_MOST];              /* R */
    uint32_t slot[CONVOY_MOST];                 /* A: where it lies */
    struct convoy_plan *plan;                   /* kept by the sender; what was planned */
};

/* A request as it comes to a memory. */
struct convoy_request {
    uint64_t address, at; /* cycle */
    uint16_t number;      /* tag */
};

struct convoy_ops {
    /* An interconnect. Nothing changes. false: it is busy, or a message has no way, or finds no
     * room on it. */
    bool (*plan)(struct component *c, struct convoy_leg *leg);
    /* What was planned happens. */
    void (*pass)(struct component *c, struct convoy_leg *leg);
    /* The position of the sender's ring, by place, among its ends; CONVOY_MOST: there is none. */
    uint32_t (*end)(const struct component *c, uint32_t place);
    /* The component behind an end, by id; UINT32_MAX: there are not so many. */
    uint32_t (*behind)(const struct component *c, uint32_t end);

    /* A memory. Is it idle, and can it take `count` requests of `bytes`, that read or write all of
     * them, as they come, one a cycle at most, in the next ENGINE_QUIET cycles? */
    bool (*ready)(struct component *c, bool writes, uint32_t count, uint32_t bytes);
    void (*take)(struct component *c, const struct convoy_request *r, bool writes);
    /* All have come: sends the answers that leave before cycle `until`, and goes on by itself. */
    void (*answer)(struct component *c, uint64_t until);

    /* A sender of requests. Where plans for answers are kept. */
    struct convoy_plan *(*plans)(const struct component *c);
    /* Can it be told of all these answers at once, behind which nothing is to be done but what is
     * done when the last one has come? */
    bool (*accepts)(const struct component *c, const struct convoy_leg *leg);
    void (*receive)(struct component *c, const struct convoy_leg *leg);
};

/* From init functions. `ops` lives as long as the platform; what the component is not, is NULL. */
void convoy_register(const struct component *c, const struct convoy_ops *ops);
/* NULL: the component takes part in none. */
const struct convoy_ops *convoy_ops_of(uint32_t id);
/* Before components are initialised. */
void convoy_open(uint32_t id_count);

/* So many messages of a leg have been done. How many were in all, for the statistics of the host.
 */
void convoy_note(uint32_t count);
uint64_t convoy_messages(void);

/* Can two take part in one convoy? They are of one clock, and never run by two threads, for which
 * rings would have two ends (split.h), also while one runs them all. */
static inline bool convoy_goes_with(const struct component *a, const struct component *b)
{
    const struct platform_instance *instances = engine_base.platform->instances;
    return a->domain == b->domain && instances[a->leaf].partition == instances[b->leaf].partition;
}

/* Is ring `r` empty, does its sender know so, and are there `count` slots? It begins again then. */
static inline bool convoy_is_clear(struct ring *r, uint32_t count, uint64_t limit)
{
    uint32_t last = (r->tail == r->first ? r->end : r->tail) - r->step;
    if (!r->simple || !r->latency || r->sender_waits || r->head != r->tail
        || message_stamp(ring_slot(last)) > limit)
        return false;
    r->head = r->tail = r->first;
    return count * r->step <= r->end - r->first;
}

/* The cycle in which a message is seen that is sent on `r` in `cycle`. */
static inline uint64_t convoy_seen(const struct ring *r, uint64_t cycle)
{
    return message_cycle_of(ring_limit(cycle) + r->ahead);
}

/* `count` messages have gone by on ring `r`, which was clear, the last one sent in cycle `sent`.
 * The stamps of their slots, from the first one on, are the caller's. */
static inline void convoy_goes_by(struct ring *r, uint32_t count, uint64_t sent, unsigned awaited)
{
    uint32_t slot = r->first + count * r->step;
    r->head = r->tail = slot == r->end ? r->first : slot;
    r->messages += count;
    r->awaited += count * awaited;
    r->sent = ring_limit(sent);
    r->burst = 1;
}

#endif
