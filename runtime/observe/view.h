/* A run that is watched while it goes on: it shows its state on its status page
 * (runtime/engine/status_page.h), and obeys commands there. Everything happens between windows, in
 * the thread that called engine_run(), so what is simulated is the same bytes; real time only
 * decides when the status page is written.
 *
 * Without --view every call is a branch. */
#ifndef HEDDLE_RUNTIME_OBSERVE_VIEW_H
#define HEDDLE_RUNTIME_OBSERVE_VIEW_H

#include <stdbool.h>
#include <stdint.h>

struct platform_table;

extern bool view_is_open __attribute__((visibility("hidden")));   /* there is a status page */
extern bool view_must_stop __attribute__((visibility("hidden"))); /* look before the next window */

/* Called after stats_open(). Prints why and returns false when there is no page to write to. */
bool view_open(const struct platform_table *table);
/* The engine starts, or stops for the host. */
void view_show_begin(void);
void view_show_end(uint64_t time_ps);
/* Between windows, from time to time: writes the status page when some time has gone by, and waits
 * for as long as the page asks for a pause. */
void view_look(uint64_t time_ps);
/* Called by all of several ranks when they have met: rank 0 gets the other ranks' part of its
 * status page and, only if the page asks for it, the graph of waiting components. */
bool view_is_shared(void);
void view_gather(void);
/* Launch `number`, from 0, began or ended: between windows. */
void view_kernel(uint32_t number, const char *name, uint64_t start_ps, uint64_t end_ps,
                 uint64_t cycles);
/* At the end of a run. */
void view_close(void);

static inline void view_begin(void)
{
    if (view_is_open)
        view_show_begin();
}

static inline void view_end(uint64_t time_ps)
{
    if (view_is_open)
        view_show_end(time_ps);
}

#endif
