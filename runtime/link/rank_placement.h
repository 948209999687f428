/* The rank that runs each partition. `heddle run` decides it at rank 0 (codegen/place) and says it
 * in the environment: the rank of each partition, "0,0,1,1". The others learn it from rank 0. */
#ifndef HEDDLE_RUNTIME_LINK_RANK_PLACEMENT_H
#define HEDDLE_RUNTIME_LINK_RANK_PLACEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/engine/platform_table.h"

#define PLACEMENT_ENVIRONMENT "HEDDLE_PLACE"

/* The placement that the environment names; "" when it names none. */
const char *placement_text(void);
/* Fills rank_of[partition]. Partition 0, which has the host's side, is at rank 0. Prints why and
 * returns false when the list is not one of this platform. */
bool placement_of_partitions(const struct platform_table *table, uint32_t ranks, uint8_t *rank_of);

#endif
