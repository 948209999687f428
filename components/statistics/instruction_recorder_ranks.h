/* With several ranks: what wavefronts execute anywhere is told to the recorder of rank 0.
 *
 * The recorder counts on hearing of one unit in order, and of no wavefront before its kernel has
 * begun or after it has ended. Both hold: a rank keeps a list for each unit, ranks tell their lists
 * whenever they meet, and what begins and ends kernels crosses between ranks, too. */
#ifndef HEDDLE_STATISTICS_INSTRUCTION_RECORDER_RANKS_H
#define HEDDLE_STATISTICS_INSTRUCTION_RECORDER_RANKS_H

#include <stdbool.h>
#include <stdint.h>

#include "instruction_recorder.h"

/* At every rank but 0: makes lists for `units` the recorder. */
void recorder_ranks_open(uint32_t units);
/* When ranks meet: the lists go to rank 0, which tells its recorder. */
void recorder_ranks_tell(void);
void recorder_ranks_hear(uint32_t from);
/* Should they meet soon? */
bool recorder_ranks_is_filling(void);

#endif
