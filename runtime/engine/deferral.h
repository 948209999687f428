/* Work that a component leaves for the time between two windows: for the end of the present one, or
 * until statistics are read. Components and lower rooms call these functions, which are defined in
 * scheduler/deferred.c. */
#ifndef HEDDLE_RUNTIME_ENGINE_DEFERRAL_H
#define HEDDLE_RUNTIME_ENGINE_DEFERRAL_H

#include <stdbool.h>
#include <stdint.h>

struct component;

/* From a tick of `c`: calls `work` when the window is over and no component is being ticked, then
 * ticks `c` again. For writing to a store that others read. Calls are made in the order of
 * instances; one is kept for each component. */
void engine_at_window_end(struct component *c, void (*work)(struct component *c));

/* Lets `c` defer work that shows only in the statistics. `flush` is called before they are
 * read, between two windows and while no component is being ticked, and does what the edges of the
 * component's clock before `cycle` would have done. It may be called for the same or fewer edges
 * again, and must change nothing then. False: everything has to be done in its own tick, since the
 * run writes or reads a state, or has several ranks, which log whose statistics change in a window.
 *
 * Called once for each component, when it is initialised. A component that has deferred work wakes
 * when the last of it would have been done, so that the run goes on as long. */
bool engine_try_defer(struct component *c, void (*flush)(struct component *c, uint64_t cycle));

/* Between windows: has all deferred work done, up to the edges before `time_ps`. */
void engine_flush(uint64_t time_ps);
/* Has all deferred work done up to the end of the window that has just been run. */
void engine_flush_window(void);

#endif
