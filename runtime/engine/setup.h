/* What the files of the runtime know of each other; nothing here is for components. */
#ifndef HEDDLE_RUNTIME_SETUP_H
#define HEDDLE_RUNTIME_SETUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine.h"
#include "runtime/state/platform.h"

/* arena.c */

/* `bytes` of zeroed address space without backing until touched; ends the program when the machine
 * refuses. */
void *arena_reserve(size_t bytes);
void arena_release(void *base, size_t bytes);
/* Reserves the arena, or empties it (tests build several platforms). */
void arena_open(void);
/* Gives the addresses back; nothing of the platform may be used any more. */
void arena_close(void);

#define ARENA_ALIGNMENT 64

/* Zeroed memory for tables of pointers, which are made anew at start-up and are not state. Lasts
 * until the next arena_open(). */
void *arena_derive(size_t bytes);
/* Zeroes whole pages of a reservation, from the start of one on. */
void arena_clear(void *base, size_t bytes);
/* arena_allocate() for what is touched all the time, however large. */
uint32_t arena_allocate_front(size_t bytes);

/* Up to where both parts of the arena have been handed out, in bytes from its beginning. */
struct arena_ends {
    uint64_t front;
    uint64_t rear;
};
struct arena_ends arena_ends(void);
/* Hands out what is left up to there. false: there is no such place, and nothing is done. */
bool arena_extend(struct arena_ends to);

/* engine.c */

/* `count` instances of a unit that follow each other in ids and in memory. */
struct engine_group {
    const struct unit_type *unit;
    char *instances;
    uint32_t first_id;
    uint32_t count;
    uint32_t domain;
    uint32_t shared; /* arena offset: platform_shared(), 0 none yet */
};

struct engine_limits {
    uint64_t max_cycles;  /* of the fastest clock; 0: none */
    uint64_t stall_limit; /* 0: default */
    int tick_order;       /* enum engine_order */
    uint64_t seed;
    bool windowless; /* one shard, and nothing waits for the ends of windows (functional mode) */
    bool tick_all;
    bool progress;
};

/* Ends of bitmaps, wheels and queues; `groups` stands in the arena, ordered by domain.
 * engine.domains is filled. */
void engine_open(const struct engine_group *groups, uint32_t group_count, uint32_t id_count);
/* enum engine_order, seed of random orders, tick all. */
void engine_set_order(int order, uint64_t seed, bool all);

/* window.c */
void window_open(void); /* called by engine_open() */
void engine_set_limits(const struct engine_limits *limits);
/* engine_run() is to end with ENGINE_PAUSED behind the last step at or before `time_ps`, if it has
 * not ended by then; ENGINE_NEVER: not any more. Running on is as if there had been no pause. With
 * one shard only. */
void engine_pause_at(uint64_t time_ps);
/* Takes the pointers out of the engine's state in the arena, and puts them back. */
void engine_hide_pointers(void);
void engine_show_pointers(void);
/* Simulated time moved so far; messages sent so far over all rings. */
uint64_t engine_messages(void);

/* clock.c */
void clock_set(struct engine_domain *d, uint64_t hz);
/* Moves to edge `cycle`, not before the current one. */
void clock_move(struct engine_domain *d, uint64_t cycle);
/* Time of the edge after the current one. */
uint64_t clock_next_ps(const struct engine_domain *d);

/* ring.c */
/* First of all that is allocated: the rings stand at the same place of every arena. */
void ring_reserve(void);
void ring_open(const struct platform_table *table);
/* All messages pass ring_trace(), or none. A state does not depend on it: off while one is written,
 * set again when one has been loaded. */
void ring_trace_all(bool on);
/* Gives the messages of a shard that waited for a shared link their times, in order of ring number.
 * Links that several shards send over are left to ring_settle_mixed(), which the leader calls at
 * the end of a window. */
void ring_settle_links(uint32_t shard);
void ring_settle_mixed(void);
struct ring;
struct message;
/* In timeline.c: a message sent at `time_ps` while tracing; `late`: granted by a shared link. */
void ring_trace(const struct ring *r, const struct message *m, uint64_t time_ps, bool late);
/* A message of another shard, for the receiver of ring `number` (of the tables) in cycle `ready`;
 * by exchange.c, in the shard of the receiver. */
void ring_take(uint32_t number, uint64_t ready);
/* Has the receiver, in another shard, made room meanwhile? Then the sender is woken when it may use
 * it. By exchange.c, in the shard of the sender. */
bool ring_look_again(uint32_t number);

struct ring_link_use {
    uint64_t messages;
    uint64_t bytes;
    uint64_t busy_ps;
};
/* Use of one half of a link: 0 forward (requests), 1 backward. A shared link is all in half 0. */
const struct ring_link_use *ring_link_use(uint32_t link, unsigned half);

/* stats.c */
bool stats_open(const struct platform_table *table, const struct heddle_options *options);
bool stats_write(void);
bool stats_wanted(void);

/* timeline.c */
bool trace_open(const struct platform_table *table, const char *path);
bool trace_close(void);
void trace_settle(void); /* at the end of a window: writes what the shards have collected */

/* watch.c */
void watch_open(const struct platform_table *table, const struct heddle_options *options);
void watch_message(const struct ring *r, const struct message *m, uint64_t time_ps);
/* At the end of a run: what has not been printed yet. */
void watch_close(void);
/* false: no line is suspected. */
bool watch_suspects(struct platform_lines *lines);

/* platform.c */
const char *platform_string(uint32_t offset);
void *platform_part_at(uint32_t number);
const struct unit_type *platform_unit_of(uint32_t leaf);
const void *platform_driver(void);
/* Complaints about a table go to stderr as "heddle: platform tables: ..."; false if there were any.
 */
bool platform_check(const struct platform_table *table);

#endif
