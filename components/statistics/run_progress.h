/* How far a run has come, for a user at a terminal: kernels and work-groups. Nothing simulated,
 * and no statistic, depends on it. */
#ifndef HEDDLE_STATISTICS_RUN_PROGRESS_H
#define HEDDLE_STATISTICS_RUN_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

void progress_open(void);
/* The program, or the list of traces, has one more kernel, of so many work-groups. */
void progress_asked(uint64_t work_groups);
/* A kernel begins; work-groups have ended. From any thread. */
void progress_begun(void);
void progress_done(uint64_t work_groups);
/* "kernel 3 of 10, 45 % of the work-groups, 12 s left", or "". `seconds`: since the run began. */
void progress_tell(char *text, size_t size, double seconds);

#endif
