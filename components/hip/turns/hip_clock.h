/* The clocks that the program reads: the host's, or simulated time (--host-clock simulated).
 * docs/guide/traces-and-sampling.md, "Clocks of the program", describes what a program sees.
 *
 * A simulated clock shows a fixed time, the simulated time of the driver, and what has passed
 * beside the simulation: each reading takes HIP_CLOCK_READING_PS, so a program that waits for a
 * time comes to an end, and sleeps take their length when no simulation runs.
 *
 * Threads that are not ordered sleep for real, and what they read and sleep moves no other thread's
 * clock.
 *
 * Invariant: code of this library and of the platform (hip_turns_inside) reads the host's clocks.
 */
#ifndef HEDDLE_COMPONENTS_HIP_TURNS_HIP_CLOCK_H
#define HEDDLE_COMPONENTS_HIP_TURNS_HIP_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum { HIP_CLOCK_READING_PS = 20000 /* as a reading through the vDSO takes on hosts of today */ };

extern bool hip_clock_is_simulated;

/* The host's clock, for every caller and in handlers of signals. */
void hip_clock_host(clockid_t clock, struct timespec *time);

/* The time that simulated clocks have counted so far, and the one at which `clock` shows `time`. */
uint64_t hip_clock_now_ps(void);
uint64_t hip_clock_ps_of(clockid_t clock, const struct timespec *time);
/* Lets time pass until then. Without effect on the host's clocks. */
void hip_clock_pass(uint64_t until_ps);
/* The result of a wait until `clock` shows `time`: if time has ended it, the clock shows that. */
int hip_clock_timed(int result, clockid_t clock, const struct timespec *time);
/* A time of the program's clock as the host's shows it, for waits in the C library; in `host_time`,
 * or as it was. */
const struct timespec *hip_clock_host_time(clockid_t clock, const struct timespec *time,
                                           struct timespec *host_time);
#define HIP_CLOCK_HOST_TIME(clock, time) hip_clock_host_time(clock, time, &(struct timespec){0})

#endif
