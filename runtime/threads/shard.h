/* Lanes: the part of a platform that one thread ticks at a time. Known to the runtime's own files
 * only; see window.c for the protocol between them. */
#ifndef HEDDLE_RUNTIME_LANE_H
#define HEDDLE_RUNTIME_LANE_H

#include "runtime/engine/setup.h"

/* Of whoever runs the lane; read by the leader between windows. */
struct lane {
    _Alignas(64) uint64_t until_ps; /* no edge at or after this time is run */
    uint64_t now_ps;                /* of the last edge that was run */
    uint64_t next_ps;               /* of the next one; ENGINE_NEVER: all asleep */
    uint64_t wire_ps;               /* when a shared wire of the lane is free for what waits */
    uint64_t ticks;                 /* of this window, if that is counted */
    uint64_t instructions;          /* retired in this window; likewise */
    uint64_t random_state;          /* for orders of ticks */
    bool live;                      /* not only periodic wake-ups are left */
    bool step_end;                  /* shared links of the lane have something to settle */
    bool counted;                   /* this window: load.c */
    uint32_t waits;                 /* senders that wait for room which another lane makes */
    uint64_t written[2];            /* mail.c: bit i = the box to lane i holds something; by copy */
};
extern struct lane lanes[ENGINE_MAX_DOMAINS] __attribute__((visibility("hidden")));

static inline uint32_t component_lane(const struct component *c)
{
    return c->domain / engine.clock_count;
}

static inline uint64_t lane_now(uint32_t domain)
{
    return engine.domains[domain].time_ps;
}

/* engine.c */

/* Finds out who is awake, after the host or another lane may have changed that. */
void lane_find_awake(uint32_t lane);
/* Sets next_ps and live. */
void lane_plan(uint32_t lane);
/* Runs all edges before until_ps; needs and leaves a plan. */
void lane_run(uint32_t lane);
/* Moves the lane's clocks to their last edges before `time_ps`; nothing may be due until then. */
void lane_move_clocks(uint32_t lane, uint64_t time_ps);

/* window.c */

/* Whoever calls it in a tick has left something to be done at the end of the window, or in another
 * lane behind that. */
void window_ask_end(void);

/* split.c */

/* How many lanes the platform is cut into for `threads` threads: 1 when nothing would be gained. */
uint32_t split_lane_count(const struct platform_table *table, uint32_t threads);
/* The shortest time in which one partition can notice what another does, in ps; 0: there are no
 * partitions, or it is not more than one cycle of the fastest clock. */
uint64_t split_window_ps(const struct platform_table *table);
/* The tables for `lanes` lanes, in the arena: each ring between two lanes becomes two, the sender's
 * under its old number, the receiver's behind all others. With one lane, `table` itself. */
const struct platform_table *split_table(const struct platform_table *table, uint32_t lanes);
uint32_t split_lane_of(const struct platform_table *table, uint32_t leaf);
uint32_t split_ring_total(void); /* the receivers' halves included */
uint32_t
split_far(uint32_t number); /* the receiver's half of a ring; itself when it is not split */
uint32_t split_near(uint32_t number); /* the sender's half */

/* mail.c: what is under way between lanes. */

void mail_open(const struct platform_table *table);
/* From the lane of the sender: a message that arrives in cycle `ready` of the receiver. */
void mail_message(uint32_t from, uint32_t to, uint32_t ring, uint64_t ready);
/* From the lane of the sender, which was refused and has not been since it was last woken: the
 * receiver has not taken the message in the slot that comes next. */
void mail_wait(uint32_t ring);
/* Begins a window: what was sent until now can be delivered. By the leader. */
void mail_turn(void);
/* Has something been sent since the last mail_turn(), or waits a sender for room? By the leader. */
bool mail_is_pending(void);
/* Must mail_deliver() be called for this lane in the window that begins? When not, what the lane
 * has sent before is forgotten here. By the leader. */
bool mail_is_due(uint32_t lane);
/* Takes in what the other lanes sent to `lane` before the last mail_turn(), when its clocks have
 * been moved to their last edges before `start_ps`, forgets what `lane` itself sent before that,
 * and wakes senders for which there is room now. By whoever runs the lane, before its edges. true:
 * the lane must plan anew. */
bool mail_deliver(uint32_t lane, uint64_t start_ps);
/* Delivers everything to everybody, none of it due before `start_ps`. By the leader, between
 * windows. */
void mail_deliver_all(uint64_t start_ps);

/* crew.c: the threads. */

/* How many threads have a processor to run on. */
uint32_t crew_most(void);
/* Starts the workers, once a platform. */
void crew_open(uint32_t threads);
/* Runs `work(lane)` for all lanes in `due` (bit i: lane i), on about as many threads as are wanted;
 * 1: on this one. */
void crew_run(void (*work)(uint32_t lane), uint64_t due, uint32_t threads);
/* The order in which each thread claims lanes from now on. By the leader. */
void crew_take_turns(uint32_t (*turns)[ENGINE_MAX_DOMAINS]);

/* load.c: by how many threads lanes are worth to be run, from counts of what they did. */

struct load_report {
    uint64_t windows;
    uint64_t together;    /* of these, in how many several threads were wanted */
    uint64_t alone_ticks; /* work of those that were counted, for one thread ... */
    uint64_t ticks;       /* ... and as they were run, if every thread had a processor */
};

void load_open(uint32_t threads);
/* Begins a window in which these lanes have something to do (bit i: lane i); returns the threads it
 * is worth. */
uint32_t load_begin(uint64_t due);
/* Does that window count? Then the lanes count their ticks and instructions. */
bool load_counts(void);
/* Behind a window that counts. */
void load_count(uint64_t due);
const struct load_report *load_reported(void);
/* The order in which each thread is to claim lanes: first its own, which make its share about as
 * large as those of the others, then those of the others; in both those with the most ticks first.
 */
void load_turns(const uint64_t *ticks, uint32_t lane_count, uint32_t threads,
                uint32_t (*turns)[ENGINE_MAX_DOMAINS]);
/* How long that takes: the ticks of the thread that is ready last. */
uint64_t load_longest(const uint64_t *ticks, uint32_t lane_count, uint32_t threads,
                      uint32_t (*turns)[ENGINE_MAX_DOMAINS]);

#endif
