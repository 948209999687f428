/* Samples of several ranks (series.h) until all of them have taken those of the same time. A sample
 * is its time, the number of columns that grew, then column and growth of each. */
#ifndef HEDDLE_RUNTIME_OBSERVE_SERIES_RANKS_H
#define HEDDLE_RUNTIME_OBSERVE_SERIES_RANKS_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/engine/rank_channel.h"

void series_ranks_forget(void);
/* Adds a sample of this rank. */
void series_ranks_add(const uint64_t *sample);
/* For the channel of series.c: encode puts the samples that were added, merge takes those of
 * another rank. */
void series_ranks_encode(uint32_t to);
void series_ranks_merge(struct rank_reader *from);
/* At rank 0: the next sample that all ranks have, joined; `sample` has room for all columns. */
bool series_ranks_next(uint64_t *sample);

#endif
