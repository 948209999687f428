/* Runs: how they are begun, stopped and interrupted, and what ended them. Components and lower
 * rooms call these functions; scheduler/run.c defines them. */
#ifndef HEDDLE_RUNTIME_ENGINE_RUN_CONTROL_H
#define HEDDLE_RUNTIME_ENGINE_RUN_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

enum engine_result {
    ENGINE_STOPPED,    /* engine_stop() was called */
    ENGINE_IDLE,       /* nothing awake, no wake-up left, nothing outstanding */
    ENGINE_DEADLOCK,   /* idle with work outstanding: a report was printed */
    ENGINE_STALL,      /* nothing moved for --stall-limit cycles: a report was printed */
    ENGINE_LIMIT,      /* --max-cycles or --max-instructions reached */
    ENGINE_PAUSED,     /* the time for a checkpoint has come: checkpoint.h */
    ENGINE_FAILED,     /* a component gave up: engine_fail() */
    ENGINE_INTERRUPTED /* engine_interrupt() was called */
};

/* Runs until engine_stop(), an end, or a limit. The calls do not nest. Whatever ends it, everything
 * else goes on until the end of the window (run.c), so that all threads stop at the same time. */
enum engine_result engine_run(void);
void engine_stop(void); /* from a tick */
/* Cycles without progress that are a hang (--stall-limit). */
uint64_t engine_stall_limit(void);
/* True if a component has called engine_stop() in this run. For its ticks. */
bool engine_is_stopping(void);

/* From any thread, also from a signal handler: the run ends with ENGINE_INTERRUPTED within some
 * thousand cycles, and so does every later one. Whatever takes long within one tick looks at
 * engine_is_interrupted() and gives up, by engine_stop(). */
void engine_interrupt(void);
bool engine_is_interrupted(void);
/* A word for statistics if the last run ended before its work was done, by a limit, a failure or an
 * interruption; else NULL. */
const char *engine_cut_reason(void);
/* From the thread that runs the engine, when that will not go on and nothing else is to run (a
 * signal handler of the program ends it): as engine_run() leaves it, without the end of the window.
 * Between runs: the program is not at its end, but there will be no other run. */
void engine_abandon(void);

#endif
