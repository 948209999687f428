/* Tracing: a file of Chrome/Perfetto trace events (JSON), written while the simulation runs. Times
 * are microseconds with six decimals, that is, exact picoseconds. Every component is a thread of
 * the trace, and has a counter of the spans it has open by name. Off, a call costs one branch. */
#ifndef HEDDLE_RUNTIME_OBSERVE_TIMELINE_H
#define HEDDLE_RUNTIME_OBSERVE_TIMELINE_H

#include "base/likely.h"
#include "runtime/engine/engine.h"

void timeline_write_begin(const struct component *c, uint64_t id, const char *name);
void timeline_write_end(const struct component *c, uint64_t id, const char *name);

/* A span of `c`, open from now until timeline_end() with the same id and name. Spans may overlap;
 * ids need to be unique only among the open spans of the same component and name. From a tick of
 * `c`; `name` stays where it is until the end of the run. */
static inline void timeline_begin(const struct component *c, uint64_t id, const char *name)
{
    if (unlikely(engine.tracing & ENGINE_TIMELINE))
        timeline_write_begin(c, id, name);
}

/* The span of a launch: those that a trace of some launches only is limited to (timeline_select.c).
 * Launches are numbered from 1 in the order in which they begin. Ended as other spans. */
void timeline_write_launch(const struct component *c, uint64_t id, const char *name);
/* A copy of the name that lasts until the end of the run; NULL when no trace is written. */
const char *timeline_name(const char *name);

static inline void timeline_begin_launch(const struct component *c, uint64_t id, const char *name)
{
    if (unlikely(engine.tracing & ENGINE_TIMELINE))
        timeline_write_launch(c, id, name);
}

static inline void timeline_end(const struct component *c, uint64_t id, const char *name)
{
    if (unlikely(engine.tracing & ENGINE_TIMELINE))
        timeline_write_end(c, id, name);
}

/* ---- for the runtime ---- */

/* A counter of `path` grew by `growth` from `from_ps` to `to_ps`, which is now. Between steps; the
 * texts stay where they are until the end of the run. */
void timeline_write_growth(const char *path, const char *counter, uint64_t from_ps, uint64_t to_ps,
                           uint64_t growth);

static inline void timeline_count(const char *path, const char *counter, uint64_t from_ps,
                                  uint64_t to_ps, uint64_t growth)
{
    if (unlikely(engine.tracing & ENGINE_TIMELINE))
        timeline_write_growth(path, counter, from_ps, to_ps, growth);
}

struct platform_table;
/* Opens the file, if the options name one. Prints why and returns false when it cannot. */
bool timeline_open(const struct platform_table *table);
/* At the end of a window: writes what the shards have collected, in order of time. */
void timeline_settle(void);
/* At the end of a run. False: the file could not be written. */
bool timeline_close(void);

#endif
