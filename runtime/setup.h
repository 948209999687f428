/* What the files of the runtime know of each other; nothing here is for components. */
#ifndef HEDDLE_RUNTIME_SETUP_H
#define HEDDLE_RUNTIME_SETUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine.h"
#include "platform.h"

/* arena.c */

/* `bytes` of zeroed address space without backing until touched; ends the program when the machine
 * refuses. */
void *arena_reserve(size_t bytes);
void arena_release(void *base, size_t bytes);
/* Reserves the arena, or empties it (tests build several platforms). */
void arena_open(void);

/* engine.c */

/* `count` instances of a unit that follow each other in ids and in memory. */
struct engine_group {
    const struct unit_type *unit;
    char *instances;
    uint32_t first_id;
    uint32_t count;
    uint32_t domain;
};

struct engine_limits {
    uint64_t max_cycles;  /* of the fastest clock; 0: none */
    uint64_t stall_limit; /* 0: default */
    int tick_order;       /* enum engine_order */
    uint64_t seed;
    bool tick_all;
    bool progress;
};

/* Ends of bitmaps, wheels and queues; `groups` stands in the arena, ordered by domain.
 * engine.domains is filled. */
void engine_open(const struct engine_group *groups, uint32_t group_count, uint32_t id_count);
void engine_set_limits(const struct engine_limits *limits);
/* Asks for step_end() work: kernels or shared links have something to settle when all edges of this
 * time are done. */
void engine_ask_step_end(void);
/* Simulated time moved so far; messages sent so far over all rings. */
uint64_t engine_messages(void);

/* clock.c */
void clock_set(struct engine_domain *d, uint64_t hz);
/* Moves to edge `cycle`, not before the current one. */
void clock_move(struct engine_domain *d, uint64_t cycle);
/* Time of the edge after the current one. */
uint64_t clock_next_ps(const struct engine_domain *d);

/* ring.c */
void ring_open(const struct platform_table *table);
/* Gives the messages that waited for a shared link their times, in order of ring number. */
void ring_settle_links(void);
struct ring;
struct message;
/* In trace.c: a message sent while tracing. */
void ring_trace(const struct ring *r, const struct message *m);

struct ring_link_use {
    uint64_t messages;
    uint64_t bytes;
    uint64_t busy_ps;
};
/* Use of one half of a link: 0 forward (requests), 1 backward. A shared link is all in half 0. */
const struct ring_link_use *ring_link_use(uint32_t link, unsigned half);

/* kernel.c */
void kernel_settle(void); /* at the end of a step: snapshots of kernels that began or ended in it */

/* stats.c */
bool stats_open(const struct platform_table *table, const struct heddle_options *options);
bool stats_write(void);
bool stats_wanted(void);
/* Snapshots of all components' statistics, for kernels. */
uint32_t stats_snapshot_take(void);
/* Appends the JSON object of the differences since the snapshot to the spool, and frees the
 * snapshot. */
void stats_snapshot_spool(uint32_t snapshot, uint64_t *offset, uint64_t *length);

/* trace.c */
bool trace_open(const struct platform_table *table, const char *path);
bool trace_close(void);

/* platform.c */
const char *platform_string(uint32_t offset);
void *platform_part_at(uint32_t number);
const struct unit_type *platform_unit_of(uint32_t leaf);
const void *platform_driver(void);
/* Complaints about a table go to stderr as "heddle: platform tables: ..."; false if there were any.
 */
bool platform_check(const struct platform_table *table);

#endif
