/* Shards: the share of the platform's partitions that one thread ticks at a time. Each has its own
 * copy of every clock domain, so a domain's number names shard and clock.
 *
 * Ownership: while shards run, a shard and all that is reached through its domains belong to the
 * thread that runs it; between windows everything belongs to the leader (scheduler/run.c).
 * Links read and write the fields that say when a shared wire has something to decide. */
#ifndef HEDDLE_RUNTIME_ENGINE_SHARD_H
#define HEDDLE_RUNTIME_ENGINE_SHARD_H

#include "engine.h"
#include "rank.h"

enum shard_watch {
    SHARD_FROZEN = 1, /* some of its components tick no more */
    SHARD_LOGGED = 2  /* components that tick are noted: observe/stats_log.h */
};

/* Belongs to the thread that runs the shard. The leader reads it between windows, so the fields
 * that the leader always reads are in one cache line. */
struct shard {
    _Alignas(64) uint64_t until_ps; /* no edge at or after this time is run */
    uint64_t now_ps;                /* time of the last edge that was run */
    uint64_t next_ps;               /* time of the next edge; ENGINE_NEVER: all sleep */
    uint64_t wire_ps;               /* when a shared wire of the shard is free for what waits */
    uint64_t written[2];    /* exchange.c: bit i = the outbox to shard i holds something; by copy */
    bool is_live;           /* something is under way or will wake */
    bool must_settle;       /* shared wires have something to settle after the step */
    uint8_t watch_bits;     /* enum shard_watch: what else is done at an edge */
    uint32_t waiting_count; /* senders that wait for room which another shard makes */
    _Alignas(64) uint64_t random_state; /* for orders of ticks */
};

/* A value that threads wait for to change, and how many of them sleep: thread_pool.c. */
struct futex_word {
    uint32_t value;
    uint32_t sleepers;
};

/* A window, for the threads that run its shards. */
struct window_plan {
    uint64_t end_ps;
    uint64_t until_ps;   /* shards run their edges before that: end_ps or the limit */
    uint64_t inbound;    /* exchange.c; bit i: the copy that is read has something for shard i */
    uint32_t write_copy; /* exchange.c: the copy of the outboxes that shards write */
};
extern struct window_plan window_plan __attribute__((visibility("hidden"))); /* the leader's */

/* The leader's message to the others, in one cache line, which is as long on its way from one
 * processor to another as some ticks take. Only the leader looks at `window_plan`, so that it can
 * think at leisure while the others look at this line. */
struct window_round {
    _Alignas(64) struct futex_word number; /* thread_pool.c; so are the next two */
    uint64_t unclaimed;                    /* bit i: shard i */
    void (*work)(uint32_t shard);
    struct window_plan plan;
};
extern struct window_round window_published __attribute__((visibility("hidden")));

/* From now on shards do as `window_plan` says. */
static inline void window_publish(void)
{
    window_published.plan = window_plan;
}

extern struct shard shards[ENGINE_DOMAINS_MAX] __attribute__((visibility("hidden")));

static inline uint32_t component_shard(const struct component *c)
{
    return c->domain / engine.clock_count;
}

/* The number of shards in `set`, of at most 64; written out for processors without the
 * instruction. */
static inline uint32_t shards_in(uint64_t set)
{
    uint32_t count = 0;
    for (; set; set &= set - 1)
        count++;
    return count;
}

static inline uint64_t shard_now(uint32_t domain)
{
    return engine.domains[domain].time_ps;
}

/* ---- defined in scheduler/shard.c ---- */

/* Finds out which components are awake, after the host or another shard may have changed that. */
void shard_find_awake(uint32_t shard);
/* Sets next_ps and is_live. */
void shard_plan(uint32_t shard);
/* Runs all edges before until_ps; needs and leaves a plan. */
void shard_run(uint32_t shard);
/* Moves the shard's clocks to their last edges before `time_ps`; nothing may be due until then. */
void shard_move_clocks(uint32_t shard, uint64_t time_ps);
/* From a tick of a component: it ticks no more. */
void shard_freeze(const struct component *c);

/* ---- defined in scheduler/run.c ---- */

/* From a tick that has left something to be done at the end of the window, or in another
 * shard after that. */
void window_ask_end(void);

#endif
