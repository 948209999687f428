/* The threads that run shards; see crew.c. The calling thread is the leader and one of them.
 * Workers are started once a platform and sleep between rounds. */
#ifndef HEDDLE_RUNTIME_CREW_H
#define HEDDLE_RUNTIME_CREW_H

#include <stdint.h>

#include "runtime/engine/engine.h"

/* How many threads have a processor to run on. */
uint32_t crew_most(void);
/* Starts the workers, once a platform. */
void crew_open(uint32_t threads);
/* Runs `work(shard)` for all shards in `due` (bit i: shard i), on about as many threads as are
 * wanted; 1: on this one. */
void crew_run(void (*work)(uint32_t shard), uint64_t due, uint32_t threads);
/* Nanoseconds between telling one worker of a round and hearing of its end, when there is nothing
 * to do in it: the median of some. 0: no worker, or those of tests. Between rounds. */
uint64_t crew_round_ns(void);
/* The order in which each thread claims shards from now on. By the leader. */
void crew_take_turns(uint32_t (*turns)[ENGINE_MAX_DOMAINS]);

#endif
