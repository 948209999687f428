/* The barrier of ranks between two windows: ranks exchange messages and decisions, so that all of
 * them go on, or end, in the same way. See rank_barrier.c. */
#ifndef HEDDLE_RUNTIME_SCHEDULER_RANK_BARRIER_H
#define HEDDLE_RUNTIME_SCHEDULER_RANK_BARRIER_H

#include <stdbool.h>
#include <stdint.h>

/* Before rank_barrier_wait(), the state of one rank; afterwards, that of all ranks together. */
struct rank_barrier {
    uint64_t end_ps;  /* the window's end */
    uint64_t now_ps;  /* time of the last edge */
    uint64_t next_ps; /* time of the next edge; ENGINE_NEVER: none */
    bool is_live;     /* something is under way or will wake */
    bool must_stop;
    bool is_interrupted; /* only rank 0 sets it */
    bool has_failed;
    /* Bit i: an extension has something to settle of window i of the stretch that ends; bit
     * RANK_BARRIER_LAST: of its last window. */
    uint64_t settle_windows;
    uint64_t decision_ps; /* nothing that concerns all ranks is decided earlier */
    uint64_t others_ps;   /* set by rank_barrier_wait(): no other rank has anything to do earlier */
};

#define RANK_BARRIER_LAST 63

/* The clocks of all shards move to the end of the window, or to `limit_ps` if that is earlier. */
void rank_barrier_wait(struct rank_barrier *m, uint64_t limit_ps);
/* For each end of a window in `windows` (see `settle_windows`) rank 0 gets the statistics that all
 * ranks had then, and settles. `end_of` returns the time of that end. */
void rank_barrier_settle(uint64_t windows, uint64_t (*end_of)(uint32_t window));
/* Rank 0 gets all statistics that are left, and settles, when the run is over. */
void rank_barrier_settle_last(void);

#endif
