/* The threads that run shards; see crew.c. The calling thread is the leader and one of them.
 * Workers are started once a platform and sleep between rounds. */
#ifndef HEDDLE_RUNTIME_CREW_H
#define HEDDLE_RUNTIME_CREW_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/engine/engine.h"
#include "runtime/engine/shard.h"

/* How many threads have a processor to run on. */
uint32_t crew_most(void);
/* Starts the workers, once a platform. */
void crew_open(uint32_t threads);
/* Runs `work(shard)` for all shards in `due` (bit i: shard i), on about as many threads as are
 * wanted; 1: on this one. */
void crew_run(void (*work)(uint32_t shard), uint64_t due, uint32_t threads);
/* Runs what relay_begin() has begun, on about as many threads as are wanted. */
void crew_relay(uint32_t threads);
bool crew_has_workers(void);
/* Several threads were asked for, and pace.c says how many run: not where they are only counted. */
bool crew_is_paced(void);
/* Test aid: waits, by a random number. */
void crew_delay(uint64_t *state);
/* For those who wait for something that is told by others: look at the counter, look for what is
 * awaited, and if it has not come, wait until there is news; `looks`: for the how manieth time.
 * Waits a moment, or until somebody has told something since. */
uint32_t crew_news(const struct counter *c);
void crew_wait(struct counter *c, uint32_t news, uint32_t looks);
void crew_tell(struct counter *c);
/* Nanoseconds between telling one worker of a round and hearing of its end, when there is nothing
 * to do in it: the median of some. 0: no worker, or those of tests. Between rounds. */
uint64_t crew_round_ns(void);
/* The order in which each thread claims shards from now on. By the leader. */
void crew_take_turns(uint32_t (*turns)[ENGINE_MAX_DOMAINS]);

#endif
