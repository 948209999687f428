/* Lookahead of conservative parallel simulation: for how long partitions may go on without hearing
 * of each other. It is the length of the windows of scheduler/window.c. */
#ifndef HEDDLE_RUNTIME_LOOKAHEAD_H
#define HEDDLE_RUNTIME_LOOKAHEAD_H

#include "runtime/engine/platform_table.h"

/* The shortest time in which one partition can notice what another does, in ps; 0: there are no
 * partitions, or it is not more than one cycle of the fastest clock. */
uint64_t lookahead_ps(const struct platform_table *table);
/* The same between top-level instances ("device[1]" with all inside), in whole windows; what is in the
 * main partition counts as one of them. At least a window. It follows from the description alone,
 * so it may decide what happens. */
uint64_t lookahead_top_ps(const struct platform_table *table);
/* The same between ranks, and between the main partition and the others, in whole windows. */
uint64_t lookahead_ranks_ps(const struct platform_table *table);

#endif
