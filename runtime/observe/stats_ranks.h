/* Statistics of several ranks. Each rank counts for its own shards. Rank 0 writes the statistics:
 * it gets the other ranks' numbers and puts them into its own copies of their components. */
#ifndef HEDDLE_RUNTIME_OBSERVE_STATS_RANKS_H
#define HEDDLE_RUNTIME_OBSERVE_STATS_RANKS_H

#include <stdint.h>

struct json;
struct platform_table;

/* The instance that a block of statistics (stats_span.h) belongs to. */
uint32_t stats_leaf_of_block(const struct platform_table *table, uint32_t block);
/* Called when the blocks are found, before all functions that follow. With one rank none of it is
 * used. From then on rank 0 gets the numbers of the others, by a channel
 * (engine/rank_channel.h). */
void stats_ranks_open(const struct platform_table *table);
/* The rank that sends over this half of a link; RANK_MAX: none does. */
uint32_t stats_rank_of_half(uint32_t link, unsigned half);

/* The host machines' time and memory for each rank, as rank 0 received them last. */
void stats_ranks_write(struct json *out);

#endif
