/* Windows of a run; see window.c. Called by the leader. window_ask_end() is in engine/shard.h, for
 * those that are run in a window. */
#ifndef HEDDLE_RUNTIME_SCHEDULER_WINDOW_H
#define HEDDLE_RUNTIME_SCHEDULER_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

void window_open(void); /* for a platform */
/* Time of what the shards of this rank do next. If only undelivered arrivals are left, they are
 * delivered to find out. `is_live`: something is under way or will wake. */
uint64_t window_next(bool *is_live);
/* Runs all shards through the window in which `time` lies; a single one goes on until a component
 * asks for the end of a window. window_plan.end_ps becomes the end of the last one. */
void window_run(uint64_t time);
/* Ends a window: grants turns of shared wires, notes failures and does the work that was put off.
 */
void window_close(void);
/* The end of time that may be run without a look, a pause or the limit. */
uint64_t window_free_until(void);
/* Time of the last step of any shard, at least `least`. */
uint64_t window_last_step(uint64_t least);

#endif
