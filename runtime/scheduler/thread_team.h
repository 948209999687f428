/* Threads for the length of one call: for work that a component has cut into parts which do not
 * depend on each other, inside of one of its ticks. Each starts with the caller's rights to the
 * arena and ends before the call does, so none is left when the program forks, or when the platform
 * is unloaded. Starting one takes some 50 microseconds. */
#ifndef HEDDLE_RUNTIME_SCHEDULER_THREAD_TEAM_H
#define HEDDLE_RUNTIME_SCHEDULER_THREAD_TEAM_H

#include <stdint.h>

enum { THREAD_TEAM_MAX = 32 };

/* Runs work(0) in the calling thread and work(1) to work(threads - 1) beside it, and returns when
 * all have. Fewer when the system refuses threads: `work` may not rely on any but the first. */
void thread_team_run(void (*work)(uint32_t thread), uint32_t threads);

#endif
