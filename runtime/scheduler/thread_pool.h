/* The threads that run shards; see thread_pool.c. The calling thread is the leader and one of them.
 * Workers are started with a platform, sleep between rounds, and have ended when the platform is
 * finished: its front end may unload the code that they run. */
#ifndef HEDDLE_RUNTIME_SCHEDULER_THREAD_POOL_H
#define HEDDLE_RUNTIME_SCHEDULER_THREAD_POOL_H

#include <stdint.h>

/* The number of threads that have a processor to run on. */
uint32_t thread_pool_processors(void);
/* Starts the workers, once a platform: together with the leader they are `threads`. */
void thread_pool_open(uint32_t threads);
/* Ends the workers; whatever they counted has been read. */
void thread_pool_close(void);
/* A round: runs `work(shard)` for all shards in `due` (bit i: shard i). */
void thread_pool_run(void (*work)(uint32_t shard), uint64_t due);

#endif
