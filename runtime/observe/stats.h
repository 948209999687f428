/* The statistics file of a run: opened when the platform is built, so that a wrong path costs no
 * simulation, and written at its end, as a whole or not at all. Functions that return false have
 * printed why. */
#ifndef HEDDLE_RUNTIME_OBSERVE_STATS_H
#define HEDDLE_RUNTIME_OBSERVE_STATS_H

#include <stdbool.h>

#include "runtime/state/platform.h"

bool stats_open(const struct platform_table *table);
/* True if spans of statistics are wanted (stats_span.h), which begin and end with a window. All
 * ranks agree. */
bool stats_have_spans(void);

bool stats_write(void);

#endif
