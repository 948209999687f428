/* Stall detection and the progress line; see progress.c. Called by the leader, between windows. */
#ifndef HEDDLE_RUNTIME_SCHEDULER_PROGRESS_H
#define HEDDLE_RUNTIME_SCHEDULER_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

void run_progress_open(void); /* for a platform */
/* A run begins; sets the time of the next look (this_run.look_ps). */
void run_progress_begin(void);
/* Looks are made before the first step at or after multiples of an interval, whatever the number of
 * shards; time in which all sleep is jumped over and does not count. True if nothing has moved for
 * too long. */
bool run_progress_look(uint64_t start_ps);
/* After a look: true if --max-instructions were executed. */
bool run_progress_is_spent(void);
/* Takes the progress line off the terminal. */
void run_progress_erase(void);

#endif
