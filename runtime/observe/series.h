/* Time series: what every counter grew by in each interval of simulated time, as a CSV file and as
 * counter tracks of the timeline.
 *
 * A row holds what happened at `from_ps` or later and before `to_ps`. So a sample at T is taken
 * when all that happens before T has happened and nothing else, which the scheduler sees to
 * (run.c), whatever the number of threads: rows are the same bytes. The last row ends 1 ps
 * after the run's last edge. Its counters are those of the statistics file, so the sum of a column
 * is the number there; the first row of a restored run holds all that came before it.
 *
 * Nothing here is simulated state. While no interval was asked for, series_next() is ENGINE_NEVER
 * and nothing is kept. */
#ifndef HEDDLE_RUNTIME_OBSERVE_SERIES_H
#define HEDDLE_RUNTIME_OBSERVE_SERIES_H

#include <stdbool.h>
#include <stdint.h>

struct platform_table;

/* Called after stats_open(). Prints why and returns false when the series cannot be written. */
bool series_open(const struct platform_table *table);
/* The run begins at engine.time_ps, or goes on. */
void series_begin(void);
/* Time of the next sample; ENGINE_NEVER: none. */
uint64_t series_next(void);
/* Takes the sample that is due. Between steps. */
void series_sample(void);
/* Takes all up to `time_ps`. */
void series_sample_until(uint64_t time_ps);
/* True if samples are tracks of the timeline, too. Then ranks, whenever they meet, take all samples
 * before the end of the stretch they have run, since a sample precedes the events of its time. */
bool series_has_tracks(void);
/* At rank 0: keeps the samples that all ranks have taken. */
void series_join_ranks(void);
/* At the end of a run, before the timeline is closed: the last row, and the file. False: it could
 * not be written, said on standard error. */
bool series_close(void);

#endif
