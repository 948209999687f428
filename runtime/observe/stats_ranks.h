/* Statistics of several ranks. Each counts what its own shards do; rank 0, which writes them, asks
 * for the others' numbers and puts them where its own copies of these components have theirs. */
#ifndef HEDDLE_RUNTIME_STATS_RANKS_H
#define HEDDLE_RUNTIME_STATS_RANKS_H

#include <stdint.h>

struct json;
struct platform_table;

/* The instance that a block of statistics (stats_span.h) belongs to. */
uint32_t stats_leaf_of_block(const struct platform_table *table, uint32_t block);
/* The rank that sends over this half of a link; UINT32_MAX: nobody does. */
uint32_t stats_rank_of_half(uint32_t link, unsigned half);

/* By all ranks but 0: puts the numbers of their components and rings into what rank 0 is told. */
void stats_ranks_tell(void);
/* By rank 0. */
void stats_ranks_take(uint32_t from);
/* What the host machines have spent on each rank, as it was told last. */
void stats_ranks_write(struct json *out);

#endif
