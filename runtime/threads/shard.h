/* Shards: the part of a platform that one thread ticks at a time. Known to the runtime's own files
 * only; see window.c for the protocol between them. */
#ifndef HEDDLE_RUNTIME_SHARD_H
#define HEDDLE_RUNTIME_SHARD_H

#include "runtime/engine/setup.h"

/* Of whoever runs the shard; read by the leader between windows. */
struct shard {
    _Alignas(64) uint64_t until_ps; /* no edge at or after this time is run */
    uint64_t now_ps;                /* of the last edge that was run */
    uint64_t next_ps;               /* of the next one; ENGINE_NEVER: all asleep */
    uint64_t wire_ps;               /* when a shared wire of the shard is free for what waits */
    uint64_t ticks;                 /* of this window, if that is counted */
    uint64_t instructions;          /* retired in this window; likewise */
    uint64_t random_state;          /* for orders of ticks */
    bool live;                      /* not only periodic wake-ups are left */
    bool step_end;                  /* shared links of the shard have something to settle */
    bool counted;                   /* this window: balance.c */
    uint32_t waits;                 /* senders that wait for room which another shard makes */
    uint64_t written[2]; /* exchange.c: bit i = the outbox to shard i holds something; by copy */
};
extern struct shard shards[ENGINE_MAX_DOMAINS] __attribute__((visibility("hidden")));

static inline uint32_t component_shard(const struct component *c)
{
    return c->domain / engine.clock_count;
}

static inline uint64_t shard_now(uint32_t domain)
{
    return engine.domains[domain].time_ps;
}

/* engine.c */

/* Finds out who is awake, after the host or another shard may have changed that. */
void shard_find_awake(uint32_t shard);
/* Sets next_ps and live. */
void shard_plan(uint32_t shard);
/* Runs all edges before until_ps; needs and leaves a plan. */
void shard_run(uint32_t shard);
/* Moves the shard's clocks to their last edges before `time_ps`; nothing may be due until then. */
void shard_move_clocks(uint32_t shard, uint64_t time_ps);

/* window.c */

/* Whoever calls it in a tick has left something to be done at the end of the window, or in another
 * shard behind that. */
void window_ask_end(void);

/* split.c */

/* How many shards the platform is cut into for `threads` threads: 1 when nothing would be gained.
 */
uint32_t split_shard_count(const struct platform_table *table, uint32_t threads);
/* The shortest time in which one partition can notice what another does, in ps; 0: there are no
 * partitions, or it is not more than one cycle of the fastest clock. */
uint64_t split_window_ps(const struct platform_table *table);
/* The tables for `shards` shards, in the arena: each ring between two shards becomes two, the
 * sender's under its old number, the receiver's behind all others. With one shard, `table` itself.
 */
const struct platform_table *split_table(const struct platform_table *table, uint32_t shards);
uint32_t split_shard_of(const struct platform_table *table, uint32_t leaf);
uint32_t split_ring_total(void); /* the receivers' halves included */
uint32_t
split_far(uint32_t number); /* the receiver's half of a ring; itself when it is not split */
uint32_t split_near(uint32_t number); /* the sender's half */

/* exchange.c: what is under way between shards. */

void exchange_open(const struct platform_table *table);
/* From the shard of the sender: a message that arrives in cycle `ready` of the receiver. */
void exchange_message(uint32_t from, uint32_t to, uint32_t ring, uint64_t ready);
/* From the shard of the sender, which was refused and has not been since it was last woken: the
 * receiver has not taken the message in the slot that comes next. */
void exchange_wait(uint32_t ring);
/* Begins a window: what was sent until now can be delivered. By the leader. */
void exchange_turn(void);
/* Has something been sent since the last exchange_turn(), or waits a sender for room? By the
 * leader. */
bool exchange_is_pending(void);
/* Must exchange_deliver() be called for this shard in the window that begins? When not, what the
 * shard has sent before is forgotten here. By the leader. */
bool exchange_is_due(uint32_t shard);
/* Takes in what the other shards sent to `shard` before the last exchange_turn(), when its clocks
 * have been moved to their last edges before `start_ps`, forgets what `shard` itself sent before
 * that, and wakes senders for which there is room now. By whoever runs the shard, before its edges.
 * true: the shard must plan anew. */
bool exchange_deliver(uint32_t shard, uint64_t start_ps);
/* Delivers everything to everybody, none of it due before `start_ps`. By the leader, between
 * windows. */
void exchange_deliver_all(uint64_t start_ps);

/* crew.c: the threads. */

/* How many threads have a processor to run on. */
uint32_t crew_most(void);
/* Starts the workers, once a platform. */
void crew_open(uint32_t threads);
/* Runs `work(shard)` for all shards in `due` (bit i: shard i), on about as many threads as are
 * wanted; 1: on this one. */
void crew_run(void (*work)(uint32_t shard), uint64_t due, uint32_t threads);
/* The order in which each thread claims shards from now on. By the leader. */
void crew_take_turns(uint32_t (*turns)[ENGINE_MAX_DOMAINS]);

/* balance.c: by how many threads shards are worth to be run, from counts of what they did. */

struct balance_report {
    uint64_t windows;
    uint64_t together;    /* of these, in how many several threads were wanted */
    uint64_t alone_ticks; /* work of those that were counted, for one thread ... */
    uint64_t ticks;       /* ... and as they were run, if every thread had a processor */
};

void balance_open(uint32_t threads);
/* Begins a window in which these shards have something to do (bit i: shard i); returns the threads
 * it is worth. */
uint32_t balance_begin(uint64_t due);
/* Does that window count? Then the shards count their ticks and instructions. */
bool balance_counts(void);
/* Behind a window that counts. */
void balance_count(uint64_t due);
const struct balance_report *balance_reported(void);
/* The order in which each thread is to claim shards: first its own, which make its share about as
 * large as those of the others, then those of the others; in both those with the most ticks first.
 */
void balance_turns(const uint64_t *ticks, uint32_t shard_count, uint32_t threads,
                   uint32_t (*turns)[ENGINE_MAX_DOMAINS]);
/* How long that takes: the ticks of the thread that is ready last. */
uint64_t balance_longest(const uint64_t *ticks, uint32_t shard_count, uint32_t threads,
                         uint32_t (*turns)[ENGINE_MAX_DOMAINS]);

#endif
