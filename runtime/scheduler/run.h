/* The limits and pauses of a run, and the order of its ticks. engine/run_control.h declares
 * engine_run() and engine_stop(), for all; run.c defines them.
 *
 * Life cycle: run_open() once the instances exist, with no limits; engine_set_limits() before
 * engine_run(), and again before every other run. */
#ifndef HEDDLE_RUNTIME_SCHEDULER_RUN_H
#define HEDDLE_RUNTIME_SCHEDULER_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/engine/engine.h"

/* The form in which the user sees how far the run has come. */
enum platform_progress { PLATFORM_QUIET, PLATFORM_PROGRESS_LINE, PLATFORM_PROGRESS_LINES };

struct engine_limits {
    uint64_t max_cycles;       /* cycles of the fastest clock; 0: no limit */
    uint64_t max_instructions; /* 0: none; the run ends at the first look after them */
    uint64_t stall_limit;      /* 0: default */
    int tick_order;            /* enum engine_order */
    uint64_t seed;
    bool is_windowless; /* one shard, and nothing waits for the ends of windows (functional mode) */
    bool ticks_all;
    int progress; /* enum platform_progress */
};

/* enum engine_order, seed of random orders, tick all. */
void engine_set_order(int order, uint64_t seed, bool must_tick_all);

void run_open(void); /* called by engine_open() */
/* Before a platform is built: engine_try_defer() fails in all runs of it, or not. */
void engine_defer_nothing(bool always);
void engine_set_limits(const struct engine_limits *limits);
#endif
