/* The statistics file of a run: opened when the platform stands, so that a wrong path costs no
 * simulation, and written at its end, as a whole or not at all. false: said on standard error. */
#ifndef HEDDLE_RUNTIME_STATS_H
#define HEDDLE_RUNTIME_STATS_H

#include <stdbool.h>

#include "runtime/state/platform.h"

bool stats_open(const struct platform_table *table);
/* Are spans of statistics wanted (stats_span.h), which begin and end with a window?
 * The same at all ranks. */
bool stats_take_spans(void);

/* What several threads could help and did; the scheduler counts it (scheduler/balance.h). Work is
 * in ticks. */
struct stats_threads {
    uint64_t windows;
    uint64_t together;    /* of these, in how many several threads were wanted, */
    uint64_t handed_on;   /* and how many were handed on from one to the next (relay.h) */
    uint64_t alone_ticks; /* work of those that were counted, for one thread ... */
    uint64_t ticks;       /* ... and as they were run, if every thread had a processor */
};

/* `threads` NULL: none of that is written. */
bool stats_write(const struct stats_threads *threads);

#endif
