/* The progress of a run, for a user at a terminal: kernels and work-groups. Nothing simulated, and
 * no statistic, depends on it. */
#ifndef HEDDLE_COMPONENTS_STATISTICS_RUN_PROGRESS_H
#define HEDDLE_COMPONENTS_STATISTICS_RUN_PROGRESS_H

#include <stdint.h>

#include "runtime/engine/extension.h"

void progress_open(void);
/* The program, or the list of traces, has one more kernel, of so many work-groups. */
void progress_add_kernel(uint64_t work_groups);
/* A kernel begins; work-groups have ended. From any thread. */
void progress_begin_kernel(void);
void progress_end_work_groups(uint64_t work_groups);
void progress_read(struct run_counts *counts);

#endif
