/* Statistics of several ranks. Each counts what its own shards do; rank 0, which writes them, asks
 * for the others' numbers and puts them where its own copies of these components have theirs. */
#ifndef HEDDLE_RUNTIME_STATS_RANKS_H
#define HEDDLE_RUNTIME_STATS_RANKS_H

#include <stdint.h>

struct json;
struct platform_table;

/* The instance that a block of statistics (stats_span.h) belongs to. */
uint32_t stats_leaf_of_block(const struct platform_table *table, uint32_t block);
/* When the blocks are found, before all that follows. With one rank none of it is used. From then
 * on rank 0 gets the numbers of the others, by a channel (engine/rank_channel.h). */
void stats_ranks_open(const struct platform_table *table);

/* What the host machines have spent on each rank, as rank 0 has heard last. */
void stats_ranks_write(struct json *out);

#endif
