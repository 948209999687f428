/* Cutting a platform into shards; see shard_cut.c. The tables that shard_cut_table() makes stay in
 * the arena; the look-ups are about the platform that was cut last. */
#ifndef HEDDLE_RUNTIME_LINK_SHARD_CUT_H
#define HEDDLE_RUNTIME_LINK_SHARD_CUT_H

#include "runtime/engine/platform_table.h"

/* The number of shards that the platform is cut into for `threads` threads: 1 when nothing would be
 * gained. With several ranks, `threads` at each of them, and it is found out which rank runs which
 * shard (ranks.of_shard). Prints why and returns 0 when they cannot share the platform. */
uint32_t shard_cut_shard_count(const struct platform_table *table, uint32_t threads);
/* The tables for `shards` shards, in the arena: each ring between two shards becomes two, the
 * sender's under its old number, the receiver's after all others. With one shard, `table` itself.
 */
const struct platform_table *shard_cut_table(const struct platform_table *table, uint32_t shards);
uint32_t shard_cut_shard_of(const struct platform_table *table, uint32_t leaf);
uint32_t shard_cut_ring_total(void); /* the receivers' halves included */
/* The receiver's and the sender's half of a ring; the ring itself when it is not split. */
uint32_t shard_cut_far(uint32_t number);
uint32_t shard_cut_near(uint32_t number);

#endif
