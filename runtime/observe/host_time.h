/* Processor time of the host, for the section `host` of statistics (docs/reference/outputs.md says
 * what each number means). It is measured by clocks of threads, so that others on the machine, and
 * other threads of the program, do not count. Nothing that is simulated reads it.
 *
 * The engine and its thread pool report the time of the simulation. A read of a thread's clock
 * costs a quarter of a microsecond; without statistics, or without their section `host`, none is
 * made. */
#ifndef HEDDLE_RUNTIME_OBSERVE_HOST_TIME_H
#define HEDDLE_RUNTIME_OBSERVE_HOST_TIME_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* The time of a clock of the host, in nanoseconds; 0: there is no such clock. */
uint64_t host_time_read(clockid_t clock);
/* From now on; what was measured before is forgotten. */
void host_time_open(bool is_wanted);
/* Around each run of the engine, by the thread that runs it. */
void host_time_begin(void);
void host_time_end(void);
/* A worker, which does nothing but simulate and never ends. */
void host_time_add_worker(pthread_t worker);

/* Adds the time of a thread that has ended, in a run of the engine. */
void host_time_add(uint64_t ns);

/* Cycles may differ from run to run, as the host has had a say in the order of what happened. */
void host_time_mark_unordered(void);
bool host_time_is_unordered(void);

/* Up to now, also from within a run of the engine by its own thread. */
uint64_t host_time_simulation_ns(void);
#endif
