/* By how many threads shards are worth to be run, from counts of what they did, and who runs which
 * first; see balance.c. By the leader, between windows. No result depends on it. */
#ifndef HEDDLE_RUNTIME_BALANCE_H
#define HEDDLE_RUNTIME_BALANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/engine/engine.h"
#include "runtime/observe/stats.h"

void balance_open(uint32_t threads);
/* Begins a window in which these shards have something to do (bit i: shard i); returns the threads
 * it is worth. */
uint32_t balance_begin(uint64_t due);
/* Behind a window that counts. */
void balance_count(uint64_t due);
/* By thread: which shards it runs in the next relay. */
const uint64_t *balance_dealt(void);
/* Behind a relay of so many windows: counts what these shards did in it, and returns it, in ticks.
 */
uint64_t balance_count_relay(uint64_t seen, uint32_t windows);
/* Then: how many of its windows several threads ran (all or none), and how many times as long one
 * would have taken. */
void balance_report_relay(uint64_t work, uint32_t windows, double gain);
/* Behind so many windows in which shard 0 did the work of all (unite.h); returns it, in ticks. */
uint64_t balance_count_united(uint32_t windows);
/* Are windows handed on (relay.h), where there are threads? What is counted for threads that do not
 * exist is by that. */
void balance_hand_on(bool handed_on);
const struct stats_threads *balance_reported(void);
/* The order in which each thread is to claim shards: first its own, which make its share about as
 * large as those of the others, then those of the others; in both those with the most ticks first.
 */
void balance_turns(const uint64_t *ticks, uint32_t shard_count, uint32_t threads,
                   uint32_t (*turns)[ENGINE_MAX_DOMAINS]);
/* Which shards each thread is to run, all about as much: bits, by thread. The main shard is thread
 * 0's. */
void balance_deal(const uint64_t *ticks, uint32_t shard_count, uint32_t threads, uint64_t *dealt);
/* How long that takes: the ticks of the thread that is ready last. */
uint64_t balance_longest(const uint64_t *ticks, uint32_t shard_count, uint32_t threads,
                         uint32_t (*turns)[ENGINE_MAX_DOMAINS]);

#endif
