/* The instances of a platform as the scheduler walks them.
 *
 * Life cycle: platform.c fills engine.domains and the groups, then calls engine_open() once. The
 * groups stay in the arena as long as the platform. A checkpoint is written between
 * engine_hide_pointers() and engine_show_pointers(). Defined in scheduler/shard.c. */
#ifndef HEDDLE_RUNTIME_ENGINE_INSTANCES_H
#define HEDDLE_RUNTIME_ENGINE_INSTANCES_H

#include "engine.h"
#include "unit.h"

/* `count` instances of a unit that follow each other in ids and in memory. */
struct engine_group {
    const struct unit_type *unit;
    char *instances;
    uint32_t first_id;
    uint32_t count;
    uint32_t domain;
    uint32_t shared_at; /* arena offset of platform_shared(); 0: none yet */
};

/* Ends of bitmaps and queues; `groups` is in the arena, ordered by domain.
 * engine.domains is filled. */
void engine_open(const struct engine_group *groups, uint32_t group_count, uint32_t id_count);
/* Takes the pointers out of the engine's state in the arena, and puts them back. */
void engine_hide_pointers(void);
void engine_show_pointers(void);

/* In scheduler/run.c: engine_run() is to end with ENGINE_PAUSED at the end of the window
 * of `time_ps`, if it has not ended by then; ENGINE_NEVER: not any more. Running on is as if
 * there had been no pause. With one shard only. */
void engine_pause_at(uint64_t time_ps);
/* From a tick: engine_run() is to end with ENGINE_PAUSED at the end of this window. */
void engine_pause_now(void);

#endif
