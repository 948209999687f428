/* What of a run the trace shows: a window of simulated time, components by path, launches by name
 * or number. An event is shown when all that was asked for agree. Decided where events are written,
 * in the order of time, so it does not depend on threads. */
#ifndef HEDDLE_RUNTIME_TIMELINE_SELECT_H
#define HEDDLE_RUNTIME_TIMELINE_SELECT_H

#include <stdbool.h>
#include <stdint.h>

struct platform_table;

/* false: said on standard error what matches nothing. */
bool timeline_select_open(const struct platform_table *table);
/* Is there a limit on times or launches? Otherwise spans are shown as they begin and end. */
bool timeline_select_limits_time(void);
bool timeline_selects_instance(uint32_t instance);
bool timeline_selects_ring(uint32_t ring);
/* Outside the window, which is known before a launch is. */
bool timeline_selects_time(uint64_t time_ps);

/* From here on in the order of time. */
void timeline_select_launch_begin(uint32_t instance, const char *name, uint64_t id);
/* Any span of `instance` ends; it need not be a launch. */
void timeline_select_launch_end(uint32_t instance, const char *name, uint64_t id, uint64_t now_ps);
bool timeline_selects_now(uint64_t now_ps);
/* Was anything selected between these times? For a span that ends now. */
bool timeline_selects_span(uint64_t begin_ps, uint64_t now_ps);
/* At the end of the run. false: a launch asked for never ran, or the run ended before the window;
 * said on standard error. */
bool timeline_select_close(uint64_t now_ps);

#endif
