/* The time at which a run ends in which a component has failed (engine_fail()); see failure.c.
 * Called by the leader, between windows. */
#ifndef HEDDLE_RUNTIME_SCHEDULER_FAILURE_H
#define HEDDLE_RUNTIME_SCHEDULER_FAILURE_H

#include <stdbool.h>
#include <stdint.h>

/* A component has failed at `time_ps`: the run ends with the stretch of that time, or where a
 * stretch is one window, with the next window. */
void failure_schedule_end(uint64_t time_ps);
/* At the end of a window: notes the failure of a component of this rank, if there is one. */
void failure_close_window(void);
/* With several ranks: the first failure of all becomes that of rank 0. */
void failure_agree(void);
/* True if the run ends before the step at `next_ps`, since a component has failed. `is_live`:
 * something else is left to do. */
bool failure_ends_run(uint64_t next_ps, bool is_live);

#endif
