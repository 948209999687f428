/* Stretches of windows, with several ranks; see rank_run.c. */
#ifndef HEDDLE_RUNTIME_SCHEDULER_RANK_RUN_H
#define HEDDLE_RUNTIME_SCHEDULER_RANK_RUN_H

#include <stdint.h>

/* All ranks exchange their state and decisions: this_run.meeting. */
void rank_run_meet(void);
/* Runs the stretch that begins with the first step of all ranks, at `time_ps`, and meets. */
void rank_run_stretch(uint64_t time_ps);

#endif
