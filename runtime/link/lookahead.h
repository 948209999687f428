/* Lookahead of conservative parallel simulation: for how long partitions may go on without hearing
 * of each other. It is the length of the windows of scheduler/run.c. */
#ifndef HEDDLE_RUNTIME_LINK_LOOKAHEAD_H
#define HEDDLE_RUNTIME_LINK_LOOKAHEAD_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/engine/platform_table.h"

/* The shortest time in which one partition can notice what another does, in ps; 0: there are no
 * partitions, or it is not more than one cycle of the fastest clock. */
uint64_t lookahead_ps(const struct platform_table *table);
/* The shortest time for what crosses a link, or the border of the main partition, in whole windows:
 * where platforms are cut for ranks. At least a window. It follows from the description alone, so
 * it may decide what happens. */
uint64_t lookahead_links_ps(const struct platform_table *table);
/* The shortest time between ranks, and between the main partition and the others, in whole windows.
 */
uint64_t lookahead_ranks_ps(const struct platform_table *table);

#endif
