/* The state of the present run, which the files of the scheduler share: run.c, window.c,
 * rank_run.c, failure.c, deferred.c, progress.c. It belongs to the leader, but for `must_stop`,
 * which is set in ticks. */
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
    uint64_t stretch_ps;  /* length of a stretch; window_ps: stretches are windows */
    uint64_t meet_ps;     /* ranks meet at multiples of it: stretch_ps, or window_ps */
    uint64_t limit_ps;    /* no edge after it is run */
    uint64_t pause_ps;    /* no edge after it is run before a pause; ENGINE_NEVER: none is due */
    uint64_t look_ps;     /* time of the next look of progress.c */
    uint64_t fail_end_ps; /* the run ends there; ENGINE_NEVER: no component has failed */
    uint32_t fastest;     /* the fastest clock */
    bool must_stop;       /* read between windows */
    struct rank_barrier meeting; /* what ranks agreed on when they last met */
};
extern struct run_state this_run __attribute__((visibility("hidden")));

static inline uint64_t window_start(uint64_t time_ps)
{
    return this_run.window_ps ? round_down(time_ps, this_run.window_ps) : time_ps;
}

static inline uint64_t window_end(uint64_t time_ps)
{
    return window_start(time_ps) + (this_run.window_ps ? this_run.window_ps : 1);
}

/* The end of what is run of a window that ends at `end_ps`: no edge after the limit is. */
static inline uint64_t within_limit(uint64_t end_ps)
{
    return min(end_ps, this_run.limit_ps + 1);
}

#endif
