/* The state of the present run, which the files of the scheduler share: run.c, window.c,
 * rank_run.c, failure.c, deferred.c, progress.c. It belongs to the leader, but for `stop`, which is
 * set in ticks. */
#ifndef HEDDLE_RUNTIME_SCHEDULER_RUN_STATE_H
#define HEDDLE_RUNTIME_SCHEDULER_RUN_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/number.h"

#include "rank_barrier.h"
#include "run.h"

struct run_state {
    struct engine_limits limits;
    uint64_t window_ps;   /* length of a window; 0: there are none */
    uint64_t stretch_ps;  /* by the description; window_ps: of windows only */
    uint64_t meet_ps;     /* with several ranks: stretch_ps, or window_ps */
    uint64_t limit_ps;    /* no edge after it is run */
    uint64_t pause_ps;    /* with several ranks, rank 0 tells it when they meet */
    uint64_t look_ps;     /* time of the next look of progress.c */
    uint64_t fail_end_ps; /* the run ends there; ENGINE_NEVER: no component has failed */
    uint64_t free_ps;     /* until then other ranks have nothing to do with this one */
    uint32_t fastest;     /* the fastest clock */
    bool stretches;       /* ranks are cut so that they can go on for a stretch */
    bool stop;            /* read between windows */
    struct rank_barrier met;
};
extern struct run_state this_run __attribute__((visibility("hidden")));

static inline uint64_t window_start(uint64_t time)
{
    return this_run.window_ps ? time / this_run.window_ps * this_run.window_ps : time;
}

static inline uint64_t window_end(uint64_t time)
{
    return window_start(time) + (this_run.window_ps ? this_run.window_ps : 1);
}

/* No edge after the limit runs: to where of a window that ends at `end_ps`? */
static inline uint64_t within_limit(uint64_t end_ps)
{
    return min(end_ps, this_run.limit_ps + 1);
}

#endif
