/* By how many threads shards are worth to be run, from counts of what they did, and who runs which
 * first; see balance.c. By the leader, between windows. No result depends on it. */
#ifndef HEDDLE_RUNTIME_BALANCE_H
#define HEDDLE_RUNTIME_BALANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/engine/engine.h"
#include "runtime/observe/stats.h"

void balance_open(uint32_t threads);
/* Begins a window, or several at once, in which these shards have something to do (bit i: shard i);
 * returns the threads it is worth. */
uint32_t balance_begin(uint64_t due, uint32_t windows);
/* Behind a window that counts. */
void balance_count(uint64_t due, uint32_t windows);
const struct stats_threads *balance_reported(void);
/* The order in which each thread is to claim shards: first its own, which make its share about as
 * large as those of the others, then those of the others; in both those with the most ticks first.
 */
void balance_turns(const uint64_t *ticks, uint32_t shard_count, uint32_t threads,
                   uint32_t (*turns)[ENGINE_MAX_DOMAINS]);
/* How long that takes: the ticks of the thread that is ready last. */
uint64_t balance_longest(const uint64_t *ticks, uint32_t shard_count, uint32_t threads,
                         uint32_t (*turns)[ENGINE_MAX_DOMAINS]);

#endif
