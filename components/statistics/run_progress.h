/* How far a run has come, for a user at a terminal: kernels and work-groups. Nothing simulated,
 * and no statistic, depends on it. */
#ifndef HEDDLE_STATISTICS_RUN_PROGRESS_H
#define HEDDLE_STATISTICS_RUN_PROGRESS_H

#include <stdint.h>

#include "runtime/engine/extension.h"

void progress_open(void);
/* The program, or the list of traces, has one more kernel, of so many work-groups. */
void progress_asked(uint64_t work_groups);
/* A kernel begins; work-groups have ended. From any thread. */
void progress_begun(void);
void progress_done(uint64_t work_groups);
void progress_tell(struct run_counts *counts);

#endif
