/* Which rank runs which partition. The same on every rank, from the tables alone. */
#ifndef HEDDLE_RUNTIME_PLACE_H
#define HEDDLE_RUNTIME_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/engine/platform_table.h"

/* Fills rank_of[partition]. Partition 0, which has the host's side, is at rank 0. Partitions of one
 * top-level instance stay together where there are enough of these. false: there are fewer
 * partitions than ranks, as was said. */
bool place_partitions(const struct platform_table *table, uint32_t ranks, uint8_t *rank_of);

#endif
