/* Windows of a run, for the leader. engine/shard.h has window_ask_end(), for what runs in a
 * window. */
#ifndef HEDDLE_RUNTIME_SCHEDULER_WINDOW_H
#define HEDDLE_RUNTIME_SCHEDULER_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

void window_open(void); /* for a platform */
/* Time of what the shards of this rank do next. If only undelivered arrivals are left, they are
 * delivered to find out. `is_live`: something is under way or will wake. */
uint64_t window_next(bool *is_live);
/* Runs all shards through the window in which `time_ps` lies. A shard that alone has something to
 * do runs further, until a component asks for the end of a window. Other ranks have no part in what
 * is run before `others_ps`; ENGINE_NEVER: there are none. window_plan.end_ps becomes the end of
 * the last window. */
void window_run(uint64_t time_ps, uint64_t others_ps);
/* Ends a window: grants turns of shared wires, notes failures and does the work that was left for
 * this time. */
void window_close(void);
/* The next time at which the leader decides whether the run goes on: the earliest of a look, a
 * pause, the limit and the end after a failure. */
uint64_t window_next_decision(void);
/* Time of the last step of any shard, at least `least`. */
uint64_t window_last_step(uint64_t least);

#endif
